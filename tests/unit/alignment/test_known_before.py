"""Training that begins with what is known: priors, or an aligner that goes on learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rnnsearch.alignment import Aligner, Corpus, Priors

WORDS = {"the": "la", "house": "maison", "red": "rouge", "old": "vieille", "street": "rue"}
FIRST = [
    (f"{one} {other}", f"{WORDS[one]} {WORDS[other]}") for one in WORDS for other in WORDS if one != other
]  # fmt: skip
MORE = [("the door", "la porte"), ("a door", "une porte"), ("a house", "une maison"), ("the cat", "la chatte")]


def t(aligner: Aligner) -> dict[str, dict[str, float]]:
    return {word: dict(linked) for word, linked in aligner.lexicon().items()}


def test_an_aligner_goes_on_learning(tmp_path: Path) -> None:
    Aligner.learn(FIRST).save(tmp_path / "first")
    first = Aligner.load(tmp_path / "first")
    on = Aligner.learn(MORE, known=first)
    both = Aligner.learn(FIRST + MORE)
    assert {word: linked[0][0] for word, linked in on.lexicon().items()} == {
        word: linked[0][0] for word, linked in both.lexicon().items()
    }
    assert t(on)["red"] == pytest.approx(t(first)["red"]), "it keeps what the new text does not contain"
    frequencies = [dict(zip(side.words, side.frequencies.tolist(), strict=True)) for side in on.words]
    assert frequencies == [dict(zip(side.words, side.frequencies.tolist(), strict=True)) for side in both.words]
    # What it learns from is aligned as by an aligner that has learned from all.
    pairs = [*MORE, ("the red cat", "la chatte rouge")]
    assert [line.links() for line in on.align(pairs)] == [line.links() for line in both.align(pairs)]
    on.save(tmp_path / "on")
    again = Aligner.load(tmp_path / "on")
    assert [line.probabilities() for line in again.align(pairs)] == [line.probabilities() for line in on.align(pairs)]


def test_what_is_known_decides_where_the_text_cannot() -> None:
    text = [("b a", "y x")] * 3
    assert Aligner.learn(text).lexicon()["a"][0][0] in ("x", "y")
    for source, target in (("a", "x"), ("a", "y")):
        other = "y" if target == "x" else "x"
        priors = Priors.of_links([source.upper(), "B"] * 50, [target, other.upper()] * 50, ["0-0"] * 100, ["0-0"] * 100)
        aligner = Aligner.learn(text, known=priors)
        assert aligner.lexicon()["a"][0][0] == target
        assert aligner.lexicon()["b"][0][0] == other
        again = Aligner.learn(text, known=Aligner.learn([("A", target), ("b", other)] * 50).priors())
        assert again.lexicon()["a"][0][0] == target


def test_known_jumps_and_words_without_links() -> None:
    # All words are alike: only jumps tell how they are linked.
    text = [("a a a", "x x x")] * 4
    backward = Priors.empty()
    backward.forward_jumps.update({3: 1000, -1: 2000})
    backward.reverse_jumps.update({3: 1000, -1: 2000})
    (line, *_) = Aligner.learn(text, known=backward).align(text)
    assert line.links("intersection") == {(0, 2), (1, 1), (2, 0)}
    (line, *_) = Aligner.learn(text).align(text)
    assert line.links("intersection") == {(0, 0), (1, 1), (2, 2)}
    # A word that is known to have no links gets fewer.
    text = [("a b", "x")] * 4
    alone = Priors.read(["LEX\ta\t<NULL>\t1000"])
    (with_it, *_), (without, *_) = (Aligner.learn(text, known=known).align(text) for known in (alone, None))
    assert with_it.backward[with_it.source == 0].sum() < without.backward[without.source == 0].sum()


def test_nothing_is_known() -> None:
    """Priors without counts change nothing but the smoothing of the first step."""
    plain, empty = Aligner.learn(FIRST), Aligner.learn(FIRST, known=Priors.empty())
    assert [line.links() for line in empty.align(FIRST)] == [line.links() for line in plain.align(FIRST)]
    for word, linked in t(plain).items():
        np.testing.assert_allclose(
            [t(empty)[word].get(other, 0) for other in linked], list(linked.values()), atol=0.05, err_msg=word
        )


def test_a_corpus_of_other_words_is_refused() -> None:
    aligner = Aligner.learn(FIRST)
    with pytest.raises(ValueError, match="not made with the words of this aligner"):
        Aligner.learn(Corpus(MORE), known=aligner)
    corpus = Corpus(MORE, known=aligner.words)
    assert t(Aligner.learn(corpus, known=aligner)) == t(Aligner.learn(MORE, known=aligner))
