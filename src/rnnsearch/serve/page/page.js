// The page: it translates the text that is typed, shows the alignment of every word, and lets the reader replace words.
import { element } from "./alignment.js";
import { additions } from "./differences.js";
import { closeMenu, openMenu } from "./menu.js";
import { picture } from "./picture.js";
import { before, followedBy, inPlace, makeView, percent } from "./sentence.js";
import { Refused, get, post } from "./server.js";

const PAUSE = 300; // milliseconds without a keystroke after which the text is translated
const MOST_WORDS = 150; // the most words on a side of an alignment that is drawn
const OTHERS = 5; // the number of further translations of a sentence
const KEY = "rnnsearch-key";
const EXAMPLES = [
  "The old man sleeps in the kitchen.",
  "My sister has a small white cat.",
  "We opened the window because it was hot. Now the birds are singing.",
  "The children who live here often play in the garden.",
];

const $ = id => document.getElementById(id);
const text = $("text"), mirror = $("mirror"), translation = $("translation"), source = $("source"), target = $("target");

let settings = { charLimit: Infinity, keyRequired: false };
let languages = [];
let answered = []; // the sentences as the server translated them
let spaces = [""]; // the white space before each of them, and after the last
let views = []; // the sentences as the page shows them
let current = 0; // the index of the sentence whose details are shown
let sourceWords = new Map(); // an element of the mirror: [its view, its index, its first character in the text]
let timer = null; // the timer that starts the translation of the text
let working = new AbortController(); // aborts the request under way
const corrections = new Map(); // from the text of a sentence to the translation that the reader has chosen
const past = []; // for undoing: [the text of a sentence, the translation chosen before the last change]
const otherTranslations = new WeakMap(); // from a sentence that is shown to its further translations

// Translating ---------------------------------------------------------------------------------------------------------

function asked(rest) {
  return { source: source.value, target: target.value, api_key: $("key").value, ...rest };
}

async function translate() {
  const q = text.value, length = Array.from(q).length;
  if (!q.trim()) {
    working.abort();
    take([], "");
  } else if (length > settings.charLimit) {
    working.abort();
    tell(`The text has ${count(length)} characters, and the limit is ${count(settings.charLimit)}.`);
  } else if (settings.keyRequired && !$("key").value) {
    working.abort();
    tell("This server asks for an API key.");
  } else {
    await work(async signal => {
      const answer = await post("translate", asked({ q, alignment: true }), signal);
      take(answer.sentences, answer.translatedText);
      $("spoken").textContent = shownText();
    });
  }
}

