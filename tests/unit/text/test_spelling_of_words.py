"""What a model sees of text that can be written in several ways."""

import pickle
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from rnnsearch.text import Tokenizer, Vocabulary
from rnnsearch.text.normalization import Spelling, parts, plain, with_double_quotes
from rnnsearch.text.spans import spans
from rnnsearch.text.tokenize import is_invisible

ENGLISH, FRENCH = Tokenizer("moses", "en", normalize=True), Tokenizer("moses", "fr", normalize=True)
MARKS = "’‘ʼ′＇`´“”„«»‹›″–—‑−‐…ﬁﬃＡｂ，é\u0301\u0323e\u200b\xad\xa0\u202f\u3000 a.,'\"-5?!œÀ"

lines = st.text(MARKS, max_size=24) | st.text(max_size=40)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("It’s a dog`s life, ’tis ‘so’ 5′", "It's a dog's life, 'tis 'so' 5'"),
        ("“one” „two“ «three» ‹four› 5″ ＂", '"one" "two" "three" "four" 5" "'),
        ("well‑known, −5, 1990–1995, Paris–Nice", "well-known, -5, 1990-1995, Paris-Nice"),
        ("he – she — it", "he – she — it"),
        ("Wait…", "Wait..."),
        ("ﬁrst oﬃce, ﬂat ĳs", "first office, flat ijs"),
        ("Ｈｅｌｌｏ， ｗｏｒｌｄ！ ﾊﾞ", "Hello, world! バ"),
        ("cafe\u0301 A\u030a \u212b", "café Å Å"),
        ("m² ½ № ① ﷺ œuvre €", "m² ½ № ① ﷺ œuvre €"),
    ],
)
def test_the_plain_form(written: str, expected: str) -> None:
    assert plain(written) == expected


@given(lines)
def test_a_plain_form_is_its_own_and_all_of_the_text_is_in_it(line: str) -> None:
    assert plain(plain(line)) == plain(line)
    assert "".join(written for written, _ in parts(line)) == line
    assert all(written and form for written, form in parts(line))


@given(lines)
def test_the_plain_form_does_not_depend_on_how_accents_are_encoded(line: str) -> None:
    assert plain(unicodedata.normalize("NFD", line)) == plain(unicodedata.normalize("NFC", line)) == plain(line)


@given(st.text(st.characters(max_codepoint=0x7F, exclude_characters="`")))
@pytest.mark.parametrize("language", ["en", "fr"])
def test_plain_text_is_cut_as_sacremoses_cuts_it(language: str, line: str) -> None:
    line = "".join(letter for letter in line if not is_invisible(letter))
    words = Tokenizer("moses", language, normalize=True).tokenize(line)
    assert words == MosesTokenizer(language).tokenize(line, escape=False)


@given(lines)
@pytest.mark.parametrize("tokenizer", [ENGLISH, FRENCH])
def test_words_have_the_letters_of_their_line_and_places_in_it(tokenizer: Tokenizer, line: str) -> None:
    words = tokenizer.tokenize(line)
    letters = "".join(letter for letter in line if not (letter.isspace() or is_invisible(letter)))
    if any(cut_within(letters)):
        assert plain("".join(words)) == plain(letters)
    else:
        assert "".join(words) == letters
    found = spans(words, line)
    assert found is not None
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def cut_within(line: str) -> list[bool]:
    """For each piece of the line, whether it has a letter with accents that are not composed, which Moses may cut off."""
    return [len(form) > 1 and any(map(unicodedata.combining, form)) and form != written for written, form in parts(line)]


@given(st.lists(st.sampled_from(["I don't", '"no"', "café", "first", "it's -5", "wait...", "naïve", "A, b!"]), max_size=6))
def test_a_model_sees_the_same_of_all_ways_to_write_a_line(phrases: list[str]) -> None:
    vocabulary = Vocabulary([*"Idoncaféirsw.ïvbA5", "'t", "'s", '"', "-5", "..."], normalized="source")
    line = " ".join(phrases)
    expected = vocabulary.seen(ENGLISH.tokenize(line))
    table = str.maketrans({"'": "’", "-": "−", "f": "ｆ", "b": "ｂ"})
    for other in (
        line.translate(table),
        line.replace("fi", "ﬁ").replace("...", "…"),
        unicodedata.normalize("NFD", line),
        line.replace('"no"', "“no”"),
        line.replace('"no"', "„no“").replace(" ", "\xa0"),
        line.replace('"no"', "« no »").replace("'", "`"),
    ):
        words = ENGLISH.tokenize(other)
        assert vocabulary.seen(words) == expected
        assert "".join(words) == "".join(other.split())


