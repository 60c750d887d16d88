"""`rnnsearch memory`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rnnsearch.cli.options import Languages, TrainingFiles, check_inputs, files_of
from rnnsearch.errors import RnnsearchWarning

if TYPE_CHECKING:
    from rnnsearch.memory import Memory

_Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder of the memory.")]


def command(folder: _Folder, files: TrainingFiles = None, languages: Languages = None) -> None:
    """Put pairs into a translation memory.

    `serve --memory FOLDER` translates the segments of the memory as they are there, and stores corrections in it. A segment
    has one translation, the last one. All FILEs are stored, or none of them. The number of segments of each pair of
    languages is written; without FILE, this is all that is done.
    """
    given = files_of(files)
    check_inputs(*given)

    from rnnsearch.memory import Memory

    memory = Memory(folder, create=bool(given))
    if given:
        _store(memory, given, languages)
    for (source, target), count in memory.counts().items():
        print(f"{source}-{target}\t{count}")


def _store(memory: Memory, files: list[Path], languages: str | None) -> None:
    """Store the pairs of files, and say how many there were."""
    from rnnsearch.config import DataConfig
    from rnnsearch.data.prepare import with_languages
    from rnnsearch.data.read import read_pairs
    from rnnsearch.formats.languages import parse_languages, primary
    from rnnsearch.memory import MOST_CHARACTERS

    left, right = (tag or "auto" for tag in parse_languages(languages))
    codes = with_languages(DataConfig(source_language=left, target_language=right), files, files).languages
    source, target = codes
    assert source is not None
    assert target is not None
    stored, left_out = memory.add((primary(source), primary(target)), read_pairs(files, files, codes))
    print(f"{stored:,} pairs stored", file=sys.stderr)
    if left_out:
        message = f"{left_out:,} pairs left out, with a side that is empty or has more than {MOST_CHARACTERS:,} characters"
        warnings.warn(RnnsearchWarning(message), stacklevel=2)
