"""Beam search against a literal one, a sentence and a hypothesis at a time, and against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from products import every_pair
from rnnsearch.config import ModelConfig, SearchConfig
from rnnsearch.model import RNNsearch
from rnnsearch.search import Hypothesis
from rnnsearch.search.plain import PlainBackend
from rnnsearch.search.ranking import Ranking
from rnnsearch.search.repetition import breaks_limits
from rnnsearch.text.vocabulary import END, UNK
from toy import ALIGNMENTS, CELLS, ORDERS, batch_of, beam_search, onnx_backend, random_model

VX = 6
PLAIN = SearchConfig(beam=3, length_normalization=0.0, maximum_length_ratio=2.0)
seeds = st.integers(0, 2**31)
sources = st.lists(st.lists(st.integers(1, VX - 1), max_size=5), min_size=1, max_size=4)


def model_of(
    seed: int, words: int = 7, cell: str = "gated", alignment: str = "mlp", order: str = ORDERS[0], scale: float = 0.8
) -> RNNsearch:
    config = ModelConfig(
        embedding_size=3,
        hidden_size=4,
        alignment_size=3,
        maxout_size=3,
        cell=cell,
        alignment=alignment,
        decoder_order=order,
    )
    return random_model(config, VX, words, seed, scale).eval()


def search(
    model: RNNsearch,
    sentences: list[list[int]],
    config: SearchConfig,
    prefixes: list[list[int]] | None = None,
) -> list[list[Hypothesis]]:
    """By the plain backend; that of ONNX Runtime is to find the same."""
    found, by_onnx = (
        beam_search(backend, sentences, config, prefixes) for backend in (PlainBackend(model), onnx_backend(model))
    )
    for other, plain in zip(by_onnx, found, strict=True):
        same(other, [(hypothesis.words, hypothesis.score, hypothesis.finished) for hypothesis in plain], tolerance=1e-4)
        for one, reference in zip(other, plain, strict=True):
            assert (one.alignment is None) == (reference.alignment is None)
            if one.alignment is not None:
                np.testing.assert_allclose(one.alignment, reference.alignment, rtol=0, atol=1e-4)
    return found


def next_log_p(model: RNNsearch, source: list[int], written: list[int]) -> tuple[np.ndarray, np.ndarray | None]:
    """log p of each next word, and the alignment of all words so far and the next, from scratch."""
    with torch.no_grad():
        output = model(*batch_of([(source, written)]))
        log_p_V = torch.log_softmax(output.logits_PV[-1], -1)
    alpha = output.decoded.alpha_TBS
    return (
        log_p_V.numpy(),
        None if alpha is None else alpha[: len(written), 0, : len(source) + 1].numpy(),
    )


def log_p(model: RNNsearch, source: list[int], words: list[int], finished: bool = True) -> float:
    written = [*words, END] if finished else words
    with torch.no_grad():
        log_p_PV = torch.log_softmax(model(*batch_of([(source, words)])).logits_PV, -1)
    return float(log_p_PV[torch.arange(len(written)), written].sum())


def literal_beam_search(
    model: RNNsearch, source: list[int], config: SearchConfig, prefix: list[int] | None = None
) -> list[tuple[list[int], float, bool]]:
    """As the paper's authors do it: the beam shrinks by one for each hypothesis that ends."""
    length, prefix = len(source) + 1, prefix or []
    longest = max(1, int(config.maximum_length_ratio * length)) + len(prefix)
    width = config.beam
    going: list[tuple[list[int], float]] = [([], 0.0)]
    ended: list[tuple[list[int], float, bool]] = []
    for step in range(longest):
        candidates = []
        for words, score in going:
            of_next = next_log_p(model, source, words)[0].copy()
            if step < int(config.minimum_length_ratio * length):
                of_next[END] = -np.inf
            if config.forbid_unk:
                of_next[UNK] = -np.inf
            if config.forbid_repetition:
                repeated = [word for word in range(len(of_next)) if word != END and breaks_limits(source, [*words, word])]
                of_next[repeated] = -np.inf
            if step < len(prefix):
                candidates.append((0.0, next_log_p(model, source, words)[0][prefix[step]] + score, [*words, prefix[step]]))
                continue
            by_p = sorted((-p, word) for word, p in enumerate(of_next) if p > -np.inf)
            candidates += [
                (score - minus_p - rank * config.diversity, score - minus_p, [*words, word])
                for rank, (minus_p, word) in enumerate(by_p)
            ]
        candidates.sort(key=lambda candidate: -candidate[0])
        going = []
        for _, score, words in candidates[:width]:
            if words[-1] == END:
                ended.append((words[:-1], score, True))
            else:
                going.append((words, score))
        width -= sum(words[-1] == END for _, _, words in candidates[:width])
        if not going or width == 0:
            break
    if not ended:
        ended = [(words, score, False) for words, score in going]
    return sorted(ended, key=lambda h: -h[1] / (len(h[0]) + 1) ** config.length_normalization)


