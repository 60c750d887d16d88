"""The OpenAPI document, made of the types that validate requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rnnsearch.serve.protocol import (
    AlignedSentence,
    Error,
    Health,
    NextWordsRequest,
    NextWordsResponse,
    PairRequest,
    PairResponse,
    TargetLanguages,
    TranslateRequest,
    TranslateResponse,
)
from rnnsearch.version import __version__

_POSTS: dict[str, tuple[str, type[BaseModel], type[BaseModel]]] = {
    "/translate": ("Translate texts", TranslateRequest, TranslateResponse),
    "/score": ("Score given translations", PairRequest, PairResponse),
    "/align": ("Align given translations", PairRequest, PairResponse),
    "/next-words": ("What may come next in a translation", NextWordsRequest, NextWordsResponse),
}
_FAILURES = {
    "400": "The request is not understood.",
    "403": "The API key is missing or wrong.",
    "408": "The request took too long to arrive.",
    "413": "The text is too long, or has too many sentences.",
    "415": "The body is neither JSON nor a form.",
    "500": "The server failed.",
    "503": "The server has too much to do.",
}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds.", "required": True, "schema": {"type": "integer", "minimum": 1}}}
_EVENTS = "Events: `sentence` for each sentence, whose data are an `AlignedSentence`, then `done`; `error` if it breaks off."


def openapi(characters: int, keys: bool, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The document of a server for these `pairs` of languages, and so many characters, which asks for `keys` or not."""
    asked_for = [asked for _, asked, _ in _POSTS.values()]
    answers: list[type[BaseModel]] = [Error, Health, TargetLanguages, AlignedSentence, *(one for *_, one in _POSTS.values())]
    _, schemas = models_json_schema(
        [(model, "validation") for model in dict.fromkeys([*asked_for, *answers])],
        ref_template="#/components/schemas/{model}",
    )
    for model in asked_for:
        _narrow(schemas["$defs"][model.__name__], characters, keys, pairs)
    paths: dict[str, Any] = {}
    for path, (summary, asked, answer) in _POSTS.items():
        form = {"schema": _without_objects(schemas["$defs"][asked.__name__])}
        content = {"application/json": {"schema": _reference(asked)}, "application/x-www-form-urlencoded": form}
        found = _response("The answer.", _reference(answer))
        if path == "/translate":
            found["content"]["text/event-stream"] = {"schema": {"type": "string", "description": _EVENTS}}
        failures = {code: _response(text, _reference(Error)) for code, text in _FAILURES.items() if keys or code != "403"}
        failures["503"]["headers"] = _RETRY_AFTER
        paths[path] = {
            "post": {
                "summary": summary,
                "requestBody": {
                    "description": "Instead of a form, the fields may be in the query string.",
                    "required": True,
                    "content": content,
                },
                "responses": {"200": found, **failures},
            }
        }
    paths["/languages"] = _get("The languages", {"type": "array", "items": _reference(TargetLanguages)})
    paths["/health"] = _get("Whether the server runs", _reference(Health))
    paths["/frontend/settings"] = _get("Settings for a page", {"type": "object"})
    figures = {"description": "Figures", "content": {"text/plain": {"schema": {"type": "string"}}}}
    paths["/metrics"] = {"get": {"summary": "Figures for Prometheus", "responses": {"200": figures}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rnnsearch",
            "version": __version__,
            "description": "Translations with their alignments. The protocol is that of LibreTranslate, extended by "
            f"alignments, scores and confidences. A request may have {characters:,} characters.",
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _narrow(schema: dict[str, Any], characters: int, keys: bool, pairs: Sequence[tuple[str, str]]) -> None:
    """State in the schema of a request what this server alone asks of it."""
    fields = schema["properties"]
    fields["source"]["enum"] = ["auto", *dict.fromkeys(source for source, _ in pairs)]
    fields["target"]["enum"] = list(dict.fromkeys(target for _, target in pairs))
    for name in ("q", "translation", "prefix"):
        for text in fields.get(name, {}).get("anyOf", [fields.get(name, {})]):
            text.get("items", text)["maxLength"] = characters
    if keys:
        schema["required"].append("api_key")


def _without_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a request as a form, which has only texts and lists of texts."""
    fields = {name: field for name, field in schema["properties"].items() if field.get("type") != "object"}
    return {**schema, "properties": fields}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _get(summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": _response(summary, schema)}}}
