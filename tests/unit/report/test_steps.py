"""The page of the steps of a translation: its numbers are the explanation's, and it is one file of its own."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_page import HOSTILE, Page

from rnnsearch.report.steps import write_steps
from rnnsearch.search.trace import Partial
from rnnsearch.text import Vocabularies, Vocabulary
from rnnsearch.translation import Translation
from rnnsearch.translation.explanation import MOST_WORDS, Explanation
from rnnsearch.translation.steps import Step, WhatIf

VECTORS = {
    "state": "state", "context": "context", "before": "before_maxout", "maxout": "maxout", "z": "z", "r": "r",
    "candidate": "candidate", "next": "new_state",
}  # fmt: skip


def explanation(words: list[str], n: int, count: int, aligns: bool = True, text: str = "a text") -> Explanation:
    """An explanation with random numbers: `count` source words and steps, with `n` hidden units."""
    rng = np.random.default_rng(1)
    vocabulary = Vocabulary(words)
    size = len(vocabulary)
    steps = []
    for place in range(count):
        best = [(place % size, 0.5)] * 8
        changes = [WhatIf(change, j, best, 0.25, text) for change in ("off", "only") for j in range(count)]
        changes += [WhatIf("word", j, best, None, text) for j in range(8)]
        steps.append(
            Step(
                word=place % size,
                state=rng.normal(size=n),
                energies=rng.normal(size=count) if aligns else None,
                alpha=rng.dirichlet(np.ones(count)) if aligns else None,
                context=rng.normal(size=2 * n),
                before_maxout=rng.normal(size=n),
                maxout=rng.normal(size=n // 2),
                probabilities=rng.dirichlet(np.ones(size)),
                z=rng.random(n),
                r=rng.random(n),
                candidate=rng.normal(size=n),
                new_state=rng.normal(size=n),
                beam=[Partial(tuple(i % size for i in range(place + 1)), -float(place))] * 12,
                what_ifs=changes,
            )
        )
    annotations = rng.normal(size=(count, 2 * n))
    source = [place % size for place in range(count)]
    translation = Translation(text, -1.0, True, [])
    return Explanation(text, translation, source, Vocabularies(vocabulary, vocabulary), annotations, aligns, steps)


def data_of(page: Page) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.source, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def numbers(text: str) -> Any:
    return np.frombuffer(base64.b64decode(text), "<f4")


@pytest.mark.parametrize("aligns", [True, False])
def test_the_numbers_of_the_page(tmp_path: Path, aligns: bool) -> None:
    given = explanation(["dog", "cat"], 6, 5, aligns)
    write_steps(tmp_path / "page.html", given)
    data = data_of(Page(tmp_path / "page.html"))
    np.testing.assert_array_equal(numbers(data["annotations"]).reshape(-1, data["width"]), given.annotations.astype("<f4"))
    assert len(data["steps"]) == len(given.steps)
    for shown, step in zip(data["steps"], given.steps, strict=True):
        for name, attribute in VECTORS.items():
            np.testing.assert_array_equal(numbers(shown[name]), getattr(step, attribute).astype("<f4"))
        assert (shown["alpha"] is None) == (not aligns)
        if step.alpha is not None and step.energies is not None:
            np.testing.assert_allclose(shown["alpha"], step.alpha, rtol=1e-5)
            np.testing.assert_allclose(shown["energies"], step.energies, rtol=1e-5)
        assert [p for _, p, _ in shown["best"]] == pytest.approx(sorted(step.probabilities, reverse=True)[:8], rel=1e-5)
        assert len(shown["whatIfs"]) == len(step.what_ifs)


@pytest.mark.parametrize("aligns", [True, False])
def test_each_quantity_is_beside_its_equation_and_nothing_is_fetched(tmp_path: Path, aligns: bool) -> None:
    write_steps(tmp_path / "page.html", explanation(["dog"], 4, 3, aligns))
    page = Page(tmp_path / "page.html")
    assert page.does_nothing_but_its_own()
    assert "http:" not in page.source
    assert "https:" not in page.source
    assert page.content_policy.startswith("default-src 'none'")
    assert len([tag for tag, _ in page.elements if tag == "math"]) == (8 if aligns else 6)
    vectors = {attributes["data-vector"] for tag, attributes in page.elements if "data-vector" in attributes}
    assert vectors == {*VECTORS, *(["annotation"] if aligns else [])}
    assert ("fixed vector" in page.text) == (not aligns)
    identifiers = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_hostile_words_stay_text(tmp_path: Path) -> None:
    write_steps(tmp_path / "page.html", explanation([HOSTILE, "\x00\ud800"], 4, 4, text=HOSTILE))
    page = Page(tmp_path / "page.html")
    assert HOSTILE in page.text
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"] == ["application/json", "module"]
    assert data_of(page)["text"] == HOSTILE
    assert not [tag for tag, _ in page.elements if tag == "img"]


def test_the_longest_sentence_of_a_model_of_the_papers_size_is_below_5_mb(tmp_path: Path) -> None:
    text = "Une phrase de quarante mots, chacun d'une longueur habituelle, et qui ne finit pas. " * 3
    write_steps(tmp_path / "page.html", explanation([f"word{i}" for i in range(50)], 1000, MOST_WORDS, text=text))
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