def rank(hypothesis: Hypothesis, length_normalization: float, coverage: float = 0.0) -> float:
    """What the search compares hypotheses by."""
    ranking = Ranking(length_normalization, coverage)
    return ranking.score(hypothesis.score, len(hypothesis.words) + 1, hypothesis.alignment)


def same(found: list[Hypothesis], expected: list[tuple[list[int], float, bool]], tolerance: float = 1e-9) -> None:
    assert [hypothesis.words for hypothesis in found] == [words for words, _, _ in expected]
    assert [hypothesis.finished for hypothesis in found] == [finished for _, _, finished in expected]
    scores = [score for _, score, _ in expected]
    np.testing.assert_allclose([h.score for h in found], scores, rtol=tolerance / 100, atol=tolerance)


@pytest.mark.parametrize(("cell", "alignment", "order"), every_pair(CELLS, ALIGNMENTS, ORDERS))
@settings(max_examples=5)
@given(
    sentences=sources,
    beam=st.integers(1, 9),
    normalization=st.sampled_from((0.0, 0.6, 1.0)),
    forbid_unk=st.booleans(),
    minimum=st.sampled_from((0.0, 0.5, 1.0)),
    diversity=st.sampled_from((0.0, 0.0, 0.7)),
    prefix=st.lists(st.integers(1, 6), max_size=3),
    seed=seeds,
)
def test_it_finds_what_a_literal_search_finds(
    cell: str,
    alignment: str,
    order: str,
    sentences: list[list[int]],
    beam: int,
    normalization: float,
    forbid_unk: bool,
    minimum: float,
    diversity: float,
    prefix: list[int],
    seed: int,
) -> None:
    model = model_of(seed, cell=cell, alignment=alignment, order=order)
    config = SearchConfig(
        beam=beam,
        length_normalization=normalization,
        forbid_unk=forbid_unk,
        minimum_length_ratio=minimum,
        maximum_length_ratio=1.5,
        diversity=diversity,
    )
    prefixes = [prefix, *([] for _ in sentences[1:])]
    of_sentence = zip(sentences, prefixes, search(model, sentences, config, prefixes), strict=True)
    for sentence, given_words, found in of_sentence:
        same(found, literal_beam_search(model, sentence, config, given_words))
        for hypothesis in found:
            alpha = next_log_p(model, sentence, hypothesis.words)[1]
            if alpha is None:
                assert hypothesis.alignment is None
            else:
                assert hypothesis.alignment is not None
                assert hypothesis.alignment.shape == (len(hypothesis.words), len(sentence) + 1)
                np.testing.assert_allclose(hypothesis.alignment, alpha, rtol=0, atol=1e-6)


