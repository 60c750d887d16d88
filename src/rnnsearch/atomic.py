"""Atomic writes, by writing to a temporary file, flushing it to disk and renaming it; and locks for single writers."""

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
"""The errors of file systems without locks, such as some network file systems."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Return a context with a temporary path beside `path`; on a clean exit, it is flushed to disk and renamed to `path`.

    If `path` is a link, it stays one, and the file that it refers to is written. A replaced file keeps its mode, and its
    owner if the system allows that. If the body raises an exception or the process dies, `path` is as it was before. Raises
    RnnsearchError if the file cannot be written.
    """
    path = Path(path)
    target, temporary = _writable(path)
    before = target.stat() if target.exists() else None
    try:
        if before is not None and not before.st_mode & 0o004:
            temporary.touch(0o600)  # users who may not read the file may not read the temporary file either
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if before is not None:
            with suppress(PermissionError):  # only the superuser can change the owner
                os.chown(temporary, before.st_uid, before.st_gid)
        temporary.chmod(0o666 & ~_umask() if before is None else before.st_mode & 0o777)
        temporary.replace(target)
        if temporary.exists():
            raise RnnsearchError(f"{path}: the file system reported a successful rename, but did not rename the file")
        sync_folder(target.parent)
    except Exception as error:
        # Libraries in other languages report a full disk only in the text of the error.
        if any(getattr(error, "errno", None) == number or f"(os error {number})" in str(error) for number in _NO_SPACE):
            raise RnnsearchError(f"{path}: no space left on the disk; what was there before is as it was") from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Raise RnnsearchError for the first output that is the same file as another output or an input, by any name or link.

    `OUTPUT.parts`, which exists beside an output while it is written, counts as the output.
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
    """Return a value that is the same for all names of one file: device and inode, or without a file the resolved path."""
    try:
        status = path.stat()
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


def check_writable(*paths: Path | None) -> None:
    """Raise RnnsearchError for the first of these paths that cannot be written; called before slow work begins."""
    for path in paths:
        if path is not None:
            _writable(path)


def _writable(path: Path) -> tuple[Path, Path]:
    """Return the file to write, with links resolved, and a temporary path beside it.

    Raises RnnsearchError if the file cannot be written.
    """
    if not path.name:
        raise RnnsearchError(f"{path}: this is not a file but a folder or a device; name a file")
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        temporary = target.with_name(f".{target.name}.partial")  # a fixed name, so that leftovers of a killed writer go
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if path.exists() and not (path.is_file() and target.exists()):
            raise RnnsearchError(f"{path}: this is not a file but a folder or a device; name a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        temporary.touch(exist_ok=False)  # a folder without write permission raises here, before any work is done
        temporary.unlink()
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot write it: {error.strerror}") from None
    return target, temporary


def acquire_lock(path: Path, timeout: float = 0) -> BaseFileLock:
    """Acquire the lock of a lock file, whose folder is created if necessary, and return it.

    The lock of a killed process is free. On a file system without locks, every process gets the lock. Raises TimeoutError if
    another process has the lock for longer than `timeout` seconds (−1 for no limit), and other OSErrors.
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
    """Write `text` to `path` as UTF-8 with LF line ends, atomically.

    Bytes of file names that are not UTF-8 are written as `\\udcxx`.
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` to `path` as indented JSON, atomically. NaN and infinities, which JSON lacks, are written as `null`."""
    write_text(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    """Return `value` with None in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(element) for element in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk: what was created, renamed or deleted in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
