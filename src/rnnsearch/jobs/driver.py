"""The driver of a job: it warms up, keeps what is done, starts processes, writes the output and shows the progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from rnnsearch.jobs.kept import Kept, Plain
from rnnsearch.jobs.output import written
from rnnsearch.jobs.shards import Row, Shard, Stage, Workers, numbered

Record = TypeVar("Record")
Result = TypeVar("Result")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Done(Generic[Record]):
    """What a stage made of a row."""

    written: str | None
    """What is written, without the last line feed; None for nothing."""
    note: Plain = None
    """What the caller is to know of every row."""
    record: Record | None = None
    """All that is known, for the rows whose records are needed; see `Shard.whole`."""


class RowStage(Stage[Row, list[Done[Record]]]):
    """A stage that makes something of each row."""

    def record_to_plain(self, record: Record) -> Plain:
        """A record as values of JSON, see `Stage.to_plain`."""
        return record

    def record_from_plain(self, plain: Plain) -> Record:
        """See `Stage.to_plain`."""
        record: Record = plain
        return record

    def to_plain(self, result: list[Done[Record]]) -> Plain:
        """See `Stage`."""
        return [(one.written, one.note, None if one.record is None else self.record_to_plain(one.record)) for one in result]

    def from_plain(self, plain: Plain) -> list[Done[Record]]:
        """See `Stage`."""
        return [
            Done(written, note, None if record is None else self.record_from_plain(record))
            for written, note, record in plain
        ]


class Job(Generic[Row, Result]):
    """A stage in its processes, and the output; `job` makes it."""

    def __init__(
        self, processes: Workers[Row, Result], kept: Kept | None, out: TextIO, advance: Advance, flushes: bool
    ) -> None:
        self.out = out
        """Where the rows are written."""
        self.kept = kept
        self._processes, self._advance, self._flushes = processes, advance, flushes

    def results(
        self, groups: Iterable[list[Row]], whole: int = 0, settings: Mapping[str, Any] | None = None
    ) -> Iterator[Result]:
        """What the stage makes of each group of rows, in order; see `Shard` for `whole` and `settings`."""

        def shards() -> Iterator[Shard[Row]]:
            for shard in numbered(groups, whole, settings):
                sizes.append(len(shard.rows))
                yield shard

        sizes: list[int] = []
        for number, result in enumerate(self._processes.results(shards(), self.kept)):
            yield result
            self._advance(sizes[number])

    def rows(
        self: Job[Row, list[Done[Record]]],
        groups: Iterable[list[Row]],
        whole: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> Iterator[Done[Record]]:
        """What the stage makes of each row, after it was written."""
        for result in self.results(groups, whole, settings):
            self.out.writelines(one.written + "\n" for one in result if one.written is not None)
            if self._flushes:
                self.out.flush()
            yield from result


@contextmanager
def job(
    stage: Stage[Row, Result],
    output: Path | None = None,
    jobs: int = 1,
    progress: AbstractContextManager[Advance] | None = None,
) -> Iterator[Job[Row, Result]]:
    """A job that ends with the `with` statement.

    Without an error, the `output` then gets its name, whole or not at all; until then, what is finished is kept beside it,
    and the same job goes on from there after it was killed. Without an output, rows go to standard output. The stage is
    called in so many processes. `progress` is entered when these have started, and told how many more rows are done.
    """
    with ExitStack() as stack:
        stage.warm_up(jobs)
        kept = None if output is None else stack.enter_context(Kept(output, stage.identity()))
        processes = stack.enter_context(Workers(stage, jobs))
        out = stack.enter_context(written(output))
        advance = (lambda count: None) if progress is None else stack.enter_context(progress)
        yield Job(processes, kept, out, advance, flushes=output is None)
