"""The test set, and the choice of its sentences for figures and tables, which is made before anything is translated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import from_dict
from rnnsearch.data.prepared import PreparedData
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import no_unk_subset
from rnnsearch.experiments.experiment import Text
from rnnsearch.text import units_of

SHOWN_LONG = 3
"""The number of long sentences that Table 3 shows."""

_FIGURE_3_WORDS = range(10, 21)
_SEED = 1


@dataclass(frozen=True)
class Choice:
    """The numbers, counted from 0, of sentences that are chosen from the test set."""

    lengths: list[int]
    """The number of words of every source sentence of the test set."""
    known: list[int]
    """The sentences whose source and reference have no words that are unknown to any of the systems: *No UNK*."""
    figure_3: list[int]
    """The first sentence with 10 to 20 words, and three that are drawn at random from `known`, with 10 to 20 words too."""
    table_3: list[int]
    """Long sentences that are drawn at random."""


@dataclass(frozen=True)
class TestSet:
    """The raw lines of the test set, and the sentences that are chosen from it."""

    __test__ = False  # otherwise pytest takes the class for a test because of its name

    sources: list[str]
    references: list[str]
    choice: Choice


def choose(text: Text, prepared: Sequence[PreparedData], long: int, folder: Path) -> None:
    """Choose sentences, and write `choice.json`, `no-unk.source` and `no-unk.target` (those of `known`) into `folder`.

    A sentence is long if it has at least `long` words. Raises RnnsearchError if the test set is empty.
    """
    sources, references = _read(text)
    data = prepared[0]
    source_units, target_units = units_of(from_dict({"data": data.info["data"]}).data)
    source_words = [source_units.tokenize(line) for line in sources]
    reference_words = [target_units.tokenize(line) for line in references]
    subsets = [set(no_unk_subset(source_words, reference_words, *data.vocabularies)) for data in prepared]
    known = sorted(set.intersection(*subsets))
    lengths = [len(words) for words in source_words]
    candidates = [i for i in known if lengths[i] in _FIGURE_3_WORDS]
    arbitrary = [i for i, length in enumerate(lengths) if length in _FIGURE_3_WORDS][:1]
    others = [i for i in candidates if i not in arbitrary]
    random = Random(_SEED)
    choice = Choice(
        lengths=lengths,
        known=known,
        figure_3=arbitrary + random.sample(others, min(3, len(others))),
        table_3=sorted(_sample(random, [i for i, length in enumerate(lengths) if length >= long])),
    )
    for side, lines in (("source", sources), ("target", references)):
        write_text(folder / f"no-unk.{side}", "".join(lines[i] + "\n" for i in known))
    write_json(folder / "choice.json", asdict(choice))


def open_test_set(text: Text, folder: Path) -> TestSet:
    """Return the test set with the choice that `choose` has written to `folder`."""
    sources, references = _read(text)
    choice = Choice(**json.loads((folder / "choice.json").read_text(encoding="utf-8")))
    return TestSet(sources, references, choice)


def _read(text: Text) -> tuple[list[str], list[str]]:
    pairs = list(read_pairs([text.test_source], [text.test_target]))
    if not pairs:
        raise RnnsearchError(f"{text.test_source}: the test set has no sentences; give another file")
    return [source for source, _ in pairs], [reference for _, reference in pairs]


def _sample(random: Random, numbers: list[int]) -> list[int]:
    return random.sample(numbers, min(SHOWN_LONG, len(numbers)))
