"""A disk that is full, and file systems that lie: from the n-th on, calls of the C library fail (`faults.c`).

These calls fail for all code that uses the C library, such as Python, Arrow and safetensors: `write`, `writev`, `pwrite` and
`ftruncate` of files, the creation of files and folders, `rename`, `fsync` and `flock`. Not covered are writes through mapped
memory, system calls that bypass the library, which nothing here uses, and the processes that a command starts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from campaign.kills import LEFT_OUT, difference
from campaign.trial import SMALL, Part, complaint, partial, run, same_files, settings, world

FAULTS = ("none", "write", "create", "rename fails", "rename lies", "lock fails", "lock lies", "sync")
"""The kinds of faults, by their numbers in `faults.c`."""
CODE = """
import ctypes, os
library = ctypes.CDLL(None)
library.campaign_fail({kind}, ctypes.c_long({first}))
from rnnsearch.cli import main
try:
    main()
finally:
    calls = library.campaign_calls()
    library.campaign_fail(0, ctypes.c_long(-1))
    os.write(2, f"CALLS {{calls}}\\n".encode())
"""
PAIRS = ("--source", "train.en", "--target", "train.fr")
TEST = ("--source", "test.en", "--model", "mlp")
JOBS: dict[str, list[str]] = {
    "train": ["train", *PAIRS, "--hold-out", "12", "--output", "out", *settings(SMALL)],
    "prepare": ["prepare", *PAIRS, "--hold-out", "12", "--links", "train.links", "--output", "out",
                *settings({"data.tokenizer": "whitespace", "data.subwords": "bpe", "data.subword_pieces": 60})],
    "select": ["select", *PAIRS, "--in-domain-source", "test.en", "--in-domain-target", "test.fr", "--pairs", "9",
               "--output-source", "out/a.en", "--output-target", "out/a.fr", "--scores", "out/scores"],
    "translate": ["translate", "--model", "mlp", "test.en", "--output", "out/test.fr", "--page", "out/page.html"],
    "evaluate": ["evaluate", *TEST, "--reference", "test.fr", "--output", "out/test.fr", "--json", "out/times.json"],
    "align": ["align", *TEST, "--plot", "out", "--plots", "1", "--page", "out/page.html"],
    "export": ["export", "--model", "mlp", "--output", "out"],
    "average": ["average", "--model", "mlp", "--model", "mlp", "--output", "out"],
}  # fmt: skip


@contextmanager
def library() -> Iterator[None]:
    """Preload `faults.c` into all programs that are started in this context; its faults have to be switched on."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        made = Path(place) / "faults.so"
        source = Path(__file__).with_name("faults.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
        os.environ["LD_PRELOAD"] = str(made)
        yield


def attack(seed: int, numbers: Sequence[int], faults: Sequence[str], first_only: bool) -> Part:
    """Run the jobs with faults of these kinds from some call on; the calls are drawn at random, as many as `numbers`.

    If there are no more calls than that, each of them is attempted. With `first_only`, only the first call of a kind is.
    """
    part, call_counts = Part(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        whole: dict[str, Path] = {}
        calls: list[tuple[str, str, int]] = []
        for name, words in JOBS.items():
            for fault in faults:
                folder = Path(shutil.copytree(world(), Path(place) / f"{name} {fault}"))
                done = run(words, folder, CODE.format(kind=FAULTS.index(fault), first=-1))
                assert done.status == 0, done.err.decode()
                whole[name] = folder / "out"
                count = int(done.err.rsplit(b"CALLS ", 1)[1])
                call_counts[f"{name}, {fault}: calls"] = count
                calls += [(name, fault, first) for first in range(1, 2 if first_only and count else count + 1)]
        if len(numbers) < len(calls):
            calls = Random(seed).sample(calls, len(numbers))
        for name, fault, first in calls:
            folder = Path(shutil.copytree(world(), Path(place) / "here"))
            part.attempt(f"{name}, {fault} {first}", _one(folder, name, fault, first, whole[name]))
            shutil.rmtree(folder)
    part.notes.update(call_counts)
    return part


def _one(folder: Path, name: str, fault: str, first: int, whole: Path) -> str | None:
    """Run a job with faults, and then again without; return what is wrong with either result."""
    words, out = JOBS[name], folder / "out"
    done = run(words, folder, CODE.format(kind=FAULTS.index(fault), first=first))
    failure = complaint(done) or partial(folder)
    if failure is None and done.status and done.err.count(b"rnnsearch: ") != 1:
        failure = f"not one line: {done.err.decode()[-300:]}"
    if failure is None and done.status == 0 and fault not in ("lock fails", "lock lies") and difference(whole, out):
        failure = f"says that all is well, but {difference(whole, out)}"
    if failure is None and done.status and name != "train" and out.exists():
        # Every file of a failed run must be complete, except finished shards, which the next run goes on from.
        ideal = Path(shutil.copytree(whole, folder / "whole"))
        for path in [path for path in ideal.rglob("*") if path.is_file() and not (out / path.relative_to(ideal)).exists()]:
            path.unlink()
        failure = same_files(ideal, out, (*LEFT_OUT, ".parts/"))
    again = run([*words, *(["--resume"] if name == "train" else [])], folder) if done.status else None
    if again is not None and failure is None:
        # If only the flush of the folder failed, the model has been written and is complete.
        there = b"there is a model in it already" in again.err
        failure = (None if there else complaint(again, allowed=[0])) or difference(whole, out)
    return failure


def full(seed: int, numbers: Sequence[int]) -> Part:
    """Run the jobs on a disk without room for further bytes, or for further files."""
    return attack(seed, numbers, ("write", "create"), first_only=False)


def lies(seed: int, numbers: Sequence[int]) -> Part:
    """Run the jobs on file systems that fail to rename, lock or flush files, or only report that they did."""
    files = attack(seed, numbers, ("rename fails", "rename lies", "sync"), first_only=False)
    locks = attack(seed, numbers, ("lock fails", "lock lies"), first_only=True)
    return Part(files.attempts + locks.attempts, files.failures + locks.failures, files.notes | locks.notes)
