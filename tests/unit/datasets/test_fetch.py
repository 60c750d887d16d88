"""Fetching over connections that break, and what is left when a file is not what it should be."""

from __future__ import annotations

import hashlib
import random
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from rnnsearch.datasets import Archive, fetch
from rnnsearch.errors import RnnsearchError
from serving import Server

CONTENT = random.Random(1).randbytes(700_000)
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
MD5 = "md5:" + hashlib.md5(CONTENT).hexdigest()


def quiet(what: str, done: int, total: int | None) -> None:
    pass


def get(server: Server, folder: Path, checksum: str | None = SHA256, pauses: tuple[float, ...] = (0.0,)) -> Path:
    return fetch(Archive(f"{server.url}/text.tgz", checksum), folder, quiet, pauses)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("checksum", [SHA256, MD5, None])
def test_a_file_is_fetched_once(server: Server, tmp_path: Path, checksum: str | None) -> None:
    server.files["text.tgz"] = CONTENT
    seen: list[tuple[str, int, int | None]] = []
    archive = Archive(f"{server.url}/text.tgz", checksum, len(CONTENT))
    path = fetch(archive, tmp_path / "a", lambda *step: seen.append(step))
    assert path == tmp_path / "a" / "text.tgz"
    assert path.read_bytes() == CONTENT
    assert seen[0] == ("text.tgz", 0, len(CONTENT))
    assert ("text.tgz", len(CONTENT), len(CONTENT)) in seen
    assert names(tmp_path / "a") == ["checksums", "text.tgz"]
    subprocess.run(["sha256sum", "--check", "--strict", "checksums"], cwd=tmp_path / "a", check=True, capture_output=True)
    assert fetch(archive, tmp_path / "a", quiet) == path
    assert len(server.asked) == 1


def test_a_broken_connection_goes_on_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    server.breaks = [300_000, 250_000]
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert [part for _, part in server.asked] == [None, "bytes=300000-", "bytes=550000-"]
    assert names(tmp_path) == ["checksums", "text.tgz"]


def test_a_server_that_knows_no_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    server.ranges = False
    server.breaks = [300_000, 250_000]
    assert get(server, tmp_path, pauses=(0.0, 0.0)).read_bytes() == CONTENT
    assert [part for _, part in server.asked] == [None, "bytes=300000-", "bytes=250000-"]


def test_a_connection_that_always_breaks_is_given_up(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    server.ranges = False
    server.breaks = [300_000] * 10
    with pytest.raises(RnnsearchError, match="the connection broke off; is there a network"):
        get(server, tmp_path, pauses=(0.0, 0.0))
    assert len(server.asked) == 3


def test_a_program_that_was_stopped_goes_on(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT

    def stop(what: str, done: int, total: int | None) -> None:
        if done > 400_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(Archive(f"{server.url}/text.tgz", SHA256), tmp_path, stop)
    assert "text.tgz" not in names(tmp_path)
    there = (tmp_path / "text.tgz.partial").stat().st_size
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.asked[-1] == ("text.tgz", f"bytes={there}-")


def test_all_was_there_but_the_program_died(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    (tmp_path / "text.tgz.partial").write_bytes(CONTENT)
    assert get(server, tmp_path).read_bytes() == CONTENT
    (tmp_path / "text.tgz").unlink()
    (tmp_path / "text.tgz.partial").write_bytes(CONTENT + b"more")
    assert get(server, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("editions", [True, False])
def test_halves_of_two_editions_are_not_joined(server: Server, tmp_path: Path, editions: bool) -> None:
    """A server that names editions sends the new one whole; without names, the checksum is what tells."""
    server.files["text.tgz"] = bytes(len(CONTENT))
    server.editions = editions
    server.breaks = [300_000]
    with pytest.raises(RnnsearchError, match="goes on from the 300,000 bytes"):
        get(server, tmp_path, pauses=())
    server.files["text.tgz"] = CONTENT
    if not editions:
        with pytest.raises(RnnsearchError, match="checksum"):
            get(server, tmp_path)
        assert names(tmp_path) == []
    assert get(server, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("size", [None, len(CONTENT) + 1])
def test_a_wrong_file_is_told_and_deleted(server: Server, tmp_path: Path, size: int | None) -> None:
    server.files["text.tgz"] = CONTENT
    archive = Archive(f"{server.url}/text.tgz", SHA256 if size else "sha256:" + "0" * 64, size)
    with pytest.raises(RnnsearchError) as refused:
        fetch(archive, tmp_path, quiet)
    assert f"{server.url}/text.tgz" in str(refused.value)
    assert ("checksum (sha256) is" in str(refused.value)) == (size is None)
    assert "\n" not in str(refused.value)
    assert names(tmp_path) == []


def test_a_file_that_was_damaged_on_the_disk_is_told(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    path = get(server, tmp_path)
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(RnnsearchError, match="checksum"):
        get(server, tmp_path)
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_what_was_recorded_must_stay(server: Server, tmp_path: Path) -> None:
    """Where no checksum is known beforehand, unless the file is one that changes."""
    server.files["text.tgz"] = CONTENT
    get(server, tmp_path, None).unlink()
    server.files["text.tgz"] = b"another edition"
    with pytest.raises(RnnsearchError, match=r"delete its line in .*checksums"):
        get(server, tmp_path, None)
    assert names(tmp_path) == ["checksums"]
    changing = Archive(f"{server.url}/text.tgz", changing=True)
    assert fetch(changing, tmp_path, quiet).read_bytes() == b"another edition"
    assert hashlib.sha256(b"another edition").hexdigest() in (tmp_path / "checksums").read_text()


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_file_that_is_not_there_is_told_at_once(server: Server, tmp_path: Path, status: int) -> None:
    server.answers = [status]
    with pytest.raises(RnnsearchError, match=f"text.tgz: the server answers {status} .*has it moved"):
        get(server, tmp_path)
    assert len(server.asked) == 1
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.files["text.tgz"] = CONTENT
    server.answers = [503, 500]
    assert get(server, tmp_path, pauses=(0.0, 0.0)).read_bytes() == CONTENT
    (tmp_path / "text.tgz").unlink()
    server.answers = [503, 500]
    with pytest.raises(RnnsearchError, match="the server answers 500"):
        get(server, tmp_path)


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/text.tgz"
    with pytest.raises(RnnsearchError, match=r"text.tgz: cannot fetch it: .*is there a network\?"):
        fetch(Archive(url), tmp_path, quiet, (0.0,))


def test_without_a_network_nothing_is_tried_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def no_network(request: urllib.request.Request, timeout: float) -> None:
        tries.append(request)
        raise urllib.error.URLError(socket.gaierror(-3, "Temporary failure in name resolution"))

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    with pytest.raises(RnnsearchError, match="name resolution; is there a network"):
        fetch(Archive("https://example.org/text.tgz"), tmp_path, quiet)
    assert len(tries) == 1


def test_a_folder_that_cannot_be_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RnnsearchError, match="file"):
        get(server, tmp_path / "file")
