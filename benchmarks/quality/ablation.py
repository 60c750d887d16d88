"""Ablation: BLEU on Multi30k `val` of the preset `best`, with one setting changed at a time.

All trainings are equally long, and shorter than those of models that are meant to be used: the learning rate falls to zero
over `--epochs` epochs. Two trainings run side by side, on one thread each. A finished training is not repeated, and a
stopped one is resumed. With `--only`, the record keeps its other rows, if their settings and number of epochs are the same.
A difference of half a BLEU between two single trainings is not significant: the row `another seed` shows the variation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser, side_by_side
from benchmarks.lib.record import machine, read, read_json, write_result
from benchmarks.quality.multi30k import evaluate, train, train_command

TRAININGS: dict[str, tuple[str, ...]] = {
    "best": (),
    "another seed": ("training.seed=2",),
    "whole words": ("data.subwords=none", "data.minimum_count=2", "data.source_words=10000", "data.target_words=10000"),
    "4,000 subwords": ("data.subword_pieces=4000",),
    "separate subwords for each language": ("data.joint_subwords=false",),
    "subwords of a unigram model": ("data.subwords=unigram",),
    "BPE-dropout 0.05": ("training.subword_sampling=0.05",),
    "target embedding and softmax tied": ("model.tied_embedding=true",),
    "half as many hidden units": ("model.hidden_size=160",),
    "hidden units as in small": ("model.hidden_size=512",),
    "R-Drop": ("training.consistency=5",),
    "no label smoothing": ("training.label_smoothing=0",),
    "no moving average of the weights": ("training.weight_average=0",),
    "no dropout": ("training.dropout=0",),
    "dropout 0.5": ("training.dropout=0.5",),
    "word dropout 0.1": ("training.word_dropout=0.1",),
    "recurrent dropout 0.2": ("training.recurrent_dropout=0.2",),
    "constant learning rate": ("training.decay=none",),
    "no warm-up": ("training.warmup_updates=0",),
    "the paper's initial weights": ("training.initialization=paper",),
    "the paper's optimizer, Adadelta": ("training.optimizer=adadelta", "training.learning_rate=1", "training.decay=none"),
    "minibatches of twice the size": ("training.accumulate=2",),
    "layer normalisation": ("model.layer_norm=true",),
    "two encoder layers": ("model.encoder_layers=2", "model.layer_norm=true"),
    "two decoder layers": ("model.decoder_layers=2", "model.layer_norm=true"),
    "LSTM": ("model.cell=lstm",),
    "update before predicting (Eq. 4)": ("model.decoder_order=look-update-generate",),
    "no alignment: RNNencdec": ("model.alignment=none",),
}
"""By name, what differs from the preset."""

SEARCHES: dict[str, tuple[str, ...]] = {
    "beam 1": ("search.beam=1",),
    "beam 12": ("search.beam=12",),
    "no length normalisation": ("search.length_normalization=0",),
    "coverage 0.2": ("search.coverage=0.2",),
    "minimum Bayes risk, beam 12": ("search.minimum_bayes_risk=true", "search.beam=12"),
    "sampling, temperature 1": ("search.temperature=1",),
    "int8 weights": ("search.precision=int8",),
}
"""By name, how the first row's model is searched otherwise."""


def main() -> None:
    """Train what is missing, translate `val`, record."""
    arguments = Parser(__doc__, "data", "output", "set", epochs=4, only=TRAININGS, jobs=2).parse_args()

    on, data, folder = machine(), arguments.data, arguments.output / f"ablation-{arguments.epochs}"

    def row(name: str) -> dict[str, Any]:
        model = folder / name.replace(" ", "-").replace("/", "-")
        settings = (f"training.max_epochs={arguments.epochs}", *arguments.set, *TRAININGS[name])
        train(train_command(data, model, "best", settings), model, resume=True, jobs=arguments.jobs)
        training = read_json(model / "training.json")
        found: dict[str, Any] = {"settings": TRAININGS[name], "bleu": {"beam 5": bleu(model, ())}}
        if name == "best":
            found["bleu"] |= {search: bleu(model, how) for search, how in SEARCHES.items()}
        found |= {key: training[key] for key in ("updates", "hours", "dev_nll_per_word", "parameters")}
        print(f"{name:45} {found['bleu']['beam 5']:.2f}", flush=True)
        return found

    def bleu(model: Path, how: tuple[str, ...]) -> float:
        return round(float(evaluate(data, [model], "val", how)["all"]["bleu"]), 2)

    rows = side_by_side(row, arguments.only, arguments.jobs)
    shared = {"epochs": arguments.epochs, "settings": arguments.set}
    before = read("quality/ablation")
    if before and all(before[key] == value for key, value in shared.items()):
        rows = {**before["rows"], **rows}
    write_result("quality/ablation", machine=on, **shared, rows={name: rows[name] for name in TRAININGS if name in rows})
