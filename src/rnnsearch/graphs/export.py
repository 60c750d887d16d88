"""The export of a model as ONNX graphs, which other programs can use without rnnsearch: `rnnsearch export --onnx`."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from rnnsearch import plugins
from rnnsearch.atomic import atomic_write, write_text
from rnnsearch.errors import RnnsearchError
from rnnsearch.graphs.alignment_layer import alignment_layer
from rnnsearch.graphs.encoder import encoder
from rnnsearch.graphs.engine import session
from rnnsearch.graphs.graph import Graph
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.step import step
from rnnsearch.graphs.weights import Weights
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, WEIGHTS, read_model_config

ENCODER, STEP, ALIGNMENT_GRAPH, SCRIPT = "encoder.onnx", "step.onnx", "alignment_layer.onnx", "translate.py"
_COPIED = (CONFIG, "source.vocab", "target.vocab", "source.subwords", "target.subwords")

_README = """\
# A translation model as ONNX graphs

The model was trained by rnnsearch. ONNX Runtime runs the graphs, in any of its languages; nothing of rnnsearch is needed.

```sh
pip install onnxruntime sentencepiece
python translate.py < tokenized.txt
```

## From text to numbers, and back

Words are numbers, the lines of `source.vocab` and `target.vocab` counted from 0: 0 is the end symbol, 1 is an unknown word.
{units}{subwords}`config.json` has the settings.

## Search

`translate.py` translates greedily: it extends the translation by the most probable word until that is the end symbol.

1. Give the encoder `words`, the numbers of the sentences' words with an end symbol, and `lengths`, which count it. Shorter
   sentences of a batch are filled up with any number.
2. Give the step `keys`, `values` and `state` of the encoder, as far as it has such inputs, and `lengths`; `parents` 0, 1,
   2, …, the row of `state` that each hypothesis continues; `words` −1, as there is no word yet; and `count`, how many words
   are wanted.
3. Choose among `best`, whose log-probabilities are `best_log_p`, and give the step `next_state` as `state`, the chosen
   words, and the rows of the hypotheses that they extend as `parents`. Any hypothesis may be continued by several or by
   none; hypothesis k of sentence b is row b · hypotheses + k of `next_state`.

A tensor `alpha` is the attention: how much each position of the source was read for the next word. {location}

The same in JavaScript, with `onnxruntime-web` or `onnxruntime-node`, from the numbers of a sentence to those of its
translation:

```js
const integers = (numbers, ...shape) => new ort.Tensor("int64", BigInt64Array.from(numbers, BigInt), shape);

async function translate(encoder, step, sentence, longest) {{
  const words = [...sentence, 0], lengths = integers([words.length], 1);
  const encoded = await encoder.run({{ words: integers(words, 1, words.length), lengths }});
  const given = {{ ...encoded, lengths, parents: integers([0], 1, 1), count: integers([2], 1) }};
  given.words = integers([-1], 1, 1);
  given.alpha_before = new ort.Tensor("float32", new Float32Array(words.length), [1, words.length]);
  const translation = [];
  while (translation.length < longest) {{
    const inputs = Object.fromEntries(step.inputNames.map(name => [name, given[name]]));
    const {{ next_state, best, alpha }} = await step.run(inputs);
    const word = [...best.data].map(Number).find(number => number !== 1);
    if (word === 0) break;
    translation.push(word);
    given.state = next_state;
    given.words = integers([word], 1, 1);
    given.alpha_before = alpha?.reshape([1, words.length]);
  }}
  return translation;
}}
```

# The graphs
{tables}"""
_UNITS = {
    "words": "Spaces separate the words of a text, and its punctuation marks from the words, as in `Yes , I do .`\n",
    "characters": "The units of a text are its characters as readers see them.\n",
    "codepoints": "The units of a text are its Unicode code points.\n",
    "symbols": "The units of a text are symbols, which spaces separate.\n",
}
_LOCATION = "\nThe step reads it again as `alpha_before`, which is zero at first."
_SUBWORDS = """\
The sentencepiece model `source.subwords` cuts such a text into subwords, which are the words of the vocabularies. A
translation is joined without spaces, and each `▁` in it is a space.
"""


def export_graphs(folder: Path, output: Path, precision: Precision) -> None:
    """Write the graphs of the model in `folder` into the folder `output`, with vocabularies, a README and a script.

    ONNX Runtime loads each graph before it is written, so that no unusable graph is exported. Raises RnnsearchError if
    `output` already contains graphs, or if the model needs a plugin.
    """
    if (output / STEP).exists():
        raise RnnsearchError(f"{output}: there are graphs in it already; give another folder to --onnx")
    config = read_model_config(folder)
    if plugins.needed(config.model.alignment, config.model.cell):
        raise RnnsearchError(
            f"{folder}: the model needs a plugin, whose classes have no graph; it cannot be exported to ONNX"
        )
    weights = Weights.load(folder / WEIGHTS)
    graphs = {ENCODER: encoder(config.model, weights, precision)}
    if (folder / ALIGNMENT_LAYER).exists():
        layer = Weights.load(folder / ALIGNMENT_LAYER)
        graphs[ALIGNMENT_GRAPH] = alignment_layer(config.model, weights, layer, precision)
    graphs[STEP] = step(config.model, weights, precision)
    for name, graph in graphs.items():
        file = graph.file()
        session(file)
        with atomic_write(output / name) as temporary:
            temporary.write_bytes(file)
    for name in _COPIED:
        if (folder / name).exists():
            with atomic_write(output / name) as temporary:
                shutil.copyfile(folder / name, temporary)
    script = files("rnnsearch.graphs").joinpath(SCRIPT).read_text(encoding="utf-8")
    write_text(output / SCRIPT, script)
    readme = _README.format(
        units=_UNITS.get(config.data.source_units, ""),
        subwords=_SUBWORDS if config.data.subwords != "none" else "",
        location=_LOCATION if config.model.alignment == "location" else "",
        tables="".join(_table(name, graph) for name, graph in graphs.items()),
    )
    write_text(output / "README.md", readme)


def _table(file: str, graph: Graph) -> str:
    """Return the section of the README that lists the inputs and outputs of a graph."""
    rows = [
        f"| {kind} | `{name}` | {element_type} | {', '.join(map(str, axes))} |\n"
        for kind, group in (("input", graph.inputs), ("output", graph.outputs))
        for name, (element_type, axes) in group.items()
    ]
    return f"\n## {file}\n\n| | name | type | shape |\n|---|---|---|---|\n{''.join(rows)}"
