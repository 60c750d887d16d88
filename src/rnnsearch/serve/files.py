"""Files that are translated: LibreTranslate's `/translate_file`, and the download of the translation."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar, cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rnnsearch.errors import shown
from rnnsearch.formats.opening import SAMPLE
from rnnsearch.formats.recognition import ENDINGS, document_format_of
from rnnsearch.formats.registry import DOCUMENTS, document_of
from rnnsearch.formats.text_files import decoded
from rnnsearch.formats.units import Head
from rnnsearch.serve.answers import as_json
from rnnsearch.serve.page_files import HEADERS
from rnnsearch.serve.protocol import TranslatedFile, TranslateFileRequest, TranslateRequest, TranslateResponse
from rnnsearch.serve.server import Server, Task
from rnnsearch.translation.documents import Document
from rnnsearch.translation.translation import Translation

T = TypeVar("T")

_PLAIN, _HTML = ".txt", (".html", ".htm")
"""The ends of the names of plain text, which is translated as `/translate` does, and of HTML, whatever is in it."""
ACCEPTED = [_PLAIN, *_HTML, *(ending for ending in ENDINGS if ending not in (_PLAIN, *_HTML))]
"""The ends of the names of files that are translated."""
MOST_FILES, MOST_BYTES = 100, 100_000_000
"""The most translated files that are kept, and the most bytes of all of them; the oldest ones are dropped."""
MOST_TEXT = 4_000_000
"""The most bytes of text in a document, decompressed."""


@dataclass(frozen=True)
class FileTask:
    """A file that has been read, and is to be translated."""

    name: Path
    type: str
    task: Task
    content: Callable[[TranslateResponse], bytes]
    """Returns the translated file, when the task has been answered."""


class Recent(Generic[T]):
    """The newest of some values that clients name by their identifiers."""

    def __init__(self, size: Callable[[T], int]) -> None:
        """`size` returns the bytes that a value takes."""
        self._size = size
        self._values: dict[str, T] = {}

    def add(self, value: T) -> str:
        """Keep a value, and return its identifier."""
        number = str(uuid.uuid4())
        self._values[number] = value
        self.drop()
        return number

    def drop(self) -> None:
        """Drop the oldest values while there are too many of them, or they are too large together."""
        while len(self._values) > MOST_FILES or sum(map(self._size, self._values.values())) > MOST_BYTES:
            del self._values[next(iter(self._values))]

    def get(self, number: str) -> T | None:
        """Return the value with this identifier, if it is kept."""
        return self._values.get(number)


class _Translated(NamedTuple):
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
        if format_ is None and path.suffix.lower() in _HTML:
            format_ = DOCUMENTS["html"]
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


async def file_task(
    server: Server,
    content: bytes,
    filename: str,
    languages: tuple[str, str],
    terms: Callable[[Sequence[str]], dict[str, str]] = lambda texts: {},
) -> FileTask:
    """Read a file whose source and target languages are these; `terms` returns the terms for its texts.

    Raises RnnsearchError or HTTPException if it is damaged, has no supported format, or exceeds the limits of a request.
    """
    name = Path(Path(filename).name or "file")
    translate_request = TranslateRequest(q="", source=languages[0], target=languages[1])
    if name.suffix.lower() == _PLAIN:
        translate_request.q = decoded(content, name)
        translate_request.terms = terms([translate_request.q])
        return FileTask(
            name,
            "text/plain",
            await server.task(translate_request),
            lambda answer: cast(str, answer.translatedText).encode(),
        )
    file = await asyncio.to_thread(_File, content, str(name))
    translate_request.q = file.text
    translate_request.terms = terms([translate_request.q])
    return FileTask(
        name, "application/octet-stream", await server.task(translate_request, file.read), lambda _: file.content
    )


def as_attachment(name: str, type_: str, content: bytes) -> Response:
    """Return a translated file, which a browser saves and does not show."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=type_, headers={**HEADERS, "Content-Disposition": disposition})


class Files:
    """The endpoints of files."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._recent = Recent[_Translated](lambda file: len(file.content))

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
        file = await file_task(self._server, content, params.filename, (params.source, params.target))
        translated = file.content(await self._server.answer(request, file.task))
        name = f"{file.name.stem}_{params.target}{file.name.suffix}"
        number = self._recent.add(_Translated(name, file.type, translated))
        return as_json(TranslatedFile(translatedFileUrl=f"{request.base_url}download_file/{number}"))

    async def download(self, request: Request) -> Response:
        """`GET /download_file/{number}`: a translated file."""
        kept = self._recent.get(request.path_params["number"])
        if kept is None:
            raise HTTPException(404, "there is no such file, or not any more; translate it again")
        return as_attachment(*kept)
