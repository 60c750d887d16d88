"""Continuous batching: one search translates for many callers, whose sentences share its slots.

A sentence takes a slot as soon as another leaves it. Callers take turns, so that a single sentence does not wait for the end
of a long document. A translation is the one that the caller would have got alone: the sentences of a search do not affect
each other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

import torch

from rnnsearch.config import SearchConfig
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Query, Search, slots
from rnnsearch.translation import Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.translator import GivenTerms, Request

GROUP, PATIENCE = 8, 8
"""Sentences are encoded in groups, for a group takes hardly longer than one: beside others that are searched for, a sentence
waits until there are so many, but for no more than so many steps of the search."""
POSITIONS = 128
"""The source positions for which the search has room; a longer sentence waits until it can have a search of its own."""


@dataclass(eq=False)
class _Line:
    """A line of a caller that is being translated."""

    future: Future[Request]
    request: Request
    left: int
    """The number of queries whose search is not done."""


@dataclass(eq=False)
class Caller:
    """What one caller has asked for, in order; it takes turns with the others."""

    waiting: deque[tuple[_Line, Query]] = field(default_factory=deque)
    """Queries that the search does not have yet."""
    searching: set[Query] = field(default_factory=set)
    """Queries that the search has."""


class ContinuousTranslator:
    """A search in a thread of its own."""

    def __init__(
        self, translator: Translator, threads: int | None = None, terms: GivenTerms = None, **settings: object
    ) -> None:
        """`terms` and `settings` are those of `Translator.translate`; `batch_sentences` is the number of slots.

        `threads` is the number of PyTorch's threads for the search, all by default. OpenMP has a pool of threads for every
        thread that computes in parallel, and with more of them than cores each waits slowly for the others: so let no other
        thread of the program compute in parallel.

        Raises RnnsearchError for models of both directions, which are two searches.
        """
        if isinstance(translator, BidirectionalTranslator):
            raise RnnsearchError("L2R and R2L models together cannot be served; give one model")
        self.translator = translator
        self.settings: SearchConfig = translator.search_settings(settings)
        self.glossary = translator.glossary(terms)
        """The terms of whoever does not give others."""
        self._threads = threads or torch.get_num_threads()
        self._backend = translator.backend(self.settings)
        self._search = self._new_search(POSITIONS)
        self._lines: dict[Query, tuple[_Line, Caller]] = {}
        """The line and the caller of each query that the search has."""
        self._callers: deque[Caller] = deque()
        """Those who have queries waiting; the first one is next."""
        self._waiting = 0
        self._waited = 0
        """The steps since the first of those who wait could have had a slot."""
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)
        self._thread.start()

    def warm_up(self) -> None:
        """Translate one word, so that compiled loops are loaded before the first caller comes."""
        for future in self.submit(self.translator.requests(["."], 1, (), self.settings, glossary=self.glossary)):
            future.result()

    @property
    def waiting(self) -> int:
        """The number of sentences, or segments of long ones, that no slot has been found for yet."""
        return self._waiting + self._search.waiting

    @property
    def searching(self) -> int:
        """The number of sentences that have a slot."""
        return len(self._lines) - self._search.waiting

    def submit(self, requests: Sequence[Request], caller: Caller | None = None) -> list[Future[Request]]:
        """Have these lines translated (`Translator.requests`): each future gets its request when its queries are done.

        `Translator.translations` makes translations of it. Lines of one `caller` are translated in order. A future that is
        cancelled before its search has begun is not searched for; `cancel` takes back everything of a caller.
        """
        caller = caller or Caller()
        futures = []
        with self._changed:
            if self._closed:
                raise RnnsearchError("the server is shutting down")
            for request in requests:
                line = _Line(Future(), request, len(request.queries))
                futures.append(line.future)
                if not request.queries:
                    line.future.set_result(request)
                    continue
                if not caller.waiting:
                    self._callers.append(caller)
                caller.waiting.extend((line, query) for query in request.queries)
                self._waiting += len(request.queries)
            self._changed.notify()
        return futures

    def cancel(self, caller: Caller) -> None:
        """Take back what a caller has asked for: waiting sentences are dropped, and those in slots leave them."""
        with self._changed:
            self._waiting -= len(caller.waiting)
            lines = {line for line, _ in caller.waiting} | {self._lines[query][0] for query in caller.searching}
            caller.waiting.clear()
            if caller in self._callers:
                self._callers.remove(caller)
            for query in caller.searching:
                query.cancelled = True
        for line in lines:
            line.future.cancel()

    def close(self, seconds: float | None = None) -> None:
        """Accept nothing more, and wait until everything that was accepted is done, or for so many seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(seconds)

    def _new_search(self, positions: int) -> Search:
        return Search(self._backend, self.settings, slots(self.settings, positions), positions)

    def _run(self) -> None:
        torch.set_num_threads(self._threads)  # of this thread
        while True:
            with self._changed:
                while not (self._callers or self._search.busy or self._closed):
                    self._changed.wait()
                if self._closed and not (self._callers or self._search.busy):
                    return
                self._admit()
            try:
                done = self._search.step()
            except Exception as error:
                self._fail(error)
                continue
            for query in done:
                self._finish(query)

    def _admit(self) -> None:
        """Give the search what it has slots for, of each caller in turn."""
        if self._callers and not self._search.busy:
            # The search is empty, so it can be exchanged for one that has room for a long sentence, and back.
            positions = max(POSITIONS, self._callers[0].waiting[0][1].positions)
            if positions != self._search.positions:
                self._search = self._new_search(positions)
        if self._search.busy and self._callers and self._search.free:
            self._waited += 1
            if min(self._waiting, self._search.free) < GROUP and self._waited < PATIENCE:
                return
        self._waited = 0
        while self._callers and self._search.free:
            caller = self._callers[0]
            line, query = caller.waiting[0]
            if query.positions > self._search.positions or self._search.positions > POSITIONS >= query.positions:
                return  # until the search is empty
            caller.waiting.popleft()
            self._waiting -= 1
            self._callers.popleft()
            if caller.waiting:
                self._callers.append(caller)
            self._lines[query] = line, caller
            caller.searching.add(query)
            self._search.add([query])

    def _finish(self, query: Query) -> None:
        with self._changed:
            line, caller = self._lines.pop(query)
            caller.searching.discard(query)
        line.left -= 1
        if not line.left:
            with suppress(InvalidStateError):  # it was cancelled
                line.future.set_result(line.request)

    def _fail(self, error: Exception) -> None:
        """Tell everyone who has a sentence in the search that it broke off, and begin a new one."""
        with self._changed:
            failed = {line for line, _ in self._lines.values()}
            for query, (_, caller) in self._lines.items():
                caller.searching.discard(query)
            self._lines.clear()
            self._search = self._new_search(POSITIONS)
        for line in failed:
            with suppress(InvalidStateError):
                line.future.set_exception(error)
