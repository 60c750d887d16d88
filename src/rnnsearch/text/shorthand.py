"""Shorthand that people type in place of words, which a model has hardly seen: *w/o*, *ASAP*, *Mon-Fri*, *stp*, *7j/7*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rnnsearch.text.expressions import Expression

_WORDS = {
    "en": {
        "abt": "about",
        "asap": "as soon as possible",
        "bday": "birthday",
        "brb": "be right back",
        "btw": "by the way",
        "cuz": "because",
        "dunno": "don't know",
        "e.g.": "for example",
        "fyi": "for your information",
        "i.e.": "that is",
        "idk": "I don't know",
        "imho": "in my humble opinion",
        "imo": "in my opinion",
        "jk": "just kidding",
        "kinda": "kind of",
        "lemme": "let me",
        "lmk": "let me know",
        "np": "no problem",
        "nvm": "never mind",
        "omw": "on my way",
        "pls": "please",
        "plz": "please",
        "ppl": "people",
        "tba": "to be announced",
        "tbc": "to be confirmed",
        "tbd": "to be decided",
        "tbh": "to be honest",
        "thx": "thanks",
        "tmr": "tomorrow",
        "tmrw": "tomorrow",
        "ur": "your",
        "w/o": "without",
        "y'all": "you all",
        "yw": "you're welcome",
    },
    "fr": {
        "ajd": "aujourd'hui",
        "bcp": "beaucoup",
        "bjr": "bonjour",
        "bsr": "bonsoir",
        "c.-à-d.": "c'est-à-dire",
        "càd": "c'est-à-dire",
        "cdlt": "cordialement",
        "cdt": "cordialement",
        "chui": "je suis",
        "chuis": "je suis",
        "dsl": "désolé",
        "env.": "environ",
        "jpp": "je n'en peux plus",
        "jsp": "je ne sais pas",
        "jtm": "je t'aime",
        "mlle": "Mademoiselle",
        "mlles": "Mesdemoiselles",
        "mtn": "maintenant",
        "osef": "on s'en fiche",
        "biz": "bises",
        "pcq": "parce que",
        "pk": "pourquoi",
        "qqch": "quelque chose",
        "qqn": "quelqu'un",
        "rdv": "rendez-vous",
        "slt": "salut",
        "stp": "s'il te plaît",
        "svp": "s'il vous plaît",
        "tjrs": "toujours",
        "tjs": "toujours",
        "tkt": "ne t'inquiète pas",
        "tlm": "tout le monde",
        "tt": "tout",
    },
}
"""For a language, abbreviations in small letters, and the words that they stand for."""

_DAYS = {
    "en": {
        "Mon": "Monday",
        "Tue": "Tuesday",
        "Tues": "Tuesday",
        "Wed": "Wednesday",
        "Thu": "Thursday",
        "Thur": "Thursday",
        "Thurs": "Thursday",
        "Fri": "Friday",
        "Sat": "Saturday",
        "Sun": "Sunday",
    },
    "fr": {
        "lun": "lundi",
        "mar": "mardi",
        "mer": "mercredi",
        "jeu": "jeudi",
        "ven": "vendredi",
        "sam": "samedi",
        "dim": "dimanche",
    },
}
_MONTHS = {
    "en": {
        "Jan": "January",
        "Feb": "February",
        "Mar": "March",
        "Apr": "April",
        "Jun": "June",
        "Jul": "July",
        "Aug": "August",
        "Sept": "September",
        "Sep": "September",
        "Oct": "October",
        "Nov": "November",
        "Dec": "December",
    },
    "fr": {
        "janv": "janvier",
        "févr": "février",
        "fév": "février",
        "avr": "avril",
        "juil": "juillet",
        "sept": "septembre",
        "oct": "octobre",
        "nov": "novembre",
        "déc": "décembre",
    },
}
_RANGES = {"en": ("from", "to"), "fr": ("du", "au")}
"""What stands before the first and the last day of several."""
_GAP = r"[ \u00a0\u202f]"
_NEAR = 200
"""The number of characters on either side of shorthand that decide how it is read."""
_MARKS = ".,;:!?…()«»\"'"
"""Punctuation beside a word."""


def _any(words: dict[str, str]) -> str:
    """Return the pattern of any of these abbreviations, longer ones before their beginnings."""
    return "|".join(sorted((word.replace(".", r"\.") for word in words), key=len, reverse=True))


def _spelled(match: Any, words: dict[str, str]) -> str:
    """Return the words for an abbreviation, with a capital at the beginning of a line or sentence, or if it has one."""
    spelled = words[match[0].lower()]
    written_in_capitals = match[0].isupper()
    if written_in_capitals and len(match[0]) < 3:  # *JK* are initials
        return str(match[0])
    before, after = _around(match)
    if written_in_capitals and (before + after).isupper():
        return spelled.upper()
    begins = not before.strip() or before.rstrip()[-1] in ".!?"
    capital = match[0][0].isupper() and (begins or not written_in_capitals)
    return spelled[0].upper() + spelled[1:] if capital else spelled


def _around(match: Any) -> tuple[str, str]:
    """Return the text before and after a match, as far as it matters, so that a line of any length takes linear time."""
    start, stop = match.span()
    return match.string[max(0, start - _NEAR) : start], match.string[stop : stop + _NEAR]


def _named(match: Any, names: dict[str, str]) -> str:
    """Return the name of a day or a month for its abbreviation."""
    name = names.get(match["name"]) or names[match["name"].capitalize()]
    return name.capitalize() if match["name"][0].isupper() else name


def _range(match: Any, names: dict[str, str], language: str) -> str:
    """Return the days of a range in words: « du lundi au vendredi », and after a word *from Monday to Friday*."""
    first, last = (names.get(match[end]) or names[match[end].capitalize()] for end in ("first", "last"))
    before = (_around(match)[0].split(" ")[:-1] or [""])[-1].lower()
    begins, to = _RANGES[language]
    if before == begins or (language == "en" and not before.isalpha()):
        return f"{first} {to} {last}"
    return f"{begins.capitalize() if language == 'fr' and match['first'].istitle() else begins} {first} {to} {last}"


Rule = tuple[Sequence[str], Expression, "str | Callable[[Any], str]"]


def _rules(language: str, after_a_month: str) -> tuple[Rule, ...]:
    """Return the rules of days and months of a language; `after_a_month` is what follows one before a number."""
    days, months = _DAYS[language], _MONTHS[language]
    if language == "fr":  # which writes days and months in small letters, but at the beginning of a line
        days, months = ({**names, **{name.capitalize(): of for name, of in names.items()}} for names in (days, months))
    day, month = rf"(?:{_any(days)})", rf"(?P<name>{_any(months)})"
    days_range = rf"(?<![\w-])(?P<first>{day})\.?{_GAP}?[-–]{_GAP}?(?P<last>{day})(?![\w-]){_INNER_STOP}"
    before_a_time = rf"(?<![\w-])(?P<name>{day})\.?(?={_GAP}\d{{1,2}}(?:[:h-]|{_GAP}?[ap]\.?m))"
    return (
        ("-–", Expression(days_range), partial(_range, names=days, language=language)),
        (_DIGITS, Expression(before_a_time), partial(_named, names=days)),
        (_DIGITS, Expression(rf"(?<=(?<!\w)\d\d?{_GAP}){month}(?![\w'’]){_INNER_STOP}"), partial(_named, names=months)),
        (_DIGITS, Expression(rf"(?<!\w){month}{after_a_month}"), partial(_named, names=months)),
    )


_DIGITS = "0123456789"
_NAMED = {"en": ("NATO", "OPEC"), "fr": ("OTAN", "OPEP")}
_NAMED_IN_BOTH = ("ASEAN", "CERN", "FIFA", "NASA", "UEFA", "UNESCO", "UNICEF")
"""Abbreviations that are names in English, without an article, and have one in French: NATO and « l'OTAN »."""
_BEFORE_A_NAME = (
    "about|after|against|and|as|at|because|before|between|but|by|for|from|if|in|into|like|of|on|or|since|than|that|to|under|when"
    "|where|while|with"
)