// Run a job that sends requests to the server; abort the job before it.
async function work(job) {
  clearTimeout(timer);
  working.abort();
  const own = (working = new AbortController());
  tell("");
  translation.ariaBusy = "true";
  try {
    await job(own.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    tell(error instanceof Refused ? error.message : "This page failed; its console says how.");
    if (!(error instanceof Refused)) throw error;
  } finally {
    if (working === own) translation.ariaBusy = "false";
  }
}

function take(sentences, whole) {
  answered = sentences;
  spaces = [];
  let at = 0;
  for (const { text: part } of sentences) {
    const start = Math.max(whole.indexOf(part, at), at);
    spaces.push(whole.slice(at, start));
    at = start + part.length;
  }
  spaces.push(whole.slice(at));
  const sources = new Set(sentences.map(sentence => sentence.source));
  past.splice(0, past.length, ...past.filter(([sentence]) => sources.has(sentence)));
  for (const sentence of corrections.keys()) if (!sources.has(sentence)) corrections.delete(sentence);
  if (current >= sentences.length) current = 0;
  render();
}

function tell(sentence) {
  $("notice").textContent = sentence;
}

// Showing -------------------------------------------------------------------------------------------------------------

function shownText() {
  return views.map((view, i) => spaces[i] + view.sentence.text).join("") + spaces.at(-1);
}

function render() {
  closeMenu();
  views.forEach(view => view.alignment.clear());
  const read = said => ($("reading").textContent = said);
  views = answered.map(sentence => makeView(corrections.get(sentence.source) ?? sentence, read));
  translation.replaceChildren();
  views.forEach((view, i) => translation.append(spaces[i], view.element));
  translation.classList.remove("stale");
  renderMirror();
  $("tools").hidden = $("hint").hidden = $("sentence").hidden = !views.length;
  $("undo").disabled = !past.length;
  showSentence();
}

// Draw the text once more behind the text field (the mirror), so that its words can be highlighted.
function renderMirror() {
  const whole = text.value;
  let at = 0;
  mirror.replaceChildren();
  sourceWords = new Map();
  for (const view of views) {
    const start = whole.indexOf(view.sentence.source, at);
    if (start < 0 || !view.sentence.source_spans) continue;
    mirror.append(whole.slice(at, start));
    at = start;
    for (const part of view.source) {
      mirror.append(part);
      const place = typeof part === "string" ? -1 : view.alignment.words.source.indexOf(part);
      if (place >= 0) sourceWords.set(part, [view, place, at]);
      at += (part.textContent ?? part).length;
    }
  }
  mirror.append(whole.slice(at) + "\u200b"); // gives the last line its height, even if it is empty
}

// Show the details of the current sentence.
function showSentence() {
  const view = views[current];
  if (!view) return;
  const { sentence, alignment } = view;
  const which = $("sentence").querySelector(".which");
  which.hidden = views.length < 2;
  which.replaceChildren(
    element("span", { className: "quiet", textContent: `Sentence ${current + 1} of ${views.length}` }), " ",
    element("bdi", { textContent: sentence.source }),
  );
  $("confidence").firstElementChild.style.setProperty("--unsure", 1 - sentence.confidence);
  $("confidence").lastElementChild.textContent =
    `Confidence ${percent(sentence.confidence)}: the geometric mean of the probabilities of the words. ` +
    "It says how sure the model is, not whether it is right." +
    (sentence.missing ? ` Not found in the translation: ${sentence.missing.join(", ")}.` : "") +
    (sentence.finished ? "" : " The translation was cut off at the length limit.");
  const { source: from, target: to } = alignment.words;
  const drawn = alignment.weights !== null && Math.max(from.length, to.length) <= MOST_WORDS;
  $("save").hidden = !drawn;
  if ($("heat").open) {
    const reason = alignment.weights === null
      ? "This model reads a sentence into one vector, so it has no alignment."
      : `An alignment with more than ${MOST_WORDS} words on a side is not drawn.`;
    const content = drawn ? alignment.table("Alignment of the sentence") : element("p", { textContent: reason });
    $("heat").querySelector(".content").replaceChildren(content);
  }
  if ($("others").open) showOthers(sentence);
}

async function showOthers(sentence) {
  const content = $("others").querySelector(".content");
  if (!otherTranslations.has(sentence)) {
    content.replaceChildren(element("p", { className: "quiet", textContent: "…" }));
    const request = { q: sentence.source, prefix: sentence.prefix ?? "", alignment: true, n_best: 1 + OTHERS };
    otherTranslations.set(sentence, post("translate", asked({ ...request, split_sentences: false })));
  }
  let found;
  try {
    const [{ n_best, ...best }] = (await otherTranslations.get(sentence)).sentences;
    found = [best, ...n_best].filter(one => one.text !== sentence.text).slice(0, OTHERS);
  } catch (error) {
    otherTranslations.delete(sentence);
    content.replaceChildren(element("p", { textContent: error.message }));
    return;
  }
  if (views[current]?.sentence !== sentence) return;
  const items = found.map(other => {
    const { words, parts } = inPlace(other.text, other.tokens, other.spans);
    const added = additions(other.tokens, sentence.tokens);
    const marked = new Set(words.filter((_, i) => added[i]));
    const shown = parts.map(part =>
      marked.has(part) ? element("mark", { textContent: part.textContent }) : (part.textContent ?? part));
    const use = element("button", { type: "button", textContent: "Use", ariaLabel: `Use: ${other.text}` });
    use.addEventListener("click", () => replace(sentence, { ...sentence, ...other }));
    const sure = element("span", { className: "quiet", textContent: percent(other.confidence), title: "Confidence" });
    return element("li", {}, element("span", { dir: "auto", lang: target.value }, ...shown), sure, use);
  });
  content.replaceChildren(items.length ? element("ol", {}, ...items) : element("p", { textContent: "There is no other one." }));
}

function count(number) {
  return number.toLocaleString("en");
}

// Exchanging words ----------------------------------------------------------------------------------------------------

function choose(view, index, word) {
  const { sentence } = view;
  if (word === null) return index < sentence.tokens.length ? endAt(sentence, index) : undefined;
  const prefix = followedBy(before(sentence, index), word);
  return work(async signal => {
    const request = { q: sentence.source, prefix, alignment: true, split_sentences: false };
    const [found] = (await post("translate", asked(request), signal)).sentences;
    replace(sentence, { ...found, prefix }, index);
  });
}

// End the translation before the word at `index`.
function endAt(sentence, index) {
  const whole = before(sentence, index).trimEnd();
  return work(async signal => {
    const { pairs: [pair] } = await post("align", asked({ q: sentence.source, translation: whole }), signal);
    if (pair.tokens.length !== index) throw new Refused("The translation cannot end here.");
    const { tokens, weights, end_weights, score, confidence, links } = pair;
    const spans = sentence.spans?.slice(0, index);
    replace(sentence, { ...sentence, text: whole, tokens, spans, weights, end_weights, score, confidence, links, missing: undefined, finished: true }, index);
  });
}

function isStale() {
  return translation.classList.contains("stale");
}

function replace(sentence, chosen, focused = 0) {
  if (isStale()) return;
  past.push([sentence.source, corrections.get(sentence.source)]);
  exchange(sentence.source, chosen, focused);
}

function undo() {
  if (past.length && !isStale()) exchange(...past.pop(), 0);
}

function exchange(sentence, chosen, focused) {
  if (chosen) corrections.set(sentence, chosen);
  else corrections.delete(sentence);
  const index = Math.max(answered.findIndex((one, i) => one.source === sentence && i >= current), 0);
  current = answered[index].source === sentence ? index : answered.findIndex(one => one.source === sentence);
  render();
  views[current].alignment.words.target[focused]?.focus();
  $("spoken").textContent = views[current].sentence.text;
}

// Events --------------------------------------------------------------------------------------------------------------

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(translate, PAUSE);
}

