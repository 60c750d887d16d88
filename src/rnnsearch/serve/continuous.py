"""Continuous batching: one search translates for many callers, whose sentences share its slots.

A sentence takes a slot as soon as another leaves it. Callers take turns, so that a single sentence does not wait for the end
of a long document. A translation is the one that the caller would have got alone: the sentences of a search do not affect
each other.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rnnsearch.config import SearchConfig
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Query, Search, slots
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.glossary import GivenTerms
from rnnsearch.translation.request import Request

log = logging.getLogger("rnnsearch.serve")

GROUP, PATIENCE = 8, 8
"""Sentences are encoded in groups, for a group takes hardly longer than one: beside others that are searched for, a sentence
waits until there are so many, but for no more than so many steps of the search."""
POSITIONS = 128
"""The source positions for which the search has room; a longer sentence waits until it can have a search of its own."""


class SearchFailed(Exception):
    """A search broke off."""

    def __str__(self) -> str:
        return "the search failed; the server's log says how"


@dataclass
class Found:
    """What has become of a line."""

    caller: int
    place: int
    """The position of the line among those of its caller."""
    translations: list[Translation] | SearchFailed
    """Best first."""


@dataclass(eq=False)
class _Line:
    caller: int
    place: int
    request: Request
    left: int
    """The number of queries whose search is not done."""


@dataclass(eq=False)
class _Caller:
    """What one caller has asked for; it takes turns with the others."""

    left: int
    """The number of lines that have not been told."""
    waiting: deque[tuple[_Line, Query]] = field(default_factory=deque)
    """Queries that the search does not have yet."""
    searching: set[Query] = field(default_factory=set)
    """Queries that the search has."""


class ContinuousTranslator:
    """A search that callers add lines to at any time; it proceeds step by step."""

    def __init__(self, translator: Translator, terms: GivenTerms = None, **settings: object) -> None:
        """`terms` and `settings` are those of `Translator.translate`; `batch_sentences` is the number of slots.

        Raises RnnsearchError for models of both directions, which are two searches.
        """
        if isinstance(translator, BidirectionalTranslator):
            raise RnnsearchError("L2R and R2L models together cannot be served; give one model")
        self.translator = translator
        self.settings: SearchConfig = translator.search_settings(settings)
        self._glossary = translator.glossary(terms)
        self._backend = translator.backend(self.settings)
        self._search = self._new_search(POSITIONS)
        self._callers: dict[int, _Caller] = {}
        self._turns: deque[_Caller] = deque()
        """The callers who have queries waiting; the first one is next."""
        self._lines: dict[Query, _Line] = {}
        """The line of each query that the search has."""
        self._waiting = 0
        self._waited = 0
        """The steps since the first of those who wait could have had a slot."""
        self._found: list[Found] = []

    @property
    def busy(self) -> bool:
        """Whether there is something to do, or to tell."""
        return bool(self._found or self._turns or self._search.busy)

    def add(
        self,
        caller: int,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str] = (),
        beam: int | None = None,
        terms: GivenTerms = None,
        protect: Sequence[str] = (),
    ) -> None:
        """Have the `n` best translations of these lines found, in order, for a new caller; see `Translator.requests`.

        `protect` are patterns of spans to keep, beside those of the search. Where the caller's `terms` and the search's own
        translate the same words, those of the caller decide. Raises RnnsearchError where they cannot be searched for.
        """
        glossary = self._glossary | self.translator.glossary(terms)
        settings = replace(self.settings, protect=(*self.settings.protect, *protect)) if protect else self.settings
        requests = self.translator.requests(lines, n, prefixes, settings, beam, glossary)
        if not requests:
            return
        asking = self._callers[caller] = _Caller(len(requests))
        for place, request in enumerate(requests):
            line = _Line(caller, place, request, len(request.queries))
            if not request.queries:
                self._tell(line)
            asking.waiting.extend((line, query) for query in request.queries)
        self._waiting += len(asking.waiting)
        if asking.waiting:
            self._turns.append(asking)

    def cancel(self, caller: int) -> None:
        """Forget what a caller has asked for: waiting sentences are dropped, and those in slots leave them."""
        self._found = [found for found in self._found if found.caller != caller]
        leaving = self._callers.pop(caller, None)
        if leaving is None:
            return
        self._waiting -= len(leaving.waiting)
        if leaving.waiting:
            self._turns.remove(leaving)
        for query in leaving.searching:
            query.cancelled = True

    def step(self) -> list[Found]:
        """Extend every translation in the search by a word; the lines that are done, or failed.

        A failure ends every translation in the search, and the next step begins a new one.
        """
        try:
            self._proceed()
        except Exception:
            log.exception("a search broke off")
            self._fail()
        found, self._found = self._found, []
        return found

    def warm_up(self) -> None:
        """Translate a word, so that compiled loops are loaded before the first caller comes.

        Raises whatever breaks the search off.
        """
        self.add(0, ["a"], 1)
        while self._turns or self._search.busy:
            self._proceed()
        for found in self._found:
            assert not isinstance(found.translations, SearchFailed)
            for translation in found.translations:
                _ = translation.links  # what the alignment layer computes
        self._found.clear()

    def _proceed(self) -> None:
        self._admit()
        if self._search.busy:
            for query in self._search.step():
                self._finish(query)

    def _new_search(self, positions: int) -> Search:
        return Search(self._backend, self.settings, slots(self.settings, positions), positions)

    def _admit(self) -> None:
        """Give the search what it has slots for, of each caller in turn."""
        if self._turns and not self._search.busy:
            # The search is empty, so it can be exchanged for one that has room for a long sentence, and back.
            positions = max(POSITIONS, self._turns[0].waiting[0][1].positions)
            if positions != self._search.positions:
                self._search = self._new_search(positions)
        if self._search.busy and self._turns and self._search.free:
            self._waited += 1
            if min(self._waiting, self._search.free) < GROUP and self._waited < PATIENCE:
                return
        self._waited = 0
        while self._turns and self._search.free:
            caller = self._turns[0]
            line, query = caller.waiting[0]
            if query.positions > self._search.positions or self._search.positions > POSITIONS >= query.positions:
                return  # until the search is empty
            caller.waiting.popleft()
            self._waiting -= 1
            self._turns.popleft()
            if caller.waiting:
                self._turns.append(caller)
            self._lines[query] = line
            caller.searching.add(query)
            self._search.add([query])

    def _finish(self, query: Query) -> None:
        line = self._lines.pop(query)
        if line.caller in self._callers:
            self._callers[line.caller].searching.discard(query)
            line.left -= 1
            if not line.left:
                self._tell(line)

    def _tell(self, line: _Line) -> None:
        translations = self.translator.translations(line.request, self.settings)
        self._found.append(Found(line.caller, line.place, translations))
        self._callers[line.caller].left -= 1
        if not self._callers[line.caller].left:
            del self._callers[line.caller]

    def _fail(self) -> None:
        """Tell everyone who has a sentence in the search that it broke off, and begin a new one."""
        for line in {line for line in self._lines.values() if line.caller in self._callers}:
            self.cancel(line.caller)
            self._found.append(Found(line.caller, line.place, SearchFailed()))
        self._lines.clear()
        self._search = self._new_search(POSITIONS)
