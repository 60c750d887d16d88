"""Files that are translated: LibreTranslate's `/translate_file`, and the download of the translation."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rnnsearch.errors import shown
from rnnsearch.serve.answers import as_json
from rnnsearch.serve.page_files import HEADERS
from rnnsearch.serve.protocol import TranslatedFile, TranslateFileRequest, TranslateRequest
from rnnsearch.serve.server import Server

FORMATS: dict[str, Literal["text", "html"]] = {".txt": "text", ".html": "html", ".htm": "html"}
"""The formats of files that are translated, by the ends of their names."""
MOST_FILES, MOST_BYTES = 100, 100_000_000
"""The most translated files that are kept, and the most bytes of all of them; the oldest ones are dropped."""
_TYPES = {"text": "text/plain", "html": "text/html"}


@dataclass(frozen=True)
class _Kept:
    """A translated file."""

    name: str
    kind: Literal["text", "html"]
    content: bytes


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
        name = PurePath(params.filename)
        kind = FORMATS.get(name.suffix.lower())
        if kind is None:
            raise HTTPException(400, f"{shown(params.filename)}: give a file whose name ends in {', '.join(FORMATS)}")
        asked = TranslateRequest(q=params.file, source=params.source, target=params.target, format=kind)
        answer = await self._server.answer(request, await self._server.task(asked))
        content = cast(str, answer.translatedText).encode()
        number = str(uuid.uuid4())
        self._kept[number] = _Kept(f"{name.stem}_{asked.target}{name.suffix}", kind, content)
        while len(self._kept) > MOST_FILES or sum(len(one.content) for one in self._kept.values()) > MOST_BYTES:
            del self._kept[next(iter(self._kept))]
        return as_json(TranslatedFile(translatedFileUrl=f"{request.base_url}download_file/{number}"))

    async def download(self, request: Request) -> Response:
        """`GET /download_file/{number}`: a translated file, which a browser saves and does not show."""
        kept = self._kept.get(request.path_params["number"])
        if kept is None:
            raise HTTPException(404, "there is no such file, or not any more; translate it again")
        disposition = f"attachment; filename*=UTF-8''{quote(kept.name, safe='')}"
        return Response(kept.content, media_type=_TYPES[kept.kind], headers={**HEADERS, "Content-Disposition": disposition})
