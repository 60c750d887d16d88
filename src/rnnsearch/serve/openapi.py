"""The OpenAPI document, made of the types that validate requests."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rnnsearch.serve.protocol import (
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
    "413": "The request is too long.",
    "415": "The body is neither JSON nor a form.",
    "503": "The server has too much to do; `Retry-After` says when to ask again.",
}


def openapi(characters: int, keys: bool) -> dict[str, Any]:
    """The document of a server with this limit of characters, which asks for `keys` or not."""
    models: list[type[BaseModel]] = [Error, Health, TargetLanguages]
    for _, asked, answer in _POSTS.values():
        models += [asked, answer]
    _, schemas = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(models)], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for path, (summary, asked, answer) in _POSTS.items():
        schema = {"schema": _reference(asked)}
        content = {"application/json": schema, "application/x-www-form-urlencoded": schema}
        failures = {code: _response(text, _reference(Error)) for code, text in _FAILURES.items() if keys or code != "403"}
        paths[path] = {
            "post": {
                "summary": summary,
                "requestBody": {"required": True, "content": content},
                "responses": {"200": _response("The answer.", _reference(answer)), **failures},
            }
        }
    paths["/languages"] = _get("The languages", {"type": "array", "items": _reference(TargetLanguages)})
    paths["/health"] = _get("Whether the server runs", _reference(Health))
    paths["/frontend/settings"] = _get("Settings for a page", {"type": "object"})
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


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _get(summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": _response(summary, schema)}}}
