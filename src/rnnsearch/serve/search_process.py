"""The process that has the models. It searches and scores for the server, whose own process speaks HTTP.

Two processes, because two threads of one would wait for Python's lock at every operation. This one has a single thread: it
takes in what is asked, extends all searches by a word, sends what is done, and begins again.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.continuous import ContinuousTranslator, SearchFailed
from rnnsearch.translation import NextWord, ScoredPair, Translation, Translator, load

log = logging.getLogger("rnnsearch.serve")

PAIRS_AT_ONCE = 8
"""So many pairs are scored between two steps of the searches."""


@dataclass(frozen=True)
class ServedModel:
    """A model that the process has."""

    source_language: str
    target_language: str
    description: str


@dataclass(frozen=True)
class _Translate:
    model: int
    lines: Sequence[str]
    n: int
    prefixes: Sequence[str]
    beam: int | None
    terms: Mapping[str, str] | None


@dataclass(frozen=True)
class _Score:
    model: int
    sources: list[str]
    targets: list[str]


@dataclass(frozen=True)
class _NextWords:
    model: int
    line: str
    prefix: str
    count: int


@dataclass(frozen=True)
class _Cancel:
    model: int


_Asked = _Translate | _Score | _NextWords | _Cancel


@dataclass(eq=False)
class _Call:
    """Something that has been asked for, and the answers that have arrived: each with its place, or an error."""

    left: int
    """The number of answers that have not arrived."""
    answers: asyncio.Queue[tuple[int, Any]] = field(default_factory=asyncio.Queue)


class SearchProcess:
    """The models in a process of their own, as seen from the server. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        make: Callable[[], Sequence[Translator]],
        settings: Mapping[str, object],
        terms: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process, which calls `make` for its models; `settings` and `terms` are those of `Translator.translate`.

        Let the calling process have no threads yet, and not compute before. Raises RnnsearchError where a model cannot be
        loaded.
        """
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._connection, other = context.Pipe()
        arguments = other, self._connection, make, dict(settings), terms, torch.get_num_threads()
        self._process: Any = context.Process(target=_serve, args=arguments, name="search", daemon=True)  # type: ignore[attr-defined]
        self._calls: dict[int, _Call] = {}
        self._last = 0
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="sender")
        self.lost = False
        """Whether the process has ended though nobody closed it."""
        self.when_lost: Callable[[], None] = lambda: None
        try:
            self._process.start()
            other.close()
            answer = self._connection.recv()
        except EOFError:
            self.close()
            raise RnnsearchError("the process that loads the models ended; was there enough memory?") from None
        except BaseException:
            self.close()
            raise
        if isinstance(answer, RnnsearchError):
            self.close()
            raise answer
        self.models: list[ServedModel] = answer

    def __enter__(self) -> SearchProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return int(self._process.pid)

    @property
    def under_way(self) -> int:
        """The number of lines that are being translated or wait for it."""
        return sum(call.left for call in self._calls.values())

    def attach(self) -> None:
        """Take answers in the running event loop."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._receive)

    def detach(self) -> None:
        """Take no more answers."""
        asyncio.get_running_loop().remove_reader(self._connection.fileno())

    def close(self) -> None:
        """End the process, which is not told anything but that nobody listens any more."""
        self._sender.shutdown()
        self._connection.close()
        if self._process.pid is not None:
            self._process.join(2)
            self._process.kill()
            self._process.join()

    async def translations(
        self,
        model: int,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str] = (),
        beam: int | None = None,
        terms: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[list[Translation], None]:
        """The `n` best translations of each line, in order, as they are found. Closing the generator ends the search.

        Raises RnnsearchError where they cannot be searched for, and SearchFailed where the search breaks off.
        """
        found: dict[int, list[Translation]] = {}
        number, call = self._ask(_Translate(model, lines, n, prefixes, beam, terms), len(lines))
        try:
            for place in range(len(lines)):
                while place not in found:
                    at, translations = await self._answer(call)
                    found[at] = translations
                yield found.pop(place)
        finally:
            del self._calls[number]
            if call.left and not self.lost:
                self._send(number, _Cancel(model))

    async def score(self, model: int, sources: Sequence[str], targets: Sequence[str]) -> list[ScoredPair]:
        """`Translator.score` of lists."""
        pairs: list[ScoredPair] = []
        for start in range(0, len(sources), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            pairs += await self._one_answer(_Score(model, list(sources[part]), list(targets[part])))
        return pairs

    async def next_words(self, model: int, line: str, prefix: str, count: int) -> list[NextWord]:
        """`Translator.next_words`."""
        words: list[NextWord] = await self._one_answer(_NextWords(model, line, prefix, count))
        return words

    async def _one_answer(self, asked: _Asked) -> Any:
        number, call = self._ask(asked, 1)
        try:
            return (await self._answer(call))[1]
        finally:
            del self._calls[number]

    def _ask(self, asked: _Asked, answers: int) -> tuple[int, _Call]:
        if self.lost:
            raise SearchFailed
        self._last += 1
        self._calls[self._last] = call = _Call(answers)
        self._send(self._last, asked)
        return self._last, call

    async def _answer(self, call: _Call) -> tuple[int, Any]:
        place, answer = await call.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return place, answer

    def _send(self, number: int, asked: _Asked) -> None:
        # In a thread, for the process may be busy, and this one must go on taking answers.
        self._sender.submit(self._connection.send, (number, asked))

    def _receive(self) -> None:
        try:
            while self._connection.poll():
                number, place, answer = self._connection.recv()
                if number in self._calls:
                    self._calls[number].left -= 1
                    self._calls[number].answers.put_nowait((place, answer))
        except (EOFError, OSError):
            self.lost = True
            self.detach()
            for call in self._calls.values():
                call.answers.put_nowait((0, SearchFailed()))
            self.when_lost()


def load_each(models: Sequence[Path]) -> list[Translator]:
    """The translators of some models, for each a pair of languages."""
    return [load(model) for model in models]


def _serve(
    connection: Connection,
    other: Connection,
    make: Callable[[], Sequence[Translator]],
    settings: Mapping[str, object],
    terms: Mapping[str, str] | None,
    threads: int,
) -> None:
    """What the process does, until nobody listens at the `other` end of its connection."""
    # Signals are for the server, which finishes what is under way.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    other.close()
    torch.set_num_threads(threads)
    with suppress(EOFError, OSError):  # nobody listens
        try:
            engines = [ContinuousTranslator(translator, terms, **settings) for translator in make()]
            for engine in engines:
                _warm_up(engine)
        except RnnsearchError as error:
            connection.send(error)
            return
        connection.send([_described(engine.translator) for engine in engines])
        while True:
            while connection.poll(0 if any(engine.busy for engine in engines) else None):
                number, asked = connection.recv()
                answer = _begun(engines[asked.model], number, asked)
                if answer is not None:
                    connection.send((number, 0, answer))
            for engine in engines:
                for found in engine.step() if engine.busy else ():
                    connection.send((found.caller, found.place, found.translations))


def _described(translator: Translator) -> ServedModel:
    data = translator.system.config.data
    return ServedModel(data.source_language, data.target_language, repr(translator))


def _warm_up(engine: ContinuousTranslator) -> None:
    """Translate a word, so that compiled loops are loaded before the first caller comes."""
    engine.add(0, ["."], 1)
    while engine.busy:
        engine.step()


def _begun(engine: ContinuousTranslator, number: int, asked: _Asked) -> object:
    """Do what is asked, or begin it: then the answer comes later, and this is None. An exception is an answer too."""
    translator = engine.translator
    try:
        match asked:
            case _Translate():
                engine.add(number, asked.lines, asked.n, asked.prefixes, asked.beam, asked.terms)
            case _Cancel():
                engine.cancel(number)
            case _Score():
                return translator.score(asked.sources, asked.targets)
            case _NextWords():
                own = engine.settings
                how = {"forbid_unk": own.forbid_unk, "max_segment": own.max_segment}
                return translator.next_words(asked.line, asked.prefix, asked.count, **how)
    except RnnsearchError as error:
        return error
    except Exception:
        log.exception("%s failed", type(asked).__name__)
        return SearchFailed()
    return None
