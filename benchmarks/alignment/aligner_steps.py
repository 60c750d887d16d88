"""How many steps of training `--quality fast` takes: the errors and the time of an aligner for several numbers of steps.

An aligner learns from the novels and the first LINES pairs of Europarl of the text of `aligners.py`, each time with other
numbers of steps, and aligns the two novels DEVELOPED_ON; the novels of the test are not scored. The steps are those of IBM
Model 1 and those with jumps, of the agreeing models and of the independent ones. Seconds are those of a processor, for
learning alone, when all loops are compiled; reading the text and linking its words take as long with any numbers of steps.
Settings that `--only` leaves out keep their record.
"""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

from benchmarks.alignment.aligners import beginning_of, text_of
from benchmarks.alignment.gold import novels
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, read, sized, write_result
from rnnsearch.alignment import Aligner, Corpus, agreement
from rnnsearch.data.read import read_pairs

LINES = sized(20_000, 100)
Steps = tuple[int, int]
"""The numbers of steps of IBM Model 1, and of those with jumps."""
SETTINGS: tuple[tuple[Steps, Steps], ...] = (
    ((4, 6), (4, 4)),
    ((3, 3), (2, 1)),
    ((5, 2), (5, 2)),
    ((2, 3), (2, 2)),
    ((2, 4), (2, 2)),
    ((2, 4), (1, 2)),
)
"""The steps of the agreeing models, and those of the independent ones."""


def main() -> None:
    """Learn with each setting, score, record."""
    names = {name_of(*steps): steps for steps in SETTINGS}
    arguments = Parser(__doc__, "data", "output", only=names).parse_args()

    on, folder, test = machine(), arguments.output / "aligners", novels(arguments.data)
    developed = test.part("developed on")
    text = beginning_of(text_of("novels", test, arguments.data, folder), len(test.gold) + LINES)
    found: dict[str, Any] = {"settings": {}} | read("alignment/aligner_steps")
    Aligner.learn([("a", "b")] * 2)  # compiles the loops
    corpus = Corpus(read_pairs(text[:1], text[1:]))
    found |= {"machine": on, "pairs": corpus.lines}
    for name in arguments.only:
        aligner, seconds = learned(corpus, *names[name])
        lines = [line.links() for line in aligner.align(developed.pairs())]
        found["settings"][name] = {"learning": round(seconds, 1), "aer": round(developed.score(lines)["aer"], 4)}
        print(f"{name}: {found['settings'][name]}", flush=True)
    found["settings"] = {name: found["settings"][name] for name in names if name in found["settings"]}
    write_result("alignment/aligner_steps", **found)


def name_of(agreeing: Steps, independent: Steps) -> str:
    """The name of a setting: `4+6,4+4` are 4 steps of IBM Model 1 and 6 with jumps, and 4 of each kind."""
    return ",".join(f"{model_1}+{jumps}" for model_1, jumps in (agreeing, independent))


def learned(corpus: Corpus, agreeing: Steps, independent: Steps) -> tuple[Aligner, float]:
    """An aligner that has learned in so many steps, and the processor seconds that it took."""
    for path in corpus.folder.glob("*.part"):  # from which another setting would go on
        path.unlink()
    with patch.dict(agreement._STEPS, best=dict(zip(agreement.KINDS, (agreeing, independent), strict=True))):
        began = time.process_time()
        aligner = Aligner.learn(corpus, quality="best")
        return aligner, time.process_time() - began
