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
    """Return the text of the translation; for an n-best list, the lines `line ||| translation ||| score` of Moses."""
    if not many:
        return n_best[0].text
    return "\n".join(f"{number} ||| {t.text} ||| {t.score:.4f}" for t in n_best)


def as_json(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """Return one JSON object; further translations of an n-best list are under `n_best`."""
    record = {"line": number, **n_best[0].to_dict()}
    if many:
        record["n_best"] = [t.to_dict() for t in n_best]
    return _json(record)


def as_pharaoh(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """Return the links as `source-target` index pairs; an n-best list has a line for each translation."""
    return "\n".join(to_pharaoh(t.links or []) for t in n_best)


FORMATS = {"text": as_text, "json": as_json, "pharaoh": as_pharaoh}


def pair_as_json(pair: ScoredPair | Translation, number: int) -> str:
    """Return the alignment of a given or translated pair as one JSON object."""
    return _json({"line": number, **rounded_view(pair)})


def score_as_json(pair: ScoredPair, number: int) -> str:
    """Return the score of a pair and of each of its words as one JSON object."""
    values = pair.to_dict()
    return _json({"line": number, **{name: values[name] for name in ("score", "tokens", "word_scores")}})


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
