"""Listening: sockets, signals, and clients that take their time."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import resource
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve.incoming import ARRIVAL_SECONDS
from rnnsearch.serve.search_processes import SearchProcesses

log = logging.getLogger("rnnsearch.serve")

READING_SECONDS = 60
"""The time in which a client has to read what it is sent at once: an answer, or an event."""
SHUTDOWN_SECONDS = 8
"""What is under way at SIGTERM has this long to end."""


class _PromptClients(H11Protocol):
    """Closes a connection on which no whole header arrives in time, or whose answer is not read; uvicorn waits for ever."""

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # whatever the system does not take pauses writing
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(ARRIVAL_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


def listen(app: ASGIApp, search: SearchProcesses, host: str, port: int) -> None:
    """Serve `app` until SIGINT or SIGTERM: then nothing more is accepted, and what is under way is finished.

    Raises RnnsearchError where nobody can listen there, and where a search process has ended.
    """
    with contextlib.suppress(ValueError, OSError):  # as many connections as the system allows
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=_PromptClients,
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=ARRIVAL_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    search.when_lost = stop
    with _bound(host, port) as listening:
        log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
        server.run(sockets=[listening])
    if search.lost:
        raise RnnsearchError("a search process ended unexpectedly; was there enough memory? Start the server again")


def is_loopback(host: str) -> bool:
    """Whether a server that listens there is reached from its own computer only."""
    try:
        addresses = {found[4][0] for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        told = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise RnnsearchError(f"cannot listen on {host}, port {port}: {told}; give another --host or --port") from None
