"""Values that English and French write differently, such as prices, times and dates, and others that both keep."""

from __future__ import annotations

import random
from collections.abc import Callable

_UNITS_EN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_UNITS_FR = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf"
)
_TENS_EN = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS_FR = "vingt trente quarante cinquante soixante"
_MONTHS_EN = "January February March April May June July August September October November December"
_MONTHS_FR = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
_NBSP = "\N{NO-BREAK SPACE}"


def in_english(number: int) -> str:
    """A number below a hundred in English words."""
    if number < 20:
        return _UNITS_EN.split()[number]
    ten, unit = divmod(number, 10)
    return _TENS_EN.split()[ten - 2] + (f"-{_UNITS_EN.split()[unit]}" if unit else "")


def in_french(number: int) -> str:
    """A number below a hundred in French words."""
    if number < 20:
        return _UNITS_FR.split()[number]
    if number < 70:
        ten, unit = divmod(number, 10)
        word = _TENS_FR.split()[ten - 2]
        return word + (" et un" if unit == 1 else f"-{_UNITS_FR.split()[unit]}" if unit else "")
    if number < 80:
        return "soixante et onze" if number == 71 else f"soixante-{in_french(number - 60)}"
    return "quatre-vingts" if number == 80 else f"quatre-vingt-{in_french(number - 80)}"


def grouped(number: int, separator: str) -> str:
    """A number in digits, with a separator between thousands."""
    return f"{number:,}".replace(",", separator)


def _count(source: random.Random) -> tuple[str, str]:
    number = source.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 24, 25, 30, 40, 45, 50, 60, source.randrange(11, 100)))
    return (in_english(number), in_french(number)) if source.random() < 0.6 else (str(number), str(number))


def _age(source: random.Random) -> tuple[str, str]:
    number = source.randrange(2, 100)
    return (in_english(number), in_french(number)) if source.random() < 0.5 else (str(number), str(number))


def _big(source: random.Random) -> tuple[str, str]:
    number = source.choice((source.randrange(100, 1000), source.randrange(1000, 100_000), 1000 * source.randrange(2, 9000)))
    return grouped(number, ","), grouped(number, _NBSP)


def _price(source: random.Random) -> tuple[str, str]:
    euros, cents = (
        source.choice((source.randrange(1, 100), source.randrange(100, 20_000))),
        source.choice((0, 0, 50, 99, 25, 90)),
    )
    sign = source.choice("$€€£")
    decimals = f"{cents:02}" if cents else ""
    english = f"{sign}{grouped(euros, ',')}" + (f".{decimals}" if cents else "")
    french = grouped(euros, _NBSP) + (f",{decimals}" if cents else "") + _NBSP + sign
    if sign == "€" and not cents and source.random() < 0.4:
        return f"{grouped(euros, ',')} euros", f"{grouped(euros, _NBSP)} euros"
    return english, french


def _percent(source: random.Random) -> tuple[str, str]:
    whole, tenth = source.randrange(2, 100), source.choice((0, 0, 0, 5, 3))
    return (f"{whole}.{tenth}%", f"{whole},{tenth}{_NBSP}%") if tenth else (f"{whole}%", f"{whole}{_NBSP}%")


def _measure(*units: str, values: tuple[int, ...]) -> Callable[[random.Random], tuple[str, str]]:
    def measure(source: random.Random) -> tuple[str, str]:
        unit, number = source.choice(units), source.choice(values)
        if source.random() < 0.2:
            tenth = source.randrange(1, 10)
            return f"{number}.{tenth} {unit}", f"{number},{tenth}{_NBSP}{unit}"
        return f"{grouped(number, ',')}{source.choice((' ', ' ', ''))}{unit}", f"{grouped(number, _NBSP)}{_NBSP}{unit}"

    return measure


def _either(*kinds: Callable[[random.Random], tuple[str, str]]) -> Callable[[random.Random], tuple[str, str]]:
    return lambda source: source.choice(kinds)(source)


def _degrees(source: random.Random) -> tuple[str, str]:
    number = source.choice((150, 160, 170, 180, 190, 200, 210, 220, 240))
    return f"{number}{source.choice(('°C', ' °C', ' degrees'))}", f"{number}{_NBSP}°C"


def _temperature(source: random.Random) -> tuple[str, str]:
    number = source.randrange(-12, 42)
    return f"{number}°C", f"{number}{_NBSP}°C"


def _time(source: random.Random) -> tuple[str, str]:
    hour, minute = source.randrange(6, 24), source.choice((0, 0, 0, 15, 30, 30, 45, 5, 10, 20, 40, 50))
    french = f"{hour}{_NBSP}h" + (f"{_NBSP}{minute:02}" if minute else "")
    twelve = (hour - 1) % 12 + 1
    half = source.choice(("am", "a.m.", "AM")) if hour < 12 else source.choice(("pm", "p.m.", "PM"))
    if source.random() < 0.5:
        return f"{hour}:{minute:02}", french
    return (f"{twelve}:{minute:02} {half}" if minute else f"{twelve} {half}"), french


def _date(source: random.Random) -> tuple[str, str]:
    month, day = source.randrange(12), source.randrange(1, 29)
    english, french = _MONTHS_EN.split()[month], _MONTHS_FR.split()[month]
    ordinal = "st" if day in (1, 21) else "nd" if day in (2, 22) else "rd" if day in (3, 23) else "th"
    written = source.choice(
        (f"{english} {day}", f"{day} {english}", f"{english} {day}{ordinal}", f"{day}{ordinal} {english}")
    )
    return written, f"{'1er' if day == 1 else day} {french}"


def _year(source: random.Random) -> tuple[str, str]:
    year = str(source.choice((source.randrange(1400, 1900), source.randrange(1900, 2031))))
    return year, year


