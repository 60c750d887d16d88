"""The training text: all of Europarl, Tatoeba, documentation, word lists, and everyday phrases.

Tatoeba has many French sentences for an English one, so it is split by English sentence: no English sentence of the
development or test set, in whatever case and punctuation, is in the training text. The test set takes the first French
sentence of each English one as its reference.
"""

from __future__ import annotations

import csv
import hashlib
import lzma
import random
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from box.cldr import Pair, cldr_pairs
from box.phrases import entries, phrases
from rnnsearch.atomic import atomic_write

HELD_OUT = {"dev": range(1), "test": range(1, 3)}
"""The hundredths of the English sentences of Tatoeba that each held-out set has."""
EVERYDAY = Path(__file__).parent / "everyday"
"""Words, signs, phrases and sentences with their translations, in files by kind, written for this purpose."""
EUROPARL_PAIRS = 60_000
"""The pairs of Europarl that the last training reads, beside everything else."""
LINK_PAIRS = 80_000
"""The pairs that the alignment layer learns from, drawn from the text of the last training."""
PHRASES = 150_000
"""The phrases that are made from templates."""
QUOTED = 25_000
"""The pairs of Tatoeba that are read in quotation marks, beside the pairs as they are."""
PLAIN = 40_000
"""The pairs that are read without the accents of French where French is the source."""
_TIMES = {"tatoeba": 1, "documentation": 1, "lists": 2, "everyday": 8, "words": 6, "phrases": 1, "quoted": 1}
"""How often a text is read while Europarl is read once."""
_QUOTED = {
    ".": (('"{},"', "« {} »,"), ("he said.", "dit-il."), ("she said.", "dit-elle."), ("he answered.", "répondit-il.")),
    "?": (('"{}?"', "« {} ? »"), ("he asked.", "demanda-t-il."), ("she asked.", "demanda-t-elle.")),
    "!": (('"{}!"', "« {} ! »"), ("he shouted.", "cria-t-il."), ("she shouted.", "cria-t-elle.")),
}
"""For the final mark of a sentence: how the sentence is quoted before a verb of saying, and such verbs."""
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


def hundredth(english: str) -> int:
    """A number from 0 to 99 that depends on the words of a sentence alone, not on its case or punctuation."""
    words = "".join(re.findall(r"\w+", english.casefold()))
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big") % 100


def split(tatoeba: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of Tatoeba by set: `train`, and `dev` and `test` with one pair for each English sentence."""
    sets: dict[str, list[Pair]] = {name: [] for name in ("train", *HELD_OUT)}
    seen: set[str] = set()
    for english, french in tatoeba:
        number = hundredth(english)
        name = next((name for name, numbers in HELD_OUT.items() if number in numbers), "train")
        if name == "train" or english not in seen:
            sets[name].append((english, french))
            seen.add(english)
    return sets


def everyday() -> list[Pair]:
    """The everyday words, phrases and sentences, each pair once."""
    pairs: dict[Pair, None] = {}
    for path in sorted(EVERYDAY.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            next(rows)
            pairs |= dict.fromkeys((english, french) for english, french in rows)
    return list(pairs)


def words(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The words and short phrases of these pairs as buttons, headings and answers have them: with a capital, and as a sentence."""
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


def prepare_text(data: Path, cldr: Path, folder: Path) -> None:
    """Write the training texts, `all`, `last` and `plain`, and the held-out sets of Tatoeba."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = split(pairs(data / "tatoeba", "fra-eng"))
    for name in HELD_OUT:
        write(folder, f"tatoeba-{name}", sets[name])
    held_out = range(HELD_OUT["test"].stop)
    source = random.Random(4)
    small = {
        "tatoeba": [*sets["train"], *pairs(data / "tatoeba", "more")],
        "documentation": [*pairs(data / "pydocs", "pydocs"), *pairs(data / "tico", "tico19")],
        "lists": cldr_pairs(cldr, "en", "fr"),
        "everyday": everyday(),
        "words": dict.fromkeys(words([*everyday(), *entries()])),
        "quoted": quoted(source.sample(sets["train"], QUOTED), source),
        "phrases": phrases(PHRASES, seed=3),
    }
    others = [
        pair
        for name, text in small.items()
        for pair in text
        if hundredth(pair[0]) not in held_out
        for _ in range(_TIMES[name])
    ]
    europarl = [pair for part in range(4) for pair in pairs(data / "europarl", f"europarl-part{part}")]
    write(folder, "all", europarl + others)
    unmarked = source.sample([pair for pair in others if plain(pair[1]) != pair[1]], PLAIN)
    write(folder, "plain", [(english, plain(french)) for english, french in unmarked])
    last = random.Random(1).sample(europarl, EUROPARL_PAIRS) + others
    write(folder, "links", random.Random(2).sample(last, LINK_PAIRS))
    write(folder, "last", last)  # The last of all: by it, a run that was stopped knows that the text is whole.
