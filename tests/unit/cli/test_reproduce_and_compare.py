from pathlib import Path

import pytest
from typer.testing import CliRunner

from rnnsearch.cli.commands import application
from rnnsearch.cli.reproduce import without_only
from rnnsearch.errors import RnnsearchError


def refused(*arguments: object) -> str:
    """What the command complains of."""
    done = CliRunner().invoke(application(), [str(argument) for argument in arguments])
    assert isinstance(done.exception, RnnsearchError)
    return str(done.exception)


def test_compare(tmp_path: Path) -> None:
    reference = [f"The dog number {number} sees a cat in the garden." for number in range(40)]
    good = [line if number % 8 else "Another line." for number, line in enumerate(reference)]
    bad = [line if number % 2 else "Another line." for number, line in enumerate(reference)]
    for name, lines in (("reference", reference), ("good", good), ("bad", bad)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    arguments = ["compare", "--reference", tmp_path / "reference", tmp_path / "good", tmp_path / "bad"]
    done = CliRunner().invoke(application(), [str(word) for word in arguments], env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    assert "0.001" in done.output
    assert "bs:1000" in done.output
    (tmp_path / "bad").write_text("One line.\n")
    assert "has 1 lines, but the test set has 40" in refused(*arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--scale", "files"], "needs its text"),
        (["--scale", "files", "--source", "train.en"], "the text is not complete"),
        (["--scale", "builtin", "--system", "moses.fr"], "--system moses.fr: give a name and a file"),
    ],
)
def test_reproduce_says_what_is_missing(arguments: list[str], told: str, tmp_path: Path) -> None:
    assert told in refused("reproduce", "--output", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_the_report_names_the_command_that_writes_it() -> None:
    """Not one of those by which several machines shared the work."""
    given = ["reproduce", "--scale", "files", "--only", "RNNsearch-50*", "--only=RNNencdec-30", "--output", "x"]
    assert without_only(given) == ["reproduce", "--scale", "files", "--output", "x"]


def test_a_system_that_is_none_is_refused(tmp_path: Path) -> None:
    message = refused("reproduce", "--scale", "builtin", "--output", tmp_path / "x", "--only", "RNNsearch-50")
    assert message.startswith("--only RNNsearch-50: no system of this experiment; its systems are RNNencdec-15,")
    assert not (tmp_path / "x").exists()
