"""What is written in a format is read back from it, whatever the text, the encoding and the compression."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.read import languages_of_text, read_pairs
from rnnsearch.errors import RnnsearchWarning
from rnnsearch.formats.languages import primary
from rnnsearch.formats.registry import WRITTEN
from rnnsearch.formats.units import SOURCE, Text

Pairs = list[tuple[str, str]]

# Any text that XML can hold and that a line can be.
letters = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029\ufffe\uffff")
texts = st.text(st.one_of(letters, st.sampled_from("\n\t \"'&<>\\,;{}|%=")), max_size=30).filter(
    lambda text: line(text) != ""
)
any_texts = st.text(st.one_of(st.characters(), st.sampled_from("<g1></x2\0\x1b\ud800\ufffe \r\n]&;")), max_size=30).filter(
    lambda text: line(text) != ""
)
pairs_of_texts = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)
compressed = st.sampled_from([bytes, gzip.compress, lzma.compress, bz2.compress])
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])


def line(text: str) -> str:
    return Text(SOURCE, text).line(tags=False)


def lines(pairs: Pairs) -> Pairs:
    return [(line(source), line(target)) for source, target in pairs]


def read(path: Path, other: Path | None = None) -> Pairs:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RnnsearchWarning)
        return list(read_pairs([path], [other or path]))


def tmx(pairs: Pairs) -> str:
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(source)}</seg></tuv>'
        f'<tuv xml:lang="fr"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    return f'<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>'


@given(
    pairs=st.lists(st.tuples(any_texts, any_texts), min_size=1, max_size=8),
    languages=st.lists(st.sampled_from(["en", "fr", "pt-BR", "zh-Hant", "sr"]), min_size=2, max_size=2, unique=True),
)
def test_a_tmx_file_that_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, languages: list[str]
) -> None:
    """Also control characters, of which only those that XML forbids are replaced, and tags, whatever they are."""
    path = tmp_path_factory.mktemp("tmx") / "memory.tmx"
    format_ = WRITTEN["tmx"]
    units = "".join(format_.unit(dict(zip(languages, pair, strict=True))) for pair in pairs)
    path.write_text(format_.beginning(languages[0]) + units + format_.end(), encoding="utf-8", newline="")
    allowed = re.compile("[^\x09\x0a\x0d\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
    sides = [tuple(line(allowed.sub("\ufffd", text)) for text in pair) for pair in pairs]
    for tags in (False, True):
        assert list(read_pairs([path], [path], tags=tags)) == sides
    assert languages_of_text(path, path) == tuple(primary(tag) for tag in languages)
    assert ElementTree.parse(path).getroot().find("header").get("srclang") == languages[0]  # type: ignore[union-attr]


def xliff(pairs: Pairs) -> str:
    units = "".join(
        f'<trans-unit id="{number}"><source>{escape(source)}</source><target>{escape(target)}</target></trans-unit>\n'
        for number, (source, target) in enumerate(pairs)
    )
    opening = '<xliff version="1.2"><file source-language="en" target-language="fr">'
    return f"{opening}<body>{units}</body></file></xliff>"


def xliff_2(pairs: Pairs) -> str:
    units = "".join(
        f'<unit id="{number}"><segment><source>{escape(source)}</source><target>{escape(target)}</target></segment></unit>\n'
        for number, (source, target) in enumerate(pairs)
    )
    return f'<xliff version="2.0" srcLang="en" trgLang="fr"><file id="f">{units}</file></xliff>'


def qt(pairs: Pairs) -> str:
    units = "".join(
        f"<message><source>{escape(source)}</source><translation>{escape(target)}</translation></message>\n"
        for source, target in pairs
    )
    return f'<!DOCTYPE TS>\n<TS version="2.1" sourcelanguage="en" language="fr"><context>{units}</context></TS>'


@pytest.mark.parametrize("write", [tmx, xliff, xliff_2, qt])
@given(pairs=pairs_of_texts, compress=compressed, encoding=encodings)
def test_xml(
    tmp_path_factory: pytest.TempPathFactory,
    write: Callable[[Pairs], str],
    pairs: Pairs,
    compress: Callable[[bytes], bytes],
    encoding: str,
) -> None:
    path = tmp_path_factory.mktemp("xml") / "memory"
    path.write_bytes(compress(write(pairs).encode(encoding)))
    assert read(path) == lines(pairs)
    assert languages_of_text(path, path) == ("en", "fr")


def po_string(text: str) -> str:
    """As msgcat writes it: a line for each line of the text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", '\\n"\n"')
    return f'""\n"{escaped}"'


