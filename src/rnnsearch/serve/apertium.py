"""The protocol of Apertium's web service, APy, which OmegaT's and Weblate's connectors speak."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated, ClassVar, Literal, cast

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rnnsearch.serve.bounded import fail_as
from rnnsearch.serve.incoming import Fields
from rnnsearch.serve.languages import three_letters
from rnnsearch.serve.protocol import MOST_CODE, Key, Requested, TranslateRequest
from rnnsearch.serve.server import Read, Server, read_tagged
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.sentences import as_passage

_READERS: dict[str, Read] = {"html": Markup, "txt": as_passage}
"""The functions that read texts as sentences, by the formats that are not plain text with tags."""


class ApertiumRequest(Requested):
    """The fields of all requests."""

    LISTS: ClassVar[tuple[str, ...]] = ()
    KEY: ClassVar[str] = "key"

    key: Key = ""


class ApertiumTranslateRequest(ApertiumRequest):
    """`/translate`."""

    langpair: Annotated[str, Field(max_length=50, description="The two languages.", examples=["en|fr", "eng|fra"])]
    q: Annotated[str, Field(description="The text.", examples=["She sings."])]
    format: Annotated[
        Literal["html", "txt", "omegat", ""],
        Field(description="`html`: the text has markup and references; `txt`: none. By default, tags in plain text stay."),
    ] = ""


class ApertiumPairsRequest(ApertiumRequest):
    """`/listPairs`."""

    include_deprecated_codes: Annotated[str, Field(description="With any value: also the codes of two letters.")] = ""


class ApertiumIdentifyRequest(ApertiumRequest):
    """`/identifyLang`."""

    q: Annotated[str, Field(description="The text.", examples=["She sings."])]


class ApertiumTranslation(BaseModel):
    """A translation."""

    translatedText: str


class ApertiumPair(BaseModel):
    """A pair of languages."""

    sourceLanguage: str
    targetLanguage: str


class ApertiumResponse(BaseModel):
    """An answer."""

    responseDetails: str | None = None
    responseStatus: Literal[200] = 200


class ApertiumTranslateResponse(ApertiumResponse):
    """The answer to `/translate`."""

    responseData: ApertiumTranslation


class ApertiumPairsResponse(ApertiumResponse):
    """The answer to `/listPairs`."""

    responseData: list[ApertiumPair]


class ApertiumFailure(BaseModel):
    """The answer to a request that is refused or fails."""

    status: Literal["error"] = "error"
    code: int
    message: Annotated[str, Field(description="The name of the status.")]
    explanation: Annotated[str, Field(description="One sentence that says why.")]


class Apertium:
    """The endpoints of the protocol. Its requests may be GET or POST."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def routes(self) -> list[Route]:
        """Return the routes, without `/translate`, whose path other protocols share."""
        return [
            Route("/listPairs", self.pairs, methods=["GET", "POST"]),
            Route("/identifyLang", self.identify, methods=["GET", "POST"]),
        ]

    async def translate(self, request: Request, fields: Fields) -> Response:
        """`/translate`: the translation of a text, whose tags stay."""
        fail_as(request, failure)
        params = self._server.reader.checked(request, fields, ApertiumTranslateRequest)
        source, bar, target = params.langpair.partition("|")
        if not (source and bar and target) or max(len(source), len(target)) > MOST_CODE:
            raise HTTPException(400, "That pair is invalid, use e.g. eng|fra")
        read = _READERS.get(params.format, read_tagged)
        translate_request = TranslateRequest(q=params.q, source=source, target=target)
        answer = await self._server.answer(request, await self._server.task(translate_request, read))
        text = cast(str, answer.translatedText)
        return _as_json(ApertiumTranslateResponse(responseData=ApertiumTranslation(translatedText=text)))

    async def pairs(self, request: Request) -> Response:
        """`/listPairs`: the pairs of languages, by their codes of three letters."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, ApertiumPairsRequest)
        codes: list[Callable[[str], str]] = [three_letters, str] if params.include_deprecated_codes else [three_letters]
        pairs = [
            ApertiumPair(sourceLanguage=code(source), targetLanguage=code(target))
            for source, target in self._server.models
            for code in codes
        ]
        return _as_json(ApertiumPairsResponse(responseData=pairs))

    async def identify(self, request: Request) -> Response:
        """`/identifyLang`: the probability of each language."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, ApertiumIdentifyRequest)
        self._server.check_length([params.q])
        ranked = await asyncio.to_thread(partial(self._server.ranked, [params.q]))
        return JSONResponse({three_letters(one.language): round(one.confidence / 100, 3) for one in ranked})


def failure(status: int, sentence: str) -> dict[str, object]:
    """Return the body of a failure."""
    return ApertiumFailure(code=status, message=HTTPStatus(status).phrase, explanation=sentence).model_dump()


def _as_json(answer: ApertiumResponse) -> Response:
    return JSONResponse(answer.model_dump())
