"""A model that is trained further on a memory is used only if it is complete, and no worse than before."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

import forked
from rnnsearch.cli import main
from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import Memory
from rnnsearch.model_versions import Versions
from rnnsearch.training import adapt as adapt_module
from rnnsearch.training.adapt import FEWEST_SEGMENTS, Quality, adapt, roll_back
from rnnsearch.translation import load
from toy import toy_pairs

QUIET = Console(quiet=True)
PAIR = "en", "fr"
COMMAND = "from rnnsearch.cli import main; main()"


@pytest.fixture
def model(model_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of the toy language, which learns faster here than larger ones may."""
    monkeypatch.setitem(adapt_module._RECIPE, "learning_rate", 1e-2)
    return model_folder("mlp")


def remember(folder: Path, count: int, seed: int) -> None:
    """Corrections by one to whom dogs are cats."""
    pairs = [(source, target.replace("chien", "chat")) for source, target in toy_pairs(count, seed)]
    Memory(folder).add(PAIR, pairs)


def versions(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "models" / "en-fr").iterdir() if path.name != "lock")


@pytest.mark.slow
def test_it_learns_the_corrections_and_goes_back(model: Path, tmp_path: Path) -> None:
    remember(tmp_path, 200, 3)
    first = adapt(model, tmp_path, QUIET)
    assert first.version == tmp_path / "models" / "en-fr" / "1"
    assert (tmp_path / "en-fr").readlink() == Path("models/en-fr/1")
    assert first.after.bleu > first.before.bleu
    assert first.after.chrf > first.before.chrf
    assert first.segments + first.held_out == Memory(tmp_path).counts()[PAIR]
    record = json.loads((tmp_path / "en-fr" / "adapted.json").read_text())
    assert record["after"] == {"bleu": first.after.bleu, "chrf": first.after.chrf}
    assert "chat" in load(tmp_path / "en-fr").translate("the big dog sees a dog .").text
    assert not list((tmp_path / "en-fr").glob("*checkpoint*"))

    with pytest.raises(RnnsearchError, match="0 new segments from en to fr"):
        adapt(model, tmp_path, QUIET)
    remember(tmp_path, 150, 4)  # enough that chance does not decide which model is better
    second = adapt(model, tmp_path, QUIET)
    assert second.segments + second.held_out <= 150  # what came since alone
    assert second.older == second.segments + second.held_out  # and as many older ones
    assert second.version == tmp_path / "models" / "en-fr" / "2"
    moved = tmp_path.with_name(tmp_path.name + " moved")
    tmp_path.rename(moved)
    assert roll_back(model, moved) == moved / "models" / "en-fr" / "1"
    assert (moved / "en-fr").resolve() == (moved / "models" / "en-fr" / "1").resolve()
    assert roll_back(model, moved) == model.resolve()
    assert (moved / "en-fr").resolve() == model.resolve()
    with pytest.raises(RnnsearchError, match="no version to go back from"):
        roll_back(model, moved)
    assert versions(moved) == ["1", "2"]
    moved.rename(tmp_path)


