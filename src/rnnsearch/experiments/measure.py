"""Measurements of a trained system on the test set: its translations, its alignments, and the words it is unsure of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnnsearch.atomic import write_json, write_text
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import GoldLinks, hard_alignment, read_gold
from rnnsearch.evaluation.aer import AlignmentScore, alignment_error_rate
from rnnsearch.evaluation.coverage import unread_words
from rnnsearch.experiments.inspection import Inspection, inspect
from rnnsearch.experiments.testset import TestSet
from rnnsearch.text import UNK_SYMBOL
from rnnsearch.translation import ScoredPair, Translation, Translator, load, score_pairs
from rnnsearch.translation.translation import Alignment, rounded, rounded_row

UNSURE = math.log(0.1)
"""A system is unsure of the target words with a lower log-probability than this."""


@dataclass(frozen=True)
class Shown:
    """A translation that the report shows word by word."""

    text: str
    tokens: list[str]
    unsure: list[int]
    """Positions of the target words that the system gave a probability below 0.1, or that are unknown."""
    source_tokens: list[str]
    """With the end symbol."""
    alignment: Alignment | None
    unread: list[int]
    """Positions of the source words that no target word attended to; empty for a system without an alignment."""
    end_alignment: Alignment | None = None
    """The row of the end symbol."""


@dataclass(frozen=True)
class Measured:
    """The measurements of one system."""

    texts: list[str]
    """Translations of the whole test set."""
    known_texts: list[str]
    """Translations of the sentences without unknown words, with `[UNK]` forbidden."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    aer: AlignmentScore | None
    """The score against gold alignments; None where there are none, or the system has no alignment."""
    unread: list[int] | None
    """For each sentence, the number of source words that no target word attended to; None for a system without an
    alignment."""
    shown: Mapping[int, Shown]
    """The translations that are shown, by the number of the sentence."""
    inspection: Inspection | None = None
    """What its annotations and its alignment do; None for a system without an alignment."""


def measure(model: Path, test: TestSet, gold: Path | None, folder: Path) -> None:
    """Translate the test set, and write the fields of `Measured` to files in `folder`, `measured.json` last."""
    translator = load(model)
    translations = translator.translate(test.sources, split_sentences=False)
    known = translator.translate(
        [test.sources[i] for i in test.choice.known], forbid_unk=True, replace_unk=False, split_sentences=False
    )
    aligns = translator.system.model.aligns
    unread = [len(unread_words(t.alignment)) for t in translations if t.alignment is not None]
    numbers = sorted({*test.choice.figure_3, *test.choice.table_3})
    pairs = translator.score(test.sources, test.references) if aligns else []
    links = list(read_gold(gold)) if gold else None
    shown = zip(numbers, _word_by_word(translator, [translations[i] for i in numbers]), strict=True)
    _write_lines(folder / "all.target", [t.text for t in translations])
    _write_lines(folder / "no-unk.target", [t.text for t in known])
    write_json(
        folder / "measured.json",
        {
            "unfinished": sum(not t.finished for t in translations),
            "aer": asdict(_alignment_score(pairs, links)) if aligns and links is not None else None,
            "inspection": asdict(inspect(translator.system, pairs, links)) if aligns else None,
            "unread": unread if aligns else None,
            "shown": {str(number): _plain(one) for number, one in shown},
        },
    )


def open_measured(folder: Path) -> Measured:
    """Read the measurements that `measure` wrote to `folder`."""
    found = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
    shown = {}
    for number, one in found["shown"].items():
        weights = one["alignment"]
        alignment = None
        if weights is not None:
            alignment = np.array(weights, np.float32).reshape(len(one["tokens"]), len(one["source_tokens"]))
        end = one.get("end_alignment")
        end_alignment = None if end is None else np.array(end, np.float32)
        shown[int(number)] = Shown(**{**one, "alignment": alignment, "end_alignment": end_alignment})
    return Measured(
        texts=list(read_lines(folder / "all.target")),
        known_texts=list(read_lines(folder / "no-unk.target")),
        unfinished=found["unfinished"],
        aer=found["aer"] and AlignmentScore(**found["aer"]),
        unread=found["unread"],
        shown=shown,
        inspection=Inspection(**found["inspection"]) if found.get("inspection") else None,
    )


def _word_by_word(translator: Translator, translations: Sequence[Translation]) -> list[Shown]:
    """The translations, with the system's own scores and alignment of each of their words."""
    pairs = score_pairs(
        [translator.system], [t.source_tokens[:-1] for t in translations], [t.tokens for t in translations]
    )
    return [
        Shown(
            text=translation.text,
            tokens=pair.tokens,
            unsure=_unsure(pair),
            source_tokens=pair.source_tokens,
            alignment=pair.alignment,
            end_alignment=pair.end_alignment,
            unread=[] if pair.alignment is None else unread_words(pair.alignment),
        )
        for translation, pair in zip(translations, pairs, strict=True)
    ]


def _unsure(pair: ScoredPair) -> list[int]:
    # The last score belongs to the end symbol.
    return [
        position
        for position, (word, score) in enumerate(zip(pair.tokens, pair.word_scores[:-1], strict=True))
        if score < UNSURE or word == UNK_SYMBOL
    ]


def _alignment_score(pairs: Sequence[ScoredPair], gold: Sequence[GoldLinks]) -> AlignmentScore:
    return alignment_error_rate([hard_alignment(pair.alignment) for pair in pairs if pair.alignment is not None], gold)


def _plain(shown: Shown) -> dict[str, Any]:
    rows = {"alignment": rounded(shown.alignment), "end_alignment": rounded_row(shown.end_alignment)}
    return {**vars(shown), **rows}


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "".join(line + "\n" for line in lines))
