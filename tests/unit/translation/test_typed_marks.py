"""A translation is the same however its line was typed, and what is copied keeps its spelling."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

import rnnsearch
from rnnsearch import Translator
from rnnsearch.config import from_preset
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.system import new_system
from rnnsearch.text import END_SYMBOL, Vocabularies, Vocabulary
from rnnsearch.text.normalization import plain
from rnnsearch.translation import load
from rnnsearch.translation.glossary import Glossary
from rnnsearch.translation.lexicon import Lexicon
from rnnsearch.translation.translation import Segment
from rnnsearch.translation.unknown_words import replace_unknown
from toy import toy_config

CONTRACTIONS = [
    "I haven't seen him.", "It isn't here.", "We don't know.", "She can't come.", "They won't go.", "He didn't say it.",
    "You shouldn't do that.", "I wouldn't go.", "It wasn't me.", "They aren't ready.", "I'm tired.", "We're late.",
    "I'll help you.", "You've won.", "I'd like a coffee.", "He's my brother.", "Let's go.", "That's the man's house.",
    "Who's there?", "It's five o'clock.",
]  # fmt: skip
"""Sentences that are typed with another apostrophe as often."""
SAME = {
    'He said "yes" to me.': ["He said “yes” to me.", "He said „yes“ to me.", "He said «yes» to me.", "He said ″yes″ to me."],
    "A well-known man came - at -5 degrees.": [
        "A well‑known man came – at −5 degrees.", "A well‐known man came — at －5 degrees.",
    ],
    "He came - and went.": ["He came – and went.", "He came — and went.", "He came―and went."],
    "The first office was flat.": [
        "The ﬁrst oﬃce was ﬂat.", "Ｔｈｅ ｆｉｒｓｔ ｏｆｆｉｃｅ was flat．", "The\u202ffirst\u3000office was\xa0flat.",
    ],
    "Wait... The café was good in 1990-1995.": ["Wait… The cafe\u0301 was good in 1990–1995."],
}  # fmt: skip
FRENCH = {
    "L'homme n'est pas d'accord aujourd'hui.": [
        "L’homme n’est pas d’accord aujourd’hui.", "L`homme n´est pas dʼaccord aujourd′hui.",
    ],
    'Il dit "oui".': ["Il dit « oui ».", "Il dit «oui».", "Il dit “oui”.", "Il dit «\u202foui\u202f».", "Il dit ‹ oui ›."],
    "L'été, le garçon a été à l'école.": [unicodedata.normalize("NFD", "L’été, le garçon a été à l’école.")],
}  # fmt: skip


@pytest.fixture(scope="module")
def translator() -> Translator:
    return rnnsearch.load()


def test_other_apostrophes_change_no_translation(translator: Translator) -> None:
    expected = [one.text for one in translator.translate(CONTRACTIONS)]
    for apostrophe in "’‘ʼ′＇`":
        lines = [line.replace("'", apostrophe) for line in CONTRACTIONS]
        found = translator.translate(lines)
        assert [one.text for one in found] == expected
        letters = ["".join(one.source_tokens).removesuffix(END_SYMBOL) for one in found]
        assert letters == [line.replace(" ", "") for line in lines], "the spelling stays"
    assert "ne" in expected[0].split() or "n'" in expected[0]


@pytest.mark.parametrize(("name", "lines"), [("en-fr", SAME), ("fr-en", FRENCH)])
def test_other_marks_and_encodings_change_no_translation(name: str, lines: dict[str, list[str]]) -> None:
    of = rnnsearch.load(name)
    for line, others in lines.items():
        expected = of.translate(line)
        for other, found in zip(others, of.translate(others), strict=True):
            # A span such as 1990–1995 is copied as it was typed.
            assert (plain(found.text), found.score) == (plain(expected.text), expected.score), other
            assert [*map(plain, found.tokens)] == [*map(plain, expected.tokens)], other
            assert found.links == expected.links, other
            assert of.score(other, expected.text).score == of.score(line, expected.text).score
            assert "".join(found.source_tokens).removesuffix(END_SYMBOL) == "".join(other.split())


def test_given_targets_are_normalised_too(translator: Translator) -> None:
    line, target = "I don't have the man's money.", "Je n'ai pas l'argent de l'homme."
    turned = target.replace("'", "’")
    one, other = translator.score(line, target), translator.score(line, turned)
    assert (other.score, other.links) == (one.score, one.links)
    assert other.tokens == [token.replace("'", "’") for token in one.tokens]
    assert translator.next_words(line, "Je n’") == translator.next_words(line, "Je n'")
    begun, expected = (translator.translate(line, prefix=prefix).text for prefix in ("Je n’ai", "Je n'ai"))
    assert begun == expected.replace("Je n'ai", "Je n’ai"), "a prefix is written as it was given"


def test_what_the_model_writes_has_the_score_of_its_search(translator: Translator) -> None:
    found = translator.translate("He said “hello” to me.", precision="fp32")  # as scores are computed
    assert "«" in found.text
    given = translator.score_words([found.source_tokens[:-1]], [found.tokens])[0]
    assert given.score == pytest.approx(found.score, abs=1e-3)


def test_terms_are_found_however_they_are_typed(translator: Translator) -> None:
    for term, line in (("man's house", "I see the man’s house."), ("man’s house", "I see the man's house.")):
        found = translator.translate(line, terms={term: "demeure de l’homme"})
        assert "demeure de l’homme" in found.text
        assert len(found.terms) == 1
    glossary = Glossary({("man’s",): ["a"], ("man's",): ["b"], ("Man's",): ["c"]})
    matched = [glossary.matches([word])[0].target for word in ("man’s", "man's", "manʼs", "MAN’S")]
    assert matched == [["a"], ["b"], ["a"], ["a"]], "as it is written, if it can be"


def test_markup_is_around_the_words_that_were_typed(translator: Translator) -> None:
    html = translator.translate_html("<p>I have <b>n’t</b> seen the <i>ﬁrst</i> oﬃce.</p>")
    assert html == translator.translate_html("<p>I have <b>n't</b> seen the <i>first</i> office.</p>")


def test_a_copied_word_keeps_its_spelling_and_the_lexicon_has_the_plain_one() -> None:
    vocabulary = Vocabulary(["'s"], normalized="source")
    alignment = np.eye(2, 3, dtype=np.float32)
    segment = Segment(0, ["’s", "oﬃce"], 0, ["[UNK]", "[UNK]"], alignment)
    found, replacements = replace_unknown(segment, Lexicon({"'s": [("de", 1.0)]}), None, vocabulary)
    assert found.tokens == ["de", "oﬃce"]
    assert [one.by for one in replacements] == ["lexicon", "copy"]


@pytest.mark.parametrize("words", [["don", "'t", "l'"], ["don", "’t", "l’"]])
def test_a_vocabulary_that_has_the_other_apostrophe(words: list[str]) -> None:
    vocabularies = Vocabularies(Vocabulary(words, normalized="source"), Vocabulary(words, normalized="target"))
    config = toy_config(data={"tokenizer": "moses"})
    translator = Translator([new_system(config, vocabularies)])
    one, other = translator.translate(["don't", "don’t"])
    assert one.text == other.text
    assert translator.score("don't", "l’ l’").score == translator.score("don’t", "l' l'").score
    assert 1 not in vocabularies.source.encode(["don", "'t"])


def test_the_paper_and_models_of_characters_read_what_is_written(tmp_path: Path) -> None:
    assert not from_preset("paper").data.normalize_words
    for data in ({"normalize_words": False}, {"source_units": "codepoints", "target_units": "symbols"}):
        system = new_system(toy_config(data=data), Vocabularies(Vocabulary(["'", "“"]), Vocabulary(["a"])))
        folder = tmp_path / data.popitem()[0]
        folder.mkdir()
        save_settings(folder, system)
        save_weights(folder / WEIGHTS, system)
        assert load_system(folder).vocabularies.source.encode(["“", "”"]) == [3, 1]
        assert load(folder).source_words("“") == ["“"]


@pytest.mark.parametrize(
    ("line", "price"),
    [
        ("The ticket costs US$25.99.", "25,99 $ US"),
        ("It costs CHF 4,500.", "4 500 CHF"),
        ("I paid 30 USD for it.", "30 USD"),
        ("Rice is ₹50 a kilo.", "50 ₹"),
        ("It cost US$ 5 million.", "5 millions de dollars américains"),
    ],
)
def test_prices_in_other_currencies(line: str, price: str) -> None:
    """A code or a sign that the vocabulary lacks is a part of its price, and not copied alone."""
    text = rnnsearch.load("en-fr").translate(line).text
    assert price in text.replace("\N{NO-BREAK SPACE}", " ")
