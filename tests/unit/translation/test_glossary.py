"""Terms, from their file to the text: found in the line, written as given, and refused where they cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import Translator
from rnnsearch.translation.glossary import (
    MOST_CHARACTERS,
    MOST_MATCHES,
    MOST_UNITS,
    MOST_UNITS_EACH,
    Glossary,
    Match,
    read_terms,
)
from toy import SOURCE_WORDS, TARGET_WORDS

Trained = Callable[..., Translator]
LINE = "the big dog sees a cat ."
words_ = st.lists(st.sampled_from(["a", "A", "b", "c"]), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def translator(trained: Trained) -> Translator:
    return trained("gated", "mlp")


def glossary(**terms: str) -> Glossary:
    return Glossary.tokenized({key.replace("_", " "): term for key, term in terms.items()}, str.split, str.split)


# In the line ---------------------------------------------------------------------------------------------------------


def test_longer_terms_first_then_earlier_ones_without_overlap() -> None:
    assert glossary(a_b="1", b_c_d="2", d="3").matches(["a", "b", "c", "d", "a", "b", "d"]) == [
        Match(1, 4, ["2"]), Match(4, 6, ["1"]), Match(6, 7, ["3"]),
    ]  # fmt: skip
    assert glossary(a_a="1").matches(["a", "a", "a"]) == [Match(0, 2, ["1"])]


def test_words_as_they_are_written_first_then_in_any_case() -> None:
    terms = glossary(Bank="B", bank="b", house="h")
    assert [match.target for match in terms.matches(["bank", "Bank", "BANK", "House"])] == [["b"], ["B"], ["B"], ["h"]]


@given(terms=st.dictionaries(words_.map(" ".join), st.just("x"), max_size=5), line=st.lists(st.sampled_from("aAbBcd")))
def test_matches_are_terms_and_none_is_left(terms: dict[str, str], line: list[str]) -> None:
    found = Glossary.tokenized(terms, str.split, str.split).matches(line)
    known = {term.casefold() for term in terms}
    free = [True] * len(line)
    for match in found:
        assert " ".join(line[match.start : match.stop]).casefold() in known
        assert all(free[match.start : match.stop])
        free[match.start : match.stop] = [False] * (match.stop - match.start)
    if len(found) < MOST_MATCHES:
        assert not any(is_free and word.casefold() in known for is_free, word in zip(free, line, strict=True))
    assert len(found) <= MOST_MATCHES


def test_of_two_glossaries_the_second_decides() -> None:
    both = glossary(a="1", b="2") | glossary(a="3")
    assert [match.target for match in both.matches(["a", "b"])] == [["3"], ["2"]]
    assert len(glossary() | glossary(a="3")) == len(glossary(a="3") | glossary()) == 1


# In the translation --------------------------------------------------------------------------------------------------

target_words = st.lists(st.sampled_from([*TARGET_WORDS, "Zbigniew", "[UNK]"]), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(
    terms=st.dictionaries(st.sampled_from([*LINE.split(), "big dog", "a cat ."]), target_words, max_size=4),
    prefix=st.lists(st.sampled_from([*TARGET_WORDS, "Zbigniew"]), max_size=3).map(" ".join),
    how=st.sampled_from(({}, {"beam": 1}, {"forbid_unk": True}, {"coverage": 0.2, "length_normalization": 0.0})),
    n=st.integers(1, 3),
)
def test_terms_are_written_as_they_were_given(
    trained: Trained, terms: dict[str, str], prefix: str, how: dict[str, object], n: int
) -> None:
    """Words that the model does not know included; they may be in the prefix."""
    translator = trained("gated", "mlp")
    matches = translator.glossary(terms).matches(LINE.split())
    for found in translator.n_best(LINE, n, prefix, terms, **how):
        assert found.text.split()[: len(prefix.split())] == prefix.split()
        for match in matches:
            assert f" {' '.join(match.target)} " in f" {found.text} "
        for place in found.terms:
            target = found.tokens[place.target_start : place.target_stop]
            assert Match(place.source_start, place.source_stop, target) in matches
        assert found.alignment is not None
        assert len(found.alignment) == len(found.tokens)


def test_lines_without_terms_are_as_without(translator: Translator) -> None:
    lines = [LINE, "", "a man finds the tree ."]
    with_terms = translator.translate(lines, terms={"big dog": "Zbigniew"})
    without = translator.translate(lines)
    assert "Zbigniew" in with_terms[0].tokens
    for one, other in zip(with_terms[1:], without[1:], strict=True):
        assert (one.text, one.score) == (other.text, other.score)
        assert not one.terms
    assert [found[0].text for found in translator.stream(lines, terms={"big dog": "Zbigniew"})] == [
        found.text for found in with_terms
    ]


def test_segments_have_their_own_terms(translator: Translator) -> None:
    line = "the dog sees a cat . the man finds the dog ."
    found = translator.translate(line, terms={"dog": "arbre", "man": "Zbigniew"}, max_segment=7)
    assert len(found.segments) == 2
    assert found.text.split().count("arbre") >= 2
    for term in found.terms:
        source = line.split()[term.source_start : term.source_stop]
        assert found.tokens[term.target_start : term.target_stop] == [{"dog": "arbre", "man": "Zbigniew"}[source[0]]]
    assert found.to_dict()["terms"][0] == {"source_start": 1, "source_stop": 2, "target_start": 1, "target_stop": 2}


def test_without_an_alignment_they_are_there_too(trained: Trained) -> None:
    found = trained("gated", "none").translate(LINE, terms={"dog": "arbre", "cat": "Zbigniew"})
    assert {"arbre", "Zbigniew"} <= set(found.tokens)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        (["dog"], "give a dictionary"),
        ("dog", "give a dictionary"),
        ({"dog": 3}, "3 is no string"),
        ({3: "chien"}, "3 is no string"),
        ({"dog": " "}, "'dog'"),
        ({"": "chien"}, "''"),
        ({"dog": "x" * (MOST_CHARACTERS + 1)}, "201 characters"),
        ({"big dog": "a", "big  dog": "b"}, "two translations"),
    ],
)
def test_what_is_no_glossary(translator: Translator, terms: object, told: str) -> None:
    for translate in (translator.translate, lambda line, **wrong: list(translator.stream([line], **wrong))):
        with pytest.raises(RnnsearchError, match=told):
            translate(LINE, terms=terms)


def test_terms_that_take_too_long(translator: Translator) -> None:
    """What a line's terms put into its translation is bounded; terms that are not in the line do not count."""
    line = "the big dog sees a red cat ."
    longest = MOST_UNITS + MOST_UNITS_EACH * len(line.split())
    words = longest // 2
    half, whole = "livre " * words, "livre " * (words + 1)
    found = translator.translate(line, terms={"dog": half, "cat": half, "house": whole})
    assert found.text.split().count("livre") >= 2 * words
    with pytest.raises(RnnsearchError, match=rf"its 2 terms have {2 * words + 1}.*limit is {longest} .*fewer or shorter"):
        translator.translate(["a cat .", line], terms={"dog": half, "cat": whole})


