"""The driver of a job: it warms up, keeps what is done, starts processes, writes the output and shows the progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from rnnsearch.jobs.checkpoint import JobCheckpoint, Json
from rnnsearch.jobs.output import written
from rnnsearch.jobs.shards import Row, Shard, Stage, Workers, numbered

Record = TypeVar("Record")
Result = TypeVar("Result")
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Done(Generic[Record]):
    """The result of a stage for one row."""

    written: str | None
    """The text to write, without the last line feed; None if nothing is written."""
    note: Json = None
    """A small value that the caller gets for every row."""
    record: Record | None = None
    """The full record, only for the rows whose records are needed (`Shard.whole`)."""


class RowStage(Stage[Row, list[Done[Record]]]):
    """A stage with one result for each row."""

    def record_to_plain(self, record: Record) -> Json:
        """Convert a record to JSON values (`Stage.to_plain`)."""
        return record

    def record_from_plain(self, plain: Json) -> Record:
        """See `Stage.to_plain`."""
        record: Record = plain
        return record

    def to_plain(self, result: list[Done[Record]]) -> Json:
        """See `Stage`."""
        return [(one.written, one.note, None if one.record is None else self.record_to_plain(one.record)) for one in result]

    def from_plain(self, plain: Json) -> list[Done[Record]]:
        """See `Stage`."""
        return [
            Done(written, note, None if record is None else self.record_from_plain(record))
            for written, note, record in plain
        ]


class Job(Generic[Row, Result]):
    """A stage with its processes and its output; created by `job`."""

    def __init__(
        self, processes: Workers[Row, Result], kept: JobCheckpoint | None, out: TextIO, advance: Advance, flushes: bool
    ) -> None:
        self.out = out
        """The file or stream that rows are written to."""
        self.kept = kept
        self._processes, self._advance, self._flushes = processes, advance, flushes

    def results(
        self, groups: Iterable[list[Row]], whole: int = 0, settings: Mapping[str, Any] | None = None
    ) -> Iterator[Result]:
        """Yield the result of the stage for each group of rows, in order; see `Shard` for `whole` and `settings`."""

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
        """Write the result of the stage for each row, and yield it."""
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
    """Run a job in a `with` statement.

    The stage is called in `jobs` processes. If the statement ends without an error, the file `output` is moved to its place,
    whole. Until then, finished results are kept beside it, and after a kill the same job continues from them. Without
    `output`, rows go to standard output. `progress` is entered after the processes have started, and gets the number of
    further rows that are done.
    """
    with ExitStack() as stack:
        stage.warm_up(jobs)
        kept = None if output is None else stack.enter_context(JobCheckpoint(output, stage.identity()))
        processes = stack.enter_context(Workers(stage, jobs))
        out = stack.enter_context(written(output))
        advance = (lambda count: None) if progress is None else stack.enter_context(progress)
        yield Job(processes, kept, out, advance, flushes=output is None)
