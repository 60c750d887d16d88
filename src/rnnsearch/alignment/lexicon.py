"""Translation probabilities t(f | e) and t(e | f), from the expected links of types, smoothed towards stems and spelling.

Most words of a text are rare, and most rare words are forms of others. Here C counts expected links, of types, of pairs of
stems, and of single words; s is how alike two words are written (`spelling`):

    t(f | e) = (C(e, f) + α q(f | e)) / (C(e) + α)
    q(f | e) = C(stem e, stem f) / C(stem e) · frequency(f) / frequency(stem f) + β s(e, f) / (1 + Σ_f s(e, f))

`Types` are all types of a text that is learned from, in files, and `Lexicon` is what remains of them: the types that are
linked now and then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.bitext import Block
from rnnsearch.alignment.spelling import letter_pairs, likeness
from rnnsearch.alignment.vocabulary import Words
from rnnsearch.untrusted import Array, check_arrays

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int32]

_ALPHA, _BETA = 3.0, 0.3
_CHUNK = 1 << 22
"""Types that are in memory at a time."""
_KEPT = 1e-3
"""Types of fewer expected links than this, in both directions, are left out of a lexicon."""


@dataclass(frozen=True)
class Totals:
    """What is known of single words: pairs of arrays, of source words and of target words."""

    links: tuple[Doubles, Doubles]
    """The expected links C(e) of the direction that generates the target from the source, and C(f) of the other."""
    likeness: tuple[Doubles, Doubles]
    """The sum of the likenesses of each word to the words of the other side."""

    def probabilities(
        self, words: tuple[Words, Words], source: Ids, target: Ids, links_N2: Floats, of_stems_N2: Doubles, alike_N: Floats
    ) -> Floats:
        """t(target | source) and t(source | target) of N types: N × 2.

        Of each type, the expected links, those of the stems of its words, and the likeness are given. Words that are not
        known have no links.
        """
        t = np.empty(links_N2.shape, np.float32)
        for side, (given, word) in enumerate(((source, target), (target, source))):
            known, other = words[side], words[1 - side]
            total, alike = (
                np.append(part[side], np.zeros(len(known) - known.known)) for part in (self.links, self.likeness)
            )
            of_stem = np.bincount(known.stems, total, minlength=1)[known.stems]
            q = of_stems_N2[:, side] / np.maximum(of_stem, 1e-9)[given] * other.shares[word]
            q += _BETA * alike_N / (1 + alike[given])
            t[:, side] = (links_N2[:, side] + _ALPHA * q) / (total[given] + _ALPHA)
        return t


class Types:
    """The types of a text, in files: in the order of their source words, and therefore of their stems."""

    def __init__(self, folder: Path, blocks: Sequence[Path], words: tuple[Words, Words]) -> None:
        """Finds the types of the blocks in these files, and writes files into `folder` and beside the blocks'."""
        self._folder, self._words = folder, words
        letters = [letter_pairs(side.words) for side in words]
        alike = [np.zeros(len(side)) for side in words]
        self._starts = [0]
        per_word = np.zeros(len(words[0]), np.int64)
        for path in blocks:
            types = _types(path)
            per_word += np.bincount(types[0], minlength=len(per_word))
            _new_array(_numbers(path), np.int64, (types.shape[1],))
        for first, last in _ranges(per_word, words[0].stems):
            parts: list[tuple[Path, slice, NDArray[np.int64]]] = []
            for path in blocks:
                types = _types(path)
                here = slice(*np.searchsorted(types[0], np.array([first, last], np.int32)).tolist())
                parts.append((path, here, types[0, here].astype(np.int64) * len(words[1]) + types[1, here]))
            keys, numbers = np.unique(np.concatenate([part for _, _, part in parts]), return_inverse=True)
            done = 0
            for path, here, part in parts:
                kept = np.load(_numbers(path), mmap_mode="r+")
                kept[here] = self._starts[-1] + numbers[done : done + len(part)]
                done += len(part)
            source, target = (side.astype(np.int32) for side in np.divmod(keys, len(words[1])))
            stems = words[0].stems[source].astype(np.int64) * words[1].stem_count + words[1].stems[target]
            like = likeness(letters[0], letters[1], source, target)
            chunk = {"source": source, "target": target, "stems": np.unique(stems, return_inverse=True)[1].astype(np.int32)}
            np.savez(self._chunk(len(self._starts) - 1), **chunk, alike=like)
            for side, ids in enumerate((source, target)):
                alike[side] += np.bincount(ids, like, minlength=len(alike[side]))
            self._starts.append(self._starts[-1] + len(keys))
        self._likeness = alike[0], alike[1]
        self.t = self.counts("t", new=True)
        """t(target | source) and t(source | target) of each type, in a file."""

    def __len__(self) -> int:
        return self._starts[-1]

    def of(self, path: Path) -> NDArray[np.int64]:
        """The number of each type of a block."""
        return np.asarray(np.load(_numbers(path)))

    def counts(self, name: str, new: bool) -> Any:
        """An array with two numbers for each type, in a file of this name: new and zero, or as it was left.

        Raises ValueError where the file has another one.
        """
        path = self._folder / f"{name}.npy"
        if new:
            return _new_array(path, np.float32, (len(self), 2))
        found = np.load(path, mmap_mode="r")
        check_arrays({name: found}, {name: Array("float32", (len(self), 2), 0)})
        return found

    def begin(self) -> None:
        """Let t be what is known before anything is learned: the frequencies of words, and spelling."""
        shares = [side.frequencies / max(1, side.frequencies.sum()) for side in self._words]
        for here, chunk in self._chunks():
            for side, (given, word) in enumerate((("source", "target"), ("target", "source"))):
                alike = _BETA * chunk["alike"] / (1 + self._likeness[side][chunk[given]])
                self.t[here, side] = shares[1 - side][chunk[word]] + alike

    def learn(self, counts_N2: Any) -> None:
        """Let t follow from these expected links."""
        totals = self._totals(counts_N2)
        for here, chunk in self._chunks():
            links = np.asarray(counts_N2[here])
            of_stems = np.stack([np.bincount(chunk["stems"], side)[chunk["stems"]] for side in links.T], axis=1)
            self.t[here] = totals.probabilities(
                self._words, chunk["source"], chunk["target"], links, of_stems, chunk["alike"]
            )

    def lexicon(self, counts_N2: Any) -> Lexicon:
        """What is to be kept of these expected links."""
        keys, links = [np.empty(0, np.int64)], [np.empty((0, 2), np.float32)]
        for here, chunk in self._chunks():
            count = np.asarray(counts_N2[here])
            kept = (count > _KEPT).any(1)
            keys.append(chunk["source"][kept].astype(np.int64) * len(self._words[1]) + chunk["target"][kept])
            links.append(count[kept])
        return Lexicon(np.concatenate(keys), np.concatenate(links), self._totals(counts_N2), self._words)

    def _totals(self, counts_N2: Any) -> Totals:
        source, target = (np.zeros(len(side)) for side in self._words)
        for here, chunk in self._chunks():
            source += np.bincount(chunk["source"], counts_N2[here, 0], minlength=len(source))
            target += np.bincount(chunk["target"], counts_N2[here, 1], minlength=len(target))
        return Totals((source, target), self._likeness)

    def _chunks(self) -> Iterator[tuple[slice, dict[str, NDArray[Any]]]]:
        for number, (start, stop) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            with np.load(self._chunk(number)) as file:
                yield slice(start, stop), dict(file)

    def _chunk(self, number: int) -> Path:
        return self._folder / f"types-{number:05}.npz"


