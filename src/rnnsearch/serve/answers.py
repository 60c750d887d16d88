"""Answers to `POST /translate`, composed of translated sentences, as one JSON object or as a stream of events."""

from __future__ import annotations

import html
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar
from unicodedata import normalize

import regex
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import Match
from rnnsearch.serve.bounded import error_event
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.incoming import while_connected
from rnnsearch.serve.protocol import (
    MOST_TRANSLATIONS,
    AlignedSentence,
    Detected,
    Suggestion,
    TranslateRequest,
    TranslateResponse,
    aligned,
)
from rnnsearch.translation import Translation
from rnnsearch.translation.sentences import Readable

T = TypeVar("T")

_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+|[?!]")


class Similar(NamedTuple):
    """A segment that is similar to a text."""

    match: Match
    repaired: str | None
    """Its translation, with the numbers or the word of the text instead of its own; None if these cannot be exchanged."""


@dataclass(frozen=True)
class Remembered:
    """The translations and similar segments that a translation memory has for a request."""

    corrections: Sequence[str | None]
    """The translation of each sentence that is in the memory, and None for the others."""
    similar: Sequence[list[Similar]]
    """The segments that are similar to each text, where alternatives are requested."""
    known: bool = True
    """Whether there is a memory at all; without one, both sequences are empty."""


NO_MEMORY = Remembered((), (), known=False)


def n_best_size(params: TranslateRequest, beam: int) -> int:
    """Return how many translations of each sentence the search has to return for a request; `beam` is the model's own width.

    A request for alternatives needs the whole beam, because some hypotheses differ in nothing that a reader would notice.
    """
    alternatives = max(params.alternatives + 1, min(params.beam or beam, MOST_TRANSLATIONS)) if params.alternatives else 1
    return max(params.n_best, alternatives)


def answer(
    params: TranslateRequest,
    passages: Sequence[Readable],
    translations: Sequence[list[Translation]],
    sources: Sequence[Detected],
    remembered: Remembered = NO_MEMORY,
) -> TranslateResponse:
    """Compose the answer to a request from the n-best lists of all its sentences, in order."""
    at = 0
    suggestions, sentences = [], []
    for number, passage in enumerate(passages):
        part = slice(at, at := at + len(passage.sentences))
        n_best_lists, corrections = translations[part], remembered.corrections[part]
        corrected = bool(corrections) and None not in corrections
        similar = remembered.similar[number] if remembered.similar else []
        suggestions.append(_suggestions(params, passage, n_best_lists, corrected, similar))
        if params.alignment:
            pairs = zip(passage.sentences, n_best_lists, strict=True)
            sentences.append([aligned(sentence, n_best[: params.n_best]) for sentence, n_best in pairs])
    texts = [[suggestion.text for suggestion in of_text] for of_text in suggestions]
    many = not isinstance(params.q, str)

    def single_or_list(values: list[T]) -> T | list[T]:
        return values if many else values[0]

    return TranslateResponse(
        translatedText=single_or_list([best for best, *_ in texts]),
        alternatives=single_or_list([others for _, *others in texts]) if params.alternatives else None,
        suggestions=single_or_list(suggestions) if remembered.known else None,
        detectedLanguage=single_or_list(list(sources)) if params.source == "auto" else None,
        sentences=single_or_list(sentences) if params.alignment else None,
    )


def _suggestions(
    params: TranslateRequest,
    passage: Readable,
    n_best_lists: Sequence[list[Translation]],
    corrected: bool,
    similar: Sequence[Similar],
) -> list[Suggestion]:
    """Return different translations of a text: the best one, then those of similar segments, then further ones.

    The best one comes from the memory if the text is `corrected`: if the memory has all its sentences.
    """
    best, *others = islice(_joined(passage, n_best_lists), None if params.alternatives else 1)
    plain = html.escape if params.format == "html" else str
    each = [
        Suggestion(text=best, origin="memory", score=100.0) if corrected else Suggestion(text=best, origin="machine"),
        *(_of_match(match, repaired, plain) for match, repaired in similar),
        *(Suggestion(text=text, origin="machine") for text in others if text),
    ]
    different: dict[tuple[str, ...], Suggestion] = {}
    for suggestion in each:
        different.setdefault(_as_read(suggestion.text), suggestion)
    return list(islice(different.values(), params.alternatives + 1))


def _of_match(match: Match, repaired: str | None, plain: Callable[[str], str]) -> Suggestion:
    """Return the translation of a segment that is similar to a text."""
    if repaired is None:
        return Suggestion(text=plain(match.target), origin="memory", score=match.score, source=match.source)
    return Suggestion(text=plain(repaired), origin="repaired", score=match.score, source=match.source)


def _joined(passage: Readable, n_best_lists: Sequence[list[Translation]]) -> Iterator[str]:
    """Yield translations of a text, the best one first.

    Translation k of a text joins translation k of each sentence, or the last one of sentences that have fewer.
    """
    for rank in range(max((len(n_best) for n_best in n_best_lists), default=1)):
        yield passage.joined([n_best[min(rank, len(n_best) - 1)] for n_best in n_best_lists])


def _as_read(text: str) -> tuple[str, ...]:
    """Return what a reader notices of a text: its words without their case, question marks and exclamation marks."""
    text = normalize("NFKC", text).casefold().strip()
    return tuple(_WORDS.findall(text)) or (text,)


async def events(
    request: Request,
    work: AsyncGenerator[list[Translation], None],
    sentences: Sequence[tuple[int, str]],
    params: TranslateRequest,
) -> AsyncIterator[str]:
    """Yield server-sent events: `sentence` for each translated sentence, in order, then `done`, or `error` on a failure."""
    try:
        number = 0
        async for translations in while_connected(request, work):
            sentence: AlignedSentence = aligned(sentences[number][1], translations[: params.n_best])
            yield f"event: sentence\ndata: {sentence.model_dump_json()}\n\n"
            number += 1
        yield "event: done\ndata: {}\n\n"
    except (HTTPException, RnnsearchError, SearchFailed) as error:
        yield error_event(error.detail if isinstance(error, HTTPException) else str(error))


def as_json(answer: BaseModel) -> Response:
    """Return an answer as JSON, without fields that are None."""
    return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")
