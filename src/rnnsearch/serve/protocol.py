"""The requests and answers of the server: the LibreTranslate protocol, with extensions.

The types validate requests, and the OpenAPI document is generated from them.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from rnnsearch.text.spans import spans
from rnnsearch.translation import ScoredPair, Translation
from rnnsearch.translation.alignments import rounded, rounded_row
from rnnsearch.translation.confidence import confidence
from rnnsearch.translation.glossary import MOST_CHARACTERS

MOST_TRANSLATIONS = 20
"""The largest `n_best` and `beam`; the largest number of alternatives is one less."""

MOST_CODE = 20
"""The most characters of the code of a language."""

MOST_TERMS = 200
"""The largest number of terms of a request."""

MOST_PATTERNS, MOST_PATTERN = 20, 200
"""The most patterns of spans to keep in a request, and the most characters of one."""


def _whole(value: object) -> object:
    """Convert a whole float to an integer: 15.0 is an integer in JSON Schema."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _listed(value: object) -> object:
    """Convert a text to a list of one, because a form cannot tell them apart."""
    return [value] if isinstance(value, str) else value


WHOLE = BeforeValidator(_whole)
LISTED = BeforeValidator(_listed)
Key = Annotated[str, Field(description="An API key, where the server asks for one.")]
Term = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]
Language = Annotated[str, Field(max_length=MOST_CODE, examples=["en"])]


class Requested(BaseModel):
    """A request of any protocol."""

    model_config = ConfigDict(extra="ignore", strict=False)
    LISTS: ClassVar[tuple[str, ...]] = ("q", "translation")
    """The keys that may be repeated in a form."""
    KEY: ClassVar[str] = "api_key"
    """The field that contains the API key."""
    FILE: ClassVar[str] = ""
    """The field that may be a file in a multipart form; its name is then in the field `filename`."""
    MOST_BYTES: ClassVar[int] = 0
    """The size that its body may have in any case, whatever the limit of characters."""


class KeyedRequest(Requested):
    """The fields of all requests of the LibreTranslate protocol."""

    api_key: Key = ""


class LanguagePairRequest(KeyedRequest):
    """The fields of all requests that concern a pair of languages."""

    source: Annotated[Language, Field(description="The language of the text; `auto`, the default: it is detected.")] = "auto"
    target: Annotated[Language, Field(description="The language to translate into.")]


class TranslateRequest(LanguagePairRequest):
    """`POST /translate`."""

    LISTS: ClassVar[tuple[str, ...]] = ("q", "protect")

    q: Annotated[str | list[str], Field(description="A text, or a list of texts.", examples=["The man can no longer go."])]
    format: Annotated[Literal["text", "html"], Field(description="`text`: plain text; `html`: with markup.")] = "text"
    alternatives: Annotated[
        int,
        Field(ge=0, lt=MOST_TRANSLATIONS, description="The most further translations of each text, all of them different."),
        WHOLE,
    ] = 0
    alignment: Annotated[
        bool, Field(description="Whether to add `sentences`: each with its tokens, alignment, score and confidence.")
    ] = False
    n_best: Annotated[
        int, Field(ge=1, le=MOST_TRANSLATIONS, description="The number of translations of each of the `sentences`."), WHOLE
    ] = 1
    beam: Annotated[
        int,
        Field(ge=0, le=MOST_TRANSLATIONS, description="The width of the beam; 0, the default, is the model's own."),
        WHOLE,
    ] = 0
    prefix: Annotated[str, Field(description="How the translation begins; for a text of one sentence.")] = ""
    terms: Annotated[
        dict[Term, Term],
        Field(max_length=MOST_TERMS, description="Source terms and their translations, before those of the server."),
    ] = {}
    protect: Annotated[
        list[Annotated[str, Field(max_length=MOST_PATTERN)]],
        Field(
            max_length=MOST_PATTERNS,
            description="Regular expressions of spans to keep as they are written, for models that know protected spans.",
        ),
        LISTED,
    ] = []
    split_sentences: Annotated[
        bool, Field(description="Whether to translate sentence by sentence; otherwise, line by line.")
    ] = True