@settings(max_examples=15)
@given(
    sentences=sources,
    beam=st.integers(1, 5),
    diversity=st.sampled_from((0.0, 0.7)),
    prefix=st.lists(st.integers(1, 3), max_size=3),
    seed=seeds,
)
def test_what_may_not_be_repeated_is_what_a_literal_search_forbids(
    sentences: list[list[int]], beam: int, diversity: float, prefix: list[int], seed: int
) -> None:
    """The minimum length makes models go on that have nothing to say: they repeat themselves."""
    model = model_of(seed, words=5)
    config = replace(
        PLAIN,
        beam=beam,
        diversity=diversity,
        minimum_length_ratio=4.0,
        maximum_length_ratio=6.0,
        forbid_repetition=True,
    )
    prefixes = [prefix, *([] for _ in sentences[1:])]
    of_sentence = zip(sentences, prefixes, search(model, sentences, config, prefixes), strict=True)
    for sentence, given_words, found in of_sentence:
        same(found, literal_beam_search(model, sentence, config, given_words))
        assert not any(breaks_limits(sentence, hypothesis.words) for hypothesis in found)


@settings(max_examples=15)
@given(
    sentence=st.lists(st.integers(1, VX - 1), min_size=1, max_size=3),
    normalization=st.sampled_from((0.0, 1.0)),
    seed=seeds,
)
def test_a_beam_that_holds_everything_finds_the_best_of_all(sentence: list[int], normalization: float, seed: int) -> None:
    model, steps, words = model_of(seed, words=4), 3, 4
    ratio = (steps + 0.5) / (len(sentence) + 1)
    config = replace(PLAIN, beam=words**steps, length_normalization=normalization, maximum_length_ratio=ratio)
    every = [
        Hypothesis(list(choice), log_p(model, sentence, list(choice)), True, None)
        for length in range(steps)
        for choice in product(range(1, words), repeat=length)
    ]
    best = max(every, key=lambda hypothesis: rank(hypothesis, normalization))
    (found,) = search(model, [sentence], config)
    assert found[0].words == best.words
    assert found[0].score == pytest.approx(best.score, abs=1e-9)
    assert sorted(h.words for h in found) == sorted(h.words for h in every), "a hypothesis has been lost"


@settings(max_examples=25)
@given(sentences=sources, beam=st.integers(1, 6), forbid_unk=st.booleans(), seed=seeds)
def test_scores_are_log_probabilities_and_ranks_fall(
    sentences: list[list[int]], beam: int, forbid_unk: bool, seed: int
) -> None:
    model = model_of(seed)
    config = replace(PLAIN, beam=beam, forbid_unk=forbid_unk, length_normalization=0.7)
    for sentence, found in zip(sentences, search(model, sentences, config), strict=True):
        assert 1 <= len(found) <= beam
        assert len({tuple(hypothesis.words) for hypothesis in found}) == len(found), "the same translation twice"
        ranks = [rank(hypothesis, 0.7) for hypothesis in found]
        assert ranks == sorted(ranks, reverse=True)
        for hypothesis in found:
            assert hypothesis.score == pytest.approx(log_p(model, sentence, hypothesis.words, hypothesis.finished), abs=1e-9)
            assert END not in hypothesis.words


def biased(seed: int, word: int, bias: float) -> RNNsearch:
    """A model that much prefers a word, or shuns it."""
    model = model_of(seed)
    with torch.no_grad():
        model.readout.b_w[word] += bias
    return model


@settings(max_examples=15)
@given(sentences=sources, beam=st.integers(1, 6), seed=seeds)
def test_forbidden_unk_is_never_written(sentences: list[list[int]], beam: int, seed: int) -> None:
    model = biased(seed, UNK, 50)
    assert next_log_p(model, sentences[0], [])[0].argmax() == UNK
    for found in search(model, sentences, replace(PLAIN, beam=beam, forbid_unk=True)):
        assert not any(UNK in hypothesis.words for hypothesis in found)