def _organization_names(language: str) -> tuple[tuple[str, ...], str, str]:
    """Return the names of organizations in a language, their pattern, and the pattern of their other spelling, *Nasa*."""
    names = (*_NAMED[language], *_NAMED_IN_BOTH)
    return names, rf"(?:{'|'.join(names)})(?![\w-])", rf"(?<![\w-])(?:{'|'.join(map(str.capitalize, names))})(?![\w-])"


def _organizations(language: str) -> tuple[Rule, ...]:
    """Return the rules for names of organizations: English has the article for a model, which finds the French one by it."""
    names, name, other = _organization_names(language)
    capitals = (tuple(map(str.capitalize, names)), Expression(other), lambda match: match[0].upper())
    if language == "fr":
        return (
            capitals,
            (("Onu",), Expression(r"(?<![\w-])Onu(?![\w-])"), "ONU"),
            (names, Expression(rf"(?i:(?<!\w)(?:l['’]|l[ae]{_GAP}))(?={name})"), ""),
            (names, Expression(rf"(?<!\w)([dD])u(?={_GAP}{name})"), r"\1e"),
            (names, Expression(rf"(?<!\w)au(?={_GAP}{name})"), "à"),
        )
    after = rf"(?=[.,;:!?)]|$|{_GAP}(?:{_BEFORE_A_NAME}){_GAP})"
    lower = rf"(?<=\p{{Ll}}{_GAP})(?<!(?<!\w)(?:the|an?|any|every|no|our|their|this|your){_GAP})"
    return (
        capitals,
        (names, Expression(rf"(?<=^|[.!?:]{_GAP})(?={name}{_GAP}\w)"), "The "),
        (
            names,
            Expression(rf"(?<=(?:[,;(]|(?<!\w)(?:{_BEFORE_A_NAME})){_GAP})(?={name})|{lower}(?={name}{after})"),
            "the ",
        ),
    )


