"""Clients that do not read what they asked for."""

from __future__ import annotations

import asyncio
import socket

import pytest
import uvicorn
from starlette.responses import Response

from rnnsearch.serve import listen


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.1", False), ("2001:db8::1", False), ("", False), ("no.such.host.invalid", False)],
)  # fmt: skip
def test_which_addresses_are_this_computers_own(host: str, expected: bool) -> None:
    assert listen.is_loopback(host) is expected


@pytest.mark.parametrize("asked", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20, b"GET / HTTP/1.0\r\n\r\n"])
@pytest.mark.parametrize("reads", [True, False])
def test_answers_are_read_or_dropped(monkeypatch: pytest.MonkeyPatch, asked: bytes, reads: bool) -> None:
    monkeypatch.setattr(listen, "READING_SECONDS", 2.0)
    size = 20_000_000  # more than the system takes
    listening = socket.create_server(("127.0.0.1", 0))
    http = listen._PromptClients
    config = uvicorn.Config(Response(b"x" * size), http=http, lifespan="off", loop="asyncio", log_config=None)
    server = uvicorn.Server(config)

    async def client() -> None:
        reader, writer = await asyncio.open_connection(sock=socket.create_connection(listening.getsockname()))
        writer.write(asked)
        await reader.readexactly(1)
        if reads:
            for _ in range(20):
                await asyncio.sleep(0.01)
                assert await reader.readexactly(size // 21)
        while server.server_state.connections:
            await asyncio.sleep(0.05)
        writer.transport.abort()

    async def both() -> None:
        serving = asyncio.create_task(server.serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            await asyncio.wait_for(client(), 20)
        finally:
            server.should_exit = True
            server.force_exit = True
            await serving

    asyncio.run(both())
