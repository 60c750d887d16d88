"""`rnnsearch fast_align` in place of fast_align: options, output, and forced alignment."""

from __future__ import annotations

import subprocess
import sys
from math import lgamma, log
from pathlib import Path

import pytest

import forked
from command_line import Run, refused
from rnnsearch.alignment import Aligner
from rnnsearch.cli import main

TEXT = [
    "The black cat . ||| Le chat noir .",
    "the yellow bird . ||| l' oiseau jaune .",
    "the white cat . ||| le chat blanc .",
    "a ||| ",
    "the bird ||| l' oiseau",
    "the cat ||| le chat ||| noir",
] * 4


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text"
    file.write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    return file


def pairs() -> list[tuple[str, str]]:
    return [(source, target) for source, _, target in (line.partition(" ||| ") for line in TEXT)]


@pytest.mark.parametrize("reverse", [False, True])
def test_links_of_training(rnnsearch: Run, text: Path, reverse: bool) -> None:
    done = rnnsearch("fast_align", "-i", text, "-d", "-o", "-v", "-I", "6", "-q", "0.1", "-a", "0.02", *["-r"] * reverse)
    lines = [line.one_to_many()[reverse] for line in Aligner.learn(pairs()).align(pairs())]
    assert done.out == "".join(" ".join(f"{i}-{j}" for i, j in links) + "\n" for links in lines)
    assert done.out.startswith("0-0 1-2 2-1 3-3\n" if reverse else "0-0 2-1 1-2 3-3\n")
    assert done.out.split("\n")[3] == ""
    assert "Error in line 4\n" in done.err
    # Six lines: three with as many words on both sides, one without target words, one again alike, and one with 2 and 4.
    ratio = (4 * 1 + 1 * (1 / 2 if reverse else 2) + 0) / 6
    assert f"expected target length = source length * {ratio:g}\n" in done.err
    assert done.err.endswith("     final tension: 4\n")


@pytest.mark.parametrize("reverse", [False, True])
def test_forced_alignment_gives_the_links_and_scores_of_training(
    rnnsearch: Run, text: Path, tmp_path: Path, reverse: bool
) -> None:
    direction = ["-r"] * reverse
    trained = rnnsearch("fast_align", "-i", text, "-dovs", "-p", tmp_path / "params", *direction)
    multiplier = trained.err.split("source length * ")[1].split()[0]
    forced = rnnsearch("fast_align", "-i", text, "-d", "-T", "", "-m", multiplier, "-f", tmp_path / "params", *direction)
    for line, links, given in zip(forced.out.splitlines(), trained.out.splitlines(), TEXT, strict=True):
        echoed, of_line, score = line.rsplit("|||", 2)
        assert echoed.rstrip() == given.rstrip()
        assert of_line.strip() == links.split(" ||| ")[0]
        assert float(score) == pytest.approx(float(links.split(" ||| ")[1]), abs=1e-3)
    assert forced.out.split("\n")[0] == "The black cat . ||| Le chat noir . ||| " + trained.out.split("\n")[0]
    total = float(forced.err.rsplit("TOTAL LOG PROB ", 1)[1])
    assert total == pytest.approx(sum(float(line.split()[-1]) for line in forced.out.splitlines()), rel=1e-4)


def test_the_score_is_a_log_probability(rnnsearch: Run, tmp_path: Path) -> None:
    """That of the number of words, log Poisson(1; 0.05 + 1), and that of the words."""
    file = tmp_path / "text"
    file.write_text("a ||| b\n" * 50, encoding="utf-8")
    score = float(rnnsearch("fast_align", "-i", file, "-s").out.split("\n")[0].removeprefix("0-0 ||| "))
    length = log(1.05) - lgamma(2) - 1.05
    (line,) = Aligner.learn([("a", "b")] * 50).align([("a", "b")])
    assert score == pytest.approx(length + line.log_likelihood[0], abs=1e-4)
    assert -4 < line.log_likelihood[0] < 0


def test_lines_are_answered_as_they_arrive(text: Path, tmp_path: Path) -> None:
    """As fast_align's force_align.py asks for each pair."""
    Aligner.learn(pairs()).save(tmp_path / "params")
    program = [sys.executable, "-c", "from rnnsearch.cli import main\nmain()", "fast_align"]
    options = ["-i", "-", "-d", "-T", "4", "-m", "1.1", "-f", str(tmp_path / "params"), "-r"]
    with forked.Popen([*program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in ("the white bird . ||| l' oiseau blanc .\n", "the cat ||| le chat\n"):
            process.stdin.write(line.encode())
            process.stdin.flush()
            answer = process.stdout.readline().decode().split("|||")
            assert answer[2].strip().startswith("0-0 1-")
        process.stdin.close()
        assert process.wait() == 0


def test_by_the_name_of_the_original(
    text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/fast_align", "-i", str(text), "-d"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert capsys.readouterr().out.count("\n") == len(TEXT)


def test_what_is_refused(rnnsearch: Run, text: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text("a\tb\n", encoding="utf-8")
    refused_ = rnnsearch("fast_align", "-i", table)
    assert refused_.status == 2
    assert "no pairs to align; write `source ||| target`" in refused_.err
    refused(rnnsearch("fast_align", "-i", text, "-f", table), "table: no folder of an aligner")
    refused(rnnsearch("fast_align", "-i", text, "-p", table), "table: this is a file")
    refused(rnnsearch("fast_align", "-i", text, "-f", tmp_path, "-p", tmp_path), "give one of the two")
    assert table.read_text(encoding="utf-8") == "a\tb\n"
    Aligner.learn(pairs()).save(tmp_path / "params")
    (tmp_path / "latin").write_bytes(b"the cat ||| le chat\nle caf\xe9 ||| x\n")
    done = rnnsearch("fast_align", "-i", tmp_path / "latin", "-f", tmp_path / "params")
    refused(done, "latin:2: not valid UTF-8")
