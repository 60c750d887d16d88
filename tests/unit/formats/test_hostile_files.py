"""Hostile and damaged files: one line that says why, little memory, and nothing that is not in the file."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats import xml

HEAD = '<tmx version="1.4"><header srclang="en"/><body>'
UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="fr"><seg>b</seg></tuv></tu>'


def document(text: str = "a", doctype: str = "") -> str:
    return f"<?xml version='1.0'?>{doctype}{HEAD}{UNIT.format(text)}</body></tmx>"


HOSTILE = {
    "laughs": (document("&c;", '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY c "&a;&a;">]>'), "a declaration of an entity"),
    "file": (document("&x;", '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "a declaration of an entity"),
    "parameter": (
        document("a", '<!DOCTYPE tmx [<!ENTITY % p SYSTEM "http://localhost/x">%p;]>'),
        "a declaration of an entity",
    ),
    "elsewhere": (document("&unknown;", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'), "an entity that is declared elsewhere"),
    "undeclared": (document("&unknown;"), "not well-formed XML (undefined entity)"),
    "deep": (document("<hi>" * 2000 + "</hi>" * 2000), "more than 100 elements in one another"),
    "cut": (document()[:-9], "not well-formed XML (unclosed token)"),
    "crossed": (document("<hi>a</ph>"), "not well-formed XML (mismatched tag)"),
    "two attributes": (document("<hi x='1' x='2'/>"), "not well-formed XML (duplicate attribute)"),
    "encoding": (document().replace("version='1.0'", "version='1.0' encoding='x-none'"), "encoding"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_xml_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, reason = HOSTILE[name]
    path = tmp_path / "memory.tmx"
    path.write_text(text)
    with pytest.raises(RnnsearchError) as refusal:
        list(read_pairs([path], [path]))
    told = str(refusal.value)
    assert reason in told
    assert told.startswith(f"{path}:")
    assert "\n" not in told
    assert len(told) < 300 + len(str(path))


def gigantic(kind: str) -> Iterator[bytes]:
    """The bytes of a document with one thing of 64 MB in it."""
    before, filling, after = {
        "text": ("", "word " * 1000, ""),
        "attribute": ("<ph x='", "y" * 5000, "'/>"),
        "comment": ("<!--", "z" * 5000, "-->"),
        "elements": ("", "<ph/>" * 1000, ""),
        "entities": ("", "&lt;" * 1250, ""),
    }[kind]
    yield f"{HEAD}<tu><tuv xml:lang='en'><seg>{before}".encode()
    for _ in range(64_000_000 // 5000):
        yield filling.encode()
    yield f"{after}</seg></tuv></tu></body></tmx>".encode()


@pytest.mark.parametrize("kind", ["text", "attribute", "comment", "elements", "entities"])
def test_one_unit_of_any_size_takes_little_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb.tmx.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in gigantic(kind):
            file.write(piece)
    tracemalloc.start()
    try:
        with pytest.raises(RnnsearchError, match=r"bomb\.tmx\.gz:1: XML with a .*of more than 1,048,576 bytes"):
            list(read_pairs([path], [path]))
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_what_is_in_no_unit_may_be_of_any_size(tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(document().replace("<body>", f"<body><other>{'word ' * 2_000_000}</other>"))
    assert list(read_pairs([path], [path])) == [("a", "b")]


def test_characters_of_html_are_read_where_a_document_type_is_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx"
    path.write_text(document("caf&eacute;&nbsp;!", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'), encoding="utf-8")
    assert list(read_pairs([path], [path])) == [("café\u00a0!", "b")]


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", "utf-16"),
        ("utf-8-sig", "iso-8859-1"),
        ("utf-16", "utf-8"),
        ("cp1251", "windows-1251"),
        ("latin-1", "iso-8859-1"),
    ],
)
def test_byte_order_marks_are_believed_more_than_declarations(tmp_path: Path, encoding: str, declared: str) -> None:
    path = tmp_path / "memory.tmx"
    word = "жук" if encoding == "cp1251" else "café"
    path.write_bytes(document(word).replace("version='1.0'", f"version='1.0' encoding='{declared}'").encode(encoding))
    assert list(read_pairs([path], [path])) == [(word, "b")]


NAMES = ["a.tmx", "a.xlf", "a.po", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.ts", "a.tbx", "a"]
STARTS = [
    b"<tmx", b"<xliff version='1.2'>", b"\xff\xfe<\0t\0m\0x\0", b'msgid ""\nmsgstr ""\n', b'"a","b"\n"', b"PAR1",
    b'{"en": "', b"[[", b"WEBVTT\n\n", b"1\n00:00:01,000 --> 00:00:02,000\n", b"<TS>", b"<martif>", b"en\tfr\n", b"",
]  # fmt: skip


@contextmanager
def refused_or_read(place: str) -> Iterator[None]:
    """A context in which nothing but an RnnsearchError may be raised, which names this place."""
    refusals = []
    try:
        yield
    except RnnsearchError as refusal:
        refusals.append(str(refusal))
    assert all(place in told for told in refusals)


@given(name=st.sampled_from(NAMES), start=st.sampled_from(STARTS), rest=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, start: bytes, rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("odd") / name
    path.write_bytes(start + rest)
    with refused_or_read(str(path)):
        assert all(isinstance(side, str) for pair in read_pairs([path], [path]) for side in pair)


@pytest.mark.parametrize("ending", ["srt", "json", "strings", "ftl", "resx", "xml"])
@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=200))
def test_any_two_files_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, ending: str, start: bytes, rest: bytes
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    paths = [folder / f"en.{ending}", folder / f"fr.{ending}"]
    for path in paths:
        path.write_bytes(start + rest)
    with refused_or_read(str(folder)):
        list(read_pairs(paths[:1], paths[1:]))


def test_the_limits_are_those_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit just below the limit is read."""
    monkeypatch.setattr(xml, "MOST_BYTES", 1000)
    path = tmp_path / "memory.tmx"
    path.write_text(document("x" * 900))
    assert list(read_pairs([path], [path])) == [("x" * 900, "b")]
    path.write_text(document("<hi>x</hi>" * 150))
    with pytest.raises(RnnsearchError, match="a unit of more than 1,000 bytes"):
        list(read_pairs([path], [path]))


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(RnnsearchError, match=r"a\.parquet: damaged Parquet after row 0"):
        list(read_pairs([path], [path]))
