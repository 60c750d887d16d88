"""Lines from files as they come in real life."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.lines import read_lines, read_text
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: pyarrow.compress(content, "zstd", asbytes=True),
}


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"\n\nx\n\n", ["", "", "x", ""]),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", ["one", "two"]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r\rb\nc\r", ["a\r\rb", "c"]),
        (b"\xef\xbb\xbfa\rb\r\rc", ["a", "b", "", "c"]),
        (b"a\rb\r", ["a", "b"]),
        (b"the \0 dog\0\n" * 2, ["the \0 dog\0"] * 2),
        ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n".encode(), ["a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"]),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_lines_end_at_line_feeds_or_all_at_carriage_returns(
    tmp_path: Path, content: bytes, lines: list[str], ending: str
) -> None:
    path = tmp_path / f"train.fr{ending}"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[ending](content))
    assert list(read_lines(path)) == lines


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff\0", exclude_categories=["Cs"]))))
def test_any_lines_come_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "x"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert list(read_lines(str(path))) == lines


def test_a_dash_is_standard_input() -> None:
    code = "from rnnsearch.data.lines import read_lines; print(list(read_lines('-')))"
    for text in ("é\r\nb", "é\rb\r"):
        run = subprocess.run([sys.executable, "-c", code], input=text.encode(), capture_output=True, check=True)
        assert run.stdout.decode().strip() == "['é', 'b']"


def test_bytes_that_are_not_utf8_are_told_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "train.fr"
    path.write_bytes("une\nça été ".encode() + "été".encode("latin1") + b"\n")
    with pytest.raises(RnnsearchError, match=re.escape("train.fr:2: not valid UTF-8 (byte 0xe9 at column 8)")):
        list(read_lines(path))


@given(st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff\0", exclude_categories=["Cs"]))))
def test_lines_of_any_ends_are_as_many(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "x"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
        assert list(read_lines(path)) == lines
        assert read_text(path) == "".join(f"{line}{end}" for line in lines)


@pytest.mark.parametrize(
    ("line", "charset"), [("un café", "latin1"), ("I don’t — “now”", "windows-1252"), ("déjà vu… là", "windows-1252")]
)
def test_the_text_of_old_windows_is_told_from_latin_1(tmp_path: Path, line: str, charset: str) -> None:
    (tmp_path / "text").write_bytes(line.encode("windows-1252"))
    with pytest.raises(RnnsearchError, match=f"text:1: not valid UTF-8 .*iconv -f {charset} -t utf-8"):
        list(read_lines(tmp_path / "text"))


@pytest.mark.parametrize("name", ["text", "text.en", "text.txt"])
@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS.items())
def test_a_compressed_file_is_read_whatever_its_name(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], name: str
) -> None:
    for path in (tmp_path / name, tmp_path / f"{name}{ending}"):
        path.write_bytes(compress("é\nb\n".encode() * 20_000))
        assert list(read_lines(path)) == ["é", "b"] * 20_000


@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS.items())
def test_a_damaged_compressed_file_is_told(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    whole = compress(b"".join(b"%d\n" % (number**5) for number in range(50_000)))
    path = tmp_path / f"text{ending}"
    contents = [whole[:-9], whole[: len(whole) // 2], b"not compressed\n"]
    if ending != ".zst":  # whose checksum is optional
        contents.append(whole[:2000] + b"damaged" + whole[2007:])
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(
            RnnsearchError, match=r"text\.\w+(:\d+)?: damaged or cut short .*; fetch or compress the file again"
        ):
            list(read_lines(path))


def test_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_bytes(b"PK\x03\x04" + bytes(range(128, 200)))
    with pytest.raises(RnnsearchError, match=r"compressed; decompress it, e\.g\. unzip -p text\.zip"):
        list(read_lines(tmp_path / "text.zip"))


def test_a_long_file_of_carriage_returns_is_read_by_the_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnsearch.data.lines.LONGEST_LINE", 100)
    path = tmp_path / "x.en"
    lines = [f"line {number}" for number in range(200)]
    path.write_bytes("\r".join(lines).encode())
    assert list(read_lines(path)) == lines
    path.write_bytes("\r".join(lines).encode() + b"\nx\n")
    with pytest.raises(RnnsearchError, match=r"x\.en:200: lines end at carriage returns up to here"):
        list(read_lines(path))
    path.write_bytes(b"x\r" + b"y" * 200)
    with pytest.raises(RnnsearchError, match=r"x\.en:2: the line has more than 100 bytes"):
        list(read_lines(path))


TEXTS = ["le château .\n" * 5, "a\n", "Привет мир\nОн\n", "今日は。\n明日は。\n" * 900, "😀 hi\r\n"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_another_encoding_is_told_by_its_name(tmp_path: Path, text: str, encoding: str) -> None:
    path, packed = tmp_path / "train.fr", tmp_path / "train.fr.gz"
    path.write_bytes(text.encode(encoding))
    packed.write_bytes(gzip.compress(text.encode(encoding)))
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    for file, reader in ((path, "cat"), (packed, "gzip -dc")):
        told = f"{file}: this is {name}, not UTF-8; convert it, e.g. {reader} {file.name} | iconv -f {name} -t UTF-8"
        with pytest.raises(RnnsearchError, match=f"^{re.escape(told)}$"):
            read_text(file)
    converted = subprocess.run(["iconv", "-f", name, "-t", "UTF-8", path], capture_output=True, check=True).stdout
    assert converted.decode() == text


@pytest.mark.parametrize("ending", ["gz", "xz"])
def test_a_compressed_file_that_is_cut_short_is_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x.en.{ending}"
    text = "".join(f"line {number} {hash(str(number))}\n" for number in range(20_000)).encode()
    whole = gzip.compress(text) if ending == "gz" else lzma.compress(text)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RnnsearchError, match=rf"x.en.{ending}:\d+: damaged or cut short"):
        list(read_lines(path))
    path.write_bytes(whole[:1000] + bytes(100) + whole[1100:])
    with pytest.raises(RnnsearchError, match=rf"x.en.{ending}:\d+: (damaged|not valid)"):
        list(read_lines(path))
    path.write_bytes(b"plain text\n")
    with pytest.raises(RnnsearchError, match="damaged or cut short"):
        list(read_lines(path))


@pytest.mark.parametrize("name", ["none", "none.gz", "none.xz", "none/x"])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(RnnsearchError, match=f"{name}: no such file"):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize("name", ["folder", "folder.gz"])
def test_a_folder_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(RnnsearchError, match="this is a folder"):
        list(read_lines(tmp_path / name))


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_pairs_come_from_many_files_in_order(tmp_path: Path) -> None:
    sources = [write(tmp_path / "a.en", "1", "2"), write(tmp_path / "b.en"), write(tmp_path / "c.en", "3")]
    targets = [write(tmp_path / "a.fr", "un", ""), write(tmp_path / "b.fr"), write(tmp_path / "c.fr", "trois")]
    assert list(read_pairs(sources, targets)) == [("1", "un"), ("2", ""), ("3", "trois")]


@pytest.mark.parametrize(("source", "target"), [(3, 2), (2, 5), (0, 1)])
def test_unequal_files_are_told_with_both_counts(tmp_path: Path, source: int, target: int) -> None:
    files = write(tmp_path / "a.en", *["x"] * source), write(tmp_path / "a.fr", *["x"] * target)
    with pytest.raises(RnnsearchError, match=rf"a.en has {source} lines but .*a.fr has {target};"):
        list(read_pairs([files[0]], [files[1]]))


def test_unequal_numbers_of_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="2 source but 1 target files"):
        list(read_pairs([tmp_path / "a", tmp_path / "b"], [tmp_path / "c"]))


def test_a_file_that_is_both_sides_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("one\tun\n\ntwo\tdeux\tNUM;PL\nthree\t\n")
    assert list(read_pairs([path], [path])) == [("one", "un"), ("two\tNUM;PL", "deux"), ("three", "")]


def test_a_line_of_a_table_has_a_tab(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("one\tun\ntwo deux\n")
    with pytest.raises(RnnsearchError, match=r"table\.tsv:2: no tab; each line of a table"):
        list(read_pairs([path], [path]))
