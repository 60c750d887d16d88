"""The recognition of numbers, prices, percentages and measures in running text, and their notation in other languages.

A quantity is recognised in the notation of its language (`1,250.5` in English is `1 250,5` in French). Its value does not
depend on the language, and can be written for any language. A single digit counts as a quantity only with a sign, a
currency, a percent sign or a unit, because languages often write it as a word.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple

import regex


class Notation(NamedTuple):
    """The notation of numbers in a language."""

    group: str
    """The separator of thousands."""
    decimal: str
    before: bool = False
    """Whether the currency precedes the number without a space."""
    space: str = "\N{NO-BREAK SPACE}"
    """The space before a percent sign, and between a number and the currency after it."""


_ENGLISH = Notation(",", ".", before=True, space="")
_COMMA = Notation(".", ",")
_SPACES = Notation("\N{NO-BREAK SPACE}", ",")
_NOTATIONS = {
    **dict.fromkeys(("en", "zh", "ja", "ko", "he", "th"), _ENGLISH),
    **dict.fromkeys(("de", "es", "it", "nl", "pt", "da", "el", "tr", "id", "ro", "hr", "sl"), _COMMA),
    **dict.fromkeys(("fr", "ru", "uk", "pl", "cs", "sk", "sv", "fi", "nb", "no", "hu", "bg", "lt", "lv", "et"), _SPACES),
}

_SIGNS = "$€£¥₹₽₩₺₪₫₴₦฿"
_DOLLARS = {"US$": "US", "CA$": "CA", "C$": "CA", "AU$": "AU", "A$": "AU", "NZ$": "NZ", "HK$": "HK", "S$": "SG"}
"""Dollars as English writes them before a number, and what French writes after the sign: `US$5` is `5 $ US`."""
_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|HKD|SGD|BRL|MXN|ZAR|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|RUB|UAH|KRW|ILS|THB|IDR"
    "|MYR|VND|AED|SAR|QAR|EGP|NGN|KES|GHS|XOF|XAF|TND|DZD"
)
"""Codes of currencies (ISO 4217) that are no words; they stay as they are, and stand after the number."""
_UNITS = (
    r"kg|g|mg|µg|km/h|km/s|km²|km|cm|mm|m²|m³|m/s|m|mph|ml|mL|cl|dl|mg/l|l|L|ha|°C|°F|°|kWh|kW|MW|W|V|Hz|kHz|MHz|GHz|kB|KB|MB|GB|TB"
    r"|fl oz|oz|lbs?|ft"
)
_GAP = r"[ \u00a0\u202f\u2009]"
_ABBREVIATED = {"tbsp": "c. à s.", "tsp": "c. à c.", "BC": "av. J.-C.", "AD": "apr. J.-C."}
"""The spoons of recipes and the eras of years as English abbreviates them, and what French writes for them."""
OWN_NOTATION = frozenset(["time", *_ABBREVIATED])
"""Units whose quantities contain fractions and ranges, which are verbatim spans elsewhere."""
_POWERS = {"million": 6, "billion": 9, "trillion": 12}
_ENGLISH_POWERS = {**{name: name for name in _POWERS}, "bn": "billion", "m": "million", "M": "million"}
_FRENCH_POWERS = {"million": "million", "milliard": "billion", "billion": "trillion", "M": "million", "Md": "billion"}
_FRENCH_CURRENCIES = {
    "US$": "dollars américains",
    "CA$": "dollars canadiens",
    "AU$": "dollars australiens",
    "NZ$": "dollars néo-zélandais",
    "$": "dollars",
    "€": "euros",
    "£": "livres sterling",
    "¥": "yens",
}
"""The names of currencies after millions, the longer before their beginnings."""


@dataclass(frozen=True)
class Quantity:
    """A quantity, independently of its notation."""

    number: str
    """Its digits, with `.` before the decimals and nothing between thousands: `-1250.50`; of a time, `9:30` or `17:30`."""
    grouped: bool = False
    """Whether its thousands were separated."""
    currency: str = ""
    unit: str = ""
    """A unit, `%`, `tbsp`, `tsp`, `BC`, `AD`, or `time` for a time of the day or a range of two, `9:00-17:30`; of a price,
    `million`, `billion` (10⁹) or `trillion`, if it has one."""

    def written(self, language: str) -> str:
        """Return the quantity in the notation of this language, or as it was read if that notation is unknown."""
        notation = _NOTATIONS.get(language, _ENGLISH)
        if self.unit == "time":
            return "-".join(map(_french_time, self.number.split("-"))) if language == "fr" else self.number
        if self.unit in _ABBREVIATED:
            name = _ABBREVIATED[self.unit] if language == "fr" else self.unit
            return f"{self.number.replace('.', notation.decimal)} {name}".replace(" ", "\N{NO-BREAK SPACE}")
        if self.currency and self.unit:
            return self._written_with_power(language)
        sign = "-" if self.number.startswith("-") else ""
        whole, _, decimals = self.number.removeprefix("-").partition(".")
        if self.grouped:
            whole = f"{int(whole):,}".replace(",", notation.group)
        text = whole + (notation.decimal + decimals if decimals else "")
        if regex.fullmatch(_CODES, self.currency):
            return f"{sign}{text}\N{NO-BREAK SPACE}{self.currency}"
        if self.currency:
            currency = self.currency
            if language == "fr" and currency in _DOLLARS:
                currency = f"$\N{NO-BREAK SPACE}{_DOLLARS[currency]}"
            return sign + (currency + text if notation.before else text + notation.space + currency)
        if self.unit == "%":
            return sign + text + notation.space + "%"
        if self.unit:
            return sign + text + ("" if self.unit == "°" else "\N{NO-BREAK SPACE}") + self.unit
        return sign + text

    def _written_with_power(self, language: str) -> str:
        """Return a price of millions in the words of English or French; with all its zeros in another language."""
        if language == "en":
            return f"{replace(self, unit='').written(language)} {self.unit}"
        if language != "fr":
            return replace(
                self, number=format(Decimal(self.number).scaleb(_POWERS[self.unit]), "f"), grouped=True, unit=""
            ).written(language)
        number = replace(self, currency="", unit="").written(language)
        power = next(name for name, power in _FRENCH_POWERS.items() if power == self.unit)
        currency = _FRENCH_CURRENCIES[self.currency]
        plural = "s" if abs(Decimal(self.number)) >= 2 else ""
        of = "d'" if currency.startswith("e") else "de\N{NO-BREAK SPACE}"
        return f"{number}\N{NO-BREAK SPACE}{power}{plural}\N{NO-BREAK SPACE}{of}{currency}"


def _french_time(time: str) -> str:
    hours, _, minutes = time.partition(":")
    return f"{hours}\N{NO-BREAK SPACE}h" + (f"\N{NO-BREAK SPACE}{minutes}" if minutes != "00" else "")


class QuantitySpan(NamedTuple):
    """A quantity in a line."""

    start: int
    stop: int
    quantity: Quantity


def find_quantities(line: str, language: str) -> list[QuantitySpan]:
    """Return the quantities of a line of this language, in order; a part of a longer word or code is not a quantity."""
    quantities: list[QuantitySpan] = []
    if not any(map(str.isnumeric, line)):  # as of most lines, for which the long pattern need not be compiled
        return quantities
    notation = _NOTATIONS.get(language, _ENGLISH)
    for match in _pattern(notation, language if language in ("en", "fr") else "").finditer(line):
        quantity = _quantity(match, notation)
        if quantity is not None:
            quantities.append(QuantitySpan(match.start(), match.end(), quantity))
    if notation is _ENGLISH and _FRENCH_PRICE.search(line):
        prices = [one for one in find_quantities(line, "fr") if _FRENCH_PRICE.fullmatch(line, one.start, one.stop)]
        others = [
            one for one in quantities if not any(price.start < one.stop and one.start < price.stop for price in prices)
        ]
        return sorted([*others, *prices])
    return quantities


_FRENCH_PRICE = regex.compile(r"\d+,\d{1,2}[ \u00a0\u202f]?[€$£]")
"""A price as French writes it, which is in English text as well."""


@functools.cache
def _pattern(notation: Notation, words_of: str) -> regex.Pattern[str]:
    # In languages that separate thousands by spaces, many people write a full stop instead, and some use it as decimal sign.
    spaces = notation.group == "\N{NO-BREAK SPACE}"
    group = f"(?:{_GAP}|{regex.escape('.' if spaces else notation.group)})"
    decimal = "[,.]" if spaces else regex.escape(notation.decimal)
    number = rf"(?<number>\d{{1,3}}(?:{group}\d{{3}})+(?!\d)(?:{decimal}\d+)?|\d+{decimal}\d+|\d+)"
    signs = rf"{'|'.join(map(regex.escape, _DOLLARS))}|R\$|[{_SIGNS}]"
    currency = rf"(?:{signs}|(?:{_CODES})(?=[\d \u00a0\u202f\u2009]))"
    of_country = rf"\$(?:{_GAP}?(?:{'|'.join(dict.fromkeys(_DOLLARS.values()))})(?!\w))?"
    currency_after = rf"(?:{of_country}|{signs}|(?:{_CODES})(?!\w))"
    hour, minutes = r"(?<hours>[01]?\d|2[0-3])", r"(?<minutes>[0-5]\d)"
    # If `5 p.m.` ends a sentence, its last full stop belongs to the sentence and not to the time.
    of_time = rf"(?<=^(?:[\d:AaPpMm.]|{_GAP})+)"
    half = rf"{_GAP}?(?<half>[AaPp])(?:[Mm](?!\w)|\.[Mm](?!\w)(?:\.(?:(?![^\w?!,;:…]*$)|{of_time}))?)"
    time = (
        rf"{hour}(?:(?::|{_GAP}?h{_GAP}?){minutes}|{_FULL_HOUR})" if spaces else rf"{hour}(?::{minutes}(?:{half})?|{half})"
    )
    powers = {"en": _english_power(), "fr": _french_power()}.get(words_of, "(?!)")
    own = {
        "en": _ENGLISH_RANGE + _ENGLISH_SPOONS + _ENGLISH_ERAS,
        "fr": _FRENCH_RANGE + _FRENCH_SPOONS + _FRENCH_ERAS,
    }.get(words_of, "")
    return regex.compile(
        rf"(?<![\w.,:/+{_SIGNS}-])(?:{own}{time}|(?<sign>[-−－](?=\S))?(?<before>{currency}{_GAP}?)?{number}"
        rf"(?:{powers}|{_GAP}?(?<after>{currency_after})|{_GAP}?(?(before)(?!)|(?<unit>%|(?:{_UNITS})(?![\w²³'’]|/(?!\p{{L}}{{2}})))))?)"
        rf"(?![\w:]|/(?!\p{{L}})|[.,-]\d|{_GAP}?%)"
    )


_FULL_HOUR = (
    rf"(?<=(?:^|[^\p{{L}}])(?i:à|a|est|vers|dès|avant|après|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|demain|soir){_GAP}\d\d?)"
    rf"{_GAP}?h(?!\w)(?!{_GAP}(?:par\b|de\b(?!{_GAP}l)|d['’]))"
    rf"|(?<=(?:^|[^\p{{L}}])de{_GAP}\d\d?){_GAP}?h(?={_GAP}à{_GAP}\d\d?{_GAP}?h(?!\w))"
    rf"|(?<=^\d\d?){_GAP}h$"
)
"""The sign of a full hour in French, where the words before it show that it is a time of the day and not a duration."""

_AMOUNT = rf"(?<amount>(?:\d+{_GAP}?)?[¼½¾⅓⅔⅛]|(?:\d+{_GAP})?\d+/\d+|\d+[-–]\d+|\d+(?:[.,]\d+)?){_GAP}?"
_UNLESS_LAST = r"\.(?:(?![^\w?!,;:…]*$)|"
"""The full stop of an abbreviation; the last one of a sentence belongs to the sentence, but not if there is nothing else."""
_STOP_OF_TIME = rf"(?:{_UNLESS_LAST}(?<=^(?:[\d:AaPpMm.–—-]|{_GAP})+)))?"
_STOP_OF_SPOONS = rf"(?:{_UNLESS_LAST}(?<=^(?:[\p{{N}}/.,–-]|{_GAP})+(?:\p{{L}}+\.?{_GAP}?){{1,3}})))?"
_ENGLISH_SPOONS = rf"{_AMOUNT}(?:(?<tbsp>[Tt]bsps?|tbs)|(?<tsp>[Tt]sps?))(?!\w){_STOP_OF_SPOONS}|"
_FRENCH_SPOONS = (
    rf"{_AMOUNT}(?:c(?:uil)?\.?{_GAP}?à\.?{_GAP}?|[Cc]à)(?:(?<tbsp>soupe|[sS])|(?<tsp>café|thé|[cC]))(?!\w)"
    rf"{_STOP_OF_SPOONS}|"
)
_STOP_OF_ERA = rf"(?:{_UNLESS_LAST}(?<=^\d{{1,4}}{_GAP}(?:[avprJBCE.-]|{_GAP}){{3,12}})))?"
_ENGLISH_ERAS = (
    rf"(?<year>\d{{1,4}}){_GAP}(?:(?<before_era>BCE?|B\.C(?:\.E)?{_STOP_OF_ERA})|(?:AD|A\.D\.))(?!\w)"
    rf"|(?<!\w)(?:AD|A\.D\.){_GAP}(?<year>\d{{1,4}})|"
)
_CHRIST = rf"{_GAP}?J(?:\.[-\N{{NON-BREAKING HYPHEN}}]?{_GAP}?C{_STOP_OF_ERA}|ésus[- ]Christ)"
_FRENCH_ERAS = rf"(?<year>\d{{1,4}}){_GAP}(?:(?<before_era>av(?:\.|ant){_CHRIST})|apr(?:\.|ès){_CHRIST})(?!\w)|"
_FRENCH_RANGE = (
    rf"(?<from>[01]?\d|2[0-3]){_GAP}?h(?:{_GAP}?(?<from_minutes>[0-5]\d))?{_GAP}?[-–—]{_GAP}?"
    rf"(?<to>[01]?\d|2[0-3]){_GAP}?h(?:{_GAP}?(?<to_minutes>[0-5]\d))?(?!\w)|"
)
_ENGLISH_RANGE = (
    rf"(?<from>0?[1-9]|1[0-2])(?::(?<from_minutes>[0-5]\d))?(?:{_GAP}?(?<from_half>[AaPp])\.?[Mm]\.?)?{_GAP}?[-–—]{_GAP}?"
    rf"(?<to>0?[1-9]|1[0-2])(?::(?<to_minutes>[0-5]\d))?{_GAP}?(?<to_half>[AaPp])\.?[Mm](?!\w){_STOP_OF_TIME}|"
)


def _english_power() -> str:
    """Return the pattern of `million` in `$3.5 million`: without a currency before the number, it is a word."""
    return rf"(?(before){_GAP}?(?<power>{'|'.join(_ENGLISH_POWERS)})(?![\w'’-])|(?!))"


def _french_power() -> str:
    """Return the pattern of `millions de dollars` in `3,5 millions de dollars`, or of `M€`."""
    names = "|".join(f"{name}s?" if len(name) > 2 else name for name in _FRENCH_POWERS)
    names_of_money = (*_FRENCH_CURRENCIES.values(), "livres")
    currencies = "|".join(name.replace("s ", f"s?{_GAP}") + ("?" if name.endswith("s") else "") for name in names_of_money)
    of = rf"(?:{_GAP}d['’]|{_GAP}de{_GAP}|{_GAP}?)"
    return rf"{_GAP}?(?<power>{names}){of}(?<money>[$€£¥](?!\w)|(?:{currencies})(?!\w))"


def _currency(written: str) -> str:
    """Return the sign of a currency, as English writes it before a number, for its sign, its code or its French name."""
    text: str = regex.sub(_GAP, " ", written)
    sign, _, country = text.strip().partition(" ")
    if sign in _DOLLARS or (sign.startswith("$") and len(sign + country) > 1):
        country = _DOLLARS.get(sign) or (sign + country)[1:]
        return next(name for name, of in _DOLLARS.items() if of == country)
    if regex.fullmatch(_CODES, sign) or len(sign) < 3:
        return sign
    if sign.startswith("livre"):  # also without `sterling`
        return "£"
    singular = " ".join(word.removesuffix("s") for word in [sign, *country.split()])
    return next(sign for sign, name in _FRENCH_CURRENCIES.items() if regex.sub(r"s\b", "", name) == singular)


def _quantity(match: regex.Match[str], notation: Notation) -> Quantity | None:
    named = match.groupdict()
    if named.get("amount"):
        amount = regex.sub(_GAP, " ", match["amount"].replace(",", ".").replace("–", "-"))
        return Quantity(amount, unit="tbsp" if match["tbsp"] else "tsp")
    if named.get("year"):
        return Quantity(match["year"], unit="BC" if named.get("before_era") else "AD")
    if named.get("from"):
        return Quantity(f"{_time_of(named, 'from')}-{_time_of(named, 'to')}", unit="time")
    if match["hours"]:
        hours, half = int(match["hours"]), named.get("half")
        if half and 1 <= hours <= 12:
            hours = hours % 12 + (12 if half in "Pp" else 0)
        return Quantity(f"{hours}:{match['minutes'] or '00'}", unit="time")
    parts = regex.split(r"\D", match["number"])
    is_decimal = len(parts) > 1 and (len(parts[-1]) != 3 or match["number"][-4] == notation.decimal)
    decimals = parts.pop() if is_decimal else ""
    digits = "".join(parts)
    currency = _currency(match["before"] or match["after"] or "")
    unit = match["unit"] or ""
    if power := named.get("power"):
        money = named.get("money")
        unit = _FRENCH_POWERS[power.rstrip("s")] if money else _ENGLISH_POWERS[power]
        currency = _currency(money) if money else currency
        if currency not in _FRENCH_CURRENCIES:
            return None
    if match["before"] and (match["after"] or (power and money)):
        return None
    if len(digits) == 1 and not (match["sign"] or decimals or currency or unit):
        return None
    grouped = len(parts) > 1
    if len(digits) > 1 and digits.startswith("0") and (grouped or decimals):
        return None
    sign = "-" if match["sign"] else ""
    return Quantity(sign + digits + ("." + decimals if decimals else ""), grouped, currency, unit)


def _time_of(named: Mapping[str, str | None], end: Literal["from", "to"]) -> str:
    """Return a time of a range, such as `9:00`; that of `9-5pm` is in the morning, and that of `2-5pm` is not."""
    hours, half = int(named[end] or 0), named.get(f"{end}_half")
    if half is None and (last := named.get("to_half")):
        same = hours % 12 < int(named["to"] or 0) % 12
        half = last if same else {"a": "p", "p": "a"}[last.lower()]
    if half:
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return f"{hours}:{named[f'{end}_minutes'] or '00'}"
