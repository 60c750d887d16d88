"""The interface to the word aligners that ours is compared with: how each is run, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class WordAligner:
    """A word aligner, installed for a Python."""

    name: str
    writes: tuple[str, ...]
    """The links that it writes, each to a file of its own: of both directions, or of a way that combines them."""
    command: Callable[[Path, Sequence[Path], Sequence[Path]], list[object]]
    """The command line, from the Python, the two files of text, and the files of links."""


EFLOMAL = WordAligner(
    name="eflomal",
    writes=("forward", "backward"),
    command=lambda python, text, links: [
        *(python.with_name("eflomal-align"), "-s", text[0], "-t", text[1], "-f", links[0], "-r", links[1])
    ],
)
FAST_ALIGN = WordAligner(
    name="fast_align",
    writes=("grow-diag-final-and",),
    command=lambda python, text, links: [python, FOLDER / "fast_align" / "align.py", *text, *links],
)
ALIGNERS = {aligner.name: aligner for aligner in (EFLOMAL, FAST_ALIGN)}
