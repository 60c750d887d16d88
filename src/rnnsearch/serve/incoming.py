"""Requests as they come in: read within limits, understood or refused, and dropped when nobody waits for the answer."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from rnnsearch.errors import shown
from rnnsearch.serve.forms import FORM, MULTIPART, codec_of, fields_of, options_of
from rnnsearch.serve.protocol import Requested

A = TypeVar("A", bound=Requested)
T = TypeVar("T")

_WEIGHT = re.compile(r"q=(0(\.\d{0,3})?|1(\.0{0,3})?)")
ARRIVAL_SECONDS = 10
"""The time in which the header of a request has to arrive, and in which its body has to."""


MOST_BYTES = 10_000_000
"""The bytes of a request's body, where no limit of characters makes it less."""
MOST_TRANSLATIONS_AT_ONCE = 50_000
"""The translations in the answer to a request, whatever its limits; and the sentences of all requests that may be under way,
where nothing else is said. About so many fit into a gigabyte."""


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and all of them together; None is no limit."""

    characters: int | None = 5000
    """The characters of a request, of all its texts together."""
    sentences: int | None = 200
    """The sentences of a request."""
    queue: int = 1000
    """The sentences of all requests that may be under way: in the search, or waiting for it."""
    seconds: float | None = 60.0
    """The time that a request may take, its own arrival included."""

    @property
    def body(self) -> int:
        """The bytes of a request's body: a character may take twelve, as an escape of JSON or of a form."""
        return MOST_BYTES if self.characters is None else min(MOST_BYTES, 12 * self.characters + 10_000)


OWN_LIMITS = Limits(None, None, MOST_TRANSLATIONS_AT_ONCE, None)
"""Those of a server that only the programs on its own computer reach. LibreTranslate has none by default; these leave what
bounds the memory."""


class ClientGone(Exception):
    """Whoever asked does not wait for the answer."""


class Reader:
    """Reads requests within `limits`; where there are `keys`, a request has to give one."""

    def __init__(self, limits: Limits, keys: Sequence[str]) -> None:
        self._limits = limits
        self._keys = [_digest(key) for key in keys]

    async def read(self, request: Request, kind: type[A]) -> A:
        """What a request asks for; HTTPException where it is not understood, or has no key."""
        content_type, options = options_of(request.headers.get("content-type", ""))
        body = await self._body(request)
        try:
            if content_type == "application/json" or content_type.endswith("+json"):
                given = from_json(body.decode(codec_of(options)).removeprefix("\ufeff"), allow_inf_nan=False)
                if not isinstance(given, dict):
                    raise HTTPException(400, "Invalid JSON: give an object")
                asked = kind.model_validate(_without_empty(given, kind), strict=True)  # a form has only text; JSON has types
            elif content_type in ("", FORM, MULTIPART) or not body:
                query = fields_of(FORM, {}, request.scope["query_string"])
                given = _with_lists([*query, *(fields_of(content_type, options, body) if body else [])], kind)
                asked = kind.model_validate(_without_empty(given, kind))
            else:
                raise HTTPException(415, f"{shown(content_type)}: give application/json, {FORM} or {MULTIPART}")
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"][:1])
            raise HTTPException(400, f"{place}: {first['msg']}" if place else first["msg"]) from None
        except ValueError as error:  # no JSON, no UTF-8, too many fields, or a broken form
            told = str(error)
            raise HTTPException(400, f"Invalid JSON: {told}" if content_type.endswith("json") else told) from None
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


def prefers_events(accept: str) -> bool:
    """Whether a client that accepts these types would rather have a stream of events than JSON: its header `Accept`.

    The greater weight decides, then which of the two it names first; JSON also goes by `application/*` and `*/*`. Events
    have to be named.
    """
    ranks: dict[str, tuple[float, int]] = {}
    for place, entry in enumerate(accept.lower().split(",")):
        name, *parameters = (part.strip() for part in entry.split(";"))
        weights = [part for part in parameters if part.startswith("q=")]
        if not weights or _WEIGHT.fullmatch(weights[0]):
            ranks.setdefault(name, (float(weights[0][2:]) if weights else 1.0, -place))
    events = ranks.get("text/event-stream", (0.0, 0))
    json = next((ranks[name] for name in ("application/json", "application/*", "*/*") if name in ranks), (0.0, 0))
    return events[0] > 0 and events > json


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


def _with_lists(fields: Sequence[tuple[str, str]], kind: type[Requested]) -> dict[str, object]:
    """The fields of a form. One that is given several times is a list, where it may be one; otherwise the first counts."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return {name: given if len(given) > 1 and name in kind.LISTS else given[0] for name, given in values.items()}


def _without_empty(given: Mapping[str, object], kind: type[Requested]) -> dict[str, object]:
    """What is given but for optional keys that are null or empty, as many clients send those they do not use."""
    optional = {name for name, field in kind.model_fields.items() if not field.is_required()}
    return {name: value for name, value in given.items() if name not in optional or (value is not None and value != "")}


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _is_one_of(key: str, digests: Sequence[bytes]) -> bool:
    """Whether a key is one of these, in the same time whichever it is, or none."""
    given = _digest(key)
    return sum(hmac.compare_digest(given, digest) for digest in digests) > 0
