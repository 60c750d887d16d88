from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.app import make_app
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.serve.server import Server
from rnnsearch.system import System
from rnnsearch.translation import Translator

Serve = Callable[..., TestClient]


@pytest.fixture
def serve(trained: Callable[..., Translator]) -> Iterator[Serve]:
    """`serve(limits, keys=…, origins=…)`: a client of a server that has a model of the toy language."""
    yield from _serving(trained)


@pytest.fixture(scope="module")
def client(trained: Callable[..., Translator]) -> Iterator[TestClient]:
    """A client of a server with its usual limits, which the tests of a module share."""
    for serve in _serving(trained):
        yield serve()


def _serving(trained: Callable[..., Translator]) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(
            limits: Limits | None = None,
            keys: tuple[str, ...] = (),
            origins: tuple[str, ...] = (),
            server_terms: dict[str, str] | None = None,
            languages: tuple[tuple[str, str], ...] = (("en", "fr"),),
            **how: object,
        ) -> TestClient:
            translators = [_between(trained("gated", "mlp").system, *pair) for pair in languages]
            make = partial(list, translators)
            search = stack.enter_context(SearchProcesses(make, {"batch_sentences": 4}, server_terms, 2))
            server = Server(search, limits or Limits(), keys, **how)  # type: ignore[arg-type]
            app = make_app(server, origins)
            app.state.search, app.state.server = search, server
            return stack.enter_context(TestClient(app, raise_server_exceptions=False))

        yield start


def _between(system: System, source: str, target: str) -> Translator:
    """The model of the toy language, as if it were one of these languages."""
    data = replace(system.config.data, source_language=source, target_language=target)
    return Translator([system.changed(replace(system.config, data=data))])
