"""Models by name, from and to a server that answers as the Hub does."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: the Hub is NOT TESTED")

import forked
from rnnsearch.errors import RnnsearchError
from rnnsearch.hub import download_model

SHA = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """One revision of each model, in memory."""

    models: dict[str, dict[str, bytes]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, value: object, status: int = 200) -> None:
        self.answer(status, json.dumps(value).encode(), Content_Type="application/json")

    def do_GET(self) -> None:
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            files = self.server.models.get("/".join(parts[2:4]))
            if files is None:
                self.answer(404, b"{}", X_Error_Code="RepoNotFound")
            elif parts[4:5] == ["tree"]:
                self.json([{"type": "file", "path": name, "size": len(files[name]), "oid": SHA} for name in files])
            else:
                siblings = [{"rfilename": name} for name in files]
                self.json({"id": "/".join(parts[2:4]), "sha": SHA, "siblings": siblings, "private": False})
        elif parts[2:3] == ["resolve"]:
            content = self.server.models["/".join(parts[:2])]["/".join(parts[4:])]
            self.answer(200, content, ETag=f'"{hashlib.sha1(content).hexdigest()}"', X_Repo_Commit=SHA)
        else:
            self.answer(404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts == ["api", "repos", "create"]:
            given = json.loads(body)
            name = f"{given['organization']}/{given['name']}" if given.get("organization") else f"ada/{given['name']}"
            self.server.models.setdefault(name, {})
            self.json({"url": f"{self.server.url}/{name}", "name": name, "id": name})
        elif parts[4:5] == ["preupload"]:
            names = [file["path"] for file in json.loads(body)["files"]]
            self.json({"files": [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]})
        elif parts[4:5] == ["commit"]:
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    content = base64.b64decode(line["value"]["content"])
                    self.server.models["/".join(parts[2:4])][line["value"]["path"]] = content
            self.json({"commitUrl": f"{self.server.url}/{'/'.join(parts[2:4])}/commit/{SHA}", "commitOid": SHA})
        else:
            self.answer(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub(("127.0.0.1", 0), Handler)
    server.models = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def run(hub_url: str, home: Path, *arguments: object, text: str = "") -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own: the address of the Hub is read when its library is imported."""
    settings = {"HF_ENDPOINT": hub_url, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_TOKEN": "x"}
    command = [sys.executable, "-c", "from rnnsearch.cli import main; main()", *map(str, arguments)]
    process = forked.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True, env={**os.environ, **settings})
    out, err = process.communicate(text, timeout=120)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_pushed_then_translated_by_name(hub: Hub, model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    folder = model_folder("mlp")
    pushed = run(hub.url, tmp_path / "home", "push", "--model", folder, "ada/en-fr")
    assert pushed.returncode == 0, pushed.stderr
    assert pushed.stdout.strip().endswith(f"{hub.url}/ada/en-fr")
    assert hub.models["ada/en-fr"].keys() == {path.name for path in folder.iterdir() if path.is_file()}
    hub.models["ada/en-fr"]["evil.py"] = b"raise SystemExit('executed')"

    line = "the big dog sees a red cat .\n"
    there = run(hub.url, tmp_path / "home", "translate", "--model", "ada/en-fr", text=line)
    here = run(hub.url, tmp_path / "home", "translate", "--model", folder, text=line)
    assert there.returncode == 0, there.stderr
    assert there.stdout == here.stdout != "\n"
    assert not list((tmp_path / "home").rglob("evil.py")), "only the files of a model are fetched"

    hub.shutdown()
    hub.server_close()  # what was fetched is used without a network
    again = run(hub.url, tmp_path / "home", "translate", "--model", "ada/en-fr", text=line)
    assert again.stdout == here.stdout, again.stderr


def test_no_such_model_and_no_network_are_one_line(hub: Hub, tmp_path: Path) -> None:
    absent = run(hub.url, tmp_path / "home", "translate", "--model", "ada/absent", text="a\n")
    nowhere = run("http://127.0.0.1:9", tmp_path / "home", "translate", "--model", "ada/en-fr", text="a\n")
    for done, told in ((absent, "the Hub has no such model"), (nowhere, "the Hub cannot be reached")):
        assert done.returncode == 2
        assert told in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert "there is no such folder" in done.stderr


def test_what_is_no_model_is_not_pushed(hub: Hub, tmp_path: Path) -> None:
    done = run(hub.url, tmp_path / "home", "push", "--model", tmp_path, "ada/en-fr")
    assert done.returncode == 2
    assert "no model here" in done.stderr
    assert hub.models == {}


def test_only_the_files_of_a_model_are_pushed_and_no_links_out_of_it(
    hub: Hub, model_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(model_folder("mlp"), tmp_path / "model"))
    names = {path.name for path in folder.iterdir()}
    (tmp_path / "secret").write_text("secret")
    (folder / "x.vocab").symlink_to(tmp_path / "secret")
    (folder / "data").mkdir()
    (folder / "data" / "source.vocab").write_text("words of the text\n")
    os.mkfifo(folder / "pipe")
    pushed = run(hub.url, tmp_path / "home", "push", "--model", folder, "ada/en-fr")
    assert pushed.returncode == 0, pushed.stderr
    assert hub.models["ada/en-fr"].keys() == names

    (folder / "README.md").symlink_to(tmp_path / "secret")
    refused = run(hub.url, tmp_path / "home", "push", "--model", folder, "ada/other")
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")
    hanging = run(hub.url, tmp_path / "home", "push", "--model", folder, "ada/other")
    for done, told in ((refused, "a link to a file outside of the folder"), (hanging, "this is not a file")):
        assert done.returncode == 2
        assert f"README.md: {told}" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert "ada/other" not in hub.models


def test_without_the_library_a_missing_folder_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(RnnsearchError, match=r"models/typo: there is no such folder, and .*pip install 'rnnsearch\[hub\]'"):
        download_model("models/typo")
