"""`rnnsearch memory`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rnnsearch.cli.options import Languages, TrainingFiles, check_inputs, files_of
from rnnsearch.errors import RnnsearchError, RnnsearchWarning

if TYPE_CHECKING:
    from rnnsearch.memory import Memory

_Folder = Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="The folder of the memory.")]
_Export = Annotated[
    Path | None, typer.Option("--export", metavar="FILE.tmx", help="Write the segments of a pair of languages as TMX.")
]


def command(folder: _Folder, files: TrainingFiles = None, languages: Languages = None, export: _Export = None) -> None:
    """Put pairs into a translation memory, or take them out.

    `serve --memory FOLDER` translates the segments of the memory as they are there, and stores corrections in it. A segment
    has one translation, the last one. All FILEs are stored, or none of them. The number of segments of each pair of
    languages is written; without FILE, this is all that is done. With --export, a file for the tools of translators is
    written, after all FILEs are stored.
    """
    given = files_of(files)
    check_inputs(*given, outputs=[export])
    if export is not None and export.suffix.lower() != ".tmx":
        raise RnnsearchError(f"{export}: a memory is written as TMX; give a name that ends in .tmx")

    from rnnsearch.memory import Memory

    memory = Memory(folder, create=bool(given))
    if given:
        _store(memory, given, languages)
    for (source, target), count in memory.counts().items():
        print(f"{source}-{target}\t{count}")
    if export is not None:
        _write(memory, export, languages)


def _store(memory: Memory, files: list[Path], languages: str | None) -> None:
    """Store the pairs of files, and say how many there were."""
    from rnnsearch.config import DataConfig
    from rnnsearch.data.inputs import read_only_once
    from rnnsearch.data.prepare import with_languages
    from rnnsearch.data.read import one_language, read_pairs
    from rnnsearch.formats.languages import parse_languages, primary
    from rnnsearch.memory import MOST_CHARACTERS

    for path in files:
        if not read_only_once(path) and (kind := one_language(path)):
            raise RnnsearchError(
                f"{path}: {kind} of one language; a memory takes files with both sides, such as TMX, XLIFF, PO or a table"
            )
    left, right = (tag or "auto" for tag in parse_languages(languages))
    codes = with_languages(DataConfig(source_language=left, target_language=right), files, files).languages
    source, target = codes
    assert source is not None
    assert target is not None
    stored, left_out = memory.add((primary(source), primary(target)), read_pairs(files, files, codes))
    print("1 pair stored" if stored == 1 else f"{stored:,} pairs stored", file=sys.stderr)
    if left_out:
        message = f"{left_out:,} pairs left out, with a side that is empty or has more than {MOST_CHARACTERS:,} characters"
        warnings.warn(RnnsearchWarning(message), stacklevel=2)


def _write(memory: Memory, path: Path, languages: str | None) -> None:
    """Write the segments of a pair of languages to a file."""
    from rnnsearch.formats.languages import parse_languages, primary
    from rnnsearch.formats.registry import WRITTEN
    from rnnsearch.jobs.output import written

    there = list(memory.counts())
    chosen = tuple(primary(tag) for tag in parse_languages(languages) if tag) or (there[0] if len(there) == 1 else None)
    pair = next((pair for pair in there if pair == chosen), None)
    if pair is None:
        has = ", ".join("-".join(pair) for pair in there) or "no segments"
        raise RnnsearchError(f"{path}: the memory has {has}; say which are written, e.g. --languages en,fr")
    format_ = WRITTEN["tmx"]
    with written(path) as file:
        file.write(format_.beginning(pair[0]))
        file.writelines(format_.unit(dict(zip(pair, both, strict=True))) for both in memory.pairs(pair))
        file.write(format_.end())