@settings(max_examples=15)
@given(sentences=sources, ratio=st.sampled_from((0.0, 0.5, 1.0, 1.5)), seed=seeds)
def test_no_translation_is_shorter_than_the_minimum(sentences: list[list[int]], ratio: float, seed: int) -> None:
    model = biased(seed, END, 1000)
    for sentence, found in zip(sentences, search(model, sentences, replace(PLAIN, minimum_length_ratio=ratio)), strict=True):
        shortest = min(len(hypothesis.words) for hypothesis in found)
        assert shortest == int(ratio * (len(sentence) + 1)), "the end symbol of the source is counted"


@settings(max_examples=15)
@given(sentences=sources, ratio=st.sampled_from((0.3, 1.0, 2.5)), beam=st.integers(1, 4), seed=seeds)
def test_what_never_ends_is_cut_off_and_marked(sentences: list[list[int]], ratio: float, beam: int, seed: int) -> None:
    model = biased(seed, END, -1000)
    config = replace(PLAIN, maximum_length_ratio=ratio, beam=beam)
    for sentence, found in zip(sentences, search(model, sentences, config), strict=True):
        assert found
        for hypothesis in found:
            assert not hypothesis.finished
            assert len(hypothesis.words) == max(1, int(ratio * (len(sentence) + 1)))
            assert hypothesis.score == pytest.approx(log_p(model, sentence, hypothesis.words, False), abs=1e-9)
            assert hypothesis.alignment is not None
            assert hypothesis.alignment.shape == (len(hypothesis.words), len(sentence) + 1)


def test_what_ends_is_preferred_to_what_is_cut_off() -> None:
    """However improbable: an unfinished hypothesis is only returned where there is no other."""
    for seed in range(20):
        for found in search(model_of(seed), [[2, 3, 4], [5]], replace(PLAIN, beam=4, maximum_length_ratio=1.0)):
            assert len({hypothesis.finished for hypothesis in found}) == 1


def test_rank() -> None:
    short, long = Hypothesis([5], -2.0, True, None), Hypothesis([5, 6, 7], -3.0, True, None)
    assert rank(short, 0.0) > rank(long, 0.0)
    assert rank(short, 1.0) < rank(long, 1.0)
    assert (rank(short, 1.0), rank(long, 1.0)) == (-1.0, -0.75)
    assert rank(Hypothesis([], -0.5, True, None), 1.0) == -0.5


def test_coverage() -> None:
    """A source word that was read half costs log 2, one that was read twice costs nothing, the end symbol never does."""
    alignment = np.array([[0.5, 1, 0], [0, 1, 0]], np.float32)
    assert rank(Hypothesis([5, 6], -3.0, True, alignment), 1.0, 0.2) == pytest.approx(-1 - 0.2 * np.log(2))
    unread = rank(Hypothesis([5], -2.0, True, np.array([[0, 0, 1]], np.float32)), 1.0, 0.2)
    assert -np.inf < unread < -2
    assert rank(Hypothesis([5], -2.0, True, None), 1.0, 0.2) == -1


@settings(max_examples=15)
@given(sentences=sources, seed=seeds)
def test_coverage_decides_among_what_was_found(sentences: list[list[int]], seed: int) -> None:
    model = model_of(seed)
    plain, covered = (search(model, sentences, replace(PLAIN, coverage=coverage)) for coverage in (0.0, 3.0))
    for one, other in zip(plain, covered, strict=True):
        assert sorted(h.words for h in one) == sorted(h.words for h in other)
        ranks = [rank(hypothesis, 0.0, 3.0) for hypothesis in other]
        assert ranks == sorted(ranks, reverse=True)


