"""A trained aligner, which links the words of sentence pairs and can be saved in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.agreement import JUMPS_SHAPE, KINDS, QUALITIES, Corpus, Models, Quality, reach, train
from rnnsearch.alignment.bitext import Block, PairLike, as_words, blocks_of
from rnnsearch.alignment.compiled import Parameters
from rnnsearch.alignment.lexicon import Lexicon, Pseudocounts, Totals
from rnnsearch.alignment.line_links import LineLinks
from rnnsearch.alignment.priors import Priors
from rnnsearch.alignment.probability import evidence, probability
from rnnsearch.alignment.pseudocounts import from_models, from_priors
from rnnsearch.alignment.spelling import letter_pairs, likeness
from rnnsearch.alignment.vocabulary import Words
from rnnsearch.atomic import atomic_write, write_json, write_text
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.jobs import digest_of
from rnnsearch.jobs.processes import in_order
from rnnsearch.untrusted import MEGABYTE, Array, check_arrays, check_header, check_regular, read_bytes, read_json

_LEAST = 0.01
"""Position pairs are omitted if their posterior probability does not exceed this in any model."""
_LINES = 200
"""The number of lines that are aligned at a time."""
_FORMAT = 2
_DESCRIPTION, _ARRAYS, _WORDS = "aligner.json", "aligner.safetensors", ("source.words", "target.words")
_MOST_WORDS = 4096 * MEGABYTE
"""The largest size of a list of words, in bytes. Arrays with several numbers per word must fit into memory as well."""
_MANY = 1e15
"""An upper bound of all counts in a file; no text has this many words."""


class Aligner:
    """A trained word aligner, which predicts the links between the words of sentence pairs.

        aligner = rnnsearch.Aligner.learn(pairs)
        for line in aligner.align(pairs):
            line.links(), line.probabilities()

    A pair is two strings whose words are separated by spaces, or two lists of words. An aligner consists of the words of the
    training text, and of the models that were learned from it.
    """

    def __init__(self, words: tuple[Words, Words], agreeing: Models, independent: Models) -> None:
        """Take the words and the models. Use `learn` or `load` to create an aligner."""
        self.words, self._models = words, (agreeing, independent)

    @classmethod
    def learn(
        cls,
        pairs: Iterable[PairLike] | Corpus,
        advance: Callable[[int], None] = lambda pairs: None,
        *,
        known: Aligner | Priors | None = None,
        quality: Quality = "best",
    ) -> Aligner:
        """Train an aligner on a text. Each of the `steps` steps calls `advance` with the numbers of pairs it has processed.

        `known` is prior knowledge, which counts as much as if its text preceded this one. With an `Aligner`, the training of
        this aligner continues, and the result also has its words that do not occur in this text. Of `Priors`, only the
        counts of words of this text are used.

        With the `quality` "fast", a training on 150,000 pairs or more has half as many steps; its links are somewhat worse.

        A `Corpus` keeps the text in a folder: a training that was killed continues after its last complete step, if it has
        the same corpus in the same folder, and the same quality; where an aligner goes on, the corpus is made with the words
        of this aligner. A corpus may be empty; raises RnnsearchError if there are no pairs otherwise, and for any other
        `quality` or `known`.
        """
        if quality not in QUALITIES:
            raise RnnsearchError(f"quality={shown(quality)}: choose {' or '.join(map(repr, QUALITIES))}")
        if not (known is None or isinstance(known, (Aligner, Priors))):
            raise RnnsearchError(f"known={shown(known)}: give an Aligner, such as Aligner.load(folder), or Priors")
        words = known.words if isinstance(known, Aligner) else None
        corpus = pairs if isinstance(pairs, Corpus) else Corpus(pairs, known=words)
        if corpus is not pairs and not corpus.lines:
            raise RnnsearchError("no pairs to learn from; an aligner learns from sentences and their translations")
        agreeing, independent, _ = train(corpus, advance, _pseudocounts(known, corpus), quality)
        return cls(corpus.words, agreeing, independent)

    def align(self, pairs: Iterable[PairLike] | Corpus) -> Iterator[LineLinks]:
        """Align every pair of any text, in order; a side may be empty. The links of a pair do not depend on other pairs.

        A `Corpus` must be the training text.
        """
        if isinstance(pairs, Corpus):
            prepared = in_order(lambda n: self._prepared(pairs.block(n)[0], self.words), range(pairs.block_count))
        else:
            # New words are added to these while the text is read, so its blocks are prepared one after the other.
            words = self.words[0].copy(), self.words[1].copy()
            prepared = (self._prepared(block.indexed(*words), words) for block in blocks_of(map(as_words, pairs), *words))
        parts = ((block, first) for block in prepared for first in range(0, block.block.lines, _LINES))
        for lines in in_order(lambda part: _lines(*part), parts):
            yield from lines

    def lexicon(self) -> dict[str, list[tuple[str, float]]]:
        """Return for each source word the target words that it was linked to, each with p(target word | source word).

        The most probable word comes first. The probabilities are relative frequencies of the expected links of the agreeing
        models. The words are in the normalised form in which they were counted.
        """
        lexicon, (source_words, target_words) = self._models[0].lexicon, self.words
        # p(f | e) = C(e, f) / C(e), from the expected links of the direction that generates the target.
        sources, targets = np.divmod(lexicon.keys, max(1, target_words.known))
        linked: dict[str, list[tuple[str, float]]] = {}
        for source, target, links in zip(sources.tolist(), targets.tolist(), lexicon.links[:, 0].tolist(), strict=True):
            p = links / max(float(lexicon.totals.links[0][source]), links, 1e-30)
            linked.setdefault(source_words.words[source], []).append((target_words.words[target], p))
        return {word: sorted(targets, key=lambda target: (-target[1], target[0])) for word, targets in linked.items()}

    def priors(self) -> Priors:
        """Return the expected links and jumps of the agreeing models, as priors for another training or for eflomal.

        The words are in the normalised form in which they were counted. `Priors.of_links` counts the links of a text.
        """
        models, (source_words, target_words) = self._models[0], self.words
        # A key of the lexicon is source word · (number of target words) + target word.
        priors = Priors.empty()
        # The expected links of each word-type pair, in the direction that generates the target.
        sources, targets = np.divmod(models.lexicon.keys, max(1, target_words.known))
        for source, target, links in zip(
            sources.tolist(), targets.tolist(), models.lexicon.links[:, 0].tolist(), strict=True
        ):
            priors.lexicon[source_words.words[source], target_words.words[target]] = links
        # The expected jumps, summed over the classes of words.
        unchanged = tuple(np.arange(side.known, dtype=np.int32) for side in self.words)
        middle = JUMPS_SHAPE[1] // 2
        counts = from_models(models, self.words, self.words, (unchanged[0], unchanged[1]), middle)
        for jumps, of_class in zip((priors.forward_jumps, priors.reverse_jumps), counts.jumps, strict=True):
            jumps.update(dict(zip(range(-middle, middle + 1), of_class.sum(0).tolist(), strict=True)))
        return priors

    def _prepared(self, block: Block, words: tuple[Words, Words]) -> _Prepared:
        """Return a block with the parameters of all models for it."""
        alike = _likeness(block, words)
        parameters = self._models[0].parameters(block, words, alike), self._models[1].parameters(block, words, alike)
        source, target = (np.maximum(side.frequencies, 1) / max(1, side.frequencies.sum()) for side in words)
        return _Prepared(block, parameters, np.stack([of.t for of in parameters], axis=1), (source, target))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save the aligner in a folder, from which `load` reads it.

        A folder is an aligner once it contains the description. This file is therefore removed first and written last.
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
        p_0 = {name: models.p_0 for name, models in zip(KINDS, self._models, strict=True)}
        write_json(folder / _DESCRIPTION, {"format": _FORMAT, "p_0": p_0, "digest": digest})

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the aligner by their names in the file."""
        arrays: dict[str, NDArray[Any]] = {
            f"frequencies.{n}": side.frequencies[: side.known] for n, side in enumerate(self.words)
        }
        for kind, models in zip(KINDS, self._models, strict=True):
            lexicon = models.lexicon
            arrays |= {f"{kind}.keys": lexicon.keys, f"{kind}.links": lexicon.links}
            pairs: dict[str, tuple[Any, Any]] = {
                "nulls": models.nulls,
                "jumps": models.jumps,
                "totals": lexicon.totals.links,
                "likeness": lexicon.totals.likeness,
            }
            for name, pair in pairs.items():
                arrays |= {f"{kind}.{name}.0": pair[0], f"{kind}.{name}.1": pair[1]}
        return arrays

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Aligner:
        """Read the aligner that `save` has written. Raises RnnsearchError if there is none, or if it is damaged."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        folder = Path(folder)
        try:
            description = read_json(folder / _DESCRIPTION)
        except (OSError, ValueError):
            raise RnnsearchError(f"{folder}: no aligner is there; `rnnsearch align --save` keeps one") from None
        if not isinstance(description, dict) or description.get("format") != _FORMAT:
            raise RnnsearchError(f"{folder}: an aligner of another version of rnnsearch; make it again")
        # The digest ensures that the files belong together. The checks below ensure that files cannot do harm even if their
        # digest is right. Sizes are checked first, because the digest is computed from all bytes.
        files = [folder / name for name in (*_WORDS, _ARRAYS)]
        check_regular(*files[:2], most=_MOST_WORDS)
        if files[2].exists():
            check_header(files[2])
        if digest_of(*files) != description.get("digest"):
            raise RnnsearchError(f"{folder}: damaged: its files do not belong together; make it again")
        try:
            # The arrays must have the expected types, shapes and ranges, and the words must be as many as the arrays say.
            arrays = load_file(folder / _ARRAYS)
            texts = [read_bytes(folder / name, _MOST_WORDS) for name in _WORDS]
            check_arrays(arrays, _expected(arrays, *(text.count(b"\n") for text in texts)))
            lists = [text.decode("utf-8").split("\n")[:-1] for text in texts]
            words = Words(lists[0], arrays["frequencies.0"]), Words(lists[1], arrays["frequencies.1"])
            _check_numbers(arrays, words)
            models = []
            for kind in KINDS:
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


def _pseudocounts(known: Aligner | Priors | None, corpus: Corpus) -> dict[str, Pseudocounts]:
    """Return the pseudo-counts of prior knowledge, for both kinds of models; an empty dictionary if there is none."""
    longest = reach(corpus.longest)
    if isinstance(known, Priors):
        counts = from_priors(known, corpus.words, JUMPS_SHAPE[0], longest)
        return dict.fromkeys(KINDS, counts)
    if known is None:
        return {}
    if corpus.known is not known.words:
        raise ValueError("the corpus is not made with the words of this aligner")
    return {
        kind: from_models(models, known.words, corpus.words, corpus.numbers, longest)
        for kind, models in zip(KINDS, known._models, strict=True)
    }


def _expected(arrays: Mapping[str, NDArray[Any]], source_words: int, target_words: int) -> dict[str, Array]:
    """Return the required types, shapes and ranges of the arrays of an aligner with these numbers of words."""
    sizes = source_words, target_words
    expected = {f"frequencies.{n}": Array("int64", (size,), 0, _MANY) for n, size in enumerate(sizes)}
    for kind in KINDS:
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
    """Raise ValueError unless words are distinct, keys ascend, and word-type pairs have no more links than their words."""
    for n, side in enumerate(words):
        if len(side) != len(arrays[f"frequencies.{n}"]):
            raise ValueError(f"{_WORDS[n]} has a word twice")
    for kind in KINDS:
        keys, links = arrays[f"{kind}.keys"], arrays[f"{kind}.links"]
        if (np.diff(keys) <= 0).any():
            raise ValueError(f"{kind}.keys do not ascend")
        for n, ids in enumerate(np.divmod(keys, max(1, len(words[1])))):
            if (links[:, n] > 1.001 * arrays[f"{kind}.totals.{n}"][ids] + 1e-3).any():
                raise ValueError(f"{kind}.links are more than the words in them have")


def is_aligner(folder: Path) -> bool:
    """Whether this folder contains an aligner."""
    return (folder / _DESCRIPTION).is_file()


def _likeness(block: Block, words: tuple[Words, Words]) -> NDArray[np.float32]:
    """Return the similarity of the spellings in each word-type pair of a block."""
    letters, numbers = [], []
    # The letter pairs of each distinct word of the block are computed once.
    for side, types in zip(words, (block.type_source, block.type_target), strict=True):
        here, number = np.unique(types, return_inverse=True)
        letters.append(letter_pairs([side.words[n] for n in here.tolist()]))
        numbers.append(number.astype(np.int32))
    return likeness(letters[0], letters[1], numbers[0], numbers[1])


class _Prepared(NamedTuple):
    """A block of sentence pairs that can be aligned."""

    block: Block
    parameters: tuple[Parameters, Parameters]
    """The parameters of the agreeing and of the independent models."""
    t_NMD: NDArray[np.float32]
    """t of both directions (D) of all models (M) for each word-type pair (N)."""
    shares: tuple[NDArray[np.float64], NDArray[np.float64]]
    """The share of each source word and of each target word in all words of the text."""


def _lines(prepared: _Prepared, number: int) -> list[LineLinks]:
    """Align _LINES lines of a block: posterior probabilities of all four models, then features and link probabilities."""
    block, parameters, t_NMD, shares = prepared
    text, numbers = block.text, np.arange(number, min(number + _LINES, block.lines))
    # The first sentence pair of each line, which has several if it is very long, and the end of the last one.
    first_pairs = np.searchsorted(block.line, np.append(numbers, numbers[-1] + 1))
    first, last = first_pairs[[0, -1]].tolist()
    # p of both directions (D) by all models (M), for all position pairs (N).
    posteriors = [compiled.posteriors(text, of, first, last) for of in parameters]
    p_DMN = np.stack([p for p, _ in posteriors], axis=1)
    # Only the position pairs that are probable in at least one model are returned.
    likely = np.flatnonzero(p_DMN.max((0, 1)) > _LEAST)
    features = evidence(text, first, last, p_DMN, t_NMD, shares, likely)
    # Positions are counted from the beginning of the line.
    cells = likely + text.offsets[first]
    pair = np.searchsorted(text.offsets, cells, side="right") - 1
    i, j = np.divmod(cells - text.offsets[pair], np.diff(text.target_starts)[pair])
    positions = i + block.first[pair, 0], j + block.first[pair, 1]
    lengths = np.stack([np.diff(starts[first : last + 1]) for starts in (text.source_starts, text.target_starts)], axis=1)
    p = probability(features, i, j, np.searchsorted(cells, text.offsets[first : last + 1]), lengths)
    columns = *positions, *p_DMN[:, 0, likely], features, p
    of_lines = [np.bincount(block.line[first:last] - number, side).tolist() for side in posteriors[0][1].T]
    ends = np.searchsorted(cells, text.offsets[first_pairs]).tolist()

    def line(begin: int, end: int, log_likelihood: tuple[float, float]) -> LineLinks:
        i, j, forward, backward, features, p = (column[begin:end] for column in columns)
        return LineLinks(i, j, forward, backward, features, p, log_likelihood)

    return list(map(line, ends[:-1], ends[1:], zip(*of_lines, strict=True)))
