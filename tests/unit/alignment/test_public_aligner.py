"""`rnnsearch.Aligner`: lines or words, links with probabilities, the lexicon, and what is no pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch import Aligner, RnnsearchError
from rnnsearch.alignment import Corpus

WORDS = {"the": "la", "house": "maison", "red": "rouge", "old": "vieille", "street": "rue"}
PAIRS = [
    (" ".join(words), " ".join(WORDS[word] for word in words))
    for first in WORDS
    for second in WORDS
    for words in [(first, second), (second, first, "house")]
]


def test_what_it_learns_and_draws(tmp_path: Path) -> None:
    aligner = Aligner.learn(PAIRS)
    split = [(source.split(), target.split()) for source, target in PAIRS]
    corpus = Corpus(split)
    assert [line.probabilities() for line in Aligner.learn(corpus).align(split)] == [
        line.probabilities() for line in aligner.align(PAIRS)
    ]
    (line,) = aligner.align([("the old house", "la vieille maison")])
    assert line.links() == {(0, 0), (1, 1), (2, 2)}
    assert all(line.probabilities()[link] > 0.5 for link in line.links())
    lexicon = aligner.lexicon()
    assert {word: lexicon[word][0][0] for word in WORDS} == WORDS
    assert all(sum(p for _, p in linked) == pytest.approx(1, abs=0.05) for linked in lexicon.values())
    aligner.save(str(tmp_path / "aligner"))
    (again,) = Aligner.load(str(tmp_path / "aligner")).align([("the old house", "la vieille maison")])
    assert again.probabilities() == line.probabilities()


def test_what_it_refuses() -> None:
    with pytest.raises(RnnsearchError, match="no pairs to learn from"):
        Aligner.learn([])
    with pytest.raises(RnnsearchError, match="'abc' is no pair"):
        Aligner.learn(["abc"])  # type: ignore[list-item]
    with pytest.raises(RnnsearchError, match="quality='quick': choose 'best' or 'fast'"):
        Aligner.learn(PAIRS, quality="quick")  # type: ignore[arg-type]
    with pytest.raises(RnnsearchError, match="known='folder': give an Aligner"):
        Aligner.learn(PAIRS, known="folder")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (("a", None), r"\('a', None\) is no pair"),
        ((["a", 1], ["b"]), "1 is no word"),
        ((b"a", b"b"), "97 is no word"),
        ((["a\nb"], ["c"]), r"'a\\nb' is no word"),
    ],
)
def test_what_is_no_pair_of_words(pair: object, reason: str) -> None:
    with pytest.raises(RnnsearchError, match=reason):
        Aligner.learn([pair])  # type: ignore[list-item]
