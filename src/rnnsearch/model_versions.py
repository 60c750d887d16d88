"""The versions of an adapted model: each in a folder of its own, and a link to the one that is in use.

In `FOLDER`, `en-fr` is a link to `models/en-fr/2`, or to the model that the first version was made of. The link is replaced
by one atomic rename, and only when the version is complete and on the disk.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from rnnsearch.atomic import sync_folder, write_json
from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import read_record

RECORD = "adapted.json"
"""The file that records from which model a version was trained, and its scores."""


class Versions:
    """The versions of the model of a pair of languages, such as `en-fr`, in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.link = folder / name
        self._folder = folder / "models" / name
        self.lock = self._folder / "lock"
        self.work = self._folder / "work"
        """Where a version is made; what a killed process has left there may be deleted."""
        if os.path.lexists(self.link) and not self.link.is_symlink():
            raise RnnsearchError(f"{self.link}: this is no link to a model; move it away, or give another folder")

    @property
    def current(self) -> Path | None:
        """The folder of the model that is in use, or None if there is no version yet."""
        if not self.link.is_symlink():
            return None
        if not self.link.exists():
            raise RnnsearchError(f"{self.link}: it leads to {self.link.readlink()}, which is not there")
        return self.link.resolve()

    def base_of(self, model: Path) -> Path:
        """Return the folder of the model from which a version descends; for a model that is no version, its own folder."""
        folder = model.resolve()
        own = read_record(folder / RECORD).get("base") if folder.parent == self._folder.resolve() else None
        return Path(own) if isinstance(own, str) else folder

    def version_of(self, model: Path) -> Path:
        """Return the folder of the version of a model that is in use; if none is in use, the folder of the model itself."""
        made_of_it = self.record().get("base") == str(self.base_of(model))
        return (self.current if made_of_it else None) or model.resolve()

    def record(self) -> dict[str, Any]:
        """Return the record of the version in use, which is empty for a model that is none of the versions."""
        return read_record(self.link / RECORD)

    def install(self, complete: Path, record: dict[str, Any]) -> Path:
        """Make a folder with a complete model the newest version, and use it. Returns its folder."""
        write_json(complete / RECORD, {**record, "from": str(self._named(self.current or Path(record["base"])))})
        numbers = [int(path.name) for path in self._folder.iterdir() if path.name.isdecimal()]
        version = self._folder / str(max(numbers, default=0) + 1)
        complete.rename(version)
        sync_folder(self._folder)
        self._use(version)
        return version

    def roll_back(self) -> Path:
        """Switch back to the model from which the version in use was trained, and return its folder."""
        before = self.record().get("from")
        if not isinstance(before, str):
            raise RnnsearchError(f"{self.link}: there is no version to go back from")
        model = self.link.parent / before
        if not model.is_dir():
            raise RnnsearchError(f"{self.link}: the model before it, {before}, is not there any more")
        self._use(model)
        return model

    def clear(self) -> None:
        """Delete the files of an incomplete version."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _use(self, model: Path) -> None:
        temporary = self.link.with_name(f".{self.link.name}.partial")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(self._named(model), target_is_directory=True)
        temporary.replace(self.link)
        sync_folder(self.link.parent)

    def _named(self, model: Path) -> Path:
        """Return the path of a model as seen from the folder, which may be moved with the versions in it."""
        model, folder = model.resolve(), self.link.parent.resolve()
        return model.relative_to(folder) if model.is_relative_to(folder) else model
