"""The HTTP server: its endpoints, and the limits that requests have to observe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client import generate_latest as as_prometheus_text
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.answers import answer, as_json, events, wanted
from rnnsearch.serve.bounded import Bounded, refuse
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import MOST_TRANSLATIONS_AT_ONCE, Limits, Reader, prefers_events, while_connected
from rnnsearch.serve.languages import NAMES, Detector, served_code, without_markup
from rnnsearch.serve.openapi import openapi
from rnnsearch.serve.page_files import page_routes
from rnnsearch.serve.protocol import (
    Asked,
    Detected,
    DetectRequest,
    Health,
    NextWord,
    NextWordsRequest,
    NextWordsResponse,
    PairRequest,
    PairResponse,
    TargetLanguages,
    TranslateRequest,
    scored,
)
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.sentences import Passage, as_passage

AskedT = TypeVar("AskedT", bound=Asked)
log = logging.getLogger("rnnsearch.serve")

AT_ONCE = 256
"""The number of sentences of a request that are passed to the search at once."""
SURER = 5.0
"""A text is returned untranslated only if the target language is more probable than all other languages by this many
percentage points. A text that does not reveal its language, such as `OK`, is therefore translated."""


class Server:
    """Answers requests with the models of its language pairs."""

    def __init__(self, search: SearchProcesses, limits: Limits, keys: Sequence[str] = (), log_text: bool = False) -> None:
        """With `keys`, every request that needs computing time has to contain one of them. `log_text` logs all texts."""
        self.search, self.limits = search, limits
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
        self._reader, self._keys = Reader(limits, keys), bool(keys)
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

    # Endpoints

    async def translate(self, request: Request) -> Response:
        """`POST /translate`: translations of texts, or a stream of translated sentences."""
        params = await self._of_pair(request, TranslateRequest)
        texts = [params.q] if isinstance(params.q, str) else params.q
        self._check_length([*texts, params.prefix])
        streams = prefers_events(",".join(request.headers.getlist("accept")))
        if streams and params.format == "html":
            raise HTTPException(400, "format: a stream of sentences has no markup; ask for JSON, or for the format text")
        if self._log_text:
            log.info("text %r", texts)
        detected, passages = await asyncio.to_thread(self._read, params, texts)
        models = [self.models.get((source.language, params.target), 0) for source in detected]
        sentences = [
            (model, sentence) for model, passage in zip(models, passages, strict=True) for sentence in passage.sentences
        ]
        if params.prefix and len(sentences) != 1:
            raise HTTPException(400, f"prefix: the text has {len(sentences)} sentences; a prefix needs a text of one")
        self._check_sentences(len(sentences), max(params.n_best, params.alternatives + 1))
        work = self._translations(sentences, params)
        if streams:
            return StreamingResponse(events(request, work, sentences, params), media_type="text/event-stream")
        translations = [n_best async for n_best in while_connected(request, work)]
        return as_json(answer(params, passages, translations, detected))

    async def detect(self, request: Request) -> Response:
        """`POST /detect`: the probable languages of a text."""
        params = await self._reader.read(request, DetectRequest)
        texts = [params.q] if isinstance(params.q, str) else params.q
        self._check_length(texts)
        ranked = await asyncio.to_thread(self._ranked, texts)
        # Some clients understand only an answer with one language, so further languages are listed only in unclear cases.
        return JSONResponse([source.model_dump() for source in ranked if source.confidence >= ranked[0].confidence / 2])

    async def score(self, request: Request) -> Response:
        """`POST /score` and `POST /align`: the scores and alignments of sentence pairs."""
        params = await self._of_pair(request, PairRequest)
        sides = [[side] if isinstance(side, str) else side for side in (params.q, params.translation)]
        if len(sides[0]) != len(sides[1]):
            raise HTTPException(400, f"{len(sides[0])} sentences, but {len(sides[1])} translations; give one for each")
        self._check_length(sides[0] + sides[1])
        self._check_sentences(len(sides[0]))
        model = await asyncio.to_thread(self._one_model, params, sides[0])
        pairs = await self.search.score(model, sides[0], sides[1])
        return as_json(PairResponse(pairs=[scored(pair) for pair in pairs]))

    async def next_words(self, request: Request) -> Response:
        """`POST /next-words`: the most probable next words after the beginning of a translation."""
        params = await self._of_pair(request, NextWordsRequest)
        self._check_length([params.q, params.prefix])
        self._check_sentences(1)
        model = await asyncio.to_thread(self._one_model, params, [params.q])
        ranked = await self.search.next_words(model, params.q, params.prefix, params.count)
        words = [NextWord(word=word, probability=round(probability, 6)) for word, probability in ranked]
        return as_json(NextWordsResponse(words=words))

    async def languages(self, request: Request) -> Response:
        """`GET /languages`: all languages, with the target languages of each."""
        targets = {code: [target for source, target in self.models if source == code] for code in self.served}
        known = [TargetLanguages(code=code, name=NAMES.get(code, code), targets=its) for code, its in targets.items()]
        return JSONResponse([language.model_dump() for language in known])

    async def health(self, request: Request) -> Response:
        """`GET /health`: fails if a search process has ended. Each model has translated before the server listens."""
        if self.search.lost:
            raise SearchFailed
        return as_json(Health())

    async def suggest(self, request: Request) -> Response:
        """`POST /suggest`: refused like by a LibreTranslate server that has switched it off."""
        raise HTTPException(403, "suggestions are disabled on this server")

    async def translate_file(self, request: Request) -> Response:
        """`POST /translate_file`: refused like by a LibreTranslate server that has switched it off."""
        raise HTTPException(403, "the translation of files is disabled on this server; send their text to /translate")

    async def frontend_settings(self, request: Request) -> Response:
        """`GET /frontend/settings`: the settings that a page of LibreTranslate requests first."""
        (source, target), *_ = self.models
        return JSONResponse(
            {
                "apiKeys": self._keys,
                "keyRequired": self._keys,
                "charLimit": -1 if self.limits.characters is None else self.limits.characters,
                "frontendTimeout": 500,
                "suggestions": False,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "language": {
                    "source": {"code": source, "name": NAMES.get(source, source)},
                    "target": {"code": target, "name": NAMES.get(target, target)},
                },
            }
        )

    async def metrics(self, request: Request) -> Response:
        """`GET /metrics`: figures for Prometheus."""
        return Response(as_prometheus_text(self.registry), media_type=CONTENT_TYPE_LATEST)

    async def openapi(self, request: Request) -> Response:
        """`GET /openapi.json` and, as with LibreTranslate, `GET /spec`: the OpenAPI document."""
        return JSONResponse(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        return openapi(self.limits.characters, self._keys, list(self.models))

    # Languages, models, limits, and the translations

    def _read(self, params: TranslateRequest, texts: Sequence[str]) -> tuple[list[Detected], list[Passage | Markup]]:
        """Return the language of each text, and its sentences; a text that is in the target language already has none."""
        if params.source == "auto":
            detected = self._detected(texts, params)
        else:
            detected = [Detected(language=params.source, confidence=100)] * len(texts)
        read = Markup if params.format == "html" else as_passage
        passages: list[Passage | Markup] = []
        for text, language in zip(texts, (source.language for source in detected), strict=True):
            if language == params.target and language in self.served and (language, language) not in self.models:
                passages.append(Passage(text, [], []))
            else:
                self._model(language, params.target)
                passages.append(read(text, language, params.split_sentences))
        return detected, passages

    async def _of_pair(self, request: Request, kind: type[AskedT]) -> AskedT:
        """Read a request that concerns a pair of languages, with the codes by which these are served."""
        params = await self._reader.read(request, kind)
        params.source = served_code(params.source, [*self.served, "auto"])
        params.target = served_code(params.target, self.served)
        return params

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

    def _ranked(self, texts: Sequence[str]) -> list[Detected]:
        """Return the probable languages of all texts together, the most probable first."""
        if self.detector.able:
            return self.detector.ranked("\n".join(texts))
        return [Detected(language=language) for language in dict.fromkeys(source for source, _ in self.models)]

    def _one_model(self, params: Asked, texts: Sequence[str]) -> int:
        """Return the number of the model for texts that are all in one language. HTTPException if there is no such model."""
        source = params.source
        if source == "auto":
            source = self._only_source(params.target) or self._ranked(texts)[0].language
        return self._model(source, params.target)

    def _only_source(self, target: str) -> str | None:
        """Return the only language that is translated into `target`; None for several. HTTPException if there is none."""
        sources = [source for source, to in self.models if to == target]
        if not sources:
            self._model("auto", target)
        return sources[0] if len(sources) == 1 else None

    def _model(self, source: str, target: str) -> int:
        """Return the number of the model of a pair of languages. HTTPException if there is none."""
        if (source, target) not in self.models:
            pairs = ", ".join(f"{known} to {its_target}" for known, its_target in self.models)
            raise HTTPException(400, f"{source} to {target} is not translated here, but {pairs}"[:500])
        return self.models[source, target]

    def _check_length(self, texts: Sequence[str]) -> None:
        """Raise HTTPException if texts have more characters than a request may have."""
        length, limit = sum(map(len, texts)), self.limits.characters
        if limit is not None and length > limit:
            raise HTTPException(413, f"{length:,} characters, and the limit is {limit:,}")

    def _check_sentences(self, count: int, each: int = 1) -> None:
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
        self, sentences: Sequence[tuple[int, str]], params: TranslateRequest
    ) -> AsyncGenerator[list[Translation], None]:
        """Yield the n-best list of each sentence by its model, in order, as soon as it is complete.

        The search receives a long text in parts, because it prepares all sentences that it receives before it continues with
        those of other requests.
        """
        prefixes = [params.prefix] if params.prefix else ()
        left = len(sentences)
        self._waiting += left
        try:
            for model, group in groupby(sentences, key=itemgetter(0)):
                lines = [sentence for _, sentence in group]
                n = wanted(params, self.search.models[model].beam)
                for start in range(0, len(lines), AT_ONCE):
                    part = lines[start : start + AT_ONCE]
                    self._waiting -= len(part)
                    left -= len(part)
                    search = self.search.translations(
                        model, part, n, prefixes, params.beam or None, params.terms, params.protect
                    )
                    async with aclosing(search) as results:
                        async for translations in results:
                            self._sentences.inc()
                            yield translations
        finally:
            self._waiting -= left


def make_app(server: Server, origins: Sequence[str] = ()) -> Starlette:
    """Return the application; web pages of these `origins` may call it from a browser."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.search.attach()
        loading = asyncio.get_running_loop().run_in_executor(None, getattr, server.detector, "able")
        yield
        await loading
        server.search.detach()

    # The outermost middleware adds the CORS headers, so that every response has them, also a refusal.
    middleware = [Middleware(Bounded, seconds=server.limits.seconds, record=server.record)]
    if origins:
        allowed = {"allow_methods": ["GET", "POST"], "allow_headers": ["*"], "expose_headers": ["Retry-After"]}
        middleware.insert(0, Middleware(CORSMiddleware, allow_origins=list(origins), **allowed))  # type: ignore[arg-type]
    return Starlette(
        routes=[
            Route("/translate", server.translate, methods=["POST"]),
            Route("/score", server.score, methods=["POST"]),
            Route("/align", server.score, methods=["POST"]),
            Route("/next-words", server.next_words, methods=["POST"]),
            Route("/detect", server.detect, methods=["POST"]),
            Route("/suggest", server.suggest, methods=["POST"]),
            Route("/translate_file", server.translate_file, methods=["POST"]),
            Route("/languages", server.languages, methods=["GET", "POST"]),
            Route("/health", server.health),
            Route("/frontend/settings", server.frontend_settings),
            Route("/metrics", server.metrics),
            Route("/openapi.json", server.openapi),
            Route("/spec", server.openapi),
            *page_routes(),
        ],
        middleware=middleware,
        exception_handlers={HTTPException: refuse, RnnsearchError: refuse, SearchFailed: refuse},
        lifespan=lifespan,
    )
