// A sentence of the server's answer: its elements on the page, and prefixes of its translation.
import { Alignment, element } from "./alignment.js";

// Create the view of a sentence: { sentence, element, source, alignment }, where `source` has the parts of the source text.
// `tell` is called with a message about the highlighted word, or with "".
export function makeView(sentence, tell) {
  const from = inPlace(sentence.source, sentence.source_tokens.slice(0, -1), sentence.source_spans);
  const to = inPlace(sentence.text, sentence.tokens, sentence.spans);
  const rows = [...(sentence.weights ?? [])];
  if (sentence.end_weights) {
    const end = endOfSentence();
    to.parts.push(end);
    to.words.push(end);
    rows.push(sentence.end_weights);
  }
  rows.forEach((row, i) => (to.words[i].dataset.weights = row.map(weight => Math.round(1000 * weight)).join(" ")));
  for (const word of to.words) word.ariaHasPopup = "dialog";
  const shown = element("span", { className: "sentence", role: "group" }, ...to.parts);
  shown.ariaLabel = `Sentence, confidence ${percent(sentence.confidence)}`;
  shown.style.setProperty("--unsure", 1 - sentence.confidence);
  if (sentence.missing) shown.title = `Not found in the translation: ${sentence.missing.join(", ")}`;
  const alignment = new Alignment([...from.words, endOfSentence()], to.words, tell);
  alignment.listen(shown);
  return { sentence, element: shown, source: from.parts, alignment };
}

// Divide a text into strings and elements, one for each word; `spans` has the place of each word, in code points.
export function inPlace(whole, tokens, spans) {
  const letters = Array.from(whole), words = [], parts = [];
  let at = 0;
  tokens.forEach((token, i) => {
    const [start, stop] = spans?.[i] ?? [0, 0];
    const word = element("span", { className: "word", textContent: spans ? letters.slice(start, stop).join("") : token });
    words.push(word);
    parts.push(spans ? letters.slice(at, start).join("") : i ? " " : "", word);
    at = stop;
  });
  if (spans || !tokens.length) parts.push(letters.slice(at).join(""));
  return { words, parts };
}

function endOfSentence() {
  return element("span", { className: "word end", ariaLabel: "end of the sentence" });
}

// Return the translation up to a word, or all of it, as a prefix.
export function before(sentence, index) {
  if (index === sentence.tokens.length) return `${sentence.text} `;
  if (!sentence.spans) return sentence.tokens.slice(0, index).map(token => `${token} `).join("");
  return Array.from(sentence.text).slice(0, sentence.spans[index][0]).join("");
}

// Put a space between two words, except in languages without spaces.
export function followedBy(beginning, word) {
  const letter = /[\p{L}\p{N}]/u, spaceless = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
  const last = Array.from(beginning).at(-1) ?? "", first = Array.from(word)[0];
  return beginning + (letter.test(last) && letter.test(first) && !spaceless.test(first) ? " " : "") + word;
}

export function percent(share) {
  return `${Math.round(100 * share)}%`;
}
