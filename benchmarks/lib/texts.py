"""Files of lines: those of DATA, and those that benchmarks write."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from rnnsearch.atomic import write_text
from rnnsearch.data.lines import read_lines


def sides(data: Path, name: str, *languages: str) -> tuple[Path, Path]:
    """Both sides of a text of DATA: those of `multi30k/val`, in English and French, are `val.en.gz` and `val.fr.gz`."""
    first, second = (path for one in languages or ("en", "fr") for path in data.glob(f"{name}.{one}.*z"))
    return first, second


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write lines to a file, and return its path."""
    write_text(path, "".join(f"{line}\n" for line in lines))
    return path


def beginning(whole: Path, lines: int, path: Path) -> Path:
    """Write the first lines of a text to a file, and return its path."""
    return write_lines(path, islice(read_lines(whole), lines))
