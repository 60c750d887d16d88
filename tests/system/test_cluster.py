"""Corpora on a Ray cluster of two nodes: what one machine computes, also when a node or the whole program is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kept import kept
from rnnsearch import load, translate_file
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.selection.cross_entropy_difference import select
from toy import ORDERS, make_trained, toy_pairs

pytestmark = [pytest.mark.system, pytest.mark.nightly]
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rnnsearch[ray]'")

ROWS = 160
OPTIONS = {"batch_size": 20, "concurrency": (1, 2)}
ONE_WORKER = {"batch_size": 80, "concurrency": 1}
NODE = {"num_cpus": 3, "object_store_memory": 100_000_000}
# A worker that waits is kept for what comes next, none is started before there is work for it, and workers have as much of
# the processor as the tests beside them.
KEPT = {"idle_worker_killing_time_threshold_ms": 600_000, "prestart_worker_first_driver": False, "worker_niceness": 0}
PROGRAM = """
import sys, ray
from rnnsearch import cluster
address, model, rows, out = sys.argv[1:]
ray.init(address)
rows = ray.data.read_parquet(rows)
cluster.save(cluster.translate(rows, model, beam=3, ray_options={"batch_size": 20, "concurrency": 1}), out)
"""


@pytest.fixture(scope="module")
def model() -> Path:
    return kept(make_trained, "gated", "mlp", ORDERS[0])


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    before = dict(os.environ)  # Ray adds to it
    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "_system_config": KEPT})
    nodes.add_node(**NODE)
    ray.init(nodes.address, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.min_parallelism = context.read_op_min_num_blocks = context.default_hash_shuffle_parallelism = 4
    yield nodes
    ray.shutdown()
    nodes.shutdown()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a.en` and `a.fr`, with blank lines and spaces at their ends, and the rows of both in `rows`."""
    folder = tmp_path_factory.mktemp("texts")
    pairs = [*toy_pairs(ROWS - 2, seed=5), ("", ""), (" the dog . ", "le chien .")]
    for side, name in enumerate(("a.en", "a.fr")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in pairs[::-1]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rows(texts: Path, nodes: Any) -> Any:
    from rnnsearch import cluster

    assert cluster.to_parquet(str(texts / "rows"), [texts / "a.en"], [texts / "a.fr"]) == ROWS
    return ray.data.read_parquet(str(texts / "rows"))


def in_order(rows: Any, column: str) -> list[Any]:
    return [row[column] for row in sorted(rows.take_all(), key=lambda row: row["line"])]


def finished(out: Path) -> set[str]:
    """The parts that a run which goes on does not compute again; a file is removed whose part is still pending."""
    return {path.stem for path in Path(f"{out}.parts").glob("*.parquet") if ".pending" not in path.name}


def test_scores_and_alignments(rows: Any, texts: Path, model: Path) -> None:
    from rnnsearch import cluster

    sources, targets = ((texts / name).read_text(encoding="utf-8").splitlines() for name in ("a.en", "a.fr"))
    pairs = load(model).score(sources, targets)
    assert in_order(cluster.score(rows, model, ray_options=ONE_WORKER), "score") == [pair.score for pair in pairs]
    files = ["--source", texts / "a.en", "--target", texts / "a.fr"]
    command = [sys.executable, "-m", "rnnsearch", "align", "--model", model, *files]
    links = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert in_order(cluster.align(rows, model, ray_options=ONE_WORKER), "alignment") == links.splitlines()


def test_selection(rows: Any, texts: Path, tmp_path: Path) -> None:
    from rnnsearch import cluster

    wanted = {side: texts / f"in.{side}" for side in ("source", "target")}
    for side, number in (("source", 0), ("target", 1)):
        wanted[side].write_text("".join(pair[number] + "\n" for pair in toy_pairs(20, seed=6)), encoding="utf-8")
    both = tmp_path / "best.en", tmp_path / "best.fr"
    select([texts / "a.en"], [texts / "a.fr"], both, in_domain=wanted, pairs=40)  # type: ignore[arg-type]
    cluster.save(cluster.select(rows, wanted, pairs=40, ray_options=ONE_WORKER), str(tmp_path / "best"))  # type: ignore[arg-type]
    for side, path in zip(("source", "target"), both, strict=True):
        assert cluster.to_text(str(tmp_path / "best"), tmp_path / "found", side) == 40
        assert (tmp_path / "found").read_bytes() == path.read_bytes()


def test_a_program_that_is_killed_goes_on(rows: Any, nodes: Any, texts: Path, model: Path, tmp_path: Path) -> None:
    from rnnsearch import cluster

    out = tmp_path / "out"
    program = [sys.executable, "-c", PROGRAM, nodes.address, model, texts / "rows", out]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and len(finished(out)) < 2:
            time.sleep(0.02)
        process.kill()
    before = finished(out)
    assert len(before) >= 2, "it failed before there was anything to go on from"
    assert process.returncode != 0, "it had ended before it was killed"
    for _ in range(3):  # where Ray itself fails on a busy machine, the program may be run again and again
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr[-3000:]
    assert f" {ROWS} rows and" not in done.stderr
    written = [path.name for path in out.iterdir()]
    assert all(any(name.startswith(part) for name in written) for part in before)
    assert not Path(f"{out}.parts").exists()
    translate_file(texts / "a.en", tmp_path / "one", model, beam=3)
    assert cluster.to_text(str(out), tmp_path / "many", "translation") == ROWS
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()


def test_a_node_is_killed(rows: Any, nodes: Any, texts: Path, model: Path, tmp_path: Path) -> None:
    from rnnsearch import cluster

    out, (second,) = tmp_path / "out", nodes.worker_nodes

    def kill() -> None:
        while len(list(out.glob("*.parquet"))) < 2:
            time.sleep(0.02)
        nodes.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    cluster.save(cluster.translate(rows, model, beam=3, ray_options=OPTIONS), str(out))
    killer.join()
    translate_file(texts / "a.en", tmp_path / "one", model, beam=3)
    assert cluster.to_text(str(out), tmp_path / "many", "translation") == ROWS
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()


def fails_once(folder: Path) -> Callable[[Any], Any]:
    """A stage that says that it began, and fails once `lost` is there, as work does that Ray does not start again."""

    def stage(rows: Any) -> Any:
        from ray.exceptions import ActorDiedError

        if not (folder / "failed").exists():
            (folder / "began").touch()
            while not (folder / "lost").exists():
                time.sleep(0.02)
            (folder / "failed").touch()
            raise ActorDiedError
        return rows

    return stage


def test_work_that_is_lost_with_a_node(rows: Any, nodes: Any, texts: Path, tmp_path: Path) -> None:
    from rnnsearch import cluster

    another = nodes.add_node(**NODE)

    def kill() -> None:
        while not (tmp_path / "began").exists():
            time.sleep(0.02)
        nodes.remove_node(another, allow_graceful=False)
        while any(node["Alive"] and node["NodeID"] == another.node_id for node in ray.nodes()):
            time.sleep(0.02)
        (tmp_path / "lost").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.warns(RnnsearchWarning, match="a node was lost"):
        cluster.save(rows.map_batches(fails_once(tmp_path), batch_size=20), str(tmp_path / "out"))
    killer.join()
    assert cluster.to_text(str(tmp_path / "out"), tmp_path / "many", "source") == ROWS
    assert (tmp_path / "many").read_bytes() == (texts / "a.en").read_bytes()


def test_a_failure_without_a_lost_node_is_told(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rnnsearch import cluster

    def fails(_: Any, folder: str) -> None:
        raise ray.exceptions.ActorDiedError

    monkeypatch.setattr(type(rows), "write_parquet", fails)
    with pytest.raises(ray.exceptions.ActorDiedError):
        cluster.save(rows, str(tmp_path / "out"))


def test_rows_without_what_is_needed(rows: Any, model: Path) -> None:
    from rnnsearch import cluster

    with pytest.raises(RnnsearchError, match="the rows have no column line, target"):
        cluster.score(rows.select_columns(["source"]), model)


def test_too_few_processors_are_told(rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rnnsearch import cluster

    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    with pytest.raises(RnnsearchError, match="2 CPUs"):
        cluster.save(rows, str(tmp_path / "out"))
