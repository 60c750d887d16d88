"""The server keeps to its OpenAPI document: requests made of it, valid and not, are answered as it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from documents import documents
from rnnsearch.serve.languages import served_code
from served import Served

CONFIGURATION = """
cache.enabled = false

[checks]
positive_data_acceptance.enabled = false  # `valid_requests_are_answered` is for it
negative_data_rejection.expected-statuses = ["400", "404", "405", "413", "415"]
"""
TOGETHER = ("give one for each", "give one sentence", "a prefix needs a text of one", "has no words", "give one")
"""What is told of fields that are valid by themselves: no schema can say how they go together."""
BEYOND = (
    "protect: ",
    "entries: ",
    "glossary_id: ",
    "source_lang: give it",
    "there is no glossary",
    "glossaries, and no more",
    "there is no such file",
    "there is no document with this identifier",
    "output_format: ",
    "give a file whose name ends in",
)
"""What is told of what no schema can say: whether a text is a regular expression or a glossary, what the model knows, and
which glossaries and files there are."""
MOST_CHARACTERS, MOST_NAME = 200, 1000
"""The limit of the server, and the most characters of the name of a file."""
LANGUAGE_FIELDS = {"source", "target", "source_lang", "target_lang", "srcLang", "tgtLang"}
DOCUMENTS = {**documents("She sings."), "a.txt": "She sings.\n", "a.html": "<p>She <b>sings</b>.</p>"}


def as_a_document(context: Any, body: Any) -> Any:
    """Half of the files get the name and the content of a document, whole or cut off, chosen by what was made up.

    A file or a name that is invalid stays, for the server has to refuse it.
    """
    fields = body if isinstance(body, dict) else {}
    file, name = fields.get("file"), fields.get("filename")
    valid = isinstance(file, str) and len(file) <= MOST_CHARACTERS
    named = name is None or (isinstance(name, str) and len(name) <= MOST_NAME)
    if not valid or not named or len(file) % 2:
        return body
    place = crc32(file.encode("utf-8", "surrogatepass"))
    name, text = list(DOCUMENTS.items())[place % len(DOCUMENTS)]
    length = len(text) if place % 3 else place % len(text)
    return {**body, "filename": name, "file": text[:length]}


def only_what_a_form_can_say(context: Any, case: Any) -> bool:
    """In a form there are only texts, so none is of a wrong type, and nothing is null, and no list is empty."""
    if case.media_type not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return True
    fields = case.body if isinstance(case.body, dict) else {}
    return case.meta.generation.mode.is_positive and not any(value in ([], None) for value in fields.values())


def no_other_code_of_a_language(context: Any, case: Any) -> bool:
    """The document names a language by one code, but the server knows more for it: `EN`, `en-US` and `eng` for `en`."""
    fields = {**(case.query or {}), **(case.body if isinstance(case.body, dict) else {})}
    for name in LANGUAGE_FIELDS & fields.keys():
        known = served_code(fields[name], ("en", "fr")) if isinstance(fields[name], str) else None
        if known in ("en", "fr") and fields[name] != (known.upper() if name.endswith("_lang") else known):
            return False
    return True


def valid_requests_are_answered(context: Any, response: Any, case: Any) -> None:
    if case.meta.generation.mode.is_positive and response.status_code != 413:  # texts may be too long together
        body = response.json() if response.status_code in (400, 404) else {}
        told = body.get("error") or body.get("message") or ""
        cut_off = case.path in ("/translate_file", "/v2/document") and told  # `as_a_document` cuts some of them off
        beyond = cut_off or any(part in told for part in BEYOND)
        assert response.status_code in (200, 201, 204) or told.endswith(TOGETHER) or beyond, response.text


def failures_of(report: str) -> str:
    """The sections of a report that say which requests fail and how to repeat them, and its seed."""
    sections = re.split(r"\n(?==+ [A-Z]+ =+\n)", report)
    failed = [section for section in sections if re.match(r"=+ (ERRORS|FAILURES) ", section)]
    return "\n".join([*failed, *re.findall(r"Seed: \d+", report)]) if failed else report


@pytest.mark.parametrize("examples", [pytest.param(10, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.nightly)])
def test_requests_made_of_the_document(
    model_folder: Callable[[str], Path], tmp_path: Path, request: pytest.FixtureRequest, examples: int
) -> None:
    """`pytest --hypothesis-seed N` repeats a run with the seed that its report names."""
    schemathesis = pytest.importorskip("schemathesis")
    from click.testing import CliRunner
    from schemathesis.cli import schemathesis as command

    schemathesis.hook("filter_case")(only_what_a_form_can_say)
    schemathesis.hook("filter_case")(no_other_code_of_a_language)
    schemathesis.hook("map_body")(as_a_document)
    schemathesis.check(valid_requests_are_answered)
    configuration = tmp_path / "schemathesis.toml"
    configuration.write_text(CONFIGURATION)
    server = Served(
        model_folder("mlp"), tmp_path / "log", "--max-characters", str(MOST_CHARACTERS), "--memory", str(tmp_path)
    )
    try:
        options = ["--mode", "all", "--continue-on-failure", "--max-examples", str(examples)]
        if seed := request.config.getoption("--hypothesis-seed"):
            options += ["--seed", seed]
        arguments = ["--config-file", str(configuration), "run", server.url + "openapi.json", *options]
        result = CliRunner().invoke(command, arguments)
    finally:
        server.process.kill()
        server.process.wait()
        schemathesis.hooks.unregister_all()
    assert result.exit_code == 0, failures_of(result.output)
    assert "Traceback" not in server.log.read_text()
