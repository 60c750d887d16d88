"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rnnsearch.atomic import atomic_write, check_outputs, write_json, write_text
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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert not temporary.stat().st_mode & ~mode & 0o044, "others may read what is being written"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can make a file of another owner")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 65534, 65534)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(tmp_path: Path, there: bool) -> None:
    """And the file that it leads to is written, whole or not at all, in its own folder."""
    target = tmp_path / "elsewhere" / "file"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(target)
    with atomic_write(tmp_path / "one") as temporary:
        temporary.write_text("new")
        assert temporary.parent == target.parent
    assert target.read_text() == "new"
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "two").is_symlink()
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_a_link_in_place_of_the_temporary_file_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("of somebody else")
    (tmp_path / ".file.partial").symlink_to(other)
    write_text(tmp_path / "file", "new")
    assert other.read_text() == "of somebody else"
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_refused_through_links_too(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "thing")
    (tmp_path / "link").symlink_to("thing")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("thing", "link", "circle"):
        with pytest.raises(RnnsearchError, match=f"{name}: "), atomic_write(tmp_path / name):
            pytest.fail("the body ran")


def test_one_file_under_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("link").symlink_to("file")
    Path("hard").hardlink_to("file")
    Path("nowhere").symlink_to("new")
    Path("folder").mkdir()
    same = ["file", "./file", "folder/../file", "link", "hard", str(tmp_path / "file")]
    for one, other in [*itertools.product(same, same), ("new", "nowhere"), ("new", "./new"), ("folder", "folder/.")]:
        with pytest.raises(RnnsearchError, match="is used already"):
            check_outputs([Path(one), None, Path(other)])
        with pytest.raises(RnnsearchError, match="is used already"):
            check_outputs([Path(one)], [None, Path(other)])
    check_outputs(map(Path, ["file", "folder", "new", "folder/file"]), [Path("x"), Path("x")])
    with pytest.raises(RnnsearchError, match=r"new\.parts: is used already, as new"):
        check_outputs([Path("new"), Path("new.parts")])
