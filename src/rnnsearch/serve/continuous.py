"""Continuous batching: one search translates for many callers, whose sentences share its slots.

As soon as a sentence leaves a slot, another sentence takes it. Callers take turns, so that a single sentence does not wait
for the end of a long document. Every caller receives the same translations as if it were alone, because the sentences of a
search do not affect each other.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rnnsearch.config import SearchConfig
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Query, Search
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.glossary import TermsLike
from rnnsearch.translation.request import Request

log = logging.getLogger("rnnsearch.serve")

GROUP, PATIENCE = 8, 8
"""The number of sentences that are encoded together, which takes hardly longer than encoding one, and the most steps of the
search for which a sentence waits for such a group. In an empty search, a sentence does not wait."""


class SearchFailed(Exception):
    """A search failed; its translations are lost."""

    def __str__(self) -> str:
        return "the search failed; the server's log says how"


@dataclass
class LineResult:
    """The result of a line: its translations, or a failure."""

    caller: int
    place: int
    """The position of the line among those of its caller."""
    translations: list[Translation] | SearchFailed
    """The n-best list, or the failure."""


@dataclass(eq=False)
class _Line:
    """A line that is being translated."""

    caller: int
    place: int
    request: Request
    left: int
    """The number of its queries that are not finished."""
    links: bool
    """Whether the words of its translations are to be linked."""
    first: list[Translation] | None = None
    """The translations before its second request, if the line is searched again."""


@dataclass(eq=False)
class _Caller:
    """The lines of a caller, which takes turns with the other callers."""

    left: int
    """The number of lines without a result."""
    waiting: deque[tuple[_Line, Query]] = field(default_factory=deque)
    """Queries that wait for a slot."""
    searching: set[Query] = field(default_factory=set)
    """Queries that have a slot."""


class ContinuousTranslator:
    """A search to which callers may add lines at any time; `step` extends all translations by one word."""

    def __init__(self, translator: Translator, terms: TermsLike = None, **settings: object) -> None:
        """`terms` and `settings` are those of `Translator.translate`; `batch_sentences` is the number of slots.

        Raises RnnsearchError for a translator of both directions, which needs two searches.
        """
        if isinstance(translator, BidirectionalTranslator):
            raise RnnsearchError("L2R and R2L models together cannot be served; give one model")
        self.translator = translator
        self.settings: SearchConfig = translator.search_settings(settings)
        self._glossary = translator.glossary(terms)
        self._backend = translator.backend(self.settings)
        self._search = Search(self._backend, self.settings)
        self._callers: dict[int, _Caller] = {}
        self._turns: deque[_Caller] = deque()
        """The callers with waiting queries; the first one is next."""
        self._lines: dict[Query, _Line] = {}
        """The line of each query that has a slot."""
        self._waiting = 0
        """The number of waiting queries of all callers."""
        self._waited = 0
        """The number of steps since a slot was free for the first waiting query."""
        self._found: list[LineResult] = []
        """The results that `step` has not returned yet."""

    @property
    def busy(self) -> bool:
        """Whether `step` has work to do or results to return."""
        return bool(self._found or self._turns or self._search.busy)

    def add(
        self,
        caller: int,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str] = (),
        beam: int | None = None,
        terms: TermsLike = None,
        protect: Sequence[str] = (),
        links: bool = True,
    ) -> None:
        """Add the lines of a new caller, for the `n` best translations of each; the parameters are those of the translator.

        `protect` are patterns of spans to keep, in addition to those of the search. The `terms` of the caller take
        precedence over those of the search. Without `links`, the alignment layer does not link the words of the
        translations. Raises RnnsearchError for lines that cannot be searched for.
        """
        glossary = self._glossary | self.translator.glossary(terms)
        settings = replace(self.settings, protect=(*self.settings.protect, *protect)) if protect else self.settings
        requests = self.translator.requests(lines, n, prefixes, settings, beam, glossary)
        if not requests:
            return
        new_caller = self._callers[caller] = _Caller(len(requests))
        for place, request in enumerate(requests):
            line = _Line(caller, place, request, len(request.queries), links)
            if not request.queries:
                self._report(line)
            new_caller.waiting.extend((line, query) for query in request.queries)
        self._waiting += len(new_caller.waiting)
        if new_caller.waiting:
            self._turns.append(new_caller)

    def cancel(self, caller: int) -> None:
        """Drop the lines of a caller: waiting queries are forgotten, and those in slots leave them."""
        self._found = [result for result in self._found if result.caller != caller]
        leaving = self._callers.pop(caller, None)
        if leaving is None:
            return
        self._waiting -= len(leaving.waiting)
        if leaving.waiting:
            self._turns.remove(leaving)
        for query in leaving.searching:
            query.cancelled = True

    def step(self) -> list[LineResult]:
        """Extend every translation in the search by a word, and return the results of the lines that are finished or failed.

        After a failure, all lines in the search have failed, and the next step begins a new search.
        """
        try:
            self._proceed()
        except Exception:
            log.exception("a search broke off")
            self._fail()
        results, self._found = self._found, []
        return results

    def warm_up(self) -> None:
        """Translate a word, so that everything is loaded before the first caller comes.

        Raises any exception that ends the search.
        """
        self.add(0, ["a"], 1, links=False)  # the graphs of the alignment layer need memory, and may never be used
        while self._turns or self._search.busy:
            self._proceed()
        for result in self._found:
            assert not isinstance(result.translations, SearchFailed)
        self._found.clear()

    def _proceed(self) -> None:
        self._admit()
        if self._search.busy:
            for query in self._search.step():
                self._finish(query)

    def _admit(self) -> None:
        """Move waiting queries into free slots, one of each caller in turn."""
        if self._search.busy and self._turns and self._search.free:
            self._waited += 1
            if min(self._waiting, self._search.free) < GROUP and self._waited < PATIENCE:
                return
        # A caller that has more queries goes to the end of the line.
        self._waited = 0
        while self._turns and self._search.free:
            caller = self._turns[0]
            line, query = caller.waiting[0]
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
                self._report(line)

    def _report(self, line: _Line) -> None:
        """Add the translations of a finished line to the results; a caller without further lines is forgotten.

        A line with a second request, as for its rare words, is searched again first.
        """
        translations = self.translator.translations(line.request, self.settings)
        if line.first is not None:
            translations = self.translator.of_both(line.request, line.first, translations)
        elif again := self.translator.second_request(line.request, translations, self.settings):
            self._search_again(line, again, translations)
            return
        if not line.links:
            translations = [replace(translation, linker=None) for translation in translations]
        self._found.append(LineResult(line.caller, line.place, translations))
        self._callers[line.caller].left -= 1
        if not self._callers[line.caller].left:
            del self._callers[line.caller]

    def _search_again(self, line: _Line, request: Request, first: list[Translation]) -> None:
        line.request, line.left, line.first = request, len(request.queries), first
        caller = self._callers[line.caller]
        if not caller.waiting:
            self._turns.append(caller)
        caller.waiting.extend((line, query) for query in request.queries)
        self._waiting += len(request.queries)

    def _fail(self) -> None:
        """Report the failure to every caller that has a query in the search, and begin a new search."""
        for line in {line for line in self._lines.values() if line.caller in self._callers}:
            self.cancel(line.caller)
            self._found.append(LineResult(line.caller, line.place, SearchFailed()))
        self._lines.clear()
        self._search = Search(self._backend, self.settings)
