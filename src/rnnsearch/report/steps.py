"""The page that shows the computation of a translation word by word; see `rnnsearch.translation.explanation`."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import numpy as np
from markupsafe import Markup

from rnnsearch.report.document import write_document
from rnnsearch.report.xml_text import printable
from rnnsearch.text import END, UNK, Vocabulary
from rnnsearch.text.subwords import BEGIN
from rnnsearch.translation.explanation import Explanation
from rnnsearch.translation.steps import Floats, Step, best_words


def write_steps(path: str | os.PathLike[str], explanation: Explanation) -> None:
    """Write the page to `path`, atomically.

    It contains all vectors as float32, and the results of all changes; it computes nothing of the model itself.
    """
    source, target = explanation.vocabularies
    write_document(
        path,
        "steps.html.j2",
        title=f"How “{explanation.line.strip()}” is translated",
        introduction="",
        aligns=explanation.aligns,
        subwords=source.subwords is not None or target.subwords is not None,
        source=[(_shown(source, word), word == END) for word in explanation.source],
        target=[(_shown(target, step.word), step.word == END, _thousandths(step.alpha)) for step in explanation.steps],
        data=_json(_data(explanation)),
    )


def _data(explanation: Explanation) -> dict[str, Any]:
    """Return the data for the script of the page."""
    target = explanation.vocabularies.target
    return {
        "text": printable(explanation.translation.text),
        "width": explanation.annotations.shape[1],
        "annotations": _encoded(explanation.annotations),
        "steps": [_step(step, explanation, target) for step in explanation.steps],
    }


def _step(step: Step, explanation: Explanation, target: Vocabulary) -> dict[str, Any]:
    def words(pairs: list[tuple[int, float]]) -> list[tuple[str, float, int]]:
        return [(_shown(target, word), _rounded(probability), word) for word, probability in pairs]

    whole = tuple(one.word for one in explanation.steps)
    vectors = {
        "state": step.state, "context": step.context, "before": step.before_maxout, "maxout": step.maxout, "z": step.z,
        "r": step.r, "candidate": step.candidate, "next": step.new_state,
    }  # fmt: skip
    return {
        **{name: _encoded(vector) for name, vector in vectors.items()},
        "energies": None if step.energies is None else [_rounded(e) for e in step.energies],
        "word": step.word,
        "alpha": None if step.alpha is None else [_rounded(weight) for weight in step.alpha],
        "probability": _rounded(step.probabilities[step.word]),
        "best": words(best_words(step.probabilities)),
        "beam": [
            {
                "words": [_shown(target, word) for word in one.words],
                "score": _rounded(one.score),
                "ends": one.words[-1] == END,
                "chosen": one.words == whole[: len(one.words)],
            }
            for one in step.beam
        ],
        "whatIfs": [
            {
                "change": one.change,
                "at": one.at,
                "best": words(one.best),
                "probability": None if one.probability is None else _rounded(one.probability),
                "text": printable(one.text),
            }
            for one in step.what_ifs
        ],
    }


def _shown(vocabulary: Vocabulary, word: int) -> str:
    """Return a word as it is shown; a dot is before a subword that continues a word."""
    if word == END:
        return "⏎"
    text = vocabulary.words[word]
    if vocabulary.subwords is not None and word != UNK:
        text = text.removeprefix(BEGIN) if text.startswith(BEGIN) else f"·{text}"
    return printable(text) if text.strip() else "␣"


def _thousandths(alpha: Floats | None) -> list[int] | None:
    return None if alpha is None else [round(1000 * float(weight)) for weight in alpha]


def _rounded(value: float) -> float:
    """Return a number with six significant digits."""
    return float(f"{value:.6g}")


def _encoded(array: Floats) -> str:
    """Return an array as float32 (little-endian) in base64."""
    return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")


def _json(data: dict[str, Any]) -> Markup:
    """Return JSON for a `script` element, which no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
