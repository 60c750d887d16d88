"""The common code of all parts of the campaign: programs with limits, what counts as a failure, and the files to attack."""

from __future__ import annotations

import contextlib
import os
import re
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
"""The limit of CPU time of a command; none needs more than a few seconds."""
LIMIT = 6.0 * CPU_SECONDS
"""The limit of elapsed time of a command in seconds, on a machine that has other work."""
MEMORY = 8 << 30
"""The limit of a command's address space in bytes, which keeps the machine usable."""
ESCAPES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")
"""What moves the cursor and styles text: FORCE_COLOR asks for it, for the lines of a progress bar too."""
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
"""The settings of a training that takes a second."""


@dataclass
class Part:
    """The result of a part of the campaign: the number of attempts, and the failures."""

    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)
    """Further figures, such as how often each outcome occurred."""

    def attempt(self, name: str, failure: str | None) -> None:
        """Count an attempt; a failure is printed at once."""
        self.attempts += 1
        if self.attempts % 10 == 0:
            print(f"  {self.attempts} attempts", file=sys.stderr, flush=True)
        if failure:
            self.failures.append(f"{name}: {failure}")
            print(f"  FAILED {self.failures[-1]}"[:1500].encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


@dataclass(frozen=True)
class Ended:
    """The end of a command: its status, None if it was still running at the time limit, and its output."""

    status: int | None
    out: bytes
    err: bytes


def settings(values: Mapping[str, object]) -> list[str]:
    """Return settings as arguments of a command."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def start(arguments: Sequence[object], folder: Path, code: str = MAIN, endless: bool = False) -> subprocess.Popen[bytes]:
    """Start a command in `folder`: limits are set, unless it is `endless`, and then `code` is run."""
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
    """Run a command to its end or to the time limit."""
    with start(arguments, folder, code) as process:
        try:
            out, err = process.communicate(timeout=limit)
            return Ended(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Ended(None, out, err)


def complaint(ended: Ended, allowed: Sequence[int] = (0, 2)) -> str | None:
    """Return what is wrong with the end of a command: it must have succeeded, or refused with a clear sentence."""
    err = ESCAPES.sub("", ended.err.decode("utf-8", "backslashreplace"))
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
    """Return a complaint about temporary files that a writer has left behind, or None."""
    with_names = (*folder.rglob(".*.partial"), *folder.rglob(".preparing-*"), *folder.rglob("*.unfinished"))
    return f"left {', '.join(str(path.relative_to(folder)) for path in with_names)}" if with_names else None


def names(folder: Path) -> set[bytes]:
    """Return the names of all files in a folder, except lock files."""
    paths = {os.fsencode(Path(place) / name) for place, _, files in os.walk(folder) for name in files}
    return {name for name in paths if not name.endswith(b"/lock")}


def same_files(one: Path, other: Path, leave_out: Sequence[str] = ()) -> str | None:
    """Return the first difference between two folders, a missing file or different bytes, or None."""
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
    """Fill a folder with everything that commands read: texts, models of three kinds, and prepared text."""
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
    with_subwords = SMALL | {"data.subwords": "bpe", "data.subword_pieces": 60, "data.tokenizer": "moses"}
    with_subwords["search.maximum_length_ratio"] = 1.0  # the model has not learned to predict the end symbol
    for command in (
        [*trained, *settings(with_subwords)],
        ["prepare", *text, "--hold-out", "10", "--output", "prepared", *settings({"data.tokenizer": "whitespace"})],
        ["lexicon", "--model", "mlp", *text],
    ):
        ended = run(command, folder)
        assert ended.status == 0, ended.err.decode()


def world() -> Path:
    """Return the folder that `make_world` has filled. Nothing may be written into it."""
    return kept(make_world)


@contextlib.contextmanager
def writing(fifo: Path, text: Path) -> Iterator[None]:
    """Run a process that writes a text into a named pipe whenever somebody reads it."""
    text.with_suffix(".again").write_text(f"while :; do cat {shlex.quote(str(text))} > {shlex.quote(str(fifo))}; done")
    with subprocess.Popen(["sh", text.with_suffix(".again")], start_new_session=True) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def chance(random: Random, probability: float) -> bool:
    """Draw whether an event of this probability happens."""
    return random.random() < probability


def _text(argument: object) -> str:
    return os.fsdecode(argument) if isinstance(argument, bytes | os.PathLike) else str(argument)
