// Greedy translations with onnxruntime-web: `node translate.mjs ONNXRUNTIME-WEB FOLDER` reads sentences of word ids as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [place, folder] = process.argv.slice(2);
const ort = await import(pathToFileURL(place));
ort.env.wasm.numThreads = 1;
const load = (name) => ort.InferenceSession.create(new Uint8Array(readFileSync(`${folder}/${name}.onnx`)), { executionProviders: ["wasm"] });
const ids = (values, shape) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), shape);
const [encoder, step] = [await load("encoder"), await load("step")];
const translations = [];
for (const words of JSON.parse(readFileSync(0, "utf-8"))) {
  const lengths = ids([words.length], [1]);
  const { keys, values, state } = await encoder.run({ words: ids(words, [1, words.length]), lengths });
  const given = { keys, values, state, lengths, parents: ids([0], [1, 1]), words: ids([-1], [1, 1]), count: ids([2], [1]) };
  const written = [];
  for (let i = 0; i < 12; i++) {
    const found = await step.run(given);
    const word = [...found.best.data].map(Number).find((id) => id !== 1);
    if (word === 0) break;
    written.push(word);
    given.state = found.next_state;
    given.words = ids([word], [1, 1]);
  }
  translations.push(written);
}
console.log(JSON.stringify(translations));
