"""The loop of a search process, which searches with all models at once and can replace a model while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

from rnnsearch.errors import RnnsearchError
from rnnsearch.graphs.engine import give_back_memory
from rnnsearch.jobs.processes import use_threads
from rnnsearch.serve.continuous import ContinuousTranslator, LineResult, SearchFailed
from rnnsearch.translation import Translator, load

log = logging.getLogger("rnnsearch.serve")


@dataclass(frozen=True)
class ServedModel:
    """A description of a model that the search processes have loaded."""

    source_language: str
    target_language: str
    beam: int
    """The beam width for requests that do not set one."""
    description: str


@dataclass(frozen=True)
class Translate:
    """Translate lines, as `Translator.translate` does."""

    model: int
    lines: Sequence[str]
    n: int
    prefixes: Sequence[str]
    beam: int | None
    terms: Mapping[str, str] | None
    protect: Sequence[str]
    links: bool


@dataclass(frozen=True)
class Score:
    """Score given pairs, as `Translator.score` does."""

    model: int
    sources: list[str]
    targets: list[str]


@dataclass(frozen=True)
class NextWords:
    """Predict words, as `Translator.next_words` does."""

    model: int
    line: str
    prefix: str
    count: int


@dataclass(frozen=True)
class Cancel:
    """Forget the lines of a call."""

    model: int


@dataclass(frozen=True)
class Load:
    """Load a model that is to replace another."""

    folder: Path


@dataclass(frozen=True)
class Replace:
    """Replace a model by the one that was loaded last."""

    model: int


SearchRequest: TypeAlias = Translate | Score | NextWords | Cancel | Load | Replace
"""The requests to a search process."""


def serve(
    make: Callable[[], Sequence[Translator]],
    settings: Mapping[str, object],
    terms: Mapping[str, str] | None,
    share: int,
    connection: Connection,
) -> None:
    """Run the loop of a search process until the server closes the other end of the connection."""
    use_threads(share)
    with suppress(EOFError, OSError):  # the server has closed the connection
        try:
            searches = _Searches(make(), settings, terms)
        except RnnsearchError as error:
            connection.send(error)
            return
        connection.send([_described(engine) for engine in searches.engines])
        while True:
            if not searches.busy and not connection.poll():
                give_back_memory()
            while connection.poll(0 if searches.busy else None):
                number, request = connection.recv()
                answer = searches.begin(number, request)
                if answer is not None:
                    connection.send((number, 0, answer))
            for found in searches.step():
                connection.send((found.caller, found.place, found.translations))


class _Searches:
    """The searches of a process, one for each model."""

    def __init__(
        self, translators: Sequence[Translator], settings: Mapping[str, object], terms: Mapping[str, str] | None
    ) -> None:
        """Start a search for each translator. Raises RnnsearchError if a model cannot translate."""
        self._engine = partial(_warm, settings, terms)
        self.engines = [self._engine(translator) for translator in translators]
        self._replaced: list[ContinuousTranslator] = []
        """The searches that have been replaced and still have lines."""
        self._loaded: ContinuousTranslator | None = None
        """The search of the model that is loaded to replace another; None if there is none."""

    @property
    def busy(self) -> bool:
        """Whether `step` has work to do."""
        return any(engine.busy for engine in (*self.engines, *self._replaced))

    def step(self) -> list[LineResult]:
        """Extend all translations by one word, and return those that are complete."""
        found = [found for engine in (*self.engines, *self._replaced) if engine.busy for found in engine.step()]
        self._replaced = [engine for engine in self._replaced if engine.busy]
        return found

    def begin(self, number: int, request: SearchRequest) -> object:
        """Process a request, and return its answer, which may be an exception; None if `step` returns the answer later."""
        try:
            match request:
                case Load():
                    self._loaded = None
                    self._loaded = self._engine(load(request.folder))
                    return _described(self._loaded)
                case Replace():
                    assert self._loaded is not None
                    self._replaced.append(self.engines[request.model])
                    self.engines[request.model], self._loaded = self._loaded, None
                    return None
                case Cancel():
                    for engine in (self.engines[request.model], *self._replaced):
                        engine.cancel(number)
                    return None
                case _:
                    return _begun(self.engines[request.model], number, request)
        except RnnsearchError as error:
            return error
        except Exception:
            log.exception("%s failed", type(request).__name__)
            return SearchFailed()


def _described(engine: ContinuousTranslator) -> ServedModel:
    data = engine.translator.system.config.data
    return ServedModel(data.source_name, data.target_name, engine.settings.beam, repr(engine.translator))


def _warm(settings: Mapping[str, object], terms: Mapping[str, str] | None, translator: Translator) -> ContinuousTranslator:
    """Return the search of a model after a first translation. Raises RnnsearchError if that fails, whatever the reason."""
    engine = ContinuousTranslator(translator, terms, **settings)
    try:
        engine.warm_up()
    except Exception as error:
        told = " ".join(str(error).split())[:300]
        raise RnnsearchError(f"{translator!r} cannot translate here: {type(error).__name__}: {told}") from error
    return engine


def _begun(engine: ContinuousTranslator, number: int, request: Translate | Score | NextWords) -> object:
    """Process a request to a model, and return its answer; None for lines to translate, which `step` returns later."""
    translator = engine.translator
    match request:
        case Translate():
            engine.add(
                number,
                request.lines,
                request.n,
                request.prefixes,
                request.beam,
                request.terms,
                request.protect,
                request.links,
            )
            return None
        case Score():
            return translator.score(request.sources, request.targets)
        case NextWords():
            own = engine.settings
            how = {"forbid_unk": own.forbid_unk, "max_segment": own.max_segment}
            return translator.next_words(request.line, request.prefix, request.count, **how)
