"""The processes that hold the models: they search and score for the server, whose own process answers HTTP requests.

Threads of one process would wait for Python's global lock at every operation. Each of these processes repeats three steps:
it receives requests, extends all its searches by one word, and sends the finished results. Two processes, each with half of
the threads, are faster than one, because threads that divide every small operation wait for each other, and wait longer on a
busy machine.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rnnsearch.devices import translation_device
from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs.processes import FORKED, Process, thread_share, threads
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.searches import Cancel, Load, NextWords, Replace, Score, SearchRequest, ServedModel, Translate, serve
from rnnsearch.translation import NextWord, ScoredPair, Translation, Translator, load
from rnnsearch.translation.bidirectional import BidirectionalTranslator

PAIRS_AT_ONCE = 8
"""The number of pairs that are scored between two steps of the searches."""


class _Process(Process):
    """A process that searches, and the thread of the server that sends requests to it."""

    def __init__(self, do: Callable[[Connection], None], before: Sequence[Process]) -> None:
        # Only the server handles these signals: it finishes the requests that are under way.
        super().__init__(do, "search", before, ignored=("SIGINT", "SIGTERM"))
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="sender")

    def send(self, number: int, request: SearchRequest) -> None:
        # A thread sends, because the other process may be busy, and the event loop must not wait for it.
        self._sender.submit(self.connection.send, (number, request))

    def close(self) -> None:
        """Close the connection, which tells the process to end."""
        self._sender.shutdown()
        self.connection.close()


@dataclass(eq=False)
class _Call:
    """A request that is divided among the processes, and its answers so far: each with its position, or an exception."""

    places: dict[_Process, Sequence[int]]
    """The positions, in the request, of the answers that each process computes."""
    left: dict[_Process, int]
    """The number of answers that each process has not sent yet."""
    answers: asyncio.Queue[tuple[int, Any]] = field(default_factory=asyncio.Queue)


class SearchProcesses:
    """The search processes, as the server uses them. Call `close`, or use this class in a `with` statement."""

    def __init__(
        self,
        make: Callable[[], Sequence[Translator]],
        settings: Mapping[str, object],
        terms: Mapping[str, str] | None = None,
        count: int | None = None,
    ) -> None:
        """Start `count` processes with the models that `make` returns; each gets an equal share of the threads.

        By default there are two processes, or one if there is only one thread. `settings` and `terms` are those of
        `Translator.translate`. The calling process must not have started threads or computed anything before, because it is
        forked. Raises RnnsearchError if a model cannot be loaded.
        """
        count = count or min(2, threads())
        if FORKED and translation_device() == "cpu":
            make = partial(list, _prepared(make(), settings))
        do = partial(serve, make, dict(settings), terms, thread_share(count))
        self._processes: list[_Process] = []
        self._calls: dict[int, _Call] = {}
        self._last = 0
        self.lost = False
        """Whether a process has ended unexpectedly."""
        self.when_lost: Callable[[], None] = lambda: None
        try:
            for _ in range(count):
                self._processes.append(_Process(do, self._processes))
            answers = [one.connection.recv() for one in self._processes]
        except EOFError:
            self.close()
            raise RnnsearchError("a process that loads the models ended; was there enough memory?") from None
        except BaseException:
            self.close()
            raise
        if isinstance(answers[0], RnnsearchError):
            self.close()
            raise answers[0]
        self.models: list[ServedModel] = answers[0]

    def __enter__(self) -> SearchProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The process ids."""
        return [one.pid for one in self._processes]

    @property
    def under_way(self) -> int:
        """The number of answers that the processes have not sent yet, most of them translations of lines."""
        return sum(sum(call.left.values()) for call in self._calls.values())

    def attach(self) -> None:
        """Receive answers in the running event loop."""
        for one in self._processes:
            asyncio.get_running_loop().add_reader(one.connection.fileno(), self._receive, one)

    def detach(self) -> None:
        """Stop receiving answers."""
        for one in self._processes:
            asyncio.get_running_loop().remove_reader(one.connection.fileno())

    def close(self) -> None:
        """Close the connections, which ends the processes; those that are still alive after two seconds are killed."""
        for one in self._processes:
            one.close()
        for one in self._processes:
            one.end(patience=2)

    async def translations(
        self,
        model: int,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str] = (),
        beam: int | None = None,
        terms: Mapping[str, str] | None = None,
        protect: Sequence[str] = (),
        links: bool = True,
    ) -> AsyncGenerator[list[Translation], None]:
        """Yield the `n` best translations of each line, in order, as soon as they are complete.

        Closing the generator ends the search. Without `links`, the alignment layer does not link the words of the
        translations. Raises RnnsearchError for lines that cannot be searched for, and SearchFailed if the search fails.
        """

        def part(places: Sequence[int]) -> Translate:
            own = [prefixes[i] for i in places if prefixes]
            return Translate(model, [lines[i] for i in places], n, own, beam, terms, protect, links)

        complete: dict[int, list[Translation]] = {}
        number, call = self._ask(len(lines), part)
        try:
            for place in range(len(lines)):
                while place not in complete:
                    at, translations = await self._answer(call)
                    complete[at] = translations
                yield complete.pop(place)
        finally:
            del self._calls[number]
            for process, left in call.left.items():
                if left and not self.lost:
                    process.send(number, Cancel(model))

    async def score(self, model: int, sources: Sequence[str], targets: Sequence[str]) -> list[ScoredPair]:
        """Score pairs of lines, as `Translator.score` does."""
        pairs: list[ScoredPair] = []
        for start in range(0, len(sources), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            pairs += await self._one_answer(Score(model, list(sources[part]), list(targets[part])))
        return pairs

    async def next_words(self, model: int, line: str, prefix: str, count: int) -> list[NextWord]:
        """Predict the next words, as `Translator.next_words` does."""
        words: list[NextWord] = await self._one_answer(NextWords(model, line, prefix, count))
        return words

    async def renew(self, model: int, folder: Path) -> None:
        """Replace a model by the one in `folder`, as soon as all processes have loaded it.

        The processes load it one after another, so that only one of them is interrupted at a time. Lines that are under
        way are still translated by the old model. If the new model cannot be loaded or translates other languages,
        nothing is replaced, and RnnsearchError is raised.
        """
        old = self.models[model]
        for one in self._processes:
            new: ServedModel = await self._one_answer(Load(folder), [one])
        if (new.source_language, new.target_language) != (old.source_language, old.target_language):
            raise RnnsearchError(f"{folder}: it translates {new.source_language} into {new.target_language}")
        for one in self._processes:
            one.send(0, Replace(model))
        self.models[model] = new

    async def _one_answer(self, request: SearchRequest, of: Sequence[_Process] = ()) -> Any:
        number, call = self._ask(1, lambda places: request, of)
        try:
            return (await self._answer(call))[1]
        finally:
            del self._calls[number]

    def _ask(
        self, answers: int, part: Callable[[Sequence[int]], SearchRequest], of: Sequence[_Process] = ()
    ) -> tuple[int, _Call]:
        """Request `answers` answers, each from the process with the fewest outstanding answers.

        `part` returns the request for the answers at some positions. With `of`, only these processes get requests.
        Returns the number of the call and the call.
        """
        if self.lost:
            raise SearchFailed
        busy = {one: sum(call.left.get(one, 0) for call in self._calls.values()) for one in of or self._processes}
        places: dict[_Process, list[int]] = {}
        for place in range(answers):
            idlest = min(busy, key=busy.__getitem__)
            busy[idlest] += 1
            places.setdefault(idlest, []).append(place)
        self._last += 1
        call = _Call(dict(places), {one: len(its) for one, its in places.items()})
        self._calls[self._last] = call
        for one, its in places.items():
            one.send(self._last, part(its))
        return self._last, call

    async def _answer(self, call: _Call) -> tuple[int, Any]:
        place, answer = await call.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return place, answer

    def _receive(self, process: _Process) -> None:
        try:
            while process.connection.poll():
                number, place, answer = process.connection.recv()
                if number in self._calls:
                    call = self._calls[number]
                    call.left[process] -= 1
                    call.answers.put_nowait((call.places[process][place], answer))
        except (EOFError, OSError):
            self.lost = True
            self.detach()
            for call in self._calls.values():
                call.answers.put_nowait((0, SearchFailed()))
            self.when_lost()


def _prepared(translators: Sequence[Translator], settings: Mapping[str, object]) -> Sequence[Translator]:
    """Return the translators after building their graphs, so that the processes that are forked next share this memory."""
    for translator in translators:
        if not isinstance(translator, BidirectionalTranslator) and all(one.runs_as_graphs for one in translator.systems):
            translator.backend(translator.search_settings(settings))
    gc.freeze()  # the garbage collector would write into the shared memory pages
    return translators


def load_each(models: Sequence[Path]) -> list[Translator]:
    """Load the translators of these models, one for each pair of languages."""
    return [load(model) for model in models]
