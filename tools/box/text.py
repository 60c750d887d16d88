"""The text of the last training: some of Europarl and Tatoeba, documentation, word lists, and everyday phrases.

Tatoeba has many French sentences for an English one, so it is split by English sentence: no English sentence of the
development or test set, in whatever case and punctuation, is in the training text. The test set takes the first French
sentence of each English one as its reference. A sentence of one word, such as *Bye.*, is not in these sets: nothing but
training teaches a word.
"""

from __future__ import annotations

import csv
import hashlib
import lzma
import os
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path

from box.cldr import Pair, cldr_pairs
from box.phrases import entries, phrases
from rnnsearch.atomic import atomic_write
from rnnsearch.selection.cross_entropy_difference import select
from rnnsearch.selection.general_corpus import Side

HELD_OUT = {"dev": range(1), "test": range(1, 3)}
"""The hundredths of the English sentences of Tatoeba that each held-out set has."""
EVERYDAY = Path(__file__).parent / "everyday"
"""Words, signs, phrases and sentences with their translations, in files by kind, written for this purpose."""
HASTY_ENGLISH = ("typed-in-haste", "typed-in-haste-2")
HASTY_FRENCH = ("french-chat", "french-typed")
"""Files of text as it is typed in haste, which a translator reads and does not write."""
MEANINGS = Path(__file__).parent / "meanings.tsv"
"""French words with several meanings, and buttons: the translation of each when it stands alone."""
SHORT = (
    *("basic-words", "common-words", "first-lines", "greetings", "labels", "messages", "requests", "signs"),
    *("french-daily", "french-signs", *HASTY_FRENCH),
)
"""Files of words, buttons, signs and short sentences, which are read more often than their number would say."""
EUROPARL_PAIRS = 60_000
"""The pairs of Europarl that the training of `train_box.py` without `--spans` reads."""
_FINAL = {"last": 85_000, "short": 5, "first-lines": 12}
"""Of the text of the last few hundred updates: the pairs of `last`, and how often each short and each first line is read."""
LINK_PAIRS = 80_000
"""The pairs that the alignment layer learns from, drawn from the text of the last training."""
RARE = 40
"""A word that occurs at most so often in Tatoeba is rare there."""
LONGEST, OFTEN = 22, 6
"""A sentence of Europarl with new words has at most so many words; a word that has been read so often is new no more."""
NEWS, NEWS_LONGEST = "news2008-2011", 40
"""The news that sentences of Europarl are selected for, and the most words that such a sentence has."""
_PAIRS = {
    "europarl": 60_000,
    "europarl-new": 80_000,
    "europarl-news": 200_000,
    "tatoeba": 60_000,
    "rare": 60_000,
    "documentation": 5_000,
    "lists": 5_000,
    "everyday": 170_000,
    "short": 40_000,
    "words": 75_000,
    "phrases": 28_000,
    "quoted": 8_000,
    "plain": 20_000,
}
"""The pairs of each text that the last training reads: some of them, or all of them several times."""
_QUOTED = {
    ".": (('"{},"', "« {} »,"), ("he said.", "dit-il."), ("she said.", "dit-elle."), ("he answered.", "répondit-il.")),
    "?": (('"{}?"', "« {} ? »"), ("he asked.", "demanda-t-il."), ("she asked.", "demanda-t-elle.")),
    "!": (('"{}!"', "« {} ! »"), ("he shouted.", "cria-t-il."), ("she shouted.", "cria-t-elle.")),
}
"""For the final mark of a sentence: how the sentence is quoted before a verb of saying, and such verbs."""
_INFINITIVE = re.compile(r"(?:ne (?:pas|plus) )?(?:se |s'(?:en )?)?\w+(?:er|ir|re)\b", re.IGNORECASE)
"""How a French infinitive begins, by itself or with what belongs to it."""
_WORD = re.compile(r"\b[^\W\d_A-ZÀ-Þ][^\W\d_]+")
_SLIP = re.compile(
    r"\b(?:[ur]|ur|cu|i(?![.\w])|im|ive|dont|cant|didnt|doesnt|isnt|wasnt|wont|whats|k|gn|gm|np|ty|thx|pl[sz]|sry|tmrw"
    r"|bday|luv|wassup|[Tt]eh|wether|\w*eciev\w*|[Tt]ommorr?ow|[Dd]efinate\w*)(?![.'])\b"
)
"""English as it is typed in haste or by mistake, which a translator reads and does not write."""
_INTRODUCED = (
    ("", ""),
    ("He said: ", "Il a dit : "),
    ("She answered: ", "Elle a répondu : "),
    ("My mother always says: ", "Ma mère dit toujours : "),
    ("The message says: ", "Le message dit : "),
    ("It said ", "Il était écrit "),
)
"""What comes before a quoted sentence."""


