"""Shards: the same results in any number of processes; what is kept; and processes that end."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forked
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.jobs import JobCheckpoint, Shard, Stage, Workers, cut, shards
from rnnsearch.jobs import checkpoint as checkpoint_module


class Doing(Stage[Any, Any]):
    """Calls a function with the row of a shard that has one."""

    def __init__(self, do: Callable[[Any], Any]) -> None:
        self._do = do

    def __call__(self, shard: Shard[Any]) -> Any:
        return self._do(shard.rows[0])


def each(rows: Iterable[Any]) -> Iterator[Shard[Any]]:
    """A shard of every row."""
    return (Shard([row]) for row in rows)


def double(shard: Any) -> Any:
    if shard == "error":
        raise RnnsearchError("x:1: no")
    if shard == "fault":
        raise KeyError("a fault")
    if shard == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return [2 * shard, os.getpid()]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_order(jobs: int) -> None:
    with Workers(Doing(double), jobs) as processes:
        found = list(processes.results(each(range(50))))
        again = list(processes.results(each([7])))
    assert [value for value, _ in found] == [2 * number for number in range(50)]
    assert again[0][0] == 14
    if jobs > 1:
        assert os.getpid() not in {pid for _, pid in found}
        assert {pid for _, pid in found} <= set(processes.pids)


@settings(max_examples=10)
@given(values=st.lists(st.one_of(st.floats(), st.text(), st.none(), st.lists(st.integers())), max_size=6))
def test_values_come_through_whole(values: list[Any]) -> None:
    def work(shard: Any) -> Any:
        return {"values": shard}

    with Workers(Doing(work), 1) as one, Workers(Doing(work), 2) as two:
        found = list(one.results(each([values, [""]]))), list(two.results(each([values, [""]])))
    assert repr(found[0]) == repr(found[1]) == repr([{"values": values}, {"values": [""]}])


@pytest.mark.parametrize("jobs", [1, 2])
def test_shards_are_read_only_a_little_ahead(jobs: int) -> None:
    read = 0

    def endless() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    with Workers(Doing(double), jobs) as processes:
        for done, _ in enumerate(processes.results(each(endless())), 1):
            assert read <= done + shards.AHEAD * jobs
            if done == 100:
                break
    assert all(gone(pid) for pid in processes.pids)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_work_comes_in_its_place(jobs: int) -> None:
    with Workers(Doing(double), jobs) as processes:
        results = processes.results(each([1, "error", 2]))
        assert next(results)[0] == 2
        with pytest.raises(RnnsearchError, match=r"^x:1: no$"):
            next(results)
    assert all(gone(pid) for pid in processes.pids)


def test_a_fault_of_the_work_keeps_its_traceback() -> None:
    with Workers(Doing(double), 2) as processes, pytest.raises(RuntimeError, match=r"KeyError: 'a fault'") as raised:
        list(processes.results(each(["fault"])))
    assert "test_shards.py" in str(raised.value)


def test_a_process_that_is_killed_is_an_error() -> None:
    dead = pytest.raises(RnnsearchError, match=r"a process has ended \(signal 9\).*--jobs")
    with Workers(Doing(double), 2) as processes, dead:
        list(processes.results(each([1, 2, "die", 3])))
    with Workers(Doing(double), 2) as processes:
        os.kill(processes.pids[0], signal.SIGKILL)
        with pytest.raises(RnnsearchError, match="signal 9"):
            list(processes.results(each(range(100))))
    assert all(gone(pid) for pid in processes.pids)


def test_a_number_of_processes_that_cannot_be() -> None:
    with pytest.raises(RnnsearchError, match="jobs = 0"):
        Workers(Doing(double), 0)


WAITING = """
import os, sys, time
from rnnsearch.jobs import Shard, Stage, Workers
class Waiting(Stage):
    def __call__(self, shard):
        time.sleep(100)
