"""Make the lists of rare words of the installed translators, `src/rnnsearch/box/PAIR/rare-words.tsv`.

    python tools/rare_words.py --data DATA

The training text of `tools/train_box.py` is aligned (`rnnsearch align --quality fast`), without the held-out sentences of
Tatoeba. A word is rare if the text has it at most MOST times, and it is no plural of another word and on no sign. Its
translations are the words that are linked to it and to no other word. `rnnsearch.translation.rare_words` says how the lists
are used.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path

from box.cldr import Pair
from box.phrases import entries
from box.text import HELD_OUT, drawn, everyday, letters, pairs, split
from rnnsearch.alignment import Aligner
from rnnsearch.atomic import write_text
from rnnsearch.data.word_alignments import Links
from rnnsearch.model_catalog import default_model
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation.rare_words import RARE_WORDS

MOST = 100
"""A rare word is in the text so often at the most."""
LEAST = 2
"""A translation is linked to the word so often at least."""
SHARE, BACK = 0.25, 0.1
"""The translation that is written has SHARE of the links of the word, and the word BACK of those of the translation: « œil »
is no translation of *wink*."""
OTHERS, TOGETHER = 0.1, 0.6
"""A translation that is accepted has OTHERS of the links of the word, and all of these together TOGETHER."""
LONGEST = 3
"""The largest number of words of a translation."""
EUROPARL = 80_000
"""The pairs of Europarl in the text."""
_DETERMINERS = {
    "m": ("le", "un", "du", "au", "ce", "cet", "mon", "ton", "son"),
    "f": ("la", "une", "cette", "ma", "ta", "sa"),
    "p": ("les", "des", "aux", "ces", "mes", "tes", "ses", "nos", "vos", "leurs", "deux", "trois"),
}
_AGREEMENT = {word: agreement for agreement, words in _DETERMINERS.items() for word in words}
SIGNS = ("signs", "french-signs")
"""Files of everyday pairs."""
_LETTERS = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")


def text(data: Path) -> list[Pair]:
    """The pairs that are aligned, without those that are held out."""
    sets = split(pairs(data / "tatoeba", "fra-eng"))
    held_out = {letters(english) for name in HELD_OUT for english, _ in sets[name]}
    europarl = [pair for part in range(2) for pair in pairs(data / "europarl", f"europarl-part{part}")]
    short = [pair for pair in europarl if len(pair[0].split()) <= 30]
    others = [*sets["train"], *pairs(data / "tatoeba", "more"), *everyday(), *entries()]
    return [*drawn(others, len(others), held_out, random.Random(1)), *drawn(short, EUROPARL, held_out, random.Random(1))]


def linked(sources: Iterable[Sequence[str]], targets: Iterable[Sequence[str]], links: Iterable[Links]) -> Iterator[Pair]:
    """The words of the sources in lower case, each with the words that are linked to it alone, or with nothing.

    A word with a capital within a sentence is a name and left out.
    """
    for source, target, line in zip(sources, targets, links, strict=True):
        of_source, of_target = defaultdict(set), defaultdict(set)
        for i, j in line:
            of_source[i].add(j)
            of_target[j].add(i)
        for i, word in enumerate(source):
            if not word.isalpha() or len(word) < 3 or (i and not word.islower()):
                continue
            places = sorted(of_source[i])
            together = places and places[-1] - places[0] < len(places) <= LONGEST
            own = together and all(of_target[j] == {i} for j in places)
            found = " ".join(target[j] if i else target[j].lower() for j in places) if own else ""
            yield word.lower(), found if _WORDS.fullmatch(found) else ""


def agreements(sentences: Iterable[Sequence[str]]) -> dict[str, str]:
    """How determiners agree with the French words that follow them: `m`, `f` or `p`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words in sentences:
        for before, word in pairwise(words):
            if agreement := _AGREEMENT.get(before.lower()):
                counts[word][agreement] += 1
    return {word: found.most_common(1)[0][0] for word, found in counts.items()}


def words_of_signs() -> set[str]:
    """The words of two or three on a sign, such as « entrée interdite », which is not translated word by word."""
    signs = (side for pair in everyday(*SIGNS) for side in pair)
    return {word.lower() for sign in signs if 1 < len(words := _LETTERS.findall(sign)) <= 3 for word in words}


def entries_of(found: Iterable[Pair], agreement: dict[str, str], left_out: Set[str] = frozenset()) -> Iterator[str]:
    """The lines of the list: word, agreement of its translation, translations; no word that is `left_out`."""
    counts: Counter[str] = Counter()
    translations: dict[str, Counter[str]] = defaultdict(Counter)
    for word, translation in found:
        counts[word] += 1
        if translation:
            translations[word][translation] += 1
    back: Counter[str] = Counter()
    for others in translations.values():
        back.update(others)
    for word, others in sorted(translations.items()):
        (best, count), total = others.most_common(1)[0], others.total()
        accepted = {other: number for other, number in others.most_common() if number >= OTHERS * total}
        of_another = word.endswith(("s", "x")) and counts[word[:-1]] > MOST
        is_rare = counts[word] <= MOST and best != word and not of_another and word not in left_out
        if is_rare and count >= max(LEAST, SHARE * total, BACK * back[best]) and sum(accepted.values()) >= TOGETHER * total:
            yield "\t".join([word, agreement.get(best.split(" ")[0], ""), *accepted])


def main() -> None:
    """Align the text, and write the lists of both directions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    options = parser.parse_args()
    lines = list(zip(*text(options.data), strict=True))
    english, french = (
        [Tokenizer("moses", language).tokenize(line) for line in side]
        for side, language in zip(lines, ("en", "fr"), strict=True)
    )
    sides = list(zip(english, french, strict=True))
    aligner = Aligner.learn(sides, quality="fast")
    links = [line.links() for line in aligner.align(sides)]
    turned = [frozenset((j, i) for i, j in line) for line in links]
    for name, found, agreement in (
        ("en-fr", linked(english, french, links), agreements(french)),
        ("fr-en", linked(french, english, turned), {}),
    ):
        rows = list(entries_of(found, agreement, words_of_signs()))
        write_text(default_model(name) / RARE_WORDS, "".join(f"{row}\n" for row in rows))
        print(f"{name}: {len(rows):,} rare words")


if __name__ == "__main__":
    main()
