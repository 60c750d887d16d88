"""What all parts of the campaign share: programs with limits, what counts as a failure, and a world to attack."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import forked
from kept import kept
from toy import ORDERS, make_trained, write_pairs

CPU_SECONDS = 40
"""What a command may take; none of those here has work for more than a few seconds."""
LIMIT = 6.0 * CPU_SECONDS
"""Seconds that it may take in all, on a machine that has other work."""
MEMORY = 8 << 30
"""Bytes of address space of a command: what asks for more gets none, and the machine stays usable."""
PRELUDE = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}))
"""
MAIN = "from rnnsearch.cli import main\nmain()\n"
SMALL = {
    "data.tokenizer": "whitespace",
    "data.source_language": "en",
    "data.target_language": "fr",
    "model.embedding_size": 8,
    "model.hidden_size": 8,
    "model.alignment_size": 8,
    "model.maxout_size": 8,
    "training.batch_size": 16,
    "training.pool_batches": 5,
    "training.max_updates": 6,
    "training.validate_every": 3,
    "training.validate_sentences": 4,
    "training.checkpoint_every": 2,
    "training.weight_average": 0.9,
    "training.dropout": 0.1,
    "training.shuffle": "epoch",
}
"""Settings of a training that takes a second."""


@dataclass
class Part:
    """What was attempted, and what failed."""

    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)
    """Figures that say what was done."""

    def attempt(self, name: str, failure: str | None) -> None:
        """Count one attempt; a failure is told at once."""
        self.attempts += 1
        if self.attempts % 10 == 0:
            print(f"  {self.attempts} attempts", file=sys.stderr, flush=True)
        if failure:
            self.failures.append(f"{name}: {failure}")
            print(f"  FAILED {self.failures[-1]}"[:1500].encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


@dataclass(frozen=True)
class Ended:
    """How a command ended; the status is None where it was still running at the limit."""

    status: int | None
    out: bytes
    err: bytes


def settings(values: Mapping[str, object]) -> list[str]:
    """As arguments of a command."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def start(arguments: Sequence[object], folder: Path, code: str = MAIN, endless: bool = False) -> subprocess.Popen[bytes]:
    """A command that runs in `folder`; `code` is run after its limits are set. An `endless` one has none."""
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return forked.Popen(
        [sys.executable, "-c", ("" if endless else PRELUDE) + code, *map(os.fspath, map(_text, arguments))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
    )


def run(arguments: Sequence[object], folder: Path, code: str = MAIN, limit: float = LIMIT) -> Ended:
    """Run a command to its end or to the limit."""
    with start(arguments, folder, code) as process:
        try:
            out, err = process.communicate(timeout=limit)
            return Ended(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Ended(None, out, err)


def complaint(ended: Ended, allowed: Sequence[int] = (0, 2)) -> str | None:
    """What is wrong with the end of a command: it must be done, or have refused with a clear sentence."""
    err = ended.err.decode("utf-8", "backslashreplace")
    last = " / ".join(err.strip().splitlines()[-4:])[-600:]
    if ended.status in (None, -signal.SIGXCPU, -signal.SIGKILL):
        return f"hangs; {last}"
    if "Traceback" in err or "Error ignored" in err or "Exception ignored" in err:
        return f"traceback; {last}"
    if ended.status not in allowed:
        return f"status {ended.status}; {last}"
    if ended.status == 2 and not any(line.startswith(("rnnsearch: ", "Usage: ")) for line in err.splitlines()):
        return f"refuses without a reason; {last}"
    return None


def partial(folder: Path) -> str | None:
    """Files under names that only writers use while they write."""
    with_names = (*folder.rglob(".*.partial"), *folder.rglob(".preparing-*"), *folder.rglob("*.unfinished"))
    return f"left {', '.join(str(path.relative_to(folder)) for path in with_names)}" if with_names else None


def names(folder: Path) -> set[bytes]:
    """All files in a folder, but for those that mark a lock."""
    found = {os.fsencode(Path(place) / name) for place, _, files in os.walk(folder) for name in files}
    return {name for name in found if not name.endswith(b"/lock")}


def same_files(one: Path, other: Path, leave_out: Sequence[str] = ()) -> str | None:
    """The first difference between two folders: a missing file, or other bytes."""
    left, right = (
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} for folder in (one, other)
    )
    differing = [name for name in sorted(left | right) if not any(part in name for part in leave_out)]
    for name in differing:
        if (one / name).exists() != (other / name).exists():
            return f"{name} is only in one of the two"
        if (one / name).read_bytes() != (other / name).read_bytes():
            return f"{name} differs"
    return None


def make_world(folder: Path) -> None:
    """Texts, models of three kinds and prepared text; everything a command may be given."""
    write_pairs(folder, "train", 200, 1)
    write_pairs(folder, "valid", 12, 2)
    write_pairs(folder, "test", 5, 3)
    (folder / "test.gold").write_text("0-0 1-1\n" * 5)
    (folder / "terms.tsv").write_text("house\tdemeure\nbig dog\tgros chien\n", encoding="utf-8")
    (folder / "examples.tsv").write_text("source\tother\nthe big dog sees a red cat .\tle chien\n", encoding="utf-8")
    (folder / "n-best").write_text("".join(f"{i} ||| le chien . ||| F0= -1 ||| -1.5\n" for i in range(5)), encoding="utf-8")
    (folder / "page.html").write_text("<p>the <b>big</b> dog sees a cat .</p>\n", encoding="utf-8")
    (folder / "train.links").write_text("0-0\n" * 200)
    for alignment in ("mlp", "none"):
        shutil.copytree(kept(make_trained, "gated", alignment, ORDERS[0]), folder / alignment)
    text = ["--source", "train.en", "--target", "train.fr"]
    trained = ["train", *text, "--hold-out", "10", "--output", "bpe"]
    wanted = SMALL | {"data.subwords": "bpe", "data.subword_pieces": 60, "data.tokenizer": "moses"}
    wanted["search.maximum_length_ratio"] = 1.0  # it has not learned to end
    for command in (
        [*trained, *settings(wanted)],
        ["prepare", *text, "--hold-out", "10", "--output", "prepared", *settings({"data.tokenizer": "whitespace"})],
        ["lexicon", "--model", "mlp", *text],
    ):
        ended = run(command, folder)
        assert ended.status == 0, ended.err.decode()


def world() -> Path:
    """The folder that `make_world` has filled; it is not to be written to."""
    return kept(make_world)


@contextlib.contextmanager
def writing(fifo: Path, text: Path) -> Iterator[None]:
    """A process that writes a text into a named pipe whenever somebody reads it."""
    text.with_suffix(".again").write_text(f"while :; do cat {shlex.quote(str(text))} > {shlex.quote(str(fifo))}; done")
    with subprocess.Popen(["sh", text.with_suffix(".again")], start_new_session=True) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def chance(random: Random, probability: float) -> bool:
    """Whether something of this probability happens."""
    return random.random() < probability


def _text(argument: object) -> str:
    return os.fsdecode(argument) if isinstance(argument, bytes | os.PathLike) else str(argument)
