"""Make the filters of the words that the installed translators know, and of those that they may write.

    python tools/known_words.py --data DATA --cldr CLDR

The first are `src/rnnsearch/text/*.words`, the others `src/rnnsearch/box/PAIR/target.words`.

All other words with a capital within a sentence are taken for names, and copied. A word is known if the training text has it
in lower case, if it has a capital and the other side of the text mostly does not have it, as with London and Thursday, or if
it is a frequent name. The text is that of `tools/train_box.py`: Europarl, Tatoeba, documentation, the lists of CLDR, and
everyday phrases. A translator may write every word of this text, in which Europarl is whole, and of the source.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from box.cldr import Pair, cldr_pairs
from box.phrases import entries
from box.text import everyday, pairs, split
from rnnsearch.atomic import atomic_write
from rnnsearch.model_catalog import BOX
from rnnsearch.text.known_words import WRITTEN_WORDS, KnownWords, words_file

LEAST = 2
"""A word in lower case is known if it is there so often, or anywhere in the lists and everyday phrases."""
LEAST_TRANSLATED = 2
"""A word with a capital is known if the other side lacks it so often, and at least every second time."""
NAMES = 10
"""A word is a name if the other side mostly has it, and if it is more often with a capital by this factor."""
FAMILIAR = 8
FREQUENT = 40
"""The model copies a name itself that is so often in everyday sentences, or in all the text, and knows if it is a town."""
MISSPELT = 250
"""The most frequent words that always have a capital, such as days, are known with typing errors, too."""
_WORD = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?:(?<=[\w,] )|(?<=\w['’]))[A-ZÀ-ÖØ-ÞŒ][a-zß-öø-ÿœ]+(?!\w)")
"""A word with a capital within a sentence."""
_AT_ONCE = 10_000


TATOEBA = "tatoeba/fra-eng"
CORPORA = ("europarl/europarl-part0", TATOEBA, "tatoeba/more", "pydocs/pydocs", "tico/tico19")
"""The running text: a quarter of Europarl, and all of the rest."""
WRITTEN = tuple(f"europarl/europarl-part{part}" for part in (1, 2, 3))
"""The rest of Europarl."""


def lists(cldr: Path) -> list[Pair]:
    """The pairs of words and short phrases, in which the first word has a capital only if it is a name."""
    return [*cldr_pairs(cldr, "en", "fr"), *everyday(), *entries()]


class Counts:
    """Counts of the words of one side: all of them, those with a capital, and those among these that the other side has."""

    def __init__(self) -> None:
        self.words, self.capital, self.copied, self.everyday = Counter[str](), Counter[str](), Counter[str](), Counter[str]()

    def add(self, lines: Sequence[str], others: Sequence[str], everyday: bool) -> None:
        """Count the words of some lines, of which these are the translations; `everyday` if these are no proceedings."""
        self.words.update(_WORD.findall("\n".join(lines)))
        for line, other in zip(lines, others, strict=True):
            if names := _CAPITAL.findall(line):
                self.capital.update(names)
                self.everyday.update(names if everyday else ())
                self.copied.update(set(names).intersection(_WORD.findall(other)))

    def known(self, listed: Iterable[Pair]) -> set[str]:
        """The words that have to be translated, in lower case, with those of these lists."""
        small = {word: count for word, count in self.words.items() if word.islower()}
        known = {word for word, count in small.items() if count >= LEAST}
        for source, target in listed:
            words = _WORD.findall(source)
            known |= {word.lower() for word in words} - {word.lower() for word in _WORD.findall(target)}
            known |= set(filter(str.islower, words))
        names = {
            word: count
            for word, count in self.capital.items()
            if count >= LEAST and 2 * self.copied[word] >= count > NAMES * small.get(word.lower(), 0)
        }
        familiar = {word for word, count in names.items() if count >= FREQUENT or self.everyday[word] >= FAMILIAR}
        known -= {word.lower() for word in names.keys() - familiar}
        known |= set(map(str.lower, familiar))
        translated = [
            word.lower()
            for word, count in self.capital.most_common()
            if count - self.copied[word] >= LEAST_TRANSLATED and 2 * self.copied[word] < count
        ]
        always = [word for word in translated if small.get(word, 0) < LEAST]
        return known.union(translated, *map(misspelt, always[:MISSPELT]))


def misspelt(word: str) -> Iterator[str]:
    """A word with one letter omitted, doubled or transposed, but for the first one."""
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]
        yield word[:place] + word[place] + word[place:]
        yield word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]


def in_chunks(data: Path, corpus: str) -> Iterator[list[list[str]]]:
    """Both sides of some thousand pairs of a corpus at a time, without the held-out sentences of Tatoeba."""
    running = pairs(data / Path(corpus).parent, Path(corpus).name)
    if corpus == TATOEBA:
        running = iter(split(running)["train"])
    while chunk := list(islice(running, _AT_ONCE)):
        yield [list(side) for side in zip(*chunk, strict=True)]


def main() -> None:
    """Write the filters of both directions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    parser.add_argument("--cldr", type=Path, required=True, help="the folder with the packages of CLDR")
    options = parser.parse_args()
    counts = Counts(), Counts()
    for corpus in CORPORA:
        for sides in in_chunks(options.data, corpus):
            for side, of_side in enumerate(counts):
                of_side.add(sides[side], sides[1 - side], everyday=not corpus.startswith("europarl"))
    listed = lists(options.cldr)
    for side, (source, target) in enumerate((("en", "fr"), ("fr", "en"))):
        words = counts[side].known((pair[side], pair[1 - side]) for pair in listed)
        with atomic_write(words_file(source, target)) as path:
            path.write_bytes(bytes(KnownWords.of(words)))
        print(f"{source}-{target}: {len(words):,} words, {words_file(source, target).stat().st_size:,} bytes")
    written = [{word.lower() for word in of_side.words} for of_side in counts]
    further = chain.from_iterable(in_chunks(options.data, corpus) for corpus in WRITTEN)
    for sides in chain(further, [[list(side) for side in zip(*listed, strict=True)]]):
        for side, lines in enumerate(sides):
            written[side].update(_WORD.findall("\n".join(lines).lower()))
    for side, pair in enumerate(("fr-en", "en-fr")):
        with atomic_write(BOX / pair / WRITTEN_WORDS) as path:
            path.write_bytes(bytes(KnownWords.of(written[side])))
        print(f"{pair} may write {len(written[side]):,} words")


if __name__ == "__main__":
    main()
