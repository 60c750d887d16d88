from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.app import Server, make_app
from rnnsearch.serve.continuous import ContinuousTranslator
from rnnsearch.serve.incoming import Limits
from rnnsearch.translation import Translator

Serve = Callable[..., TestClient]


@pytest.fixture
def serve(trained: Callable[..., Translator]) -> Iterator[Serve]:
    """`serve(limits, keys=…, origins=…)`: a client of a server that has a model of the toy language."""
    clients: list[TestClient] = []

    def start(
        limits: Limits | None = None, keys: tuple[str, ...] = (), origins: tuple[str, ...] = (), **how: object
    ) -> TestClient:
        engine = ContinuousTranslator(Translator(trained("gated", "mlp").system), batch_sentences=4)
        app = make_app(Server([engine], limits or Limits(), keys, **how), origins)  # type: ignore[arg-type]
        client = TestClient(app, raise_server_exceptions=False)
        clients.append(client)
        return client.__enter__()

    yield start
    for client in clients:
        client.__exit__(None, None, None)
