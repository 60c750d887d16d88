"""The application: the routes of all protocols, and what surrounds every request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client import generate_latest as as_prometheus_text
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.answers import as_json
from rnnsearch.serve.apertium import Apertium
from rnnsearch.serve.bounded import Bounded, refuse
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.deepl import DeepL
from rnnsearch.serve.files import Files
from rnnsearch.serve.libretranslate import LibreTranslate
from rnnsearch.serve.mtuoc import Mtuoc
from rnnsearch.serve.openapi import openapi
from rnnsearch.serve.page_files import page_routes
from rnnsearch.serve.protocol import Health
from rnnsearch.serve.server import Server


def make_app(
    server: Server, origins: Sequence[str] = (), beside: Callable[[], Coroutine[None, None, None]] | None = None
) -> Starlette:
    """Return the application; web pages of these `origins` may call it from a browser.

    What `beside` returns runs in the same loop, until the server stops.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server.search.attach()
        running = asyncio.create_task(beside()) if beside else None
        yield
        if running:
            running.cancel()
        server.search.detach()

    # The outermost middleware adds the CORS headers, so that every response has them, also a refusal.
    middleware = [Middleware(Bounded, seconds=server.limits.seconds, record=server.record)]
    if origins:
        allowed = {
            "allow_methods": ["GET", "POST", "DELETE"], "allow_headers": ["*"], "expose_headers": ["Retry-After"],
        }  # fmt: skip
        middleware.insert(0, Middleware(CORSMiddleware, allow_origins=list(origins), **allowed))  # type: ignore[arg-type]
    return Starlette(
        routes=[*_routes(server), *page_routes()],
        middleware=middleware,
        exception_handlers={HTTPException: refuse, RnnsearchError: refuse, SearchFailed: refuse},
        lifespan=lifespan,
    )


def _routes(server: Server) -> list[Route]:
    """Return the routes of all protocols, and those that tell of the server."""
    libretranslate, apertium, deepl, mtuoc = LibreTranslate(server), Apertium(server), DeepL(server), Mtuoc(server)

    async def translate(request: Request) -> Response:
        """`/translate`, whose fields say which protocol the client speaks."""
        fields = await server.reader.fields(request)
        if "langpair" in fields:
            return await apertium.translate(request, fields)
        if request.method != "POST":
            raise HTTPException(405, "Method Not Allowed", {"Allow": "POST"})
        if "src" in fields and "q" not in fields:
            return await mtuoc.translate(request, fields)
        return await libretranslate.translate(request, fields)

    async def health(request: Request) -> Response:
        """`GET /health`: fails if a search process has ended. Each model has translated before the server listens."""
        if server.search.lost:
            raise SearchFailed
        return as_json(Health())

    async def metrics(request: Request) -> Response:
        """`GET /metrics`: figures for Prometheus."""
        return Response(as_prometheus_text(server.registry), media_type=CONTENT_TYPE_LATEST)

    async def document(request: Request) -> Response:
        """`GET /openapi.json` and, as with LibreTranslate, `GET /spec`: the OpenAPI document."""
        return JSONResponse(described())

    @cache
    def described() -> dict[str, Any]:
        return openapi(server.limits.characters, server.keys, list(server.models))

    return [
        Route("/translate", translate, methods=["GET", "POST"]),
        *libretranslate.routes(),
        *Files(server).routes(),
        *apertium.routes(),
        *deepl.routes(),
        Route("/health", health),
        Route("/metrics", metrics),
        Route("/openapi.json", document),
        Route("/spec", document),
    ]
