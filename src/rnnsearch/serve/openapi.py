"""The OpenAPI document, generated from the types that validate requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rnnsearch.serve.protocol import (
    AlignedSentence,
    Detected,
    DetectRequest,
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
_BODIES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
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


def openapi(characters: int | None, keys: bool, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the document of a server for these `pairs` of languages.

    `characters` is the limit of a request, or None, and `keys` says whether a request needs an API key.
    """
    posted: list[type[BaseModel]] = [DetectRequest, *(kind for _, kind, _ in _POSTS.values())]
    answers: list[type[BaseModel]] = [Error, Health, TargetLanguages, Detected, AlignedSentence]
    answers += [answer for _, _, answer in _POSTS.values()]
    _, schemas = models_json_schema(
        [(model, "validation") for model in dict.fromkeys([*posted, *answers])],
        ref_template="#/components/schemas/{model}",
    )
    for model in posted:
        _narrow(schemas["$defs"][model.__name__], characters, keys, pairs)

    def post(summary: str, kind: type[BaseModel], answer: dict[str, Any]) -> dict[str, Any]:
        form = {"schema": _without_objects(schemas["$defs"][kind.__name__])}
        success = _response("The answer.", answer)
        if kind is TranslateRequest:
            success["content"]["text/event-stream"] = {"schema": {"type": "string", "description": _EVENTS}}
        failures = {code: _response(text, _reference(Error)) for code, text in _FAILURES.items() if keys or code != "403"}
        failures["503"]["headers"] = _RETRY_AFTER
        json, *forms = _BODIES
        body = {
            "description": "Instead of a form, the fields may be in the query string.",
            "required": True,
            "content": {json: {"schema": _reference(kind)}, **dict.fromkeys(forms, form)},
        }
        return {"post": {"summary": summary, "requestBody": body, "responses": {"200": success, **failures}}}

    paths: dict[str, Any] = {}
    for path, (summary, kind, answer) in _POSTS.items():
        paths[path] = post(summary, kind, _reference(answer))
    languages = {"type": "array", "minItems": 1, "items": _reference(Detected)}
    paths["/detect"] = post("The languages that a text may be in, the most probable first", DetectRequest, languages)
    paths["/languages"] = _get("The languages", {"type": "array", "items": _reference(TargetLanguages)})
    paths["/languages"] |= {"post": paths["/languages"]["get"]}
    paths["/spec"] = _get("This document", {"type": "object"})
    paths["/health"] = _get("Whether the server translates", _reference(Health))
    paths["/frontend/settings"] = _get("Settings for a page", {"type": "object"})
    figures = {"description": "Figures", "content": {"text/plain": {"schema": {"type": "string"}}}}
    paths["/metrics"] = {"get": {"summary": "Figures for Prometheus", "responses": {"200": figures}}}
    told = "" if characters is None else f"A request may have {characters:,} characters."
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rnnsearch",
            "version": __version__,
            "description": "Translations with their alignments. The protocol is that of LibreTranslate, extended by "
            f"alignments, scores and confidences. {told}",
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _narrow(schema: dict[str, Any], characters: int | None, keys: bool, pairs: Sequence[tuple[str, str]]) -> None:
    """Add the languages, the limit and the key of this server to a request's schema; optional keys may be null or empty."""
    fields = schema["properties"]
    if "target" in fields:
        sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        unchanged = targets if schema["title"] == TranslateRequest.__name__ else []
        fields["source"]["enum"] = ["auto", *dict.fromkeys(sources + unchanged)]
        fields["target"]["enum"] = list(dict.fromkeys(targets))
    for name in ("q", "translation", "prefix"):
        for text in fields.get(name, {}).get("anyOf", [fields.get(name, {})]):
            if characters is not None:
                text.get("items", text)["maxLength"] = characters
    if keys:
        schema["required"].append("api_key")
    for name in fields.keys() - schema["required"]:
        told = {key: fields[name].pop(key) for key in ("title", "description", "default") if key in fields[name]}
        fields[name] = {**told, "anyOf": [fields[name], {"enum": [None, ""]}]}


def _without_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a request as a form, without the fields that are objects, which a form cannot contain."""
    kinds = {name: field.get("anyOf", [field])[0] for name, field in schema["properties"].items()}
    properties = {name: schema["properties"][name] for name, kind in kinds.items() if kind.get("type") != "object"}
    return {**schema, "properties": properties}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _get(summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": _response(summary, schema)}}}
