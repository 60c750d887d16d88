"""`rnnsearch select`, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rnnsearch.cli.commands import application
from rnnsearch.errors import RnnsearchError
from toy import write_pairs


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """All but how much to keep."""
    source, target = write_pairs(tmp_path, "general", 200, seed=1)
    in_source, in_target = write_pairs(tmp_path, "news", 50, seed=2)
    return [
        *("select", "--source", str(source), "--target", str(target)),
        *("--in-domain-source", str(in_source), "--in-domain-target", str(in_target)),
        *("--output-source", str(tmp_path / "out.en"), "--output-target", str(tmp_path / "out.fr")),
    ]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), arguments)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("options", [[], ["--method", "moore-lewis", "--side", "target"]])
def test_select(command: list[str], tmp_path: Path, options: list[str]) -> None:
    done = run(*command, *options, "--pairs", "20", "--scores", str(tmp_path / "scores"))
    assert done.exit_code == 0, done.output
    assert "200 pairs read" in done.stderr
    assert "20 kept" in done.stderr
    assert done.stdout == ""
    pairs = list(zip(lines(tmp_path / "out.en"), lines(tmp_path / "out.fr"), strict=True))
    assert len(pairs) == 20
    assert set(pairs) <= set(zip(lines(tmp_path / "general.en"), lines(tmp_path / "general.fr"), strict=True))
    assert len([float(score) for score in lines(tmp_path / "scores")]) == 200


def test_select_at_random(command: list[str], tmp_path: Path) -> None:
    done = run(*command, "--method", "random", "--words", "100", "--seed", "3")
    assert done.exit_code == 0, done.output
    assert sum(len(line.split()) for line in lines(tmp_path / "out.fr")) <= 100
    assert "cross-entropy" not in done.stderr


def test_select_refuses(command: list[str], tmp_path: Path) -> None:
    done = run(*command)
    assert isinstance(done.exception, RnnsearchError)
    assert "--pairs" in str(done.exception)
    assert run(*command, "--pairs", "0").exit_code == 2
    assert not list(tmp_path.glob("*out*"))
