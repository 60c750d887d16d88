"use strict";
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;

// Makes the words of one translation show what they attend to; returns the function that walks through all of them.
function reader(sample) {
  const source = [...sample.querySelectorAll(".source .word")];
  const target = [...sample.querySelectorAll(".translation .word")];
  const caption = sample.querySelector(".reader p");
  const play = sample.querySelector(".play");
  let timer = null;

  function show(word) {
    const weights = word.dataset.weights.split(" ").map(w => w / 1000);
    source.forEach((from, j) => {
      from.style.setProperty("--weight", weights[j]);
      from.classList.toggle("attended", weights[j] > 0.4);
    });
    for (const other of target) {
      other.setAttribute("aria-pressed", other === word);
      other.tabIndex = other === word ? 0 : -1;
    }
    const strongest = weights.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]).slice(0, 3)
      .filter(([w], rank) => rank === 0 || w >= 0.05);
    const named = strongest.map(([w, j]) => {
      const name = source[j].classList.contains("end") ? "the end" : "“" + source[j].textContent + "”";
      return name + " " + Math.round(100 * w) + "%";
    });
    caption.textContent = "“" + word.textContent + "” attends to " + named.join(", ");
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Read along";
    caption.ariaLive = "polite";
  }

  function start() {
    let next = 0;
    play.textContent = "■ Stop";
    caption.ariaLive = "off"; // a screen reader could not keep up
    const step = () => next < target.length ? show(target[next++]) : stop();
    timer = setInterval(step, 550);
    step();
  }

  target.forEach((word, i) => {
    const choose = () => { stop(); show(word); };
    word.addEventListener("pointerenter", choose);
    word.addEventListener("focus", choose);
    word.addEventListener("click", choose);
    word.addEventListener("keydown", event => {
      const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!move) return;
      event.preventDefault();
      target[(i + move + target.length) % target.length].focus();
    });
    word.tabIndex = i === 0 ? 0 : -1;
  });
  play.addEventListener("click", () => timer === null ? start() : stop());
  play.hidden = false;
  return start;
}

const starts = [...document.querySelectorAll(".sample.aligned")].map(sample => [sample, reader(sample)]);
if (starts.length && !reducedMotion) {
  const [sample, start] = starts[0];
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    start();
  }, { threshold: 0.6 });
  observer.observe(sample.querySelector("dl"));
}
