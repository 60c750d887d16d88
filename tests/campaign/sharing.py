"""Several processes that share a folder, two writers or readers beside a writer, and long streams."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from campaign.kills import difference
from campaign.trial import SMALL, Part, partial, run, settings, start, world
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_folder import load_system
from toy import write_pairs

TEXT = ("--source", "train.en", "--target", "train.fr", "--hold-out", "12")
MAY_GROW = 64
"""The growth of memory, in MB, that is allowed after the first tenth of a stream."""


def readers(seed: int, numbers: Sequence[int]) -> Part:
    """Load a model again and again while a training saves it after every update."""
    part = Part()
    more = {"training.max_updates": 1_000_000, "training.validate_every": 1, "training.checkpoint_every": 1,
            "training.validate_sentences": 1, "training.patience": 0, "training.optimizer": "adam",
            "training.learning_rate": 0.01, "training.validate_on": "nll", "training.seed": seed}  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        folder = Path(shutil.copytree(world(), Path(place) / "here"))
        process = start(["train", *TEXT, "--output", "out", *settings(SMALL | more)], folder, endless=True)
        seen, number = set[bytes](), 0
        try:
            while not (folder / "out" / "model.safetensors").exists():
                assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
            for number in numbers:
                failure = None
                try:
                    system = load_system(folder / "out")
                    seen.add(next(system.model.parameters()).detach().numpy().tobytes())
                except RnnsearchError as error:
                    failure = str(error)
                part.attempt(f"load {number}", failure)
                if process.poll() is not None:
                    break
        finally:
            process.terminate()
            process.communicate()
    part.notes["different models read"] = len(seen)
    return part


def writers(seed: int, numbers: Sequence[int]) -> Part:
    """Start two trainings into one folder at once: one must be refused, and the other must be undisturbed."""
    part = Part()
    words = ["train", *TEXT, "--output", "out", *settings(SMALL | {"training.max_updates": 60})]
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        undisturbed = Path(shutil.copytree(world(), Path(place) / "undisturbed"))
        done = run(words, undisturbed)
        assert done.status == 0, done.err.decode()
        for number in numbers:
            folder = Path(shutil.copytree(world(), Path(place) / "here"))
            both = [start([*words, "--resume"], folder) for _ in range(2)]
            ends = [(process.communicate(), process.returncode) for process in both]
            errors = b" ".join(end[0][1] for end in ends)
            failure = None
            if sorted(status for _, status in ends) not in ([0, 2], [0, 0]) or b"Traceback" in errors:
                failure = errors.decode()[-500:]
            part.attempt(f"{number}", failure or difference(undisturbed / "out", folder / "out") or partial(folder))
            shutil.rmtree(folder)
    return part


def stream(seed: int, numbers: Sequence[int]) -> Part:
    """Translate as many lines as there are numbers by one `translate`, whose memory must not grow."""
    part, lines = Part(), len(numbers)
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        folder = Path(shutil.copytree(world(), Path(place) / "here"))
        write_pairs(folder, "many", lines, seed + 20)
        process = start(["translate", "--model", "mlp", "many.en"], folder, endless=True)
        assert process.stdout is not None
        memory: dict[int, int] = {}
        count = 0
        for count, _ in enumerate(process.stdout, 1):
            if count in (lines // 10, lines - lines // 100):
                memory[count] = _megabytes(process.pid)
        done = process.communicate()
        grown = max(memory.values()) - min(memory.values())
        failure = f"{count} lines" if count != lines else None
        failure = failure or (f"memory grows by {grown} MB" if grown > MAY_GROW else None)
        part.attempt(f"{lines} lines", failure or (done[1].decode() if process.returncode else None))
        part.notes.update({f"MB after {at} lines": megabytes for at, megabytes in memory.items()})
    return part


def _megabytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024
