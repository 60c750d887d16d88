"""`rnnsearch atools`: what fast_align's atools prints, to the byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forked
from command_line import Run, refused
from rnnsearch.cli import main
from rnnsearch.data.word_alignments import Links, parse_pharaoh, symmetrize, to_pharaoh
from rnnsearch.errors import RnnsearchError

# Worked out by hand. In the second line of both, 2-1 is next to the common link 1-1, and 3-2 to 2-1. 5-4 is next to no link,
# but both of its words are free; so is the target word of 5-3, while the source word 5 is linked by then.
FIRST = "0-0 1-1\n1-1 2-1 5-4 0-5\n\n0-0\n3-1 0-2\n"
SECOND = "1-1 0-0\n1-1 3-2 5-3\n0-0\n\n3-1 2-2\n"
CASES = {
    "intersect": "0-0 1-1\n1-1\n\n\n3-1\n",
    "union": "0-0 1-1\n0-5 1-1 2-1 3-2 5-3 5-4\n0-0\n0-0\n0-2 2-2 3-1\n",
    "grow-diag": "0-0 1-1\n1-1 2-1 3-2\n\n\n2-2 3-1\n",
    "grow-diag-final": "0-0 1-1\n0-5 1-1 2-1 3-2 5-3 5-4\n0-0\n0-0\n0-2 2-2 3-1\n",
    "grow-diag-final-and": "0-0 1-1\n0-5 1-1 2-1 3-2 5-4\n0-0\n0-0\n2-2 3-1\n",
    "fmeasure": "P: 0.444444\nR: 0.5\nF: 0.470588\n",
}
OF_ONE = {
    "convert": "0-0 1-1\n0-5 1-1 2-1 5-4\n\n0-0\n0-2 3-1\n",
    "invert": "0-0 1-1\n1-1 1-2 4-5 5-0\n\n0-0\n1-3 2-0\n",
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(FIRST, encoding="utf-8")
    second.write_text(SECOND, encoding="utf-8")
    return first, second


@pytest.mark.parametrize("command", CASES)
def test_two_files(rnnsearch: Run, files: tuple[Path, Path], command: str) -> None:
    assert rnnsearch("atools", "-i", files[0], "-j", files[1], "-c", command).out == CASES[command]


@pytest.mark.parametrize("command", OF_ONE)
def test_one_file(rnnsearch: Run, files: tuple[Path, Path], command: str) -> None:
    assert rnnsearch("atools", "--input_1", files[0], "--command", command).out == OF_ONE[command]


def test_display(rnnsearch: Run, tmp_path: Path) -> None:
    file = tmp_path / "links"
    file.write_text("0-1 2-0\n\n", encoding="utf-8")
    drawn = " 01\n0.*0\n1..1\n2*.2\n 01\n\n0-1 2-0\n"
    assert rnnsearch("atools", "-i", file, "-c", "display").out == drawn + " 0\n0.0\n 0\n\n\n"
    file.write_text("99999999-99999999\n", encoding="utf-8")
    refused(rnnsearch("atools", "-i", file, "-c", "display"), "is too large to be displayed")


def test_output_of_forced_alignment_and_repeated_links(rnnsearch: Run, tmp_path: Path) -> None:
    file = tmp_path / "links"
    file.write_text("a b ||| c d ||| 1-1  0-0 1-1 \n", encoding="utf-8")
    assert rnnsearch("atools", "-i", file, "-c", "convert").out == "0-0 1-1\n"


def test_both_by_turns_on_standard_input() -> None:
    """As fast_align's force_align.py asks for each pair."""
    options = ["-i", "-", "-j", "-", "-c", "union"]
    command = [sys.executable, "-c", "from rnnsearch.cli import main\nmain()", "atools", *options]
    lines = zip(FIRST.splitlines(True), SECOND.splitlines(True), CASES["union"].splitlines(True), strict=True)
    with forked.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for first, second, union in lines:
            process.stdin.write((first + second).encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == union
        process.stdin.close()
        assert process.wait() == 0


def test_by_the_name_of_the_original(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link to `rnnsearch` that is named atools is atools."""
    monkeypatch.setattr(sys, "argv", ["/usr/bin/atools", "-i", str(files[0]), "-c", "invert"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert capsys.readouterr().out == OF_ONE["invert"]


def test_what_is_refused(rnnsearch: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    shorter, broken = tmp_path / "shorter", tmp_path / "broken"
    shorter.write_text("0-0\n", encoding="utf-8")
    broken.write_text("0-0\n1-1 2\n0-0\n\n\n", encoding="utf-8")
    done = rnnsearch("atools", "-i", files[0], "-j", shorter, "-c", "union")
    refused(done, "shorter: it has 1 lines, and the other file has more")
    assert done.out == "0-0 1-1\n"
    refused(rnnsearch("atools", "-i", files[0], "-j", broken, "-c", "union"), "broken:2: '2' is not a link")
    refused(rnnsearch("atools", "-i", files[0], "-c", "union"), "union takes two files")
    refused(rnnsearch("atools", "-i", files[0], "-j", files[1], "-c", "invert"), "invert takes one file")
    shorter.write_text("\n", encoding="utf-8")
    refused(rnnsearch("atools", "-i", shorter, "-j", shorter, "-c", "fmeasure"), "without links has no precision")


def test_no_common_link(rnnsearch: Run, files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("7-7\n" * 5, encoding="utf-8")
    assert rnnsearch("atools", "-i", files[0], "-j", other, "-c", "fmeasure").out == "P: 0\nR: 0\nF: -nan\n"


_positions = st.integers(0, 7)
_links = st.frozensets(st.tuples(_positions, _positions), max_size=16)


@given(_links, _links)
def test_the_definitions(forward: Links, reverse: Links) -> None:
    """The steps of Koehn et al. (2005) on a matrix, in the order of its cells."""
    result = {(i, j): (i, j) in forward and (i, j) in reverse for i in range(8) for j in range(8)}

    def free(i: int, j: int) -> tuple[bool, bool]:
        return not any(result[i, k] for k in range(8)), not any(result[k, j] for k in range(8))

    changed = True
    while changed:
        changed = False
        for (i, j), linked in result.items():
            near = any(result.get((i + di, j + dj)) for di in (-1, 0, 1) for dj in (-1, 0, 1) if di or dj)
            if not linked and (i, j) in forward | reverse and any(free(i, j)) and near:
                result[i, j] = changed = True
    assert symmetrize(forward, reverse, "grow-diag") == {cell for cell, linked in result.items() if linked}
    for how, enough in (("grow-diag-final", any), ("grow-diag-final-and", all)):
        before = dict(result)
        for links in (forward, reverse):
            for i, j in sorted(links):
                result[i, j] |= enough(free(i, j))
        assert symmetrize(forward, reverse, how) == {cell for cell, linked in result.items() if linked}  # type: ignore[arg-type]
        result = before


@given(_links)
def test_written_links_are_read_again(links: Links) -> None:
    assert frozenset(parse_pharaoh(to_pharaoh(links))) == links


@pytest.mark.parametrize("word", ["1", "1-", "-1", "1--1", "1-1-1", "1p1", "²-1", "123456789-1"])
def test_what_is_no_link(word: str) -> None:
    with pytest.raises(RnnsearchError, match="is not a link; write links as 0-0 1-2"):
        parse_pharaoh(f"0-0 {word}")
