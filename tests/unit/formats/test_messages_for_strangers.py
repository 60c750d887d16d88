"""One line names the file, what is in it, and what to type."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from rnnsearch.config import DataConfig
from rnnsearch.data.prepare import with_languages
from rnnsearch.data.read import read_pairs, read_sources
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.formats.languages import choose
from rnnsearch.formats.units import Text, Unit

RESX = '<root><resheader name="a"/><data name="k"><value>House</value></data></root>'


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("app.resx", RESX, r"app\.resx: ResX of one language; .* --source \S*app\.resx --target OTHER\.resx$"),
        ("app-en.json", json.dumps({"k": "House"}, indent=2), r"app-en\.json: JSON of one language; "),
        ("shop.csv", '"House, old","Maison"\n"A","B"\n', r"shop\.csv: CSV that does not name its .* --languages en,fr$"),
        ("shop.tsv", "House\tMaison\n", r"shop\.tsv: a table that does not name its languages; .* --languages en,fr$"),
        ("empty.tmx", "", r"empty\.tmx: it is empty; there is nothing to read$"),
    ],
)
def test_a_file_alone_whose_languages_are_needed(name: str, content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RnnsearchError, match=told):
        with_languages(DataConfig(), [path], [path])


def test_one_language_is_told_where_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "app.resx"
    path.write_text(RESX, encoding="utf-8")
    with pytest.raises(RnnsearchError, match="ResX of one language"):
        list(read_pairs([path], [path], ("en", "fr")))


def test_an_example_has_two_languages_and_not_two_regions() -> None:
    units = [Unit(1, [Text(tag, "a") for tag in ("en-US", "en-GB", "fr", "sr")])]
    with pytest.raises(RnnsearchError, match=r"--languages en-US,fr$"):
        choose(units, (None, None), Path("m.tmx"))
    with pytest.raises(RnnsearchError, match=r"no de; .* --languages en-US,fr$"):
        choose(units, ("de", "fr"), Path("m.tmx"))


def test_a_document_that_is_read_as_text_names_its_format(tmp_path: Path) -> None:
    path = tmp_path / "app.resx"
    path.write_text(RESX, encoding="utf-8")
    with pytest.warns(RnnsearchWarning, match=r"app\.resx: its lines are read as plain text; --format resx "):
        assert list(read_sources(path)) == [RESX]
    text = tmp_path / "plain.txt"
    text.write_text("House\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(read_sources(text)) == ["House"]
