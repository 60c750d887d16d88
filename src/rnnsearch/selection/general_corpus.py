"""The general corpus to select from, which is read block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.atomic import atomic_write
from rnnsearch.data.inputs import check_repeatable
from rnnsearch.data.pack import Ids
from rnnsearch.data.read import read_pairs
from rnnsearch.formats.languages import Languages

Side = Literal["source", "target"]
Progress = Callable[[str, int, int | None], None]
"""A function that is called with the stage, the number of pairs done so far, and the total number if it is known."""

SIDES: tuple[Side, Side] = ("source", "target")
BLOCK = 4096
"""The number of pairs of a block; it is so small that the arrays of a block fit into a processor's cache."""


@dataclass(frozen=True)
class GeneralCorpus(ABC):
    """The general corpus to select from; subclasses read its pairs."""

    words: Mapping[Side, Ids]
    """The number of words on each side of each pair."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.words["source"])

    @property
    def whole(self) -> NDArray[np.bool_]:
        """For each pair, whether both sides have words."""
        return (self.words["source"] > 0) & (self.words["target"] > 0)

    @abstractmethod
    def some(
        self, mask: NDArray[np.bool_], progress: Progress, block: int = BLOCK
    ) -> Iterator[tuple[NDArray[np.int64], Mapping[Side, Sequence[str]]]]:
        """Yield the numbers and the lines of the pairs for which `mask` is true, in order, at most `block` at a time."""


@dataclass(frozen=True)
class CorpusFiles(GeneralCorpus):
    """A general corpus in files of parallel text."""

    sources: Sequence[Path]
    targets: Sequence[Path]
    languages: Languages
    """The languages to read from files that have several."""
    digest: str
    """A hash of all lines."""

    @classmethod
    def measure(
        cls, sources: Sequence[Path], targets: Sequence[Path], progress: Progress, languages: Languages = (None, None)
    ) -> CorpusFiles:
        """Read the files once to count and hash their words. Raises RnnsearchError if a file can be read only once."""
        check_repeatable(*sources, *targets)
        lengths, digest = [array("i"), array("i")], blake2b(digest_size=16)
        for done, pair in enumerate(read_pairs(sources, targets, languages)):
            if done % BLOCK == 0:
                progress("counting", done, None)
            for side, line in zip(lengths, pair, strict=True):
                side.append(len(line.split()))
                digest.update(f"{line}\n".encode())
        words = (np.array(side, dtype=np.int32) for side in lengths)
        return cls(dict(zip(SIDES, words, strict=True)), sources, targets, languages, digest.hexdigest())

    def blocks(self, stage: str, progress: Progress, block: int = BLOCK) -> Iterator[tuple[int, dict[Side, list[str]]]]:
        """Yield the lines of both sides, `block` pairs at a time, with the number of the first of these pairs."""
        pairs = read_pairs(self.sources, self.targets, self.languages)
        for start in range(0, len(self), block):
            progress(stage, start, len(self))
            chunk = list(islice(pairs, block))
            yield start, {"source": [pair[0] for pair in chunk], "target": [pair[1] for pair in chunk]}
        progress(stage, len(self), len(self))

    def some(
        self, mask: NDArray[np.bool_], progress: Progress, block: int = BLOCK
    ) -> Iterator[tuple[NDArray[np.int64], Mapping[Side, Sequence[str]]]]:
        """See `GeneralCorpus`; this reads the whole corpus."""
        for start, lines in self.blocks("sampling", progress, block):
            chosen = np.flatnonzero(mask[start : start + block])
            yield start + chosen, {side: [lines[side][i] for i in chosen] for side in SIDES}

    def write(self, kept: NDArray[np.bool_], output: tuple[Path, Path], progress: Progress) -> None:
        """Write the lines of the pairs for which `kept` is true to the two files of `output`, atomically."""
        with ExitStack() as stack:
            files = [stack.enter_context(stack.enter_context(atomic_write(path)).open("wb")) for path in output]
            for start, lines in self.blocks("writing", progress):
                chosen = np.flatnonzero(kept[start : start + BLOCK])
                for side, file in zip(SIDES, files, strict=True):
                    file.writelines(lines[side][number].encode() + b"\n" for number in chosen)
