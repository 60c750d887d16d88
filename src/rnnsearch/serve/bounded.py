"""Around every request: its time limit, its record, and one sentence where something fails."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import ClientGone

log = logging.getLogger("rnnsearch.serve")


class Bounded:
    """Breaks a request off after so many `seconds`; `record` gets the path, the status and the time of each."""

    def __init__(self, app: ASGIApp, seconds: float, record: Callable[[str, int, float], None]) -> None:
        self._app, self._seconds, self._record = app, seconds, record

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
            async with asyncio.timeout(self._seconds):
                await self._app(scope, receive, record)
        except TimeoutError:
            told = f"it took more than {self._seconds:g} seconds; ask for less, or later"
            failure = error_response(503, told, {"Retry-After": "5"})
        except ClientGone:
            status = 499  # as nginx logs it
        except Exception:
            log.exception("%s failed", scope["path"])
            failure = error_response(500, "the server failed; its log says how")
        if failure is not None and not status:
            await failure(scope, receive, record)
        route = scope.get("route")
        path = route.path if isinstance(route, Route) else "other"
        seconds_taken = time.perf_counter() - start
        self._record(path, status, seconds_taken)
        log.info("%s %s %d %.0f ms", scope["method"], path, status, 1000 * seconds_taken)


async def refuse(request: Request, error: Exception) -> Response:
    """The answer where a request is refused or fails: the status of an `HTTPException`, 500 for `SearchFailed`, else 400."""
    if isinstance(error, HTTPException):
        return error_response(error.status_code, error.detail, dict(error.headers or {}))
    return error_response(500 if isinstance(error, SearchFailed) else 400, str(error))


def error_response(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """One sentence, as JSON."""
    return JSONResponse({"error": sentence}, status, headers)
