"""The OpenAPI document, generated from the types that validate requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rnnsearch.serve.deepl_protocol import DeepLFailure, DeepLLanguage, DeepLRequest
from rnnsearch.serve.incoming import KEY_SCHEME
from rnnsearch.serve.operations import OPERATIONS, Operation, reference
from rnnsearch.serve.protocol import AlignedSentence, Detected, Error, Requested, TargetLanguages, TranslateRequest
from rnnsearch.version import __version__

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
_NUMBER = {"name": "number", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f-]{36}$"}}
_TEXTS = {"q", "s", "translation", "prefix", "text", "src", "file"}
"""The fields that the limit of characters concerns."""


def openapi(characters: int | None, keys: bool, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the document of a server for these `pairs` of languages.

    `characters` is the limit of a request, or None, and `keys` says whether a request needs an API key.
    """
    requests: list[type[BaseModel]] = []
    answers: list[type[BaseModel]] = [AlignedSentence, Detected, TargetLanguages, DeepLLanguage]
    for operation in OPERATIONS:
        requests += [operation.request] if operation.request else []
        answers += [operation.failure, *([operation.answer] if isinstance(operation.answer, type) else [])]
        if operation.also:
            requests.append(operation.also[0])
            answers.append(operation.also[1])
    _, schemas = models_json_schema(
        [(model, "validation") for model in dict.fromkeys([*requests, *answers])],
        ref_template="#/components/schemas/{model}",
    )
    for model in dict.fromkeys(requests):
        _narrow(schemas["$defs"][model.__name__], model, characters, keys, pairs)  # type: ignore[arg-type]
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, schemas["$defs"], keys)
    told = "" if characters is None else f"A request may have {characters:,} characters."
    key = {"type": "apiKey", "in": "header", "name": "Authorization", "description": f"`{KEY_SCHEME} …`"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rnnsearch",
            "version": __version__,
            "description": "Translations with their alignments. The protocol is that of LibreTranslate, extended by "
            "alignments, scores and confidences; parts of DeepL's, Apertium's and MTUOC's are understood as well. " + told,
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"], "securitySchemes": {KEY_SCHEME: key} if keys else {}},
    }


def _described(operation: Operation, schemas: dict[str, Any], keys: bool) -> dict[str, Any]:
    """Return an operation as the document has it."""
    answer = operation.answer if isinstance(operation.answer, dict) else reference(operation.answer)
    if operation.also:
        answer = {"anyOf": [answer, reference(operation.also[1])]}
    success: dict[str, Any] = {"description": "The answer."}
    content = {**({"application/json": {"schema": answer}} if answer else {}), **operation.more}
    if content:
        success["content"] = content
    described: dict[str, Any] = {"summary": operation.summary, "responses": {operation.status: success}}
    parameters = [_NUMBER] if "{number}" in operation.path else []
    if operation.request is not None:
        failures = {code: _response(text, operation.failure) for code, text in _FAILURES.items() if keys or code != "403"}
        failures["503"]["headers"] = _RETRY_AFTER
        if (operation.method, operation.path) == ("get", "/translate"):
            failures["405"] = _response("There is no `langpair`.", Error)
        if operation.failure is DeepLFailure:
            failures["404"] = _response("There is no such glossary, or document.", operation.failure)
        described["responses"] |= failures
        if operation.method == "post":
            described["requestBody"] = _body(operation, schemas)
        else:
            parameters = [*parameters, *_query(schemas[operation.request.__name__])]
        if keys and operation.failure is DeepLFailure:
            described["security"] = [{KEY_SCHEME: []}]
    described["responses"] |= {code: _response(text, operation.failure) for code, text in operation.failures.items()}
    return {**described, "parameters": parameters} if parameters else described


def _body(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    assert operation.request is not None
    form = {"schema": _without_objects(schemas[operation.request.__name__])}
    json, *forms = _BODIES
    own = reference(operation.request)
    schema = {"anyOf": [own, reference(operation.also[0])]} if operation.also else own
    return {
        "description": "Instead of a form, the fields may be in the query string.",
        "required": bool(schemas[operation.request.__name__]["required"]),
        "content": {json: {"schema": schema}, **dict.fromkeys(forms, form)},
    }


def _query(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a request as parameters in the query string, where they may be empty, but not null."""
    parameters: list[dict[str, Any]] = []
    for name, value in schema["properties"].items():
        required = name in schema["required"]
        value = value if required else {**value, "anyOf": [value["anyOf"][0], {"enum": [""]}]}
        parameters.append({"name": name, "in": "query", "required": required, "schema": value})
    return parameters


def _narrow(
    schema: dict[str, Any], kind: type[Requested], characters: int | None, keys: bool, pairs: Sequence[tuple[str, str]]
) -> None:
    """Add the languages, the limit and the key of this server to a request's schema; optional keys may be null or empty."""
    fields = schema["properties"]
    required = schema.setdefault("required", [])
    sources, targets = (list(dict.fromkeys(pair[side] for pair in pairs)) for side in (0, 1))
    unchanged = targets if kind is TranslateRequest else []
    allowed = {
        "source": list(dict.fromkeys(sources + unchanged)), "target": targets,
        "source_lang": [code.upper() for code in sources], "target_lang": [code.upper() for code in targets],
        "srcLang": sources, "tgtLang": targets, "langpair": ["|".join(pair) for pair in pairs],
    }  # fmt: skip
    for name in allowed.keys() & fields.keys():
        fields[name]["enum"] = [*(["auto"] if fields[name].get("default") == "auto" else []), *allowed[name]]
    for name in _TEXTS & fields.keys() if characters is not None else ():
        for text in fields[name].get("anyOf", [fields[name]]):
            text.get("items", text)["maxLength"] = characters
    if keys and not issubclass(kind, DeepLRequest):
        required.append(kind.KEY)
    for name in fields.keys() - required:
        told = {key: fields[name].pop(key) for key in ("title", "description", "default") if key in fields[name]}
        fields[name] = {**told, "anyOf": [fields[name], {"enum": [None, ""]}]}


def _without_objects(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a request as a form, without the fields that are objects, which a form cannot contain."""
    kinds = {name: field.get("anyOf", [field])[0] for name, field in schema["properties"].items()}
    properties = {name: schema["properties"][name] for name, kind in kinds.items() if kind.get("type") != "object"}
    return {**schema, "properties": properties}


def _response(description: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": reference(model)}}}
