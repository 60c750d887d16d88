"""A whole reproduction, of tiny systems for seconds each: by the code that the real one runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import forked
from rnnsearch.config import from_preset
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import CorpusSizes, Experiment, builtin_text
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.reproduce import Reproduction

pytestmark = [pytest.mark.system, pytest.mark.slow]

MINUTES = 0.03

TINY = {
    "data": {"source_words": 400, "target_words": 400},
    "model": {"embedding_size": 12, "hidden_size": 16, "alignment_size": 12, "maxout_size": 12},
    "training": {
        "batch_size": 16,
        "decay": "none",
        "max_epochs": 0,
        "max_updates": 1_000_000,
        "validate_every": 1_000_000,
        "checkpoint_every": 5,
    },
    "search": {"beam": 2, "forbid_unk": False},
}


def tiny_experiment(folder: Path, minutes: float = MINUTES) -> Experiment:
    return Experiment(
        "builtin",
        builtin_text(folder / "corpus"),
        from_preset("demo", TINY),
        limits=(12, 20),
        minutes=minutes,
        builtin=CorpusSizes(train=800, valid=10, test=80),
    )


def tiny_reproduction(folder: Path, **changes: object) -> Reproduction:
    parts = {
        "experiment": tiny_experiment(folder),
        "layout": Layout(folder),
        "console": Console(stderr=True),
        "command": "rnnsearch reproduce --scale builtin",
    }
    return Reproduction(**{**parts, **changes})  # type: ignore[arg-type]


PROGRAM = """
import sys
from pathlib import Path
from test_reproduce import tiny_reproduction
tiny_reproduction(Path(sys.argv[1])).run()
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    tests = Path(__file__).parents[1]
    path = f"import sys; sys.path[:0] = [{str(tests)!r}, {str(tests / 'system')!r}]\n"
    return forked.Popen([sys.executable, "-c", path + PROGRAM, str(folder)], stderr=subprocess.PIPE)


def kill_when(folder: Path, happened: Callable[[], bool]) -> None:
    """Run the reproduction in a process of its own, and kill it as soon as this has happened."""
    process = start(folder)
    end = time.monotonic() + 300
    while not happened():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < end
        time.sleep(0.005)
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction that was killed in its second training and between two translations, and went on each time."""
    folder = tmp_path_factory.mktemp("reproduction")
    layout = Layout(folder)
    systems = tiny_experiment(folder).systems
    kill_when(folder, lambda: (layout.model(systems[1]) / "checkpoints" / "last.safetensors").exists())
    first = snapshot(layout.model(systems[0]))
    assert (layout.model(systems[0]) / "training.json").exists()
    assert not (layout.model(systems[1]) / "training.json").exists()
    kill_when(folder, lambda: (layout.translations(systems[2]) / "measurements.json").exists())
    assert not layout.report.exists()
    assert snapshot(layout.model(systems[0])) == first, "a finished training was run again"
    translated = snapshot(layout.translations(systems[0]))
    tiny_reproduction(folder).run()
    assert snapshot(layout.translations(systems[0])) == translated, "finished translations were made again"
    return folder


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The files of a folder: when they were written, and what is in them."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_part_left_what_the_report_needs(finished: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert names == {
        *("corpus", "experiment.json", "prepared", "models", "test", "translations", "figures", "results.json"),
        *("index.html", ".lock"),
    }
    assert {path.name for path in (finished / "prepared").iterdir()} == {"12", "20"}
    assert (finished / "figures" / "figure-2.pdf").exists()
    found = json.loads((finished / "results.json").read_text())
    assert [system["name"] for system in found["systems"]] == [
        "RNNencdec-12",
        "RNNsearch-12",
        "RNNencdec-20",
        "RNNsearch-20",
        "RNNsearch-20*",
    ]
    assert [claim["held"] in (True, False, None) for claim in found["claims"]] == [True] * 10
    assert all(claim["place"] and claim["test"] and claim["figures"] for claim in found["claims"])
    unmeasured = [claim["figures"][0] for claim in found["claims"] if "earlier version" in claim["figures"][0]]
    assert not unmeasured
    assert found["paper"]["RNNsearch-50"]["all"] == 26.75
    assert "not run" in found["absent"]["Moses"]
    assert found["systems"][1]["aer"]["aer"] <= 1
    assert found["systems"][0]["aer"] is None
    page = (finished / "index.html").read_text(encoding="utf-8")
    for heading in ("Table 1", "Figure 2", "Table 2", "Table 3"):
        assert heading in page
    assert "its limits of 30 and 50 words are 12 and 20 here" in page


def test_the_longer_run_goes_on_where_the_other_ended(finished: Path) -> None:
    layout, systems = Layout(finished), tiny_experiment(finished).systems
    shorter, longer = (
        json.loads((layout.model(system) / "training.json").read_text()) for system in (systems[3], systems[4])
    )
    assert longer["updates"] > shorter["updates"]
    assert longer["hours"] > shorter["hours"]
    assert longer["validations"][: len(shorter["validations"])] == shorter["validations"]


def test_a_finished_reproduction_does_nothing_again(finished: Path) -> None:
    before = snapshot(finished)
    tiny_reproduction(finished).run()
    after = snapshot(finished)
    rebuilt = ("results.json", "index.html", "figures/")
    assert before.keys() == after.keys()
    for name, (written, content) in before.items():
        assert after[name][1] == content, name
        assert after[name][0] == written or name.startswith(rebuilt), name


def test_a_system_from_outside_becomes_a_row(finished: Path, tmp_path: Path) -> None:
    reference = finished / "corpus" / "test.fr"
    (tmp_path / "moses.fr").write_bytes(reference.read_bytes())
    results = tiny_reproduction(finished, outside={"Moses": tmp_path / "moses.fr"}).run()
    assert results.systems[-1].name == "Moses"
    assert results.systems[-1].all.bleu == pytest.approx(100)
    assert results.systems[-1].paper == "Moses"
    assert results.absent == {}
    assert results.comparison.p_value("Moses", "RNNsearch-20") == pytest.approx(1 / 1001)
    assert "Moses" in (finished / "index.html").read_text(encoding="utf-8")


def test_a_translation_of_something_else_is_refused(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "short.fr").write_text("Une ligne.\n" * 79)
    with pytest.raises(RnnsearchError, match=r"short\.fr: 79 lines, but the test set has 80"):
        tiny_reproduction(finished, outside={"Moses": tmp_path / "short.fr"}).run()


def test_a_folder_is_for_one_experiment(finished: Path) -> None:
    other = replace(tiny_experiment(finished), minutes=9.0)
    with pytest.raises(RnnsearchError, match=r"another experiment is there \(minutes differ\)"):
        tiny_reproduction(finished, experiment=other).run()


def test_two_systems_of_one_name(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="a system of that name is trained here"):
        tiny_reproduction(finished, outside={"RNNsearch-20": tmp_path / "x"}).run()
