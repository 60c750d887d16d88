"""Make the list of phrases of an installed translator, `src/rnnsearch/box/PAIR/phrases.tsv`.

    python tools/phrases.py --data DATA --pair en-fr

The list has the everyday sentences of at most ten words (`tools/box/everyday`) that the model gets wrong: its translation
has little in common with those that were written for the sentence. Short sentences come first, because they are typed more
often. No sentence of the held-out sets of Tatoeba is in it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sacrebleu.metrics.chrf import CHRF

from box.cldr import Pair
from box.text import HELD_OUT, everyday, from_english, from_french, known, letters, pairs, split
from rnnsearch import load
from rnnsearch.atomic import write_text
from rnnsearch.model_catalog import BOX
from rnnsearch.translation.phrases import PHRASES, key_of, without_marks

MOST_WORDS = 10
LEAST_LETTERS = 4
"""A single word in the list has at least so many letters: shorter ones are abbreviations or words with several meanings."""
SHORT = 6
"""Sentences of so many words are preferred to longer ones."""
WRONG = 60.0
"""A translation with a chrF below this is wrong."""
MOST_BYTES = 450_000
"""The size of a list."""
_SEVERAL = re.compile(r"[.!?…:;]\s+\S")
"""What stands between the sentences of several."""


def accepted(sides: Iterable[Pair]) -> dict[str, tuple[str, list[str]]]:
    """By key, a sentence and its translations, the most frequent one first."""
    sentences: dict[str, str] = {}
    translations: dict[str, Counter[str]] = defaultdict(Counter)
    for source, target in sides:
        key = key_of(source)
        if not key or len(key.split()) > MOST_WORDS or any(map(str.isdigit, source)):
            continue
        if " " not in key and (len(key) < LEAST_LETTERS or "/" in target):
            continue
        if _SEVERAL.search(source) or _SEVERAL.search(target) or not without_marks(target):
            continue
        sentences.setdefault(key, source)
        translations[key][target] += 1
    return {key: (sentences[key], [one for one, _ in found.most_common()]) for key, found in translations.items()}


def wrong(sentences: Mapping[str, tuple[str, list[str]]], written: Iterable[str]) -> Iterator[tuple[bool, float, str, str]]:
    """Whether a sentence is long, the chrF of what the model has `written` for it, its key, and its translation."""
    chrf = CHRF()
    for (key, (_, translations)), one in zip(sentences.items(), written, strict=True):
        score = chrf.sentence_score(without_marks(one).lower(), [without_marks(two).lower() for two in translations]).score
        if score < WRONG:
            yield len(key.split()) > SHORT, score, key, without_marks(translations[0])


def main() -> None:
    """Translate the sentences, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the corpora")
    parser.add_argument("--pair", choices=("en-fr", "fr-en"), required=True, help="the languages, source and target")
    options = parser.parse_args()
    sets = split(pairs(options.data / "tatoeba", "fra-eng"))
    held_out = {letters(english) for name in HELD_OUT for english, _ in sets[name]}
    if options.pair == "en-fr":
        sides = known(from_english(everyday()), held_out)
    else:
        sides = [(french, english) for english, french in known(from_french(everyday()), held_out)]
    sentences = accepted(sides)
    model = load(BOX / options.pair)
    written = [one.text for one in model.translate([sentence for sentence, _ in sentences.values()], phrases=False)]
    lines, size = [], 0
    for _, _, key, translation in sorted(wrong(sentences, written)):
        line = f"{key}\t{translation}\n"
        size += len(line.encode())
        if size <= MOST_BYTES:
            lines.append(line)
    write_text(BOX / options.pair / PHRASES, "".join(sorted(lines)))
    print(f"{options.pair}: {len(sentences):,} sentences, {len(lines):,} in the list")


if __name__ == "__main__":
    main()
