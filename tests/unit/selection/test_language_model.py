"""The n-gram model against its formula, read slowly."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.pack import Sentences
from rnnsearch.selection.language_model import LanguageModel, perplexity

SIZE = 6
ORDERS = (1, 2, 3, 4)

Text = list[list[int]]

words = st.integers(1, SIZE - 1)
texts = st.lists(st.lists(words, max_size=8), min_size=1, max_size=12)


def sentences(text: Text) -> Sentences:
    ids = [word for sentence in text for word in sentence]
    return Sentences(np.array(ids, dtype=np.int32), np.array([len(sentence) for sentence in text], dtype=np.int32))


def zipfian(count: int, size: int, seed: int) -> Text:
    """Sentences in which words are as unequal as in language, and follow each other."""
    generator = np.random.default_rng(seed)
    text = []
    for _ in range(count):
        sentence = [int(word) for word in np.minimum(generator.zipf(1.5, generator.integers(0, 15)), size - 1)]
        text.append([word if generator.random() < 0.7 else previous for previous, word in zip([1, *sentence], sentence)])  # noqa: B905
    return text


class Direct:
    """Interpolated modified Kneser–Ney as Chen and Goodman (1999) write it, one n-gram after the other."""

    def __init__(self, text: Text, size: int, order: int) -> None:
        self.size, self.order = size, order
        begin = size
        counts: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(order + 1)]
        for sentence in text:
            line = [begin, *sentence, 0]
            for end, length in product(range(1, len(line)), range(1, order + 1)):
                if end - length + 1 >= 0:
                    counts[length][tuple(line[end - length + 1 : end + 1])] += 1
        self.adjusted = counts
        for length in range(1, order):
            before = {ngram: set() for ngram in counts[length]}
            for longer in counts[length + 1]:
                before[longer[1:]].add(longer[0])
            self.adjusted[length] = Counter(
                {n: count if n[0] == begin else len(before[n]) for n, count in counts[length].items()}
            )
        self.discounts = [self._discounts(length) for length in range(order + 1)]

    def _discounts(self, length: int) -> list[float]:
        n = Counter(self.adjusted[length].values())
        if not all(n[k] for k in (1, 2, 3, 4)):
            return [0.5, 1.0, 1.5]
        y = n[1] / (n[1] + 2 * n[2])
        found = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
        return found if min(found) > 0 else [0.5, 1.0, 1.5]

    def probability(self, word: int, history: tuple[int, ...]) -> float:
        history = history[max(0, len(history) - self.order + 1) :]
        lower = self.probability(word, history[1:]) if history else 1 / self.size
        length = len(history) + 1
        followers = {n[-1]: c for n, c in self.adjusted[length].items() if n[:-1] == history}
        if not followers:
            return lower
        discounts = self.discounts[length]
        total = sum(followers.values())
        gamma = sum(discounts[min(c, 3) - 1] for c in followers.values()) / total
        count = followers.get(word, 0)
        own = max(count - discounts[min(count, 3) - 1], 0) / total if count else 0.0
        return own + gamma * lower


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [3, 60])
def test_probabilities_are_those_of_the_formula(order: int, count: int) -> None:
    """With so little text that the discounts cannot be estimated, and with enough."""
    text, test = zipfian(count, 20, seed=1), zipfian(30, 20, seed=2)
    direct = Direct(text, 20, order)
    model = LanguageModel.train([sentences(text)], 20, order)
    expected = []
    for sentence in test:
        line = [20, *sentence, 0]
        expected += [direct.probability(line[end], tuple(line[:end])) for end in range(1, len(line))]
    logs = model.log2_probabilities(sentences(test))
    np.testing.assert_allclose(logs, np.log2(expected), rtol=1e-12)
    assert perplexity(model, [sentences(test[:10]), sentences(test[10:])]) == pytest.approx(2 ** -np.log2(expected).mean())
    if order > 1 and count == 60:
        assert direct.discounts[2] != [0.5, 1.0, 1.5]  # the estimates were tested too


@given(texts, st.sampled_from(ORDERS), st.lists(words, max_size=5))
def test_probabilities_sum_to_one_whatever_came_before(text: Text, order: int, history: list[int]) -> None:
    model = LanguageModel.train([sentences(text)], SIZE, order)
    continued = [[*history, word] for word in range(1, SIZE)]
    of_words = [model.log2_probabilities(sentences([line]))[len(history)] for line in continued]
    of_end = model.log2_probabilities(sentences([history]))[-1]
    assert np.exp2([*of_words, of_end]).sum() == pytest.approx(1, abs=1e-12)


@given(texts, st.sampled_from(ORDERS), st.integers(1, 5))
def test_blocks_do_not_matter(text: Text, order: int, block: int) -> None:
    """Neither in training, nor in what is asked."""
    whole = LanguageModel.train([sentences(text)], SIZE, order)
    blocks = [sentences(text[start : start + block]) for start in range(0, len(text), block)]
    in_blocks = LanguageModel.train([*blocks, sentences([])], SIZE, order)
    logs = whole.log2_probabilities(sentences(text))
    assert logs.tolist() == np.concatenate([in_blocks.log2_probabilities(part) for part in blocks]).tolist()


def test_cross_entropies_are_bits_a_word() -> None:
    text = zipfian(40, 20, seed=3)
    model = LanguageModel.train([sentences(text)], 20, 3)
    asked = [*zipfian(5, 20, seed=4), []]
    expected = [-model.log2_probabilities(sentences([line])).sum() / (len(line) + 1) for line in asked]
    np.testing.assert_allclose(model.cross_entropies(sentences(asked)), expected, rtol=1e-12)
    assert len(model.cross_entropies(sentences([]))) == 0


@pytest.mark.parametrize("order", ORDERS)
def test_without_text_all_words_are_equal(order: int) -> None:
    model = LanguageModel.train([], SIZE, order)
    np.testing.assert_allclose(model.log2_probabilities(sentences([[1, 2], []])), -np.log2(SIZE))


def test_a_longer_memory_predicts_better() -> None:
    text, test = zipfian(3000, 200, seed=5), zipfian(300, 200, seed=6)
    one, two = (perplexity(LanguageModel.train([sentences(text)], 200, order), [sentences(test)]) for order in (1, 2))
    assert two < one < 200