function changed() {
  working.abort();
  closeMenu();
  views.forEach(view => view.alignment.clear());
  mirror.textContent = text.value + "\u200b";
  sourceWords = new Map();
  translation.classList.add("stale");
  const length = Array.from(text.value).length;
  $("count").textContent = length > settings.charLimit / 2 ? `${count(length)} of ${count(settings.charLimit)}` : "";
  $("examples").hidden = text.value !== "" || source.value !== "en";
  $("turn").hidden = !targetsOf(target.value).includes(source.value);
  text.lang = source.value;
  translation.lang = target.value;
  schedule();
}

text.addEventListener("input", changed);
source.addEventListener("change", () => {
  offer(target, targetsOf(source.value), target.value);
  otherPair();
});
target.addEventListener("change", otherPair);
$("turn").addEventListener("click", () => {
  const turned = source.value;
  if (!isStale()) text.value = shownText();
  source.value = target.value;
  offer(target, targetsOf(source.value), turned);
  otherPair();
  text.focus();
});

function targetsOf(language) {
  return languages.find(one => one.code === language)?.targets ?? [];
}
$("key").addEventListener("input", () => {
  sessionStorage.setItem(KEY, $("key").value);
  schedule();
});

function otherPair() {
  corrections.clear();
  past.length = 0;
  changed();
}

