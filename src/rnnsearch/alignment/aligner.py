"""An aligner that has learned: it draws links, and can be kept in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.agreement import JUMPS_SHAPE, Corpus, Models, train
from rnnsearch.alignment.bitext import Block, GivenPair, as_words, blocks_of
from rnnsearch.alignment.lexicon import Lexicon, Totals
from rnnsearch.alignment.probability import EVIDENCE, evidence, probability
from rnnsearch.alignment.spelling import letter_pairs, likeness
from rnnsearch.alignment.vocabulary import Words
from rnnsearch.atomic import atomic_write, write_json, write_text
from rnnsearch.data.word_alignments import Links, Symmetry, symmetrize
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.jobs import digest_of
from rnnsearch.untrusted import MEGABYTE, Array, check_arrays, check_header, check_regular, read_bytes, read_json

THRESHOLD = 0.5
"""A link is drawn if it is more probable than this."""
_LEAST = 0.01
"""Cells that no model gives a greater probability are not returned."""
_PAIRS = 1000
"""Pairs that are aligned at a time."""
_FORMAT = 2
_DESCRIPTION, _ARRAYS, _WORDS = "aligner.json", "aligner.safetensors", ("source.words", "target.words")
_KINDS = ("agreeing", "independent")
_MOST_WORDS = 4096 * MEGABYTE
"""Bytes of a list of words: of a word that is listed, there are also numbers."""
_MANY = 1e15
"""No text has so many words."""


@dataclass(frozen=True)
class LineLinks:
    """What the aligner says of one line: all cells that any model believes in at least a little."""

    source: NDArray[np.int64]
    """The source position of each cell, from 0."""
    target: NDArray[np.int64]
    forward: NDArray[np.float32]
    """The posterior probability of each in the model that generates the target, of the two that agree."""
    backward: NDArray[np.float32]
    """The same in the model that generates the source."""

    evidence: NDArray[np.float64]
    """What speaks for a link and against it: cells × kinds, see `probability.EVIDENCE`."""
    probability: NDArray[np.float64]
    """The probability that the two words are linked, which follows from the evidence."""

    def links(self, how: Symmetry | Literal["probability"] = "probability", threshold: float = THRESHOLD) -> Links:
        """The links of a probability above `threshold`, or those of each model by itself, combined (`symmetrize`).

        By itself, a model links each word that it generates with the word that it most probably came from, if that is more
        probable than that it came from none.
        """
        if how == "probability":
            found = self.probability > threshold
            return frozenset(zip(self.source[found].tolist(), self.target[found].tolist(), strict=True))
        forward = self._most_probable(self.target, self.forward)
        backward = self._most_probable(self.source, self.backward)
        return symmetrize(forward, backward, how)

    def probabilities(self) -> dict[tuple[int, int], float]:
        """The probability that the words at these positions are linked, of every pair of words that may be."""
        cells = zip(self.source.tolist(), self.target.tolist(), strict=True)
        return dict(zip(cells, self.probability.tolist(), strict=True))

    def _most_probable(self, words: NDArray[np.int64], probability: NDArray[np.float32]) -> Links:
        order = np.lexsort((-probability, words))
        _, first = np.unique(words[order], return_index=True)
        best = order[first]
        total = np.bincount(words, probability)
        best = best[probability[best] > 1 - total[words[best]]]
        return frozenset(zip(self.source[best].tolist(), self.target[best].tolist(), strict=True))


class Aligner:
    """A word aligner that has learned from a text: it draws links between the words of sentence pairs.

        aligner = rnnsearch.Aligner.learn(pairs)
        for line in aligner.align(pairs):
            line.links(), line.probabilities()

    A pair is two strings whose words are separated by spaces, or two lists of words.
    """

    def __init__(self, words: tuple[Words, Words], agreeing: Models, independent: Models) -> None:
        """What was learned of these words; `learn` and `load` make an aligner."""
        self.words, self._models = words, (agreeing, independent)

    @classmethod
    def learn(cls, pairs: Iterable[GivenPair] | Corpus, advance: Callable[[int], None] = lambda pairs: None) -> Aligner:
        """An aligner that has learned from a text; `advance` is told how many more pairs each of `steps` steps has seen.

        A `Corpus` keeps the text in a folder: there, a training that was killed goes on after its last whole step. Raises
        RnnsearchError where there is no pair.
        """
        corpus = pairs if isinstance(pairs, Corpus) else Corpus(pairs)
        if not corpus.lines:
            raise RnnsearchError("no pairs to learn from; an aligner learns from sentences and their translations")
        agreeing, independent, _ = train(corpus, advance)
        return cls(corpus.words, agreeing, independent)

    def align(self, pairs: Iterable[GivenPair] | Corpus) -> Iterator[LineLinks]:
        """The links of every pair of any text, in order; a side may be empty. Those of a pair depend on no other pair.

        A `Corpus` is the one that was learned from.
        """
        if isinstance(pairs, Corpus):
            for block in pairs.blocks():
                yield from self._align(block, self.words)
            return
        words = self.words[0].copy(), self.words[1].copy()
        for block in blocks_of(map(as_words, pairs), *words):
            yield from self._align(block.indexed(*words), words)

    def lexicon(self) -> dict[str, list[tuple[str, float]]]:
        """For each source word the target words that it was linked to, with p(target word | source word), the best first.

        These are expected links by the models that agree; words are in the normalised form in which they were counted.
        """
        known, (source_words, target_words) = self._models[0].lexicon, self.words
        sources, targets = np.divmod(known.keys, max(1, target_words.known))
        found: dict[str, list[tuple[str, float]]] = {}
        for source, target, links in zip(sources.tolist(), targets.tolist(), known.links[:, 0].tolist(), strict=True):
            p = links / max(float(known.totals.links[0][source]), links, 1e-30)
            found.setdefault(source_words.words[source], []).append((target_words.words[target], p))
        return {word: sorted(linked, key=lambda one: (-one[1], one[0])) for word, linked in found.items()}

    def _align(self, block: Block, words: tuple[Words, Words]) -> Iterator[LineLinks]:
        alike = _likeness(block, words)
        parameters = [models.parameters(block, words, alike) for models in self._models]
        shares = [np.maximum(side.frequencies, 1) / max(1, side.frequencies.sum()) for side in words]
        t_NMD = np.stack([of.t for of in parameters], axis=1)
        found: list[tuple[NDArray[Any], ...]] = []
        line, pairs = 0, len(block.line)
        for first in range(0, pairs, _PAIRS):
            last = min(first + _PAIRS, pairs)
            posteriors = [compiled.posteriors(block.text, of, first, last) for of in parameters]
            p_DMN = np.stack([np.stack(direction) for direction in zip(*posteriors, strict=True)])
            for p in range(first, last):
                if block.line[p] != line:
                    yield _line(found)
                    found, line = [], line + 1
                found.append(_cells(block, p, p_DMN[:, :, _of_pair(block, p, first)], t_NMD, shares))
        yield _line(found)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Keep the aligner in a folder, from which `load` reads it.

        The folder is an aligner's from when its last file, the description, is there: that goes first and comes last.
        """
        from safetensors.numpy import save_file

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _DESCRIPTION).unlink(missing_ok=True)
        for name, side in zip(_WORDS, self.words, strict=True):
            write_text(folder / name, "".join(f"{word}\n" for word in side.words[: side.known]))
        with atomic_write(folder / _ARRAYS) as temporary:
            save_file({name: np.ascontiguousarray(part) for name, part in self._arrays().items()}, temporary)
        digest = digest_of(*(folder / name for name in (*_WORDS, _ARRAYS)))
        p_0 = {name: models.p_0 for name, models in zip(_KINDS, self._models, strict=True)}
        write_json(folder / _DESCRIPTION, {"format": _FORMAT, "p_0": p_0, "digest": digest})

    def _arrays(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {
            f"frequencies.{n}": side.frequencies[: side.known] for n, side in enumerate(self.words)
        }
        for kind, models in zip(_KINDS, self._models, strict=True):
            lexicon = models.lexicon
            found |= {f"{kind}.keys": lexicon.keys, f"{kind}.links": lexicon.links}
            pairs: dict[str, tuple[Any, Any]] = {
                "nulls": models.nulls,
                "jumps": models.jumps,
                "totals": lexicon.totals.links,
                "likeness": lexicon.totals.likeness,
            }
            for name, pair in pairs.items():
                found |= {f"{kind}.{name}.0": pair[0], f"{kind}.{name}.1": pair[1]}
        return found

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Aligner:
        """The aligner that `save` has kept; RnnsearchError where there is none, or a damaged one."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        folder = Path(folder)
        try:
            description = read_json(folder / _DESCRIPTION)
        except (OSError, ValueError):
            raise RnnsearchError(f"{folder}: no aligner is there; `rnnsearch align --save` keeps one") from None
        if not isinstance(description, dict) or description.get("format") != _FORMAT:
            raise RnnsearchError(f"{folder}: an aligner of another version of rnnsearch; make it again")
        files = [folder / name for name in (*_WORDS, _ARRAYS)]
        check_regular(*files)
        if digest_of(*files) != description.get("digest"):
            raise RnnsearchError(f"{folder}: damaged: its files do not belong together; make it again")
        try:
            check_header(folder / _ARRAYS)
            arrays = load_file(folder / _ARRAYS)
            texts = [read_bytes(folder / name, _MOST_WORDS) for name in _WORDS]
            check_arrays(arrays, _expected(arrays, *(text.count(b"\n") for text in texts)))
            lists = [text.decode("utf-8").split("\n")[:-1] for text in texts]
            words = Words(lists[0], arrays["frequencies.0"]), Words(lists[1], arrays["frequencies.1"])
            _check_numbers(arrays, words)
            models = []
            for kind in _KINDS:
                nulls, jumps, totals, likenesses = (
                    (arrays[f"{kind}.{name}.0"], arrays[f"{kind}.{name}.1"])
                    for name in ("nulls", "jumps", "totals", "likeness")
                )
                lexicon = Lexicon(arrays[f"{kind}.keys"], arrays[f"{kind}.links"], Totals(totals, likenesses), words)
                p_0 = description["p_0"][kind]
                if not (isinstance(p_0, float) and 0 < p_0 < 1):
                    raise ValueError(f"p_0 = {shown(p_0)} is no probability")
                models.append(Models(lexicon, nulls, jumps, p_0))
        except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RnnsearchError(f"{folder}: damaged ({error}); make the aligner again") from None
        return cls(words, *models)


def _expected(arrays: Mapping[str, NDArray[Any]], source_words: int, target_words: int) -> dict[str, Array]:
    """The arrays of an aligner with so many words on each side, and with the numbers of types that it has itself."""
    sizes = source_words, target_words
    expected = {f"frequencies.{n}": Array("int64", (size,), 0, _MANY) for n, size in enumerate(sizes)}
    for kind in _KINDS:
        types = len(arrays.get(f"{kind}.keys", ()))
        expected[f"{kind}.keys"] = Array("int64", (types,), 0, source_words * target_words - 1)
        expected[f"{kind}.links"] = Array("float32", (types, 2), 0, _MANY)
        for n in (0, 1):
            expected[f"{kind}.nulls.{n}"] = Array("float64", (sizes[1 - n],), 0, _MANY)
            expected[f"{kind}.jumps.{n}"] = Array("float32", JUMPS_SHAPE, 1e-30, 1)
            expected[f"{kind}.totals.{n}"] = Array("float64", (sizes[n],), 0, _MANY)
            expected[f"{kind}.likeness.{n}"] = Array("float64", (sizes[n],), 0, _MANY)
    return expected


def _check_numbers(arrays: Mapping[str, NDArray[Any]], words: tuple[Words, Words]) -> None:
    """Raise ValueError unless words differ, keys ascend, and no type has more links than the two words in it."""
    for n, side in enumerate(words):
        if len(side) != len(arrays[f"frequencies.{n}"]):
            raise ValueError(f"{_WORDS[n]} has a word twice")
    for kind in _KINDS:
        keys, links = arrays[f"{kind}.keys"], arrays[f"{kind}.links"]
        if (np.diff(keys) <= 0).any():
            raise ValueError(f"{kind}.keys do not ascend")
        for n, ids in enumerate(np.divmod(keys, max(1, len(words[1])))):
            if (links[:, n] > 1.001 * arrays[f"{kind}.totals.{n}"][ids] + 1e-3).any():
                raise ValueError(f"{kind}.links are more than the words in them have")


def is_aligner(folder: Path) -> bool:
    """Whether an aligner is kept in this folder."""
    return (folder / _DESCRIPTION).is_file()


def _likeness(block: Block, words: tuple[Words, Words]) -> NDArray[np.float32]:
    """How alike the words of each type of a block are written."""
    letters, numbers = [], []
    for side, types in zip(words, (block.type_source, block.type_target), strict=True):
        here, number = np.unique(types, return_inverse=True)
        letters.append(letter_pairs([side.words[n] for n in here.tolist()]))
        numbers.append(number.astype(np.int32))
    return likeness(letters[0], letters[1], numbers[0], numbers[1])


def _of_pair(block: Block, p: int, first: int = 0) -> slice:
    """Where the cells of a pair are, from those of pair `first` on."""
    offsets = block.text.offsets
    return slice(offsets[p] - offsets[first], offsets[p + 1] - offsets[first])


def _cells(block: Block, p: int, p_DMN: Any, t_NMD: Any, shares: Sequence[NDArray[np.float64]]) -> tuple[NDArray[Any], ...]:
    """The columns of `LineLinks` for a pair."""
    text = block.text
    ids = (
        text.source_ids[text.source_starts[p] : text.source_starts[p + 1]],
        text.target_ids[text.target_starts[p] : text.target_starts[p + 1]],
    )
    shape = len(ids[0]), len(ids[1])
    if 0 in shape:
        none = np.empty(0)
        kinds = np.int64, np.int64, np.float32, np.float32
        return *(none.astype(kind) for kind in kinds), np.empty((0, len(EVIDENCE))), none
    t_STMD = t_NMD[text.cells[_of_pair(block, p)]].reshape(*shape, 2, 2)
    known = evidence(p_DMN.reshape(2, 2, *shape), t_STMD, *(share[side] for share, side in zip(shares, ids, strict=True)))
    kept = np.flatnonzero(p_DMN.max((0, 1)) > _LEAST)
    i, j = np.divmod(kept, shape[1])
    known = known.reshape(len(known), -1)[:, kept].T
    return i + block.first[p, 0], j + block.first[p, 1], p_DMN[0, 0, kept], p_DMN[1, 0, kept], known, probability(known)


def _line(found: list[tuple[NDArray[Any], ...]]) -> LineLinks:
    return LineLinks(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
