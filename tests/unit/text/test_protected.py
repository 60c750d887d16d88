"""Spans that a translation keeps."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnnsearch.text import Tokenizer
from rnnsearch.text.protected import as_symbols, cut_around, find_protected, pair_as_symbols, unknown_abbreviations
from rnnsearch.text.quantities import find_quantities

VERBATIM = [
    "anna@example.com",
    "first.last+tag@mail.example.co.uk",
    "https://example.com/a?b=1&c=2",
    "www.example.org",
    "example.com/x",
    "C:\\Users\\me\\notes",
    "/usr/local/bin",
    "~/letters",
    "./run",
    "report_final.pdf",
    "archive.tar.gz",
    "{count, plural, one {# message} other {# messages}}",
    "{sex, select, male {he} female {she} other {they}}",
    "{0, plural, =0 {no {thing}} other {# {thing}s}}",
    "&amp;",
    "&#8364;",
    "&#x20AC;",
    "©",
    "®",
    "{name}",
    "{{x}}",
    "${x}",
    "%{count}",
    "%(name)s",
    "%s",
    "%d",
    "%1$s",
    "<x/>",
    "<b>",
    "</b>",
    "#4521",
    "A-17b",
    "AX-204",
    "COVID-19",
    "R2D2",
    "v2.3.1",
    "192.168.0.1",
    "#travel",
    "@anna",
    "+33 1 23 45 67 89",
    "01 23 45 67 89",
    "07700 900123",
    "020 7946 0958",
    "555-123-4567",
    "(555) 123-4567",
    "2024-03-15",
    "1939-45",
    "1/2",
    "3:1",
    "foo()",
    "5'10\"",
    "6’2",
    "a² + b² = c²",
    "y = 2x + 3",
    "Tr0ub4dor&3",
    "+12 °C",
    "23–54 °F",
    "c/o",
    "$50k",
    "90+",
    "~50",
    "±5",
    "my_name",
    "YouTube",
    "Windows™",
    "f***",
    ".env",
    "A > B",
    "a -> b",
    "E = mc²",
    "221B Baker Street",
    "iPhone",
    "--verbose",
    "`ls -l`",
    "C++",
    "😊",
    "👨‍👩‍👧",
    "👍🏽",
    "🇫🇷",
    "❤️",
    "<%= name %>",
    "@{user}",
    "00:1A:2B:3C:4D:5E",
    "FR76 3000 6000 0112 3456 7890 189",
    "R&D",
    "Ctrl+C",
    "E=mc²",
    "10-15%",
    '10" x 12"',
    "Qwerty!2024",
    "P@ssw0rd",
    "Summer#24",
    "x7!Kp?2q",
    "CO₂",
    "2E",
    "3 h 25 min",
    "Aix-en-Provence",
    "Saint-Germain-en-Laye",
    "Notre-Dame",
    "Jean-Pierre",
    ":-)",
]
WORDS = st.lists(st.sampled_from(["the", "house", "Anna", "before", "by", "new"]), min_size=1, max_size=3)


@pytest.mark.parametrize("text", VERBATIM)
@pytest.mark.parametrize("language", ["en", "fr", "xx"])
def test_what_is_kept(text: str, language: str) -> None:
    """Alone, within a sentence, in brackets, and before a full stop, it is one span and nothing else is."""
    for line in (text, f"see {text} now", f"see ({text}) now", f"see {text}, and more", f"see {text}."):
        found = find_protected(line, language)
        assert [span.text for span in found] == [text], line
        assert all(line[span.start : span.stop] == span.text for span in found)


def test_grades_and_letters_after_numbers() -> None:
    """Some spans show only by the word before them."""
    assert [span.text for span in find_protected("She got an A+ on p. 3a, question 2b.", "en")] == ["A+", "3a", "2b"]


def test_prices_in_french_notation() -> None:
    found = find_protected("I paid 3,50 € and 1,200 € for 2,000 of them.", "en")
    assert [(span.text, span.written("en")) for span in found[:2]] == [("3,50 €", "€3.50"), ("1,200 €", "€1,200")]


def test_years_without_their_century() -> None:
    """An apostrophe before a year belongs to it; one before a quotation does not."""
    assert [span.text for span in find_protected("Born in '92, since ’99.", "en")] == ["'92", "’99"]
    assert "'20" not in [span.text for span in find_protected("He said '20 years'.", "en")]


@pytest.mark.parametrize(
    "line",
    [
        "He said and/or, he/she; it's a 19th-century house, the 21st, 10ms, the 1990s... i.e. U.S. e.g. that.",
        "C'est-à-dire, peut-être : la 21e, le 1er, en 10h, au XXe siècle, l'homme d'aujourd'hui; M. Dupont, n'est-ce pas ?",
        "It was 2 o'clock!Then 3.\tWow!2 points, 3?No!",
        "Le Moyen-Orient, la Corée-du-Sud, Mother-in-Law, Editor-in-Chief, Franco-German, the mid-Atlantic.",
        "Stop! (Really?) “Yes” - “no” – «non»; Mr. McDonald's & O'Neil: 3 apples.",
    ],
)
def test_ordinary_text_is_not_protected(line: str) -> None:
    """Words with hyphens, apostrophes, ordinals, and marks are left to the model."""
    assert find_protected(line, "en") == find_protected(line, "fr") == []


@pytest.mark.parametrize(
    ("line", "spans"),
    [
        ("the total = 3 and → or ≥ that", ["=", "→", "≥"]),
        ("If x > 5 then y < 3.", ["x > 5", "y < 3"]),
        ("Copyright of the Blue Example Inc. in Rome", ["Blue Example Inc"]),
        ("12, rue de la Paix, Paris", ["12, rue de la Paix"]),
        ("3 bis avenue Victor-Hugo à Lyon", ["3 bis avenue Victor-Hugo"]),
        ("au 4 rue d'Alésia.", ["4 rue d'Alésia"]),
        ("Flat 3, 12 Church Road, Bristol", ["Flat 3, 12 Church Road"]),
        ("I have 3 main questions about the Street.", []),
    ],
)
def test_formulas_firms_and_streets(line: str, spans: list[str]) -> None:
    assert [span.text for span in find_protected(line, "fr")] == spans


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("La réunion est à 15 h.", ["15:00"]),
        ("de 9 h à 19 h", ["9:00", "19:00"]),
        ("Il a dormi 8h.", []),
        ("de 9h à 19h", ["9:00", "19:00"]),
        ("Départ à 9h.", ["9:00"]),
        ("après 8h de marche", []),
        ("lundi 14 h ?", ["14:00"]),
        ("Il a dormi 8 h.", []),
        ("à 15 h par jour", []),
        ("24 h sur 24", []),
    ],
)
def test_full_hours_in_french(line: str, times: list[str]) -> None:
    assert [found.quantity.number for found in find_quantities(line, "fr") if found.quantity.unit == "time"] == times


@given(st.lists(st.tuples(WORDS, st.sampled_from(VERBATIM)), min_size=1, max_size=6))
def test_every_span_is_found(parts: list[tuple[list[str], str]]) -> None:
    """Each is within one span, in order, and the spans do not overlap."""
    line = " ".join(" ".join([*words, span]) for words, span in parts)
    found = find_protected(line, "en")
    assert [span.text for span in found] == [span for _, span in parts]


@given(st.text(), st.sampled_from(["en", "fr", "de", "xx"]))
def test_any_text(line: str, language: str) -> None:
    """Spans are those of the line, in order, and none is empty."""
    end = 0
    for span in find_protected(line, language):
        assert end <= span.start < span.stop
        assert line[span.start : span.stop] == span.text
        end = span.stop


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("$25.99", "25,99 $"),
        ("€1,250", "1 250 €"),
        ("1,250.5", "1 250,5"),
        ("1969", "1969"),
        ("20,000", "20 000"),
        ("50%", "50 %"),
        ("0.5%", "0,5 %"),
        ("200 g", "200 g"),
        ("2.5 l", "2,5 l"),
        ("30 km/h", "30 km/h"),
        ("300,000 km/s", "300 000 km/s"),
        ("25 °C", "25 °C"),
        ("9:30", "9 h 30"),
        ("£5", "5 £"),
        ("007", "007"),
        ("45", "45"),
        ("3,000,000", "3 000 000"),
        ("-5", "-5"),
        ("-20 °C", "-20 °C"),
        ("-1,250.5", "-1 250,5"),
        ("-$5.50", "-5,50 $"),
        ("-0.5%", "-0,5 %"),
        ("$3.5 million", "3,5 millions de dollars"),
        ("€1.5 million", "1,5 million d'euros"),
        ("-£2 billion", "-2 milliards de livres sterling"),
        ("US$25.99", "25,99 $ US"),
        ("CA$1,200", "1 200 $ CA"),
        ("US$5 million", "5 millions de dollars américains"),
        ("₹500", "500 ₹"),
        ("R$50", "50 R$"),
    ],
)
def test_quantities(english: str, french: str) -> None:
    """A quantity is found as each language writes it, and written as the other one writes it."""
    for text, language, other, translated in ((english, "en", "fr", french), (french, "fr", "en", english)):
        line = f"It is {text} ."
        (found,) = find_quantities(line, language)
        assert line[found.start : found.stop] == text
        assert found.quantity.written(other).replace("\N{NO-BREAK SPACE}", " ") == translated.replace("°C", "°C")


@pytest.mark.parametrize(
    ("line", "language", "text", "french", "german"),
    [
        ("It made $3.5m.", "en", "$3.5m", "3,5 millions de dollars", "3.500.000 $"),
        ("It made €2bn.", "en", "€2bn", "2 milliards d'euros", "2.000.000.000 €"),
        ("Soit 3 M€.", "fr", "3 M€", "3 millions d'euros", "3.000.000 €"),
        ("Soit 10 millions €.", "fr", "10 millions €", "10 millions d'euros", "10.000.000 €"),
        ("A $5 millionaire.", "en", "$5", "5 $", "5 $"),
        ("Das sind 12 Millionen.", "de", "12", "12", "12"),
        ("US$ 5 million were spent.", "en", "US$ 5 million", "5 millions de dollars américains", "5.000.000 US$"),
        ("Soit 2 millions de dollars.", "fr", "2 millions de dollars", "2 millions de dollars", "2.000.000 $"),
        ("It costs CHF 4,500.", "en", "CHF 4,500", "4 500 CHF", "4.500 CHF"),
        ("Soit 25 $US.", "fr", "25 $US", "25 $ US", "25 US$"),
        ("They paid 25 € US citizens had sent.", "en", "25 €", "25 €", "25 €"),
    ],
)
def test_millions(line: str, language: str, text: str, french: str, german: str) -> None:
    """A price has its millions with it, since another language has them before the currency, or as zeros."""
    (found,) = find_quantities(line, language)
    written = [found.quantity.written(other).replace("\N{NO-BREAK SPACE}", " ") for other in ("fr", "de")]
    assert (line[found.start : found.stop], *written) == (text, french, german)


CURRENCIES = ["$", "€", "US$", "$ US", "CHF", "kr", "dollars", "d'euros", "M", "bn", "million", "millions de"]
NUMBERS = ["0", "3", "12", "000", ".", ",", ":", "-", "/", " ", "\N{NO-BREAK SPACE}"]
UNITS = ["k", "h", "a.m.", "%", "km", "x"]


@example("US$ 5 million", "en")
@example("$0%", "en")
@example("$5 km", "en")
@given(
    st.lists(st.sampled_from([*CURRENCIES, *NUMBERS, *UNITS]), max_size=9).map("".join), st.sampled_from(["en", "fr", "de"])
)
def test_any_line_has_quantities_or_none(line: str, language: str) -> None:
    """`US$ 5 million` has a currency that is part of a longer word, and once ended in an exception."""
    for found in find_quantities(line, language):
        assert 0 <= found.start < found.stop <= len(line)
        assert found.quantity.written("fr")
        assert found.quantity.written("de")


@pytest.mark.parametrize(
    ("line", "time", "french"),
    [
        ("It is 5:30 p.m. now", "5:30 p.m.", "17 h 30"),
        ("Come at 5 p.m. or later.", "5 p.m.", "17 h"),
        ("Come at 5 p.m.", "5 p.m", "17 h"),
        ("“Come at 5 P.M.”", "5 P.M", "17 h"),
        ("Is it 5 p.m.?", "5 p.m.", "17 h"),
        ("5 p.m.", "5 p.m.", "17 h"),
        ("It was 10am.", "10am", "10 h"),
        ("It was 12 am.", "12 am", "0 h"),
        ("It was 12:15 PM.", "12:15 PM", "12 h 15"),
        ("It was 17:30 pm.", "17:30 pm", "17 h 30"),
    ],
)
def test_halves_of_the_day(line: str, time: str, french: str) -> None:
    """A time in the afternoon stays one; the full stop of the sentence is no part of it."""
    (span,) = find_protected(line, "en")
    assert (span.text, span.written("fr").replace("\N{NO-BREAK SPACE}", " ")) == (time, french)
    assert span.text.replace(" ", "\N{NO-BREAK SPACE}") in words_of(line, "en")


@pytest.mark.parametrize(
    ("line", "language", "text", "translated"),
    [
        ("du lundi au vendredi : 9h-17h", "fr", "9h-17h", "9:00-17:00"),
        ("Ouvert 9 h 30 – 17h.", "fr", "9 h 30 – 17h", "9:30-17:00"),
        ("Open 9am-5pm.", "en", "9am-5pm", "9 h-17 h"),
        ("Open 9:30 a.m. – 5 p.m. today", "en", "9:30 a.m. – 5 p.m.", "9 h 30-17 h"),
        ("Open 9-5pm", "en", "9-5pm", "9 h-17 h"),
        ("Open 2-5pm", "en", "2-5pm", "14 h-17 h"),
        ("Open 11-12pm", "en", "11-12pm", "11 h-12 h"),
        ("Add 2 tbsp of oil", "en", "2 tbsp", "2 c. à s."),
        ("In 833 AD, it was a state.", "en", "833 AD", "833 apr. J.-C."),
        ("Born in AD 79, or so", "en", "AD 79", "79 apr. J.-C."),
        ("It began around 1000 B.C. in Asia.", "en", "1000 B.C.", "1000 av. J.-C."),
        ("En 44 av. J.-C., il mourut.", "fr", "44 av. J.-C.", "44 BC"),
        ("né en 12 après Jésus-Christ", "fr", "12 après Jésus-Christ", "12 AD"),
        ("Add 1 1/2 tsp. salt", "en", "1 1/2 tsp.", "1 1/2 c. à c."),
        ("Add ½ tsp.", "en", "½ tsp", "½ c. à c."),
        ("Ajoutez 2 c. à s. d'huile", "fr", "2 c. à s.", "2 tbsp"),
        ("Ajoutez 1,5 c. à soupe.", "fr", "1,5 c. à soupe", "1.5 tbsp"),
        ("1 càc de sel", "fr", "1 càc", "1 tsp"),
        ("Add 1-2 tbsp", "en", "1-2 tbsp", "1-2 c. à s."),
        ("Add 8 oz of milk", "en", "8 oz", "8 oz"),
    ],
)
def test_ranges_of_hours_and_spoons(line: str, language: str, text: str, translated: str) -> None:
    """They contain what is kept verbatim elsewhere, and are known again as words."""
    (span,) = find_protected(line, language)
    other = "en" if language == "fr" else "fr"
    assert (span.text, span.written(other).replace("\N{NO-BREAK SPACE}", " ")) == (text, translated)
    assert as_symbols(words_of(line, language), language)[1].keys() == {"⟨1⟩"}


hours = st.integers(0, 23)


@given(hours, hours, st.sampled_from(["", ":05", ":30"]), st.sampled_from(["-", " - ", "–"]))
def test_any_range_of_hours(first: int, last: int, minutes: str, dash: str) -> None:
    """Whatever the notation, a range is the same."""

    def english(hour: int) -> str:
        return f"{hour % 12 or 12}{minutes}{'ap'[hour // 12]}m"

    def french(hour: int) -> str:
        return f"{hour}h{minutes[1:]}"

    found = [
        find_quantities(f"({one(first)}{dash}{one(last)})", language) for one, language in ((english, "en"), (french, "fr"))
    ]
    (in_english,), (in_french,) = found
    assert in_english.quantity == in_french.quantity
    assert in_english.quantity.number == f"{first}{minutes or ':00'}-{last}{minutes or ':00'}"


@pytest.mark.parametrize("line", ["3 apples", "1.2.3", "2009/10", "B52", "21st", "1990s", "5-10", "x-5", "12.03.2024"])
def test_what_is_no_quantity(line: str) -> None:
    """A single digit, and a number within something longer, is none."""
    assert find_quantities(line, "en") == []


def words_of(line: str, language: str) -> list[str]:
    return cut_around(line, find_protected(line, language), Tokenizer("moses", language).tokenize)


def test_symbols_stand_for_the_spans_of_both_sides() -> None:
    """What only one side has stays as it is; symbols are numbered in the order of the source."""
    source = words_of("Pay $25.99 or 1,250 by 9:30, see {x} and a@b.org, not A-17.", "en")
    target = words_of("Avant 9 h 30, payez 1 250 ou 25,99 $, voir a@b.org ou {x}.", "fr")
    seen = pair_as_symbols(source, target, ("en", "fr"))
    assert " ".join(seen[0]) == "Pay ⟨1⟩ or ⟨2⟩ by ⟨3⟩ , see ⟦1⟧ and ⟦2⟧ , not A-17 ."
    assert " ".join(seen[1]) == "Avant ⟨3⟩ , payez ⟨2⟩ ou ⟨1⟩ , voir ⟦2⟧ ou ⟦1⟧ ."
    symbols = {"⟨1⟩": 1, "⟨2⟩": 3, "⟨3⟩": 5, "⟦1⟧": 8, "⟦2⟧": 10, "⟦3⟧": source.index("A-17")}
    assert as_symbols(source, "en")[1] == symbols


def test_spans_are_words() -> None:
    assert words_of("L'{objet} (voir www.example.org) coûte 12,50 €, n'est-ce pas ? 😊", "fr") == [
        *["L'", "{objet}", "(", "voir", "www.example.org", ")", "coûte", "12,50\N{NO-BREAK SPACE}€"],
        *[",", "n'", "est-ce", "pas", "?", "😊"],
    ]


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=30))
def test_nothing_is_lost_around_spans(line: str) -> None:
    """The words have the letters of the line, in order, and every span is a word."""
    spans = find_protected(line, "en")
    words = cut_around(line, spans, str.split)
    assert "".join("".join(words).split()) == "".join(line.split())
    assert all("".join(span.text.split()) in ("".join(word.split()) for word in words) for span in spans)


@pytest.mark.parametrize("text", VERBATIM)
def test_a_span_is_known_as_a_word(text: str) -> None:
    (word,) = words_of(text, "en")
    assert as_symbols([word], "en") == (["⟦1⟧"], {"⟦1⟧": 0})
    assert pair_as_symbols([word], ["voir", word], ("en", "fr")) == (["⟦1⟧"], ["voir", "⟦1⟧"])


@pytest.mark.parametrize("line", ["the man`s cat and the dog`s bone", "I don`t, and you don`t", "|---|:--:|", "a:-)b"])
def test_marks_within_words_are_no_spans(line: str) -> None:
    assert find_protected(line, "en") == []


def test_unknown_abbreviations() -> None:
    def spans(line: str) -> list[str]:
        return [line[start:stop] for start, stop in unknown_abbreviations(line, {"very", "NASA"}.__contains__)]

    assert spans("The IBAN is VERY long, NASA said") == ["IBAN"]
    assert spans("The IBAN's length, our TCP/IP and the OM-PSG match") == ["IBAN", "TCP/IP", "OM-PSG"]
    assert spans("my USB-C cable") == ["USB-C"]
    assert spans("de l'IBAN ou qu'ONU, L’OTAN") == ["IBAN", "ONU", "OTAN"]
    assert spans("Don'T, rock'N'ROLL, x'AB") == []
    assert spans("GDP") == ["GDP"]
    assert spans("HELP!") == []
    assert spans("THE IBAN IS LONG") == spans("please READ THIS now") == []


def test_unknown_abbreviations_of_a_line_in_capitals() -> None:
    def spans(line: str) -> list[str]:
        known = {"THE", "IS", "LONG", "HTML"}.__contains__
        return [line[start:stop] for start, stop in unknown_abbreviations(line, {"wet"}.__contains__, known)]

    assert spans("THE IBAN IS LONG") == ["IBAN"]
    assert spans("HTML, WET") == ["HTML"]
    assert spans("GDP") == ["GDP"]


def test_a_currency_that_the_vocabulary_lacks_is_part_of_its_price() -> None:
    assert [span.text for span in find_protected("That is ¥1000 per person.", "en", [(8, 9)])] == ["¥1000"]
    assert [span.text for span in find_protected("from $9.99/month", "en")] == ["$9.99"]
