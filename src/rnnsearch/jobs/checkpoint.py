"""The checkpoint of a job: finished results beside its output, from which a killed job continues."""

from __future__ import annotations

import json
import shutil
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from rnnsearch.atomic import acquire_lock, atomic_write
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.untrusted import MEGABYTE, read_json

Json: TypeAlias = Any
"""A JSON value."""

_MOST_RESULT = 1024 * MEGABYTE
"""The largest size of the result of a shard, in bytes."""
_PATIENCE = 5.0
"""The processes of a killed run end within this time, in seconds."""


class JobCheckpoint:
    """The results of finished shards, in a folder beside an output until it is written.

    A result is stored under a digest of its shard. It is used only by the same run: by the same version of the program, with
    the same `run`, which describes everything else that the results depend on. A different run empties the folder first,
    with a warning, and a different version of the program is refused. Use this class in a `with` statement; the folder is
    removed at its end if no error occurred.
    """

    def __init__(self, output: Path, run: Mapping[str, Json]) -> None:
        """`output` is a file or a folder; the kept results are in the folder beside it that is called `output.parts`."""
        named = output if output.name.strip(".") else output.resolve()  # `.` has its name in the folder above
        if not named.name:
            raise RnnsearchError(f"{output}: this is the root of the file system; name a folder in it")
        self.folder = named.with_name(f"{named.name}.parts")
        self._output = output
        self._run = {"program": program_digest(), **run}
        self._writing = threading.Lock()

    def __enter__(self) -> JobCheckpoint:
        """Raises RnnsearchError if another run uses this folder, or if the folder cannot be written."""
        new = not self.folder.exists()
        self._made = [place for place in (self.folder, *self.folder.parents) if not place.exists()]
        try:
            self._lock = acquire_lock(self.folder / ".lock", _PATIENCE)
        except TimeoutError:
            raise RnnsearchError(
                f"{self._output}: another run is writing it, with its parts in {self.folder}; wait for it, or name another"
            ) from None
        except OSError as error:
            raise RnnsearchError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            self._begin(new)
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _begin(self, new: bool) -> None:
        manifest = self.folder / "run.json"
        content = json.dumps(self._run, indent=1, sort_keys=True) + "\n"
        if not new and _text(manifest) != content:
            if any(self.folder.glob("*.part")):
                if self._differs_in_program_alone(manifest):
                    raise RnnsearchError(
                        f"{self.folder}: what is kept there was computed by another version of this program, which may "
                        "compute something else; remove the folder to begin anew, or go on with that version"
                    )
                warnings.warn(
                    f"{self.folder}: what is kept there is of another run, with other settings or another model, so this "
                    "run begins anew",
                    RnnsearchWarning,
                    stacklevel=3,
                )
            self.clear()
        self._write(manifest, content.encode())

    def _differs_in_program_alone(self, manifest: Path) -> bool:
        try:
            saved = json.loads(manifest.read_text(encoding="utf-8"))
            return bool({**saved, "program": None} == {**json.loads(json.dumps(self._run)), "program": None})
        except (OSError, ValueError, TypeError):
            return False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None or not any(self.folder.glob("*.part")):
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # not empty: the output is there
                for place in self._made[1:]:
                    place.rmdir()
        self._lock.release()

    def clear(self) -> None:
        """Delete all results that have been kept so far."""
        for part in self.folder.glob("*.part"):
            part.unlink()

    def get(self, shard: Json) -> Json | None:
        """Return the kept result of this shard; None if there is none."""
        try:
            return read_json(self._part(shard), _MOST_RESULT)
        except (OSError, ValueError, RnnsearchError):  # there is none, or the disk has damaged it
            return None

    def put(self, shard: Json, result: bytes) -> None:
        """Store the result of this shard, as JSON."""
        with self._writing:
            self._write(self._part(shard), result)

    def _part(self, shard: Json) -> Path:
        return self.folder / f"{blake2b(json.dumps(shard).encode(), digest_size=16).hexdigest()}.part"

    def _write(self, path: Path, content: bytes) -> None:
        with atomic_write(path) as temporary:
            temporary.write_bytes(content)


def digest_of(*files: Path) -> str:
    """Return a digest of the contents of these files, for use in a `run`."""
    digest = blake2b(digest_size=16)
    for path in files:
        digest.update(f"{path.name}\n".encode("utf-8", "surrogateescape"))
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise RnnsearchError(f"{path}: cannot read it: {error.strerror}") from None
    return digest.hexdigest()


@cache
def program_digest() -> str:
    """Return a digest of the sources of this program, so that results of different versions are never mixed."""
    package = Path(__file__).parent.parent
    return digest_of(*sorted(path for ending in ("py", "json") for path in package.rglob(f"*.{ending}")))


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
