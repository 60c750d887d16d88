"""A translation depends on its own sentence and on nothing around it: for both models, every cell, any beam."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.translation import Translation, Translator, score_pairs
from rnnsearch.translation.lexicon import Lexicon, LinkCounter
from toy import ALIGNMENTS, CELLS, ORDERS, SOURCE_WORDS, toy_pairs

words = st.sampled_from([*SOURCE_WORDS, "Name7", "zzz"])
lines = st.one_of(
    st.sampled_from([source for source, _ in toy_pairs(50, seed=9)]),
    st.lists(words, max_size=40).map(" ".join),
)
MARKS = {("gated", "mlp"): (), ("gated", "none"): (), ("lstm", "mlp"): (pytest.mark.slow,)}
every_model = pytest.mark.parametrize(
    ("cell", "alignment"),
    [
        pytest.param(cell, alignment, marks=MARKS.get((cell, alignment), (pytest.mark.nightly,)))
        for cell in CELLS
        for alignment in ALIGNMENTS
    ],
)
Trained = Callable[..., Translator]


def same(one: Translation, other: Translation) -> None:
    assert one.text == other.text
    assert one.tokens == other.tokens
    assert one.source_tokens == other.source_tokens
    assert one.finished == other.finished
    assert one.score == pytest.approx(other.score, abs=1e-4)
    assert (one.alignment is None) == (other.alignment is None)
    if one.alignment is not None:
        np.testing.assert_allclose(one.alignment, other.alignment, rtol=0, atol=1e-4)


@every_model
@settings(max_examples=8)
@given(
    line=lines,
    others=st.lists(lines, max_size=6),
    beam=st.sampled_from((1, 2, 5)),
    n=st.sampled_from((1, 3)),
    batch_sentences=st.integers(1, 8),
    random=st.randoms(use_true_random=False),
)
def test_neither_the_other_lines_nor_their_order_nor_the_batch_size_matter(
    trained: Trained,
    cell: str,
    alignment: str,
    line: str,
    others: list[str],
    beam: int,
    n: int,
    batch_sentences: int,
    random: Random,
) -> None:
    translator = trained(cell, alignment)
    (alone,) = translator.n_best([line], n, beam=beam)
    place = random.randrange(len(others) + 1)
    many = [*others[:place], line, *others[place:]]
    together = translator.n_best(many, n, beam=beam, batch_sentences=batch_sentences)[place]
    assert len(together) == len(alone)
    for one, other in zip(alone, together, strict=True):
        same(one, other)


@pytest.mark.parametrize("alignment", ["mlp", pytest.param("none", marks=pytest.mark.slow)])
def test_a_whole_file_at_once_or_line_by_line_in_the_other_order(trained: Trained, alignment: str) -> None:
    translator = trained("gated", alignment, ORDERS[1])
    sources = [source for source, _ in toy_pairs(30, seed=11)]
    one_by_one = [translator.translate(source) for source in sources]
    reversed_ = translator.translate(sources[::-1], batch_sentences=7)[::-1]
    for alone, together in zip(one_by_one, reversed_, strict=True):
        same(alone, together)


@settings(max_examples=10)
@given(line=lines, others=st.lists(lines, max_size=6), batch_sentences=st.integers(1, 4))
@pytest.mark.parametrize(
    "how",
    [
        {"precision": "int8"},
        {"vocabulary_selection": 3},
        {"vocabulary_selection": 5, "selection_candidates": 1, "precision": "int8"},
    ],
)
def test_nor_with_int8_and_vocabulary_selection(
    with_lexicon: Translator, how: dict[str, object], line: str, others: list[str], batch_sentences: int
) -> None:
    alone = with_lexicon.translate(line, **how)
    together = with_lexicon.translate([*others, line], batch_sentences=batch_sentences, **how)[-1]
    same(alone, together)


def test_selected_words_sum_up_alike_beside_longer_candidates(with_lexicon: Translator) -> None:
    """The candidates of other sentences make the list no longer: all scores are the same to the last bit."""
    sources = [source for source, _ in toy_pairs(40, seed=21)] + [""]
    for precision in ("fp32", "int8"):
        how: dict[str, object] = {"vocabulary_selection": 3, "selection_candidates": 2, "precision": precision}
        alone = [with_lexicon.translate(line, **how).score for line in sources]
        assert [t.score for t in with_lexicon.translate(sources, batch_sentences=7, **how)] == alone


@pytest.fixture(scope="module")
def with_lexicon(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A trained model with a lexicon."""
    translator, folder = trained("gated", "mlp"), tmp_path_factory.mktemp("lexicon")
    counter = LinkCounter(translator.system)
    pairs = toy_pairs(100, seed=13)
    counter.add([source.split() for source, _ in pairs], [target.split() for _, target in pairs])
    Lexicon.from_counts(counter.counts).save(folder)
    return Translator([translator.system], folder)


@every_model
@settings(max_examples=6)
@given(chosen=st.lists(lines, min_size=1, max_size=5), beam=st.sampled_from((1, 4)))
def test_the_score_of_a_translation_is_that_of_the_pair(
    trained: Trained, cell: str, alignment: str, chosen: list[str], beam: int
) -> None:
    translator = trained(cell, alignment)
    found = [t for t in translator.translate(chosen, beam=beam) if t.finished and t.source_tokens != ["</s>"]]
    pairs = score_pairs([translator.system], [t.source_tokens[:-1] for t in found], [t.tokens for t in found])
    for translation, pair in zip(found, pairs, strict=True):
        assert pair.score == pytest.approx(translation.score, abs=1e-4)
        assert sum(pair.word_scores) == pytest.approx(pair.score, abs=1e-9)
        assert len(pair.word_scores) == len(pair.tokens) + 1
        assert (pair.tokens, pair.source_tokens) == (translation.tokens, translation.source_tokens)
        if alignment == "none":
            assert pair.alignment is None
            assert translation.alignment is None
        else:
            assert pair.alignment is not None
            np.testing.assert_allclose(pair.alignment, translation.alignment, rtol=0, atol=1e-4)


@every_model
@settings(max_examples=6)
@given(data=st.data())
def test_a_score_does_not_depend_on_the_pairs_beside_it(
    trained: Trained, cell: str, alignment: str, data: st.DataObject
) -> None:
    system = trained(cell, alignment).system
    sentence = st.lists(words, max_size=12)
    pairs = data.draw(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6))
    together = score_pairs([system], [source for source, _ in pairs], [target for _, target in pairs])
    for (source, target), beside in zip(pairs, together, strict=True):
        (alone,) = score_pairs([system], [source], [target])
        assert alone.score == pytest.approx(beside.score, abs=1e-4)
        if alone.alignment is not None:
            assert alone.alignment.shape == (len(target), len(source) + 1)
            np.testing.assert_allclose(alone.alignment, beside.alignment, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("alignment", "share"), [("mlp", 0.7), ("none", 0.48)])
def test_the_models_have_learned_something(trained: Trained, alignment: str, share: float) -> None:
    """Otherwise the properties above would be those of noise."""
    translator = trained("gated", alignment)
    unseen = toy_pairs(40, seed=12)
    found = translator.translate([source for source, _ in unseen])
    words_right = [
        len(set(t.text.split()) & set(target.split())) / len(set(target.split()))
        for t, (_, target) in zip(found, unseen, strict=True)
    ]
    assert np.mean(words_right) > share
    assert len({t.text for t in found}) > 20
