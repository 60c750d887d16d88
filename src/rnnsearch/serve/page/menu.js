// The menu of the words that may replace a word of the translation.
import { element } from "./alignment.js";

const menu = document.getElementById("menu");
const list = menu.querySelector("ul");
const input = menu.querySelector("input");
let opened = null; // { word, choose, controller }

// Open the menu. `find` promises the possible words, [{word, probability}]; an entry without `word` is the end of the
// translation. `choose` is called with the word that the reader chooses or types, or with null for the end.
export async function openMenu(word, find, choose) {
  closeMenu();
  const current = { word, choose, controller: new AbortController() };
  opened = current;
  const ends = word.classList.contains("end");
  menu.ariaLabel = ends ? "How the translation may go on" : `Instead of “${word.textContent}”`;
  word.classList.add("asked");
  word.ariaExpanded = "true";
  input.value = "";
  list.replaceChildren(element("li", { className: "quiet", textContent: "…" }));
  menu.hidden = false;
  place();
  list.focus({ preventScroll: true });
  let entries;
  try {
    entries = (await find(current.controller.signal)).map(entry => option(entry, word));
  } catch (error) {
    if (error.name === "AbortError") return;
    entries = [element("li", { className: "refused", textContent: error.message })];
  }
  if (opened !== current) return;
  list.replaceChildren(...entries);
  place();
  if (document.activeElement === list) options()[0]?.focus({ preventScroll: true });
}

export function closeMenu(giveBack = false) {
  if (!opened) return;
  const { word, controller } = opened;
  opened = null;
  controller.abort();
  menu.hidden = true;
  word.classList.remove("asked");
  word.ariaExpanded = "false";
  if (giveBack) word.focus();
}

function options() {
  return [...list.querySelectorAll("[role=option]")];
}

function option({ word, probability }, current) {
  const isEnd = word === undefined;
  const stands = isEnd ? current.classList.contains("end") : word === current.textContent;
  const bar = element("span", { className: "bar", ariaHidden: "true" });
  bar.style.setProperty("--probability", probability);
  const text = element("bdi", { textContent: isEnd ? "end of the sentence" : word });
  if (isEnd) text.className = "quiet";
  const made = element("li", { tabIndex: -1, role: "option", ariaSelected: String(stands) }, text, bar, percent(probability));
  made.addEventListener("click", () => take(isEnd ? null : word));
  return made;
}

function percent(probability) {
  const text = probability < 0.001 ? "<0.1%" : `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)}%`;
  return element("span", { className: "percent", textContent: text });
}

function take(word) {
  const { choose } = opened;
  closeMenu(true);
  choose(word);
}

// Place the menu under the word, and within the page.
function place() {
  const word = opened.word.getClientRects()[0], panel = menu.offsetParent.getBoundingClientRect();
  const left = Math.min(word.left, document.documentElement.clientWidth - menu.offsetWidth - 12);
  menu.style.setProperty("left", `${Math.max(left, 12) - panel.left}px`);
  menu.style.setProperty("top", `${word.bottom + 6 - panel.top}px`);
  menu.scrollIntoView({ block: "nearest" });
}

menu.addEventListener("keydown", event => {
  if (event.key === "Escape") {
    event.preventDefault();
    closeMenu(true);
    return;
  }
  if (event.target === input) {
    if (event.key === "Enter" && !event.isComposing && input.value.trim()) take(input.value.trim());
    if (event.key === "ArrowUp") options().at(-1)?.focus();
    return;
  }
  const all = options(), index = all.indexOf(document.activeElement);
  const next = { ArrowDown: all[index + 1] ?? input, ArrowUp: all[index - 1] ?? input, Home: all[0], End: all.at(-1) }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
  } else if ((event.key === "Enter" || event.key === " ") && index >= 0) {
    event.preventDefault();
    all[index].click();
  } else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
    input.focus(); // so that the typed letter goes into the input
  }
});
menu.addEventListener("focusout", event => {
  if (event.relatedTarget && !menu.contains(event.relatedTarget)) closeMenu();
});
document.addEventListener("pointerdown", event => {
  if (opened && !menu.contains(event.target)) closeMenu();
});
addEventListener("resize", () => opened && place());
