"""Everyday phrases, made from templates and a lexicon of English and French.

A template is a pair of sentences with slots, `{form:kind}`. Both sides of a slot stand for one entry of the lexicon, or for
one value such as a price; a digit (`{thing2}`) tells several slots of a kind apart. The forms:

| English | French | |
|---|---|---|
| `{thing}`, `{s:thing}` | `{thing}`, `{s:thing}` | singular and plural |
| `{a:thing}` | `{un:thing}` | indefinite article |
| | `{le:thing}`, `{les:thing}`, `{des:thing}` | the other articles |
| | `{de:…}`, `{du:…}`, `{au:…}`, `{en:country}` | prepositions, contracted or elided as they have to be |
| | `{f:job}`, `{f:s:job}` | the feminine of an adjective or a profession |
| | `{que:…}` | *que*, elided |
| | `{mon:…}`, `{ton:…}`, `{son:…}`, `{votre:…}`, `{ce:…}`, `{quel:…}` | determiners |
| `{colour}` | `{colour@thing}`, `{colour@s:thing}` | an adjective that agrees with another slot |
| | `{thing?neuf/neuve}`, with a bar for the slash | one of two wordings, by the gender of a slot |
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from box.phrases.values import VALUES

FOLDER = Path(__file__).parent
SLOT = re.compile(r"\{(?:(?P<form>[a-z_]+(?::s)?):)?(?P<kind>[a-z]+)(?P<number>\d?)(?P<rest>[@?][^}]*)?\}")
_AN = r"(?!uni|eu|one|uk|us[abe])[aeiou]|hones|hour|x-|8|1[18]\b"
_VOWEL = re.compile(r"[aeiouyhàâäéèêëîïôöùûüœæ]", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """An entry of the lexicon: its words in both languages."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    """`m` or `f`; `m*` or `f*` before an aspirated h; `p` if it is always plural."""

    @property
    def elides(self) -> bool:
        """Whether an article before it loses its vowel."""
        return "*" not in self.gender and _VOWEL.match(self.french) is not None

    @property
    def masculine(self) -> bool:
        """Whether it is masculine, or a plural, for which no feminine form is asked."""
        return self.gender[0] != "f"

    def agreeing(self, other: Entry, plural: bool) -> str:
        """This adjective in the form of another word."""
        return self.french.split("|")[2 * plural + (not other.masculine)] if "|" in self.french else self.french

    @property
    def citation(self) -> str:
        """The French word as a dictionary has it."""
        return self.french.split("|")[0]


def _by_gender(masculine: str, feminine: str, elided: str | None = None) -> Callable[[Entry], str]:
    def form(entry: Entry) -> str:
        if elided is not None and entry.elides:
            return elided + entry.citation
        return f"{masculine if entry.masculine else feminine} {entry.citation}"

    return form


def _with_plural(plural: str, other: Callable[[Entry], str]) -> Callable[[Entry], str]:
    return lambda entry: f"{plural} {entry.citation}" if entry.gender == "p" else other(entry)


_FRENCH: dict[str, Callable[[Entry], str]] = {
    "": lambda entry: entry.citation,
    "s": lambda entry: entry.french_plural,
    "f": lambda entry: entry.french.split("|")[1] if "|" in entry.french else entry.french,
    "f:s": lambda entry: entry.french.split("|")[3] if "|" in entry.french else entry.french_plural,
    "un": _by_gender("un", "une"),
    "le": _with_plural("les", _by_gender("le", "la", "l'")),
    "les": lambda entry: f"les {entry.french_plural}",
    "des": lambda entry: f"des {entry.french_plural}",
    "de": lambda entry: ("d'" if entry.elides else "de ") + entry.citation,
    "de:s": lambda entry: ("d'" if entry.elides else "de ") + entry.french_plural,
    "du": _with_plural("des", _by_gender("du", "de la", "de l'")),
    "du_langue": _by_gender("du", "de la", "de l'"),
    "de_pays": _with_plural("des", _by_gender("du", "de", "d'")),
    "de_pays_le": _with_plural("des", _by_gender("du", "de la", "de l'")),
    "que": lambda entry: ("qu'" if entry.elides else "que ") + entry.citation,
    "au": _with_plural("aux", _by_gender("au", "à la", "à l'")),
    "en": _with_plural("aux", lambda entry: ("en " if entry.elides or not entry.masculine else "au ") + entry.citation),
    "mon": lambda entry: ("ma " if not entry.masculine and not entry.elides else "mon ") + entry.citation,
    "ton": lambda entry: ("ta " if not entry.masculine and not entry.elides else "ton ") + entry.citation,
    "son": lambda entry: ("sa " if not entry.masculine and not entry.elides else "son ") + entry.citation,
    "votre": lambda entry: f"votre {entry.citation}",
    "ce": lambda entry: (
        ("cet " if entry.elides and entry.masculine else "ce " if entry.masculine else "cette ") + entry.citation
    ),
    "quel": _by_gender("quel", "quelle"),
}
_ENGLISH: dict[str, Callable[[Entry], str]] = {
    "": lambda entry: entry.english,
    "s": lambda entry: entry.english_plural,
    "a": lambda entry: ("an " if re.match(_AN, entry.english, re.IGNORECASE) else "a ") + entry.english,
}


@cache
def lexicon() -> dict[str, tuple[Entry, ...]]:
    """The entries of `lexicon.tsv`, by kind; one may be of several kinds. A plural that is not written has an s more."""
    found: dict[str, list[Entry]] = {}
    with (FOLDER / "lexicon.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        for kind, english, plural, french, french_plural, gender in rows:
            french_plural = french_plural or (french.split("|")[2] if "|" in french else f"{french}s")
            entry = Entry(english, plural or f"{english}s", french, french_plural, gender)
            for each in kind.split():
                found.setdefault(each, []).append(entry)
    return {kind: tuple(dict.fromkeys(entries)) for kind, entries in found.items()}


def entries() -> Iterator[tuple[str, str]]:
    """The words of the lexicon in English and French, alone and with their articles."""
    for entry in dict.fromkeys(entry for entries in lexicon().values() for entry in entries):
        yield entry.english, entry.citation
        if entry.english[0].islower() and "|" not in entry.french:
            yield f"the {entry.english}", _FRENCH["le"](entry)


@cache
def templates() -> tuple[tuple[str, str], ...]:
    """The pairs of templates in `templates.tsv`."""
    with (FOLDER / "templates.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return tuple((english, french) for english, french in rows)


def fill(template: tuple[str, str], source: random.Random) -> tuple[str, str]:
    """A pair of sentences: each slot of the template stands for an entry or a value drawn from `source`."""
    drawn: dict[str, Entry] = {}
    for english_or_french in template:
        for slot in SLOT.finditer(english_or_french):
            name = slot["kind"] + slot["number"]
            taken = [entry for other, entry in drawn.items() if other.rstrip("0123456789") == slot["kind"]]
            while name not in drawn:
                entry = _draw(slot["kind"], source)
                if entry not in taken:
                    drawn[name] = entry
    english = SLOT.sub(lambda slot: _ENGLISH[slot["form"] or ""](drawn[slot["kind"] + slot["number"]]), template[0])
    french = SLOT.sub(lambda slot: _in_french(slot, drawn), template[1])
    return _begin(english, template[0]), _begin(french, template[1])


def phrases(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """`count` different pairs, as far as there are so many: each template as often as any other."""
    source, seen = random.Random(seed), set()
    for attempt in range(20 * count):
        pair = fill(templates()[attempt % len(templates())], source)
        if pair not in seen:
            seen.add(pair)
            yield pair
            if len(seen) == count:
                return


def _draw(kind: str, source: random.Random) -> Entry:
    if kind in VALUES:
        english, french = VALUES[kind](source)
        return Entry(english, english, french, french, "m*")
    return source.choice(lexicon()[kind])


def _in_french(slot: re.Match[str], drawn: dict[str, Entry]) -> str:
    entry, rest = drawn[slot["kind"] + slot["number"]], slot["rest"] or ""
    if rest.startswith("?"):
        return rest[1:].split("|")[not entry.masculine]
    if rest.startswith("@"):
        form, _, name = rest[1:].rpartition(":")
        return entry.agreeing(drawn[name], plural=form == "s")
    return _FRENCH[slot["form"] or ""](entry)


def _begin(sentence: str, template: str) -> str:
    """A sentence begins with a capital; a phrase without a final mark that began with a slot or a small letter does not."""
    sentence = re.sub(r"([ap]\.m\.)\.$", r"\1", sentence)
    whole = template[-1] in '.!?…»,:"' or template[0].isupper()
    return sentence[0].upper() + sentence[1:] if whole else sentence
