"""The records of benchmarks: results, with the machine and the versions that they were obtained with.

If the environment variable `BENCHMARK_TINY` names a folder, the benchmarks run at a size that takes seconds, do not wait for
a quiet machine, and write their records there.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic, TypeVar

import rnnsearch
from benchmarks.lib.processes import busy_seconds, descendants, processor_seconds
from rnnsearch.atomic import write_json

BENCHMARKS = Path(__file__).parents[1]
ROOT = BENCHMARKS.parent
TINY = os.environ.get("BENCHMARK_TINY", "")
RESULTS = Path(TINY) if TINY else BENCHMARKS / "results"
IMAGES = Path(TINY) if TINY else ROOT / "docs" / "images"

INSTRUCTIONS = {"amx_tile": "AMX", "avx512_bf16": "AVX-512 and bf16", "avx512f": "AVX-512", "avx2": "AVX2"}
"""Flags of a processor and the instructions they stand for, the best first."""
BACKGROUND = float("inf") if TINY else 0.15
"""A run beside which other programs kept more cores busy than this is thrown away."""
ATTEMPTS = 4
"""So often is it tried to measure a run undisturbed; then the least disturbed one stands."""

K = TypeVar("K")
T = TypeVar("T")


def sized(full: T, tiny: T) -> T:
    """The first value, or the second one where the benchmarks run at a tiny size."""
    return tiny if TINY else full


def machine() -> dict[str, Any]:
    """The processor, its cores, the software, and how busy other programs keep the machine."""
    torch = sys.modules.get("torch")  # what does without it need not import it
    model, instructions = platform.processor() or platform.machine(), ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = (line.partition(":") for line in cpuinfo.read_text().splitlines())
        told = {key.strip(): value.strip() for key, _, value in lines}
        model = told.get("model name", model)
        flags = told.get("flags", "").split()
        instructions = next((name for flag, name in INSTRUCTIONS.items() if flag in flags), "")
    return {
        "cpu": model,
        "instructions": instructions,
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch and torch.cuda.is_available() else None,
        "background_cores": background_load(),
        "python": platform.python_version(),
        "torch": _installed("torch"),
        "onnxruntime": _installed("onnxruntime"),
        "rnnsearch": rnnsearch.__version__,
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def background_load(seconds: float = 2.0) -> float | None:
    """Cores that are busy while this program sleeps; None where the system does not tell."""
    before = busy_seconds()
    time.sleep(sized(seconds, 0.01))
    after = busy_seconds()
    return None if before is None or after is None else round((after - before) / sized(seconds, 0.01), 2)


@dataclass(frozen=True)
class Run(Generic[T]):
    """What a measurement found, and how undisturbed it was."""

    found: T
    background_before: float | None
    """Cores that were busy before it began."""
    background_during: float | None
    """Cores that other programs than this one and its children kept busy meanwhile."""
    thrown_away: int
    """Runs before it that were too much disturbed."""

    def load(self) -> dict[str, Any]:
        """All but what was found, for the record."""
        return {name: value for name, value in vars(self).items() if name != "found"}


def undisturbed(measure: Callable[[], T], limit: float = BACKGROUND) -> Run[T]:
    """Run `measure` until other programs leave it all but `limit` cores, `ATTEMPTS` times at most."""
    runs: list[Run[T]] = []
    for attempt in range(ATTEMPTS):
        before = background_load(1.0)
        busy, own, began = busy_seconds(), _own_seconds(), time.monotonic()
        found = measure()
        seconds = time.monotonic() - began
        during = None
        if busy is not None:
            foreign = (busy_seconds() or 0.0) - busy - (_own_seconds() - own)
            during = round(max(0.0, foreign) / seconds, 3)
        runs.append(Run(found, before, during, attempt))
        if max(before or 0.0, during or 0.0) <= limit:
            return runs[-1]
        print(f"  disturbed: {before} cores before, {during} during; measured again", file=sys.stderr)
    return min(runs, key=lambda run: run.background_during or 0.0)


class Rounds(dict[K, list[Run[T]]]):
    """What was measured of each of several things, once in every round."""

    def medians(self, figure: Callable[[T], float]) -> dict[K, float]:
        """The median of a figure of each."""
        return {name: statistics.median(figure(run.found) for run in runs) for name, runs in self.items()}

    def rows(self, figures: Callable[[T], Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """Some figures of each run, and how undisturbed it was, for the record."""
        return {str(name): [{**figures(run.found), **run.load()} for run in runs] for name, runs in self.items()}


def in_rounds(
    names: Iterable[K], measure: Callable[[K, int], T], rounds: int, limit: float, shown: Callable[[K, T], str]
) -> Rounds[K, T]:
    """Measure each of these undisturbed, once in every round; the order is turned around from round to round.

    `measure` is called with the name and the number of the round, from 0, and `shown` says what it found.
    """
    runs: Rounds[K, T] = Rounds({name: [] for name in names})
    for number in range(rounds):
        for name in list(runs)[:: -1 if number % 2 else 1]:
            runs[name].append(undisturbed(partial(measure, name, number), limit))
            print(f"round {number + 1}: {name}: {shown(name, runs[name][-1].found)}", flush=True)
    return runs


def seconds_alone(call: Callable[[], object]) -> float:
    """What something quick takes by itself: the median of some calls, the first left out."""
    call()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 0.01 and len(times) < 100):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _own_seconds() -> float:
    """Processor time of this program and of its children, those that still run and those that have ended."""
    ended = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in ended) + sum(map(processor_seconds, descendants(os.getpid())))


def read_json(path: Path) -> dict[str, Any]:
    """The contents of a JSON file."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def kept(path: Path, compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What a JSON file says; where there is none yet, it is computed and written."""
    if not path.exists():
        write_json(path, compute())
    return read_json(path)


def read(name: str) -> dict[str, Any]:
    """The record `results/NAME.json`; empty if there is none."""
    path = RESULTS / f"{name}.json"
    return read_json(path) if path.exists() else {}


def read_all(pattern: str) -> dict[str, dict[str, Any]]:
    """The records whose names match a pattern such as `quality/box-*`, by the part that its asterisks stand for."""
    first, last = pattern.index("*"), len(pattern) - pattern.rindex("*") - 1
    names = sorted(path.relative_to(RESULTS).as_posix().removesuffix(".json") for path in RESULTS.glob(f"{pattern}.json"))
    return {name[first : len(name) - last]: read(name) for name in names}


def write_result(name: str, **found: Any) -> None:
    """Write `results/NAME.json`, where NAME is that of the script with its folder, as in `quality/ablation`."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found)
    print(f"wrote {path}")


def write_speed(name: str, machine: Mapping[str, Any], **found: Any) -> None:
    """Write `results/FOLDER/CPU/NAME.json` for the name `FOLDER/NAME`: speeds are kept by processor and its instructions."""
    folder, _, script = name.partition("/")
    processor = re.sub(r"\W+", "-", f"{machine['cpu']} {machine['instructions']}".lower()).strip("-")
    write_result(f"{folder}/{processor}/{script}", machine=machine, **found)
