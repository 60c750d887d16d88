"""Atomic writes: a file is written under a temporary name, flushed to disk, and renamed. Locks: one writer at a time."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of file systems without locks, such as some network file systems."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on a clean exit it is flushed to disk and renamed to `path`.

    A link stays a link: the file that it leads to is written. A file that was there before keeps its mode, and its owner
    where the system allows that. If the body raises, or the process dies, `path` is as it was before. `RnnsearchError` where
    no file can be.
    """
    path = Path(path)
    place, temporary = _writable(path)
    before = place.stat() if place.exists() else None
    try:
        if before is not None and not before.st_mode & 0o004:
            temporary.touch(0o600)  # what others may not read, they may not read while it is written either
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if before is not None:
            with suppress(PermissionError):  # only the superuser gives files away
                os.chown(temporary, before.st_uid, before.st_gid)
        temporary.chmod(0o666 & ~_umask() if before is None else before.st_mode & 0o777)
        temporary.replace(place)
        if temporary.exists():
            raise RnnsearchError(f"{path}: it has not got its name: the file system says that it renames, and does not")
        _sync_folder(place.parent)
    except Exception as error:
        # Writers in other languages report a full disk only in the text of the error.
        if any(getattr(error, "errno", None) == number or f"(os error {number})" in str(error) for number in _NO_SPACE):
            raise RnnsearchError(f"{path}: no space left on the disk; what was there before is as it was") from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Raise RnnsearchError for the first output that is another one, or an input, too; by any name or link.

    What is kept beside an output while it is made (`OUTPUT.parts`) counts as it.
    """
    taken: dict[object, Path] = {}
    for path in inputs:
        if path is not None:
            taken.setdefault(_identity(path), path)
    for path in outputs:
        if path is None:
            continue
        beside = path.with_name(f"{path.name}.parts") if path.name else path
        for identity in {_identity(path), _identity(beside)}:
            if identity in taken:
                other = taken[identity]
                also = "" if str(other) == str(path) else f", as {other}"
                raise RnnsearchError(f"{path}: is used already{also}, as a file to read or to write; name another")
        taken |= {_identity(path): path, _identity(beside): path}


def _identity(path: Path) -> object:
    """The same for all names of one file: of one that is there, its number; of another, the path without links."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def check_writable(*paths: Path | None) -> None:
    """Raise RnnsearchError for the first of these that cannot be written; for commands with something slow to do before."""
    for path in paths:
        if path is not None:
            _writable(path)


def _writable(path: Path) -> tuple[Path, Path]:
    """The file to write, and the temporary path beside it; RnnsearchError where no file can be written."""
    if not path.name:
        raise RnnsearchError(f"{path}: this is not a file but a folder or a device; name a file")
    try:
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        temporary = place.with_name(f".{place.name}.partial")  # a fixed name: that of a killed writer is overwritten
        if place.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if path.exists() and not (path.is_file() and place.exists()):
            raise RnnsearchError(f"{path}: this is not a file but a folder or a device; name a file")
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        temporary.touch(exist_ok=False)  # an unwritable place raises here, before the work is done
        temporary.unlink()
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot write it: {error.strerror}") from None
    return place, temporary


def acquire_lock(path: Path, timeout: float = 0) -> BaseFileLock:
    """The lock of this file, whose folder is made if need be; that of a killed process is free.

    A file system without locks gives it to everyone. Raises TimeoutError while another process has it, and other OSErrors.
    """
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=timeout)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return lock


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` as UTF-8 with LF line ends, whole or not at all.

    Names of files that are not UTF-8 may be in it: their odd bytes are written as `\\udcxx`.
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` to `path` as indented JSON, whole or not at all.

    JSON has no NaN and no infinities: they are written as `null`.
    """
    write_text(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
