"""Minibatches: padding, pools, epochs, and access by number."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from rnnsearch.data.batches import WIDTH_MULTIPLE, Batch, BatchStream, Guide, SubwordSampling, make_batch
from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import Subwords, Vocabularies, Vocabulary

Shuffle = Literal["once", "epoch"]
PAIRS, BATCH, POOL = 103, 4, 5
BATCHES = 26


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PackedCorpus:
    """Pair i is the words i+2, 2, 2, … on the source side, of a random length, and a random target."""
    path = tmp_path_factory.mktemp("corpus") / "train.arrow"
    random = np.random.default_rng(0)
    blocks = []
    for start in range(0, PAIRS, 40):
        rows = range(start, min(start + 40, PAIRS))
        sides = []
        for _ in range(2):
            lengths = random.integers(1, 12, len(rows)).astype(np.int32)
            ids = np.full(lengths.sum(), 2, dtype=np.int32)
            ids[np.cumsum(lengths) - lengths] = np.array(rows) + 2
            sides.append(Sentences(ids, lengths))
        blocks.append((sides[0], sides[1]))
    write_packed(path, blocks, source_size=PAIRS + 2, target_size=PAIRS + 2)
    return PackedCorpus.open(path)


def stream(corpus: PackedCorpus, shuffle: Shuffle, seed: int = 1) -> BatchStream:
    return BatchStream(corpus, batch_size=BATCH, pool_batches=POOL, shuffle=shuffle, seed=seed)


def pairs_of(batch: Batch) -> list[int]:
    assert (batch.source_BS[:, 0] == batch.target_BT[:, 0]).all()
    return [int(word) - 2 for word in batch.source_BS[:, 0]]


def same(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


def test_sentences_end_and_are_padded_with_the_end_symbol() -> None:
    batch = make_batch([([5, 6, 7, 8], [8]), ([9], [3, 4]), ([], [])])
    assert batch.source_BS.tolist() == [[5, 6, 7, 8, 0, 0, 0, 0], [9, *[0] * 7], [0] * 8]
    assert batch.source_lengths_B.tolist() == [5, 2, 1]
    assert batch.target_BT.tolist() == [[8, 0, 0, 0], [3, 4, 0, 0], [0, 0, 0, 0]]
    assert batch.target_lengths_B.tolist() == [2, 3, 1]
    assert batch.source_BS.shape[1] % WIDTH_MULTIPLE == batch.target_BT.shape[1] % WIDTH_MULTIPLE == 0
    assert all(value.dtype == np.int64 for value in vars(batch).values() if value is not None)


@pytest.mark.parametrize("shuffle", ["once", "epoch"])
def test_a_streamed_batch_is_what_make_batch_gives(corpus: PackedCorpus, shuffle: Shuffle) -> None:
    batches = stream(corpus, shuffle)
    for number in (0, 7, BATCHES - 1, BATCHES + 3):
        batch = batches.batch(number)
        assert same(batch, make_batch([corpus.pair(pair) for pair in pairs_of(batch)]))


@pytest.mark.parametrize("shuffle", ["once", "epoch"])
def test_every_pair_comes_once_an_epoch(corpus: PackedCorpus, shuffle: Shuffle) -> None:
    batches = stream(corpus, shuffle)
    assert batches.batches_per_epoch == BATCHES
    for epoch in range(3):
        numbers = range(epoch * BATCHES, (epoch + 1) * BATCHES)
        seen = [pair for number in numbers for pair in pairs_of(batches.batch(number))]
        assert sorted(seen) == list(range(PAIRS))


@pytest.mark.parametrize("shuffle", ["once", "epoch"])
def test_a_batch_depends_on_its_number_alone(corpus: PackedCorpus, shuffle: Shuffle) -> None:
    batches = stream(corpus, shuffle)
    in_order = [batches.batch(number) for number in range(3 * BATCHES)]
    for number in np.random.default_rng(3).permutation(3 * BATCHES):
        assert same(batches.batch(int(number)), in_order[number])
    assert same(stream(corpus, shuffle).batch(BATCHES + 9), in_order[BATCHES + 9])


def test_once_sorts_each_pool_of_the_corpus_order(corpus: PackedCorpus) -> None:
    batches = stream(corpus, "once", seed=99)
    longest, targets = np.maximum(*corpus.lengths()), corpus.lengths()[1]
    size = BATCH * POOL
    for start in range(0, PAIRS, size):
        numbers = range(start // BATCH, min(start // BATCH + POOL, BATCHES))
        seen = [pair for number in numbers for pair in pairs_of(batches.batch(number))]
        assert sorted(seen) == list(range(start, min(start + size, PAIRS)))
        cuts = [seen[i : i + BATCH] for i in range(0, len(seen), BATCH)]
        assert all(longest[one].max() <= longest[other].min() for one, other in pairwise(cuts))
        assert all(targets[one] >= targets[other] for cut in cuts for one, other in pairwise(cut))
    assert same(batches.batch(3), batches.batch(3 + BATCHES))


def test_epochs_differ_in_pairs_and_in_the_order_of_batches(corpus: PackedCorpus) -> None:
    batches = stream(corpus, "epoch")
    first, second = ([pairs_of(batches.batch(e * BATCHES + i)) for i in range(BATCHES)] for e in (0, 1))
    assert set(map(frozenset, first)) != set(map(frozenset, second))
    assert [*map(len, first)] != sorted(map(len, first), reverse=True) or first != second
    longest = np.maximum(*corpus.lengths())
    batch_lengths = [max(longest[pairs]) for pairs in first]
    pools = [batch_lengths[start : start + POOL] for start in range(0, BATCHES, POOL)]
    assert any(pool != sorted(pool) for pool in pools)
    for pairs in first:
        targets = corpus.lengths()[1]
        assert all(targets[one] >= targets[other] for one, other in pairwise(pairs))


def test_the_seed_decides_the_epochs(corpus: PackedCorpus) -> None:
    assert pairs_of(stream(corpus, "epoch", 1).batch(0)) != pairs_of(stream(corpus, "epoch", 2).batch(0))


def test_a_corpus_smaller_than_a_batch_is_one_batch(tmp_path: Path) -> None:
    side = Sentences(np.array([2, 3], dtype=np.int32), np.array([1, 1], dtype=np.int32))
    write_packed(tmp_path / "x.arrow", [(side, side)], source_size=4, target_size=4)
    batches = stream(PackedCorpus.open(tmp_path / "x.arrow"), "epoch")
    assert batches.batches_per_epoch == 1
    assert sorted(pairs_of(batches.batch(5))) == [0, 1]


LETTERS = "abcdefghij"
WORDS = {LETTERS[i % 10] + LETTERS[i // 10] + LETTERS[i % 7]: 1 + i for i in range(100)}


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def in_subwords(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[PackedCorpus, Vocabulary]:
    """Sentences of known words, the same on both sides but for the length, and the vocabulary of their subwords."""
    subwords = Subwords.train(WORDS, request.param, 60)
    vocabulary = Vocabulary(subwords.inventory, subwords)
    random = np.random.default_rng(0)
    sides = []
    for _ in range(2):
        sentences = [vocabulary.encode(random.choice(list(WORDS), random.integers(1, 9)).tolist()) for _ in range(PAIRS)]
        ids = np.array([i for sentence in sentences for i in sentence], np.int32)
        sides.append(Sentences(ids, np.array(list(map(len, sentences)), np.int32)))
    path = tmp_path_factory.mktemp("pieces") / "train.arrow"
    write_packed(path, [(sides[0], sides[1])], source_size=len(vocabulary), target_size=len(vocabulary))
    return PackedCorpus.open(path), vocabulary


def test_sampled_segmentations_are_of_the_same_words_and_depend_on_the_number_alone(
    in_subwords: tuple[PackedCorpus, Vocabulary],
) -> None:
    corpus, vocabulary = in_subwords

    def sampled(seed: int = 1) -> BatchStream:
        sampling = SubwordSampling(Vocabularies(vocabulary, vocabulary), 0.3, seed)
        return BatchStream(corpus, batch_size=BATCH, pool_batches=POOL, shuffle="once", seed=1, subword_sampling=sampling)

    def words(batch: Batch) -> list[tuple[list[str], list[str]]]:
        sides = ((batch.source_BS, batch.source_lengths_B), (batch.target_BT, batch.target_lengths_B))
        joined = [
            [vocabulary.join(row[: length - 1])[0] for row, length in zip(rows.tolist(), lengths, strict=True)]
            for rows, lengths in sides
        ]
        return sorted(zip(*joined, strict=True))

    plain, first, second = stream(corpus, "once"), sampled(), sampled()
    later = {number: second.batch(number) for number in reversed(range(2 * BATCHES))}
    for number in range(BATCHES):
        batch = first.batch(number)
        assert words(batch) == words(plain.batch(number))
        assert same(batch, later[number])
        assert (np.diff(batch.target_lengths_B) <= 0).all()
    assert not all(same(later[number], later[number + BATCHES]) for number in range(BATCHES))
    assert not all(same(later[number], sampled(seed=2).batch(number)) for number in range(BATCHES))


def test_whole_words_cannot_be_resampled() -> None:
    with pytest.raises(RnnsearchError, match=r"subword_sampling = 0\.1: these words are not segmented"):
        SubwordSampling(Vocabularies(Vocabulary(["a"]), Vocabulary(["b"])), 0.1, seed=1)


@pytest.mark.parametrize("resample", [False, True])
def test_a_guide_links_the_pieces_of_linked_words(
    in_subwords: tuple[PackedCorpus, Vocabulary], tmp_path: Path, resample: bool
) -> None:
    """Whatever the segmentation, and whatever the order in the minibatch."""
    corpus, vocabulary = in_subwords
    random, words, links = np.random.default_rng(1), [], []
    for number in range(len(corpus)):
        source, target = (vocabulary.join(side.tolist())[0] for side in corpus.pair(number))
        words.append((source, target))
        chosen = {(int(random.integers(len(source))), int(random.integers(len(target)))) for _ in range(3)}
        links.append(sorted(chosen))
    ends = [
        Sentences(
            np.array([link[side] for of_pair in links for link in of_pair], np.int32),
            np.array([len(of_pair) for of_pair in links], np.int32),
        )
        for side in (0, 1)
    ]
    write_packed(tmp_path / "links.arrow", [(ends[0], ends[1])], source_size=100, target_size=100)
    guide = Guide(PackedCorpus.open(tmp_path / "links.arrow"), Vocabularies(vocabulary, vocabulary))
    sampling = SubwordSampling(Vocabularies(vocabulary, vocabulary), 0.3, 1) if resample else None
    batches = BatchStream(
        corpus, batch_size=BATCH, pool_batches=POOL, shuffle="epoch", seed=1, subword_sampling=sampling, guide=guide
    )
    seen = 0
    for number in range(BATCHES):
        batch = batches.batch(number)
        assert batch.guide_BTS is not None
        for b, guide_TS in enumerate(batch.guide_BTS):
            S, T = batch.source_lengths_B[b] - 1, batch.target_lengths_B[b] - 1
            source, of_source = vocabulary.join(batch.source_BS[b, :S].tolist())
            target, of_target = vocabulary.join(batch.target_BT[b, :T].tolist())
            of_pair = set(links[words.index((source, target))])
            assert not guide_TS[T:].any()
            assert not guide_TS[:, S:].any()
            for t in range(T):
                wanted = np.array([(of_source[j], of_target[t]) in of_pair for j in range(S)], np.float32)
                np.testing.assert_allclose(guide_TS[t, :S], wanted / max(wanted.sum(), 1), rtol=0, atol=1e-6)
                seen += int(wanted.sum())
    assert seen > PAIRS
