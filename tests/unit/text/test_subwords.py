"""Words into subwords and back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.text import UNK, Subwords, Vocabulary
from rnnsearch.text.subwords import BEGIN, SubwordKind, join

LETTERS = "abcdefghij"
COUNTS = Counter({LETTERS[i % 10] + LETTERS[3 + i % 7] + "xyz"[i % 3]: 1 + i for i in range(90)})
KINDS: tuple[SubwordKind, ...] = ("bpe", "unigram")


@pytest.fixture(scope="module", params=KINDS)
def subwords(request: pytest.FixtureRequest) -> Subwords:
    return Subwords.train(COUNTS, request.param, 60)


words = st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=12), max_size=6)


@given(words=words)
def test_subwords_make_the_words_again(subwords: Subwords, words: list[str]) -> None:
    words = [word.replace(BEGIN, "_") for word in words]
    segmented = [subword for word in words for subword in subwords.segment(word)]
    word_ids = [position for position, word in enumerate(words) for _ in subwords.segment(word)]
    assert join(segmented) == (words, word_ids)


@pytest.mark.parametrize(
    ("subwords", "words", "word_ids"),
    [
        (["▁", "▁le", "▁", "▁", "▁chi", "en"], ["le", "chien"], [0, 0, 1, 1, 1, 1]),
        (["▁le", "▁", "x", "▁", "▁"], ["le", "x"], [0, 1, 1, 1, 1]),
        (["en", "▁a"], ["en", "a"], [0, 1]),
        (["▁"], [""], [0]),
        ([], [], []),
    ],
)
def test_a_beginning_without_a_word_makes_none(subwords: list[str], words: list[str], word_ids: list[int]) -> None:
    assert join(subwords) == (words, word_ids)


def test_frequent_words_are_whole_and_rare_ones_are_not() -> None:
    counts = COUNTS + Counter({"chien": 10_000, "zoologie": 1})
    subwords = Subwords.train(counts, "bpe", 50)
    assert subwords.segment("chien") == ("▁chien",)
    assert len(subwords.segment("zoologie")) > 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", [".", "l'", "40", "T-shirt", "mp3", "x²", "日本語"])
def test_a_frequent_word_is_whole_whatever_its_signs(kind: SubwordKind, word: str) -> None:
    subwords = Subwords.train(COUNTS + Counter({word: 100_000}), kind, 80)
    assert subwords.segment(word) == (BEGIN + word,)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_words_give_the_same_model_byte_for_byte(kind: SubwordKind) -> None:
    assert Subwords.train(COUNTS, kind, 60).model == Subwords.train(COUNTS, kind, 60).model


def test_a_sample_is_of_the_same_words_and_depends_on_the_generator_alone(subwords: Subwords) -> None:
    words = list(COUNTS)
    sampled = subwords.sample(words, 0.3, Random(1))
    assert join(sampled)[0] == words
    assert all(subword in subwords for subword in sampled)
    assert sampled != subwords.sample(words, 0.3, Random(2))

    def many(_: int) -> list[list[str]]:
        random = Random(5)
        return [subwords.sample(words, 0.3, random) for _ in range(20)]

    expected = many(0)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(many, range(8))) == [expected] * 8


@pytest.mark.slow
def test_a_sample_is_the_same_in_another_process(subwords: Subwords, tmp_path: Path) -> None:
    """sentencepiece itself draws other segmentations in every process, from one seed."""
    kind = "bpe" if subwords.model == Subwords.train(COUNTS, "bpe", 60).model else "unigram"
    subwords.save(tmp_path / "model")
    program = (
        "import random, sys; from rnnsearch.text.subwords import Subwords; "
        "print(*Subwords.load(sys.argv[1], sys.argv[2]).sample(sys.argv[3:], 0.3, random.Random('a seed')))"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "model"), kind, *COUNTS]
    elsewhere = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True).stdout
    assert elsewhere.split() == subwords.sample(list(COUNTS), 0.3, Random("a seed"))


def test_no_word_of_known_letters_is_unknown(subwords: Subwords) -> None:
    counts = Counter(subword for word in COUNTS for subword in subwords.segment(word))
    vocabulary = Vocabulary.from_counts(counts, len(counts), subwords=subwords)
    ids = vocabulary.encode(list(COUNTS))
    assert UNK not in ids
    assert vocabulary.join(ids) == (list(COUNTS), vocabulary.word_ids(list(COUNTS)))
    assert "abx" not in Vocabulary([]), "a word-level vocabulary does not know it"
    assert all(word in vocabulary for word in COUNTS)
    assert "ω" not in vocabulary


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_read_as_it_was_written(kind: SubwordKind, tmp_path: Path) -> None:
    subwords = Subwords.train(COUNTS, kind, 60)
    subwords.save(tmp_path / "source.subwords")
    again = Subwords.load(tmp_path / "source.subwords", kind)
    assert again.sample(list(COUNTS), 0.3, Random(1)) == subwords.sample(list(COUNTS), 0.3, Random(1))
    assert all(again.segment(word) == subwords.segment(word) for word in COUNTS)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_broken_file_is_one_clear_line(subwords: Subwords, tmp_path: Path, share: float) -> None:
    path = tmp_path / "source.subwords"
    path.write_bytes(subwords.model[: int(share * len(subwords.model))])
    counts = Counter(subword for word in COUNTS for subword in subwords.segment(word))
    Vocabulary.from_counts(counts, len(counts)).save(tmp_path / "source.vocab")
    with pytest.raises(RnnsearchError, match=r"not a whole sentencepiece model|the subword model has no"):
        Vocabulary.load(tmp_path / "source.vocab", Subwords.load(path, "bpe"))


def test_a_small_text_has_as_many_subwords_as_there_are() -> None:
    assert Subwords.train({"ab": 3, "abc": 2}, "bpe", 5000).segment("ab") == ("▁ab",)


def test_more_letters_than_subwords() -> None:
    counts = {chr(0x4E00 + i): 1 for i in range(200)}
    with pytest.raises(RnnsearchError, match=r"data.subword_pieces = 50: these words cannot be segmented into so few"):
        Subwords.train(counts, "unigram", 50)


def test_an_endless_word_is_unknown(subwords: Subwords) -> None:
    """Not a hundred thousand subwords, each of which would be a word to translate."""
    vocabulary = Vocabulary(subwords.inventory, subwords)
    assert UNK not in vocabulary.encode(["a" * 500])
    assert vocabulary.encode(["a" * 501]) == [UNK]
    assert vocabulary.word_ids(["a", "a" * 100_000]) == [0] * len(vocabulary.encode(["a"])) + [1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_words_make_the_same_file_anywhere(kind: SubwordKind, tmp_path: Path) -> None:
    train = f"Subwords.train({dict(COUNTS)!r}, {kind!r}, 60)"
    code = f"import sys; from rnnsearch.text import Subwords; sys.stdout.buffer.write({train}.model)"
    elsewhere = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path, env=elsewhere)
    assert done.stdout == Subwords.train(COUNTS, kind, 60).model
    assert str(tmp_path).encode() not in done.stdout