with Workers(Waiting(), int(sys.argv[1])) as processes:
    print(*processes.pids, flush=True)
    list(processes.results(Shard([row]) for row in range(10)))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_none_is_left_when_the_program_ends(number: signal.Signals) -> None:
    process = forked.Popen([sys.executable, "-c", WAITING, "3"], stdout=-1, stderr=-1)
    assert process.stdout is not None
    pids = list(map(int, process.stdout.readline().split()))
    assert len(pids) == 3
    time.sleep(0.2)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    deadline = time.monotonic() + 10
    while not all(map(gone, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended, though nobody may have asked for its status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_what_is_kept(tmp_path: Path) -> None:
    done: list[int] = []

    def work(shard: int) -> list[int]:
        done.append(shard)
        if shard == 3:
            raise KeyboardInterrupt
        return [shard]

    def run(until: int, **settings: object) -> list[int]:
        done.clear()
        with JobCheckpoint(tmp_path / "out", settings) as kept, Workers(Doing(work)) as processes:
            return [value for (value,) in processes.results(each(range(until)), kept)]

    with pytest.raises(KeyboardInterrupt):
        run(5, beam=2)
    assert (tmp_path / "out.parts").is_dir()
    with pytest.raises(KeyboardInterrupt):
        run(5, beam=2)
    assert done == [3]
    damaged = sorted((tmp_path / "out.parts").glob("*.part"))[0]
    damaged.write_bytes(b"[")
    assert run(3, beam=2) == [0, 1, 2]
    assert len(done) == 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        run(5, beam=2)
    with pytest.warns(RnnsearchWarning, match="out.parts: what is kept there is of another run"):
        assert run(2, beam=3) == [0, 1]
    assert done == [0, 1]
    assert not list(tmp_path.iterdir())


def test_another_version_of_the_program_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sources are part of what a run is: nothing is removed, and the version that began can go on."""

    def killed(program: str, beam: int = 2) -> None:
        monkeypatch.setattr(checkpoint_module, "program_digest", lambda: program)
        with JobCheckpoint(tmp_path / "out", {"beam": beam}) as kept:
            kept.put(vars(Shard([1])), b"[1]")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed("before")
    with pytest.raises(RnnsearchError, match=r"out\.parts: what is kept there was computed by another version") as refused:
        killed("after")
    assert "\n" not in str(refused.value)
    monkeypatch.setattr(checkpoint_module, "program_digest", lambda: "before")
    with JobCheckpoint(tmp_path / "out", {"beam": 2}) as kept:
        assert kept.get(vars(Shard([1]))) == [1]
    with pytest.raises(KeyboardInterrupt):
        killed("before")
    with pytest.warns(RnnsearchWarning, match="of another run"), pytest.raises(KeyboardInterrupt):
        killed("after", beam=3)


def test_the_digest_of_the_program_changes_with_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("jobs/checkpoint.py", "config.py", "model/cells.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("a = 1\n")
    monkeypatch.setattr(checkpoint_module, "__file__", str(tmp_path / "jobs/checkpoint.py"))
    found = []
    for text in ("a = 1\n", "a = 2\n"):
        (tmp_path / "model/cells.py").write_text(text)
        checkpoint_module.program_digest.cache_clear()
        found.append(checkpoint_module.program_digest())
    checkpoint_module.program_digest.cache_clear()
    assert found[0] != found[1]


def test_one_job_makes_no_detour_through_json() -> None:
    """What the stage returns is what the caller gets, and is not even made plain."""
    found = object()
    with Workers(Doing(lambda row: found)) as processes:
        assert next(processes.results(each([1]))) is found


def test_two_runs_do_not_write_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "_PATIENCE", 0.1)
    with (
        JobCheckpoint(tmp_path / "out", {}),
        pytest.raises(RnnsearchError, match="another run is writing it"),
        JobCheckpoint(tmp_path / "out", {}),
    ):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(RnnsearchError, match=r"cannot write to .*file"), JobCheckpoint(tmp_path / "file" / "out", {}):
        pass


def test_nothing_is_left_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk, or under a limit of the sizes of files."""

    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RnnsearchError, match="no space"), JobCheckpoint(tmp_path / "new" / "output", {}):
        pytest.fail("the body ran")
    assert list(tmp_path.iterdir()) == []


@given(count=st.integers(0, 30), size=st.integers(1, 9))
def test_cut(count: int, size: int) -> None:
    found = list(cut(range(count), size))
    assert [one for shard in found for one in shard] == list(range(count))
    assert all(len(shard) == size for shard in found[:-1])
    assert all(found)


@pytest.mark.parametrize("output", ["", ".", "../here"])
def test_an_output_that_is_where_it_is_run(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with JobCheckpoint(Path(output), {}):
        assert [path.name for path in tmp_path.iterdir() if path.name != "here"] == ["here.parts"]
    assert not (tmp_path / "here.parts").exists()


def test_the_root_is_no_output() -> None:
    with pytest.raises(RnnsearchError, match="root"):
        JobCheckpoint(Path("/"), {})
