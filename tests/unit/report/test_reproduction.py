"""The report: every number once, ours and the paper's apart, nothing fetched."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_page import HOSTILE, Page

from rnnsearch.evaluation.aer import AlignmentScore
from rnnsearch.evaluation.bleu import CorpusScore, LengthBin
from rnnsearch.evaluation.significance import Comparison
from rnnsearch.report.reproduction import draw_figures, write_report
from rnnsearch.report.results import (
    Attempt,
    Claim,
    LongSentence,
    PaperRow,
    Results,
    SystemResult,
    Training,
)
from rnnsearch.translation import ScoredPair


def score(bleu: float) -> CorpusScore:
    return CorpusScore(bleu, "nrefs:1|tok:13a", bleu + 10, "chrF2|nc:6", 1.0, 1.0, 200)


def system(name: str, paper: str | None, bleu: float, aligns: bool) -> SystemResult:
    return SystemResult(
        name=name,
        paper=paper,
        all=score(bleu),
        no_unk=score(bleu + 5),
        by_length=[LengthBin(0, 5, 150, bleu), LengthBin(5, 10, 50, bleu - 3), LengthBin(10, None, 0, None)],
        training=Training(1234, 2.5, 0.095, f"CPU {HOSTILE}", 20.1, 30.2) if paper else None,
        aer=AlignmentScore(0.21, 0.8, 0.7, 100, 90) if aligns else None,
        unread=[0.125, 0.25, None] if aligns else None,
        unfinished=0,
        commands=(f"rnnsearch evaluate --model {name}",),
    )


def results() -> Results:
    systems = [
        system("RNNencdec-15", "RNNencdec-30", 41.11, aligns=False),
        system("RNNsearch-25*", "RNNsearch-50*", 77.77, aligns=True),
        system("Other " + HOSTILE, None, 55.55, aligns=False),
    ]
    names = [one.name for one in systems]
    alignment = np.array([[0.9, 0.05, 0.05], [0.2, 0.5, 0.3]])
    return Results(
        scale="builtin",
        introduction=f"An introduction {HOSTILE}.\n\nIts second paragraph.",
        settings={},
        systems=systems,
        absent={"Moses": "not run: no Moses is installed"},
        paper={
            "RNNencdec-30": PaperRow("RNNencdec-30", 13.93, 24.19, Training(846_000, 6.4, 109, "TITAN BLACK", 28.1, 53.0)),
            "Moses": PaperRow("Moses", 33.30, 35.63, None),
        },
        comparison=Comparison(names, [41.11, 77.77, 55.55], [1.0, 1.1, 1.2], [[None, 0.001, 0.25]] * 3, "nrefs:1|bs:1000"),
        claims=[
            Claim("One is better", "5.1", "A test.", True, [f"figure {HOSTILE}"]),
            Claim("Two is better", "5.1", "A test.", False, ["figure"]),
            Claim("Three", "5.1", "A test.", None, ["too few"]),
        ],
        alignments=[ScoredPair(["a", HOSTILE, "</s>"], ["un", "deux"], -1.0, [], alignment)] * 4,
        aligned_by="RNNsearch-25",
        long_sentences=[
            LongSentence(
                "The red dog.",
                "Le chien rouge.",
                [
                    Attempt("RNNencdec-15", "Le chat.", ["Le", "chat", "."], [1], None),
                    Attempt("RNNsearch-25*", "Le chien.", ["Le", "chien", "."], [], ["red", HOSTILE]),
                ],
            )
        ],
        long=15,
        commands=("rnnsearch reproduce --scale builtin --output out",),
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("report") / "index.html"
    write_report(path, results())
    return Page(path)


def test_nothing_is_fetched_and_no_text_becomes_markup(page: Page) -> None:
    assert page.does_nothing_but_its_own()
    assert not [tag for tag, _ in page.elements if tag == "script"]
    assert "default-src 'none'" in page.content_policy
    assert "script-src 'none'" in page.content_policy
    assert page.text.count(HOSTILE) >= 15


def test_no_text_changes_the_elements_of_the_report(page: Page, tmp_path: Path) -> None:
    write_report(tmp_path / "hostile.html", hostile(results()))
    found = Page(tmp_path / "hostile.html")
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in page.elements]
    assert found.text.count(HOSTILE) > 80


def hostile(value: Any) -> Any:
    """The value with every string in it, whether in a sequence, a mapping or a dataclass, made hostile."""
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, list | tuple):
        return type(value)(hostile(item) for item in value)
    if isinstance(value, dict):
        return {hostile(key): hostile(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, LengthBin):
        return type(value)(**{field.name: hostile(getattr(value, field.name)) for field in fields(value)})
    return value


def test_table_1_keeps_our_numbers_and_the_papers_apart(page: Page) -> None:
    assert page.row(1, "RNNencdec-15") == [
        ("", "RNNencdec-15"),
        ("", "41.11"),
        ("", "46.11"),
        ("", "51.1"),
        ("paper", "RNNencdec-30"),
        ("paper", "13.93"),
        ("paper", "24.19"),
    ]
    moses = page.row(1, "Moses")
    assert moses[1][1] == "not run: no Moses is installed"
    assert [cell for kind, cell in moses if kind == "paper"] == ["Moses", "33.30", "35.63"]
    other = page.row(1, "Other " + HOSTILE)
    assert [cell for kind, cell in other if kind == "paper"] == ["", "–", "–"]


def test_every_score_has_its_signature_and_its_command(page: Page) -> None:
    for wanted in (
        "nrefs:1|tok:13a",
        "chrF2|nc:6",
        "nrefs:1|bs:1000",
        "rnnsearch reproduce --scale builtin --output out",
        "rnnsearch evaluate --model RNNencdec-15",
    ):
        assert wanted in page.text


def test_figure_3_can_be_read_cell_by_cell(page: Page) -> None:
    assert len(page.alignments) == 4
    words, *rows = [[cell for _, cell in row] for row in page.alignments[0]]
    assert words == ["", "a", HOSTILE, "</s>"]
    assert rows == [["un", "90", "5", "5"], ["deux", "20", "50", "30"]]


def test_significance(page: Page) -> None:
    assert [cell for _, cell in page.row(2, "RNNencdec-15")] == ["RNNencdec-15", "41.11 ± 1.00", "", "0.001", "0.250"]


def test_table_2_has_the_papers_trainings_in_a_table_of_their_own(page: Page) -> None:
    ours, theirs = page.tables[3], page.tables[4]
    assert [row[0][1] for row in ours[1:]] == ["RNNencdec-15", "RNNsearch-25*"]
    assert [cell for _, cell in ours[1]][1:4] == ["1,234", "2.5", "5.7 min"]
    assert [cell for _, cell in theirs[1]] == ["RNNencdec-30", "846,000", "6.4", "109 h", "TITAN BLACK", "28.1", "53.0"]


def test_what_went_wrong_is_underlined(page: Page) -> None:
    text = page.source
    underlined = re.findall(r'<span class="unsure">([^<]*)</span>', text)
    assert underlined[:2] == ["chat", "red"]
    assert 'Le <span class="unsure">chat</span>.' in text


def test_alignments_and_coverage(page: Page) -> None:
    assert [cell for _, cell in page.row(5, "RNNsearch-25*")] == ["RNNsearch-25*", "0.210", "0.800", "0.700"]
    assert [cell for _, cell in page.row(6, "RNNsearch-25*")] == ["RNNsearch-25*", "12.5%", "25.0%", "–"]
    assert len(page.tables) == 7


def test_the_verdicts(page: Page) -> None:
    found = [[cell.strip() for _, cell in row] for row in page.tables[0][1:]]
    assert [row[3] for row in found] == ["✓ holds", "✗ does not hold", "cannot be said"]
    assert found[0][:3] == ["1. One is better", "5.1", "A test."]
    assert found[2][4] == "too few"


def test_it_is_made_for_a_phone_too(page: Page) -> None:
    viewport = next(a for _, a in page.elements if a.get("name") == "viewport")
    assert "width=device-width" in viewport["content"]
    # What is wide scrolls in a box of its own.
    text_tables = [i for i, (tag, _) in enumerate(page.elements) if tag == "table"]
    assert all(page.elements[i - 1][1].get("class") == "scroll" for i in text_tables)


def test_a_run_without_attention_or_long_sentences(tmp_path: Path) -> None:
    found = results()
    bare = replace(
        found,
        systems=[replace(one, unread=None, aer=None, no_unk=None) for one in found.systems],
        alignments=[],
        long_sentences=[],
    )
    write_report(tmp_path / "index.html", bare)
    page = Page(tmp_path / "index.html")
    assert "Figure 3" not in page.text
    assert "Table 3" not in page.text
    assert page.row(1, "RNNencdec-15")[2] == ("", "–")


def test_figures_are_written_as_png_and_pdf(tmp_path: Path) -> None:
    paths = draw_figures(results(), tmp_path)
    names = ["figure-2", "figure-3a", "figure-3b", "figure-3c", "figure-3d"]
    assert {path.name for path in paths} == {f"{name}.{kind}" for name in names for kind in ("png", "pdf")}
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"%PDF")
