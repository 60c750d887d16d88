"""The style and the script of the page; nothing in them is fetched from elsewhere."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #22252b; --quiet: #646a75; --line: #e4e1da;
  --accent: #3567a8; --marker: 255 196 61; --on-marker: #22252b;
  --series-1: #3567a8; --series-2: #c2570c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181d; --card: #1e2128; --ink: #e7e6e2; --quiet: #a0a5b0; --line: #343842;
    --accent: #8ab4f0; --marker: 176 92 12; --on-marker: #ffffff;
    --series-1: #8ab4f0; --series-2: #f0a05a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.1rem 4rem; max-width: 58rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1 { margin: 0 0 .6rem; font-size: clamp(1.7rem, 5vw, 2.5rem); line-height: 1.15; letter-spacing: -.02em; }
h2 { margin: 3rem 0 .4rem; font-size: 1.35rem; letter-spacing: -.01em; }
p { max-width: 44rem; margin: .4rem 0; overflow-wrap: break-word; }
.quiet { color: var(--quiet); }
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: 1.6rem 0;
}
.figures div, .sample, .plot { background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
.figures div {
  display: flex; flex-direction: column; padding: .7rem .9rem;
}
.figures dt { order: 1; color: var(--quiet); font-size: .85rem; line-height: 1.4; }
.figures dd { margin: 0; font-size: 1.55rem; font-weight: 650; line-height: 1.25; overflow-wrap: anywhere; }
.figures dd.more {
  order: 2; margin-top: .3rem; font: .68rem/1.4 ui-monospace, monospace; color: var(--quiet);
}
.sample { margin: 1rem 0; padding: .9rem 1.1rem; }
.sample dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .5rem .8rem; margin: 0; }
.sample dt { color: var(--quiet); font-size: .85rem; padding-top: .2rem; }
.sample dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.source, .translation { font-size: 1.1rem; line-height: 1.9; }
.word {
  display: inline; margin: 0 -.16em; border: 0; border-radius: .3em; padding: .12em .16em;
  font: inherit; color: inherit; background: none; overflow-wrap: anywhere;
  -webkit-user-select: text; user-select: text;
}
.source .word {
  --weight: 0; background: rgb(var(--marker) / var(--weight)); transition: background-color .18s;
}
.source .read { color: var(--on-marker); }
.source .end { font-size: .75em; opacity: .75; }
.translation .word { cursor: pointer; text-align: inherit; line-height: 1.3; }
.translation .word:hover { background: rgb(var(--marker) / .25); }
.translation .word[aria-pressed=true] {
  text-decoration: underline .16em rgb(var(--marker)); text-underline-offset: .22em;
}
.word:focus-visible, .play:focus-visible, summary:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 1px;
}
.reader { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .8rem; margin-top: .7rem; }
.reader p { flex: 1 1 14rem; min-height: 1.6em; margin: 0; font-size: .9rem; color: var(--quiet); }
.play {
  border: 1px solid var(--line); border-radius: 2rem; padding: .3rem .9rem; background: none;
  color: var(--accent); font: inherit; font-size: .9rem; cursor: pointer;
}
.play:hover { border-color: var(--accent); }
details { margin-top: .5rem; font-size: .9rem; }
summary { cursor: pointer; color: var(--quiet); width: fit-content; }
.scroll { overflow-x: auto; }
.plot {
  display: flex; flex-wrap: wrap; justify-content: center; gap: .8rem; margin: .8rem 0; padding: .8rem;
}
svg { display: block; max-width: 100%; height: auto; stroke-linejoin: round; }
svg text { font-family: inherit !important; }
.scroll svg { max-width: none; margin-top: .5rem; }
.step { margin: .9rem 0; }
pre {
  margin: .3rem 0; padding: .7rem .9rem; overflow-x: auto; border-radius: .6rem;
  border: 1px solid var(--line); background: var(--card);
  font: .88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
pre code { -webkit-user-select: all; user-select: all; }
@media (max-width: 36rem) {
  .sample dl { grid-template-columns: 1fr; gap: 0; }
  .sample dt { padding-top: .5rem; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; } }
@media print { .play, .reader { display: none; } }
"""

SCRIPT = """
"use strict";
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

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
      from.classList.toggle("read", weights[j] > 0.4);
    });
    for (const other of target) {
      other.setAttribute("aria-pressed", other === word);
      other.tabIndex = other === word ? 0 : -1;
    }
    const most = weights.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]).slice(0, 3)
      .filter(([w], rank) => rank === 0 || w >= 0.05);
    const named = most.map(([w, j]) => {
      const name = source[j].classList.contains("end") ? "the end" : "“" + source[j].textContent + "”";
      return name + " " + Math.round(100 * w) + "%";
    });
    caption.textContent = "“" + word.textContent + "” was read from " + named.join(", ");
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Read along";
  }

  function start() {
    let next = 0;
    play.textContent = "■ Stop";
    const step = () => next < target.length ? show(target[next++]) : stop();
    timer = setInterval(step, 550);
    step();
  }

  target.forEach((word, i) => {
    const chosen = () => { stop(); show(word); };
    word.addEventListener("pointerenter", chosen);
    word.addEventListener("focus", chosen);
    word.addEventListener("click", chosen);
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
if (starts.length && !calm) {
  const [sample, start] = starts[0];
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    seen.disconnect();
    start();
  }, { threshold: 0.6 });
  seen.observe(sample.querySelector("dl"));
}
"""
