// Greedy translations with onnxruntime-web by the code of the README: `node translate.mjs ONNXRUNTIME-WEB FOLDER` reads
// sentences of word ids as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [place, folder] = process.argv.slice(2);
const ort = await import(pathToFileURL(place));
ort.env.wasm.numThreads = 1;
const load = (name) => ort.InferenceSession.create(new Uint8Array(readFileSync(`${folder}/${name}.onnx`)), { executionProviders: ["wasm"] });
const [encoder, step] = [await load("encoder"), await load("step")];
const code = readFileSync(`${folder}/README.md`, "utf-8").split("```js")[1].split("```")[0];
const translate = new Function("ort", `${code}; return translate;`)(ort);
const translations = [];
for (const words of JSON.parse(readFileSync(0, "utf-8"))) translations.push(await translate(encoder, step, words, 12));
console.log(JSON.stringify(translations));
