"""Files are read within bounds, arrays are compared with what they must be, and a terminal gets nothing to obey."""

from __future__ import annotations

import io
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table

import poison
from rnnsearch.config import from_dict, read_toml
from rnnsearch.errors import RnnsearchError, RnnsearchWarning, printable
from rnnsearch.jobs.output import written
from rnnsearch.terminal import DescriptionColumn, Terminal
from rnnsearch.untrusted import Array, check_arrays, read_bytes, read_npz, read_record

ESCAPES = "a\x1b[2J\x07\x9b31m\x00\u202e\u2028b"


def test_no_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(RnnsearchError, match="more than 4 bytes"):
        read_bytes(path, 4)
    poison.huge(path)
    with pytest.raises(RnnsearchError, match="more than 4 bytes"):
        read_bytes(path, 4)


def test_no_more_memory_is_taken_than_the_file_has_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert poison.in_child(lambda: read_bytes(tmp_path / "file", 1 << 40) == b"12345", gigabytes=0.5) == "sound"


@pytest.mark.parametrize("text", poison.ODD_JSON)
def test_a_record_is_an_object_or_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    assert isinstance(read_record(tmp_path / "record.json"), dict)
    assert read_record(tmp_path / "none.json") == {}


@given(st.integers(0, 10**9))
def test_arrays_that_are_altered_are_found_or_are_what_they_must_be(seed: int) -> None:
    expected = {
        "one": Array("float32", (3, 2), 0, 10),
        "two": Array("int64", (4,), 0, 3),
        "three": Array("float64", ()),
        "none": Array("float32", (0,), 1, -1),
    }
    whole = {
        "one": np.arange(6, dtype=np.float32).reshape(3, 2), "two": np.arange(4), "three": np.array(1.5),
        "none": np.empty(0, np.float32),
    }  # fmt: skip
    check_arrays(whole, expected)
    altered, what = poison.alter(whole, Random(seed))
    with suppress(ValueError):
        check_arrays(altered, expected)
        assert altered.keys() == whole.keys(), what
        for name, array in altered.items():
            assert (array.dtype, array.shape) == (whole[name].dtype, whole[name].shape), what
            assert np.isfinite(array).all(), what
            assert array.size == 0 or expected[name].least <= array.min() <= array.max() <= expected[name].most, what


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_are_finite_where_no_range_is_given(number: float, dtype: type) -> None:
    with pytest.raises(ValueError, match="not finite"):
        check_arrays({"a": np.array([1, number], dtype)}, {"a": Array(np.dtype(dtype).name, (2,))})


def test_compressed_arrays_are_not_expanded(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (10**7,)})
        out.write(bytes(4 * 10**7))
    with pytest.raises(ValueError, match="larger than the file"):
        read_npz(path)
    np.savez(path, a=np.arange(3))
    assert read_npz(path)["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        f"[model]\nhidden_size = {poison.long_number()}",
        f"[model]\nhidden_size = 0x{'f' * 5000}",
        f"[model]\nhidden_size = {poison.deep()}",
        f"[model]\nhidden_size = {'[' * 900}{']' * 900}",
        f"[model]\n{'x' * 10_000} = 1",
        '[model]\n"\\u001b[2J" = 1',
        '[data]\nsource_words = "\\u001b[2J"',
        f"a = {'{b=' * 10_000}",
        "#" * (2 << 20),
    ],
)
def test_odd_toml_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(RnnsearchError, match=r"settings\.toml") as raised:
        read_toml(tmp_path / "settings.toml")
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 1000


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists)))
def test_any_settings_are_read_or_refused(values: dict[str, object]) -> None:
    for nested in (values, {"data": values}, {"model": values, "training": values}):
        with suppress(RnnsearchError):
            from_dict(nested)


@given(st.text())
def test_what_is_printable_stays(text: str) -> None:
    assert not any(character < " " or "\x7f" <= character < "\xa0" for character in printable(text))
    assert printable(printable(text)) == printable(text)
    if text.isprintable():
        assert printable(text) == text
    assert printable("café — 漢字 e\u0301 👩\u200d👧\u00a0!") == "café — 漢字 e\u0301 👩\u200d👧\u00a0!"


def test_errors_and_warnings_are_one_line_without_escapes() -> None:
    for told in (RnnsearchError(f"{ESCAPES}\n: no"), RnnsearchWarning(f"{ESCAPES}\n: no")):
        assert str(told) == r"a\x1b[2J\x07\x9b31m\x00\u202e\u2028b\n: no"


def shown(print_on: object, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Terminal(file=out, force_terminal=terminal, width=200, color_system=None)
    print_on(console)  # type: ignore[operator]
    return out.getvalue()


@pytest.mark.parametrize("text", ["[/b]", "[red]x", ":smile:", "[link=file:///x]y[/link]", ESCAPES, "[/]\x1b]0;x\x07"])
def test_tables_bars_and_lines_show_data_as_it_is(text: str) -> None:
    table = Table(text, title=text)
    table.add_row(text)

    def bar(console: Terminal) -> None:
        with Progress(DescriptionColumn(), console=console, auto_refresh=False) as progress:
            progress.add_task(text)
            progress.refresh()

    def status(console: Terminal) -> None:
        with console.status(text) as line:
            line.update(text)

    for print_on in (lambda console: console.print(text), lambda console: console.print(table), bar):
        found = shown(print_on)
        assert printable(text) in found
        assert found.replace("\n", "").isprintable()
    assert printable(text) in shown(status, terminal=True)


@pytest.mark.parametrize("columns", ["0", "1", "60", "-1", "x"])
def test_a_table_in_a_file_is_not_folded(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    table = Table(*(f"column {number}" for number in range(30)))
    console = Terminal(file=io.StringIO(), color_system=None)
    console.print(table)
    console.print("a word " * 100)
    heading = console.file.getvalue().splitlines()[1]  # type: ignore[attr-defined]
    assert all(f" column {number} " in heading for number in range(30))
    assert console.file.getvalue().splitlines()[-1] == "a word " * 100  # type: ignore[attr-defined]


@pytest.mark.parametrize("columns", ["0", "1", "19"])
def test_a_terminal_of_hardly_any_columns_shows_readable_tables(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    console = Terminal(file=Screen(), color_system=None)
    console.print(Table("BLEU", "interval"))
    assert "BLEU" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "interval" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_terminal_gets_no_escapes_and_a_file_gets_every_byte(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for terminal in (True, False):
        out = io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(out, "isatty", lambda terminal=terminal: terminal)
        with written(None) as lines:
            lines.writelines([f"{ESCAPES}\n", "\tb\n"])
            lines.flush()
        assert out.getvalue() == (f"{printable(ESCAPES)}\n\tb\n" if terminal else f"{ESCAPES}\n\tb\n")
    with written(tmp_path / "file") as lines:
        lines.write(ESCAPES)
    assert (tmp_path / "file").read_text() == ESCAPES
