// The page of `rnnsearch explain`: one step of the decoder at a time. Everything that it shows is in the element `data`.
const find = selector => document.querySelector(selector);
const data = JSON.parse(find("#data").textContent);
const sourceWords = [...document.querySelectorAll(".source .word")];
const targetWords = [...document.querySelectorAll(".translation .word")];
const rows = targetWords.map(word => word.dataset.weights);
const sentence = new Alignment(sourceWords, targetWords, () => {});
const aligns = data.steps[0].alpha !== null;
const annotations = split(decode(data.annotations), data.width);

let current = 0; // the step that is shown
let changed = null; // what was changed at it, one of its `whatIfs`

function decode(text) {
  const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

function split(numbers, width) {
  return Array.from({ length: numbers.length / width }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
}

const percent = p => `${(100 * p).toFixed(p < 0.1 ? 2 : 1)}%`;
const quoted = word => (word === "⏎" ? "the end" : `“${word}”`);
const sourceName = j => quoted(label(sourceWords[j]) === "(end)" ? "⏎" : sourceWords[j].textContent);

// Draw a vector as a strip with a column for each number; `largest` is the magnitude that has the full colour.
function strip(canvas, vector, largest) {
  const style = getComputedStyle(document.documentElement);
  canvas.width = vector.length;
  const brush = canvas.getContext("2d");
  vector.forEach((value, k) => {
    brush.fillStyle = style.getPropertyValue(value < 0 ? "--series-2" : "--series-1");
    brush.globalAlpha = Math.min(1, Math.abs(value) / largest);
    brush.fillRect(k, 0, 1, 1);
  });
}

const magnitude = vector => vector.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);

function describe(vector) {
  const range = [Math.min(...vector), Math.max(...vector)].map(value => value.toFixed(3)).join(" to ");
  return `${vector.length} numbers from ${range}`;
}

// Show a vector in the figure of this name: its strip, and its numbers, once these are unfolded.
function showVector(name, vector) {
  const figure = find(`[data-vector="${name}"]`);
  const canvas = figure.querySelector("canvas");
  strip(canvas, vector, magnitude(vector));
  const text = describe(vector);
  canvas.ariaLabel = `${figure.querySelector("var").textContent}: ${text}`;
  figure.querySelector("figcaption span").textContent = text;
  figure.fill = () => (figure.querySelector("pre").textContent = [...vector].map(value => value.toFixed(4)).join("  "));
  if (figure.querySelector("details").open) figure.fill();
}

const showAnnotation = () => showVector("annotation", annotations[find("#annotated").value]);

// The weights of this step, with the change.
function weights() {
  const { alpha } = data.steps[current];
  if (changed === null || changed.change === "word") return alpha;
  if (changed.change === "only") return alpha.map((_, j) => Number(j === changed.at));
  const left = 1 - alpha[changed.at];
  return alpha.map((weight, j) => (j === changed.at ? 0 : weight / left));
}

function toggle(text, description, change, at) {
  const outcome = data.steps[current].whatIfs.find(one => one.change === change && one.at === at);
  const pressed = changed !== null && changed === outcome;
  const button = element("button", { type: "button", textContent: text, ariaPressed: String(pressed), ariaLabel: description });
  button.dataset.change = `${change} ${at}`;
  button.addEventListener("click", () => choose(pressed ? null : outcome));
  return outcome ? [button] : [];
}

function shareCell(weight, was) {
  const cell = element("td", { className: "share", textContent: percent(weight) });
  cell.style.setProperty("--weight", weight);
  if (was !== undefined && percent(was) !== percent(weight)) {
    cell.append(" ", element("span", { className: "was", textContent: `was ${percent(was)}` }));
  }
  return cell;
}

function showSource() {
  const { alpha, energies } = data.steps[current];
  const now = aligns ? weights() : null;
  find("#words").replaceChildren(...sourceWords.map((word, j) => {
    const line = element("tr", {}, element("th", { scope: "row", dir: "auto", textContent: word.textContent }));
    if (aligns) line.append(element("td", { textContent: energies[j].toFixed(2) }), shareCell(now[j], alpha[j]));
    const off = aligns ? `Switch off ${sourceName(j)}` : `Leave out ${sourceName(j)}`;
    line.append(element("td", {},
      ...toggle(aligns ? "off" : "leave out", off, "off", j),
      ...toggle("only", `Attend to ${sourceName(j)} alone`, "only", j)));
    return line;
  }));
  if (aligns) targetWords[current].dataset.weights = now.map(weight => Math.round(1000 * weight)).join(" ");
}

// The largest terms α_ij h_j of the context, and their sum.
function showContext() {
  const step = data.steps[current];
  if (!aligns) return showVector("context", decode(step.context));
  const now = weights();
  const context = changed === null ? decode(step.context) : annotations[0].map((_, k) =>
    now.reduce((sum, weight, j) => sum + weight * annotations[j][k], 0));
  const largest = now.map((weight, j) => [weight, j]).filter(([weight]) => weight >= 0.01).sort((a, b) => b[0] - a[0]);
  find("#terms").replaceChildren(...largest.slice(0, 5).map(([weight, j]) => {
    const canvas = element("canvas", { height: 1, role: "img", ariaLabel: `${percent(weight)} of the annotation of ${sourceName(j)}` });
    strip(canvas, annotations[j].map(value => weight * value), magnitude(context));
    const caption = element("figcaption", {}, `${weight.toFixed(2)} · h`, element("sub", { textContent: j + 1 }), ` ${sourceName(j)}`);
    return element("figure", { className: "vector" }, caption, canvas);
  }));
  showVector("context", context);
}

function showBest() {
  const step = data.steps[current];
  const isAnother = changed !== null && changed.change !== "word"; // the distribution of this step is another
  const before = new Map(step.best.map(([, p, id]) => [id, p]));
  const best = isAnother ? changed.best : step.best;
  find("#best").replaceChildren(...best.map(([word, p, id]) => {
    const line = element("tr", {}, element("th", { scope: "row", dir: "auto", textContent: word }));
    line.classList.toggle("chosen-row", id === step.word);
    line.append(shareCell(p, isAnother ? before.get(id) : undefined));
    line.append(element("td", {}, ...toggle("write it", `Write ${quoted(word)} instead`, "word", id)));
    return line;
  }));
}

function showBeam() {
  find("#beam").replaceChildren(...data.steps[current].beam.map(one => {
    const words = one.words.filter(word => word !== "⏎").join(" ") + (one.ends ? " ⏎" : "");
    const line = element("tr", { className: one.chosen ? "chosen-row" : "" });
    line.append(element("th", { scope: "row", dir: "auto", textContent: words }), element("td", { textContent: one.score.toFixed(2) }));
    return line;
  }));
}

// A translation, in which the words that differ from the original are marked.
function differing(text) {
  const [words, own] = [text, data.text].map(one => one.split(" "));
  let first = 0;
  while (first < Math.min(words.length, own.length) && words[first] === own[first]) first++;
  let last = 0;
  while (last < Math.min(words.length, own.length) - first && words.at(-1 - last) === own.at(-1 - last)) last++;
  const parts = [words.slice(0, first), words.slice(first, words.length - last), words.slice(words.length - last)];
  const [same, other, rest] = parts.map(part => part.join(" "));
  const marked = other ? [element("mark", { textContent: other })] : [];
  return [same, same && (other || rest) ? " " : "", ...marked, other && rest ? " " : "", rest];
}

function question() {
  if (changed.change === "only") return `All attention of this step is on ${sourceName(changed.at)}.`;
  if (changed.change === "off") {
    return aligns ? `${sourceName(changed.at)} is switched off from this step on.` : `The sentence is read without ${sourceName(changed.at)}.`;
  }
  const [word] = data.steps[current].best.find(([, , id]) => id === changed.at);
  return `${quoted(word)} is written.`;
}

function showOutcome() {
  const panel = find("#outcome");
  panel.hidden = changed === null;
  document.body.classList.toggle("changed", changed !== null);
  if (changed === null) return panel.querySelector("div").replaceChildren();
  const own = quoted(targetWords[current].textContent);
  const effect = changed.probability !== null
    ? `The probability of ${own} was ${percent(data.steps[current].probability)}, and is ${percent(changed.probability)}.`
    : changed.best.length ? `Then the most probable word is ${quoted(changed.best[0][0])}, with ${percent(changed.best[0][1])}.` : "";
  const text = element("p", {}, element("strong", { textContent: question() }), ` ${effect} The translation becomes: `);
  text.append(element("span", { dir: "auto" }, ...differing(changed.text)), changed.text === data.text ? " (the same)" : "");
  panel.querySelector("div").replaceChildren(text);
}

function show() {
  const step = data.steps[current];
  find("#place").textContent = `Step ${current + 1} of ${data.steps.length}: ${quoted(targetWords[current].textContent)}`;
  find("#back").disabled = current === 0;
  find("#forward").disabled = current === data.steps.length - 1;
  for (const name of ["state", "before", "maxout", "z", "r", "candidate", "next"]) showVector(name, decode(step[name]));
  showSource();
  showContext();
  showBest();
  showBeam();
  showOutcome();
  if (aligns) sentence.show("target", current);
  targetWords.forEach((word, i) => {
    word.classList.toggle("chosen", i === current);
    word.ariaCurrent = i === current ? "step" : "false";
  });
}

// Change something at this step, or nothing, and keep the focus on the button that was pressed.
function choose(outcome) {
  const pressed = document.activeElement?.dataset.change;
  changed = outcome;
  show();
  if (pressed) find(`[data-change="${pressed}"]`)?.focus();
}

function go(step) {
  if (step < 0 || step >= data.steps.length) return;
  if (aligns) targetWords[current].dataset.weights = rows[current];
  current = step;
  changed = null;
  show();
  history.replaceState(null, "", `#${step + 1}`);
}

find("#back").addEventListener("click", () => go(current - 1));
find("#forward").addEventListener("click", () => go(current + 1));
find("#undo").addEventListener("click", () => {
  choose(null);
  find("#forward").focus();
});
find("#annotated")?.addEventListener("change", showAnnotation);
targetWords.forEach((word, i) => {
  word.addEventListener("click", () => go(i));
  word.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    go(i);
  });
});
for (const figure of document.querySelectorAll("[data-vector]")) {
  figure.querySelector("details").addEventListener("toggle", () => figure.fill());
}
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, .scroll, pre")) return;
  if (event.key === "ArrowLeft") go(current - 1);
  else if (event.key === "ArrowRight") go(current + 1);
  else if (event.key === "Escape" && changed !== null) choose(null);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);

const wanted = Number(location.hash.slice(1));
if (wanted >= 1 && wanted <= data.steps.length) current = wanted - 1;
if (aligns) showAnnotation();
show();