def pairs(folder: Path, name: str) -> Iterator[Pair]:
    """The pairs of a corpus, whose files may be compressed."""
    sides = []
    for language in ("en", "fr"):
        packed, plain = folder / f"{name}.{language}.xz", folder / f"{name}.{language}"
        data = lzma.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
        sides.append(data.decode("utf-8").removesuffix("\n").split("\n"))
    yield from zip(*sides, strict=True)


def letters(english: str) -> str:
    """The letters of the words of a sentence, whatever its case, punctuation and white space."""
    return "".join(re.findall(r"\w+", english.casefold()))


def hundredth(english: str) -> int:
    """A number from 0 to 99 that depends on the letters of a sentence alone."""
    return int.from_bytes(hashlib.sha256(letters(english).encode()).digest()[:8], "big") % 100


def split(tatoeba: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of Tatoeba by set: `train`, and `dev` and `test` with one pair for each English sentence."""
    sets: dict[str, list[Pair]] = {name: [] for name in ("train", *HELD_OUT)}
    seen: set[str] = set()
    for english, french in tatoeba:
        number = hundredth(english) if len(english.split()) > 1 else None
        name = next((name for name, numbers in HELD_OUT.items() if number in numbers), "train")
        if name == "train" or english not in seen:
            sets[name].append((english, french))
            seen.add(english)
    return sets


def rows(path: Path) -> Iterator[Pair]:
    """The pairs in a file with two columns and a head."""
    with path.open(encoding="utf-8", newline="") as file:
        found = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(found)
        yield from ((english, french) for english, french in found)


def everyday(*names: str) -> list[Pair]:
    """The everyday words, phrases and sentences of these files, or of all of them; each pair once."""
    names = names or tuple(sorted(path.stem for path in EVERYDAY.glob("*.tsv")))
    return list(dict.fromkeys(pair for name in names for pair in rows(EVERYDAY / f"{name}.tsv")))


def from_french(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """These pairs as a translator from French reads them, after those of `meanings.tsv`.

    A French infinitive is what a button says (*Save*), without *to*. A French word of `meanings.tsv` has the meaning that it
    has there, whatever it has here, unless it is a name. English with a slip is left out.
    """
    chosen, hasty = list(rows(MEANINGS)), set(everyday(*HASTY_ENGLISH))
    yield from chosen
    meanings = {french.casefold(): english for english, french in chosen}
    for english, french in pairs:
        if french.casefold() in meanings and english != french:
            meaning = meanings[french.casefold()]
            capital = meaning.upper() if len(french) > 1 and french.isupper() else meaning[0].upper() + meaning[1:]
            yield (capital if french[0].isupper() else meaning), french
        elif english.startswith("to ") and _INFINITIVE.match(french):
            yield english.removeprefix("to "), french
        elif not _SLIP.search(english) and (english, french) not in hasty:
            yield english, french


def from_english(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """These pairs as a translator from English reads them: without French that is typed in haste."""
    hasty = set(everyday(*HASTY_FRENCH))
    yield from (pair for pair in pairs if pair not in hasty)


def words(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The words and short phrases of these pairs with a capital, as buttons and answers have them, and as a sentence."""
    for english, french in pairs:
        if len(french.split()) <= 3 and english[-1:].isalnum() and french[-1:].isalnum() and french[0].islower():
            english, french = (side[0].upper() + side[1:] for side in (english, french))
            yield english, french
            yield f"{english}.", f"{french}."


def quoted(pairs: Iterable[Pair], source: random.Random) -> Iterator[Pair]:
    """Sentences in the quotation marks of their languages, alone and with a verb of saying before or after them."""
    for english, french in pairs:
        mark = french[-1]
        if mark not in _QUOTED or english[-1] != mark or '"' in english or "«" in french:
            continue
        if source.random() < 0.5:
            before = source.choice(_INTRODUCED)
            yield f'{before[0]}"{english}"', f"{before[1]}« {french} »"
        else:
            frame, *verbs = _QUOTED[mark]
            verb = source.choice(verbs)
            yield f"{frame[0].format(english[:-1])} {verb[0]}", f"{frame[1].format(french[:-1].rstrip())} {verb[1]}"


def with_rare_words(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs with a word of either language that is rare in them, from which a model learns more than from the others.

    A word that is there only once is rather a slip or a name, and so is a word with a capital.
    """
    of_pairs = [[set(_WORD.findall(side)) for side in pair] for pair in pairs]
    counts = [Counter(word for found in of_pairs for word in found[side]) for side in range(2)]
    for pair, found in zip(pairs, of_pairs, strict=True):
        if any(1 < counts[side][word] <= RARE for side in range(2) for word in found[side]):
            yield pair


def with_new_words(pairs: Iterable[Pair], known: Iterable[Pair]) -> Iterator[Pair]:
    """Those of these pairs that have a word of either language which `known` and the pairs before it have seldom.

    So the words of public life, which everyday sentences lack, come with the fewest sentences of the parliament.
    """
    counts = [Counter(word for pair in known for word in _WORD.findall(pair[side])) for side in range(2)]
    for pair in pairs:
        if max(map(len, map(str.split, pair))) > LONGEST:
            continue
        found = [set(_WORD.findall(side)) for side in pair]
        if any(counts[side][word] < OFTEN for side in range(2) for word in found[side]):
            for side in range(2):
                counts[side].update(found[side])
            yield pair


def like_news(data: Path, folder: Path) -> Iterator[Pair]:
    """Those pairs of Europarl that are most like `NEWS`, which itself is not read: twice as many as are drawn from them."""
    english, french = (
        [data / "europarl" / f"europarl-part{part}.{language}.xz" for part in range(4)] for language in ("en", "fr")
    )
    in_domain: dict[Side, Path] = {"source": data / "wmt" / f"{NEWS}.en.gz", "target": data / "wmt" / f"{NEWS}.fr.gz"}
    output = folder / "europarl-news.en", folder / "europarl-news.fr"
    select(english, french, output, in_domain=in_domain, pairs=2 * _PAIRS["europarl-news"], jobs=os.cpu_count() or 1)
    yield from (pair for pair in pairs(folder, "europarl-news") if max(map(len, map(str.split, pair))) <= NEWS_LONGEST)


def plain(text: str) -> str:
    """A text without accents, as it is typed on a foreign keyboard."""
    letters = unicodedata.normalize("NFD", text.replace("œ", "oe").replace("Œ", "Oe"))
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def write(folder: Path, name: str, chosen: Iterable[Pair]) -> None:
    """Write pairs as `NAME.en` and `NAME.fr`."""
    lines = list(chosen)
    for side, language in enumerate(("en", "fr")):
        with atomic_write(folder / f"{name}.{language}") as path:
            path.write_text("".join(f"{pair[side]}\n" for pair in lines), encoding="utf-8")


def known(pairs: Iterable[Pair], held_out: Set[str]) -> list[Pair]:
    """Those of these pairs whose English sentence is not held out; `held_out` has the `letters` of those that are."""
    return [pair for pair in pairs if letters(pair[0]) not in held_out]


def drawn(pairs: Iterable[Pair], count: int, held_out: Set[str], source: random.Random) -> list[Pair]:
    """So many pairs that are not held out: some of these, or each of these as often as it takes."""
    from_these = known(pairs, held_out)
    times, rest = divmod(count, len(from_these))
    return from_these * times + source.sample(from_these, rest)


def prepare_text(data: Path, cldr: Path, folder: Path, pair: str) -> None:
    """Write the training texts `last`, `final` and `plain` of a pair of languages, and the sets of Tatoeba.

    `final` is for the last few hundred updates, with more words, signs and short sentences. `plain` is for models that
    translate from French: it has no accents.
    """
    read = from_french if pair.startswith("fr") else from_english
    folder.mkdir(parents=True, exist_ok=True)
    sets = split(pairs(data / "tatoeba", "fra-eng"))
    for name in ("train", *HELD_OUT):
        write(folder, f"tatoeba-{name}", sets[name])
    source = random.Random(1)
    sentences = [*sets["train"], *pairs(data / "tatoeba", "more")]
    everyday_pairs, short_pairs, first_lines = (list(read(everyday(*names))) for names in ((), SHORT, ("first-lines",)))
    accented = [(english, plain(french)) for english, french in [*everyday_pairs, *sets["train"]] if plain(french) != french]
    europarl = [pair for part in range(4) for pair in pairs(data / "europarl", f"europarl-part{part}")]
    texts = {
        "europarl": europarl,
        "europarl-new": list(with_new_words(source.sample(europarl, len(europarl)), [*everyday_pairs, *sentences])),
        "europarl-news": list(like_news(data, folder)),
        "tatoeba": sentences,
        "rare": list(with_rare_words(sentences)),
        "documentation": [*pairs(data / "pydocs", "pydocs"), *pairs(data / "tico", "tico19")],
        "lists": list(read(cldr_pairs(cldr, "en", "fr"))),
        "everyday": everyday_pairs,
        "short": short_pairs,
        "words": dict.fromkeys(words(read([*everyday(), *entries()]))),
        "phrases": phrases(_PAIRS["phrases"] * 11 // 10, seed=3),
        "quoted": quoted(sentences, source),
        "plain": accented,
    }
    held_out = {letters(english) for name in HELD_OUT for english, _ in sets[name]}
    chosen = {name: drawn(text, _PAIRS[name], held_out, source) for name, text in texts.items()}
    write(folder, "plain", chosen.pop("plain"))
    last = [pair for text in chosen.values() for pair in text]
    write(folder, "links", source.sample(last, LINK_PAIRS))
    short, first = known(short_pairs, held_out), known(first_lines, held_out)
    final = [*source.sample(last, _FINAL["last"]), *short * _FINAL["short"], *first * _FINAL["first-lines"]]
    write(folder, "final", final)
    write(folder, "last", last)  # The last of all: by it, a run that was stopped knows that the text is whole.
