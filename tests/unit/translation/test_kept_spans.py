"""Every span that is to be kept is in the translation once, as it was written, whatever the model writes.

Models with random weights write whatever they like. 10,000 examples in each direction:

    RNNSEARCH_SPAN_EXAMPLES=10000 pytest tests/unit/translation/test_kept_spans.py -k exactly_once
"""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rnnsearch
from rnnsearch.config import from_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.system import System, new_system
from rnnsearch.text import Vocabularies, Vocabulary
from rnnsearch.text.known_words import known_words
from rnnsearch.text.patterns import Patterns
from rnnsearch.text.protected import ALL_SYMBOLS, MOST
from rnnsearch.text.subwords import Subwords
from rnnsearch.translation import Translator
from toy import SOURCE_WORDS, TARGET_WORDS

EXAMPLES = int(os.environ.get("RNNSEARCH_SPAN_EXAMPLES", "10"))
MODELS = 8


@cache
def translator(source: str = "en", target: str = "fr", seed: int = 0, protect: bool = True) -> Translator:
    """A model with random weights, which are so large that it is sure of what it writes."""
    counts = Counter([*SOURCE_WORDS, *TARGET_WORDS, ",", "!", "Zorbolq"])
    subwords = Subwords.train(counts, "bpe", 60, sorted(ALL_SYMBOLS))
    vocabulary = Vocabulary.from_counts(Counter(subwords.inventory), 1000, subwords=subwords, normalized=source)
    sizes = {"embedding_size": 6, "hidden_size": 8, "alignment_size": 6, "maxout_size": 6}
    config = from_dict(
        {
            "data": {"source_language": source, "target_language": target, "subwords": "bpe", "protect": protect},
            "model": sizes,
            "search": {"forbid_unk": True, "beam": 2, "maximum_length_ratio": 1.5, "forbid_repetition": True},
            "training": {"seed": seed, "initialization": "glorot"},
        }
    )
    system = new_system(config, Vocabularies(vocabulary, vocabulary))
    for parameter in system.model.parameters():
        parameter.data *= 1 + 3 * seed / MODELS
    system.model.eval()
    return Translator([System(config, system.vocabularies, system.model)])


names = st.text("abcdefghijklm", min_size=1, max_size=6)
spans = st.one_of(
    st.builds("{}.{}@{}.org".format, names, names, names),
    st.builds("https://{}.com/{}?q={}".format, names, names, st.integers(0, 99)),
    st.builds("/{}/{}".format, names, names),
    st.builds("{}.pdf".format, names),
    st.builds("C:\\{}\\{}".format, names, names),
    names.flatmap(lambda name: st.sampled_from(["{%s}", "%%(%s)s", "${%s}", "{{%s}}", "<%s/>", "`%s`", "#%s", "@%s"]).map(
        lambda form: form % name
    )),
    st.sampled_from(
        ["%s", "%d", "%1$s", "#4521", "A-17b", "AX-204", "+33 6 12 34 56 78", "01\u00a023\u00a045\u00a067\u00a089"]
    ),
    st.builds("v{}.{}.{}".format, *[st.integers(0, 99)] * 3),
    st.sampled_from(["😊", "👍🏽", "👨‍👩‍👧", "🇫🇷", "❤️", "☕"]),
    st.text("漢字Ωжﺏ†☃ก", min_size=1, max_size=3),
)  # fmt: skip
ordinary = st.sampled_from([*SOURCE_WORDS, *TARGET_WORDS, ",", "!", "DOG", "Two", "(red)", "36"])
parts = st.lists(ordinary.map(lambda word: (word, False)) | spans.map(lambda span: (span, True)), min_size=1, max_size=40)


@pytest.mark.parametrize(("source", "target"), [("en", "fr"), ("fr", "en")])
@settings(max_examples=EXAMPLES)
@given(parts, st.integers(0, MODELS - 1))
def test_every_span_is_there_exactly_once(source: str, target: str, parts: list[tuple[str, bool]], seed: int) -> None:
    line = " ".join(text for text, _ in parts)
    found = translator(source, target, seed).translate(line).text
    for span in {text for text, is_span in parts if is_span}:
        assert found.count(span) == line.count(span), (line, found, span)


