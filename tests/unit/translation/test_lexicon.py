"""The lexicon: counted from attention, written and read, and what a selection makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.search.vocabulary_selection import LexicalSelection
from rnnsearch.text import Vocabularies
from rnnsearch.text.vocabulary import END, UNK, Vocabulary
from rnnsearch.translation import Translator
from rnnsearch.translation.lexicon import KEPT, LEXICON, Lexicon, LinkCounter
from toy import NOUNS, toy_config, toy_pairs, toy_system

Trained = Callable[..., Translator]
words = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=5)
counts_ = st.dictionaries(words, st.dictionaries(words, st.integers(1, 50), min_size=1, max_size=6), min_size=1, max_size=6)


def learned(translator: Translator, pairs: list[tuple[str, str]]) -> Lexicon:
    counter = LinkCounter(translator.system)
    for source, target in pairs:
        counter.add([source.split()], [target.split()])
    return Lexicon.from_counts(counter.counts)


@given(counts=counts_)
def test_what_is_written_is_read(counts: dict[str, dict[str, int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("lexicon")
    lexicon = Lexicon.from_counts({word: Counter(linked) for word, linked in counts.items()})
    lexicon.save(folder)
    read = Lexicon.load(folder)
    assert list(read.translations) == sorted(counts)
    for word, linked in counts.items():
        probabilities = [probability for _, probability in read.translations[word]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) == pytest.approx(1, abs=1e-4)
        total = sum(linked.values())
        for other, probability in read.translations[word]:
            assert probability == pytest.approx(linked[other] / total, rel=1e-5)


def test_only_the_best_translations_are_kept() -> None:
    counts = {"a": Counter({f"b{i:03}": 1 + i for i in range(KEPT + 20)})}
    kept = Lexicon.from_counts(counts).translations["a"]
    assert len(kept) == KEPT
    assert kept[0][0] == f"b{KEPT + 19:03}"


def test_it_is_learned_from_attention(trained: Trained) -> None:
    lexicon = learned(trained("gated", "mlp"), toy_pairs(200, seed=5))
    right = sum(lexicon.translations[noun][0][0] == translation for noun, translation in NOUNS.items())
    assert right >= len(NOUNS) / 2, {noun: lexicon.translations[noun][:3] for noun in NOUNS}
    names = [word for word in lexicon.translations if word.startswith("Name")]
    assert names, "words outside the vocabulary have entries of their own"
    assert "[UNK]" in lexicon.translations, "and one together"


def test_grouping_of_pairs_does_not_matter(trained: Trained) -> None:
    translator, pairs = trained("gated", "mlp"), toy_pairs(30, seed=6)
    counter = LinkCounter(translator.system)
    counter.add([source.split() for source, _ in pairs], [target.split() for _, target in pairs])
    assert Lexicon.from_counts(counter.counts).translations == learned(translator, pairs).translations


def test_what_is_too_long_or_empty_is_passed_over() -> None:
    counter = LinkCounter(toy_system(toy_config(data={"max_length": 3})))
    counter.add([["the"] * 4, [], ["the"]], [["le"], ["le"], []])
    assert counter.counts == {}


def test_no_alignment_no_lexicon() -> None:
    with pytest.raises(RnnsearchError, match="RNNencdec"):
        LinkCounter(toy_system(toy_config(model={"alignment": "none"})))


def test_a_selection_has_the_frequent_words_and_the_best_candidates() -> None:
    source, target = Vocabulary(["x", "y"]), Vocabulary(["a", "b", "c", "d", "e"])
    lexicon = Lexicon(
        {
            "x": [("e", 0.5), ("rare", 0.2), ("d", 0.2), ("c", 0.1)],
            "y": [("a", 1.0)],
            "unknown": [("b", 1.0)],
            "[UNK]": [("c", 1.0)],
        }
    )
    selection = LexicalSelection(lexicon.translations, Vocabularies(source, target), frequent=1, candidates=3)
    assert selection.frequent == 3, "the two symbols, and one word"
    (x, y), (e, d, c) = source.encode(["x", "y"]), target.encode(["e", "d", "c"])
    assert selection.candidates([x]) == sorted([e, d])
    assert selection.candidates([y]) == []
    assert selection.candidates([y, UNK, x, x]) == sorted([e, d, c])
    assert selection.candidates([]) == []
    everything = LexicalSelection(lexicon.translations, Vocabularies(source, target), frequent=100, candidates=3)
    assert everything.frequent == len(target)
    assert selection.frequent > END


def test_a_translator_uses_it(trained: Trained, tmp_path: Path) -> None:
    system = trained("gated", "mlp").system
    translator = Translator([system], tmp_path)
    learned(translator, toy_pairs(200, seed=5)).save(tmp_path)
    sources = [source for source, _ in toy_pairs(10, seed=7)]
    whole = translator.translate(sources, vocabulary_selection=0)
    everything = translator.translate(sources, vocabulary_selection=len(system.vocabularies.target))
    assert [t.text for t in everything] == [t.text for t in whole]
    np.testing.assert_allclose([t.score for t in everything], [t.score for t in whole], rtol=0, atol=1e-4)
    few = set(system.vocabularies.target.words[:4])
    candidates = LexicalSelection(translator.lexicon.translations, system.vocabularies, frequent=2, candidates=1)
    for translation in translator.translate(sources, vocabulary_selection=2, selection_candidates=1):
        ids = candidates.candidates(system.vocabularies.source.encode(translation.source_tokens[:-1]))
        assert set(translation.tokens) <= few | set(system.vocabularies.target.decode(ids))


def test_errors(trained: Trained, tmp_path: Path) -> None:
    translator = Translator([trained("gated", "mlp").system], tmp_path)
    with pytest.raises(RnnsearchError, match="rnnsearch lexicon --model"):
        translator.translate("the dog", vocabulary_selection=10)
    (tmp_path / LEXICON).write_text("a\tb\t0.5\na b 0.5\n")
    with pytest.raises(RnnsearchError, match=f"{LEXICON}:2"):
        translator.translate("the dog", vocabulary_selection=10)
    with pytest.raises(RnnsearchError, match="this model has no folder"):
        Translator([trained("gated", "mlp").system]).translate("the dog", vocabulary_selection=10)
