"""Measures what vocabulary selection costs on Multi30k `val`: BLEU, and the share of translations that change.

The model is that of `multi30k.py`, trained in bfloat16, which takes less time, or in float32. The first row is exact search
over the whole vocabulary. `translation_speed.py` measures the gain in speed, with a vocabulary of 30,000 words.
"""

from __future__ import annotations

from benchmarks.lib.command import Parser, run, text_options
from benchmarks.lib.record import machine, read_json, write_result
from benchmarks.lib.texts import sides
from benchmarks.quality.multi30k import evaluate, train, train_command
from rnnsearch.data.lines import read_lines

MODELS = {"bf16": "multi30k-rnnsearch-small-bf16", "fp32": "multi30k-rnnsearch-small"}
"""By the precision of the training; the second is that of `multi30k.py`, if it has run there."""
FREQUENT = (500, 1000, 2000, 4000)
"""The numbers of frequent words that are selected for every sentence, besides the lexicon's translations of its words."""


def main() -> None:
    """Train, translate `val` with every selection in float32 and with int8 weights, record."""
    parser = Parser(__doc__, "data", "output", "resume")
    parser.add_argument("--training", choices=MODELS, default="bf16", help="the precision of the training")
    arguments = parser.parse_args()

    on, data, name = machine(), arguments.data, MODELS[arguments.training]
    model = arguments.output / name
    train(train_command(data, model, "small", [f"training.precision={arguments.training}"]), model, arguments.resume)
    if not (model / "lexicon.tsv").exists():
        run("lexicon", "--model", model, *text_options(*sides(data, "multi30k/train")))
    rows: list[dict[str, object]] = []
    exact: list[str] = []
    for words in (None, *FREQUENT):
        for precision in ("fp32", "int8"):
            settings = [f"search.precision={precision}"] + ([f"search.vocabulary_selection={words}"] if words else [])
            found = evaluate(data, [model], "val", settings)
            lines = list(read_lines(model / f"{'-'.join(['val', *settings])}.fr"))
            exact = exact or lines
            differ = sum(ours != theirs for ours, theirs in zip(lines, exact, strict=True))
            rows.append({"words": words, "precision": precision, "bleu": found["all"]["bleu"], "differ": differ})
            print(f"{words or 'all'} words, {precision}: {rows[-1]['bleu']:.2f}, {differ} translations differ", flush=True)
    training = read_json(model / "training.json")
    vocabulary = training["data"]["target"]["vocabulary"]
    found = {"training": training, "vocabulary": vocabulary, "sentences": len(exact), "rows": rows}
    record = "quality/vocabulary_selection" + ("-fp32" if arguments.training == "fp32" else "")
    write_result(record, machine=on, **found)
