from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import DataConfig, from_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.units import COMPOSED, Characters, CodePoints, Symbols, units_of

FORMS = ("none", "NFC", "NFD", "NFKC", "NFKD")
# Any line: a text file ends lines at line feeds, and holds no half of a surrogate pair.
lines = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
marked = st.text(st.sampled_from("aeé́̈̈ \u200d\t👩🚀🇫🇷가각각កក្រि\r"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [Characters, CodePoints])
@given(line=lines | marked)
def test_nothing_of_a_line_is_lost(kind: type[Characters], form: str, line: str) -> None:
    units = kind(form)  # type: ignore[arg-type]
    tokens = units.tokenize(line)
    composed = COMPOSED[units.normalization]
    assert units.detokenize(tokens) == (line if composed == "none" else unicodedata.normalize(composed, line))
    assert all(tokens)


@given(st.lists(st.text(st.characters(exclude_characters=" \n", exclude_categories=["Cs"]), min_size=1)))
def test_symbols_are_what_stands_between_spaces(symbols: list[str]) -> None:
    units = Symbols("none")
    assert units.tokenize(units.detokenize(symbols)) == symbols
    assert units.tokenize("  " + "   ".join(symbols) + " ") == symbols


@given(lines | marked)
def test_the_target_has_no_features(line: str) -> None:
    """A tab on the target side is text like any other."""
    source, target = units_of(DataConfig(source_units="characters", target_units="characters"))
    assert target.detokenize(target.tokenize(line)) == unicodedata.normalize("NFC", line)
    if "\t" not in line:
        assert source.tokenize(line) == target.tokenize(line)


def test_a_character_is_what_a_reader_sees() -> None:
    assert Characters().tokenize("e\u0301té 🇫🇷🇩🇪👩‍🚀") == ["é", "t", "é", " ", "🇫🇷", "🇩🇪", "👩‍🚀"]
    assert Characters("NFD").tokenize("été") == ["e\u0301", "t", "e\u0301"]
    assert CodePoints("NFD").tokenize("é각") == ["e", "\u0301", "ᄀ", "ᅡ", "ᆨ"]


def test_features_stand_before_the_text() -> None:
    source, _ = units_of(DataConfig(source_units="characters", target_units="characters"))
    assert source.tokenize("gehen\tV;PST; 3\tSG") == ["<V>", "<PST>", "<3>", "<SG>", *"gehen"]
    assert source.tokenize("gehen\t") == list("gehen")


@pytest.mark.parametrize("text", ["🇫🇷", "a\u0301", "\u0301", "\u200d", "가"])
def test_a_long_row_of_marks_or_flags_is_cut_at_once(text: str) -> None:
    began = time.process_time()
    Characters().tokenize(40_000 * text)
    assert time.process_time() - began < 2


def test_subwords_are_parts_of_words() -> None:
    with pytest.raises(RnnsearchError, match=r"data\.subwords = bpe: only words have subwords"):
        from_dict({"data": {"subwords": "bpe", "target_units": "symbols"}})


def test_a_search_by_wer_is_for_other_units_than_words() -> None:
    from_dict({"data": {"target_units": "symbols"}, "training": {"validate_on": "wer"}})
    with pytest.raises(RnnsearchError, match=r"training\.validate_on = wer"):
        from_dict({"training": {"validate_on": "wer"}})
