"""The projection of marked spans of a sentence over word links to its translation: spans, labels, inline HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rnnsearch.data.word_alignments import Links
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.tokenize import split_at_spaces

OUTSIDE = "O"
"""The label of a word outside of spans. The label of the first word of a span is `B-NAME`, that of the others `I-NAME`."""


@dataclass(frozen=True)
class LinkedTranslation:
    """A translation with its links; its words are separated by spaces."""

    text: str
    tokens: list[str]
    source_tokens: list[str]
    """The words of the sentence, and a symbol for its end."""
    links: Links

    @classmethod
    def of(cls, source: str, target: str, links: Links) -> LinkedTranslation:
        """Return the translation in which each word is read from the first source word that it is linked to."""
        first: dict[int, int] = {}
        for source_word, target_word in sorted(links):
            first.setdefault(target_word, source_word)
        read_from = frozenset((source_word, target_word) for target_word, source_word in first.items())
        return cls(target, split_at_spaces(target), [*split_at_spaces(source), ""], read_from)


def check_links(links: Links, source_words: int, target_words: int) -> None:
    """Raise RnnsearchError for a link of a word that does not exist."""
    for source, target in sorted(links):
        if source >= source_words or target >= target_words:
            raise RnnsearchError(
                f"link {source}-{target}, but there are {source_words} and {target_words} words; links count words from 0"
            )


def project_labels(labels: Sequence[str], links: Links, target_words: int) -> list[str]:
    """Return the labels of the words of a translation; each span goes where most of its words are linked to (`ranges_of`).

    `labels` are those of the source words, with `B-`, `I-` and `O`. A span that is linked to nothing is lost.
    """
    spans = list(labelled_spans(labels))
    span_of = {word: number for number, (_, first, stop) in enumerate(spans, start=1) for word in range(first, stop)}
    votes: list[list[int]] = [[] for _ in range(target_words)]
    for source, target in sorted(links):
        votes[target].append(span_of.get(source, 0))
    # Each link votes for the span of its source word; of spans with equally many votes, the first one wins.
    numbers = [max(own, key=own.count, default=0) for own in votes]
    projected = [OUTSIDE] * target_words
    for number, (first, stop) in ranges_of([(0, number) if number else (0,) for number in numbers]).items():
        if number:
            name = spans[number - 1][0]
            projected[first:stop] = [f"B-{name}", *[f"I-{name}"] * (stop - first - 1)]
    return projected


def labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Return the name of each span, the position of its first word, and the position after its last word.

    `I-NAME` after a word outside of spans, or after another name, begins a span. Raises RnnsearchError for other labels.
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
    """Yield the words and the labels of each sentence of a file with one word per line and a blank line after each sentence.

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
    """Return the range of each span of a sentence in its translation: its first word, and the one after its last.

    `chains` holds for each word of the translation the numbers of the spans that contain its source word, the outermost
    first; number 0 is the whole source. A span that no word was read from has no range. The range of a span lies within that
    of its parent and contains no words of its siblings. Of all such ranges, it maximises the number of the span's own words
    minus the number of other words; of several maxima, the longest is chosen.
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
