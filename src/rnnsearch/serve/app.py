"""The HTTP server: what it answers, and the limits within which it does."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import cached_property, partial
from typing import Any, TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client import generate_latest as as_prometheus_text
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.bounded import Bounded, refuse
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import Limits, Reader, while_connected
from rnnsearch.serve.openapi import openapi
from rnnsearch.serve.page_files import page_routes
from rnnsearch.serve.protocol import (
    AlignedSentence,
    Asked,
    Detected,
    Health,
    NextWord,
    NextWordsRequest,
    NextWordsResponse,
    PairRequest,
    PairResponse,
    TargetLanguages,
    TranslateRequest,
    TranslateResponse,
    aligned,
    scored,
)
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.sentences import Passage, as_passage, ranked

log = logging.getLogger("rnnsearch.serve")
A = TypeVar("A", bound=Asked)
T = TypeVar("T")

LANGUAGES = {
    "cs": "Czech", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""Names of languages; another is called by its code."""


class Server:
    """Answers requests by the models of its language pairs."""

    def __init__(self, search: SearchProcesses, limits: Limits, keys: Sequence[str] = (), log_text: bool = False) -> None:
        """With `keys`, every request that costs time has to give one. `log_text` writes texts into the log."""
        self.search, self.limits = search, limits
        self.models: dict[tuple[str, str], int] = {}
        for number, model in enumerate(search.models):
            pair = model.source_language, model.target_language
            if pair in self.models:
                raise RnnsearchError(f"two models translate {pair[0]} into {pair[1]}; give one for each pair of languages")
            self.models[pair] = number
        self._reader, self._keys = Reader(limits, keys), bool(keys)
        self._log_text = log_text

        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        for number, pid in enumerate(search.pids, 1):
            ProcessCollector(f"rnnsearch_search_{number}", pid=partial(int, pid), registry=self.registry)
        self._requests = Counter("rnnsearch_requests", "Requests answered.", ["path", "status"], registry=self.registry)
        self._seconds = Histogram("rnnsearch_request_seconds", "Time to the answer.", ["path"], registry=self.registry)
        self._sentences = Counter("rnnsearch_sentences", "Sentences translated.", registry=self.registry)
        under_way = Gauge("rnnsearch_sentences_under_way", "Sentences asked for and not answered.", registry=self.registry)
        under_way.set_function(lambda: search.under_way)

    def record(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    # What is answered

    async def translate(self, request: Request) -> Response:
        """`POST /translate`."""
        asked = await self._reader.read(request, TranslateRequest)
        model, source = self._model(asked)
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        self._check_length([*texts, asked.prefix])
        read = Markup if asked.format == "html" else as_passage
        passages = [read(text, source, asked.split_sentences) for text in texts]
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        if asked.prefix and len(sentences) != 1:
            raise HTTPException(400, f"prefix: the text has {len(sentences)} sentences; a prefix needs a text of one")
        streams = "text/event-stream" in request.headers.get("accept", "")
        if streams and asked.format == "html":
            raise HTTPException(400, "format: a stream of sentences has no markup; ask for JSON, or for the format text")
        if self._log_text:
            log.info("text %r", texts)
        self._check_sentences(len(sentences))
        work = self._translations(model, sentences, asked)
        if streams:
            return StreamingResponse(_events(request, work, sentences, asked), media_type="text/event-stream")
        found = [translations async for translations in while_connected(request, work)]
        return _json(_answer(asked, passages, found, source))

    async def score(self, request: Request) -> Response:
        """`POST /score` and `POST /align`: given pairs, their scores and alignments."""
        asked = await self._reader.read(request, PairRequest)
        model, _ = self._model(asked)
        sides = [[side] if isinstance(side, str) else side for side in (asked.q, asked.translation)]
        if len(sides[0]) != len(sides[1]):
            raise HTTPException(400, f"{len(sides[0])} sentences, but {len(sides[1])} translations; give one for each")
        self._check_length(sides[0] + sides[1])
        self._check_sentences(len(sides[0]))
        pairs = await self.search.score(model, sides[0], sides[1])
        return _json(PairResponse(pairs=[scored(pair) for pair in pairs]))

    async def next_words(self, request: Request) -> Response:
        """`POST /next-words`: what may follow the beginning of a translation."""
        asked = await self._reader.read(request, NextWordsRequest)
        model, _ = self._model(asked)
        self._check_length([asked.q, asked.prefix])
        self._check_sentences(1)
        found = await self.search.next_words(model, asked.q, asked.prefix, asked.count)
        words = [NextWord(word=word, probability=round(probability, 6)) for word, probability in found]
        return _json(NextWordsResponse(words=words))

    async def languages(self, request: Request) -> Response:
        """`GET /languages`."""
        targets: dict[str, list[str]] = {}
        for source, target in self.models:
            targets.setdefault(source, []).append(target)
        known = [
            TargetLanguages(code=code, name=LANGUAGES.get(code, code), targets=targets.get(code, []))
            for code in dict.fromkeys([*targets, *(target for _, target in self.models)])
        ]
        return JSONResponse([one.model_dump() for one in known])

    async def health(self, request: Request) -> Response:
        """`GET /health`."""
        return _json(Health())

    async def frontend_settings(self, request: Request) -> Response:
        """`GET /frontend/settings`: what a page of LibreTranslate asks for first."""
        (source, target), *_ = self.models
        return JSONResponse(
            {
                "apiKeys": self._keys,
                "keyRequired": self._keys,
                "charLimit": self.limits.characters,
                "frontendTimeout": 500,
                "suggestions": False,
                "filesTranslation": False,
                "supportedFilesFormat": [],
                "language": {
                    "source": {"code": source, "name": LANGUAGES.get(source, source)},
                    "target": {"code": target, "name": LANGUAGES.get(target, target)},
                },
            }
        )

    async def metrics(self, request: Request) -> Response:
        """`GET /metrics`."""
        return Response(as_prometheus_text(self.registry), media_type=CONTENT_TYPE_LATEST)

    async def openapi(self, request: Request) -> Response:
        """`GET /openapi.json`."""
        return JSONResponse(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        return openapi(self.limits.characters, self._keys, list(self.models))

    # How it is found

    def _model(self, asked: Asked) -> tuple[int, str]:
        """The model of the languages that are asked for, and the language of the source."""
        sources = [source for source, target in self.models if target == asked.target]
        if asked.source != "auto":
            sources = [source for source in sources if source == asked.source]
        if len(sources) != 1:
            pairs = ", ".join(f"{source} to {target}" for source, target in self.models)
            raise HTTPException(400, f"{asked.source} to {asked.target} is not translated here, but {pairs}"[:500])
        return self.models[sources[0], asked.target], sources[0]

    def _check_length(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.limits.characters:
            raise HTTPException(413, f"{length:,} characters, and the limit is {self.limits.characters:,}")

    def _check_sentences(self, count: int) -> None:
        if count > self.limits.sentences:
            raise HTTPException(413, f"{count:,} sentences, and the limit is {self.limits.sentences:,}")
        if self.search.under_way + count > self.limits.queue:
            raise HTTPException(503, "too many sentences are waiting; try again later", {"Retry-After": "2"})

    async def _translations(
        self, model: int, sentences: Sequence[str], asked: TranslateRequest
    ) -> AsyncGenerator[list[Translation], None]:
        """The translations of each sentence, in order, as they are found."""
        n = max(asked.n_best, asked.alternatives + 1)
        prefixes = [asked.prefix] if asked.prefix else ()
        found_each = self.search.translations(model, sentences, n, prefixes, asked.beam or None, asked.terms)
        async with aclosing(found_each) as found:
            async for translations in found:
                self._sentences.inc()
                yield translations


def make_app(server: Server, origins: Sequence[str] = ()) -> Starlette:
    """The application; pages of `origins` may call it from a browser."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.search.attach()
        yield
        server.search.detach()

    middleware = [Middleware(Bounded, seconds=server.limits.seconds, record=server.record)]
    if origins:
        middleware.append(Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"]))
    return Starlette(
        routes=[
            Route("/translate", server.translate, methods=["POST"]),
            Route("/score", server.score, methods=["POST"]),
            Route("/align", server.score, methods=["POST"]),
            Route("/next-words", server.next_words, methods=["POST"]),
            Route("/languages", server.languages),
            Route("/health", server.health),
            Route("/frontend/settings", server.frontend_settings),
            Route("/metrics", server.metrics),
            Route("/openapi.json", server.openapi),
            *page_routes(),
        ],
        middleware=middleware,
        exception_handlers={HTTPException: refuse, RnnsearchError: refuse, SearchFailed: refuse},
        lifespan=lifespan,
    )


def _answer(
    asked: TranslateRequest, passages: Sequence[Passage | Markup], found: list[list[Translation]], source: str
) -> TranslateResponse:
    """The answer to a request, of the translations of all its sentences."""
    rest = iter(found)
    texts, alternatives, sentences = [], [], []
    for passage in passages:
        n_best_lists = [next(rest) for _ in passage.sentences]
        best, *others = [passage.joined(each) for each in ranked(n_best_lists, asked.alternatives + 1)]
        texts.append(best)
        alternatives.append(others)
        if asked.alignment:
            pairs = zip(passage.sentences, n_best_lists, strict=True)
            sentences.append([aligned(sentence, n_best[: asked.n_best]) for sentence, n_best in pairs])
    many = not isinstance(asked.q, str)
    detected = [Detected(language=source) for _ in texts] if asked.source == "auto" else None

    def one(values: list[T]) -> T | list[T]:
        return values if many else values[0]

    return TranslateResponse(
        translatedText=one(texts),
        alternatives=one(alternatives) if asked.alternatives else None,
        detectedLanguage=None if detected is None else one(detected),
        sentences=one(sentences) if asked.alignment else None,
    )


async def _events(
    request: Request, work: AsyncGenerator[list[Translation], None], sentences: Sequence[str], asked: TranslateRequest
) -> AsyncIterator[str]:
    """Server-sent events: `sentence` for each as it is translated, in order, then `done`; `error` if it breaks off."""
    try:
        number = 0
        async for translations in while_connected(request, work):
            sentence: AlignedSentence = aligned(sentences[number], translations[: asked.n_best])
            yield f"event: sentence\ndata: {sentence.model_dump_json()}\n\n"
            number += 1
        yield "event: done\ndata: {}\n\n"
    except (HTTPException, RnnsearchError, SearchFailed) as error:
        told = {"error": error.detail if isinstance(error, HTTPException) else str(error)}
        yield f"event: error\ndata: {json.dumps(told)}\n\n"


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")
