"""A Transformer of JoeyNMT on Multi30k, trained for as many hours as the model of `multi30k.py`.

The text is that of our model: Moses tokens, segmented into the subwords of the preset `best`.
The model, `tiny`, is the Transformer that Wu et al. (2021) found best for this text (4 layers of 128, 256 and 4 heads,
dropout 0.3). Adam with warm-up, label smoothing 0.1, one embedding matrix for all. Wu et al. had minibatches of 4,096
tokens, a learning rate of 0.005 and 2,000 updates of warm-up, which is too long for the hours of a laptop. Here the
minibatches have a quarter of that, the rate is half of it (the square-root rule), and so is the warm-up. The model is
validated on the first pairs of `val`: an untrained Transformer writes up to the length limit, and a validation on all pairs
would take a third of the hours. At the end, the best checkpoint translates both sets with beam 5, and is scored as ours is.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser, environment
from benchmarks.lib.record import machine, write_result
from benchmarks.lib.texts import sides, write_lines
from benchmarks.peers.joeynmt.toolkit import JOEYNMT
from benchmarks.peers.joeynmt.transformer import commands
from benchmarks.peers.pieces import without_pieces, write_pieces
from benchmarks.quality.multi30k import lower_tokenized
from rnnsearch.config import from_preset
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.bleu import corpus_score

SETS = {"val": "dev", "test_2016_flickr": "test"}
"""The sets that are translated, and what JoeyNMT calls them."""
VALIDATED = 200
"""Pairs of `val` that JoeyNMT validates on."""


def main() -> None:
    """Prepare, train, translate, score, record."""
    parser = Parser(__doc__, "data", "output", "peers", threads=1)
    parser.add_argument("--hours", type=float, required=True, help="training time")
    parser.add_argument("--language", choices=("fr", "de"), default="fr", help="the language translated into")
    arguments = parser.parse_args()

    on, language = machine(), arguments.language
    name = f"joeynmt_transformer-tiny{'' if language == 'fr' else f'-{language}'}"
    folder, variables = arguments.output / name, environment(arguments.threads)
    files = {part: sides(arguments.data, f"multi30k/{part}", "en", language) for part in ("train", *SETS)}
    texts = {part: list(zip(read_lines(one), read_lines(other), strict=True)) for part, (one, other) in files.items()}
    pieces = write_pieces(
        folder, {**texts, "validated": texts["val"][:VALIDATED]}, ("en", language), from_preset("best").data
    )
    tested = {called: folder / test for test, called in SETS.items()}
    train, test_both = commands(folder, pieces, ("en", language), tested, arguments.peers)
    if not (folder / "model" / "best.ckpt").exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(train, check=True, timeout=3600 * arguments.hours, env=variables)
    subprocess.run(test_both, check=True, env=variables)
    scores = {}
    for test, called in SETS.items():
        scores[test] = scored(folder / f"translated.{called}", files[test][1], language)
        print(test, round(scores[test]["all"]["bleu"], 2), round(scores[test]["lower-cased, tokenised"]["bleu"], 2))
    write_result(
        f"quality/{name}",
        machine=on,
        version=JOEYNMT.version,
        hours=arguments.hours,
        threads=arguments.threads,
        settings=json.loads((folder / "training.yaml").read_text(encoding="utf-8").replace(str(folder), "RUN")),
        evaluation=scores,
    )


def scored(written: Path, reference: Path, language: str) -> dict[str, Any]:
    """BLEU of translations in pieces, put together as ours are."""
    lines = without_pieces(written, language)
    text = write_lines(written.with_suffix(f".{language}"), lines)
    score = corpus_score(lines, list(read_lines(reference)))
    return {
        "all": {"bleu": score.bleu, "bleu_signature": score.bleu_signature},
        "lower-cased, tokenised": lower_tokenized(text, reference, language),
    }