def test_words_are_written_with_the_marks_of_the_vocabulary() -> None:
    straight = Spelling(["'s", "l'", '"', "-", "..."], "source")
    turned = Spelling(["’s", "l’", "“", "”", "–", "…", "'", '"'], "source")
    french = Spelling(["l’", "«", "»", "—"], "source")
    words = ["l'", "l’", "l`", '"', "a", "“", "b", "”", '"', "-", "—", "...", "…", "x-y", "x‑y"]
    assert straight(["a", "–", "b"]) == ["a", "-", "b"], "also where nothing else is to be changed"
    assert straight(words) == ["l'"] * 3 + ['"', "a", '"', "b", '"', '"', *"--", "...", "...", "x-y", "x-y"]
    assert turned(words) == ["l’"] * 3 + ["“", "a", "“", "b", "”", "“", *"––", "…", "…", "x-y", "x-y"]
    assert french(["l'", '"', "a", '"', "“", "b", "”", "–"]) == ["l’", "«", "a", "»", "«", "b", "»", "—"]
    assert french(['"a', 'b"', "“c”"]) == ["«a", "b»", "«c»"], "in text that is tokenised otherwise"


def test_a_target_keeps_the_marks_that_the_vocabulary_has_as_words() -> None:
    spelling = Spelling(["▁l'", "▁l’", '▁"', "▁«", "▁»", "▁-", "▁–", "“", "—"], "target", "▁")
    assert spelling(["l’", "«", "a", "»", '"', "“", "–", "—", "-"]) == ["l'", "«", "a", "»", '"', '"', "–", "-", "-"]


def test_forms_that_a_vocabulary_has_more_often_than_the_plain_one_stay() -> None:
    chinese = Spelling(["，", "。", "你好", "！", ","], "source")
    assert chinese(["你好", "，", "ＡＢ", "！", ","]) == ["你好", "，", "AB", "！", ","]
    decomposed = Spelling(["cafe\u0301", "a\u0300"], "source")
    assert decomposed(["cafe\u0301", "café", "è", "ñ", "n\u0303"]) == ["cafe\u0301", "cafe\u0301", "e\u0300", "ñ", "ñ"]


@given(st.lists(st.text(MARKS, min_size=1, max_size=6), max_size=8), st.sampled_from(["source", "target"]))
def test_what_is_seen_is_seen_again_and_there_is_one_for_each_word(words: list[str], side: str) -> None:
    spelling = Spelling(["▁'s", '▁"', "▁-", "▁–", "▁...", "▁«", "▁»", "a", "e", "é"], side, "▁")  # type: ignore[arg-type]
    seen = spelling(words)
    assert len(seen) == len(words)
    assert list(spelling(seen)) == list(seen)


def test_a_pickled_vocabulary_sees_the_same() -> None:
    vocabulary = Vocabulary(["l’", "a"], normalized="source")
    assert vocabulary.encode(["l'", "a"]) == [2, 3] == pickle.loads(pickle.dumps(vocabulary)).encode(["l'", "a"])
    assert Vocabulary(["l’", "a"]).encode(["l'", "a"]) == [1, 3], "without normalisation"


@pytest.mark.parametrize("line", ["a" + "\u0301\u0323" * 50_000, "é’" * 50_000, "\U0001f1eb" * 50_000, "e\u0301" * 50_000])
def test_a_hundred_thousand_marks_take_seconds(line: str) -> None:
    start = time.process_time()
    Vocabulary(["a"], normalized="source").seen(ENGLISH.tokenize(line))
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'Hello,' he said.", "“Hello,” he said."),
        ("‘I don’t know,’ she said.", "“I don’t know,” she said."),
        ("the word ‘freedom’ is", "the word “freedom” is"),
        ("the students' books and teachers' pens", "the students' books and teachers' pens"),
        ("rock 'n' roll in the '90s and '80s", "rock 'n' roll in the '90s and '80s"),
        ("'Tis the dogs' bowl", "'Tis the dogs' bowl"),
        ("l'homme qu'il a vu", "l'homme qu'il a vu"),
    ],
)
def test_single_quotation_marks(text: str, expected: str) -> None:
    assert with_double_quotes(text) == expected


@given(st.text("'‘’ab \"é.,"))
def test_double_quotation_marks_take_the_places_of_single_ones(text: str) -> None:
    changed = with_double_quotes(text)
    assert len(changed) == len(text)
    assert all(old == new or (old in "'‘’" and new in "“”") for old, new in zip(text, changed, strict=True))