class TranslateFileRequest(LanguagePairRequest):
    """`POST /translate_file`."""

    LISTS: ClassVar[tuple[str, ...]] = ()
    FILE: ClassVar[str] = "file"

    MOST_BYTES: ClassVar[int] = 10_000_000
    """A document has much besides its text."""

    file: Annotated[
        bytes | str,
        Field(description="The file; in JSON, its text.", examples=["She sings."]),
        WithJsonSchema({"type": "string"}),
    ]
    filename: Annotated[str, Field(description="Its name, in JSON.", max_length=1000, examples=["a.txt"])] = "file.txt"


class DetectRequest(KeyedRequest):
    """`POST /detect`."""

    q: Annotated[str | list[str], Field(description="A text, or a list of texts of one language.", examples=["She sings."])]


class PairRequest(LanguagePairRequest):
    """`POST /score` and `POST /align`."""

    q: Annotated[str | list[str], Field(description="A sentence, or a list of sentences.", examples=["She sings."])]
    translation: Annotated[
        str | list[str], Field(description="Its translation, or a translation of each.", examples=["Elle chante."])
    ]


class SuggestRequest(LanguagePairRequest):
    """`POST /suggest`."""

    LISTS: ClassVar[tuple[str, ...]] = ()

    q: Annotated[str, Field(description="A text.", examples=["She sings."])]
    s: Annotated[str, Field(description="Its corrected translation, with as many lines.", examples=["Elle chante."])]


class NextWordsRequest(LanguagePairRequest):
    """`POST /next-words`."""

    LISTS: ClassVar[tuple[str, ...]] = ()

    q: Annotated[str, Field(description="A sentence.", examples=["She sings."])]
    prefix: Annotated[str, Field(description="How its translation begins.")] = ""
    count: Annotated[int, Field(ge=1, le=50, description="The number of words that may come next."), WHOLE] = 8


class Detected(BaseModel):
    """A probable language of a text."""

    confidence: Annotated[
        float,
        Field(ge=0, le=100, description="In percent; 0: the language is not detected, it is the only one there is."),
    ] = 0.0
    language: str


class AlignedTranslation(BaseModel):
    """A translation of a sentence with its alignment; fields that are None are left out."""

    text: str
    tokens: list[str]
    spans: Annotated[
        list[tuple[int, int]] | None,
        Field(description="Where each token stands in the text: its first character and the one after it, in code points."),
    ] = None
    weights: Annotated[
        list[list[float]] | None,
        Field(description="The attention of each target token to each source token, the end symbol of the source included."),
    ] = None
    end_weights: Annotated[list[float] | None, Field(description="The attention when the translation was ended.")] = None
    links: Annotated[
        list[tuple[int, int]] | None,
        Field(description="Pairs of a source and a target position: for each target token the source token that it read."),
    ] = None
    score: Annotated[float, Field(description="The log-probability of the translation given the sentence, in nats.")]
    confidence: Annotated[
        float,
        Field(
            description="From 0 to 1: the geometric mean of the probabilities that the model gave to the words and to the "
            "end, halved for each of the `missing` numbers. It says how sure the model is, and not whether it is right."
        ),
    ]
    missing: Annotated[
        list[str] | None,
        Field(description="The numbers of the sentence that the translation lacks. Left out where there are none."),
    ] = None
    terms: Annotated[
        list[tuple[int, int, int, int]] | None,
        Field(
            description="The terms: for each the positions of its first source token and of the one after its last, and "
            "likewise of its target tokens. Left out where there are none."
        ),
    ] = None
    finished: Annotated[bool, Field(description="False if the translation was cut off at the length limit.")]


class AlignedSentence(AlignedTranslation):
    """A sentence with its translation."""

    source: str
    source_tokens: Annotated[list[str], Field(description="The tokens of the sentence and the end symbol.")]
    source_spans: Annotated[
        list[tuple[int, int]] | None,
        Field(description="Where each source token but the end symbol stands in `source`, as for `spans`."),
    ] = None
    n_best: Annotated[
        list[AlignedTranslation], Field(description="The further translations, best first, where they are asked for.")
    ]


