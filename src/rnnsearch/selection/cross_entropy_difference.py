"""Data selection: finds the pairs of a general corpus that are most similar to in-domain text.

Axelrod, He and Gao (2011) rank sentence pairs (s, t) by the bilingual cross-entropy difference, the lowest first:

    [H_I(s) − H_O(s)] + [H_I(t) − H_O(t)]

H is the cross-entropy of a sentence in bits per word. I is a language model of in-domain text, and O is one of a random
sample of the general corpus with as many words; both have the same vocabulary, the words that occur at least twice in the
in-domain text. Moore and Lewis (2010) use the difference on one side only. Subtracting H_O prevents sentences from being
selected only because they are short or have frequent words.

One detail differs from the paper. A model assigns far too low a cross-entropy H_O to the sentences that it was trained on,
so these sentences would never be selected. There are therefore two samples and two models O: the sentences of the first
sample are scored by the model of the second, and all others by the model of the first.

The corpus is scored in shards of some thousand pairs, in one process or in several (`rnnsearch.jobs`).

For the language models, words are lowercased sequences of letters and digits, or single other characters; elsewhere in this
module, words are separated by spaces. The corpus is read from its files block by block. In addition to the models, this
takes about forty bytes of memory per pair.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.atomic import atomic_write, check_outputs
from rnnsearch.data.inputs import check_readable, check_repeatable
from rnnsearch.data.pack import Ids, Sentences
from rnnsearch.data.read import read_side
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.languages import Languages
from rnnsearch.jobs import JobCheckpoint, Shard, Stage, Workers, digest_of, numbered
from rnnsearch.selection.general_corpus import BLOCK, SIDES, CorpusFiles, GeneralCorpus, Progress, Side
from rnnsearch.selection.language_model import Floats, LanguageModel
from rnnsearch.text import Vocabulary

Method = Literal["axelrod", "moore-lewis", "random"]
_MINIMUM_COUNT = 2
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Selection:
    """The sizes of the general corpus and of the selection from it."""

    read: int
    """The number of pairs in the general corpus."""
    kept: int
    """The number of selected pairs."""
    source_words: int
    """The number of words, separated by spaces, on the source side of the selected pairs."""
    target_words: int
    worst: float | None
    """The highest score of a selected pair; None if pairs were drawn at random."""


def select(
    sources: Sequence[Path],
    targets: Sequence[Path],
    output: tuple[Path, Path],
    *,
    method: Method = "axelrod",
    side: Side | None = None,
    in_domain: Mapping[Side, Path] | None = None,
    pairs: int | None = None,
    words: int | None = None,
    scores: Path | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    jobs: int = 1,
    languages: Languages = (None, None),
) -> Selection:
    """Select the pairs of `sources` and `targets` with the lowest scores, and write them to `output` in their order.

    The number of pairs is `pairs`, or as many as have at most `words` words on the target side. `in_domain` holds the files
    of in-domain text, which need not be parallel, for both sides, or for the one `side` that `moore-lewis` uses. Of pairs
    with equal scores, the first is preferred; a pair with an empty side is never selected. The scores of all pairs, one on
    each line, are written to the file `scores`. `seed` is the seed for the samples that the general models are trained on,
    or for the selection itself with the method `random`. `languages` are those to read from files with several.

    `jobs` is the number of processes that score. Until the output is written, finished scores are kept in `OUTPUT.parts`,
    where OUTPUT is the source file of the output: if the process is killed, the same call reads the text and trains the
    models again, but continues to score where it was. Raises RnnsearchError for impossible combinations of arguments and for
    more pairs or words than there are.
    """
    report = progress or (lambda stage, done, total: None)
    if (pairs is None) == (words is None):
        raise RnnsearchError("give the size of the selection: a number of pairs (--pairs) or of words (--words), not both")
    if method == "random" and scores is not None:
        raise RnnsearchError(f"{scores}: random selection has no scores to write; leave --scores out")
    domain_files = _domain_files(method, side, in_domain or {})
    check_outputs([*output, scores], [*sources, *targets, *domain_files.values()])
    check_repeatable(*domain_files.values())
    check_readable(*domain_files.values())
    corpus = CorpusFiles.measure(sources, targets, report, languages)
    _check_size(corpus, pairs, words)
    with ExitStack() as stack:
        if method == "random":
            values = random_scores(corpus, seed)
        else:
            texts = {name: digest_of(path) for name, path in domain_files.items()}
            run = {
                "command": "select",
                "corpus": corpus.digest,
                "in_domain": texts,
                "seed": seed,
                "languages": list(languages),
            }
            finished = stack.enter_context(JobCheckpoint(output[0], run))
            values = cross_entropy_differences(corpus, domain_files, seed, report, BLOCK, jobs, finished, languages)
            if scores is not None:
                with atomic_write(scores) as temporary, temporary.open("w", encoding="utf-8") as file:
                    file.writelines(f"{value:.6f}\n" for value in values)
        kept = best(corpus, values, pairs=pairs, words=words)
        corpus.write(kept, output, report)
    return Selection(
        read=len(corpus),
        kept=int(kept.sum()),
        source_words=int(corpus.words["source"][kept].sum()),
        target_words=int(corpus.words["target"][kept].sum()),
        worst=None if method == "random" else float(values[kept].max()),
    )


def cross_entropy_differences(
    corpus: CorpusFiles,
    in_domain: Mapping[Side, Path],
    seed: int,
    progress: Progress,
    block: int = BLOCK,
    jobs: int = 1,
    finished: JobCheckpoint | None = None,
    languages: Languages = (None, None),
) -> Floats:
    """Return the score of each pair: H_I − H_O, summed over the sides with in-domain text; ∞ if a side is empty.

    `jobs` processes score `block` pairs at a time, which does not change the scores. Scores that are `finished` from an
    earlier run are not computed again.
    """
    scoring = learn(corpus, in_domain, seed, progress, block, languages)
    scores = np.where(corpus.whole, 0.0, np.inf)
    with Workers(scoring, jobs) as processes:
        blocks = corpus.blocks("scoring", progress, block)
        groups = ([*zip(*(lines[side] for side in SIDES), strict=True)] for _, lines in blocks)
        for number, differences in enumerate(processes.results(numbered(groups), finished)):
            scores[number * block : (number + 1) * block] += differences
    return scores


def learn(
    corpus: GeneralCorpus,
    in_domain: Mapping[Side, Path],
    seed: int,
    progress: Progress,
    block: int = BLOCK,
    languages: Languages = (None, None),
) -> Scoring:
    """Train the language models of the in-domain text and of both samples of the general corpus, for each side.

    Of in-domain text that has both sides, such as TMX, the side in question is read.
    """
    order = np.random.default_rng(seed).permutation(len(corpus))
    specific = {
        side: _in_domain_model(path, partial(read_side, path, SIDES.index(side), languages), block, progress)
        for side, path in in_domain.items()
    }
    samples = {side: _samples(corpus.words[side], order, specific[side].words) for side in in_domain}
    return Scoring(specific, samples, _general_models(corpus, specific, samples, block, progress))


def random_scores(corpus: GeneralCorpus, seed: int) -> Floats:
    """Return as scores the positions of the pairs in a random order; ∞ if a side is empty."""
    positions = np.random.default_rng(seed).permutation(len(corpus)).astype(float)
    return np.where(corpus.whole, positions, np.inf)


def best(corpus: GeneralCorpus, scores: Floats, *, pairs: int | None = None, words: int | None = None) -> NDArray[np.bool_]:
    """Return for each pair whether it is among the `pairs` with the lowest scores, or among those with `words` words.

    With `words`, the selection has at most so many target words. Raises RnnsearchError if the corpus has too few pairs or
    words, or if the best pair has more words.
    """
    _check_size(corpus, pairs, words)
    order = np.argsort(scores, kind="stable")[: np.isfinite(scores).sum()]
    if words is None:
        count = pairs or 0
    else:
        totals = np.cumsum(corpus.words["target"][order], dtype=np.int64)
        count = int(np.searchsorted(totals, words, side="right"))
        if not count:
            raise RnnsearchError(f"{words:,} words are fewer than the best pair has ({totals[0]:,}); ask for more")
    kept = np.zeros(len(scores), dtype=bool)
    kept[order[:count]] = True
    return kept


def _check_size(corpus: GeneralCorpus, pairs: int | None, words: int | None) -> None:
    """Raise RnnsearchError if more pairs or words are to be selected than the corpus has."""
    if words is None:
        _check_count(pairs or 0, int(corpus.whole.sum()), "pairs")
    else:
        _check_count(words, int(corpus.words["target"][corpus.whole].sum(dtype=np.int64)), "words")


def _check_count(requested: int, available: int, unit: str) -> None:
    if not 0 < requested <= available:
        raise RnnsearchError(f"{requested:,} {unit} cannot be selected: there are {available:,}; ask for that many at most")


@dataclass(frozen=True)
class _InDomain:
    """A language model of in-domain text, its vocabulary, and the number of words of the text."""

    model: LanguageModel
    vocabulary: Vocabulary
    words: int


@dataclass(frozen=True)
class Scoring(Stage[tuple[str, str], list[float]]):
    """Scores the pairs of a shard."""

    specific: Mapping[Side, _InDomain]
    samples: Mapping[Side, NDArray[np.int8]]
    general: Mapping[Side, tuple[LanguageModel, LanguageModel]]

    def __call__(self, shard: Shard[tuple[str, str]]) -> list[float]:
        numbers = np.arange(shard.first, shard.first + len(shard.rows))
        scores: list[float] = self.scores(numbers, dict(zip(SIDES, zip(*shard.rows, strict=True), strict=True))).tolist()
        return scores

    def scores(self, numbers: NDArray[np.int64], lines: Mapping[Side, Sequence[str]]) -> Floats:
        """Return the cross-entropy differences of the pairs with these numbers; each is independent of the other pairs."""
        scores = np.zeros(len(numbers))
        for side, model in self.specific.items():
            sentences = _encode(lines[side], model.vocabulary)
            first, second = self.general[side]
            entropies = first.cross_entropies(sentences)
            # The sentences that the first general model was trained on are scored by the second.
            seen = np.flatnonzero(self.samples[side][numbers] == 0)
            again = _encode([lines[side][number] for number in seen.tolist()], model.vocabulary)
            entropies[seen] = second.cross_entropies(again)
            scores += model.model.cross_entropies(sentences) - entropies
        return scores


def model_words(line: str) -> list[str]:
    """Return the words of a line for the language models: lowercased sequences of letters, and other single characters."""
    return _WORD.findall(line.lower())


def model_vocabulary(lines: Iterable[str]) -> Vocabulary:
    """Return the vocabulary of all words that occur at least twice in these lines."""
    counts = Counter[str]()
    for line in lines:
        counts.update(model_words(line))
    return Vocabulary.from_counts(counts, len(counts), _MINIMUM_COUNT)


def encoded_blocks(lines: Iterable[str], vocabulary: Vocabulary, block: int = BLOCK) -> Iterator[Sentences]:
    """Yield the ids of the words of these lines, `block` lines at a time."""
    lines = iter(lines)
    while chunk := list(islice(lines, block)):
        yield _encode(chunk, vocabulary)


def _encode(lines: Sequence[str], vocabulary: Vocabulary) -> Sentences:
    ids, lengths = array("i"), array("i")
    for line in lines:
        words = vocabulary.encode(model_words(line))
        ids.extend(words)
        lengths.append(len(words))
    return Sentences(np.array(ids, dtype=np.int32), np.array(lengths, dtype=np.int32))


def _in_domain_model(path: Path, lines: Callable[[], Iterator[str]], block: int, progress: Progress) -> _InDomain:
    """Train the language model of a text. Raises RnnsearchError if the text has no words."""
    check_repeatable(path)
    progress(f"learning {path.name}", 0, None)
    words = sum(len(line.split()) for line in lines())
    if not words:
        raise RnnsearchError(f"{path}: no words in it to learn the domain from; name a text of the kind you want")
    vocabulary = model_vocabulary(lines())
    text = list(encoded_blocks(lines(), vocabulary, block))
    return _InDomain(LanguageModel.train(text, len(vocabulary)), vocabulary, words)


def _samples(lengths: Ids, order: NDArray[np.int64], words: int) -> NDArray[np.int8]:
    """Return for each sentence 0 if it is in the first sample, 1 if it is in the second, and −1 if it is in neither.

    The samples are taken from the sentences in the random order `order`. Each has `words` words, or half the words of the
    corpus if that has fewer than twice as many.
    """
    totals = np.cumsum(lengths[order], dtype=np.int64)
    words = min(words, int(totals[-1:].sum()) // 2)
    first, second = np.searchsorted(totals, [words, 2 * words])
    samples = np.full(len(lengths), -1, dtype=np.int8)
    samples[order[:first]], samples[order[first:second]] = 0, 1
    return samples


def _general_models(
    corpus: GeneralCorpus,
    specific: Mapping[Side, _InDomain],
    samples: Mapping[Side, NDArray[np.int8]],
    block: int,
    progress: Progress,
) -> dict[Side, tuple[LanguageModel, LanguageModel]]:
    """Train the language models of both samples of each side, with the vocabularies of the in-domain models."""
    texts: dict[Side, tuple[list[Sentences], list[Sentences]]] = {side: ([], []) for side in specific}
    sampled = np.any([side >= 0 for side in samples.values()], axis=0)
    for numbers, lines in corpus.some(sampled, progress, block):
        for side, model in specific.items():
            for number, text in enumerate(texts[side]):
                chosen = np.flatnonzero(samples[side][numbers] == number).tolist()
                text.append(_encode([lines[side][i] for i in chosen], model.vocabulary))
    models: dict[Side, tuple[LanguageModel, LanguageModel]] = {}
    for side, model in specific.items():
        progress(f"learning samples of the {side} side", 0, None)
        first, second = (LanguageModel.train(text, len(model.vocabulary)) for text in texts.pop(side))
        models[side] = first, second
    return models


def _domain_files(method: Method, side: Side | None, in_domain: Mapping[Side, Path]) -> dict[Side, Path]:
    """Return the files of in-domain text for the sides that the method uses. Raises RnnsearchError if one is missing."""
    if method == "random":
        return {}
    if method == "moore-lewis" and side is None:
        raise RnnsearchError("moore-lewis looks at one side: say which, --side source or --side target")
    sides = SIDES if side is None else (side,)
    if method == "axelrod" and side is not None:
        raise RnnsearchError(f"axelrod looks at both sides; with --side {side}, say --method moore-lewis")
    for name in sides:
        if name not in in_domain:
            raise RnnsearchError(f"{method} needs in-domain text for the {name} side: give --in-domain-{name} FILE")
    return {name: in_domain[name] for name in sides}
