"""The server keeps to its OpenAPI document: requests made of it, valid and not, are answered as it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from served import Served

CONFIGURATION = """
cache.enabled = false

[checks]
positive_data_acceptance.enabled = false  # `valid_requests_are_answered` is for it
negative_data_rejection.expected-statuses = ["400", "413", "415"]
"""
TOGETHER = ("give one for each", "give one sentence", "a prefix needs a text of one", "has no words", "give one")
"""What is told of fields that are valid by themselves: no schema can say how they go together."""


def only_what_a_form_can_say(context: Any, case: Any) -> bool:
    """In a form there are only texts, so none is of a wrong type, and nothing is null, and no list is empty."""
    if case.media_type not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return True
    return case.meta.generation.mode.is_positive and not any(value in ([], None) for value in case.body.values())


def valid_requests_are_answered(context: Any, response: Any, case: Any) -> None:
    if case.meta.generation.mode.is_positive and response.status_code != 413:  # texts may be too long together
        told = response.json()["error"] if response.status_code == 400 else ""
        of_model = "protect: " in told  # whether it is a regular expression, and whether the model knows spans
        assert response.status_code == 200 or told.endswith(TOGETHER) or of_model, response.text


@pytest.mark.slow
def test_requests_made_of_the_document(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from click.testing import CliRunner
    from schemathesis.cli import schemathesis as command

    schemathesis.hook("filter_case")(only_what_a_form_can_say)
    schemathesis.check(valid_requests_are_answered)
    configuration = tmp_path / "schemathesis.toml"
    configuration.write_text(CONFIGURATION)
    server = Served(model_folder("mlp"), tmp_path / "log", "--max-characters", "200")
    try:
        options = ["--mode", "all", "--continue-on-failure", "--max-examples", "100"]
        arguments = ["--config-file", str(configuration), "run", server.url + "openapi.json", *options]
        result = CliRunner().invoke(command, arguments)
    finally:
        server.process.kill()
        server.process.wait()
        schemathesis.hooks.unregister_all()
    assert result.exit_code == 0, result.output
    assert "Traceback" not in server.log.read_text()
