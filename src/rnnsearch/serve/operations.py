"""The operations of the server: each path with its method, its request and its answer, for the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from rnnsearch.serve.apertium import (
    ApertiumFailure,
    ApertiumIdentifyRequest,
    ApertiumPairsRequest,
    ApertiumPairsResponse,
    ApertiumTranslateRequest,
    ApertiumTranslateResponse,
)
from rnnsearch.serve.deepl_protocol import (
    DeepLDocument,
    DeepLDocumentKey,
    DeepLDocumentRequest,
    DeepLDocumentStatus,
    DeepLFailure,
    DeepLGlossaries,
    DeepLGlossary,
    DeepLGlossaryPairs,
    DeepLGlossaryRequest,
    DeepLLanguage,
    DeepLLanguagesRequest,
    DeepLRequest,
    DeepLTranslateRequest,
    DeepLTranslateResponse,
    DeepLUsage,
)
from rnnsearch.serve.mtuoc import MtuocRequest, MtuocResponse
from rnnsearch.serve.protocol import (
    Detected,
    DetectRequest,
    Error,
    Health,
    NextWordsRequest,
    NextWordsResponse,
    PairRequest,
    PairResponse,
    Requested,
    Suggested,
    SuggestRequest,
    TargetLanguages,
    TranslatedFile,
    TranslateFileRequest,
    TranslateRequest,
    TranslateResponse,
)

_EVENTS = "Events: `sentence` for each sentence, whose data are an `AlignedSentence`, then `done`; `error` if it breaks off."


@dataclass(frozen=True)
class Operation:
    """An operation: a path with a method."""

    method: str
    path: str
    summary: str
    request: type[Requested] | None
    answer: type[BaseModel] | dict[str, Any]
    """The answer, or its schema."""
    failure: type[BaseModel] = Error
    status: str = "200"
    more: dict[str, Any] = field(default_factory=dict)
    """Further types of the answer, and their schemas."""
    failures: dict[str, str] = field(default_factory=dict)
    """Further statuses of a failure, and what they mean."""
    also: tuple[type[Requested], type[BaseModel]] | None = None
    """Another request in JSON to the same path, and its answer."""


def _array(model: type[BaseModel], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "minItems": least, "items": reference(model)}


def reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


_EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string", "description": _EVENTS}}}
_FILE = {kind: {"schema": {"type": "string"}} for kind in ("text/plain", "text/html", "application/octet-stream")}
_GLOSSARY, _DOCUMENT = "/v2/glossaries/{number}", "/v2/document/{number}"
_SHARES = {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
_OF_MEMORY = {
    "403": "The server has no translation memory, or the API key is missing or wrong.",
    "507": "The memory is full, or cannot be written.",
}
OPERATIONS = [
    Operation(
        "post", "/translate", "Translate texts", TranslateRequest, TranslateResponse, more=_EVENT_STREAM,
        also=(MtuocRequest, MtuocResponse),
    ),
    Operation("post", "/score", "Score given translations", PairRequest, PairResponse),
    Operation("post", "/align", "Align given translations", PairRequest, PairResponse),
    Operation("post", "/next-words", "What may come next in a translation", NextWordsRequest, NextWordsResponse),
    Operation(
        "post", "/detect", "The languages that a text may be in, the most probable first", DetectRequest, _array(Detected, 1)
    ),
    Operation("post", "/suggest", "Store a corrected translation", SuggestRequest, Suggested, failures=_OF_MEMORY),
    Operation("post", "/translate_file", "Translate a file", TranslateFileRequest, TranslatedFile),
    Operation(
        "get", "/download_file/{number}", "A translated file", None, {},
        more=_FILE,
        failures={"404": "There is no such file."},
    ),
    Operation("get", "/languages", "The languages", None, _array(TargetLanguages)),
    Operation("post", "/languages", "The languages", None, _array(TargetLanguages)),
    Operation("get", "/frontend/settings", "Settings for a page", None, {"type": "object"}),
    Operation(
        "get", "/translate", "Translate a text, for Apertium's clients", ApertiumTranslateRequest, ApertiumTranslateResponse,
        ApertiumFailure,
    ),
    *(
        Operation(
            method, "/listPairs", "The pairs of languages, for Apertium's clients", ApertiumPairsRequest,
            ApertiumPairsResponse, ApertiumFailure,
        )
        for method in ("get", "post")
    ),
    *(
        Operation(
            method, "/identifyLang", "The language of a text, for Apertium's clients", ApertiumIdentifyRequest, _SHARES,
            ApertiumFailure,
        )
        for method in ("get", "post")
    ),
    Operation(
        "post", "/v2/translate", "Translate texts, for DeepL's clients", DeepLTranslateRequest, DeepLTranslateResponse,
        DeepLFailure,
    ),
    Operation(
        "get", "/v2/languages", "The languages, for DeepL's clients", DeepLLanguagesRequest, _array(DeepLLanguage),
        DeepLFailure,
    ),
    Operation("get", "/v2/usage", "The characters that were translated", DeepLRequest, DeepLUsage, DeepLFailure),
    Operation(
        "get", "/v2/glossary-language-pairs", "The languages of glossaries", DeepLRequest, DeepLGlossaryPairs, DeepLFailure
    ),
    Operation(
        "post", "/v2/glossaries", "Store a glossary", DeepLGlossaryRequest, DeepLGlossary, DeepLFailure, status="201"
    ),
    Operation("get", "/v2/glossaries", "The glossaries", DeepLRequest, DeepLGlossaries, DeepLFailure),
    Operation("get", _GLOSSARY, "A glossary", DeepLRequest, DeepLGlossary, DeepLFailure),
    Operation("delete", _GLOSSARY, "Forget a glossary", DeepLRequest, {}, DeepLFailure, status="204"),
    Operation(
        "get", f"{_GLOSSARY}/entries", "The entries of a glossary", DeepLRequest, {}, DeepLFailure,
        more={"text/tab-separated-values": {"schema": {"type": "string"}}},
    ),
    Operation(
        "post", "/v2/document", "Begin to translate a document", DeepLDocumentRequest, DeepLDocument, DeepLFailure
    ),
    Operation(
        "post", _DOCUMENT, "Whether a document is translated", DeepLDocumentKey, DeepLDocumentStatus, DeepLFailure
    ),
    Operation("post", f"{_DOCUMENT}/result", "A translated document", DeepLDocumentKey, {}, DeepLFailure, more=_FILE),
    Operation("get", "/spec", "This document", None, {"type": "object"}),
    Operation("get", "/health", "Whether the server translates", None, Health),
    Operation(
        "get", "/metrics", "Figures for Prometheus", None, {}, more={"text/plain": {"schema": {"type": "string"}}}
    ),
]  # fmt: skip
