"""Moses is driven as its manual says; stand-ins for its programs do the little that the next step needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peers.moses import moses as driver

PROGRAMS = {
    "bin/moses": "cat",
    "bin/lmplz": 'while [ $# -gt 0 ]; do [ "$1" = --arpa ] && touch "$2"; shift; done',
    "bin/build_binary": 'touch "$2"',
    "scripts/training/train-model.perl": "mkdir -p model; touch model/moses.ini",
    "scripts/training/mert-moses.pl": "mkdir -p tuning; touch tuning/moses.ini",
    "training-tools/mgiza": "",
    "training-tools/mkcls": "",
}


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A Moses whose decoder repeats its input, and whose programs write down how they were called."""
    folder = tmp_path / "mosesdecoder"
    for name, body in PROGRAMS.items():
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "{Path(name).name} $*" >> {tmp_path}/calls\n{body}\n')
        program.chmod(0o755)
    return folder


@pytest.fixture
def arguments(installation: Path, tmp_path: Path) -> list[str]:
    """The command line of a run in `tmp_path / "run"`, on a small text."""
    lines = {
        "train": ("The dog | sees.\nIt's old.\n\n", "Le chien | voit.\nIl est vieux.\nVide\n"),
        "valid": ("A dog.\n", "Un chien.\n"),
        "test": ("She didn't see [it], <b> & all.\n\n", "Elle ne l'a pas vu.\n\n"),
    }
    for name, sides in lines.items():
        for language, side in zip(("en", "fr"), sides, strict=True):
            (tmp_path / f"{name}.{language}").write_text(side)
    given = {
        "--moses": installation,
        "--source": tmp_path / "train.en",
        "--target": tmp_path / "train.fr",
        "--valid-source": tmp_path / "valid.en",
        "--valid-target": tmp_path / "valid.fr",
        "--test-source": tmp_path / "test.en",
        "--work": tmp_path / "run",
        "--output": tmp_path / "moses.fr",
    }
    return [str(word) for option in given.items() for word in option]


def test_train_tune_decode(arguments: list[str], tmp_path: Path) -> None:
    driver.main(arguments)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == [
        "lmplz",
        "build_binary",
        "train-model.perl",
        "mert-moses.pl",
        "moses",
    ]
    assert "-alignment grow-diag-final-and -reordering msd-bidirectional-fe" in calls[2]
    assert f"-lm 0:5:{tmp_path}/run/lm.bin:8" in calls[2]
    assert "-mgiza " in calls[2]
    assert (tmp_path / "run" / "train.source").read_text() == "The dog &#124; sees .\nIt &apos;s old .\n"
    assert (
        tmp_path / "run" / "test.source"
    ).read_text() == "She didn &apos;t see &#91; it &#93; , &lt; b &gt; &amp; all .\n\n"
    # What the decoder gave back is text again: detokenised, the escapes undone, a line for a line.
    lines = (tmp_path / "moses.fr").read_text().split("\n")
    assert len(lines) == 3
    assert "<" in lines[0]
    assert "&#91;" not in lines[0]
    assert lines[0].endswith("& all.")


@pytest.mark.slow
def test_a_finished_step_is_not_run_again(
    installation: Path, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tune = installation / "scripts" / "training" / "mert-moses.pl"
    tune.write_text("#!/bin/sh\necho 'no tuning today' >&2\nexit 3\n")
    with pytest.raises(SystemExit) as stopped:
        driver.main(arguments)
    assert stopped.value.code == 2
    log = tmp_path / "run" / "moses.log"
    assert f"moses.py: {tune} failed with exit status 3; see {log}\n" in capsys.readouterr().err
    assert "no tuning today" in log.read_text()
    assert not (tmp_path / "moses.fr").exists()
    tune.write_text("#!/bin/sh\nmkdir -p tuning; touch tuning/moses.ini\n")
    driver.main(arguments)
    calls = [call.split()[0] for call in (tmp_path / "calls").read_text().splitlines()]
    assert calls == ["lmplz", "build_binary", "train-model.perl", "moses"]


@pytest.mark.parametrize("missing", ["bin/moses", "scripts/training/mert-moses.pl", "training-tools/mgiza"])
def test_what_is_missing_is_named(
    installation: Path, arguments: list[str], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (installation / missing).unlink()
    with pytest.raises(SystemExit):
        driver.main(arguments)
    told = capsys.readouterr().err
    assert "is missing; give the folder in which Moses was built" in told
    assert missing.replace("mgiza", "GIZA++") in told


def test_a_file_name_without_a_language_is_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "train.en"
    arguments[arguments.index(str(source))] = str(source.rename(tmp_path / "train"))
    with pytest.raises(SystemExit):
        driver.main(arguments)
    assert f"{tmp_path / 'train'}: the file name does not tell the language" in capsys.readouterr().err
