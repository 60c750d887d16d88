"""Moses is driven as its manual says; stand-ins for its programs do the little that the next step needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch.config import DataConfig
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import Text
from rnnsearch.experiments.moses import find_moses, run_moses

DATA = DataConfig(source_language="en", target_language="fr")

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
def text(tmp_path: Path) -> Text:
    lines = {
        "train": ("The dog | sees.\nIt's old.\n\n", "Le chien | voit.\nIl est vieux.\nVide\n"),
        "valid": ("A dog.\n", "Un chien.\n"),
        "test": ("She didn't see [it], <b> & all.\n\n", "Elle ne l'a pas vu.\n\n"),
    }
    for name, sides in lines.items():
        for language, side in zip(("en", "fr"), sides, strict=True):
            (tmp_path / f"{name}.{language}").write_text(side)
    one, two = ([tmp_path / f"{name}.{language}" for name in lines] for language in ("en", "fr"))
    return Text((one[0],), (two[0],), one[1], two[1], one[2], two[2])


def test_train_tune_decode(installation: Path, text: Text, tmp_path: Path) -> None:
    told: list[str] = []
    output = tmp_path / "run" / "translations.target"
    moses = find_moses(installation)
    run_moses(moses, text, DATA, tmp_path / "run", output, told.append)
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
    lines = output.read_text().split("\n")
    assert len(lines) == 3
    assert "<" in lines[0]
    assert "&#91;" not in lines[0]
    assert lines[0].endswith("& all.")


def test_a_finished_step_is_not_run_again(installation: Path, text: Text, tmp_path: Path) -> None:
    moses, output = find_moses(installation), tmp_path / "run" / "translations.target"
    moses.tune.write_text("#!/bin/sh\necho 'no tuning today' >&2\nexit 3\n")
    with pytest.raises(RnnsearchError, match=r"mert-moses\.pl failed with exit status 3; .*moses\.log"):
        run_moses(moses, text, DATA, tmp_path / "run", output, lambda line: None)
    assert "no tuning today" in (tmp_path / "run" / "moses.log").read_text()
    assert not output.exists()
    moses.tune.write_text("#!/bin/sh\nmkdir -p tuning; touch tuning/moses.ini\n")
    run_moses(moses, text, DATA, tmp_path / "run", output, lambda line: None)
    calls = [call.split()[0] for call in (tmp_path / "calls").read_text().splitlines()]
    assert calls == ["lmplz", "build_binary", "train-model.perl", "moses"]


@pytest.mark.parametrize("missing", ["bin/moses", "scripts/training/mert-moses.pl", "training-tools/mgiza"])
def test_what_is_missing_is_named(installation: Path, missing: str) -> None:
    (installation / missing).unlink()
    with pytest.raises(RnnsearchError, match=r"is missing; give the folder in which Moses was built"):
        find_moses(installation)
