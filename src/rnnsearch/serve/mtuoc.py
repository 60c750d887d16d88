"""The protocol of MTUOC, which its plugins for OmegaT and Trados speak."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, ClassVar, cast

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from rnnsearch.serve.answers import as_json
from rnnsearch.serve.incoming import Fields
from rnnsearch.serve.languages import served_code
from rnnsearch.serve.protocol import AlignedSentence, KeyedRequest, Language, TranslateRequest
from rnnsearch.serve.server import Server, read_tagged

MOST_ALTERNATIVES = 4
"""The most further translations in an answer."""


class MtuocRequest(KeyedRequest):
    """`POST /translate` with `src`."""

    LISTS: ClassVar[tuple[str, ...]] = ()

    src: Annotated[str, Field(description="The text, in which tags stay.", examples=["She <tg1>sings</tg1>."])]
    id: Annotated[str | int, Field(description="Anything, to be repeated in the answer.")] = ""
    srcLang: Annotated[Language, Field(description="The language of the text; by default, it is detected.")] = "auto"
    tgtLang: Annotated[
        Language, Field(description="The language to translate into; by default, that of the first model.")
    ] = ""


class MtuocAlternative(BaseModel):
    """A further translation."""

    tgt: str


class MtuocResponse(BaseModel):
    """The answer to `MtuocRequest`. Tokens are separated by spaces."""

    id: str | int
    src: str
    tgt: str
    system_name: str = "rnnsearch"
    src_tokens: str
    tgt_tokens: str
    src_subwords: str
    tgt_subwords: str
    alignment: Annotated[
        str, Field(description="The positions of a source and of a target token that are linked: `0-0 1-2`.")
    ]
    alternate_translations: list[MtuocAlternative]


class Mtuoc:
    """The endpoint of the protocol."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def translate(self, request: Request, fields: Fields) -> Response:
        """`POST /translate` with `src`: a translation with its alignment, and alternatives."""
        params = self._server.reader.checked(request, fields, MtuocRequest)
        self._server.check_length([params.src])
        target = params.tgtLang or await asyncio.to_thread(self._target, params)
        translate_request = TranslateRequest(
            q=params.src, source=params.srcLang, target=target, alignment=True, alternatives=MOST_ALTERNATIVES
        )
        answer = await self._server.answer(request, await self._server.task(translate_request, read_tagged))
        source, tokens, links = _together(cast(list[AlignedSentence], answer.sentences))
        return as_json(
            MtuocResponse(
                id=params.id,
                src=params.src,
                tgt=cast(str, answer.translatedText),
                src_tokens=source,
                tgt_tokens=tokens,
                src_subwords=source,
                tgt_subwords=tokens,
                alignment=links,
                alternate_translations=[MtuocAlternative(tgt=cast(str, text)) for text in answer.alternatives or []],
            )
        )

    def _target(self, params: MtuocRequest) -> str:
        """Return the language to translate into where a request names none: that of the first model for its language."""
        pairs = list(self._server.models)
        if len({target for _, target in pairs}) == 1:
            return pairs[0][1]
        source = served_code(params.srcLang, self._server.served)
        if source == "auto":
            source = self._server.ranked([params.src])[0].language
        return next((target for its_source, target in pairs if its_source == source), pairs[0][1])


def _together(sentences: Sequence[AlignedSentence]) -> tuple[str, str, str]:
    """Return the source tokens, the target tokens and the links of all sentences, with positions in all of them together."""
    source: list[str] = []
    target: list[str] = []
    links: list[str] = []
    for sentence in sentences:
        links += [f"{len(source) + left}-{len(target) + right}" for left, right in sentence.links or []]
        source += sentence.source_tokens[:-1]
        target += sentence.tokens
    return " ".join(source), " ".join(target), " ".join(links)
