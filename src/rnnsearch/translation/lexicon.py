"""The translation lexicon p(target word | source word) that is estimated from a model's links.

The hard alignment links the target words of a parallel text to source words, and the relative frequencies of these links
estimate the probabilities. The entries are all words of the text, including words outside the vocabularies; the entry
`[UNK]` has the links of all source words outside the vocabulary. For a model with subwords, the entries are subwords.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rnnsearch.atomic import write_text
from rnnsearch.data.batches import make_batch
from rnnsearch.data.length_batches import by_length
from rnnsearch.data.word_alignments import hard_alignment
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.search import PairScorer
from rnnsearch.system import System
from rnnsearch.text.vocabulary import UNK, UNK_SYMBOL
from rnnsearch.translation.alignments import links_above
from rnnsearch.translation.scoring import scorer_of
from rnnsearch.untrusted import MEGABYTE, read_bytes

LEXICON = "lexicon.tsv"
"""The lexicon's file, in the model's folder."""
KEPT = 100
"""The largest number of translations of each source word."""
_MOST_BYTES = 1024 * MEGABYTE


class Lexicon:
    """p(target word | source word)."""

    translations: Mapping[str, Sequence[tuple[str, float]]]
    """For each source word its translations and their probabilities, the most probable first."""

    def __init__(self, translations: Mapping[str, Sequence[tuple[str, float]]]) -> None:
        self.translations = translations

    @classmethod
    def from_counts(cls, counts: Mapping[str, Counter[str]]) -> Lexicon:
        """Return the lexicon for the numbers of links between source words and target words."""
        return cls(
            {
                word: [
                    (other, count / linked.total())
                    for other, count in sorted(linked.items(), key=lambda item: (-item[1], item[0]))[:KEPT]
                ]
                for word, linked in sorted(counts.items())
            }
        )

    def best(self, word: str) -> str | None:
        """Return the most probable translation of a source word; None if the word has no entry."""
        return next((other for other, _ in self.translations.get(word, ()) if other != UNK_SYMBOL), None)

    @classmethod
    def load(cls, folder: Path) -> Lexicon:
        """Read the lexicon of a model's folder."""
        path = folder / LEXICON
        try:
            text = read_bytes(path, _MOST_BYTES).decode("utf-8")
        except FileNotFoundError:
            raise RnnsearchError(
                f"{folder}: the model has no lexicon yet ({LEXICON}), which search.vocabulary_selection needs; make it with "
                f"`rnnsearch lexicon --model {folder} --source TEXT --target TEXT`"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise RnnsearchError(f"{path}: cannot read the lexicon: {error}") from None
        translations: dict[str, list[tuple[str, float]]] = {}
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            try:
                word, other, probability = line.split("\t")
                if not 0 <= float(probability) <= 1:
                    raise ValueError
                translations.setdefault(word, []).append((other, float(probability)))
            except ValueError:
                raise RnnsearchError(
                    f"{path}:{number}: {shown(line)} is not a source word, a target word and a probability between tabs"
                ) from None
        return cls(translations)

    def save(self, folder: Path) -> None:
        """Write `lines` into a model's folder."""
        write_text(folder / LEXICON, "".join(self.lines()))

    def lines(self) -> Iterator[str]:
        """Yield a line for each pair of words: source, target, probability."""
        for word, others in self.translations.items():
            for other, probability in others:
                yield f"{word}\t{other}\t{probability:.6g}\n"


class LinkCounter:
    """Counts the links between words of sentence pairs, from the model's alignment layer or else from its attention."""

    def __init__(self, system: System, scorer: PairScorer | None = None) -> None:
        """`scorer` is the scorer of the system, if it exists already."""
        if not system.aligns:
            raise RnnsearchError("a lexicon is learned from alignments, and an RNNencdec computes none")
        self._system, self._scorer = system, scorer or scorer_of(system)
        self.counts: dict[str, Counter[str]] = {}

    def add(self, sources: Sequence[list[str]], targets: Sequence[list[str]]) -> None:
        """Count the links of these pairs. Pairs that are longer than `data.max_length` are skipped, as in training."""
        system = self._system
        longest = system.config.data.max_length
        pairs = [
            (list(system.vocabularies.source.segment(source)), list(system.vocabularies.target.segment(target)))
            for source, target in zip(sources, targets, strict=True)
            if 0 < len(source) <= longest and 0 < len(target) <= longest
        ]
        lengths = [max(len(source), len(target)) + 1 for source, target in pairs]
        layer = system.has_alignment_layer
        for indices in by_length(lengths, system.config.training.batch_size):
            chosen = [pairs[i] for i in indices]
            scores = self._scorer(make_batch([self._ids(*pair) for pair in chosen]), links=layer)
            weights_BTS = scores.links_BTS if layer else scores.alpha_BTS
            assert weights_BTS is not None
            for (source, target), weights_TS in zip(chosen, weights_BTS, strict=True):
                S, T = len(source), len(target)
                links = hard_alignment(weights_TS[:T, : S + 1]) if not layer else links_above(weights_TS[:T, :S])
                self._count(source, target, links)

    def _ids(self, source: list[str], target: list[str]) -> tuple[list[int], list[int]]:
        vocabularies = self._system.vocabularies
        return [*map(vocabularies.source.id, source)], [*map(vocabularies.target.id, target)]

    def _count(self, source: list[str], target: list[str], links: Iterable[tuple[int, int]]) -> None:
        for j, i in links:
            known = self._system.vocabularies.source.id(source[j]) != UNK
            words = [source[j]] if known else [source[j], UNK_SYMBOL]
            for word in words:
                self.counts.setdefault(word, Counter())[target[i]] += 1
