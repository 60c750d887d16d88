// This code follows `alignment.js` in the same script, and makes every translation of the page show its alignment.
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;

// Connect a translation with its alignment, and return the function that shows its words one after another.
function connect(sample) {
  const words = side => [...sample.querySelectorAll(`.${side} .word`)];
  const caption = sample.querySelector(".reader p");
  const play = sample.querySelector(".play");
  const alignment = new Alignment(words("source"), words("translation"), text => (caption.textContent = text));
  let timer = null;

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Read along";
    caption.ariaLive = "polite";
  }

  function start() {
    let next = 0;
    play.textContent = "■ Stop";
    caption.ariaLive = "off"; // the words change too fast for a screen reader
    const step = () => (next < words("translation").length ? alignment.show("target", next++) : stop());
    timer = setInterval(step, 550);
    step();
  }

  const text = sample.querySelector("dl");
  for (const reached of ["pointerover", "focusin"]) text.addEventListener(reached, stop);
  alignment.listen(text);
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  play.hidden = false;
  const whole = sample.querySelector("details");
  whole?.addEventListener("toggle", () => whole.append(alignment.table(whole.dataset.label)), { once: true });
  return start;
}

const samples = [...document.querySelectorAll(".sample.aligned")];
const starts = samples.map(connect);
if (samples.length && !reducedMotion) {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    starts[0]();
  }, { threshold: 0.6 });
  observer.observe(samples[0].querySelector("dl"));
}
