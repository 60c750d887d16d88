"""Requests as they come in: read within limits, understood or refused, and dropped when nobody waits for the answer."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from rnnsearch.serve.protocol import Asked

A = TypeVar("A", bound=Asked)
T = TypeVar("T")

ARRIVAL_SECONDS = 10
"""The time in which the header of a request has to arrive, and in which its body has to."""


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and all of them together."""

    characters: int = 5000
    """The characters of a request, of all its texts together."""
    sentences: int = 200
    """The sentences of a request."""
    queue: int = 1000
    """The sentences of all requests that may be under way: in the search, or waiting for it."""
    seconds: float = 60.0
    """The time that a request may take, its own arrival included."""

    @property
    def body(self) -> int:
        """The bytes of a request's body: a character may take twelve, as an escape of JSON or of a form."""
        return 12 * self.characters + 10_000


class ClientGone(Exception):
    """Whoever asked does not wait for the answer."""


class Reader:
    """Reads requests within `limits`; where there are `keys`, a request has to give one."""

    def __init__(self, limits: Limits, keys: Sequence[str]) -> None:
        self._limits = limits
        self._keys = [_digest(key) for key in keys]

    async def read(self, request: Request, kind: type[A]) -> A:
        """What a request asks for; HTTPException where it is not understood, or has no key."""
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await self._body(request)
        try:
            if content_type == "application/json":
                asked = kind.model_validate_json(body, strict=True)  # a form has only text; JSON has types
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
                    if len(body) > self._limits.body:
                        raise HTTPException(413, f"the request is longer than {self._limits.body:,} bytes")
        except TimeoutError:
            raise HTTPException(408, f"the request took more than {ARRIVAL_SECONDS} seconds to arrive") from None
        except ClientDisconnect:
            raise ClientGone from None
        return bytes(body)


async def while_connected(request: Request, results: AsyncGenerator[T, None]) -> AsyncIterator[T]:
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
                raise ClientGone
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
        await results.aclose()


async def _next(results: AsyncIterator[T]) -> T:
    return await anext(results)


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