_SYLLABLES = "ba be bi bo ca co da de do fa fe ga ka ki la le li lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te ti"


def _word(source: random.Random) -> str:
    return "".join(source.choices(_SYLLABLES.split(), k=source.choice((2, 2, 3))))


def _same(make: Callable[[random.Random], str]) -> Callable[[random.Random], tuple[str, str]]:
    def value(source: random.Random) -> tuple[str, str]:
        made = make(source)
        return made, made

    return value


def _email(source: random.Random) -> str:
    more = source.choice(("", f".{_word(source)}", str(source.randrange(100))))
    return f"{_word(source)}{more}@{_word(source)}.{_domain(source)}"


def _url(source: random.Random) -> str:
    path = source.choice(("", f"/{_word(source)}", f"/{_word(source)}/{_word(source)}.html", f"/?q={_word(source)}"))
    return f"{source.choice(('https://', 'https://www.', 'www.', ''))}{_word(source)}.{_domain(source)}{path}"


def _domain(source: random.Random) -> str:
    return source.choice(("com", "org", "net", "fr", "de", "io", "co.uk", "eu"))


def _file(source: random.Random) -> str:
    name = f"{_word(source)}{source.choice(('', '_' + _word(source), '-2', '_v3'))}"
    ending = source.choice(("pdf", "docx", "txt", "py", "csv", "json", "png", "xlsx", "zip", "md"))
    return source.choice(("", "", f"/home/{_word(source)}/", f"C:\\{_word(source)}\\")) + f"{name}.{ending}"


def _placeholder(source: random.Random) -> str:
    name = source.choice(("name", "user", "count", "total", "file", "date", "item", "0", "1", _word(source)))
    return source.choice((f"{{{name}}}", f"{{{{{name}}}}}", f"%({name})s", f"${{{name}}}", "%s", "%d", f"<{name}/>"))


def _code(source: random.Random) -> str:
    number = source.randrange(10, 100_000)
    return source.choice((f"#{number}", f"A-{number}", f"INV-{number}", f"{chr(65 + number % 26)}{number}", f"ERR_{number}"))


def _telephone(source: random.Random) -> str:
    pairs = [f"{source.randrange(100):02}" for _ in range(4)]
    french = f"{source.randrange(1, 8)} {' '.join(pairs)}"
    return source.choice(
        (f"0{french}", f"+33 {french}", f"555-{''.join(pairs[:2])}", f"+1 {pairs[0]}5-555-{''.join(pairs[1:3])}")
    )


def _version(source: random.Random) -> str:
    return ".".join(str(source.randrange(20)) for _ in range(source.choice((2, 3))))


_STREETS = (
    "rue de la République|rue Victor-Hugo|avenue Jean-Jaurès|place de la Mairie|rue des Lilas|boulevard Voltaire|"
    "rue du Moulin|chemin des Vignes|avenue de la Gare|impasse des Roses|rue Pasteur|quai de la Loire|rue de l'Église|"
    "High Street|Baker Street|Park Avenue|Mill Lane|Station Road|King Street"
)
_TOWNS = "Paris|Lyon|Lille|Nantes|Toulouse|Bordeaux|Rennes|Dijon|Tours|Grenoble|Leeds|Boston"


def _street(source: random.Random) -> tuple[str, str]:
    number, street = f"{source.randrange(1, 200)}{source.choice(('', '', '', ' bis'))}", source.choice(_STREETS.split("|"))
    town = f", {source.randrange(10, 96)}{source.randrange(10)}00 {source.choice(_TOWNS.split('|'))}" * source.randrange(2)
    return f"{number} {street}{town}", f"{number}{source.choice((',', ''))} {street}{town}"


def _bytes(source: random.Random) -> tuple[str, str]:
    number, unit = source.choice((1, 2, 4, 5, 8, 10, 16, 25, 32, 50, 64, 100, 128, 256, 500, 512)), source.choice("KMGT")
    return f"{number} {unit}B", f"{number}{_NBSP}{unit.lower() if unit == 'K' else unit}o"


def _gate(source: random.Random) -> str:
    return source.choice((str(source.randrange(1, 60)), f"{source.choice('ABCDEF')}{source.randrange(1, 40)}"))


VALUES: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "age": _age,
    "big": _big,
    "bytes": _bytes,
    "code": _same(_code),
    "count": _count,
    "date": _date,
    "degrees": _degrees,
    "distance": _measure("km", values=(2, 3, 5, 8, 12, 25, 60, 140, 350, 1200)),
    "email": _same(_email),
    "file": _same(_file),
    "gate": _same(_gate),
    "length": _measure("cm", "m", "mm", values=(2, 3, 5, 10, 12, 25, 40, 75, 120)),
    "mass": _either(
        _measure("g", values=(10, 20, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 750, 800)),
        _measure("kg", values=(2, 3, 4, 5, 6, 8, 10)),
    ),
    "percent": _percent,
    "placeholder": _same(_placeholder),
    "price": _price,
    "speed": _measure("km/h", values=(30, 50, 70, 80, 90, 110, 130)),
    "street": _street,
    "telephone": _same(_telephone),
    "temp": _temperature,
    "time": _time,
    "url": _same(_url),
    "version": _same(_version),
    "volume": _either(
        _measure("ml", values=(20, 30, 50, 75, 100, 125, 150, 200, 250, 300, 400, 500, 750)),
        _measure("cl", values=(5, 10, 15, 20, 25, 30, 40, 50, 75)),
        _measure("l", values=(2, 3, 4, 5)),
    ),
    "weight": _measure("g", "kg", "ml", "l", values=(2, 3, 5, 10, 50, 100, 150, 200, 250, 300, 500, 750)),
    "year": _year,
}
"""How to draw a value of each kind, in English and in French."""
