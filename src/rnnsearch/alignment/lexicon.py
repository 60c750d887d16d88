"""Translation probabilities t(f | e) and t(e | f), from expected links, smoothed by word stems and spelling.

Most words of a text are rare, and most rare words are inflected forms of other words. Here C are the expected numbers of
links of word-type pairs, of pairs of stems, and of single words; s is the similarity of two spellings (`spelling`):

    t(f | e) = (C(e, f) + α q(f | e)) / (C(e) + α)
    q(f | e) = C(stem e, stem f) / C(stem e) · frequency(f) / frequency(stem f) + β s(e, f) / (1 + Σ_f s(e, f))

The first term is the relative frequency of the links of two words; the prior q backs off to the links of their stems, and to
the similarity of their spellings. `Types` holds all word-type pairs (*types* for short) of the training text, in files;
`Lexicon` holds those with more than a thousandth of an expected link, and is saved with the aligner.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.ascending import Ascending
from rnnsearch.alignment.bitext import Block
from rnnsearch.alignment.spelling import letter_pairs, likeness
from rnnsearch.alignment.vocabulary import Words
from rnnsearch.untrusted import Array, check_arrays

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ids = NDArray[np.int32]

_ALPHA, _BETA = 3.0, 0.3
_ARRAYS = "t", "counts"
_CHUNK = 1 << 22
"""The number of word-type pairs that are in memory at a time."""
_FEWEST_LINKS = 1e-3
"""Word-type pairs with at most this many expected links in both directions are omitted from a lexicon."""


@dataclass(frozen=True)
class Totals:
    """Sums over the word-type pairs of each word: pairs of arrays, for source words and for target words."""

    links: tuple[Doubles, Doubles]
    """The expected links C(e) in the direction that generates the target, and C(f) in the direction of the source."""
    likeness: tuple[Doubles, Doubles]
    """The sums Σ_f s(e, f) and Σ_e s(e, f) of the similarities of each word to the words of the other side."""

    def probabilities(
        self, words: tuple[Words, Words], source: Ids, target: Ids, links_N2: Floats, of_stems_N2: Any, alike_N: Floats
    ) -> Floats:
        """Return t(target | source) and t(source | target) of N word-type pairs: N × 2.

        The arguments are, for each word-type pair, its words, its expected links, those of its pair of stems, and the
        similarity of its spellings. Words that did not occur in the training text have no links.
        """
        t = np.empty(links_N2.shape, np.float32)
        similar = np.flatnonzero(alike_N)
        # Both directions: t(word | condition) with the totals of the condition.
        for side, (condition, word) in enumerate(((source, target), (target, source))):
            # C(e) and Σ_f s(e, f) of each word, zero for new words; C(stem e) is the sum over the words of its stem.
            known = words[side]
            total, alike = (
                np.append(part[side], np.zeros(len(known) - known.known)) for part in (self.links, self.likeness)
            )
            of_stem = np.bincount(known.stems, total, minlength=1)[known.stems]
            # The factors of C(e, f), C(stem e, stem f) and s(e, f), each computed once for each word.
            of_links = 1 / (total + _ALPHA)
            of_stems = (_ALPHA * of_links / np.maximum(of_stem, 1e-9)).astype(np.float32)
            of_likeness = _ALPHA * _BETA * of_links / (1 + alike)
            # t as the sum of the three terms; most word-type pairs have no similarity.
            t[:, side] = of_stems_N2[:, side] * of_stems[condition] * words[1 - side].shares.astype(np.float32)[word]
            t[:, side] += links_N2[:, side] * of_links.astype(np.float32)[condition]
            t[similar, side] += alike_N[similar] * of_likeness[condition[similar]]
        return t


@dataclass(frozen=True)
class Pseudocounts:
    """Prior knowledge of a training, as counts that are added to the expected counts of every step.

    Words have their numbers in the text of the training. Pairs of arrays are for the direction that generates the target,
    and for the direction that generates the source.
    """

    keys: NDArray[np.int64]
    """The word-type pairs with links, ascending: source word · (number of target words) + target word."""
    links: Floats
    """The links of each of them, in both directions: word-type pairs × 2."""
    totals: Totals
    """The links of each word, including those to words that the text does not contain."""
    nulls: tuple[Doubles, Doubles]
    """The number of NULL-aligned occurrences of each target word, and of each source word."""
    jumps: tuple[Doubles, Doubles]
    """The jumps of each class and width: classes × (2 · reach + 1)."""

    def of_types(self, keys: NDArray[np.int64]) -> Floats:
        """Return the links of the word-type pairs with these keys: N × 2."""
        return np.asarray(values_of(self.keys, self.links, keys, np.bool_(True)))


class Types:
    """The word-type pairs of a text, in files, in the order of their source words and therefore of the source stems.

    Each use of a file maps it into memory anew, because mapped pages count as memory of the process until they are unmapped.
    """

    def __init__(self, folder: Path, keys: Sequence[Ascending], words: tuple[Words, Words]) -> None:
        """Number the word-type pairs of the blocks with these keys, whose files are removed; write files into `folder`."""
        self._folder, self._words = folder, words
        letters = [letter_pairs(side.words) for side in words]
        alike = [np.zeros(len(side)) for side in words]
        self._numbers = [Ascending(folder / f"block-{number:05}.numbers", np.uint8) for number in range(len(keys))]
        # The number of word-type pairs of each source word, by which chunks of bounded size are formed.
        targets, of_word = max(1, len(words[1])), np.zeros(len(words[0]), np.int64)
        for block in keys:
            of_word += np.bincount(block.read() // targets, minlength=len(of_word))
        # For each range of source words, merge the word-type pairs of all blocks into one chunk, sorted and without
        # repetition, and write their numbers for each block.
        self._ranges = list(_ranges(of_word, words[0].stems))
        self._similar: list[tuple[Ids, Floats]] = []
        rows, size = [0], 0
        with (folder / "targets").open("wb") as file:
            for first, last in self._ranges:
                parts = [block.below(last * targets) for block in keys]
                chunk, numbers = np.unique(np.concatenate(parts), return_inverse=True)
                done = 0
                for of, part in zip(self._numbers, parts, strict=True):
                    of.append(size + numbers[done : done + len(part)])
                    done += len(part)
                source, target = (side.astype(np.int32) for side in np.divmod(chunk, targets))
                file.write(target.data)
                rows += (size + np.searchsorted(source, np.arange(first + 1, last + 1))).tolist()
                size += len(chunk)
                # Hardly any words are similar.
                like = likeness(letters[0], letters[1], source, target)
                similar = np.flatnonzero(like)
                self._similar.append((similar.astype(np.int32), like[similar]))
                for side, ids in enumerate((source, target)):
                    alike[side] += np.bincount(ids, like, minlength=len(alike[side]))
        for block in keys:
            block.remove()
        self._rows = np.array(rows)
        """Where the word-type pairs of each source word begin."""
        self._likeness = alike[0], alike[1]

    def __len__(self) -> int:
        return int(self._rows[-1])

    def of(self, number: int) -> NDArray[np.int64]:
        """Return the numbers of the word-type pairs of a block, in ascending order."""
        return self._numbers[number].read()

    def of_block(self, block: Block, numbers: NDArray[np.int64]) -> Block:
        """Return a block with its word-type pairs, which have these numbers."""
        targets = _gathered(lambda: self._targets, numbers)
        return block.of_types(np.searchsorted(numbers, self._rows), targets, len(self._words[1]))

    @property
    def t(self) -> Any:
        """t(target | source) and t(source | target) of each word-type pair, in a file that is mapped anew."""
        return np.load(self._folder / "t.npy", mmap_mode="r+")

    @property
    def counts(self) -> Any:
        """The expected links of each word-type pair in both directions, in a file that is mapped anew."""
        return np.load(self._folder / "counts.npy", mmap_mode="r+")

    @property
    def _targets(self) -> Any:
        """The target word of each word-type pair, in a file that is mapped anew."""
        return np.memmap(self._folder / "targets", np.int32, "r") if len(self) else np.empty(0, np.int32)

    def t_of(self, numbers: NDArray[np.int64]) -> Floats:
        """Return t of the word-type pairs with these ascending numbers: N × 2."""
        return np.asarray(_gathered(lambda: self.t, numbers))

    def begin(self, known: Pseudocounts | None = None) -> None:
        """Initialise t before training, from the frequencies of the words and the similarity of their spellings.

        If there are pseudo-counts (`known`), t is their relative frequency, and these values only smooth it.
        """
        for name in _ARRAYS:
            _new_array(self._folder / f"{name}.npy", np.float32, (len(self), 2))
        shares = [side.frequencies / max(1, side.frequencies.sum()) for side in self._words]
        for here, chunk in self._chunks():
            for side, (condition, word) in enumerate(((chunk.source, chunk.target), (chunk.target, chunk.source))):
                alike = _BETA * chunk.alike / (1 + self._likeness[side][condition])
                t = self.t[here, side]
                t[:] = shares[1 - side][word] + alike
                if known is not None:
                    links, total = known.of_types(self._keys(chunk))[:, side], known.totals.links[side][condition]
                    t[:] = (links + _ALPHA * t) / (total + _ALPHA)

    def go_on(self) -> None:
        """Check t and the counts as a killed training has left them. Raises OSError or ValueError if they are damaged."""
        arrays = {"t": self.t, "counts": self.counts}
        check_arrays(arrays, dict.fromkeys(_ARRAYS, Array("float32", (len(self), 2), 0)))

    def end(self) -> None:
        """Remove t and the counts, which are not needed any more."""
        for name in _ARRAYS:
            (self._folder / f"{name}.npy").unlink(missing_ok=True)

    def learn(self, known: Pseudocounts | None = None) -> None:
        """Compute t from the counts, and from pseudo-counts (the M-step)."""
        totals, stems = self._totals(known), [side.stems for side in self._words]
        for here, chunk in self._chunks():
            # The counts of pairs of stems; a chunk contains all word-type pairs of its source stems.
            links = self._links(here, chunk, known)
            of_stems = compiled.of_stems(stems[0][chunk.source], stems[1][chunk.target], links, self._words[1].stem_count)
            self.t[here] = totals.probabilities(self._words, chunk.source, chunk.target, links, of_stems, chunk.alike)
        self.t.flush()

    def lexicon(self, known: Pseudocounts | None = None) -> Lexicon:
        """Return the lexicon of the counts and of pseudo-counts, without pairs that are hardly ever linked."""
        keys, links = [np.empty(0, np.int64)], [np.empty((0, 2), np.float32)]
        for here, chunk in self._chunks():
            count = self._links(here, chunk, known)
            linked = (count > _FEWEST_LINKS).any(1)
            keys.append(self._keys(chunk)[linked])
            links.append(count[linked])
        all_keys, all_links = np.concatenate(keys), np.concatenate(links)
        del keys, links  # they are large
        if known is not None:
            # The pseudo-counts of words that do not occur together in this text.
            apart = ~np.isin(known.keys, all_keys)
            all_keys, all_links = np.append(all_keys, known.keys[apart]), np.append(all_links, known.links[apart], axis=0)
            order = np.argsort(all_keys, kind="stable")
            all_keys, all_links = all_keys[order], all_links[order]
        return Lexicon(all_keys, all_links, self._totals(known), self._words)

    def _keys(self, chunk: _Chunk) -> NDArray[np.int64]:
        """Return source word · (number of target words) + target word for each word-type pair of a chunk."""
        keys: NDArray[np.int64] = chunk.source.astype(np.int64) * len(self._words[1]) + chunk.target
        return keys

    def _links(self, here: slice, chunk: _Chunk, known: Pseudocounts | None) -> Floats:
        counts = np.asarray(self.counts[here])
        return counts if known is None else counts + known.of_types(self._keys(chunk))

    def _totals(self, known: Pseudocounts | None) -> Totals:
        source, target = (np.zeros(len(side)) for side in self._words)
        for here, chunk in self._chunks():
            source += np.bincount(chunk.source, self.counts[here, 0], minlength=len(source))
            target += np.bincount(chunk.target, self.counts[here, 1], minlength=len(target))
        if known is None:
            return Totals((source, target), self._likeness)
        links, likeness = known.totals.links, known.totals.likeness
        # Most similar words are similar in both texts, so the similarities of both must not be added.
        larger = np.maximum(likeness[0], self._likeness[0]), np.maximum(likeness[1], self._likeness[1])
        return Totals((source + links[0], target + links[1]), larger)

    def _chunks(self) -> Iterator[tuple[slice, _Chunk]]:
        for (first, last), (similar, like) in zip(self._ranges, self._similar, strict=True):
            here = slice(int(self._rows[first]), int(self._rows[last]))
            source = np.repeat(np.arange(first, last, dtype=np.int32), np.diff(self._rows[first : last + 1]))
            alike = np.zeros(len(source), np.float32)
            alike[similar] = like
            yield here, _Chunk(source, np.asarray(self._targets[here]), alike)


class _Chunk(NamedTuple):
    """Word-type pairs that follow each other, with whole source stems."""

    source: Ids
    target: Ids
    alike: Floats
    """The similarity of the two words."""


class Lexicon:
    """The expected links, in both directions, of the word-type pairs with more than `_FEWEST_LINKS` in one of them."""

    def __init__(self, keys: NDArray[np.int64], links_N2: Floats, totals: Totals, words: tuple[Words, Words]) -> None:
        """Take ascending keys: e · (number of target words) + f for the source word e and the target word f."""
        self.keys, self.links, self.totals = keys, links_N2, totals
        self._target_words, self._target_stems = words[1].known, words[1].stem_count
        # The counts of pairs of stems, under keys of their own, which ascend with the source words.
        stem_keys, of_stems = [np.empty(0, np.int64)], [np.empty((0, 2))]
        rows = np.searchsorted(keys, np.arange(words[0].known + 1) * self._target_words)
        for begin, end in _ranges(np.diff(rows), words[0].stems[: words[0].known]):
            here = slice(*rows[[begin, end]])
            source, target = np.divmod(keys[here], max(1, self._target_words))
            stems = words[0].stems[source].astype(np.int64) * self._target_stems + words[1].stems[target]
            numbers_of, numbers = np.unique(stems, return_inverse=True)
            stem_keys.append(numbers_of)
            of_stems.append(np.stack([np.bincount(numbers, side, len(numbers_of)) for side in links_N2[here].T], axis=1))
        self._stem_keys, self._of_stems = np.concatenate(stem_keys), np.concatenate(of_stems)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by which it is kept."""
        arrays: dict[str, NDArray[Any]] = {"keys": self.keys, "links": self.links}
        for side in (0, 1):
            arrays |= {f"totals_{side}": self.totals.links[side], f"likeness_{side}": self.totals.likeness[side]}
        return arrays

    @classmethod
    def of_arrays(cls, arrays: dict[str, NDArray[Any]], words: tuple[Words, Words]) -> Lexicon:
        """Return the lexicon with these `arrays`, checked already by those of `expected`."""
        if (np.diff(arrays["keys"]) <= 0).any():
            raise ValueError("keys do not ascend")
        links, likeness = ((arrays[f"{name}_0"], arrays[f"{name}_1"]) for name in ("totals", "likeness"))
        return cls(arrays["keys"], arrays["links"], Totals(links, likeness), words)

    @staticmethod
    def expected(pairs: int, words: tuple[Words, Words]) -> dict[str, Array]:
        """Return what the arrays of a lexicon of so many word-type pairs must be."""
        of_words = {
            f"{name}_{side}": Array("float64", (len(words[side]),), 0) for name in ("totals", "likeness") for side in (0, 1)
        }
        keys = Array("int64", (pairs,), 0, len(words[0]) * len(words[1]) - 1)
        return {"keys": keys, "links": Array("float32", (pairs, 2), 0)} | of_words

    def probabilities(self, block: Block, words: tuple[Words, Words], alike_N: Floats) -> Floats:
        """Return t(target | source) and t(source | target) of the word-type pairs of a block, some with new words: N × 2."""
        source, target = block.type_source, block.type_target
        known = (source < words[0].known) & (target < words[1].known)
        # The links of the words, and those of their stems; new words and new stems have none.
        links = values_of(self.keys, self.links, source.astype(np.int64) * self._target_words + target, known)
        stems = words[0].stems[source], words[1].stems[target]
        known = stems[1] < self._target_stems
        of_stems = values_of(
            self._stem_keys, self._of_stems, stems[0].astype(np.int64) * self._target_stems + stems[1], known
        )
        return self.totals.probabilities(words, source, target, links, of_stems, alike_N)


