"""The command line as a program of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forked

COMMAND = [sys.executable, "-c", "from rnnsearch.cli import main; main()"]
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
ALL_CORES = {name: value for name, value in ENVIRONMENT.items() if name != "OMP_NUM_THREADS"}
"""The environment of a program with a thread for each core."""

# A shell's background job ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(
    *arguments: object,
    program: list[str] = COMMAND,
    cold: bool = False,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> subprocess.Popen[Any]:
    """Run `rnnsearch` with these arguments; its output waits to be read. `cold`: in a new Python."""
    popen = subprocess.Popen if cold else forked.Popen
    return popen(
        [*program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    )


def rnnsearch(*arguments: object, cold: bool = False, environment: Mapping[str, str] = ENVIRONMENT) -> str:
    """Run it to its end, and return what it printed; standard error, too, goes into a failure's message."""
    process = start(*arguments, cold=cold, environment=environment)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, f"rnnsearch {' '.join(map(str, arguments))}: {process.returncode}\n{err}"
    return out


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path, log: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = log
        command = [*COMMAND, "serve", "--model", str(folder), "--port", str(self.port), *options]
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
