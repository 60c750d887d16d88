"""One line names the file, what is in it, and what to type."""

from __future__ import annotations

import gzip
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

TMX = (
    "<tmx><header srclang='en'/><body>\n<tu><tuv xml:lang='en'><seg>coffee</seg></tuv>"
    "<tuv xml:lang='fr'><seg>café</seg></tuv></tu></body></tmx>"
)
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


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "m.tmx",
            b"<html><body>404</body></html>",
            "m.tmx: its name says TMX, but it begins otherwise; is it the right file?",
        ),
        ("m.xlf.gz", gzip.compress(b"House\tMaison\n", mtime=0), "m.xlf.gz: its name says XLIFF, but it begins otherwise"),
        ("m.xlsx", b"PK\x03\x04\0\0", "m.xlsx: this is a spreadsheet; save it as CSV in UTF-8, and give that"),
        ("m.sdltm", b"SQLite format 3\0\x10\0", "m.sdltm: this is a database; export it, e.g. as TMX, and give that"),
        ("m.jsonl", b'{"en": "a", "fr": "b"}\n{"en": "a"\n', "; mend the line, or write the file again"),
        ("m.jsonl", b'{"foo": "a"}\n', "1 without texts under names such as en and fr, or source and target (line 1)"),
        ("m.jsonl", b'{"en": "a", "fr": null}\n', "1 without text (line 1)"),
        ("m.tmx", TMX.encode("latin-1"), "m.tmx:2: not valid UTF-8 (byte 0xe9), though it has no other declared encoding"),
        ("m.tmx", TMX.replace("é", "\v").encode(), "m.tmx:2: the control character 0x0b, which XML does not allow"),
        ("m.tmx", TMX.replace("é", "<<").encode(), "m.tmx:2: not well-formed XML (invalid token); mend or export it again"),
    ],
)
def test_what_is_damaged_or_no_memory_says_what_to_do(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RnnsearchError) as refusal:
        with_languages(DataConfig(), [path], [path])
    assert told in str(refusal.value)
    with pytest.raises(RnnsearchError) as refusal:
        list(read_pairs([path], [path], ("en", "fr")))
    assert told in str(refusal.value)


def test_the_separator_that_excel_reads_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"sep=;\r\nen;fr\r\nHouse, old;Maison\r\n")
    assert list(read_pairs([path], [path])) == [("House, old", "Maison")]
    assert with_languages(DataConfig(), [path], [path]).languages == ("en", "fr")


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
