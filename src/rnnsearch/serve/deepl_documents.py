"""Documents in DeepL's protocol: they are sent, translated while the client asks how far they are, and fetched."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.serve.answers import as_json
from rnnsearch.serve.bounded import fail_as
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.deepl_protocol import (
    DeepLAsked,
    DeepLDocument,
    DeepLDocumentKey,
    DeepLDocumentRequest,
    DeepLDocumentStatus,
    failure,
)
from rnnsearch.serve.files import FileTask, Recent, as_attachment, file_task
from rnnsearch.serve.server import Server

log = logging.getLogger("rnnsearch.serve")


@dataclass
class _Sent:
    """A document that was sent."""

    file: FileTask
    characters: int
    key: str = field(default_factory=lambda: secrets.token_hex(32))
    translated: bytes | None = None
    failed: str | None = None
    """Why it could not be translated."""

    @property
    def size(self) -> int:
        return self.characters if self.translated is None else len(self.translated)


class DeepLDocuments:
    """The endpoints of documents."""

    def __init__(
        self, server: Server, terms: Callable[[DeepLAsked, Sequence[str]], dict[str, str]], count: Callable[[int], None]
    ) -> None:
        """`terms` returns those of a request for texts, and `count` is called with the characters of each document."""
        self._server, self._terms, self._count = server, terms, count
        self._recent = Recent[_Sent](lambda sent: sent.size)
        self._working: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/v2/document/{number}"
        return [
            Route("/v2/document", self.send, methods=["POST"]),
            Route(one, self.status, methods=["POST"]),
            Route(f"{one}/result", self.result, methods=["POST"]),
        ]

    async def send(self, request: Request) -> Response:
        """`POST /v2/document`: begin to translate a document; what can be refused is refused at once."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, DeepLDocumentRequest)
        content = params.file.encode() if isinstance(params.file, str) else params.file
        languages = params.source_lang, params.target_lang
        file = await file_task(self._server, content, params.filename, languages, lambda texts: self._terms(params, texts))
        if params.output_format.lower() not in ("", file.name.suffix.lower()[1:]):
            raise HTTPException(
                400, f"output_format: {shown(params.output_format)} is not the format of {shown(file.name.name)}"
            )
        sent = _Sent(file, len(file.task.params.q))
        self._count(sent.characters)
        number = self._recent.add(sent)
        working = asyncio.create_task(self._translate(sent))
        self._working.add(working)  # the event loop itself keeps no reference
        working.add_done_callback(self._working.discard)
        return as_json(DeepLDocument(document_id=number, document_key=sent.key))

    async def status(self, request: Request) -> Response:
        """`POST /v2/document/{number}`: whether a document has been translated."""
        sent = await self._named(request)
        number = request.path_params["number"]
        if sent.failed is not None:
            return as_json(DeepLDocumentStatus(document_id=number, status="error", error_message=sent.failed))
        if sent.translated is None:
            return as_json(DeepLDocumentStatus(document_id=number, status="translating"))
        return as_json(DeepLDocumentStatus(document_id=number, status="done", billed_characters=sent.characters))

    async def result(self, request: Request) -> Response:
        """`POST /v2/document/{number}/result`: a translated document."""
        sent = await self._named(request)
        if sent.failed is not None:
            raise HTTPException(400, sent.failed)
        if sent.translated is None:
            raise HTTPException(503, "the document is not translated yet; ask for its status", {"Retry-After": "2"})
        return as_attachment(sent.file.name.name, sent.file.type, sent.translated)

    async def _named(self, request: Request) -> _Sent:
        """Return the document that a request names. HTTPException if there is none with this key."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, DeepLDocumentKey)
        sent = self._recent.get(request.path_params["number"])
        if sent is None or not hmac.compare_digest(sent.key.encode(), params.document_key.encode()):
            raise HTTPException(404, "there is no document with this identifier and key, or not any more; send it again")
        return sent

    async def _translate(self, sent: _Sent) -> None:
        try:
            sent.translated = sent.file.content(await self._server.answer(None, sent.file.task))
        except (HTTPException, RnnsearchError, SearchFailed) as error:
            sent.failed = error.detail if isinstance(error, HTTPException) else str(error)
        except Exception:
            log.exception("a document failed")
            sent.failed = "the server failed; its log says how"
        self._recent.drop()
