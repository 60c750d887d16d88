"""Files that are translated: LibreTranslate's `/translate_file`, and the download of the translation."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rnnsearch.errors import shown
from rnnsearch.formats.opening import SAMPLE
from rnnsearch.formats.registry import ENDINGS, document_format_of, document_of
from rnnsearch.formats.text_files import decoded
from rnnsearch.formats.units import Head
from rnnsearch.serve.answers import as_json
from rnnsearch.serve.page_files import HEADERS
from rnnsearch.serve.protocol import TranslatedFile, TranslateFileRequest, TranslateRequest
from rnnsearch.serve.server import Server
from rnnsearch.translation.documents import Document
from rnnsearch.translation.translation import Translation

_TEXTS: dict[str, Literal["text", "html"]] = {".txt": "text", ".html": "html", ".htm": "html"}
"""The formats of files that are translated as the same texts are by `/translate`, by the ends of their names."""
ACCEPTED = [*_TEXTS, *(ending for ending in ENDINGS if ending not in _TEXTS)]
"""The ends of the names of files that are translated."""
MOST_FILES, MOST_BYTES = 100, 100_000_000
"""The most translated files that are kept, and the most bytes of all of them; the oldest ones are dropped."""
MOST_TEXT = 4_000_000
"""The most bytes of text in a document, decompressed."""
_TYPES = {"text": "text/plain", "html": "text/html"}


@dataclass(frozen=True)
class _Kept:
    """A translated file."""

    name: str
    type: str
    content: bytes


class _File:
    """A document as the text of a request; `joined` replaces the bytes in `content` by those of the translation."""

    def __init__(self, content: bytes, name: str) -> None:
        """Read a document. Raises RnnsearchError if it is damaged, and HTTPException if it has no supported format."""
        self.content = content
        path = Path(name)
        format_ = document_format_of(Head(path, content[:SAMPLE]))
        if format_ is None:
            raise HTTPException(400, f"{shown(name)}: give a file whose name ends in {', '.join(ACCEPTED)}")
        self._document = document_of(content, format_, path, most_text=MOST_TEXT)
        self.text = "\n".join(slot.text for slot in self._document.slots)
        """All texts in it."""
        self.sentences: list[str] = []

    def read(self, _: str, language: str, split: bool) -> _File:
        """Split the texts of the document, which are in this language, into sentences."""
        self._read = Document(self._document, language, split)
        self.sentences = self._read.sentences
        return self

    def joined(self, translations: Sequence[Translation]) -> str:
        """Set `content` to the translated document, and return an empty text, because a document is not text."""
        self.content = self._read.joined(translations)
        return ""


class Files:
    """The endpoints of files."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._kept: dict[str, _Kept] = {}

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/translate_file", self.translate, methods=["POST"]),
            Route("/download_file/{number}", self.download),
        ]

    async def translate(self, request: Request) -> Response:
        """`POST /translate_file`: translate a file, and answer with the address of the translation."""
        params = await self._server.reader.read(request, TranslateFileRequest)
        content = params.file.encode() if isinstance(params.file, str) else params.file
        name = Path(Path(params.filename).name or "file")
        kind = _TEXTS.get(name.suffix.lower())
        if kind is None:
            found, type_ = await self._document(request, params, content, str(name)), "application/octet-stream"
        else:
            found, type_ = await self._text(request, params, decoded(content, name), kind), _TYPES[kind]
        number = str(uuid.uuid4())
        self._kept[number] = _Kept(f"{name.stem}_{params.target}{name.suffix}", type_, found)
        while len(self._kept) > MOST_FILES or sum(len(one.content) for one in self._kept.values()) > MOST_BYTES:
            del self._kept[next(iter(self._kept))]
        return as_json(TranslatedFile(translatedFileUrl=f"{request.base_url}download_file/{number}"))

    async def _text(self, request: Request, params: TranslateFileRequest, text: str, kind: Literal["text", "html"]) -> bytes:
        """Return the translation of a text, in UTF-8."""
        translate_request = TranslateRequest(q=text, source=params.source, target=params.target, format=kind)
        answer = await self._server.answer(request, await self._server.task(translate_request))
        return cast(str, answer.translatedText).encode()

    async def _document(self, request: Request, params: TranslateFileRequest, content: bytes, name: str) -> bytes:
        """Return the translation of a document, in its own encoding."""
        file = await asyncio.to_thread(_File, content, name)
        translate_request = TranslateRequest(q=file.text, source=params.source, target=params.target)
        await self._server.answer(request, await self._server.task(translate_request, file.read))
        return file.content

    async def download(self, request: Request) -> Response:
        """`GET /download_file/{number}`: a translated file, which a browser saves and does not show."""
        kept = self._kept.get(request.path_params["number"])
        if kept is None:
            raise HTTPException(404, "there is no such file, or not any more; translate it again")
        disposition = f"attachment; filename*=UTF-8''{quote(kept.name, safe='')}"
        return Response(kept.content, media_type=kept.type, headers={**HEADERS, "Content-Disposition": disposition})
