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

`translate.py` translates greedily: it extends the translation by the most probable word until that is the end symbol. Words
are numbers, the lines of `source.vocab` and `target.vocab` counted from 0: 0 is the end symbol, 1 is an unknown word.
{subwords}`config.json` has the settings.

1. Give the encoder `words`, the numbers of the sentences' words with an end symbol, and `lengths`, which count it.
2. Give the step `keys`, `values` and `state` of the encoder, as far as it has such inputs, and `lengths`; `parents` 0, 1,
   2, …, the row of `state` that each hypothesis continues; `words` −1, as there is no word yet; and `count`, how many words
   are wanted.
3. Choose among `best` and give the step `next_state` as `state`, the chosen words, and the rows of the hypotheses that they
   extend as `parents`. Any hypothesis may be continued by several or by none.

A tensor `alpha` is the attention: how much each position of the source was read for the next word. {location}
{tables}"""
_LOCATION = "\nThe step reads it again as `alpha_before`, which is zero at first."
_SUBWORDS = "They are subwords, into which the sentencepiece models `source.subwords` and `target.subwords` cut words.\n"


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
