"""What a translation, a scored pair and a translator show of themselves: `repr`, `to_dict`, and a table in a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch import load
from rnnsearch.translation import FORMATS, Translation, Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.notebook import MAX_WORDS, as_html
from toy import ALIGNMENTS

Trained = Callable[..., Translator]
LINE = "the big dog sees a red cat ."
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=5)


class Table(HTMLParser):
    """The text of every cell, the alpha of its colour, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.alphas: list[list[float]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
            self.alphas.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            found = re.search(r"background:rgb\([\d ]+/([\d.]+)\)", dict(attrs).get("style") or "")
            self.alphas[-1].append(float(found[1]) if found else 0.0)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@settings(max_examples=40)
@given(source=sentences, target=sentences, seed=st.integers(0, 99))
def test_the_table_shows_every_word_and_weight(source: list[str], target: list[str], seed: int) -> None:
    alpha = np.random.default_rng(seed).dirichlet(np.ones(len(source)), len(target))
    table = Table(as_html(" ".join(target), "a <remark>", source, target, alpha))
    assert table.rows[0] == ["", *source]
    assert [row[0] for row in table.rows[1:]] == target
    np.testing.assert_allclose([row[1:] for row in table.alphas[1:]], alpha, atol=0.006)


def test_nothing_in_the_table_can_run() -> None:
    evil = "<script>alert(1)</script>\"' onmouseover=x"
    html = as_html(evil, evil, [evil, "</s>"], [evil], np.array([[0.9, 0.1]]))
    table = Table(html)
    assert table.tags == {"div", "strong", "small", "table", "tr", "td", "th"}
    assert table.attributes == {"dir", "style", "scope", "title"}
    assert table.rows[1][0] == evil
    assert "http" not in html


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_a_notebook_shows_a_translation(trained: Trained, alignment: str) -> None:
    translator = trained("gated", alignment)
    translation, pair = translator.translate(LINE), translator.score(LINE, "le chat .")
    for shown, tokens in ((translation, translation.tokens), (pair, pair.tokens)):
        html = shown._repr_html_()
        assert f"{shown.score:.2f}" in html
        table = Table(html)
        assert [row[0] for row in table.rows[1:]] == ([*tokens, "</s>"] if alignment == "mlp" else [])
    assert "cut off" in translator.translate(LINE, maximum_length_ratio=0.2)._repr_html_()
    assert Table(translator.translate("")._repr_html_()).rows == []


def test_a_very_long_pair_has_no_table() -> None:
    many = ["word"] * (MAX_WORDS + 1)
    html = as_html("text", "remark", many, ["one"], np.ones((1, MAX_WORDS + 1)))
    assert f"more than {MAX_WORDS} words" in html
    assert "<table" not in html


@pytest.mark.parametrize("line", [LINE, "", " ".join([LINE] * 4)])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_to_dict_is_what_the_command_line_writes(trained: Trained, line: str, alignment: str) -> None:
    translation = trained("gated", alignment).translate(line, max_segment=10)
    values = translation.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert json.loads(FORMATS["json"]([translation], 7, False)) == {"line": 7, **values}
    assert values["text"] == translation.text
    assert values["tokens"] == translation.tokens
    if alignment == "mlp" and len(translation.segments) == 1:
        weights = np.array(values["alignment"]).reshape(translation.alignment.shape)
        np.testing.assert_allclose(weights, translation.alignment, atol=1e-4)
    assert ("segments" in values) == (len(translation.segments) > 1)


def test_a_scored_pair_as_plain_values(trained: Trained) -> None:
    pair = trained("gated", "mlp").score(LINE, "le chat .")
    values = json.loads(json.dumps(pair.to_dict(), allow_nan=False))
    assert values["tokens"] == ["le", "chat", "."]
    assert sum(values["word_scores"]) == pytest.approx(pair.score, abs=1e-4)
    assert np.array(values["alignment"]).shape == (3, 9)


def test_repr(trained: Trained, model_folder: Callable[[str], Path]) -> None:
    translator = load(model_folder("mlp"))
    text = repr(translator)
    assert "en → fr, RNNsearch" in text
    assert str(model_folder("mlp")) in text
    assert f"{len(translator.system.vocabularies.source):,}" in text
    assert "RNNencdec" in repr(load(model_folder("none")))
    assert "ensemble of 2" in repr(load(model_folder("mlp"), model_folder("mlp")))
    one = trained("gated", "mlp")
    assert "both directions" in repr(BidirectionalTranslator([one, one]))
    translation = translator.translate(LINE)
    assert repr(translation) == f"Translation({translation.text!r}, score={translation.score:.4f})"
    assert repr(translator.score(LINE, "le chat .")).startswith("ScoredPair('le chat .', score=-")
    assert isinstance(translation, Translation)
