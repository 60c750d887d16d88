"""The HTTP server: what it answers, and the limits within which it does."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import Any, TypeVar

import torch
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
from rnnsearch.serve.continuous import Caller, ContinuousTranslator
from rnnsearch.serve.incoming import Limits, Reader, while_connected
from rnnsearch.serve.openapi import openapi
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
from rnnsearch.serve.sentences import Passage, as_passage
from rnnsearch.translation import Translation

log = logging.getLogger("rnnsearch.serve")
A = TypeVar("A", bound=Asked)
T = TypeVar("T")

LANGUAGES = {
    "cs": "Czech", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""Names of languages; another is called by its code."""


FEW = 3
"""So few sentences are tokenised sooner than another thread could take them over."""


class Server:
    """Answers requests by the translators of its language pairs."""

    def __init__(
        self, engines: Sequence[ContinuousTranslator], limits: Limits, keys: Sequence[str] = (), log_text: bool = False
    ) -> None:
        """With `keys`, every request that costs time has to give one. `log_text` writes texts into the log."""
        self.engines: dict[tuple[str, str], ContinuousTranslator] = {}
        for engine in engines:
            data = engine.translator.system.config.data
            pair = data.source_language, data.target_language
            if pair in self.engines:
                raise RnnsearchError(f"two models translate {pair[0]} into {pair[1]}; give one for each pair of languages")
            self.engines[pair] = engine
        self.limits = limits
        self._reader, self._keys = Reader(limits, keys), bool(keys)
        self._log_text = log_text
        # Tokenising and detokenising, beside the search; scoring, one request at a time.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="text")
        self._scorer = ThreadPoolExecutor(1, thread_name_prefix="score", initializer=partial(torch.set_num_threads, 1))

        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter("rnnsearch_requests", "Requests answered.", ["path", "status"], registry=self.registry)
        self._seconds = Histogram("rnnsearch_request_seconds", "Time to the answer.", ["path"], registry=self.registry)
        self._sentences = Counter("rnnsearch_sentences", "Sentences translated.", registry=self.registry)
        waiting = Gauge("rnnsearch_waiting_sentences", "Sentences without a slot.", registry=self.registry)
        waiting.set_function(lambda: self.waiting)
        searching = Gauge("rnnsearch_searched_sentences", "Sentences in slots.", registry=self.registry)
        searching.set_function(lambda: sum(engine.searching for engine in engines))

    @property
    def waiting(self) -> int:
        """The sentences that wait for a slot."""
        return sum(engine.waiting for engine in self.engines.values())

    def record(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)

    # What is answered

    async def translate(self, request: Request) -> Response:
        """`POST /translate`."""
        asked = await self._reader.read(request, TranslateRequest)
        engine, source = self._engine(asked)
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        self._check_length([*texts, asked.prefix])
        passages = [as_passage(text, source, asked.split_sentences) for text in texts]
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        if asked.prefix and len(sentences) != 1:
            raise HTTPException(400, f"prefix: the text has {len(sentences)} sentences; a prefix needs a text of one")
        if self._log_text:
            log.info("text %r", texts)
        n = max(asked.n_best, asked.alternatives + 1)
        work = self._translations(engine, sentences, asked, n)
        if "text/event-stream" in request.headers.get("accept", ""):
            return StreamingResponse(_events(request, work, sentences, asked), media_type="text/event-stream")
        found = [translations async for translations in while_connected(request, work)]
        return _json(_answer(asked, passages, found, source))

    async def score(self, request: Request) -> Response:
        """`POST /score` and `POST /align`: given pairs, their scores and alignments."""
        asked = await self._reader.read(request, PairRequest)
        engine, _ = self._engine(asked)
        sides = [[side] if isinstance(side, str) else side for side in (asked.q, asked.translation)]
        if len(sides[0]) != len(sides[1]):
            raise HTTPException(400, f"{len(sides[0])} sentences, but {len(sides[1])} translations; give one for each")
        self._check_length(sides[0] + sides[1])
        self._check_sentences(len(sides[0]))
        pairs = await self._in(self._scorer, lambda: engine.translator.score(sides[0], sides[1]))
        return _json(PairResponse(pairs=[scored(pair) for pair in pairs]))

    async def next_words(self, request: Request) -> Response:
        """`POST /next-words`: what may follow the beginning of a translation."""
        asked = await self._reader.read(request, NextWordsRequest)
        engine, _ = self._engine(asked)
        self._check_length([asked.q, asked.prefix])
        settings = {"forbid_unk": engine.settings.forbid_unk, "max_segment": engine.settings.max_segment}
        work = partial(engine.translator.next_words, asked.q, asked.prefix, asked.count, **settings)
        words = [
            NextWord(word=word, probability=round(probability, 6))
            for word, probability in await self._in(self._scorer, work)
        ]
        return _json(NextWordsResponse(words=words))

    async def languages(self, request: Request) -> Response:
        """`GET /languages`."""
        targets: dict[str, list[str]] = {}
        for source, target in self.engines:
            targets.setdefault(source, []).append(target)
        known = [
            TargetLanguages(code=code, name=LANGUAGES.get(code, code), targets=targets.get(code, []))
            for code in dict.fromkeys([*targets, *(target for _, target in self.engines)])
        ]
        return JSONResponse([one.model_dump() for one in known])

    async def health(self, request: Request) -> Response:
        """`GET /health`."""
        return _json(Health())

    async def frontend_settings(self, request: Request) -> Response:
        """`GET /frontend/settings`: what a page of LibreTranslate asks for first."""
        (source, target), *_ = self.engines
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
        return openapi(self.limits.characters, self._keys, list(self.engines))

    # How it is found

    def _engine(self, asked: Asked) -> tuple[ContinuousTranslator, str]:
        """The translator of the languages that are asked for, and the language of the source."""
        sources = [source for source, target in self.engines if target == asked.target]
        if asked.source != "auto":
            sources = [source for source in sources if source == asked.source]
        if len(sources) != 1:
            pairs = ", ".join(f"{source} to {target}" for source, target in self.engines)
            raise HTTPException(400, f"{asked.source} to {asked.target} is not translated here, but {pairs}"[:500])
        return self.engines[sources[0], asked.target], sources[0]

    def _check_length(self, texts: Sequence[str]) -> None:
        length = sum(map(len, texts))
        if length > self.limits.characters:
            raise HTTPException(413, f"{length:,} characters, and the limit is {self.limits.characters:,}")

    def _check_sentences(self, count: int) -> None:
        if count > self.limits.sentences:
            raise HTTPException(413, f"{count:,} sentences, and the limit is {self.limits.sentences:,}")
        if self.waiting + count > self.limits.queue:
            raise HTTPException(503, "too many sentences are waiting; try again later", {"Retry-After": "2"})

    async def _translations(
        self, engine: ContinuousTranslator, sentences: Sequence[str], asked: TranslateRequest, n: int
    ) -> AsyncGenerator[list[Translation], None]:
        """The translations of each sentence, in order, as they are found."""
        translator, settings = engine.translator, engine.settings
        prefixes = [asked.prefix] if asked.prefix else ()
        work = partial(translator.requests, sentences, n, prefixes, settings, asked.beam)
        requests = await self._in(self._threads, work) if len(sentences) > FEW else work()
        self._check_sentences(sum(len(request.queries) for request in requests))
        caller = Caller()
        try:
            for future in engine.submit(requests, caller):
                yield translator.translations(await asyncio.wrap_future(future), settings)
                self._sentences.inc()
        finally:
            engine.cancel(caller)

    async def _in(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, work)


def make_app(server: Server, origins: Sequence[str] = ()) -> Starlette:
    """The application; pages of `origins` may call it from a browser."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for engine in server.engines.values():
            engine.close(5)

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
        ],
        middleware=middleware,
        exception_handlers={HTTPException: refuse, RnnsearchError: refuse},
        lifespan=lifespan,
    )


def _answer(
    asked: TranslateRequest, passages: Sequence[Passage], found: list[list[Translation]], source: str
) -> TranslateResponse:
    """The answer to a request, of the translations of all its sentences."""
    rest = iter(found)
    texts, alternatives, sentences = [], [], []
    for passage in passages:
        n_best_lists = [next(rest) for _ in passage.sentences]
        ranks = range(min([asked.alternatives + 1, *map(len, n_best_lists)]) if n_best_lists else 1)
        best, *others = [passage.joined([n_best[rank].text for n_best in n_best_lists]) for rank in ranks]
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
    except (HTTPException, RnnsearchError) as error:
        told = {"error": error.detail if isinstance(error, HTTPException) else str(error)}
        yield f"event: error\ndata: {json.dumps(told)}\n\n"


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")
