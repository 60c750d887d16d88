"""The page of a model: every part where there is something to show, and text that stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_page import HOSTILE, Page
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

import rnnsearch.report
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.report.document import write_document
from rnnsearch.report.page import Sample, write_page

TEMPLATES = Path(rnnsearch.report.__file__).parent / "templates"


def page(path: Path, **parts: Any) -> Page:
    nothing: dict[str, Any] = {
        "title": "A title",
        "introduction": "",
        "figures": {},
        "curves": [],
        "length_bins": [],
        "samples": [],
        "next_steps": [],
    }
    write_page(path / "page.html", **{**nothing, **parts})
    return Page(path / "page.html")


def sample(**changes: Any) -> Sample:
    parts: dict[str, Any] = {
        "source_tokens": ["L'", "eau", ".", "</s>"],
        "target_tokens": ["Water", "."],
        "alignment": np.array([[0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]),
        "source_text": "L'eau.",
        "translation_text": "Water.",
        "others": {"Reference": "The water."},
    }
    return Sample(**{**parts, **changes})


def test_a_full_page_has_its_parts_and_fetches_nothing(tmp_path: Path) -> None:
    found = page(
        tmp_path,
        introduction="First.\n\nSecond.",
        figures={"BLEU": "34.2\nnrefs:1|tok:13a"},
        curves=[{"update": 500, "train_nll": 3.0, "valid_nll": 2.9, "valid_bleu": 12.0}],
        length_bins=[LengthBin(0, 10, 3, 30.0), LengthBin(10, None, 0, None)],
        samples=[sample()],
        next_steps=["# Translate.\nrnnsearch translate model < input"],
    )
    for text in (
        "First.",
        "34.2",
        "nrefs:1|tok:13a",
        "L'eau.",
        "The water.",
        "rnnsearch translate model < input",
    ):
        assert text in found.text
    pictures = [attributes for tag, attributes in found.elements if tag == "svg"]
    assert len(pictures) == 3  # cost, BLEU, BLEU by length
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)
    assert found.does_nothing_but_its_own()
    for style in TEMPLATES.glob("*.css"):
        assert "@import" not in style.read_text()
        assert "url(" not in style.read_text()
    identifiers = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert all(re.fullmatch(r"[a-z]+[0-9a-f]{10}", name) for name in identifiers)


def test_parts_without_content_are_left_out(tmp_path: Path) -> None:
    assert not [tag for tag, _ in page(tmp_path).elements if tag in ("h2", "svg", "dl", "section")]
    unscored = page(tmp_path, length_bins=[LengthBin(0, None, 0, None)])
    assert not [tag for tag, _ in unscored.elements if tag in ("h2", "svg")]


def test_words_carry_their_row_of_the_alignment(tmp_path: Path) -> None:
    found = page(tmp_path, samples=[sample()])
    weights = [a["data-weights"] for a in found.of_class("word") if "data-weights" in a]
    assert weights == ["250 750 0 0", "0 0 500 500"]
    sources = [a for tag, a in found.elements if "word" in a.get("class", "") and "data-weights" not in a]
    assert len(sources) == 4
    assert "end" in sources[-1]["class"]


def test_the_whole_alignment_has_its_place_and_its_name(tmp_path: Path) -> None:
    found = page(tmp_path, samples=[sample(), sample()])
    labels = [attributes["data-label"] for tag, attributes in found.elements if tag == "details"]
    assert labels == ["Alignment of translation 1", "Alignment of translation 2"]


def test_a_sentence_is_shown_as_written_or_else_word_by_word(tmp_path: Path) -> None:
    assert "As text" not in page(tmp_path, samples=[sample()]).text
    replaced = page(tmp_path, samples=[sample(target_tokens=["[UNK]", "."])])
    assert "[UNK] ." in replaced.text
    assert "As text" in replaced.text


def test_a_model_without_alignment_has_plain_translations(tmp_path: Path) -> None:
    found = page(tmp_path, samples=[sample(alignment=None)])
    assert "Water." in found.text
    assert "one fixed-length vector" in found.text
    assert not found.of_class("word")


def test_an_empty_translation_is_shown_as_such(tmp_path: Path) -> None:
    found = page(tmp_path, samples=[sample(target_tokens=[], alignment=np.zeros((0, 4)), translation_text="")])
    assert "(empty)" in found.text


def test_a_sentence_too_long_for_a_heat_map_is_shown_without_one(tmp_path: Path) -> None:
    words = ["mot"] * 200
    found = page(
        tmp_path,
        samples=[sample(source_tokens=words, alignment=np.full((2, 200), 0.005), source_text=" ".join(words))],
    )
    assert not [tag for tag, _ in found.elements if tag in ("svg", "details")]
    assert len(found.of_class("word")) == 202


def test_weights_that_do_not_fit_the_words_are_refused_and_no_page_is_written(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="shape"):
        page(tmp_path, samples=[sample(target_tokens=["Water"])])
    assert list(tmp_path.iterdir()) == []


def hostile_page(path: Path, text: str) -> Page:
    return page(
        path,
        title=text,
        introduction=text,
        figures={text: text},
        samples=[
            sample(
                source_tokens=[text, text, text, "</s>"],
                target_tokens=[text, text],
                source_text=text,
                translation_text=text,
                others={text: text},
            ),
            sample(alignment=None, source_text=text, translation_text=text),
        ],
        next_steps=[text, f"# {text}"],
    )


def test_hostile_words_are_shown_and_do_nothing(tmp_path: Path) -> None:
    found = hostile_page(tmp_path, HOSTILE)
    assert found.text.count(HOSTILE) > 10
    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert scripts == [{"type": "module"}]
    own = "".join((TEMPLATES / name).read_text() for name in ("alignment.js", "page.js"))
    assert f'<script type="module">{own}</script>' in found.source
    assert found.does_nothing_but_its_own()
    assert "default-src 'none'" in found.content_policy
    (digest,) = re.findall(r"script-src 'sha256-([A-Za-z0-9+/]{43}=)'", found.content_policy)
    script = found.source.split('<script type="module">')[1].split("</script>")[0]
    assert base64.b64decode(digest) == hashlib.sha256(script.encode()).digest()


def test_a_value_that_a_template_lacks_is_an_error_and_no_page_is_written(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError, match="introduction"):
        write_document(tmp_path / "page.html", "page.html.j2", title="A title", figures=[])
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=10, deadline=None)
@given(text=st.text(st.characters(exclude_categories=[]), min_size=1, max_size=12))
def test_no_text_changes_the_elements_of_the_page(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("page")
    plain = hostile_page(folder, "x")
    # Line ends have a meaning in an introduction and in a command; nothing else does.
    found = hostile_page(folder, "x" + text.replace("\n", " ") + "x")
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in plain.elements]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_demands(scheme: int) -> None:
    css = (TEMPLATES / "base.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", css, re.DOTALL)[scheme]))
    for text in ("ink", "quiet", "accent", "series-1", "series-2"):
        for ground in ("paper", "card"):
            darker, lighter = sorted(luminance(colours[name]) for name in (text, ground))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (text, ground)
