"""A program that keeps its model loaded and translates what `search_server.py` hands it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lib.command import environment
from benchmarks.lib.processes import peak_megabytes


@dataclass(frozen=True)
class Job:
    """Groups of sentences, each to be translated in so many steps."""

    groups: list[list[str]]
    steps: list[int]

    @classmethod
    def of(cls, groups: list[list[str]]) -> Job:
        """A step a source word, and one for the end symbol."""
        return cls(groups, [len(group[0].split()) + 1 for group in groups])

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return sum(map(len, self.groups))

    @property
    def words(self) -> int:
        """How many words everyone writes."""
        return sum(len(group) * steps for group, steps in zip(self.groups, self.steps, strict=True))


class SearchProgram:
    """A program that has its model loaded and waits for sentences."""

    def __init__(self, command: Sequence[object], log: Path, threads: int) -> None:
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            env=environment(threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._answer()  # that the model is loaded

    def translate(self, job: Job, beam: int) -> float:
        """The seconds it takes."""
        assert self._process.stdin is not None
        print(json.dumps({"groups": job.groups, "steps": job.steps, "beam": beam}), file=self._process.stdin, flush=True)
        answer = self._answer()
        if answer["words"] != job.words:
            raise RuntimeError(f"{self._log.name}: it wrote {answer['words']} words, not {job.words}")
        return float(answer["seconds"])

    def peak_megabytes(self) -> int:
        """The largest resident memory that it has had."""
        return peak_megabytes(self._process.pid)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"it has died; {self._log.name} may say why")
        answer: dict[str, Any] = json.loads(line)
        return answer