@settings(max_examples=15)
@given(sentences=sources, beam=st.integers(1, 5), seats=st.integers(1, 4), temperature=st.sampled_from((0.7, 2)), seed=seeds)
def test_what_is_drawn_depends_on_nothing_but_sentence_and_seed(
    sentences: list[list[int]], beam: int, seats: int, temperature: float, seed: int
) -> None:
    model = model_of(seed)
    config = replace(PLAIN, beam=beam, temperature=temperature, seed=3)
    together = search(model, sentences, replace(config, batch_sentences=seats))
    for sentence, found in zip(sentences, together, strict=True):
        (alone,) = search(model, [sentence], config)
        same(found, [(h.words, h.score, h.finished) for h in alone])
        for hypothesis in found:
            expected = log_p(model, sentence, hypothesis.words, hypothesis.finished)
            assert hypothesis.score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("temperature", [pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_words_are_drawn_as_often_as_they_are_probable(temperature: float) -> None:
    model, draws = model_of(1), 10_000

    def drawn(**settings: float) -> list[Hypothesis]:
        config = replace(PLAIN, beam=1000, temperature=temperature, forbid_unk=True, maximum_length_ratio=0.3, **settings)
        seeds = range(draws // config.beam)
        return [found for seed in seeds for found in search(model, [[2, 3, 4]], replace(config, seed=seed))[0]]

    found = drawn()
    p = np.exp(next_log_p(model, [2, 3, 4], [])[0] / temperature)
    p[UNK] = 0
    p /= p.sum()
    # What ends at once has no words; what goes on is cut off after one, and is only there if nothing has ended.
    ended = sum(hypothesis.finished for hypothesis in found)
    assert ended / draws == pytest.approx(p[END], abs=4 * (p[END] / draws) ** 0.5)
    found = drawn(minimum_length_ratio=1.0)
    times = np.bincount([hypothesis.words[0] for hypothesis in found], minlength=len(p))
    p[END] = 0
    np.testing.assert_allclose(times / draws, p / p.sum(), rtol=0, atol=0.02)
    assert times[UNK] == 0


def test_another_seed_draws_others_and_hardly_any_temperature_draws_the_best() -> None:
    model, config = model_of(2), replace(PLAIN, beam=20, temperature=1.0)
    drawn = [search(model, [[2, 3, 4]], replace(config, seed=seed))[0] for seed in (1, 2)]
    assert [h.words for h in drawn[0]] != [h.words for h in drawn[1]]
    assert len({tuple(h.words) for h in drawn[0]}) > 3
    greedy = search(model, [[2, 3, 4]], replace(PLAIN, beam=1))[0]
    cold = search(model, [[2, 3, 4]], replace(PLAIN, beam=1, temperature=1e-4))[0]
    assert [h.words for h in cold] == [h.words for h in greedy]


@pytest.mark.parametrize("beam", [1, 3])
def test_where_every_word_is_forbidden_there_still_is_a_translation(beam: int) -> None:
    """A shortlist may hold nothing but the two symbols, when no word was seen often enough."""
    model = model_of(0, words=2)
    config = replace(PLAIN, beam=beam, forbid_unk=True, minimum_length_ratio=0.5)
    found = search(model, [[2, 3], [4]], config)
    assert all(hypotheses for hypotheses in found)


@settings(max_examples=20)
@given(sentences=sources, beam=st.integers(1, 6), order=st.randoms(use_true_random=False), seed=seeds)
def test_sentences_do_not_see_each_other(sentences: list[list[int]], beam: int, order: object, seed: int) -> None:
    model = model_of(seed)
    config = replace(PLAIN, beam=beam)
    together = search(model, sentences, config)
    for sentence, found in zip(sentences, together, strict=True):
        (alone,) = search(model, [sentence], config)
        same(found, [(hypothesis.words, hypothesis.score, hypothesis.finished) for hypothesis in alone])


@pytest.mark.parametrize("temperature", [1e-3, 1e-320])
def test_next_to_no_temperature_draws_the_most_probable_words(temperature: float) -> None:
    model, sentences = model_of(4), [[2, 3, 4], [5]]
    drawn = search(model, sentences, replace(PLAIN, beam=1, temperature=temperature))
    for of_drawn, of_best in zip(drawn, search(model, sentences, replace(PLAIN, beam=1)), strict=True):
        assert of_drawn[0].words == of_best[0].words
