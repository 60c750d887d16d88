"""Incoming requests: they are read within limits, parsed or refused, and dropped when the client disconnects."""

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
"""The time limit for the arrival of a request's header, and again for that of its body."""
KEY_SCHEME = "DeepL-Auth-Key"
"""The scheme of the `Authorization` header of DeepL's clients, which contains the API key."""

MOST_BYTES = 10_000_000
"""The largest body of a request, in bytes; a limit of characters may reduce it."""
MOST_TRANSLATIONS_AT_ONCE = 50_000
"""The most translations in the answer to a request, whatever its other limits, and the default limit of the sentences of all
requests that are under way. About this many fit into a gigabyte."""


@dataclass(frozen=True)
class Limits:
    """The limits of each request, and of all requests together; None means no limit."""

    characters: int | None = 5000
    """The most characters in all texts of a request together."""
    sentences: int | None = 200
    """The most sentences of a request."""
    queue: int = 1000
    """The most sentences of all requests that are under way: in the search, or waiting for it."""
    seconds: float | None = 60.0
    """The most time that a request may take, including its arrival."""

    @property
    def body(self) -> int:
        """The largest body of a request, in bytes: a character may take twelve, as an escape of JSON or of a form."""
        return MOST_BYTES if self.characters is None else min(MOST_BYTES, 12 * self.characters + 10_000)


OWN_LIMITS = Limits(None, None, MOST_TRANSLATIONS_AT_ONCE, None)
"""The limits of a server that only programs on its own computer can reach. LibreTranslate has no limits by default; these
only bound the memory."""


class ClientGone(Exception):
    """The client has disconnected before it received the answer."""


@dataclass(frozen=True)
class Fields:
    """The fields of a request, before a protocol has checked them."""

    values: Mapping[str, object]
    """Those of a JSON object, or, for a form, lists of texts."""
    typed: bool
    """Whether they come from JSON, which has types; a form consists of texts only."""

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def of(self, kind: type[Requested]) -> dict[str, object]:
        """Return the fields as a request of type `kind` has them.

        A repeated field of a form is a list if its type allows one; otherwise its first value counts. Optional fields that
        are null or empty are left out, because many clients send these for what they do not use.
        """
        values = dict(self.values)
        if not self.typed:
            several = {name for name in kind.LISTS if len(self.values.get(name, ())) > 1}  # type: ignore[arg-type]
            values = {name: texts if name in several else texts[0] for name, texts in values.items()}  # type: ignore[index]
        optional = {name for name, field in kind.model_fields.items() if not field.is_required()}
        return {name: value for name, value in values.items() if name not in optional or value not in (None, "")}


class Reader:
    """Reads requests within `limits`; if there are `keys`, every request has to contain one of them."""

    def __init__(self, limits: Limits, keys: Sequence[str]) -> None:
        self._limits = limits
        self._keys = [_digest(key) for key in keys]

    async def read(self, request: Request, kind: type[A]) -> A:
        """Parse a request as an object of type `kind`. HTTPException if it is invalid, or has no valid key."""
        return self.checked(request, await self.fields(request, kind.MOST_BYTES, kind.FILE), kind)

    async def fields(self, request: Request, most: int = 0, file: str = "") -> Fields:
        """Return the fields of a request: those of its JSON object, or those of its query string and its form.

        Its body may have `most` bytes, if these are more than the limit, and its field `file` may be a file. HTTPException
        or RnnsearchError if it is invalid.
        """
        content_type, options = options_of(request.headers.get("content-type", ""))
        body = await self._body(request, max(most, self._limits.body))
        try:
            is_json = content_type == "application/json" or content_type.endswith("+json")
            if is_json and (body or request.method != "GET"):
                values = from_json(body.decode(codec_of(options)).removeprefix("\ufeff"), allow_inf_nan=False)
                if not isinstance(values, dict):
                    raise HTTPException(400, "Invalid JSON: give an object")
                return Fields(values, typed=True)
            if content_type in ("", FORM, MULTIPART) or not body:
                texts: dict[str, list[str | bytes]] = {}
                query = fields_of(FORM, {}, request.scope["query_string"])
                for name, value in [*query, *(fields_of(content_type, options, body, file) if body else [])]:
                    texts.setdefault(name, []).append(value)
                return Fields(texts, typed=False)
        except ValueError as error:  # no JSON, no UTF-8, too many fields, or a broken form
            told = str(error)
            raise HTTPException(400, f"Invalid JSON: {told}" if content_type.endswith("json") else told) from None
        raise HTTPException(415, f"{shown(content_type)}: give application/json, {FORM} or {MULTIPART}")

    def checked(self, request: Request, fields: Fields, kind: type[A]) -> A:
        """Return the fields of a request as an object of type `kind`. HTTPException for a wrong field or API key."""
        try:
            params = kind.model_validate(fields.of(kind), strict=fields.typed)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"][:1])
            raise HTTPException(400, f"{place}: {first['msg']}" if place else first["msg"]) from None
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        given = key.strip() if scheme == KEY_SCHEME else getattr(params, kind.KEY)
        if self._keys and not _is_one_of(given, self._keys):
            raise HTTPException(403, "the API key is missing or not one of this server's")
        return params

    async def _body(self, request: Request, most: int) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > most:
                        raise HTTPException(413, f"the request is longer than {most:,} bytes")
        except TimeoutError:
            raise HTTPException(408, f"the request took more than {ARRIVAL_SECONDS} seconds to arrive") from None
        except ClientDisconnect:
            raise ClientGone from None
        return bytes(body)


def prefers_events(accept: str) -> bool:
    """Whether a client with this `Accept` header prefers a stream of events to JSON.

    The type with the greater weight is preferred, or, with equal weights, the one that is named first. JSON is also matched
    by `application/*` and `*/*`; events only by their own name.
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
    """Yield the results; raise ClientGone as soon as the client disconnects."""

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


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _is_one_of(key: str, digests: Sequence[bytes]) -> bool:
    """Whether a key has one of these digests; the time that this takes does not depend on the key."""
    own_digest = _digest(key)
    return sum(hmac.compare_digest(own_digest, digest) for digest in digests) > 0