@pytest.mark.parametrize("count", [MOST, MOST + 1, 3 * MOST - 2])
def test_more_spans_than_there_are_symbols(count: int) -> None:
    line = " ".join(f"the cat {{x{number}}}," for number in range(count))
    found = translator().translate(line).text
    assert all(found.count(f"{{x{number}}}") == 1 for number in range(count))


def test_further_patterns() -> None:
    line = "The big cat, the Red. House and the dog sees Anna-Lena Ott."
    protect = [r"Red\. \w+", "Anna-Lena Ott", "x*"]
    found = translator().translate([line, "a dog"], protect=protect)
    assert [found[0].text.count(span) for span in ("Red. House", "Anna-Lena Ott")] == [1, 1]
    assert translator().translate(line, protect="Red. House").text.count("Red. House") == 1
    (one,) = translator().n_best("the\u00a0 dog", 1, protect=["the\u00a0 dog"])
    assert "the\u00a0 dog" in one.text


def test_what_a_model_without_symbols_says() -> None:
    with pytest.raises(RnnsearchError, match=r"search.protect: this model .* set data.protect in training"):
        translator(protect=False).translate("the cat", protect=["cat"])


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<n>a)(?P=m)"])
def test_what_is_no_pattern(pattern: str) -> None:
    with pytest.raises(RnnsearchError, match="is no regular expression") as told:
        Patterns([pattern])
    assert "\n" not in str(told.value)


def test_patterns_take_a_bounded_time() -> None:
    began = time.monotonic()
    with pytest.raises(RnnsearchError, match="takes more than 1 s"):
        Patterns(["(a+)+b"]).spans("a" * 5000 + "!")
    assert time.monotonic() - began < 20
    spaced = "x " * 400
    assert Patterns(["x"]).spans(spaced) == [(place, place + 1) for place in range(0, 800, 2)]


surnames = st.from_regex(r"Z[aeiou][a-m]{3,8}q", fullmatch=True)


@pytest.mark.parametrize(("source", "target"), [("en", "fr"), ("fr", "en")])
@settings(max_examples=EXAMPLES)
@given(st.lists(surnames, min_size=1, max_size=3), st.integers(0, MODELS - 1))
def test_a_name_is_there_exactly_once(source: str, target: str, parts: list[str], seed: int) -> None:
    words = known_words(source, target)
    assume(words is not None and not any(map(words.knows, parts)))  # The filter takes one name in 75 for a known word.
    name = " ".join(parts)
    line = f"the dog sees {name} and the cat"
    assert translator(source, target, seed).translate(line).text.count(name) == line.count(name)


def test_names_are_left_to_a_model_of_other_languages_or_without_symbols() -> None:
    line = "the dog sees Zorbolq"
    assert "Zorbolq" in translator().translate(line).text
    assert "Zorbolq" not in translator("en", "de").translate(line).text
    assert "Zorbolq" not in translator(protect=False).translate(line).text


def test_a_term_goes_before_a_name() -> None:
    found = translator().translate("the dog sees Karim Zorbolq", terms={"Zorbolq": "chat"})
    assert "chat" in found.text
    assert "Zorbolq" not in found.text


@pytest.mark.parametrize("span", ["Karim Zorbolq", "anna@example.org", "$25.99"])
@pytest.mark.parametrize("seed", range(MODELS))
def test_a_span_of_the_prefix_does_not_come_again(span: str, seed: int) -> None:
    written = "25,99 $" if span == "$25.99" else span
    prefix = f"un chien {written} voit"
    found = translator(seed=seed).translate(f"the dog sees {span} and the cat", prefix=prefix).text
    assert found.startswith(prefix)
    assert found.count(written) == 1


def test_abbreviations_with_another_form_are_translated_and_protected_ones_stay() -> None:
    translator = rnnsearch.load("en-fr")
    lines = ["GDP", "The VAT is low.", "The IBAN is long."]
    texts = [one.text for one in translator.translate(lines)]
    assert texts[0] == "PIB"
    assert "La TVA " in texts[1]
    assert "IBAN" in texts[2]
    assert "VAT" in translator.translate(lines[1], protect=["VAT"]).text
