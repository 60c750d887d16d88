"""The words that may come next in a translation, and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from rnnsearch.config import ModelConfig
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import RNNsearch
from rnnsearch.search import next_words
from rnnsearch.search.backend import Backend
from rnnsearch.search.plain import PlainBackend
from rnnsearch.text.vocabulary import END, UNK
from rnnsearch.translation import Translator
from toy import onnx_backend, random_model

Trained = Callable[..., Translator]
LINE = "the big dog sees a red cat ."


@pytest.fixture
def translator(trained: Trained) -> Translator:
    return trained("gated", "mlp")


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_a_probability_is_that_of_the_word_in_a_given_translation(trained: Trained, alignment: str) -> None:
    translator = trained("gated", alignment)
    for prefix in ("", "le grand", "le grand chien voit"):
        words = translator.next_words(LINE, prefix, 5, forbid_unk=True)
        assert len(words) == 5
        place = len(prefix.split())
        for word, probability in words:
            pair = translator.score(LINE, prefix if word is None else f"{prefix} {word}")
            assert probability == pytest.approx(math.exp(pair.word_scores[place]), rel=1e-4)


def test_all_words_together_have_probability_one(translator: Translator) -> None:
    words = translator.next_words(LINE, "le", 10_000)
    assert sum(probability for _, probability in words) == pytest.approx(1, abs=1e-4)
    assert words == sorted(words, key=lambda one: -one.probability)
    known = translator.system.vocabularies.target.words
    assert {word for word, _ in words} == {None, *known[1:]}
    assert "[UNK]" not in {word for word, _ in translator.next_words(LINE, "le", 10_000, forbid_unk=True)}


def test_the_best_word_is_the_one_that_a_greedy_search_takes(translator: Translator) -> None:
    greedy = translator.translate(LINE, beam=1)
    for place in range(len(greedy.tokens)):
        best = translator.next_words(LINE, " ".join(greedy.tokens[:place]), 1)[0]
        assert best.word == greedy.tokens[place]
    assert translator.next_words(LINE, greedy.text, 1)[0].word is None


@pytest.mark.parametrize("kind", [onnx_backend, PlainBackend])
def test_subwords_go_on_until_one_begins_a_word(kind: Callable[[RNNsearch], Backend]) -> None:
    sizes = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 3}
    backend = kind(random_model(ModelConfig(**sizes), 6, 9, 3, 2.0).eval())
    found = next_words(backend, [2, 3, 4], [5], 4, True, lambda word: word > 4)
    assert [probability for _, probability in found] == sorted((probability for _, probability in found), reverse=True)
    alone = {ids[0]: probability for ids, probability in next_words(backend, [2, 3, 4], [5], 4, True, lambda word: False)}
    assert {ids[0] for ids, _ in found} == set(alone)
    assert UNK not in alone
    assert any(len(ids) > 1 for ids, _ in found)
    for ids, probability in found:
        assert all(word > 4 for word in ids[1:])
        expected = alone[ids[0]]
        for place in range(1, len(ids)):
            best, share = next_words(backend, [2, 3, 4], [5, *ids[:place]], 1, False, lambda word: False)[0]
            assert best == [ids[place]]
            expected *= share
        assert probability == pytest.approx(expected, rel=1e-4)
        if ids != [END] and len(ids) < 20:
            after = next_words(backend, [2, 3, 4], [5, *ids], 1, False, lambda word: False)[0][0][0]
            assert after <= 4


def test_a_line_that_has_no_next_word(translator: Translator) -> None:
    for line, told in ((" ", "has no words"), ("the " * 500, "longer than search.max_segment"), (3, "line = 3")):
        with pytest.raises(RnnsearchError, match=told):
            translator.next_words(line)  # type: ignore[arg-type]
    for count in (0, True, 1.5):
        with pytest.raises(RnnsearchError, match="count"):
            translator.next_words(LINE, "", count)  # type: ignore[arg-type]
    assert np.isclose(sum(p for _, p in translator.next_words(LINE, "", 10_000, beam=1)), 1, atol=1e-4)


def test_settings_that_a_search_refuses_are_refused(translator: Translator) -> None:
    with pytest.raises(RnnsearchError, match="beam"):
        translator.next_words(LINE, beam=0)
