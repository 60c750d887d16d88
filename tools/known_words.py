"""Make the filters of the words that the installed translators have to translate, `src/rnnsearch/text/*.words`.

    python tools/known_words.py --data DATA --cldr CLDR

All other words with a capital within a sentence are taken for names, and copied. A word is to be translated if the training
text has it in lower case, or if it has a capital and the other side of the text mostly does not have it, as with London and
Thursday. The text is that of `tools/train_box.py`: Europarl, Tatoeba, documentation, the lists of CLDR, and everyday phrases.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from box.cldr import Pair, cldr_pairs
from box.phrases import entries
from box.text import everyday, pairs
from rnnsearch.atomic import atomic_write
from rnnsearch.text.known_words import KnownWords, words_file

LEAST = 3
"""A word in lower case is known if it is there so often, or anywhere in the lists and everyday phrases."""
LEAST_TRANSLATED = 2
"""A word with a capital is known if the other side lacks it so often, and at least every second time."""
MISSPELT = 100
"""The most frequent words that always have a capital, such as days, are known with typing errors, too."""
_WORD = re.compile(r"[^\W\d_]+")
_BEGINS = re.compile(r"(?:^|[^\w\s,'’]\s?)$")
"""The text before a word that has its capital by position."""


def sentences(data: Path) -> Iterator[Pair]:
    """The pairs of running text."""
    for folder, names in (
        ("europarl", [f"europarl-part{part}" for part in range(4)]),
        ("tatoeba", ["fra-eng", "more"]),
        ("pydocs", ["pydocs"]),
        ("tico", ["tico19"]),
    ):
        for name in names:
            yield from pairs(data / folder, name)


def lists(cldr: Path) -> list[Pair]:
    """The pairs of words and short phrases, in which the first word has a capital only if it is a name."""
    return [*cldr_pairs(cldr, "en", "fr"), *everyday(), *entries()]


def known(running: Iterable[Pair], listed: Iterable[Pair]) -> set[str]:
    """The words of the first side of these pairs that have to be translated, in lower case."""
    small, capital, copied = Counter[str](), Counter[str](), Counter[str]()
    for source, target in running:
        others: set[str] | None = None
        for match in _WORD.finditer(source):
            word = match[0]
            if word.islower():
                small[word] += 1
            elif word[0].isupper() and word[1:].islower() and not _BEGINS.search(source, max(0, match.start() - 3), match.start()):
                others = others if others is not None else set(_WORD.findall(target))
                capital[word] += 1
                copied[word] += word in others
    words = {word for word, count in small.items() if count >= LEAST}
    for source, target in listed:
        words |= {word.lower() for word in _WORD.findall(source)} - {word.lower() for word in _WORD.findall(target)}
        words |= {word for word in _WORD.findall(source) if word.islower()}
    translated = {
        word: count
        for word, count in capital.most_common()
        if count - copied[word] >= LEAST_TRANSLATED and 2 * copied[word] < count
    }
    words |= {word.lower() for word in translated}
    always = [word.lower() for word in translated if not small[word.lower()]]
    return words | {error for word in always[:MISSPELT] for error in misspelt(word)}


def misspelt(word: str) -> Iterator[str]:
    """A word with one letter omitted, doubled or transposed, but for the first one."""
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]
        yield word[:place] + word[place] + word[place:]
        yield word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]


def main() -> None:
    """Write the filters of both directions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    parser.add_argument("--cldr", type=Path, required=True, help="the folder with the packages of CLDR")
    options = parser.parse_args()
    for source, target in (("en", "fr"), ("fr", "en")):
        turned = 1 if source == "en" else -1
        words = known(*((pair[::turned] for pair in text) for text in (sentences(options.data), lists(options.cldr))))
        with atomic_write(words_file(source, target)) as path:
            path.write_bytes(bytes(KnownWords.of(words)))
        print(f"{source}-{target}: {len(words):,} words, {words_file(source, target).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
