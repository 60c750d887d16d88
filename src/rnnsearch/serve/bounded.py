"""The middleware around every request: a time limit, a record, and a response of one sentence where a request fails."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import ClientGone

log = logging.getLogger("rnnsearch.serve")

_FAILURE = "rnnsearch.failure"
"""The key in a request's scope for the function that returns the body of a failure."""


class Bounded:
    """Aborts requests after `seconds`, if not None, and calls `record` with the path, status and duration of each."""

    def __init__(self, app: ASGIApp, seconds: float | None, record: Callable[[str, int, float], None]) -> None:
        self._app, self._seconds, self._record = app, seconds, record

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, streams = time.perf_counter(), 0, False

        async def record(message: Message) -> None:
            nonlocal status, streams
            if message["type"] == "http.response.start":
                status = message["status"]
                streams = Headers(raw=message["headers"]).get("content-type", "").startswith("text/event-stream")
            await send(message)

        failure: tuple[int, str] | None = None
        try:
            async with asyncio.timeout(self._seconds):
                await self._app(scope, receive, record)
        except TimeoutError:
            failure = 503, f"it took more than {self._seconds:g} seconds; ask for less, or later"
        except ClientGone:
            status = 499  # as nginx logs it
        except Exception:
            log.exception("%s failed", scope["path"])
            failure = 500, "the server failed; its log says how"
        if failure is not None and not status:
            code, told = failure
            headers = {"Retry-After": "5"} if code == 503 else {}
            await error_response(scope, code, told, headers)(scope, receive, record)
        elif failure is not None and streams:  # the status of a stream has been sent already
            await send({"type": "http.response.body", "body": error_event(failure[1]).encode(), "more_body": False})
        route = scope.get("route")
        path = route.path if isinstance(route, Route) else "other"
        seconds_taken = time.perf_counter() - start
        self._record(path, status, seconds_taken)
        log.info("%s %s %d %.0f ms", scope["method"], path, status, 1000 * seconds_taken)


async def refuse(request: Request, error: Exception) -> Response:
    """Answer a request that is refused or fails, with the status of an `HTTPException`, 500 for `SearchFailed`, or 400."""
    if isinstance(error, HTTPException):
        return error_response(request.scope, error.status_code, error.detail, dict(error.headers or {}))
    return error_response(request.scope, 500 if isinstance(error, SearchFailed) else 400, str(error))


def error_event(sentence: str) -> str:
    """Return the last event of a stream that fails."""
    return f"event: error\ndata: {json.dumps({'error': sentence})}\n\n"


def fail_as(request: Request, body: Callable[[int, str], dict[str, object]]) -> None:
    """Have the failure of a request answered in the form of its protocol: `body` returns it for a status and a sentence."""
    request.scope[_FAILURE] = body


def error_response(scope: Scope, status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return a response that contains one sentence as JSON, in the form of the protocol of the request."""
    body = scope.get(_FAILURE, lambda status, sentence: {"error": sentence})
    return JSONResponse(body(status, sentence), status, headers)