def test_searches_without_terms(translator: Translator) -> None:
    with pytest.raises(RnnsearchError, match=r"search\.temperature = 1: terms"):
        translator.translate(LINE, terms={"dog": "arbre"}, temperature=1.0)
    with pytest.raises(RnnsearchError, match=r"search\.vocabulary_selection = 3: the words of a term"):
        translator.translate(LINE, terms={"dog": "arbre"}, vocabulary_selection=3)


def test_a_file_of_terms(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("big dog\tgrand chien\r\n\n cat \tchat \ncat\tchat\n", encoding="utf-8")
    assert read_terms(path) == {"big dog": "grand chien", "cat": "chat"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cat\tchat\ndog chien\n", ":2: 'dog chien'; give a source term, a tab"),
        ("cat\tchat\tfelin\n", ":1: "),
        ("\ncat\t \n", ":2: "),
        ("cat\tchat\n\ncat\tfelin\n", ":3: 'cat' has another translation on line 1"),
        ("cat\t" + "x" * 300 + "\n", ":1: the term .* has 300 characters"),
    ],
)
def test_a_file_with_a_fault(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RnnsearchError, match=told):
        read_terms(path)


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_term_gets_a_place_however_many_there_are(trained: Trained, data: st.DataObject) -> None:
    line = data.draw(st.lists(st.sampled_from(SOURCE_WORDS), min_size=1, max_size=30))
    terms = {word: data.draw(target_words) for word in data.draw(st.sets(st.sampled_from(line), max_size=8))}
    found = trained("gated", "mlp").translate(" ".join(line), terms=terms, beam=2)
    placed = {(term.source_start, term.source_stop) for term in found.terms}
    expected = trained("gated", "mlp").glossary(terms).matches(line)
    assert placed == {(match.start, match.stop) for match in expected}
