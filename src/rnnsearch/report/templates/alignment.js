// A translation whose words can be selected to show the attention weights. Each word is an element. Those of the translation
// have their weights, in thousandths, in `dataset.weights`, one for each source word; end symbols have the class `end`.

const READABLE = 0.05; // Smaller weights are not named in the sentence about a word.

let lit = null; // the alignment whose words are highlighted: at most one on a page

export class Alignment {
  // `source` and `target` are arrays of elements; `tell` is called with a sentence about the selected word, or with "".
  constructor(source, target, tell) {
    this.words = { source, target };
    this.tell = tell;
    this.places = new Map();
    for (const side of ["source", "target"]) {
      this.words[side].forEach((word, index) => this.places.set(word, [side, index]));
    }
  }

  // The weights, target words × source words, from 0 to 1; null for a model without an alignment.
  get weights() {
    if (!this.words.target.some(word => word.dataset.weights)) return null;
    return this.words.target.map(word => word.dataset.weights.split(" ").map(weight => weight / 1000));
  }

  // Highlight the words of the other side according to their weights for this word.
  show(side, index) {
    if (lit !== this) lit?.clear();
    lit = this;
    const weights = this.weights;
    if (weights === null) return;
    const [own, others] = side === "source" ? ["source", "target"] : ["target", "source"];
    const otherWeights = own === "target" ? weights[index] : weights.map(row => row[index]);
    this.words[own].forEach((word, k) => paint(word, 0, k === index));
    this.words[others].forEach((word, k) => paint(word, otherWeights[k], false));
    const verb = own === "target" ? "attends to" : "is attended to by";
    this.tell(`${name(this.words[own][index])} ${verb} ${strongest(this.words[others], otherWeights)}`);
  }

  clear() {
    if (lit !== this) return;
    lit = null;
    for (const word of this.places.keys()) paint(word, 0, false);
    this.tell("");
  }

  // Show a word within `container` when the pointer or the focus reaches it, and move the focus with the arrow keys.
  listen(container) {
    for (const words of Object.values(this.words)) {
      words.filter(word => container.contains(word)).forEach((word, index) => {
        word.setAttribute("role", "button");
        word.tabIndex = index ? -1 : 0;
      });
    }
    const place = event => this.places.get(event.target.closest(".word"));
    container.addEventListener("pointerover", event => {
      const position = place(event);
      if (position) this.show(...position);
    });
    container.addEventListener("pointerleave", event => {
      if (event.pointerType !== "mouse") return; // lifting a finger also causes this event
      const focused = this.places.get(document.activeElement);
      if (focused) this.show(...focused);
      else this.clear();
    });
    container.addEventListener("focusin", event => {
      const position = place(event);
      if (!position) return;
      for (const word of this.words[position[0]]) if (word.tabIndex === 0) word.tabIndex = -1;
      event.target.tabIndex = 0;
      this.show(...position);
    });
    container.addEventListener("focusout", () => this.clear());
    container.addEventListener("keydown", event => {
      const position = place(event);
      if (position && !event.ctrlKey && !event.metaKey && !event.altKey) this.#walk(event, container, ...position);
    });
  }

  // Move the focus from a word to the one that the key names.
  #walk(event, container, side, index) {
    const words = this.words[side].filter(word => container.contains(word));
    const forward = getComputedStyle(event.target).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    let next;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.target.click();
    } else if (event.key === "Home" || event.key === "End") {
      next = words.at(event.key === "Home" ? 0 : -1);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      next = words[(index + (event.key === forward ? 1 : -1) + words.length) % words.length];
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      next = this.#counterpart(side, index);
    }
    if (!next || !container.contains(next)) return;
    event.preventDefault();
    next.focus();
  }

  // Return the word of the other side with the greatest weight.
  #counterpart(side, index) {
    const weights = this.weights;
    if (weights === null) return undefined;
    const otherWeights = side === "target" ? weights[index] : weights.map(row => row[index]);
    return this.words[side === "target" ? "source" : "target"][otherWeights.indexOf(Math.max(...otherWeights))];
  }

  // Return the alignment as a table like Figure 3 of the paper: a row for each target word, a column for each source word.
  table(label) {
    const table = element("table", { className: "alignment" });
    const caption = element("caption", {
      className: "hidden",
      textContent: `${label}: for each target word (row), the weight of each source word (column) in per cent. ` +
        "Weights below one per cent are left out.",
    });
    const head = element("tr", {}, element("td"));
    head.append(...this.words.source.map(word => heading(word, "col")));
    const body = element("tbody");
    this.weights.forEach((row, i) => {
      const line = element("tr", {}, heading(this.words.target[i], "row"));
      for (const weight of row) {
        const cell = element("td");
        if (weight >= 0.01) {
          cell.style.setProperty("--weight", weight);
          cell.textContent = Math.round(100 * weight);
        }
        line.append(cell);
      }
      body.append(line);
    });
    table.append(caption, element("thead", {}, head), body);
    // A table that is wider than the page scrolls in its own box, which can have the focus of the keyboard.
    const box = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: label }, table);
    return box;
  }
}

// Return the text of a word in a heading of the table.
export function label(word) {
  return word.classList.contains("end") ? "(end)" : word.textContent;
}

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function heading(word, scope) {
  return element("th", { scope }, element("span", { dir: "auto", textContent: label(word) }));
}

function paint(word, weight, chosen) {
  word.style.setProperty("--weight", weight);
  word.classList.toggle("chosen", chosen);
}

function name(word) {
  return word.classList.contains("end") ? "the end" : `“${word.textContent}”`;
}

// Name the three words with the greatest weights, with these weights.
function strongest(words, weights) {
  const ranked = words.map((word, k) => [weights[k], word]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  return ranked
    .filter(([weight], rank) => rank === 0 || weight >= READABLE)
    .map(([weight, word]) => `${name(word)} ${Math.round(100 * weight)}%`)
    .join(", ");
}
