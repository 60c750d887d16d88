"""`rnnsearch serve`, for the tests that ask it from outside."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import forked


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path | None, log: Path, *options: str, before: str = "") -> None:
        """`before` are statements of Python that are run before the command."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = log
        code = f"{before}\nfrom rnnsearch.cli import main; main()"
        model = ["--model", str(folder)] if folder else []
        command = [sys.executable, "-c", code, "serve", *model, "--port", str(self.port), *options]
        with log.open("w") as output:
            self.process = forked.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 60
        while not self.answers():
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "health", timeout=5) as answer:
                return bool(json.load(answer) == {"status": "ok"})
        except OSError:
            return False

    def translate(self, text: str | list[str], **how: object) -> str | list[str]:
        asked = {"q": text, "source": "en", "target": "fr", "split_sentences": False, **how}
        request = urllib.request.Request(
            self.url + "translate", json.dumps(asked).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: str | list[str] = json.load(answer)["translatedText"]
        return found

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)
