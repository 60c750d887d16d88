"""Folders of data sets as the Hugging Face Hub has them: which of their files are the training text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import without_compression

_ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv")
_TRAIN = re.compile(r"(?i)(?<![a-z])train(ing)?(?![a-z])")
_OTHERS = re.compile(r"(?i)(?<![a-z])(valid(ation)?|dev(elopment)?|test|eval(uation)?)(?![a-z])")


def with_data_sets(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield files as they are, and in place of a folder the files of its training text, in the order of their names.

    These are the files of Parquet, JSON Lines and tables with `train` in their names or those of their folders, such as
    `data/train-00000-of-00002.parquet`; if there are none, all that are no development or test set. Raises RnnsearchError
    for a folder without such files.
    """
    for path in paths:
        if path.is_dir():
            yield from _training_files(path)
        else:
            yield path


def _training_files(folder: Path) -> list[Path]:
    files = {path: str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()}
    files = {path: name for path, name in files.items() if not any(part.startswith(".") for part in Path(name).parts)}
    tables = {path: name for path, name in files.items() if without_compression(path).suffix.lower() in _ENDINGS}
    chosen = [path for path, name in tables.items() if _TRAIN.search(name)]
    chosen = chosen or [path for path, name in tables.items() if not _OTHERS.search(name)]
    if not chosen:
        raise RnnsearchError(f"{folder}: a folder without training text in Parquet, JSON Lines or a table; name a file")
    return chosen
