"""A part of version 2 of DeepL's protocol: translation of texts and documents, languages, glossaries and usage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rnnsearch.serve.answers import as_json
from rnnsearch.serve.bounded import fail_as
from rnnsearch.serve.deepl_documents import DeepLDocuments
from rnnsearch.serve.deepl_protocol import (
    DeepLAsked,
    DeepLGlossaries,
    DeepLGlossary,
    DeepLGlossaryPair,
    DeepLGlossaryPairs,
    DeepLGlossaryRequest,
    DeepLLanguage,
    DeepLLanguagesRequest,
    DeepLRequest,
    DeepLTranslateRequest,
    DeepLTranslateResponse,
    DeepLTranslation,
    DeepLUsage,
    failure,
)
from rnnsearch.serve.glossaries import Glossaries, StoredGlossary, entries
from rnnsearch.serve.languages import NAMES, served_code
from rnnsearch.serve.protocol import Detected, TranslateRequest
from rnnsearch.serve.server import Server
from rnnsearch.translation.markup import Tagged

VARIANTS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "pt": {"PT-BR": "Portuguese (Brazilian)", "PT-PT": "Portuguese (European)"},
}
"""The languages that clients name with a region if they are target languages."""


class DeepL:
    """The endpoints of the protocol."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._glossaries = Glossaries()
        self._characters = 0
        """The number of characters that were translated since the server started."""

    def routes(self) -> list[Route]:
        """Return the routes."""
        one = "/v2/glossaries/{number}"
        return [
            Route("/v2/translate", self.translate, methods=["POST"]),
            Route("/v2/languages", self.languages),
            Route("/v2/usage", self.usage),
            Route("/v2/glossary-language-pairs", self.pairs),
            Route("/v2/glossaries", self.glossaries, methods=["GET", "POST"]),
            Route(one, self.glossary, methods=["GET", "DELETE"]),
            Route(f"{one}/entries", self.entries),
            *DeepLDocuments(self._server, self._terms, self._count).routes(),
        ]

    async def translate(self, request: Request) -> Response:
        """`POST /v2/translate`: translations of texts."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, DeepLTranslateRequest)
        texts = [params.text] if isinstance(params.text, str) else params.text
        translate_request = TranslateRequest(
            q=texts,
            source=params.source_lang,
            target=params.target_lang,
            format="html" if params.tag_handling else "text",
            split_sentences=params.split_sentences != "0",
        )
        translate_request.terms = self._terms(params, texts)  # there may be more of them than in a request
        as_xml = partial(_read_xml, params.ignore_tags, params.splitting_tags) if params.tag_handling == "xml" else None
        task = await self._server.task(translate_request, as_xml)
        answer = await self._server.answer(request, task)
        self._count(sum(map(len, texts)))
        translations = [
            DeepLTranslation(detected_source_language=_code(source), text=text, billed_characters=len(own))
            for source, text, own in zip(task.detected, answer.translatedText, texts, strict=True)
        ]
        return as_json(DeepLTranslateResponse(translations=translations))

    async def languages(self, request: Request) -> Response:
        """`/v2/languages`: the source languages or the target languages."""
        fail_as(request, failure)
        params = await self._server.reader.read(request, DeepLLanguagesRequest)
        known: list[DeepLLanguage] = []
        for code in dict.fromkeys(pair[params.type == "target"] for pair in self._server.models):
            name = NAMES.get(code, code)
            if params.type == "source":
                known.append(DeepLLanguage(language=code.upper(), name=name))
                continue
            for variant, its_name in VARIANTS.get(code, {code.upper(): name}).items():
                known.append(DeepLLanguage(language=variant, name=its_name, supports_formality=False))
        return JSONResponse([language.model_dump(exclude_none=True) for language in known])

    async def usage(self, request: Request) -> Response:
        """`/v2/usage`: the number of characters that were translated since the server started."""
        await self._read(request)
        return as_json(DeepLUsage(character_count=self._characters))

    async def pairs(self, request: Request) -> Response:
        """`GET /v2/glossary-language-pairs`: the pairs of languages that a glossary may have."""
        await self._read(request)
        pairs = [DeepLGlossaryPair(source_lang=source, target_lang=target) for source, target in self._server.models]
        return as_json(DeepLGlossaryPairs(supported_languages=pairs))

    async def glossaries(self, request: Request) -> Response:
        """`GET /v2/glossaries`: the glossaries. `POST`: store one."""
        if request.method != "POST":
            await self._read(request)
            return as_json(DeepLGlossaries(glossaries=[_described(glossary) for glossary in self._glossaries]))
        fail_as(request, failure)
        params = await self._server.reader.read(request, DeepLGlossaryRequest)
        pair = self._pair(params.source_lang, params.target_lang)
        glossary = self._glossaries.add(params.name, *pair, entries(params.entries, params.entries_format))
        return JSONResponse(_described(glossary).model_dump(), 201)

    async def glossary(self, request: Request) -> Response:
        """`GET /v2/glossaries/{number}`: a glossary, without its entries. `DELETE`: forget it."""
        glossary = await self._named(request)
        if request.method != "DELETE":
            return as_json(_described(glossary))
        self._glossaries.delete(glossary.number)
        return Response(status_code=204)

    async def entries(self, request: Request) -> Response:
        """`GET /v2/glossaries/{number}/entries`: the entries of a glossary, as tab-separated values."""
        terms = (await self._named(request)).terms
        lines = "\n".join(f"{source}\t{target}" for source, target in terms.items())
        return PlainTextResponse(lines, media_type="text/tab-separated-values")

    def _count(self, characters: int) -> None:
        self._characters += characters

    async def _read(self, request: Request) -> None:
        """Read a request without fields of its own."""
        fail_as(request, failure)
        await self._server.reader.read(request, DeepLRequest)

    async def _named(self, request: Request) -> StoredGlossary:
        """Return the glossary that a request names in its path. HTTPException if there is none."""
        await self._read(request)
        return self._glossary(request.path_params["number"])

    def _glossary(self, number: str) -> StoredGlossary:
        glossary = self._glossaries.get(number)
        if glossary is None:
            raise HTTPException(404, "there is no glossary with this identifier")
        return glossary

    def _pair(self, source: str, target: str) -> tuple[str, str]:
        """Return the codes by which a pair of languages is served. HTTPException if there is no model for it."""
        pair = served_code(source, self._server.served), served_code(target, self._server.served)
        self._server.model(*pair)
        return pair

    def _terms(self, params: DeepLAsked, texts: Sequence[str]) -> dict[str, str]:
        """Return the terms for a request for translations, of the glossary that it names."""
        if not params.glossary_id:
            return {}
        glossary = self._glossary(params.glossary_id)
        if params.source_lang == "auto":
            raise HTTPException(400, "source_lang: give it; a glossary is for one pair of languages")
        if self._pair(params.source_lang, params.target_lang) != (glossary.source, glossary.target):
            raise HTTPException(400, f"glossary_id: this glossary is for {glossary.source} to {glossary.target}")
        return glossary.relevant(texts)


def _read_xml(ignored: Sequence[str], splitting: Sequence[str], text: str, language: str, split: bool) -> Tagged:
    return Tagged(text, language, split, ignored=ignored, splitting=splitting)


def _code(source: Detected) -> str:
    """Return a language as clients name that of a text, without its region."""
    return source.language.split("-")[0].upper()


def _described(glossary: StoredGlossary) -> DeepLGlossary:
    return DeepLGlossary(
        glossary_id=glossary.number,
        name=glossary.name,
        source_lang=glossary.source,
        target_lang=glossary.target,
        creation_time=glossary.created.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        entry_count=len(glossary.terms),
    )