class Lexicon:
    """The expected links of types, those that are linked now and then, in both directions."""

    def __init__(self, keys: NDArray[np.int64], links_N2: Floats, totals: Totals, words: tuple[Words, Words]) -> None:
        """A key is source word · target words + target word, by number; keys ascend."""
        self.keys, self.links, self.totals = keys, links_N2, totals
        self._target_words, self._target_stems = words[1].known, words[1].stem_count
        source, target = np.divmod(keys, max(1, self._target_words))
        stems = words[0].stems[source].astype(np.int64) * self._target_stems + words[1].stems[target]
        self._stem_keys, numbers = np.unique(stems, return_inverse=True)
        self._of_stems = np.stack([np.bincount(numbers, side, len(self._stem_keys)) for side in links_N2.T], axis=1)

    def probabilities(self, block: Block, words: tuple[Words, Words], alike_N: Floats) -> Floats:
        """t(target | source) and t(source | target) of the types of a block of known and new words: types × 2."""
        source, target = block.type_source, block.type_target
        known = (source < words[0].known) & (target < words[1].known)
        links = _found(self.keys, self.links, source.astype(np.int64) * self._target_words + target, known)
        stems = words[0].stems[source], words[1].stems[target]
        known = stems[1] < self._target_stems
        of_stems = _found(self._stem_keys, self._of_stems, stems[0].astype(np.int64) * self._target_stems + stems[1], known)
        return self.totals.probabilities(words, source, target, links, of_stems, alike_N)


def _new_array(path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> Any:
    """Zeros in a new file that is mapped into memory, for which the disk has room: a write without room would kill."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _found(keys: NDArray[np.int64], values: Any, wanted: NDArray[np.int64], known: NDArray[np.bool_]) -> Any:
    """The values of these keys; zero where there is none, or the key is not known."""
    if not len(keys):
        return np.zeros((len(wanted), 2), values.dtype)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(((keys[places] == wanted) & known)[:, None], values[places], 0).astype(values.dtype)


def _ranges(per_word: NDArray[np.int64], stems: Ids) -> Iterator[tuple[int, int]]:
    """The first word, and the one after the last, of each chunk: whole stems, of about _CHUNK types."""
    ends = np.append(np.flatnonzero(np.diff(stems)) + 1, len(stems)) if len(stems) else np.empty(0, np.int64)
    first = size = before = 0
    for end in ends.tolist():
        here = int(per_word[before:end].sum())
        if size and size + here > _CHUNK:
            yield first, before
            first, size = before, 0
        size, before = size + here, end
    if before > first:
        yield first, before


def _types(path: Path) -> Any:
    return np.load(path.with_suffix(".types.npy"), mmap_mode="r")


def _numbers(path: Path) -> Path:
    return path.with_suffix(".numbers.npy")