def _gathered(mapped: Callable[[], Any], numbers: NDArray[np.int64]) -> Any:
    """Return the rows with these ascending numbers of an array in a file, of which `mapped` maps few pages at a time."""
    whole = mapped()
    found = np.empty((len(numbers), *whole.shape[1:]), whole.dtype)
    limits = range(0, len(whole), _CHUNK)
    places = np.append(np.searchsorted(numbers, limits), len(numbers)).tolist()
    del whole
    for begin, end in pairwise(places):
        found[begin:end] = mapped()[numbers[begin:end]]
    return found


def _new_array(path: Path, dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    """Write an array of zeros into a new file that can be mapped into memory.

    The space is reserved on the disk at once, because a later write to mapped memory on a full disk would kill the process.
    """
    np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def values_of(keys: NDArray[np.int64], values: Any, queries: NDArray[np.int64], known: NDArray[np.bool_] | np.bool_) -> Any:
    """Look up `queries` among the ascending `keys`: return their values, and zero for missing keys or where not `known`."""
    if not len(keys):
        return np.zeros((len(queries), 2), values.dtype)
    # Binary search; a query that is not among the keys has the place of another key.
    places = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    return np.where(((keys[places] == queries) & known)[:, None], values[places], 0).astype(values.dtype)


def _ranges(per_word: NDArray[np.int64], stems: Ids) -> Iterator[tuple[int, int]]:
    """Yield the range of source words of each chunk, which has whole stems and at most about _CHUNK word-type pairs.

    `per_word` is the number of word-type pairs of each source word.
    """
    # The words of a stem have adjacent numbers; a chunk ends where a stem ends.
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
