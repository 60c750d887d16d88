"""The HTTP server: what it answers, and the limits within which it does."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl

import torch
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client import generate_latest as as_prometheus_text
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.continuous import Caller, ContinuousTranslator
from rnnsearch.serve.openapi import openapi
from rnnsearch.serve.protocol import (
    AlignedSentence,
    Asked,
    Detected,
    Health,
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


ARRIVAL_SECONDS = 10
"""The time in which the header of a request has to arrive, and in which its body has to."""


FEW = 3
"""So few sentences are tokenised sooner than another thread could take them over."""


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and all of them together."""

    characters: int = 5000
    """The characters of a request, of all its texts together."""
    sentences: int = 200
    """The sentences of a request, segments of long ones counted."""
    queue: int = 1000
    """The sentences of all requests that may wait for a slot."""
    seconds: float = 60.0
    """The time that a request may take, its own arrival included."""

    @property
    def body(self) -> int:
        """The bytes of a request's body: a character may take twelve, as an escape of JSON or of a form."""
        return 12 * self.characters + 10_000


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
        self._keys = [_digest(key) for key in keys]
        self._log_text = log_text
        # Tokenising and detokenising, beside the search; scoring, one request at a time.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="text")
        self._scorer = ThreadPoolExecutor(1, thread_name_prefix="score", initializer=partial(torch.set_num_threads, 1))

        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "rnnsearch_requests", "Requests answered.", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram("rnnsearch_request_seconds", "Time to the answer.", ["path"], registry=self.registry)
        self._sentences = Counter("rnnsearch_sentences", "Sentences translated.", registry=self.registry)
        waiting = Gauge("rnnsearch_waiting_sentences", "Sentences without a slot.", registry=self.registry)
        waiting.set_function(lambda: self.waiting)
        searching = Gauge("rnnsearch_searched_sentences", "Sentences in slots.", registry=self.registry)
        searching.set_function(lambda: sum(engine.searching for engine in engines))

    @property
    def waiting(self) -> int:
        """The sentences that wait for a slot."""
        return sum(engine.waiting for engine in self.engines.values())

    # What is answered

    async def translate(self, request: Request) -> Response:
        """`POST /translate`."""
        asked = await self._asked(request, TranslateRequest)
        engine, source = self._engine(asked)
        texts = [asked.q] if isinstance(asked.q, str) else asked.q
        self._check_length(texts)
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
        found = [translations async for translations in _while_connected(request, work)]
        return _json(_answer(asked, passages, found, source))

    async def score(self, request: Request) -> Response:
        """`POST /score` and `POST /align`: given pairs, their scores and alignments."""
        asked = await self._asked(request, PairRequest)
        engine, _ = self._engine(asked)
        sides = [[side] if isinstance(side, str) else side for side in (asked.q, asked.translation)]
        if len(sides[0]) != len(sides[1]):
            raise HTTPException(400, f"{len(sides[0])} sentences, but {len(sides[1])} translations; give one for each")
        self._check_length(sides[0] + sides[1])
        self._check_sentences(len(sides[0]))
        pairs = await self._in(self._scorer, lambda: engine.translator.score(sides[0], sides[1]))
        return _json(PairResponse(pairs=[scored(pair) for pair in pairs]))

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
                "apiKeys": bool(self._keys),
                "keyRequired": bool(self._keys),
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
        return JSONResponse(openapi(self.limits.characters, bool(self._keys)))

    # How it is found

    async def _asked(self, request: Request, kind: type[A]) -> A:
        """What a request asks for; HTTPException where it is not understood, or has no key."""
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await self._body(request)
        try:
            if content_type == "application/json":
                asked = kind.model_validate_json(body)
            elif content_type in ("application/x-www-form-urlencoded", "") or not body:
                fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=1000)
                asked = kind.model_validate(_with_lists([*request.query_params.multi_items(), *fields]))
            else:
                raise HTTPException(415, f"{content_type}: give application/json or application/x-www-form-urlencoded")
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"][:1])
            raise HTTPException(400, f"{place}: {first['msg']}" if place else first["msg"]) from None
        except ValueError as error:  # no UTF-8, or too many fields
            raise HTTPException(400, str(error)) from None
        if self._keys and not _is_one_of(asked.api_key, self._keys):
            raise HTTPException(403, "the API key is missing or not one of this server's")
        return asked

    async def _body(self, request: Request) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > self.limits.body:
                        raise HTTPException(413, f"the request is longer than {self.limits.body:,} bytes")
        except TimeoutError:
            raise HTTPException(408, f"the request took more than {ARRIVAL_SECONDS} seconds to arrive") from None
        except ClientDisconnect:
            raise _ClientGone from None
        return bytes(body)

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
    ) -> AsyncIterator[list[Translation]]:
        """The translations of each sentence, in order, as they are found."""
        translator, settings = engine.translator, engine.settings
        prefixes = [asked.prefix] if asked.prefix else ()
        work = partial(translator.requests, sentences, n, prefixes, settings, asked.beam)
        try:
            requests = await self._in(self._threads, work) if len(sentences) > FEW else work()
        except RnnsearchError as error:
            raise HTTPException(400, str(error)) from None
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

    middleware = [Middleware(_Bounded, server=server)]
    if origins:
        middleware.append(Middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"]))
    return Starlette(
        routes=[
            Route("/translate", server.translate, methods=["POST"]),
            Route("/score", server.score, methods=["POST"]),
            Route("/align", server.score, methods=["POST"]),
            Route("/languages", server.languages),
            Route("/health", server.health),
            Route("/frontend/settings", server.frontend_settings),
            Route("/metrics", server.metrics),
            Route("/openapi.json", server.openapi),
        ],
        middleware=middleware,
        exception_handlers={HTTPException: _refuse},
        lifespan=lifespan,
    )


class _Bounded:
    """Around every request: its time limit, its record, and one sentence where something fails."""

    def __init__(self, app: ASGIApp, server: Server) -> None:
        self._app, self._server = app, server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        failure: Response | None = None
        try:
            async with asyncio.timeout(self._server.limits.seconds):
                await self._app(scope, receive, record)
        except TimeoutError:
            seconds = f"{self._server.limits.seconds:g}"
            failure = _error(503, f"it took more than {seconds} seconds; ask for less, or later", {"Retry-After": "5"})
        except _ClientGone:
            status = 499  # as nginx logs it
        except Exception:
            log.exception("%s failed", scope["path"])
            failure = _error(500, "the server failed; its log says how")
        if failure is not None and not status:
            await failure(scope, receive, record)
        route = scope.get("route")
        path = route.path if isinstance(route, Route) else "other"
        seconds_taken = time.perf_counter() - start
        self._server.requests.labels(path, status).inc()
        self._server.seconds.labels(path).observe(seconds_taken)
        log.info("%s %s %d %.0f ms", scope["method"], path, status, 1000 * seconds_taken)


class _ClientGone(Exception):
    """Whoever asked does not wait for the answer."""


async def _while_connected(request: Request, results: AsyncIterator[T]) -> AsyncIterator[T]:
    """The results, until the client goes away."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.ensure_future(disconnected())
    coming: asyncio.Future[T] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(_next(results))
            await asyncio.wait({gone, coming}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                raise _ClientGone
            try:
                yield coming.result()
            except StopAsyncIteration:
                return
    finally:
        for task in (gone, coming):
            if task is not None and not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await task


async def _next(results: AsyncIterator[T]) -> T:
    return await anext(results)


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
    request: Request, work: AsyncIterator[list[Translation]], sentences: Sequence[str], asked: TranslateRequest
) -> AsyncIterator[str]:
    """Server-sent events: `sentence` for each as it is translated, in order, then `done`; `error` if it breaks off."""
    try:
        number = 0
        async for translations in _while_connected(request, work):
            sentence: AlignedSentence = aligned(sentences[number], translations[: asked.n_best])
            yield f"event: sentence\ndata: {sentence.model_dump_json()}\n\n"
            number += 1
        yield "event: done\ndata: {}\n\n"
    except HTTPException as error:
        yield f"event: error\ndata: {_error_text(error)}\n\n"


def _error_text(error: HTTPException) -> str:
    return bytes(_error(error.status_code, error.detail).body).decode()


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, error.detail, dict(error.headers or {}))


def _error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status, headers)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")


def _with_lists(fields: Sequence[tuple[str, str]]) -> dict[str, str | list[str]]:
    """The fields of a form; one that is given several times is a list."""
    values: dict[str, str | list[str]] = {}
    for name, value in fields:
        before = values.get(name)
        if before is None:
            values[name] = value
        else:
            values[name] = [*([before] if isinstance(before, str) else before), value]
    return values


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _is_one_of(key: str, digests: Sequence[bytes]) -> bool:
    """Whether a key is one of these, in the same time whichever it is, or none."""
    given = _digest(key)
    return sum(hmac.compare_digest(given, digest) for digest in digests) > 0