def test_a_version_is_adapted_to_what_came_since_it(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version goes by its link, or by its folder, as well as by the model that it was made of."""
    trained: list[list[tuple[str, str]]] = []
    started: list[Path] = []

    def fake(start: Path, work: Path, pairs: list[tuple[str, str]], *_: object) -> None:
        started.append(start.resolve())
        trained.append(pairs)
        shutil.copytree(model, work / "model", ignore=shutil.ignore_patterns("adapted.json"))

    monkeypatch.setattr(adapt_module, "_train", fake)
    monkeypatch.setattr(adapt_module, "_quality", lambda *_: Quality(40, 60))
    remember(tmp_path, 200, 3)
    assert adapt(model, tmp_path, QUIET).older == 0
    memory = Memory(tmp_path)
    for seed, given in ((5, tmp_path / "en-fr"), (6, tmp_path / "models" / "en-fr" / "1"), (7, model)):
        with pytest.raises(RnnsearchError, match="0 new segments"):
            adapt(given, tmp_path, QUIET)
        version, last = (tmp_path / "en-fr").resolve(), memory.since(PAIR)[-1][0]
        remember(tmp_path, 60, seed)
        new = {source for _, source, _ in memory.since(PAIR, last)}
        older = {source for _, source, _ in memory.since(PAIR)} - new
        done = adapt(given, tmp_path, QUIET)
        assert started[-1] == version
        sources = [source for source, _ in trained[-1]]
        assert len(sources) == len(set(sources))
        assert done.segments == len(new.intersection(sources)) == len(new) - done.held_out
        assert done.older == len(older.intersection(sources)) == len(new)
        assert json.loads((tmp_path / "en-fr" / "adapted.json").read_text())["base"] == str(model.resolve())
        assert Versions(tmp_path, "en-fr").version_of(given) == (tmp_path / "en-fr").resolve()


@pytest.mark.parametrize("worse", [Quality(39.9, 60), Quality(40, 59.9)])
def test_a_worse_one_is_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], worse: Quality
) -> None:
    remember(tmp_path, 60, 3)
    scores = [worse, Quality(40, 60)]
    monkeypatch.setattr(adapt_module, "_quality", lambda *_: scores.pop())
    monkeypatch.setattr(sys, "argv", ["rnnsearch", "adapt", str(model), str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert f"before: BLEU 40.0, chrF 60.0\nafter:  {worse}\n" in capsys.readouterr().out
    assert versions(tmp_path) == []
    assert not (tmp_path / "en-fr").is_symlink()


def test_what_cannot_be_adapted_is_told(model: Path, tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="no translation memory"):
        adapt(model, tmp_path / "none", QUIET)
    Memory(tmp_path).add(PAIR, [(f"the cat has {number} books .", "x") for number in range(30)])
    with pytest.raises(RnnsearchError, match="hardly any of the 30"):
        adapt(model, tmp_path, QUIET)
    assert versions(tmp_path) == []
    (tmp_path / "en-fr").mkdir()
    with pytest.raises(RnnsearchError, match="no link"):
        adapt(model, tmp_path, QUIET)
    (tmp_path / "en-fr").rmdir()
    (tmp_path / "en-fr").symlink_to("models/en-fr/7")
    with pytest.raises(RnnsearchError, match="is not there"):
        adapt(model, tmp_path, QUIET)


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(60, marks=pytest.mark.nightly)])
def test_a_kill_leaves_no_half_of_a_model(model: Path, tmp_path: Path, kills: int) -> None:
    """Whenever it is killed, the link leads to the version before or to a complete new one."""
    random, seconds = Random(kills), 4.0
    line = "the big dog sees a red cat ."
    for seed in range(kills):
        remember(tmp_path, FEWEST_SEGMENTS + 20, 100 + seed)
        command = [sys.executable, "-c", COMMAND, "adapt", str(model), str(tmp_path)]
        began = time.monotonic()
        with forked.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(random.uniform(0, seconds))
                seconds = time.monotonic() - began  # it was over before it was killed
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        if (tmp_path / "en-fr").is_symlink():
            assert load(tmp_path / "en-fr").translate(line).text
            assert json.loads((tmp_path / "en-fr" / "adapted.json").read_text())["number"] > 0
    remember(tmp_path, 60, 3)
    adapt(model, tmp_path, QUIET)
    assert "work" not in versions(tmp_path)


def test_two_at_once_are_refused(model: Path, tmp_path: Path) -> None:
    remember(tmp_path, 60, 3)
    command = [sys.executable, "-c", COMMAND, "adapt", str(model), str(tmp_path)]
    with forked.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "models" / "en-fr" / "work").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(RnnsearchError, match="another process"):
            adapt(model, tmp_path, QUIET)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        assert process.wait() in (130, -signal.SIGINT)
    assert versions(tmp_path) == []
