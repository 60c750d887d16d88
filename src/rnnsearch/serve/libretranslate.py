"""The LibreTranslate protocol, with extensions."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import MOST_CHARACTERS
from rnnsearch.serve.answers import as_json, events
from rnnsearch.serve.files import ACCEPTED
from rnnsearch.serve.incoming import Fields, prefers_events
from rnnsearch.serve.languages import NAMES, served_code
from rnnsearch.serve.protocol import (
    DetectRequest,
    LanguagePairRequest,
    NextWord,
    NextWordsRequest,
    NextWordsResponse,
    PairRequest,
    PairResponse,
    Suggested,
    SuggestRequest,
    TargetLanguages,
    TranslateRequest,
    scored,
)
from rnnsearch.serve.server import Server

RequestT = TypeVar("RequestT", bound=LanguagePairRequest)


class LibreTranslate:
    """The endpoints of the protocol."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def routes(self) -> list[Route]:
        """Return the routes, without `/translate`, whose path other protocols share."""
        return [
            Route("/score", self.score, methods=["POST"]),
            Route("/align", self.score, methods=["POST"]),
            Route("/next-words", self.next_words, methods=["POST"]),
            Route("/detect", self.detect, methods=["POST"]),
            Route("/suggest", self.suggest, methods=["POST"]),
            Route("/languages", self.languages, methods=["GET", "POST"]),
            Route("/frontend/settings", self.frontend_settings),
        ]

    async def translate(self, request: Request, fields: Fields) -> Response:
        """`POST /translate`: translations of texts, or a stream of translated sentences."""
        params = self._server.reader.checked(request, fields, TranslateRequest)
        streams = prefers_events(",".join(request.headers.getlist("accept")))
        if streams and params.format == "html":
            raise HTTPException(400, "format: a stream of sentences has no markup; ask for JSON, or for the format text")
        params.alignment |= streams  # the sentences of a stream have their alignments
        task = await self._server.task(params)
        if streams:
            return StreamingResponse(events(request, task.work, task.sentences, params), media_type="text/event-stream")
        return as_json(await self._server.answer(request, task))

    async def detect(self, request: Request) -> Response:
        """`POST /detect`: the probable languages of a text."""
        params = await self._server.reader.read(request, DetectRequest)
        texts = [params.q] if isinstance(params.q, str) else params.q
        self._server.check_length(texts)
        ranked = await asyncio.to_thread(self._server.ranked, texts)
        # Some clients understand only an answer with one language, so further languages are listed only in unclear cases.
        return JSONResponse([source.model_dump() for source in ranked if source.confidence >= ranked[0].confidence / 2])

    async def score(self, request: Request) -> Response:
        """`POST /score` and `POST /align`: the scores and alignments of sentence pairs."""
        params = await self._of_pair(request, PairRequest)
        sides = [[side] if isinstance(side, str) else side for side in (params.q, params.translation)]
        if len(sides[0]) != len(sides[1]):
            raise HTTPException(400, f"{len(sides[0])} sentences, but {len(sides[1])} translations; give one for each")
        self._server.check_length(sides[0] + sides[1])
        self._server.check_sentences(len(sides[0]))
        model = await asyncio.to_thread(self._server.one_model, params, sides[0])
        pairs = await self._server.search.score(model, sides[0], sides[1])
        return as_json(PairResponse(pairs=[scored(pair) for pair in pairs]))

    async def next_words(self, request: Request) -> Response:
        """`POST /next-words`: the most probable next words after the beginning of a translation."""
        params = await self._of_pair(request, NextWordsRequest)
        self._server.check_length([params.q, params.prefix])
        self._server.check_sentences(1)
        model = await asyncio.to_thread(self._server.one_model, params, [params.q])
        ranked = await self._server.search.next_words(model, params.q, params.prefix, params.count)
        words = [NextWord(word=word, probability=round(probability, 6)) for word, probability in ranked]
        return as_json(NextWordsResponse(words=words))

    async def languages(self, request: Request) -> Response:
        """`GET /languages`: all languages, with the target languages of each."""
        targets = {
            code: [target for source, target in self._server.models if source == code] for code in self._server.served
        }
        known = [TargetLanguages(code=code, name=NAMES.get(code, code), targets=its) for code, its in targets.items()]
        return JSONResponse([language.model_dump() for language in known])

    async def suggest(self, request: Request) -> Response:
        """`POST /suggest`: store the corrected translation of a text, line by line; it is on the disk before the answer.

        Without a memory, it is refused like by a LibreTranslate server that has switched it off.
        """
        memory = self._server.memory
        if memory is None:
            raise HTTPException(403, "suggestions are disabled on this server")
        params = await self._of_pair(request, SuggestRequest)
        self._server.check_length([params.q, params.s])
        sides = [[line for line in side.splitlines() if line.strip()] for side in (params.q, params.s)]
        if len(sides[0]) != len(sides[1]) or not sides[0]:
            raise HTTPException(400, f"{len(sides[0])} lines in q, and {len(sides[1])} in s; give one for each")
        if max(map(len, sides[0] + sides[1])) > MOST_CHARACTERS:
            raise HTTPException(413, f"a line has {MOST_CHARACTERS:,} characters at most; suggest it in parts")
        source = await asyncio.to_thread(self._server.source, params, sides[0])
        try:
            await asyncio.to_thread(memory.add, (source, params.target), list(zip(*sides, strict=True)))
        except RnnsearchError as error:
            raise HTTPException(507, str(error)) from None
        return as_json(Suggested())

    async def frontend_settings(self, request: Request) -> Response:
        """`GET /frontend/settings`: the settings that a page of LibreTranslate requests first."""
        (source, target), *_ = self._server.models
        return JSONResponse(
            {
                "apiKeys": self._server.keys,
                "keyRequired": self._server.keys,
                "charLimit": -1 if self._server.limits.characters is None else self._server.limits.characters,
                "frontendTimeout": 500,
                "suggestions": self._server.memory is not None,
                "filesTranslation": True,
                "supportedFilesFormat": ACCEPTED,
                "language": {
                    "source": {"code": source, "name": NAMES.get(source, source)},
                    "target": {"code": target, "name": NAMES.get(target, target)},
                },
            }
        )

    async def _of_pair(self, request: Request, kind: type[RequestT]) -> RequestT:
        """Read a request that concerns a pair of languages, with the codes by which these are served."""
        params = await self._server.reader.read(request, kind)
        params.source = served_code(params.source, [*self._server.served, "auto"])
        params.target = served_code(params.target, self._server.served)
        return params
