"""`rnnsearch examples`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rnnsearch as rnnsearch_package
from command_line import Run, refused
from rnnsearch.data.examples import read_examples
from rnnsearch.model_catalog import translator_from
from toy import ALIGNMENTS

Folders = Callable[[str], Path]
HEADER = "source\treference\tGoogle <2014>\n"


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_translations_stand_beside_printed_ones(
    rnnsearch: Run, model_folder: Folders, tmp_path: Path, alignment: str
) -> None:
    table, page = tmp_path / "printed.tsv", tmp_path / "page.html"
    table.write_text(f"{HEADER}the big dog .\tle chien grand .\tle gros chien .\n", encoding="utf-8")
    done = rnnsearch("examples", "--model", model_folder(alignment), table, "--output", page)
    assert done.status == 0, done.err
    assert "  reference: le chien grand .\n  Google <2014>: le gros chien .\n" in done.out
    html = page.read_text(encoding="utf-8")
    assert "Google &lt;2014&gt;" in html
    assert "le gros chien ." in html
    assert ("data-weights" in html) == (alignment == "mlp")
    assert ("RNNsearch" in html) == (alignment == "mlp")


def test_a_table_that_is_none_is_refused(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("English\nA cat.\n", encoding="utf-8")
    done = rnnsearch("examples", "--model", model_folder("mlp"), tmp_path / "x.tsv", "--output", tmp_path / "x.html")
    refused(done, "no column is called 'source'")
    assert not (tmp_path / "x.html").exists()


def test_the_alignments_are_drawn_as_in_figure_3(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    table, page, figures = tmp_path / "printed.tsv", tmp_path / "page.html", tmp_path / "figures"
    table.write_text(f"{HEADER}the big dog .\tx\ty\nthe dog .\tx\ty\n", encoding="utf-8")
    done = rnnsearch("examples", "--model", model_folder("mlp"), table, "--output", page, "--plot", figures)
    assert done.status == 0, done.err
    assert [path.name for path in sorted(figures.iterdir())] == ["0001.png", "0002.png"]
    without = rnnsearch("examples", "--model", model_folder("none"), table, "--output", page, "--plot", tmp_path / "none")
    assert "pair 1: the model has no alignment, so it is not drawn" in without.err


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sentences"), [("figure-3.tsv", 4), ("long-sentences.tsv", 3)])
def test_the_papers_own_sentences_by_the_installed_model(
    rnnsearch: Run, shared_data: Path, tmp_path: Path, name: str, sentences: int
) -> None:
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    done = rnnsearch("examples", "--paper", shared_data / "paper" / name, "--output", page, "--plot", figures)
    assert done.status == 0, done.err
    assert "with the installed model" in done.err
    assert done.out.count("  RNNsearch-50: ") == sentences
    assert len(list(figures.iterdir())) == sentences
    assert page.read_text(encoding="utf-8").count("data-label") == sentences


def test_the_adjectives_of_figure_3_are_read_in_reversed_order(shared_data: Path) -> None:
    """*zone économique européenne* is read from *European Economic Area*, last word first."""
    examples = read_examples(shared_data / "paper" / "figure-3.tsv")
    translation = rnnsearch_package.load(translator_from("en")).translate(examples[0].source)
    read = [translation.source_tokens[int(weights.argmax())] for weights in translation.alignment]
    assert [word for word in read if word in ("European", "Economic", "Area")] == ["Area", "Economic", "European"]
