"""Odd text for `rnnsearch align` and `fast_align`: each line has its line of links, or one line says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Run, refused
from rnnsearch.alignment import bitext
from rnnsearch.data.lines import LONGEST_LINE

PAIRS = [
    ("the cat", "le chat"),
    ("", "rien"),
    ("nothing", ""),
    ("", ""),
    (" ".join(f"w{k}" for k in range(50)), " ".join(f"w{k}" for k in range(50))),
    ("the\u00a0dog \u2028 x", "le\u00a0chien x"),
    ("the cat", "le chat"),
]


def write(folder: Path, pairs: list[tuple[str, str]]) -> list[object]:
    for name, lines in (("source", [one for one, _ in pairs]), ("target", [other for _, other in pairs])):
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode())
    return ["align", "-s", folder / "source", "-t", folder / "target"]


def test_no_line_is_lost_or_shifted(rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bitext, "LONGEST", 20)
    lines = rnnsearch(*write(tmp_path, PAIRS), "--format", "tsv").out.split("\n")
    assert len(lines) == len(PAIRS) + 1
    assert [tuple(line.split("\t")[:2]) for line in lines[:-1]] == PAIRS
    links = [line.split("\t")[2] for line in lines[:-1]]
    assert links[0] == links[6]
    assert links[1:4] == ["", "", ""]
    # A line that is cut into pieces has links of all of its words, in the positions of the line.
    assert {tuple(link.split("-")) for link in links[4].split()} >= {(str(k), str(k)) for k in (0, 15, 49)}
    joined = tmp_path / "joined"
    joined.write_text("".join(f"{one} ||| {other}\n" for one, other in PAIRS), encoding="utf-8")
    done = rnnsearch("fast_align", "-i", joined)
    assert done.out.count("\n") == len(PAIRS)
    assert done.out.split("\n")[1:4] == ["", "", ""]
    assert [f"Error in line {n}" in done.err for n in range(1, 8)] == [False, True, True, True, False, False, False]


def test_equal_lines(rnnsearch: Run, tmp_path: Path) -> None:
    lines = rnnsearch(*write(tmp_path, [("the cat sleeps", "le chat dort")] * 1000)).out.split("\n")
    assert len(lines) == 1001
    assert len(set(lines[:-1])) == 1


def test_files_of_different_lengths(rnnsearch: Run, tmp_path: Path) -> None:
    command = write(tmp_path, PAIRS)
    with (tmp_path / "target").open("a", encoding="utf-8") as file:
        file.write("une ligne de trop\n")
    done = rnnsearch(*command, "--output", tmp_path / "links")
    refused(done, "source", "target", "8")
    assert not (tmp_path / "links").exists()


@pytest.mark.parametrize("command", ["align", "fast_align", "forced"])
def test_a_line_without_end(rnnsearch: Run, tmp_path: Path, command: str) -> None:
    """What is longer than the bound is refused with its line, however long it is."""
    align = write(tmp_path, [("the cat", "le chat")] * 2)
    long = b"the cat ||| le chat\n" + b"a " * (LONGEST_LINE // 2 + 1)
    (tmp_path / "long").write_bytes(long)
    if command == "align":
        done = rnnsearch("align", "--pairs", tmp_path / "long")
    elif command == "fast_align":
        done = rnnsearch("fast_align", "-i", tmp_path / "long")
    else:
        assert rnnsearch(*align, "--save", tmp_path / "aligner").status == 0
        done = rnnsearch("fast_align", "-i", tmp_path / "long", "-f", tmp_path / "aligner")
        assert done.out.count("\n") <= 1
    refused(done, "long:2: the line has more than 16,777,216 bytes")
