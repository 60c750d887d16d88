from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.app import Server, make_app
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.translation import Translator

Serve = Callable[..., TestClient]


@pytest.fixture
def serve(trained: Callable[..., Translator]) -> Iterator[Serve]:
    """`serve(limits, keys=…, origins=…)`: a client of a server that has a model of the toy language."""
    with ExitStack() as stack:

        def start(
            limits: Limits | None = None,
            keys: tuple[str, ...] = (),
            origins: tuple[str, ...] = (),
            server_terms: dict[str, str] | None = None,
            **how: object,
        ) -> TestClient:
            translator = Translator(trained("gated", "mlp").system)
            make = partial(list, [translator])
            search = stack.enter_context(SearchProcesses(make, {"batch_sentences": 4}, server_terms, 2))
            app = make_app(Server(search, limits or Limits(), keys, **how), origins)  # type: ignore[arg-type]
            app.state.search = search
            return stack.enter_context(TestClient(app, raise_server_exceptions=False))

        yield start
