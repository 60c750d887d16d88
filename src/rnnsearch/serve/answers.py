"""Answers to `POST /translate`: made of the translations of the sentences, at once or as a stream of events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from itertools import islice
from typing import TypeVar
from unicodedata import normalize

import regex
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.bounded import error_event
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import while_connected
from rnnsearch.serve.protocol import (
    MOST_TRANSLATIONS,
    AlignedSentence,
    Detected,
    TranslateRequest,
    TranslateResponse,
    aligned,
)
from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.sentences import Passage

T = TypeVar("T")

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+|[?!]")


def wanted(asked: TranslateRequest, beam: int) -> int:
    """How many translations of each sentence a request needs, by a model whose beam has this width by itself.

    For alternatives, these are all that the beam has: some differ in nothing that a reader would notice.
    """
    alternatives = max(asked.alternatives + 1, min(asked.beam or beam, MOST_TRANSLATIONS)) if asked.alternatives else 1
    return max(asked.n_best, alternatives)


def answer(
    asked: TranslateRequest,
    passages: Sequence[Passage | Markup],
    found: Sequence[list[Translation]],
    sources: Sequence[Detected],
) -> TranslateResponse:
    """The answer to a request, of the translations of all its sentences."""
    rest = iter(found)
    texts, alternatives, sentences = [], [], []
    for passage in passages:
        n_best_lists = [next(rest) for _ in passage.sentences]
        best, *others = _different(passage, n_best_lists, asked.alternatives + 1)
        texts.append(best)
        alternatives.append(others)
        if asked.alignment:
            pairs = zip(passage.sentences, n_best_lists, strict=True)
            sentences.append([aligned(sentence, n_best[: asked.n_best]) for sentence, n_best in pairs])
    many = not isinstance(asked.q, str)

    def one(values: list[T]) -> T | list[T]:
        return values if many else values[0]

    return TranslateResponse(
        translatedText=one(texts),
        alternatives=one(alternatives) if asked.alternatives else None,
        detectedLanguage=one(list(sources)) if asked.source == "auto" else None,
        sentences=one(sentences) if asked.alignment else None,
    )


def _different(passage: Passage | Markup, n_best_lists: Sequence[list[Translation]], count: int) -> list[str]:
    """The first `count` translations of a text that differ, the best one first; fewer where there are no more.

    A sentence that has fewer translations than others stays at its last one.
    """
    ranks = max((len(n_best) for n_best in n_best_lists), default=1)
    each = (
        passage.joined([n_best[min(rank, len(n_best) - 1)] for n_best in n_best_lists])
        for rank in range(ranks if count > 1 else 1)
    )
    different: dict[tuple[str, ...], str] = {}
    for text in each:
        different.setdefault(_as_read(text), text)
    return list(islice(different.values(), count))


def _as_read(text: str) -> tuple[str, ...]:
    """What a reader notices of a text: its words, whatever their case, and whether it asks or exclaims."""
    text = normalize("NFKC", text).casefold().strip()
    return tuple(_WORDS.findall(text)) or (text,)


async def events(
    request: Request,
    work: AsyncGenerator[list[Translation], None],
    sentences: Sequence[tuple[int, str]],
    asked: TranslateRequest,
) -> AsyncIterator[str]:
    """Server-sent events: `sentence` for each as it is translated, in order, then `done`; `error` if it breaks off."""
    try:
        number = 0
        async for translations in while_connected(request, work):
            sentence: AlignedSentence = aligned(sentences[number][1], translations[: asked.n_best])
            yield f"event: sentence\ndata: {sentence.model_dump_json()}\n\n"
            number += 1
        yield "event: done\ndata: {}\n\n"
    except (HTTPException, RnnsearchError, SearchFailed) as error:
        yield error_event(error.detail if isinstance(error, HTTPException) else str(error))


def as_json(answer: BaseModel) -> Response:
    """An answer; what is None is left out."""
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")
