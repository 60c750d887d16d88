"""Measurements of a trained system on the test set: translations, alignments, and the words of which it is unsure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rnnsearch.atomic import write_json, write_text
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import GoldLinks, hard_alignment, read_gold
from rnnsearch.evaluation.aer import AlignmentScore, alignment_error_rate
from rnnsearch.evaluation.coverage import unread_words
from rnnsearch.experiments.inspection import Inspection, inspect
from rnnsearch.experiments.testset import TestSet
from rnnsearch.text import UNK_SYMBOL
from rnnsearch.translation import ScoredPair, load, score_pairs

UNSURE = math.log(0.1)
"""A system counts as unsure of a target word if its log-probability is lower than this."""


@dataclass(frozen=True)
class Measured:
    """The measurements of one system."""

    texts: list[str]
    """The translations of the whole test set."""
    known_texts: list[str]
    """The translations of the sentences without unknown words, with `[UNK]` forbidden."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    aer: AlignmentScore | None
    """The scores against gold alignments; None if there are none, or if the system has no alignment."""
    unread: list[int] | None
    """The number of source words of each sentence that no target word attends to; None for a system without an
    alignment."""
    shown: Mapping[int, ScoredPair]
    """The translations that are shown word by word, with the system's own scores and alignment, by the numbers of the
    sentences."""
    inspection: Inspection | None = None
    """The measurements of its annotations and its alignment; None for a system without an alignment."""


def measure(model: Path, test: TestSet, gold: Path | None, folder: Path) -> None:
    """Translate the test set, and write the fields of `Measured` to files in `folder`, `measurements.json` last."""
    translator = load(model)
    translations = translator.translate(test.sources, split_sentences=False)
    known = translator.translate(
        [test.sources[i] for i in test.choice.known], forbid_unk=True, replace_unk=False, split_sentences=False
    )
    aligns = translator.system.aligns
    unread = [len(unread_words(t.alignment)) for t in translations if t.alignment is not None]
    numbers = sorted({*test.choice.figure_3, *test.choice.table_3})
    pairs = translator.score(test.sources, test.references) if aligns else []
    links = list(read_gold(gold)) if gold else None
    chosen = [translations[i] for i in numbers]
    shown = score_pairs([translator.system], [t.source_tokens[:-1] for t in chosen], [t.tokens for t in chosen])
    _write_lines(folder / "all.target", [t.text for t in translations])
    _write_lines(folder / "no-unk.target", [t.text for t in known])
    write_json(
        folder / "measurements.json",
        {
            "unfinished": sum(not t.finished for t in translations),
            "aer": asdict(_alignment_score(pairs, links)) if aligns and links is not None else None,
            "inspection": asdict(inspect(translator.system, pairs, links)) if aligns else None,
            "unread": unread if aligns else None,
            "shown": {str(number): pair.to_plain() for number, pair in zip(numbers, shown, strict=True)},
        },
    )


def open_measured(folder: Path) -> Measured:
    """Read the measurements that `measure` has written to `folder`."""
    record = json.loads((folder / "measurements.json").read_text(encoding="utf-8"))
    return Measured(
        texts=list(read_lines(folder / "all.target")),
        known_texts=list(read_lines(folder / "no-unk.target")),
        unfinished=record["unfinished"],
        aer=record["aer"] and AlignmentScore(**record["aer"]),
        unread=record["unread"],
        shown={int(number): ScoredPair.from_plain(pair) for number, pair in record["shown"].items()},
        inspection=Inspection(**record["inspection"]) if record.get("inspection") else None,
    )


def unsure(pair: ScoredPair) -> list[int]:
    # The last score belongs to the end symbol.
    return [
        position
        for position, (word, score) in enumerate(zip(pair.tokens, pair.word_scores[:-1], strict=True))
        if score < UNSURE or word == UNK_SYMBOL
    ]


def _alignment_score(pairs: Sequence[ScoredPair], gold: Sequence[GoldLinks]) -> AlignmentScore:
    return alignment_error_rate([hard_alignment(pair.alignment) for pair in pairs if pair.alignment is not None], gold)


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "".join(line + "\n" for line in lines))
