"""What is marked in a sentence, carried over word links to its translation: where spans stand there, labels, inline HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rnnsearch.data.word_alignments import Links
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.tokenize import split_at_spaces

OUTSIDE = "O"
"""The label of a word in no span. The first word of a span is labelled `B-` and its name, the others `I-` and its name."""


@dataclass(frozen=True)
class GivenTranslation:
    """A translation with its links, of words that are separated by spaces."""

    text: str
    tokens: list[str]
    source_tokens: list[str]
    """The words of the sentence, and a symbol for its end."""
    links: Links

    @classmethod
    def of(cls, source: str, target: str, links: Links) -> GivenTranslation:
        """Each word of the translation is read from the first word that it is linked to."""
        first: dict[int, int] = {}
        for source_word, target_word in sorted(links):
            first.setdefault(target_word, source_word)
        read_from = frozenset((source_word, target_word) for target_word, source_word in first.items())
        return cls(target, split_at_spaces(target), [*split_at_spaces(source), ""], read_from)


def check_links(links: Links, source_words: int, target_words: int) -> None:
    """Raise RnnsearchError for a link of words that are not there."""
    for source, target in sorted(links):
        if source >= source_words or target >= target_words:
            raise RnnsearchError(
                f"link {source}-{target}, but there are {source_words} and {target_words} words; links count words from 0"
            )


def project_labels(labels: Sequence[str], links: Links, target_words: int) -> list[str]:
    """The labels of the words of a translation: spans are where most of their words are linked to (`ranges_of`).

    `labels` are those of the source words, with `B-`, `I-` and `O`. A span that is linked to nothing is lost.
    """
    spans = list(labelled_spans(labels))
    span_of = {word: number for number, (_, first, stop) in enumerate(spans, start=1) for word in range(first, stop)}
    votes: list[list[int]] = [[] for _ in range(target_words)]
    for source, target in sorted(links):
        votes[target].append(span_of.get(source, 0))
    # A word of several links is in the span of most of them, the first of several such.
    numbers = [max(found, key=found.count, default=0) for found in votes]
    found = [OUTSIDE] * target_words
    for number, (first, stop) in ranges_of([(0, number) if number else (0,) for number in numbers]).items():
        if number:
            name = spans[number - 1][0]
            found[first:stop] = [f"B-{name}", *[f"I-{name}"] * (stop - first - 1)]
    return found


def labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The name of each span, its first word, and the one after its last.

    A span also begins where `I-` follows a word outside, or one of another name. Raises RnnsearchError for another label.
    """
    name, first = "", 0
    for place, label in enumerate([*labels, OUTSIDE]):
        kind, _, named = label.partition("-")
        if label != OUTSIDE and not (kind in ("B", "I") and named):
            raise RnnsearchError(f"label '{label}'; write `O`, or `B-` or `I-` and a name")
        if name and (kind != "I" or named != name):
            yield name, first, place
            name = ""
        if named and not name:
            name, first = named, place


def read_conll(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The words and the labels of each sentence: a word and its columns on each line, an empty line after each sentence.

    The label is in the last column. Columns are separated by spaces or tabs.
    """
    words: list[str] = []
    labels: list[str] = []
    number = 0
    for number, line in enumerate([*lines, ""], start=1):
        columns = split_at_spaces(line)
        if not columns:
            if words:
                yield words, labels
            words, labels = [], []
            continue
        if len(columns) < 2:
            raise RnnsearchError(f"line {number}: '{columns[0]}' has no label; write the word, a tab and the label")
        words.append(columns[0])
        labels.append(columns[-1])


def ranges_of(chains: Sequence[tuple[int, ...]]) -> dict[int, tuple[int, int]]:
    """Where the spans of a sentence stand in its translation: the first word of each, and the one after its last.

    `chains` has for each word of the translation the numbers of the spans that its source is in, outermost first; number 0
    is all of the source. A span that no word was read from stands nowhere. The range of a span lies within that of the span
    around it, holds none of the words of its siblings, and has the most words of its own, less the others; the longest of
    several such.
    """
    ranges = {0: (0, len(chains))}
    for depth in range(1, max(map(len, chains), default=0)):
        best: dict[int, tuple[int, int, int]] = {}
        last = before = first = score = -1
        for place, chain in enumerate(chains):
            if len(chain) <= depth:
                continue
            around = ranges.get(chain[depth - 1])
            if around is None or not around[0] <= place < around[1]:
                continue
            between = place - before - 1
            if chain[depth] == last and score >= between:
                score += 1 - between
            else:
                first, score = place, 1
            last, before = chain[depth], place
            best[last] = max(best.get(last, (0, 0, 0)), (score, place + 1 - first, first))
        ranges.update((number, (first, first + length)) for number, (_, length, first) in best.items())
    return ranges
