"""The requests and answers of DeepL's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from rnnsearch.serve.glossaries import MOST_GLOSSARY_BYTES, MOST_NAME
from rnnsearch.serve.protocol import Key, Language, Requested, TranslateFileRequest

NO_LIMIT = 1_000_000_000_000
"""The limit that DeepL reports to users without a limit of characters."""


def _digit(value: object) -> object:
    """Convert a number to a text: clients send `1` as well as `"1"`."""
    return str(value) if type(value) is int else value


def _names(value: object) -> object:
    """Convert a text of names that are separated by commas to a list of names."""
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


_STRINGS = {"type": "array", "items": {"type": "string"}}
Names = Annotated[Sequence[str], BeforeValidator(_names), WithJsonSchema({"anyOf": [_STRINGS, {"type": "string"}]})]


class DeepLRequest(Requested):
    """The fields of all requests. The API key is in the header `Authorization`, or, with old clients, in a field."""

    LISTS: ClassVar[tuple[str, ...]] = ()
    KEY: ClassVar[str] = "auth_key"

    auth_key: Key = ""


class DeepLAsked(DeepLRequest):
    """The fields of the requests for translations."""

    target_lang: Annotated[Language, Field(description="The language to translate into, as `EN-US`.")]
    source_lang: Annotated[Language, Field(description="The language of the texts; by default, it is detected.")] = "auto"
    glossary_id: Annotated[str, Field(max_length=100, description="The glossary to use.")] = ""


class DeepLTranslateRequest(DeepLAsked):
    """`POST /v2/translate`."""

    LISTS: ClassVar[tuple[str, ...]] = ("text",)

    text: Annotated[str | list[str], Field(description="A text, or a list of texts.", examples=[["She sings."]])]
    tag_handling: Annotated[Literal["xml", "html", ""], Field(description="The markup of the texts.")] = ""
    split_sentences: Annotated[
        Literal["0", "1", "nonewlines"],
        BeforeValidator(_digit),
        WithJsonSchema({"enum": ["0", "1", "nonewlines", 0, 1]}),
        Field(description="`0`: line by line. Otherwise, sentence by sentence."),
    ] = "1"
    ignore_tags: Annotated[Names, Field(description="Names of XML elements that stay as they are.")] = ()
    splitting_tags: Annotated[Names, Field(description="Names of XML elements whose tags end a sentence.")] = ()


class DeepLDocumentRequest(DeepLAsked):
    """`POST /v2/document`."""

    FILE: ClassVar[str] = "file"
    MOST_BYTES: ClassVar[int] = TranslateFileRequest.MOST_BYTES

    file: Annotated[
        bytes | str,
        Field(description="The document; in JSON, its text.", examples=["She sings."]),
        WithJsonSchema({"type": "string"}),
    ]
    filename: Annotated[str, Field(description="Its name, in JSON.", max_length=1000, examples=["a.txt"])] = "document.txt"
    output_format: Annotated[str, Field(description="The end of its name, as `docx`; it cannot be converted.")] = ""


class DeepLDocument(BaseModel):
    """The answer to `POST /v2/document`: what names a document in the requests for its state and its translation."""

    document_id: str
    document_key: str


class DeepLDocumentKey(DeepLRequest):
    """`POST /v2/document/{number}`, and the same with `/result`."""

    document_key: Annotated[str, Field(max_length=100)]


class DeepLDocumentStatus(BaseModel):
    """The answer to `POST /v2/document/{number}`."""

    document_id: str
    status: Literal["translating", "done", "error"]
    billed_characters: int | None = None
    error_message: str | None = None


class DeepLTranslation(BaseModel):
    """A translation, and the language of its text."""

    detected_source_language: str
    text: str
    billed_characters: int


class DeepLTranslateResponse(BaseModel):
    """The answer to `POST /v2/translate`: a translation of each text, in order."""

    translations: list[DeepLTranslation]


class DeepLLanguagesRequest(DeepLRequest):
    """`/v2/languages`."""

    type: Annotated[Literal["source", "target"], Field(description="Which languages to list.")] = "source"


class DeepLLanguage(BaseModel):
    """A language."""

    language: str
    name: str
    supports_formality: bool | None = None


class DeepLGlossaryRequest(DeepLRequest):
    """`POST /v2/glossaries`."""

    MOST_BYTES: ClassVar[int] = MOST_GLOSSARY_BYTES

    name: Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
    source_lang: Language
    target_lang: Language
    entries: Annotated[str, Field(description="A term and its translation on each line.", examples=["house\tdemeure"])]
    entries_format: Annotated[Literal["tsv", "csv"], Field(description="Whether a tab or a comma is between them.")] = "tsv"


class DeepLGlossary(BaseModel):
    """A glossary that is stored."""

    glossary_id: str
    name: str
    ready: Literal[True] = True
    source_lang: str
    target_lang: str
    creation_time: str
    entry_count: int


class DeepLGlossaries(BaseModel):
    """The answer to `GET /v2/glossaries`."""

    glossaries: list[DeepLGlossary]


class DeepLGlossaryPair(BaseModel):
    """A pair of languages."""

    source_lang: str
    target_lang: str


class DeepLGlossaryPairs(BaseModel):
    """The answer to `/v2/glossary-language-pairs`."""

    supported_languages: list[DeepLGlossaryPair]


class DeepLUsage(BaseModel):
    """The answer to `/v2/usage`."""

    character_count: int
    character_limit: int = NO_LIMIT


class DeepLFailure(BaseModel):
    """The answer to a request that is refused or fails."""

    message: Annotated[str, Field(description="One sentence that says why.")]


def failure(status: int, sentence: str) -> dict[str, object]:
    """Return the body of a failure."""
    return DeepLFailure(message=sentence).model_dump()
