"""The output formats of translations, scores and alignments: functions of the records, one line for each sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from rnnsearch.data.word_alignments import to_pharaoh
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Translation, rounded_view

Format = Literal["text", "json", "pharaoh", "tmx"]


def as_text(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """The translation itself; with n-best lists, Moses' `line ||| translation ||| score`."""
    if not many:
        return n_best[0].text
    return "\n".join(f"{number} ||| {t.text} ||| {t.score:.4f}" for t in n_best)


def as_json(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """One object a line; with n-best lists, the further ones under `n_best`."""
    record = {"line": number, **n_best[0].to_dict()}
    if many:
        record["n_best"] = [t.to_dict() for t in n_best]
    return _json(record)


def as_pharaoh(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """`source-target` index pairs; with n-best lists, a line for each."""
    return "\n".join(to_pharaoh(t.links or []) for t in n_best)


FORMATS = {"text": as_text, "json": as_json, "pharaoh": as_pharaoh}


def pair_as_json(pair: ScoredPair | Translation, number: int) -> str:
    """The alignment of a pair, given or translated, one object a line."""
    return _json({"line": number, **rounded_view(pair)})


def score_as_json(pair: ScoredPair, number: int) -> str:
    """The score of a pair and of each of its words, one object a line."""
    values = pair.to_dict()
    return _json({"line": number, **{name: values[name] for name in ("score", "tokens", "word_scores")}})


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
