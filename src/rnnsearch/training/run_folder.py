"""The folder of a training run: its lock, its prepared text, and whether a run in it can be resumed."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rnnsearch.alignment import learned_links
from rnnsearch.atomic import acquire_lock, write_json
from rnnsearch.config import Config, from_dict, to_dict
from rnnsearch.data.prepare import prepare, without_regions
from rnnsearch.data.prepared import PreparedData, open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import save_settings
from rnnsearch.system import System
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.untrusted import read_record
from rnnsearch.weight_files import check_name

TEXT = CHECKPOINT.with_name("text.json")
"""A copy of the `prepare.json` of the text that the run was started on."""
TEXT_FOLDER = "data"
"""The subfolder in which the text of a run is prepared, if the run is started on raw text."""
LOCK = CHECKPOINT.with_name("lock")
"""The lock file of the process that trains in the folder."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Return a context in which this process has locked the folder. Raises RnnsearchError if another one trains in it.

    The system releases the lock of a killed process.
    """
    check_name(folder)
    new, new_text = not folder.exists(), not (folder / TEXT_FOLDER).exists()
    try:
        lock = acquire_lock(folder / LOCK)
    except TimeoutError:
        raise RnnsearchError(
            f"{folder}: another training is at work there; wait for it or stop it, or give another --output"
        ) from None
    except OSError as error:
        raise RnnsearchError(f"{folder}: cannot train there: {error.strerror}") from None
    try:
        yield
    finally:
        if not (folder / CHECKPOINT).exists():  # no run was started, so everything that was created is deleted again
            with contextlib.suppress(OSError):
                (folder / LOCK).unlink()
                (folder / LOCK).parent.rmdir()
                if new_text:
                    shutil.rmtree(folder / TEXT_FOLDER, ignore_errors=True)
                if new:
                    folder.rmdir()
        lock.release()


def check_output(folder: Path, resume: bool, console: Console) -> bool:
    """Return whether there is a run to resume. Raises RnnsearchError if neither a new nor a resumed run is possible."""
    if (folder / CHECKPOINT).exists():
        if not resume:
            raise RnnsearchError(
                f"{folder}: a training run is there already; --resume goes on with it, or give another --output"
            )
        return True
    if (folder / WEIGHTS).exists():
        raise RnnsearchError(
            f"{folder}: a trained model is there already, without a checkpoint to resume from; give another --output "
            "(and --from, to train this model further)"
        )
    if resume:
        console.print(f"{folder}: no checkpoint to resume from, so this is a new run", markup=False, soft_wrap=True)
    return False


def resumed_settings(saved: Config, requested: Config, folder: Path, compare_data: bool) -> Config:
    """Return the settings of a resumed run: `data.*` and `model.*` may not change, `training.*` and `search.*` may."""
    before, now = to_dict(saved), to_dict(replace(requested, data=without_regions(requested.data)))
    if not compare_data:
        now["data"] = before["data"]
    for section in ("model", "data"):
        for key, value in before[section].items():
            # The saved languages are those that `auto` was resolved to.
            if now[section][key] not in (value, "auto"):
                raise RnnsearchError(
                    f"{folder}: the run to resume has {section}.{key} = {value!r}, not {now[section][key]!r}; "
                    "give the settings it was started with, or another --output"
                )
    return from_dict({**now, "data": before["data"]})


def prepared_text(
    folder: Path,
    config: Config,
    text: tuple[list[Path], list[Path], list[Path]],
    hold_out: int | None,
    data: str | os.PathLike[str] | None,
    resuming: bool,
    initial: System | None,
    console: Console,
) -> PreparedData:
    """Return the prepared text: the folder `data`, that of the run to resume, or the raw text, which is prepared now.

    `initial` is the model to start from, if any, whose vocabularies are used.
    """
    vocabularies = None if initial is None else initial.vocabularies
    if data is not None:
        prepared = open_prepared(Path(data))
        if vocabularies and vocabularies.differing_side(prepared.vocabularies):
            raise RnnsearchError(
                f"{data}: prepared with other vocabularies than those of the model to start from; prepare it with "
                "`prepare --vocabulary-of MODEL`, or give raw text"
            )
        if resuming and (folder / TEXT).exists() and not prepared.has_info(read_record(folder / TEXT)):
            raise RnnsearchError(
                f"{data}: this is not the text that the run in {folder} was started on; give that, or another --output"
            )
        return prepared
    source_paths, target_paths, link_paths = text
    if resuming:
        prepared = open_prepared(folder / TEXT_FOLDER)
        if source_paths and not prepared.is_of(source_paths, target_paths, link_paths):
            names = ", ".join(path.name for path in source_paths + target_paths + link_paths)
            raise RnnsearchError(
                f"{folder}: the run to resume was not started on {names}, or they have changed since; give the files it "
                "was started on, or another --output"
            )
        if hold_out is not None and prepared.held_out != hold_out:
            raise RnnsearchError(
                f"{folder}: the run to resume was started with {prepared.held_out:,} pairs held out, not {hold_out:,}; give "
                f"{f'--hold-out {prepared.held_out}' if prepared.held_out else 'no --hold-out'}, or another --output"
            )
        return prepared
    if not source_paths:
        raise RnnsearchError("nothing to train on: give --source and --target, or --data")
    with console.status("preparing the text") as status:
        return prepare(
            source_paths,
            target_paths,
            folder / TEXT_FOLDER,
            config.data,
            links=link_paths,
            hold_out=hold_out,
            vocabularies=vocabularies,
            aligner=learned_links,
            progress=lambda stage, pairs: status.update(f"{stage}: {pairs:,} pairs"),
        )


def begin(folder: Path, system: System, prepared: PreparedData | None) -> None:
    """Write the settings of a run and, for a new run on `prepared` text, a copy of its `prepare.json`."""
    save_settings(folder, system)
    if prepared is not None:
        write_json(folder / TEXT, prepared.info)