@given(pairs=pairs_of_texts, ending=st.sampled_from(["\n", "\r\n"]), compress=compressed)
def test_po(tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, ending: str, compress: Callable[[bytes], bytes]) -> None:
    header = 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    entries = "".join(
        f'\n#: here:{number}\n#, c-format\nmsgctxt "{number}"\nmsgid {po_string(source)}\nmsgstr {po_string(target)}\n'
        for number, (source, target) in enumerate(pairs)
    )
    path = tmp_path_factory.mktemp("po") / "fr"
    path.write_bytes(compress((header + entries).replace("\n", ending).encode()))
    assert read(path) == lines(pairs)
    assert languages_of_text(path, path) == ("en", "fr")


@given(
    pairs=pairs_of_texts,
    separator=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_csv_with_a_header(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, separator: str, quoting: int, encoding: str, ending: str
) -> None:
    pairs = [(source.replace("\r", ""), target.replace("\r", "")) for source, target in pairs]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=ending).writerows([("English", "French"), *pairs])
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_bytes(text.getvalue().encode(encoding))
    assert read(path) == lines(pairs)
    assert languages_of_text(path, path) == ("en", "fr")


@given(pairs=pairs_of_texts, shape=st.sampled_from(["columns", "translation", "list"]), compress=compressed)
def test_json_lines_and_parquet(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, shape: str, compress: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path_factory.mktemp("records")
    records: list[dict[str, object]] = [{"en": source, "fr": target} for source, target in pairs]
    if shape == "translation":
        records = [{"id": str(number), "translation": record} for number, record in enumerate(records)]
    if shape == "list":
        (folder / "text").write_bytes(compress(json.dumps(records, indent=1).encode()))
    else:
        (folder / "text").write_bytes(compress("".join(f"{json.dumps(record)}\n" for record in records).encode()))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), folder / "table")
    for path in (folder / "text", folder / "table"):
        assert read(path) == lines(pairs)
        assert languages_of_text(path, path) == ("en", "fr")


def apple(texts: list[str]) -> str:
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for text in texts)
    return "".join(f'/* a "comment" = */\n"key {number}" = "{text}"; // more\n' for number, text in enumerate(quoted))


def android(texts: list[str]) -> str:
    quoted = (escape(text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for text in texts)
    strings = "".join(f'<string name="key{number}">"{text}"</string>\n' for number, text in enumerate(quoted))
    return f"<!-- {'a long licence ' * 400} --><resources>{strings}</resources>"


def resx(texts: list[str]) -> str:
    data = "".join(f"<data name={quoteattr(f'k{n}')}><value>{escape(text)}</value></data>" for n, text in enumerate(texts))
    return f'<root><resheader name="version"><value>2.0</value></resheader>{data}</root>'


def nested_json(texts: list[str]) -> str:
    return json.dumps({"@metadata": {"authors": ["me"]}, "menu": dict(enumerate(texts[:2])), "rest": texts[2:]})


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (apple, ("en.lproj/L.strings", "fr.lproj/L.strings")),
        (android, ("values/strings.xml", "values-fr/strings.xml")),
        (resx, ("R.resx", "R.fr.resx")),
        (nested_json, ("en.json", "fr.json")),
    ],
)
@given(pairs=pairs_of_texts)
def test_messages(
    tmp_path_factory: pytest.TempPathFactory,
    write: Callable[[list[str]], str],
    names: tuple[str, str],
    pairs: Pairs,
) -> None:
    folder = tmp_path_factory.mktemp("messages")
    for name, side in zip(names, zip(*pairs, strict=True), strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(write(list(side)), encoding="utf-8")
    assert read(folder / names[0], folder / names[1]) == lines(pairs)
    assert languages_of_text(folder / names[0], folder / names[1])[1] == "fr"


@given(
    pairs=pairs_of_texts,
    kinds=st.tuples(st.sampled_from(["srt", "vtt"]), st.sampled_from(["srt", "vtt"])),
    ending=st.sampled_from(["\n", "\r\n", "\r\r\n"]),
)
def test_subtitles(tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, kinds: tuple[str, str], ending: str) -> None:
    folder = tmp_path_factory.mktemp("subtitles")
    # A cue has no blank lines and no tags, and nothing like `-->`.
    clean = [
        tuple(" ".join(side.translate(dict.fromkeys(map(ord, "<>{}\\"), "x")).split()) or "x" for side in pair)
        for pair in pairs
    ]
    paths = []
    for place, kind in enumerate(kinds):
        mark, cues = ("," if kind == "srt" else "."), []
        for number, pair in enumerate(clean):
            times = f"00:{number:02}:00{mark}500 --> 00:{number:02}:59{mark}000"
            cues.append(
                f"{number + 1}\n{times}\n{pair[place]}\n\n" if kind == "srt" else f"{times} align:left\n{pair[place]}\n\n"
            )
        text = ("" if kind == "srt" else "WEBVTT\n\nNOTE a comment\n\n") + "".join(cues)
        paths.append(folder / f"{place}.{kind}")
        paths[-1].write_bytes(text.replace("\n", ending).encode())
    assert read(*paths) == lines([(pair[0], pair[1]) for pair in clean])
