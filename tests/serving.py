"""A small HTTP server that misbehaves as told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """What it serves, how, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.files: dict[str, bytes] = {}
        self.ranges = True
        """Whether it knows how to send a part."""
        self.editions = True
        """Whether it names the edition of a file (ETag)."""
        self.breaks: list[int] = []
        """After how many bytes the next connections break."""
        self.answers: list[int] = []
        """The status of the next answers, instead of the file."""
        self.asked: list[tuple[str, str | None]] = []
        """Name and `Range` of each request."""


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name, wanted = self.path.removeprefix("/"), self.headers["Range"]
            server.asked.append((name, wanted))
            if server.answers or name not in server.files:
                self.send_error(server.answers.pop(0) if server.answers else 404)
                return
            content = server.files[name]
            edition = f'"{md5(content).hexdigest()}"'
            start = 0
            if wanted and server.ranges and self.headers.get("If-Range", edition) == edition:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206 if start < len(content) else 416)
                last = f"{start}-{len(content) - 1}" if start < len(content) else "*"
                self.send_header("Content-Range", f"bytes {last}/{len(content)}")
            else:
                self.send_response(200)
            if server.editions:
                self.send_header("ETag", edition)
            body = content[start:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: server.breaks.pop(0)] if server.breaks else body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server = Server(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
