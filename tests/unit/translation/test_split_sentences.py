"""Lines of several sentences, each of which is translated by itself; and lines and sentences without letters."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnsearch
from command_line import Run
from rnnsearch.errors import RnnsearchError
from rnnsearch.presets import PRESETS
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.stages import Translate

Trained = Callable[..., Translator]
BUS = ["It is raining.", "Take your umbrella.", "The bus leaves at ten.", "Do not be late."]
SENTENCES = [*BUS, "Where is Dr. Smith?", "I have 3.5 cats.", "He said: “Come in.”", "No!"]
PARAGRAPHS = {
    "en-fr": [
        "It is raining. Take your umbrella. The bus leaves at ten. Do not be late.",
        "My name is Tom. I live in London. I have two cats, three dogs, etc. They are black.",
        "“Where are you?” she asked. “At home.” He closed the door.",
        "Mr. Brown met Mrs. Green at 5 p.m. on Monday. They drank tea. It was cold!",
        "Wait... What is it? I don't know. Maybe it is a bird.",
        "He lives in the U.S. She lives in France. They never meet.",
        "It costs 3.50 dollars. That is cheap. I will buy two.",
        "J. R. R. Tolkien wrote it. I have read it. It is long.",
        "The door was open. (It was late.) We slept.",
        "Go to www.example.com. It is good. You will see. Thank you!",
    ],
    "fr-en": [
        "Il pleut. Prenez votre parapluie. Le bus part à dix heures. Ne soyez pas en retard.",
        "Je m'appelle Tom. J'habite à Paris. J'ai deux chats, trois chiens, etc. Ils sont noirs.",
        "« Où es-tu ? » demanda-t-elle. « À la maison. » Il ferma la porte.",
        "M. Dupont a vu Mme. Durand à 5 h. Ils ont bu du thé. Il faisait froid !",
        "Attends… Qu'est-ce que c'est ? Je ne sais pas. C'est peut-être un oiseau.",
        "Il aime les fruits, p. ex. les pommes. Elle aime le pain. Ils mangent.",
        "Cela coûte 3,50 euros. C'est bon marché. J'en achète deux.",
        "J.-J. Rousseau l'a écrit. Je l'ai lu. C'est long.",
        "La porte était ouverte. (Il était tard.) Nous dormions.",
        "Le Dr. Martin est là. Il parle. Elle écoute. Merci !",
    ],
}
COUNTS = {"en-fr": [4, 4, 3, 3, 4, 3, 3, 3, 3, 4], "fr-en": [4, 4, 3, 3, 4, 3, 3, 3, 3, 4]}
WITHOUT_LETTERS = [
    "00:01:02,000 --> 00:01:04,000", "42", " - 3,50 ", "---", "***", "|---|:--:|", "```", "- [ ]", "?!", "...", "🙂",
    "👩‍👩‍👧 ❤️", "« »", "1.", "\u200b", "=====\t\t", "(...)",
]  # fmt: skip


load = cache(rnnsearch.load)


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load("en-fr")


@cache
def alone(sentence: str) -> str:
    return load("en-fr").translate(sentence, beam=1, split_sentences=False).text


def in_french(sentences: list[str]) -> list[str]:
    """Return the translation of every sentence alone."""
    return [load("en-fr").translate(sentence, split_sentences=False).text for sentence in sentences]


def moses(translator: Translator) -> Translator:
    """The same model, for text as people write it."""
    config = translator.system.config
    config = replace(config, data=replace(config.data, tokenizer="moses"))
    return Translator([translator.system.changed(config)])


def test_no_sentence_of_a_line_is_lost(translator: Translator) -> None:
    line = " ".join(BUS)
    assert translator.translate(line).text == " ".join(in_french(BUS))
    assert next(translator.stream([line]))[0].text == " ".join(in_french(BUS))
    assert len(translator.translate(line).segments) == len(BUS)


@pytest.mark.parametrize("pair", PARAGRAPHS)
def test_paragraphs(pair: str) -> None:
    found = load(pair).translate(PARAGRAPHS[pair], beam=2)
    assert [len(translation.segments) for translation in found] == COUNTS[pair]
    assert all(segment.tokens for translation in found for segment in translation.segments)


spaces = st.sampled_from([" ", "  ", "\t", "\u00a0", " \u3000", " \x0b "])


# What has no letters is of the sentence before it, and is no part here: a translation may change with it.
parts = st.tuples(st.sampled_from(SENTENCES), spaces)


@given(st.lists(parts, min_size=1, max_size=5), spaces, st.booleans())
def test_white_space_stays_and_a_sentence_is_translated_as_it_is_alone(
    given: list[tuple[str, str]], before: str, ends_at_once: bool
) -> None:
    translator = load("en-fr")
    line = before + "".join(sentence + space for sentence, space in given)
    line = line.rstrip() if ends_at_once else line
    expected = [alone(sentence) + space for sentence, space in given]
    whole = before + "".join(expected)
    found = translator.translate(line, beam=1)
    assert found.text == (whole.rstrip() if ends_at_once else whole)
    words = [word for sentence, _ in given for word in translator.source_words(sentence)]
    assert found.source_tokens == [*words, "</s>"]
    check_places(found)


def check_places(found: Translation) -> None:
    """Every index is one of the whole line."""
    assert found.alignment is not None
    assert found.alignment.shape == (len(found.tokens), len(found.source_tokens))
    np.testing.assert_allclose(found.alignment.sum(1), 1, atol=1e-5)
    for segment in found.segments:
        start, stop = segment.source_start, segment.source_start + len(segment.source_tokens)
        assert found.source_tokens[start:stop] == segment.source_tokens
        assert found.tokens[segment.target_start : segment.target_start + len(segment.tokens)] == segment.tokens
        targets = range(segment.target_start, segment.target_start + len(segment.tokens))
        assert all(start <= source < stop for source, target in found.links or () if target in targets)


@pytest.mark.parametrize("mark", ["1. ", "- ", "•\t", "a) ", "☐ ", "- [x] ", "[ ] ", "> ", "  12)  ", "— "])
def test_the_marks_of_a_list_stay(translator: Translator, mark: str) -> None:
    assert translator.translate(f"{mark}{SENTENCES[0]} ", beam=1).text == f"{mark}{alone(SENTENCES[0])} "


def test_blanks_in_odd_places(translator: Translator) -> None:
    odd = ["How  are you , my\tfriend ?", "How are you, my friend ?", "\u00a0How are you,  my friend?"]
    assert {one.text.strip() for one in translator.translate(odd)} == {translator.translate("How are you, my friend?").text}


@pytest.mark.parametrize("sentence", [*SENTENCES, "hello", "It is late, and we must go home now; the bus has left."])
def test_a_line_of_one_sentence_is_what_it_was(translator: Translator, sentence: str) -> None:
    found, whole = (translator.n_best(sentence, 3, split_sentences=split) for split in (True, False))
    assert [pickle.dumps(one) for one in found] == [pickle.dumps(one) for one in whole]


@pytest.mark.parametrize("line", WITHOUT_LETTERS, ids=ascii)
def test_a_line_without_letters_is_left_alone(translator: Translator, line: str) -> None:
    (found,) = translator.n_best(line, 3)
    assert found.text == line
    assert found.tokens == found.source_tokens[:-1] == translator.source_words(line)
    assert found.links == {(place, place) for place in range(len(found.tokens))}
    assert (found.score, found.finished) == (0, True)
    json.dumps(found.to_dict())


def test_what_is_off_changes_nothing(translator: Translator, trained: Trained) -> None:
    off = translator.translate("  00:01:02,000 --> 00:01:04,000  It is late. ", split_sentences=False)
    assert len(off.segments) == 1
    assert off.text == off.text.strip()
    assert PRESETS["paper"]["search"]["split_sentences"] is False
    cut = trained("gated", "mlp").translate("Dog . Cat . 42")  # white space separates its words already
    assert len(cut.segments) == 1


def test_the_second_best_of_a_line_is_the_second_best_of_its_sentences(translator: Translator) -> None:
    sentences = [translator.n_best(sentence, 3) for sentence in BUS[:2]]
    found = translator.n_best(f"{BUS[0]}  🙂 {BUS[1]}", 3)
    for one, first, second in zip(found, *sentences, strict=True):
        assert one.text == f"{first.text}  🙂 {second.text}"
        assert one.score == pytest.approx(first.score + second.score, abs=1e-4)
        check_places(one)


def test_risk_and_samples_are_those_of_each_sentence(translator: Translator) -> None:
    for settings in ({"minimum_bayes_risk": True}, {"temperature": 0.5, "seed": 3}):
        texts = [translator.translate(sentence, **settings).text for sentence in BUS[:2]]
        assert translator.translate(" ".join(BUS[:2]), **settings).text == " ".join(texts)


def test_a_prefix_and_terms(translator: Translator) -> None:
    line = " ".join(BUS)
    found = translator.translate(line, prefix="Il pleut beaucoup", terms={"umbrella": "ombrelle", "bus": "car"})
    assert found.text.startswith("Il pleut beaucoup")
    placed = [(found.source_tokens[term.source_start], found.tokens[term.target_start]) for term in found.terms]
    assert placed == [("umbrella", "ombrelle"), ("bus", "car")]
    assert "beaucoup" in translator.translate("42", terms={"42": "beaucoup"}).text
    for prefix in ("Il pleut. Prends", "Il pleut. Prends ton parapluie. Le"):
        assert translator.translate(line, prefix=prefix).text.startswith(prefix)
    assert translator.translate("🙂 " + BUS[0], prefix="Oui").text.startswith("Oui")
    assert translator.n_best([line, "", "42"], 1, ["", "", ""])[1][0].text == ""
    with pytest.raises(RnnsearchError, match="1 prefixes for 2 lines"):
        translator.n_best([line, line], 1, ["Il"])


def test_html_is_not_cut_twice(translator: Translator) -> None:
    assert translator.translate_html(f"<p>{' '.join(BUS)}</p>\n<p>42</p>") == f"<p>{' '.join(in_french(BUS))}</p>\n<p>42</p>"


def test_an_rnnencdec_and_both_directions(trained: Trained) -> None:
    line = "The dog sees a cat.  42! A man has a book."
    plain = moses(trained("gated", "none")).translate(line)
    assert (plain.alignment, plain.links, len(plain.segments)) == (None, None, 3)
    one = moses(trained("gated", "mlp"))
    both = BidirectionalTranslator([one, one])
    found = both.n_best(line, 2)
    assert [each.text for each in found] == [each.text for each in one.n_best(line, 2)]
    assert "  42! " in found[0].text
    check_places(found[0])


def test_what_a_killed_run_has_kept_is_of_the_same_setting(translator: Translator) -> None:
    settings: list[dict[str, bool]] = [{"split_sentences": True}, {"split_sentences": False}, {}]
    runs = [Translate(translator, settings=each).identity() for each in settings]
    assert [run["split_sentences"] for run in runs] == [True, False, True]


@pytest.mark.slow
def test_the_commands(rnnsearch: Run, tmp_path: Path) -> None:
    source, reference = tmp_path / "text.en", tmp_path / "text.fr"
    source.write_text(f"  {BUS[0]} {BUS[1]}\n\n1\n00:01:02,000 --> 00:01:04,000\n{BUS[3]}\n", encoding="utf-8")
    reference.write_text("x\n" * 5, encoding="utf-8")
    rain, umbrella, _, late = in_french(BUS)
    cut = f"  {rain} {umbrella}\n\n1\n00:01:02,000 --> 00:01:04,000\n{late}\n"
    done = rnnsearch("translate", source)
    assert (done.status, done.out) == (0, cut)
    whole = rnnsearch("translate", source, "--no-split-sentences").out
    assert whole != cut
    assert rnnsearch("translate", source, "--set", "search.split_sentences=false").out == whole
    paper = [rnnsearch("translate", source, "--paper", *options).out for options in ((), ("--no-split-sentences",))]
    assert paper[0] == paper[1] != cut
    output = tmp_path / "out"
    for options, expected in (((), whole), (("--split-sentences",), cut)):
        done = rnnsearch("evaluate", "--model", "en-fr", "-s", source, "-r", reference, "--output", output, *options)
        assert done.status == 0, done.err
        assert output.read_text(encoding="utf-8") == expected
