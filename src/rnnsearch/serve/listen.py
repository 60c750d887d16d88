"""The listening server: its socket, its shutdown on signals, and time limits for slow clients."""

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
"""The time in which a client has to read an answer, or an event of a stream."""
SHUTDOWN_SECONDS = 8
"""The time in which requests that are under way at SIGTERM have to end."""


class _PromptClients(H11Protocol):
    """Sends answers at once, and closes connections without a complete header in time, or whose answer is not read.

    uvicorn's own protocol waits for them for ever.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # Without this, the body of an answer would wait until the client acknowledges the header, 40 ms on Linux.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(0)  # writing pauses as soon as the system's buffer is full
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
    """Serve `app` until SIGINT or SIGTERM, then finish the requests that are under way and accept no others.

    Raises RnnsearchError if the address cannot be listened on, and if a search process has ended unexpectedly.
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
    """Whether a server that listens on this host can be reached from its own computer only."""
    try:
        addresses = {entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address. Raises RnnsearchError if there can be none."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as error:
        told = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise RnnsearchError(f"cannot listen on {host}, port {port}: {told}; give another --host or --port") from None
