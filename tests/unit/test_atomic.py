"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from rnnsearch.atomic import atomic_write, write_json, write_text
from rnnsearch.errors import RnnsearchError


@pytest.mark.parametrize("before", [None, b"old"])
def test_an_exception_leaves_everything_as_it_was(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)

    def half(error: type[BaseException]) -> None:
        with atomic_write(path) as temporary:
            temporary.write_bytes(b"half of the new")
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            half(error)
        assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["file"])
        assert before is None or path.read_bytes() == before


def test_what_is_written_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    with atomic_write(path) as temporary:
        temporary.write_bytes(b"new")
        assert temporary.parent == path.parent, "a rename across file systems is not atomic"
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert [file.name for file in path.parent.iterdir()] == ["file"]


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a power cut leaves an empty file under the final name."""
    path = tmp_path / "file"
    existed: list[bool] = []
    monkeypatch.setattr("rnnsearch.atomic.os.fsync", lambda descriptor: existed.append(path.exists()))
    write_text(path, "text")
    assert existed[0] is False
    assert True in existed[1:], "the folder, with the new name, has to be on the disk, too"


def test_a_body_that_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def nothing() -> None:
        with atomic_write(path):
            pass

    with pytest.raises(FileNotFoundError):
        nothing()
    assert path.read_text() == "old"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_others_may_read_what_they_may_read_of_other_files(tmp_path: Path, mask: int) -> None:
    """Whoever made the temporary file, and however private."""
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "file") as temporary:
            temporary.touch(0o600)
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask
        assert os.umask(mask) == mask, "the mask has been changed"
    finally:
        os.umask(before)


def test_text_and_json(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "é\r\n\u2028\n")
    assert (tmp_path / "a").read_bytes() == "é\r\n\u2028\n".encode()
    write_json(tmp_path / "b", {"é": [1, 0.1, None]})
    assert "é" in (tmp_path / "b").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "b").read_text(encoding="utf-8")) == {"é": [1, 0.1, None]}


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("I/O error: full (os error 28)")]
)
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path, error: Exception) -> None:
    path = tmp_path / "kept"
    path.write_text("before")

    def fill() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(RnnsearchError, match="kept: no space left"):
        fill()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["x" * 250, "x" * 300, "file/x"])
def test_where_no_file_can_be(tmp_path: Path, name: str) -> None:
    """It is told before the work for it is done, and in one line."""
    (tmp_path / "file").touch()
    with pytest.raises(RnnsearchError, match="cannot write it"), atomic_write(tmp_path / name):
        pytest.fail("the body ran")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
