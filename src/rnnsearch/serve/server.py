"""The server: its models by pair of languages, its limits, and the translation of texts for all protocols."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import MOST_CHARACTERS, Memory
from rnnsearch.serve.answers import NO_MEMORY, Remembered, Similar, answer, n_best_size
from rnnsearch.serve.incoming import MOST_TRANSLATIONS_AT_ONCE, Limits, Reader, while_connected
from rnnsearch.serve.languages import Detector, served_code, without_markup
from rnnsearch.serve.protocol import Detected, LanguagePairRequest, TranslateRequest, TranslateResponse
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Markup, Tagged, has_tags, read_text
from rnnsearch.translation.repair import LEAST_SCORE, may_be_repaired, repaired
from rnnsearch.translation.sentences import Passage, Readable, as_passage

Read = Callable[[str, str, bool], Readable]
"""Reads a text as sentences: the text, the code of its language, and whether lines are split into sentences."""
log = logging.getLogger("rnnsearch.serve")

AT_ONCE = 256
"""The number of sentences of a request that are passed to the search at once."""
MOST_FUZZY = 20
"""The most texts of a request for which similar segments are looked up in the memory: each takes up to a second."""
SURER = 5.0
"""A text is returned untranslated only if the target language is more probable than all other languages by this many
percentage points. A text that does not reveal its language, such as `OK`, is therefore translated."""


@dataclass(frozen=True)
class Task:
    """Texts to translate, and the translations of their sentences."""

    params: TranslateRequest
    detected: list[Detected]
    """The language of each text."""
    passages: list[Readable]
    """The texts as sentences."""
    sentences: list[tuple[int, str]]
    """The sentences of all texts, each with the number of its model."""
    remembered: Remembered
    """What the translation memory has for them."""
    work: AsyncGenerator[list[Translation], None]
    """The n-best list of each sentence, in order."""


class Server:
    """Answers requests with the models of its language pairs."""

    def __init__(
        self,
        search: SearchProcesses,
        limits: Limits,
        keys: Sequence[str] = (),
        log_text: bool = False,
        memory: Memory | None = None,
    ) -> None:
        """Create the server of these models.

        With `keys`, every request that needs computing time has to contain one of them. With `log_text`, all texts are
        logged. Sentences that are in the `memory` get its translations.
        """
        self.search, self.limits, self.memory = search, limits, memory
        self.models: dict[tuple[str, str], int] = {}
        for number, model in enumerate(search.models):
            pair = model.source_language, model.target_language
            if pair in self.models:
                raise RnnsearchError(f"two models translate {pair[0]} into {pair[1]}; give one for each pair of languages")
            self.models[pair] = number
        self.served = list(dict.fromkeys([*(source for source, _ in self.models), *(target for _, target in self.models)]))
        """The languages of all models, source languages first."""
        self.detector = Detector(self.served)
        self._waiting = 0
        """The number of sentences of accepted requests that the search has not received yet."""
        self.reader, self.keys = Reader(limits, keys), bool(keys)
        self._log_text = log_text

        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        for number, pid in enumerate(search.pids, 1):
            ProcessCollector(f"rnnsearch_search_{number}", pid=partial(int, pid), registry=self.registry)
        self._requests = Counter("rnnsearch_requests", "Requests answered.", ["path", "status"], registry=self.registry)
        self._seconds = Histogram("rnnsearch_request_seconds", "Time to the answer.", ["path"], registry=self.registry)
        self._sentences = Counter("rnnsearch_sentences", "Sentences translated.", registry=self.registry)
        under_way = Gauge(
            "rnnsearch_sentences_under_way", "Sentences requested and not answered yet.", registry=self.registry
        )
        under_way.set_function(lambda: search.under_way + self._waiting)

    def record(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    async def task(self, params: TranslateRequest, read: Read | None = None) -> Task:
        """Return the task of a request for translations, within the limits; nothing is translated yet.

        `read` reads a text as sentences; by default, it is read as the `format` of the request says.
        """
        params.source = served_code(params.source, [*self.served, "auto"])
        params.target = served_code(params.target, self.served)
        texts = [params.q] if isinstance(params.q, str) else params.q
        self.check_length([*texts, params.prefix])
        if self._log_text:
            log.info("text %r", texts)
        read = read or (Markup if params.format == "html" else read_text)
        detected, passages = await asyncio.to_thread(self._read, params, texts, read)
        models = [self.models.get((source.language, params.target), 0) for source in detected]
        sentences = [
            (model, sentence) for model, passage in zip(models, passages, strict=True) for sentence in passage.sentences
        ]
        if params.prefix and len(sentences) != 1:
            raise HTTPException(400, f"prefix: the text has {len(sentences)} sentences; a prefix needs a text of one")
        self.check_sentences(len(sentences), max(params.n_best, params.alternatives + 1))
        remembered = await asyncio.to_thread(self._remembered, params, detected, passages)
        links = params.alignment or any(map(_needs_links, passages, remembered.similar or [[]] * len(passages)))
        work = self._translations(sentences, remembered, params, links)
        return Task(params, detected, passages, sentences, remembered, work)

    async def answer(self, request: Request | None, task: Task) -> TranslateResponse:
        """Translate the texts of a task. With its request, raises ClientGone as soon as the client disconnects."""
        work = task.work if request is None else while_connected(request, task.work)
        translations = [n_best async for n_best in work]
        remembered = await self._with_exchanged_words(task, translations)
        return answer(task.params, task.passages, translations, task.detected, remembered)

    async def _with_exchanged_words(self, task: Task, translations: Sequence[list[Translation]]) -> Remembered:
        """Repair the translations of similar segments that differ from a sentence in one word.

        The word is exchanged by means of the alignments of the segment and of the sentence with their translations.
        """
        similar: list[list[Similar]] = []
        at = 0
        for passage, segments in zip(task.passages, task.remembered.similar, strict=False):
            repairs = list(segments)
            places = _repairable(passage, segments)
            if places:
                model, _ = task.sentences[at]
                matches = [segments[place].match for place in places]
                pairs = await self.search.score(model, [one.source for one in matches], [one.target for one in matches])
                for place, match, pair in zip(places, matches, pairs, strict=True):
                    repairs[place] = Similar(match, repaired(match.target, pair, translations[at][0]))
            similar.append(repairs)
            at += len(passage.sentences)
        return replace(task.remembered, similar=similar)

    def _read(self, params: TranslateRequest, texts: Sequence[str], read: Read) -> tuple[list[Detected], list[Readable]]:
        """Return the language of each text, and its sentences; a text that is in the target language already has none."""
        if params.source == "auto":
            detected = self._detected(texts, params)
        else:
            detected = [Detected(language=params.source, confidence=100)] * len(texts)
        if not texts:
            self._check_languages(params.source, params.target)
        passages: list[Readable] = []
        for text, language in zip(texts, (source.language for source in detected), strict=True):
            if language == params.target and language in self.served and (language, language) not in self.models:
                passages.append(Passage(text, [], []))
            else:
                self.model(language, params.target)
                passage = read(text, language, params.split_sentences)
                passages.append(self._remembered_whole(text, passage, read, (language, params.target)) or passage)
        return detected, passages

    def _remembered_whole(self, text: str, passage: Readable, read: Read, pair: tuple[str, str]) -> Readable | None:
        """Return a text of several sentences line by line, if the memory has all its lines."""
        if self.memory is None or len(passage.sentences) < 2 or len(text) > MOST_CHARACTERS:
            return None
        whole = read(text, pair[0], False)
        return whole if all(self.memory.exact(pair, line) is not None for line in whole.sentences) else None

    def _remembered(
        self, params: TranslateRequest, detected: Sequence[Detected], passages: Sequence[Readable]
    ) -> Remembered:
        """Look up the sentences and the texts of a request in the memory; with a prefix, nothing is looked up."""
        if self.memory is None:
            return NO_MEMORY
        corrections: list[str | None] = []
        similar: list[list[Similar]] = []
        for source, passage in zip(detected, passages, strict=True):
            pair = source.language, params.target
            corrections += [None if params.prefix else self.memory.exact(pair, one) for one in passage.sentences]
            look_up = params.alternatives and not params.prefix and len(passages) <= MOST_FUZZY and passage.sentences
            text = " ".join(passage.sentences)
            matches = self.memory.fuzzy(pair, text, params.alternatives) if look_up else []
            similar.append([Similar(match, match.repaired(text)) for match in matches])
        return Remembered(corrections, similar)

    def _detected(self, texts: Sequence[str], params: TranslateRequest) -> list[Detected]:
        """Detect the language of each text of a translation request, among the languages that are served."""
        only = self._only_source(params.target)
        if not self.detector.able:
            if only is None:
                raise HTTPException(400, "source: give a language; it cannot be detected here")
            return [Detected(language=only)] * len(texts)
        texts_ranked = self.detector.ranked_each(
            [without_markup(text) for text in texts] if params.format == "html" else texts
        )
        return [
            max(ranked, key=lambda source: source.confidence - SURER * (source.language == params.target))
            for ranked in texts_ranked
        ]

    def ranked(self, texts: Sequence[str]) -> list[Detected]:
        """Return the probable languages of all texts together, the most probable first."""
        if self.detector.able:
            return self.detector.ranked("\n".join(texts))
        return [Detected(language=language) for language in dict.fromkeys(source for source, _ in self.models)]

    def one_model(self, params: LanguagePairRequest, texts: Sequence[str]) -> int:
        """Return the number of the model for texts that are all in one language. HTTPException if there is no such model."""
        return self.model(self.source(params, texts), params.target)

    def source(self, params: LanguagePairRequest, texts: Sequence[str]) -> str:
        """Return the language of texts that are all in one. HTTPException if it is not translated into the target."""
        source = params.source
        if source == "auto":
            source = self._only_source(params.target) or self.ranked(texts)[0].language
        self.model(source, params.target)
        return source

    def _only_source(self, target: str) -> str | None:
        """Return the only language that is translated into `target`; None for several. HTTPException if there is none."""
        sources = [source for source, to in self.models if to == target]
        if not sources:
            self.model("auto", target)
        return sources[0] if len(sources) == 1 else None

    def _check_languages(self, source: str, target: str) -> None:
        """Check the languages of a request without texts. HTTPException if no text could be translated between them."""
        if source != target or source not in self.served:
            sources = self.served if source == "auto" else [source]
            if not any((one, target) in self.models for one in sources):
                self.model(source, target)

    def model(self, source: str, target: str) -> int:
        """Return the number of the model of a pair of languages. HTTPException if there is none."""
        if (source, target) not in self.models:
            pairs = ", ".join(f"{known} to {its_target}" for known, its_target in self.models)
            raise HTTPException(400, f"{source} to {target} is not translated here, but {pairs}"[:500])
        return self.models[source, target]

    def check_length(self, texts: Sequence[str]) -> None:
        """Raise HTTPException if texts have more characters than a request may have."""
        length, limit = sum(map(len, texts)), self.limits.characters
        if limit is not None and length > limit:
            raise HTTPException(413, f"{length:,} characters, and the limit is {limit:,}")

    def check_sentences(self, count: int, each: int = 1) -> None:
        """Raise HTTPException for too many sentences, too many translations, `each` per sentence, or a full queue."""
        limit = self.limits.sentences
        if limit is not None and count > limit:
            raise HTTPException(413, f"{count:,} sentences, and the limit is {limit:,}")
        if count * each > MOST_TRANSLATIONS_AT_ONCE:
            told = f"{count:,} sentences, {each} translations of each, and the limit is {MOST_TRANSLATIONS_AT_ONCE:,} in all"
            raise HTTPException(413, told)
        if self.search.under_way + self._waiting + count > self.limits.queue:
            raise HTTPException(503, "too many sentences are waiting; try again later", {"Retry-After": "2"})

    async def _translations(
        self, sentences: Sequence[tuple[int, str]], remembered: Remembered, params: TranslateRequest, links: bool
    ) -> AsyncGenerator[list[Translation], None]:
        """Yield the n-best list of each sentence by its model, in order, as soon as it is complete.

        The search receives a long text in parts, because it prepares all sentences that it receives before it continues with
        those of other requests.
        """
        corrections = remembered.corrections or [None] * len(sentences)
        left = len(sentences)
        self._waiting += left
        try:
            each = zip(sentences, corrections, strict=True)
            for model, group in groupby(each, key=lambda one: one[0][0]):
                lines = [(sentence, correction) for (_, sentence), correction in group]
                for start in range(0, len(lines), AT_ONCE):
                    part = lines[start : start + AT_ONCE]
                    self._waiting -= len(part)
                    left -= len(part)
                    async with aclosing(self._part(model, part, params, links)) as results:
                        async for translations in results:
                            self._sentences.inc()
                            yield translations
        finally:
            self._waiting -= left

    async def _part(
        self, model: int, lines: Sequence[tuple[str, str | None]], params: TranslateRequest, links: bool
    ) -> AsyncGenerator[list[Translation], None]:
        """Yield the n-best lists of sentences, each with its correction, if there is one, which is then the first.

        The model aligns corrections with their sentences, and translates these only where further translations are needed.
        """
        n = n_best_size(params, self.search.models[model].beam)
        corrected = [(sentence, correction) for sentence, correction in lines if correction is not None]
        sources, targets = [sentence for sentence, _ in corrected], [correction for _, correction in corrected]
        given = iter(await self.search.score(model, sources, targets))
        prefixes = [params.prefix] if params.prefix else ()
        rest = [sentence for sentence, correction in lines if correction is None or n > 1]
        beam = params.beam or None
        search = self.search.translations(model, rest, n, prefixes, beam, params.terms, params.protect, links)
        async with aclosing(search) as results:
            for _, correction in lines:
                machine = await anext(results) if correction is None or n > 1 else []
                if correction is None:
                    yield machine
                else:
                    best = next(given).as_translation(correction)
                    yield [best, *(other for other in machine if other.text != correction)][:n]


def read_tagged(text: str, language: str, split: bool) -> Readable:
    """Read a plain text that may have the tags of a translation tool."""
    return Tagged(text, language, split, xml=False) if has_tags(text) else as_passage(text, language, split)


def _needs_links(passage: Readable, similar: Sequence[Similar]) -> bool:
    """Whether the words of the translations of a text have to be linked even if its alignment is not shown.

    Tags are placed by links, and words are exchanged by links in similar segments.
    """
    return not isinstance(passage, Passage) or bool(_repairable(passage, similar))


def _repairable(passage: Readable, similar: Sequence[Similar]) -> list[int]:
    """Return the positions of the segments that differ in one word from a text of one sentence, and are not repaired yet."""
    if len(passage.sentences) != 1:
        return []
    (sentence,) = passage.sentences
    return [
        place
        for place, one in enumerate(similar)
        if one.repaired is None and one.match.score >= LEAST_SCORE and may_be_repaired(one.match.source, sentence)
    ]
