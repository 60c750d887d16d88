"""`rnnsearch examples`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Run, refused
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