class Suggestion(BaseModel):
    """A translation of a text, and where it comes from."""

    text: str
    origin: Annotated[
        Literal["memory", "repaired", "machine"],
        Field(description="`repaired` is that of a similar segment of the memory, with the numbers or a word of the text."),
    ]
    score: Annotated[
        float | None, Field(ge=0, le=100, description="Of the memory: how similar its segment is to the text, in percent.")
    ] = None
    source: Annotated[str | None, Field(description="Of the memory: its segment, if it is not the text.")] = None


class TranslateResponse(BaseModel):
    """The answer to `POST /translate`; lists where `q` is a list."""

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None
    suggestions: Annotated[
        list[Suggestion] | list[list[Suggestion]] | None,
        Field(description="The translation and the alternatives, in order; of a server with a translation memory."),
    ] = None
    detectedLanguage: Detected | list[Detected] | None = None
    sentences: Annotated[
        list[AlignedSentence] | list[list[AlignedSentence]] | None, Field(description="Present with `alignment`.")
    ] = None


class TranslatedFile(BaseModel):
    """The answer to `POST /translate_file`."""

    translatedFileUrl: str


class Suggested(BaseModel):
    """The answer to `POST /suggest`."""

    success: Literal[True] = True


class ScoredSentence(BaseModel):
    """A sentence pair with its score and alignment."""

    source_tokens: list[str]
    tokens: list[str]
    score: float
    word_scores: Annotated[list[float], Field(description="The log-probability of each token and of the end, in nats.")]
    confidence: float
    weights: list[list[float]] | None = None
    end_weights: list[float] | None = None
    links: list[tuple[int, int]] | None = None


class PairResponse(BaseModel):
    """The answer to `POST /score` and `POST /align`."""

    pairs: list[ScoredSentence]


class NextWord(BaseModel):
    """A word that may come next."""

    word: Annotated[str | None, Field(description="Left out for the end of the translation.")] = None
    probability: float


class NextWordsResponse(BaseModel):
    """The answer to `POST /next-words`."""

    words: Annotated[list[NextWord], Field(description="The most probable first.")]


class TargetLanguages(BaseModel):
    """A source language, and its target languages."""

    code: str
    name: str
    targets: list[str]


class Health(BaseModel):
    """The answer to `GET /health`."""

    status: Literal["ok"] = "ok"


class Error(BaseModel):
    """The answer to a request that is refused or fails."""

    error: Annotated[str, Field(description="One sentence that says why.")]


def aligned(source: str, translations: list[Translation]) -> AlignedSentence:
    """Convert a sentence and its translations, the best one first, to the answer's form."""
    best, *others = translations
    return AlignedSentence(
        source=source,
        source_tokens=best.source_tokens,
        source_spans=spans(best.source_tokens[:-1], source),
        n_best=[AlignedTranslation(**_fields(translation)) for translation in others],
        **_fields(best),
    )


def scored(pair: ScoredPair) -> ScoredSentence:
    """Convert a scored sentence pair to the answer's form."""
    values = pair.to_dict()
    return ScoredSentence(
        source_tokens=pair.source_tokens,
        tokens=pair.tokens,
        score=values["score"],
        word_scores=values["word_scores"],
        confidence=confidence(pair.score, len(pair.tokens)),
        weights=values["alignment"],
        end_weights=values["end_alignment"],
        links=None if pair.links is None else sorted(pair.links),
    )


def _fields(translation: Translation) -> dict[str, object]:
    alignment, end_alignment = translation.alignment, translation.end_alignment
    return {
        "text": translation.text,
        "tokens": translation.tokens,
        "spans": spans(translation.tokens, translation.text),
        "weights": rounded(alignment),
        "end_weights": rounded_row(end_alignment),
        "links": None if translation.links is None else sorted(translation.links),
        "score": round(translation.score, 6),
        "confidence": confidence(translation.score, len(translation.tokens), len(translation.missing)),
        "missing": list(translation.missing) or None,
        "terms": [astuple(term) for term in translation.terms] or None,
        "finished": translation.finished,
    }
