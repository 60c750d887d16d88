"""How translations and alignments are written, a line at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rnnsearch.data.word_alignments import to_pharaoh
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Alignment, Translation


def as_text(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """The translation itself; with n-best lists, Moses' `line ||| translation ||| score`."""
    if not many:
        return n_best[0].text
    return "\n".join(f"{number} ||| {t.text} ||| {t.score:.4f}" for t in n_best)


def as_json(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """One object a line; with n-best lists, the further ones under `n_best`."""
    record = {"line": number, **_record(n_best[0])}
    if many:
        record["n_best"] = [_record(t) for t in n_best]
    return json.dumps(record, ensure_ascii=False)


def as_pharaoh(n_best: Sequence[Translation], number: int, many: bool) -> str:
    """`source-target` index pairs; with n-best lists, a line for each."""
    return "\n".join(to_pharaoh(t.links or []) for t in n_best)


FORMATS = {"text": as_text, "json": as_json, "pharaoh": as_pharaoh}


def pair_as_json(pair: ScoredPair | Translation, number: int) -> str:
    """The alignment of a pair, given or translated, one object a line."""
    return json.dumps(
        {
            "line": number,
            "source_tokens": pair.source_tokens,
            "tokens": pair.tokens,
            "score": round(pair.score, 6),
            "alignment": _weights(pair.alignment),
        },
        ensure_ascii=False,
    )


def _record(translation: Translation) -> dict[str, Any]:
    record: dict[str, Any] = {
        "text": translation.text,
        "tokens": translation.tokens,
        "source_tokens": translation.source_tokens,
        "score": round(translation.score, 6),
        "finished": translation.finished,
    }
    if translation.replacements:
        record["replacements"] = [asdict(replacement) for replacement in translation.replacements]
    if len(translation.segments) > 1:
        # The whole matrix of a very long line would be mostly zeros, and too large to be of use.
        return record | {
            "segments": [
                {
                    "source_start": segment.source_start,
                    "target_start": segment.target_start,
                    "alignment": _weights(segment.alignment),
                }
                for segment in translation.segments
            ]
        }
    return record | {"alignment": _weights(translation.alignment)}


def _weights(alignment: Alignment | None) -> list[list[float]] | None:
    if alignment is None:
        return None
    return [[round(float(weight), 4) for weight in row] for row in alignment]
