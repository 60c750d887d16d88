// The requests of the page to the server.

const MOST_PATIENCE = 5; // the number of times that a request to a busy server is repeated

// The server refuses a request, or cannot be reached; the message is one sentence for the reader.
export class Refused extends Error {}

export async function get(path) {
  return answerOf(await reach(path, {}));
}

// Send a request. A busy server says when to repeat it, and it is repeated then. `signal` aborts everything.
export async function post(path, asked, signal) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal };
  for (let attempt = 1; ; attempt++) {
    const answer = await reach(path, request);
    const seconds = Number(answer.headers.get("Retry-After"));
    if (answer.status !== 503 || !(seconds > 0 && seconds <= 60) || attempt > MOST_PATIENCE) return answerOf(answer);
    await pause(seconds, signal);
  }
}

async function reach(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server cannot be reached.");
  }
}

async function answerOf(answer) {
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body;
  throw new Refused(body?.error ? asSentence(body.error) : `The server answers with status ${answer.status}.`);
}

function asSentence(told) {
  return told[0].toUpperCase() + told.slice(1) + (/[.!?]$/.test(told) ? "" : ".");
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
