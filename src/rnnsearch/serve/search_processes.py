"""The processes that have the models. They search and score for the server, whose own process speaks HTTP.

Threads of one process would wait for Python's lock at every operation. Each of these processes takes in what is asked,
extends all its searches by a word, sends what is done, and begins again. Two of them, each with half of the threads, are
faster than one: threads that share every small operation wait for each other, the longer the busier the machine is.
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
from rnnsearch.serve.searches import Asked, Cancel, Load, NextWords, Replace, Score, ServedModel, Translate, serve
from rnnsearch.translation import NextWord, ScoredPair, Translation, Translator, load
from rnnsearch.translation.bidirectional import BidirectionalTranslator

PAIRS_AT_ONCE = 8
"""So many pairs are scored between two steps of the searches."""


class _Process(Process):
    """A process that searches, and a thread that sends it what is asked."""

    def __init__(self, do: Callable[[Connection], None], before: Sequence[Process]) -> None:
        # Signals are for the server, which finishes what is under way.
        super().__init__(do, "search", before, ignored=("SIGINT", "SIGTERM"))
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="sender")

    def send(self, number: int, asked: Asked) -> None:
        # In a thread, for the process may be busy, and this one must go on taking answers.
        self._sender.submit(self.connection.send, (number, asked))

    def close(self) -> None:
        """Tell the process that nobody listens any more."""
        self._sender.shutdown()
        self.connection.close()


@dataclass(eq=False)
class _Call:
    """Something that has been asked for, and the answers that have arrived: each with its place, or an error."""

    places: dict[_Process, Sequence[int]]
    """Which places each process has been asked for."""
    left: dict[_Process, int]
    """The number of answers of each process that have not arrived."""
    answers: asyncio.Queue[tuple[int, Any]] = field(default_factory=asyncio.Queue)


class SearchProcesses:
    """The models in processes of their own, as seen from the server. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        make: Callable[[], Sequence[Translator]],
        settings: Mapping[str, object],
        terms: Mapping[str, str] | None = None,
        count: int | None = None,
    ) -> None:
        """Start so many processes with the models that `make` returns; each has its share of the threads.

        By default there are two, or one where there is one thread. `settings` and `terms` are those of
        `Translator.translate`. Let the calling process have no threads yet, and not compute before. Raises RnnsearchError
        where a model cannot be loaded.
        """
        count = count or min(2, threads())
        if FORKED and translation_device() == "cpu":
            make = partial(list, _prepared(make(), settings))
        do = partial(serve, make, dict(settings), terms, thread_share(count))
        self._processes: list[_Process] = []
        self._calls: dict[int, _Call] = {}
        self._last = 0
        self.lost = False
        """Whether a process has ended though nobody closed it."""
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
        """The numbers of the processes."""
        return [one.pid for one in self._processes]

    @property
    def under_way(self) -> int:
        """The number of lines that are being translated or wait for it."""
        return sum(sum(call.left.values()) for call in self._calls.values())

    def attach(self) -> None:
        """Take answers in the running event loop."""
        for one in self._processes:
            asyncio.get_running_loop().add_reader(one.connection.fileno(), self._receive, one)

    def detach(self) -> None:
        """Take no more answers."""
        for one in self._processes:
            asyncio.get_running_loop().remove_reader(one.connection.fileno())

    def close(self) -> None:
        """End the processes, which are not told anything but that nobody listens any more."""
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
        """The `n` best translations of each line, in order, as they are found. Closing the generator ends the search.

        Without `links`, the alignment layer does not link their words.

        Raises RnnsearchError where they cannot be searched for, and SearchFailed where the search breaks off.
        """

        def part(places: Sequence[int]) -> Translate:
            own = [prefixes[i] for i in places if prefixes]
            return Translate(model, [lines[i] for i in places], n, own, beam, terms, protect, links)

        found: dict[int, list[Translation]] = {}
        number, call = self._ask(len(lines), part)
        try:
            for place in range(len(lines)):
                while place not in found:
                    at, translations = await self._answer(call)
                    found[at] = translations
                yield found.pop(place)
        finally:
            del self._calls[number]
            for process, left in call.left.items():
                if left and not self.lost:
                    process.send(number, Cancel(model))

    async def score(self, model: int, sources: Sequence[str], targets: Sequence[str]) -> list[ScoredPair]:
        """`Translator.score` of lists."""
        pairs: list[ScoredPair] = []
        for start in range(0, len(sources), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            pairs += await self._one_answer(Score(model, list(sources[part]), list(targets[part])))
        return pairs

    async def next_words(self, model: int, line: str, prefix: str, count: int) -> list[NextWord]:
        """`Translator.next_words`."""
        words: list[NextWord] = await self._one_answer(NextWords(model, line, prefix, count))
        return words

    async def renew(self, model: int, folder: Path) -> None:
        """Replace a model by the one in a folder, as soon as all processes have loaded it.

        They load it one after the other, so that the others go on. Lines that are under way stay with the old one. Raises
        RnnsearchError, and replaces nothing, if the new one cannot be loaded or translates other languages.
        """
        old = self.models[model]
        for one in self._processes:
            new: ServedModel = await self._one_answer(Load(folder), [one])
        if (new.source_language, new.target_language) != (old.source_language, old.target_language):
            raise RnnsearchError(f"{folder}: it translates {new.source_language} into {new.target_language}")
        for one in self._processes:
            one.send(0, Replace(model))
        self.models[model] = new

    async def _one_answer(self, asked: Asked, of: Sequence[_Process] = ()) -> Any:
        number, call = self._ask(1, lambda places: asked, of)
        try:
            return (await self._answer(call))[1]
        finally:
            del self._calls[number]

    def _ask(self, answers: int, part: Callable[[Sequence[int]], Asked], of: Sequence[_Process] = ()) -> tuple[int, _Call]:
        """Ask for so many answers, each from the process that has least to do; `part` is what to ask for some of them.

        Only the processes `of` are asked, or all of them.
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
    """The translators with their graphs, whose memory all processes share that are forked now."""
    for translator in translators:
        if not isinstance(translator, BidirectionalTranslator) and all(one.runs_as_graphs for one in translator.systems):
            translator.backend(translator.search_settings(settings))
    gc.freeze()  # a search for garbage would write into what is shared
    return translators


def load_each(models: Sequence[Path]) -> list[Translator]:
    """The translators of some models, for each a pair of languages."""
    return [load(model) for model in models]
