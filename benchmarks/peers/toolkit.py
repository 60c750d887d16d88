"""The interface to the toolkits that ours is compared with: how each is installed, trained and searched.

The peers' models are not the same function as ours: they project the hidden state straight to the vocabulary where ours has
a maxout layer, and the bidirectional encoders of OpenNMT-py and eole divide the hidden size between their directions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.lib.command import environment
from benchmarks.lib.speed_text import BATCH, Size
from rnnsearch.atomic import write_json

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Task:
    """What is to be trained."""

    text: Path
    """A folder that `speed_text.write_training_text` wrote."""
    size_name: str
    size: Size
    updates: int
    pairs: int
    """In the text: all of them are one pool, sorted by length and cut into minibatches, where a contestant does that."""
    batch: int = BATCH
    """Pairs in a minibatch."""


@dataclass(frozen=True)
class Step:
    """An update as its progress line tells it."""

    words: float
    """Target words, end symbols counted, padding not."""
    seconds: float
    """From the line of the update before it to its own."""


@dataclass(frozen=True)
class Toolkit:
    """A toolkit, and what it takes to train and translate with it."""

    name: str
    package: str
    version: str
    resolved: bool
    """Whether it allows our PyTorch, so that its dependencies can be had as it states them."""
    needs: tuple[str, ...]
    """What it needs beyond that."""
    modes: dict[str, str]
    """By the words after its name, such as `bf16`, the type that it computes in."""
    settings: Path
    """The file of its settings, as JSON; `$text`, `$output` and the like stand for what a task has."""
    chosen: Callable[[str], dict[str, object]]
    """What stands there for a mode."""
    command: Callable[[Path, Path], Sequence[object]]
    """The command line that trains by a file of settings, from its Python and the file."""
    words: Callable[[str, float], float | None]
    """The target words of the update that a line of its output tells of, if any; given the seconds since the last line."""
    trained: str
    """The file in its output that its search is started with, after two updates."""

    def python(self, peers: Path) -> Path:
        """The Python that has it, in the folder that `install.py` wrote."""
        return peers / self.name / "bin" / "python"

    def available(self, peers: Path) -> bool:
        """Whether it is installed."""
        return os.access(self.python(peers), os.X_OK)

    def train(self, task: Task, output: Path, peers: Path, threads: int, mode: str = "") -> list[Step]:
        """Train with its own command, and time its updates by the lines it writes after each."""
        file, size = output / "settings.yaml", vars(task.size)
        named = {**vars(task), **size, **self.chosen(mode), "output": output, "version": self.version}
        write_json(file, settings_of(self.settings, **named))  # JSON is YAML
        return timed(self.command(self.python(peers), file), self.words, threads)

    def search(self, output: Path, peers: Path) -> list[object]:
        """The command that serves translations by a model that it has trained."""
        return [self.python(peers), FOLDER / "search_server.py", self.name.replace("-", "_"), output / self.trained]


def words_by_count(line: str, seconds: float) -> float | None:
    """OpenNMT-py and eole tell the words of the minibatch: source/target/sentences."""
    found = re.search(r"Step +\d+/ *\d+; .*bsz: +\d+/ *(\d+)/", line)
    return int(found[1]) if found else None


def timed(command: Sequence[object], words: Callable[[str, float], float | None], threads: int) -> list[Step]:
    """Run a command; `words` gives the target words of an update if a line tells of one."""
    steps, lines, before = [], [], time.perf_counter()
    with subprocess.Popen(
        [str(part) for part in command],
        env=environment(threads),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            now = time.perf_counter()
            found = words(line, now - before)
            if found is not None:
                steps.append(Step(found, now - before))
                before = now
    if process.returncode:
        raise RuntimeError("".join([f"{' '.join(map(str, command))} failed:\n", *lines[-30:]]))
    return steps


def settings_of(file: Path, **values: object) -> dict[str, Any]:
    """The settings in a file of JSON, with these values in place of its `$names`."""
    written = {
        name: json.dumps(value) if isinstance(value, int) else json.dumps(str(value))[1:-1] for name, value in values.items()
    }
    settings: dict[str, Any] = json.loads(Template(file.read_text(encoding="utf-8")).substitute(written))
    return settings
