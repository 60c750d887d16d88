// An alignment as an SVG picture like those of Figure 3 in the paper.
import { label } from "./alignment.js";

const CELL = 20;
const FONT = "12px sans-serif";
const SVG = "http://www.w3.org/2000/svg";

// Return the text of the SVG file.
export function picture(alignment) {
  const { source, target } = alignment.words;
  const left = widest(target) + 14, top = widest(source) + 14;
  const width = left + CELL * source.length + 8, height = top + CELL * target.length + 8;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, style: `font: ${FONT}` });
  svg.append(draw("rect", { width, height, fill: "#fff" }));
  source.forEach((word, j) => {
    const place = `translate(${left + CELL * (j + 0.5) + 4} ${top - 6}) rotate(-90)`;
    svg.append(draw("text", { transform: place }, label(word)));
  });
  alignment.weights.forEach((row, i) => {
    const y = top + CELL * i;
    svg.append(draw("text", { x: left - 6, y: y + CELL / 2 + 4, "text-anchor": "end" }, label(target[i])));
    row.forEach((weight, j) => {
      const grey = Math.round(255 * Math.min(weight, 1));
      svg.append(draw("rect", { x: left + CELL * j, y, width: CELL, height: CELL, fill: `rgb(${grey},${grey},${grey})` }));
    });
  });
  return new XMLSerializer().serializeToString(svg);
}

function draw(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = value; // an attribute would need a laxer policy
    else made.setAttribute(name, value);
  }
  if (text !== undefined) made.textContent = text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
  return made;
}

function widest(words) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = FONT;
  return Math.ceil(Math.max(...words.map(word => context.measureText(label(word)).width)));
}
