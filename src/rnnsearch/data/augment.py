"""Training text as people write it: capitals, missing accents and marks, typing errors, names and symbols of all kinds.

Some pairs of every minibatch are changed, so that a model learns to translate text as users type it (compare the modifiers
of OpusTrainer). The choice of pairs and of changes depends only on the number of the minibatch and on the seed.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from rnnsearch.config import Augmentations
from rnnsearch.data.pack import Sentences
from rnnsearch.text.protected import ALL_SYMBOLS, SYMBOLS, Kind
from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import UNK

Link = tuple[int, int]
_FINAL = frozenset(".!?")
_CLOSED = frozenset(".!")
"""Final marks that the target loses if the source loses its own; a question mark stays."""


@dataclass(frozen=True)
class Pair:
    """The words of a pair, and their links: (source word, target word)."""

    source: list[str]
    target: list[str]
    links: list[Link]

    def with_source(self, words: Sequence[tuple[str, Sequence[int]]]) -> Pair:
        """Return the pair with these source words; each word comes with the positions of the old words that it replaces."""
        new_of: dict[int, list[int]] = {}
        for new, (_, old_words) in enumerate(words):
            for old in old_words:
                new_of.setdefault(old, []).append(new)
        links = [(new, target) for old, target in self.links for new in new_of.get(old, ())]
        return Pair([word for word, _ in words], self.target, sorted(set(links)))


class Augmentation:
    """Applies the named augmentations to the pairs of minibatches."""

    def __init__(self, vocabularies: Vocabularies, names: Sequence[Augmentations], seed: int, max_length: int) -> None:
        """Two pairs are joined only if neither side of the result has more than `max_length` words."""
        self._vocabularies, self._seed, self._max_length = vocabularies, seed, max_length
        self._names = frozenset(names)
        self._has_symbols = all(symbol in side for side in vocabularies for symbol in ALL_SYMBOLS)

    def __call__(
        self, number: int, sides: tuple[Sentences, Sentences], links: Sequence[list[Link]]
    ) -> tuple[tuple[Sentences, Sentences], list[list[Link]]]:
        """Return the pairs of minibatch `number` after augmentation, and their links.

        Pairs with unknown words are not changed.
        """
        random = Random(f"augmentation of minibatch {number} of seed {self._seed}")
        ids = [np.split(side.ids, np.cumsum(side.lengths)[:-1]) for side in sides]
        pairs: list[Pair | None] = []
        for source, target, linked in zip(*ids, links, strict=True):
            known = UNK not in source and UNK not in target
            words = [side.join(row.tolist())[0] for side, row in zip(self._vocabularies, (source, target), strict=True)]
            pairs.append(Pair(words[0], words[1], list(linked)) if known else None)
        changed = self._changed(pairs, random)
        rows = [
            (source.tolist(), target.tolist()) if pair is None else self._vocabularies.encode(pair.source, pair.target)
            for pair, source, target in zip(changed, *ids, strict=True)
        ]
        new_links = [pair.links if pair else list(linked) for pair, linked in zip(changed, links, strict=True)]
        return (Sentences.of([source for source, _ in rows]), Sentences.of([target for _, target in rows])), new_links

    def _changed(self, pairs: Sequence[Pair | None], random: Random) -> list[Pair | None]:
        names = [word for pair in pairs if pair for word in _shared(pair) if _is_name(word)]
        result: list[Pair | None] = []
        for place, pair in enumerate(pairs):
            if pair is None or not (pair.source and pair.target):
                result.append(pair)
                continue
            if self._drawn("joined", 0.05, random):
                pair = _joined(pair, pairs[(place + 1) % len(pairs)], self._max_length)
            if self._drawn("names", 0.5, random):
                pair = _with_other_names(pair, names, random)
            if self._has_symbols and self._drawn("symbols", 0.15, random):
                pair = _with_symbols(pair, random)
            if self._has_symbols and self._drawn("symbols", 0.02, random):
                pair = _with_symbol_at_end(pair, random)
            if self._drawn("endings", 0.08, random):
                pair = _without_ending(pair)
            for name, share, change in _CHANGES:
                if self._drawn(name, share, random):
                    pair = change(pair, random)
            result.append(_numbered(pair, random) or pairs[place])
        return result

    def _drawn(self, name: Augmentations, share: float, random: Random) -> bool:
        return name in self._names and random.random() < share


def _joined(pair: Pair, other: Pair | None, max_length: int) -> Pair:
    """Join two pairs into one if the first is a whole sentence; return the first pair otherwise."""
    if other is None or pair.source[-1] not in _FINAL or pair.target[-1] not in _FINAL:
        return pair
    source, target = pair.source + other.source, pair.target + other.target
    if max(len(source), len(target)) > max_length:
        return pair
    links = [(s + len(pair.source), t + len(pair.target)) for s, t in other.links]
    return Pair(source, target, pair.links + links)


def _shared(pair: Pair) -> list[str]:
    """Return the words that occur exactly once on each side."""
    source, target = Counter(pair.source), Counter(pair.target)
    return [word for word in pair.source if source[word] == target[word] == 1 and word not in ALL_SYMBOLS]


def _is_name(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word[0].isupper() and word[1:].islower()


def _with_other_names(pair: Pair, names: Sequence[str], random: Random) -> Pair:
    """Replace the names that both sides contain by names of other pairs or by invented ones."""
    other = {
        word: random.choice(names) if random.random() < 0.5 else _made_up(random) for word in _shared(pair) if _is_name(word)
    }
    return _replaced(pair, other) if other else pair


def _made_up(random: Random) -> str:
    syllables = (random.choice(_ONSETS) + random.choice(_VOWELS) for _ in range(random.randint(1, 3)))
    return ("".join(syllables) + random.choice(_CODAS)).capitalize()


_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "f",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ee", "ie", "ou", "y", "é"]
_CODAS = ["", "", "n", "r", "s", "l", "m", "ng", "tt", "ck", "x", "sson", "ski", "ez", "ard", "ton"]


def _with_symbols(pair: Pair, random: Random) -> Pair:
    """Replace up to three words that both sides contain by symbols of protected spans."""
    shared = [word for word in _shared(pair) if len(word) > 1 and word.isalnum()]
    chosen = random.sample(shared, min(len(shared), random.randint(1, 3)))
    other = {}
    for place, word in enumerate(sorted(chosen, key=pair.source.index)):
        kind: Kind = "quantity" if word.isdigit() else "verbatim"
        other[word] = f"{kind} {place}"
    return _replaced(pair, other)


def _with_symbol_at_end(pair: Pair, random: Random) -> Pair:
    """Add a symbol at the end of both sides, where people write an emoji."""
    before = pair.source[-1] in _FINAL and pair.target[-1] in _FINAL and random.random() < 0.3
    places = [len(words) - before for words in (pair.source, pair.target)]
    source, target = (
        [*words[:place], "verbatim end", *words[place:]]
        for words, place in zip((pair.source, pair.target), places, strict=True)
    )
    links = [(s + (s >= places[0]), t + (t >= places[1])) for s, t in pair.links]
    return Pair(source, target, [*links, (places[0], places[1])])


def _numbered(pair: Pair, random: Random) -> Pair | None:
    """Renumber the symbols of a pair from 1 in the order of the source; one pair in five skips some numbers.

    Returns None if the pair has more symbols of a kind than there are.
    """
    kinds = {word: kind for kind, symbols in SYMBOLS.items() for word in symbols}
    numbers: dict[str, str] = {}
    for kind, symbols in SYMBOLS.items():
        words = [word for word in dict.fromkeys(pair.source) if kinds.get(word, word.partition(" ")[0]) == kind]
        words = [word for word in words if word in pair.target]
        free = list(symbols)
        if len(words) > len(free):
            return None
        if words and random.random() < 0.2:
            free = sorted(random.sample(free, len(words)), key=symbols.index)
        numbers |= zip(words, free, strict=False)
    return _replaced(pair, numbers)


def _replaced(pair: Pair, other: dict[str, str]) -> Pair:
    if not other:
        return pair
    source, target = ([other.get(word, word) for word in words] for words in (pair.source, pair.target))
    return replace(pair, source=source, target=target)


def _without_ending(pair: Pair) -> Pair:
    """Remove the final mark of the source, and that of the target unless it is a question mark."""
    if len(pair.source) < 2 or pair.source[-1] not in _FINAL:
        return pair
    source = pair.source[:-1]
    target = pair.target[:-1] if len(pair.target) > 1 and pair.target[-1] in _CLOSED else pair.target
    return Pair(source, target, [(s, t) for s, t in pair.links if s < len(source) and t < len(target)])


def _capitals(pair: Pair, random: Random) -> Pair:
    """Write both sides in capitals, or the source in lower case."""
    if random.random() < 0.5:
        return replace(pair, source=_each(str.lower, pair.source))
    return replace(pair, source=_each(str.upper, pair.source), target=_each(str.upper, pair.target))


def _titles(pair: Pair, random: Random) -> Pair:
    """Capitalise every word of the source, like an English title."""
    return replace(pair, source=_each(lambda word: word[0].upper() + word[1:], pair.source))


def _typos(pair: Pair, random: Random) -> Pair:
    """Make a typing error in one or two words of the source: a letter is omitted, doubled, transposed or replaced."""
    source = list(pair.source)
    long = [place for place, word in enumerate(source) if len(word) > 3 and word.isalpha()]
    for place in random.sample(long, min(len(long), 1 + (random.random() < 0.3))):
        word = source[place]
        at = random.randrange(1, len(word) - 1)
        source[place] = random.choice(
            [
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + random.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :],
            ]
        )
    return replace(pair, source=source)


def _accents(pair: Pair, random: Random) -> Pair:
    """Remove the accents of the source."""
    return replace(pair, source=_each(_without_accents, pair.source))


def _without_accents(word: str) -> str:
    letters = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter))) or word


def _apostrophes(pair: Pair, random: Random) -> Pair:
    """Remove the apostrophes of the source, and join the words on both sides of each."""
    words: list[tuple[str, list[int]]] = []
    glue = False
    for place, word in enumerate(pair.source):
        inner = word.strip("'")
        if words and inner and (glue or (word.startswith("'") and words[-1][0][-1].isalpha())):
            words[-1] = (words[-1][0] + inner, [*words[-1][1], place])
        else:
            words.append((inner if inner and word.endswith("'") else word, [place]))
        glue = bool(inner) and word.endswith("'")
    return pair.with_source(words)


def _each(change: Callable[[str], str], words: Sequence[str]) -> list[str]:
    return [word if word in ALL_SYMBOLS or " " in word else change(word) or word for word in words]


_CHANGES: tuple[tuple[Augmentations, float, Callable[[Pair, Random], Pair]], ...] = (
    ("accents", 0.03, _accents),
    ("apostrophes", 0.02, _apostrophes),
    ("typos", 0.06, _typos),
    ("titles", 0.02, _titles),
    ("capitals", 0.03, _capitals),
)
"""The changes of single words, which are made last, with the share of the pairs that each is applied to."""
