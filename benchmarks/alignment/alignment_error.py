"""The alignment error rate of attention, in one direction and in both, beside a standard aligner's.

On the built-in corpus, whose grammar provides the gold links, two models of the preset `demo` are trained, one for each
direction, and align the test set. With `--model` (trained by `multi30k.py`, say), the five novels of `DATA/alibi` are
aligned too, which are out of domain for it. The standard aligner is eflomal (Östling and Tiedemann 2016), if `--eflomal`
names the Python that it is installed for: it aligns the test set together with the training text of the models, tokenised
alike. Its links of the training text of the built-in corpus then guide the attention of a third model (`train --links`).
"""

from __future__ import annotations

import subprocess
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.alignment.gold import Aligned, both, built_in_test, novels, tokenized
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, run
from benchmarks.lib.record import machine, write_result
from benchmarks.lib.texts import sides, write_lines
from benchmarks.peers.aligners import EFLOMAL
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import Links, hard_alignment, parse_gold, to_pharaoh
from rnnsearch.translation import Translator, load


def main() -> None:
    """Train, align, score, record."""
    parser = Parser(__doc__, "output", "data?", "model?")
    parser.add_argument("--eflomal", type=Path, help="the Python of an environment with eflomal")
    arguments = parser.parse_args()

    on, folder = machine(), arguments.output / "alignment-error"
    found: dict[str, dict[str, Any]] = {"built-in": of_built_in(folder, arguments.eflomal)}
    if arguments.data and arguments.model:
        training = sides(arguments.data, "multi30k/train")
        test, model = novels(arguments.data), load(arguments.model)
        found["novels"] = {"pairs": len(test.gold), "attention": test.score(links_of(model, test))}
        if arguments.eflomal:
            found["novels"] |= eflomal(arguments.eflomal, training, test)[0]
    write_result("alignment/alignment_error", machine=on, found=found)
    for name, rows in found.items():
        for aligner, score in rows.items():
            print(name, aligner, score if isinstance(score, int) else f"{score['aer']:.3f}")


def of_built_in(folder: Path, program: Path | None) -> dict[str, Any]:
    """The aligners on the generated corpus."""
    corpus = built_in.corpus(folder / "corpus")
    both_ways = (("en", "fr"), ("fr", "en"))
    models = [trained(folder / f"{source}-{target}", corpus, source, target) for source, target in both_ways]
    test = built_in_test(corpus)
    forward = links_of(models[0], test)
    backward = [
        frozenset((s, t) for t, s in links) for links in links_of(models[1], Aligned(test.targets, test.sources, test.gold))
    ]
    found = {
        "pairs": len(test.gold),
        "attention": test.score(forward),
        "attention, intersection": test.score(both(forward, backward, "intersection")),
        "attention, grow-diag": test.score(both(forward, backward, "grow-diag")),
    }
    if program:
        scores, of_training = eflomal(program, built_in.part(corpus, "train"), test)
        links = write_lines(folder / "train.links", map(to_pharaoh, of_training))
        guided = trained(folder / "en-fr-guided", corpus, "en", "fr", "--links", links)
        found |= {"attention, guided by eflomal": test.score(links_of(guided, test)), **scores}
    return found


def trained(model: Path, corpus: Path, source: str, target: str, *options: object) -> Translator:
    """A model of the built-in corpus, trained unless it has been."""
    if not (model / "training.json").exists():
        run(*built_in.train_command(corpus, model, *options, source=source, target=target))
    return load(model)


def links_of(model: Translator, test: Aligned) -> list[Links]:
    """The links of attention, given both sides."""
    pairs = model.score(*test.lines(), tokenized=True)
    return [hard_alignment(pair.alignment) for pair in pairs if pair.alignment is not None]


def eflomal(program: Path, training: tuple[Path, Path], test: Aligned) -> tuple[dict[str, Any], list[Links]]:
    """The aligner's scores, in both directions and together, and its links of the training text, of both together."""
    with tempfile.TemporaryDirectory() as name:
        text = Path(name) / "s", Path(name) / "t"
        for path, sentences, lines in zip(text, (test.sources, test.targets), tokenized(*training), strict=True):
            write_lines(path, map(" ".join, chain(sentences, lines)))
        links = Path(name) / "forward", Path(name) / "backward"
        subprocess.run([*map(str, EFLOMAL.command(program, text, links))], check=True, stdout=subprocess.DEVNULL)
        forward, backward = ([parse_gold(line).sure for line in read_lines(path)] for path in links)
    tested, grown = len(test.gold), both(forward, backward, "grow-diag")
    scores = {
        "eflomal": test.score(forward[:tested]),
        "eflomal, intersection": test.score(both(forward[:tested], backward[:tested], "intersection")),
        "eflomal, grow-diag": test.score(grown[:tested]),
    }
    return scores, grown[tested:]