_QUARTERS = {"en": ("first", "second", "third", "fourth"), "fr": ("premier", "deuxième", "troisième", "quatrième")}


def _quarter(match: Any, language: str) -> str:
    """Return a quarter of a year in words."""
    ordinal = _QUARTERS[language][int(match["quarter"]) - 1]
    if language == "fr":
        return f"{ordinal} trimestre de"
    return f"the {ordinal} quarter{' of ' if match['of'] else ''}"


_FEMININE = "(?:e|ne|le|te|tes|se|ère|euse|trice|ve)"
"""What French words have at their end for women."""
_INNER_STOP = r"(?:\.(?=\s*\S))?"
"""The full stop of an abbreviation; at the end of a line, it is that of the sentence as well."""
_RULES: dict[str, tuple[Rule, ...]] = {
    "en": (
        (("/",), Expression(r"(?<![\w/])w/(?!o(?![\w/])) ?(?=[\p{L}\d])"), "with "),
        (("@",), Expression(r"(?<=\s)@(?=\s)"), "at"),
        (("ya",), Expression(rf"(?<=(?<!\w)(?i:see|love|miss|thank|told|tell|got|call|do|did|are){_GAP})ya(?!\w)"), "you"),
        (("No.",), Expression(r"^No\. ?(?=\d)"), "Number "),
        (("No.", "no."), Expression(r"(?<!\w)[Nn]o\. ?(?=\d)"), "number "),
        # A quotation mark after a number that closes no quotation; of 6'2", both signs are kept.
        (('"',), Expression(r"(?<=^[^\"]*(?<!['’]\d{0,2})\d)\"(?=[^\"\w]*(?:\s[^\"]*)?$)"), " inches"),
        (("ig.",), Expression(rf"(?<!\w)([Ff])ig\.{_GAP}?(?=\d)"), r"\1igure "),
        (("24/7",), Expression(r"(?<![\w/])24/7(?![\w/])"), "24 hours a day, 7 days a week"),
        (("/h",), Expression(r"(?<=\d)/h(?:ou)?r(?![\w/])"), " per hour"),
        (("/mo",), Expression(r"(?<=\d)/mo(?![\w/])"), " per month"),
        ("-–", Expression(rf"(?<=(?<!\w)between{_GAP}[$€£]\d[\d,.]*){_GAP}?[-–]{_GAP}?(?=[$€£]\d)"), " and "),
        ("-–", Expression(rf"(?<=[$€£]\d[\d,.]*){_GAP}?[-–]{_GAP}?(?=[$€£]\d)"), " to "),
        (("/",), Expression(r"(?<=\d)/(?=(?:day|night|week|month|year|person|mile|lb)(?![\w/]))"), " per "),
        (("hr",), Expression(rf"(?<=(?<!\w)\d{{1,3}}){_GAP}?hrs?(?!\w){_INNER_STOP}"), " hours"),
        (("mins",), Expression(rf"(?<=(?<!\w)\d{{1,3}}){_GAP}?mins(?!\w){_INNER_STOP}"), " minutes"),
        (("(",), Expression(r"(?<=\p{L}{2})\((s|es|ren)\)(?!\w)"), r"\1"),
        (("ish",), Expression(r"(?<![\w.,:])(?:(?:about|around) )?(\d{1,4}(?::\d\d)?)-?ish(?!\w)"), r"about \1"),
        (
            "Q",
            Expression(
                rf"(?<=(?<!\w)(?i:by|during|for|from|in|of|since|than|to|until){_GAP})Q(?P<quarter>[1-4])"
                rf"(?:(?P<of>{_GAP}(?:of{_GAP})?)(?=(?:19|20)\d\d(?!\w))|(?=[.,;:!?)]|$))"
            ),
            partial(_quarter, language="en"),
        ),
        *_organizations("en"),
        *_rules("en", rf"\.?(?={_GAP}\d)"),
    ),
    "fr": (
        (("@",), Expression(r"(?<=\s)@(?=\s)"), "à"),
        (("ig.",), Expression(rf"(?<!\w)([Ff])ig\.{_GAP}?(?=\d)"), r"\1igure "),
        (("24",), Expression(rf"(?<![\w/])24{_GAP}?h?{_GAP}?/{_GAP}?24(?:{_GAP}?h)?(?![\w/])"), "24 heures sur 24"),
        (("7",), Expression(rf"(?<![\w/])7{_GAP}?(?:j|jours)?{_GAP}?/{_GAP}?7(?:{_GAP}?j)?(?![\w/])"), "7 jours sur 7"),
        (("7",), Expression(rf"(?<![\w/])([56]){_GAP}?(?:j|jours){_GAP}?/{_GAP}?7(?![\w/])"), r"\1 jours sur 7"),
        # `quantities` reads times of the day. These are durations.
        (
            ("h",),
            Expression(
                rf"(?<=(?<!\w)(?i:pendant|durant|dans|en|depuis|environ|encore|reste){_GAP}\d{{1,3}}){_GAP}?h(?![\w/]|{_GAP}?\d)"
            ),
            " heures",
        ),
        (("h",), Expression(rf"(?<=(?<![\w,.])\d{{1,3}}){_GAP}?h(?={_GAP}(?:de{_GAP}(?!l)|d['’]))"), " heures"),
        # Endings for women: the masculine is for all, as *ami(e)s*, *étudiant·e* and *tous·tes* are read aloud.
        (("(",), Expression(rf"(?<=\p{{L}})\({_FEMININE}\)(?:s|\(s\))(?!\w)"), "s"),
        (("(",), Expression(rf"(?<=\p{{L}})\({_FEMININE}\)(?!\w)"), ""),
        (("(",), Expression(r"(?<=\p{L}{2})\(([sx])\)(?!\w)"), r"\1"),
        ("·•", Expression(rf"(?<!s)(?<=\p{{Ll}})[·•]{_FEMININE}[·•]?s(?!\w)"), "s"),
        ("·•", Expression(rf"(?<=\p{{Ll}})[·•]{_FEMININE}(?!\w)"), ""),
        ((".e",), Expression(r"(?<=(?:^|[\s(«'’])\p{L}{2,30})\.e(?:\.(s))?(?![\w.@/:-])"), r"\1"),
        (
            "T",
            Expression(rf"(?<=(?<!\w)(?i:[ad]u|le|ce|un){_GAP})T(?P<quarter>[1-4])(?={_GAP}(?:19|20)\d\d(?!\w))"),
            partial(_quarter, language="fr"),
        ),
        *_organizations("fr"),
        # Without a full stop, `sept` is a number.
        *_rules("fr", rf"\.(?={_GAP}\d)"),
    ),
}
"""For a language, the rules: strings of which their matches contain one, the pattern, and the words."""
_OF_WORDS = {
    language: Expression(rf"(?i)(?<![\w'’./@#&-])(?:{_any(words)})(?![\w'’/@&-]|\.\w)") for language, words in _WORDS.items()
}


def spelled_out(line: str, language: str) -> str:
    """Return a line of this language with words in place of shorthand."""
    words = _WORDS.get(language, {})
    # The pattern is compiled for lines that may have one of the words, and those are few.
    if any(word in words or word.strip(_MARKS) in words for word in line.lower().split()):
        line = _replaced(line, _OF_WORDS[language], partial(_spelled, words=words))
    for parts, pattern, replacement in _RULES.get(language, ()):
        if any(part in line for part in parts):
            line = _replaced(line, pattern, replacement)
    return line


_ADDRESS = Expression(r"://|www\.|\S@\S|\\|/\w+/|\.[A-Za-z]{2,5}(?:/|[^\w.]*$)")
"""What an address or the name of a file contains."""


def _replaced(line: str, pattern: Expression, replacement: str | Callable[[Any], str]) -> str:
    """Return a line with the matches of a pattern replaced, but for those in addresses and names of files."""

    def replaced(match: Any) -> str:
        before, after = _around(match)
        token = f"{before}|".split()[-1][:-1] + match[0] + f"|{after}".split()[0][1:]
        if _ADDRESS.search(token):
            return str(match[0])
        return match.expand(replacement) if isinstance(replacement, str) else replacement(match)

    return str(pattern.sub(replaced, line))
