"""Names in running text, and the filter of the words that are none."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.text.known_words import BITS_A_WORD, KnownWords, known_words
from rnnsearch.text.names import MOST_NAMES, find_full_names, find_names, find_titled_names, find_unpronounceable

WORDS = frozenset(
    [
        "i",
        "am",
        "at",
        "the",
        "in",
        "and",
        "see",
        "meet",
        "car",
        "of",
        "from",
        "my",
        "group",
        "president",
        "lake",
        "tomorrow",
        "read",
        "london",
        "german",
        "save",
        "as",
    ]
)
name = st.text("abdeiklmnorsuvzéö", min_size=2, max_size=7).map(lambda word: f"Z{word}q")
small = st.sampled_from(sorted(WORDS))


def names(line: str) -> list[str]:
    return [
        line[start:stop] for start, stop in find_names(line, lambda word: word.lower() in WORDS, lambda word: len(word) > 3)
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("I am at Siemens in London", ["Siemens"]),
        ("see J.K. Lindqvist", ["J.K. Lindqvist"]),
        ("see Karim-London and the Franco-London car", ["Karim-London"]),
        ("see Karim Lindqvist and Zoëlle's car", ["Karim Lindqvist", "Zoëlle"]),
        ("Karim Lindqvist and the President", ["Karim Lindqvist"]),
        ("I see Mr. Lindqvist, J. R. R. Tolkien and O'Brien", ["Lindqvist", "J. R. R. Tolkien", "O'Brien"]),
        ("see Ludwig van Beethoven and Jean-Luc", ["Ludwig van Beethoven", "Jean-Luc"]),
        ("I see the Siemens Group of President Karim Lindqvist at the lake", ["Siemens", "Karim Lindqvist"]),
        ("at the Tom", []),  # not rare
        ("Priyanka's car", ["Priyanka"]),
        ("Brittany and the car", []),  # the first word of a sentence
        ("I am in: Brittany. Brittany and “Brittany” – Brittany", []),
        ("I am at SIEMENS, @Siemens, Siemens.com and Siemens/x", []),
        ("Meet the Siemens President and German Group of London", []),  # a headline
        ("la voiture d'Océane", ["Océane"]),
        ("Aujourd'hui, l'Aujourd'hui de Zoëlle", ["Zoëlle"]),
        ("see the Anglo-German car", []),
    ],
)
def test_names(line: str, expected: list[str]) -> None:
    assert names(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Tim London met Emma German in London", ["Tim London", "Emma German"]),
        ("see Kate Save's car, John F. London, Jean-Claude Car", ["Kate Save", "John F. London", "Jean-Claude Car"]),
        (
            "see President Emma London, Martin Luther King, Mary Jane Save and Marine Le Pen",
            [
                "Emma London",
                "Martin Luther King",
                "Mary Jane Save",
                "Marine Le Pen",
            ],
        ),
        ("see Vincent van Gogh and Tim and Paul, Will London", ["Vincent van Gogh"]),
        ("I meet Emma Monday at King Charles London and Charles Bridge", []),
        ("Rob German Meet President", ["Rob German"]),
        ("Tim London See My Car", []),  # a headline
        ("tim@Emma London.com, xEmma London, Emma London-Car", ["Emma London-Car"]),
    ],
)
def test_first_names_with_a_surname(line: str, expected: list[str]) -> None:
    found = find_full_names(line, lambda word: word.lower() in WORDS)
    assert [line[start:stop] for start, stop in found] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Dr. Brown will see you", ["Brown"]),
        ("My cat Whiskers and his old dog Rex's toys, a friend named Snow", ["Whiskers", "Rex", "Snow"]),
        ("mon chat Minou s'appelait Minet, ma sœur Marie, mon ami Monday", ["Minou", "Minet"]),
        ("Ask Mr White, Mrs. Green's son and Miss Black.", ["White", "Green", "Black"]),
        ("Dr. Emmett Brown", ["Emmett Brown"]),
        ("Je cherche M. Blanc et Mme Petit.", ["Blanc", "Petit"]),
        ("Mr. Johnson and Brown", ["Johnson"]),
        ("Mr. President, Miss World and Mr. Prime Minister", []),
        ("Mr. brown and Dr. Brown-Sequard", []),
    ],
)
def test_words_after_titles_are_names(line: str, expected: list[str]) -> None:
    assert [line[start:stop] for start, stop in find_titled_names(line)] == expected


@given(
    st.lists(small, min_size=1, max_size=5),
    st.lists(name, min_size=1, max_size=3),
    st.sampled_from(["", ".", "'s car", ", and"]),
)
def test_a_name_within_a_sentence_is_one_span(before: list[str], parts: list[str], after: str) -> None:
    whole = " ".join(parts)
    assert names(f"{' '.join(before)} {whole}{after}") == [whole]


@given(st.text(st.sampled_from("AbZé '’-.,:“\n@X😊1"), max_size=40))
def test_any_text(line: str) -> None:
    spans = find_names(line, lambda word: word.lower() in WORDS, lambda word: True)
    assert len(spans) <= MOST_NAMES
    ends = [0, *(end for _, end in spans)]
    assert all(end <= start < stop <= len(line) for end, (start, stop) in zip(ends, spans, strict=False))
    assert all(line[start].isupper() and line[:start].strip() for start, stop in spans if " " not in line[start:stop])


@given(st.sets(st.text(min_size=1, max_size=9), max_size=60))
def test_a_filter_forgets_no_word(words: set[str]) -> None:
    known = KnownWords.of(words)
    again = KnownWords(bytes(known))
    assert all(again.knows(word) and again.knows(word.casefold()) for word in words)


def test_a_filter_takes_few_other_words_for_its_own() -> None:
    random = Random(1)
    words = ["".join(random.choices("abcdefghijklmnopqrst", k=9)) for _ in range(6000)]
    known = KnownWords.of(words[:3000])
    assert len(bytes(known)) <= BITS_A_WORD * 3000 / 8 + 1
    assert sum(map(known.knows, words[3000:])) < 0.03 * 3000


@pytest.mark.parametrize(
    ("languages", "words", "others"),
    [
        (
            ("en", "fr"),
            "London Germany Greek Thursday February Wenesday Euripides French President Street wheelchair the",
            "Lindqvist Siemens",
        ),
        (("fr", "en"), "Londres Allemagne États-Unis Etats Française Président rue été", "Lindqvist Kowalczyk Mamadou"),
    ],
)
def test_the_words_of_the_installed_translators(languages: tuple[str, str], words: str, others: str) -> None:
    known = known_words(*languages)
    assert known is not None
    assert [word for word in words.replace("-", " ").split() if not known.knows(word)] == []
    assert [word for word in others.split() if known.knows(word)] == []
    assert known_words("en", "de") is None


def test_unpronounceable_words() -> None:
    line = "The Knightsbridge test: asdfghjkl, qwrtp-x and xkcdfoo"
    found = find_unpronounceable(line, {"Knightsbridge"}.__contains__)
    assert [line[start:stop] for start, stop in found] == ["asdfghjkl", "xkcdfoo"]


@pytest.mark.parametrize("line", ["O'Reilly is here.", "Ask Mrs O’Neill.", "I know Sam O'Brien well."])
def test_irish_names(line: str) -> None:
    """They are names wherever they are, and even if a part of them is a word."""
    found = find_names(line, {"Ask", "Mrs", "Sam", "O'Reilly", "Brien"}.__contains__, lambda word: True) + find_titled_names(
        line
    )
    names = {line[start:stop] for start, stop in found}
    assert names <= {"O'Reilly", "O’Neill", "O'Brien", "Sam O'Brien"}
    assert names