// The words of the text field, which are elements of the mirror behind it.
text.addEventListener("pointermove", event => {
  const under = document.elementsFromPoint(event.clientX, event.clientY).find(found => sourceWords.has(found));
  if (under) showSource(under);
  else if (event.pointerType === "mouse") views.forEach(view => view.alignment.clear());
});
text.addEventListener("pointerleave", event => {
  if (event.pointerType === "mouse") views.forEach(view => view.alignment.clear());
});
text.addEventListener("blur", () => views.forEach(view => view.alignment.clear()));
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== text || text.selectionStart !== text.selectionEnd) return;
  const caret = text.selectionStart;
  for (const [word, [, , start]] of sourceWords) {
    if (start <= caret && caret <= start + word.textContent.length) return showSource(word);
  }
});

function showSource(word) {
  const [view, index] = sourceWords.get(word);
  view.alignment.show("source", index);
}

function look(event) {
  const index = views.findIndex(view => view.element.contains(event.target));
  if (index < 0 || index === current) return;
  current = index;
  showSentence();
}
translation.addEventListener("focusin", look);
translation.addEventListener("click", event => {
  look(event);
  const view = views[current], word = event.target.closest(".word");
  const index = view?.alignment.words.target.indexOf(word) ?? -1;
  if (index < 0 || isStale() || (event.detail && !getSelection().isCollapsed)) return;
  const { sentence } = view;
  const find = async signal =>
    (await post("next-words", asked({ q: sentence.source, prefix: before(sentence, index) }), signal)).words;
  openMenu(word, find, chosen => choose(view, index, chosen));
  view.alignment.show("target", index);
});

for (const part of ["heat", "others"]) $(part).addEventListener("toggle", showSentence);
$("undo").addEventListener("click", undo);
document.addEventListener("keydown", event => {
  const undoes = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
  if (!undoes || event.target.closest("textarea, input")) return;
  event.preventDefault();
  undo();
});
$("copy").addEventListener("click", event => copy(event.target, shownText()));
$("copy-json").addEventListener("click", event => {
  const sentences = views.map(view => view.sentence);
  const all = { source: source.value, target: target.value, q: text.value, translatedText: shownText(), sentences };
  copy(event.target, JSON.stringify(all));
});
$("save").addEventListener("click", () => {
  const href = URL.createObjectURL(new Blob([picture(views[current].alignment)], { type: "image/svg+xml" }));
  element("a", { href, download: "alignment.svg" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
});

async function copy(button, copied) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(copied);
  } else { // the clipboard is not available to a page that came over plain HTTP from another computer
    const field = element("textarea", { value: copied, className: "hidden" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  const before = button.textContent;
  button.textContent = $("spoken").textContent = "Copied";
  button.disabled = true;
  setTimeout(() => {
    button.textContent = before;
    button.disabled = false;
  }, 1200);
}

// The start -----------------------------------------------------------------------------------------------------------

function offer(select, codes, wanted) {
  const named = codes.map(code => languages.find(one => one.code === code));
  select.replaceChildren(...named.map(({ code, name }) => element("option", { value: code, textContent: name })));
  select.value = codes.includes(wanted) ? wanted : codes[0];
  select.disabled = codes.length < 2;
}

$("examples").querySelector("ul").append(
  ...EXAMPLES.map(example => {
    const button = element("button", { type: "button", textContent: example, lang: "en" });
    button.addEventListener("click", () => {
      text.value = example;
      text.focus();
      changed();
      translate();
    });
    return element("li", {}, button);
  }),
);

document.querySelector("main").hidden = false;
try {
  [settings, languages] = await Promise.all([get("frontend/settings"), get("languages")]);
  if (settings.charLimit < 0) settings.charLimit = Infinity;
  const sources = languages.filter(one => one.targets.length);
  offer(source, sources.map(one => one.code), settings.language.source.code);
  offer(target, targetsOf(source.value), settings.language.target.code);
  $("key-line").hidden = !settings.keyRequired;
  if (settings.keyRequired) $("key").value = sessionStorage.getItem(KEY) ?? "";
  changed();
} catch (error) {
  tell(error.message);
}
