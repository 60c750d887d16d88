"""Commands that are killed (kill -9) at random moments and run again: the output must be that of an undisturbed run."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from safetensors.numpy import load_file

from campaign.trial import MAIN, SMALL, Part, complaint, partial, run, same_files, settings, start, world
from serving import serving
from toy import timeless, toy_pairs, write_pairs

LEFT_OUT = ("times.json", "tensorboard", "training.json", "README.md", "checkpoints", "lock")
"""Files that contain times or the state of a run; `difference` compares their relevant contents separately."""
SERVED = """
from rnnsearch.datasets import DATASETS, Archive, Dataset, ParallelText, Text
sides = [Text(Archive("{url}/train.%s.gz" % language)) for language in ("en", "fr")]
DATASETS["multi30k"] = Dataset("multi30k", "Captions", "none", ("en", "fr"), (ParallelText("train", *sides),))
"""


@dataclass(frozen=True)
class Job:
    """A command that writes `out`, and the options that are added when it is run again."""

    words: list[str]
    again: tuple[str, ...] = ()
    code: str = MAIN
    family: bool = False
    """Whether the command starts processes of its own, any of which may be killed."""


def jobs(folder: Path, url: str) -> dict[str, Job]:
    """Write texts for which the commands need a second or two, and return the commands."""
    write_pairs(folder, "large", 6000, 5)
    write_pairs(folder, "some", 300, 6)
    both = ["--source", "large.en", "--target", "large.fr"]
    longer_training = SMALL | {"training.max_updates": 60, "training.validate_every": 15, "training.checkpoint_every": 5}
    training = ["train", "--source", "train.en", "--target", "train.fr", "--hold-out", "12", "--output", "out"]
    two = [*training, *settings(longer_training | {"training.shards": 2}), "--processes", "2"]
    return {
        "train": Job([*training, *settings(longer_training)], ("--resume",)),
        "train, two processes": Job(two, ("--resume",), family=True),
        "prepare": Job(["prepare", *both, "--hold-out", "50", "--output", "out"]),
        "select": Job(["select", *both, "--in-domain-source", "train.en", "--in-domain-target", "train.fr", "--pairs", "900",
                       "--output-source", "out/a.en", "--output-target", "out/a.fr", "--scores", "out/scores"]),
        "translate": Job(["translate", "--model", "mlp", "some.en", "--output", "out/some.fr", "--page", "out/page.html"]),
        "download": Job(["download", "multi30k", "--output", "out"], (), SERVED.format(url=url) + MAIN),
    }  # fmt: skip


def difference(one: Path, other: Path) -> str | None:
    """Return the first difference between two outputs, apart from times."""
    differing = same_files(one, other, LEFT_OUT)
    if differing or not (one / "checkpoints").exists():
        return differing
    left, right = (load_file(folder / "checkpoints" / "last.safetensors") for folder in (one, other))
    if left.keys() != right.keys() or any(left[name].tobytes() != right[name].tobytes() for name in left):
        return "the checkpoints differ"
    rows = [timeless(json.loads((folder / "training.json").read_text())["validations"]) for folder in (one, other)]
    return None if rows[0] == rows[1] else "the validations differ"


def family(process: int) -> list[int]:
    """Return a process and the processes that it has started."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        children = []
    return [process, *map(int, children)]


def kills(seed: int, numbers: Sequence[int]) -> Part:
    """Kill the commands in turn, one for each number, at random moments, and run them again."""
    part, ended = Part(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="campaign-") as place, ExitStack() as stack:
        base = Path(place) / "base"
        shutil.copytree(world(), base)
        server = stack.enter_context(serving())
        for side, language in enumerate(("en", "fr")):
            text = "".join(pair[side] + "\n" for pair in toy_pairs(4000, 8)).encode()
            server.files[f"train.{language}.gz"] = gzip.compress(text, 1)
        commands = jobs(base, server.url)
        whole: dict[str, tuple[Path, float]] = {}
        for number in numbers:
            name = [*commands][number % len(commands)]
            job = commands[name]
            if name not in whole:
                began = time.monotonic()
                folder = Path(shutil.copytree(base, Path(place) / name))
                done = run(job.words, folder, job.code)
                assert done.status == 0, done.err.decode()
                whole[name] = folder / "out", time.monotonic() - began
            undisturbed, seconds = whole[name]
            folder = Path(shutil.copytree(base, Path(place) / "killed"))
            process = start(job.words, folder, job.code)
            time.sleep(Random(f"{seed} {number}").uniform(0.0, 1.1 * seconds))
            victim = Random(f"victim {seed} {number}").choice(family(process.pid)) if job.family else process.pid
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            process.communicate()  # wait for all writers of its output: processes without their launcher stop by themselves
            killed = process.returncode == -9
            how = "killed" if killed else "had ended" if victim == process.pid else "lost a process"
            ended[f"{name}, {how}"] += 1
            failure = None
            if killed and name in ("select", "translate"):
                written = [path for path in (folder / "out").glob("*") if path.is_file() and path.name[0] != "."]
                if any(path.read_bytes() != (undisturbed / path.name).read_bytes() for path in written):
                    failure = "a part of a file has its name"
            if killed or not job.again:
                again = run([*job.words, *job.again], folder, job.code)
                failure = failure or complaint(again, allowed=[0])
            part.attempt(f"{number}: {name}", failure or difference(undisturbed, folder / "out") or partial(folder))
            shutil.rmtree(folder)
    part.notes.update(sorted(ended.items()))
    return part
