"""Changes of training pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import Augmentations
from rnnsearch.data.augment import Augmentation, Link
from rnnsearch.data.pack import Sentences
from rnnsearch.text.protected import ALL_SYMBOLS, SYMBOLS
from rnnsearch.text.subwords import Subwords
from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import Vocabulary

NAMES: list[Augmentations] = [
    "capitals", "titles", "typos", "accents", "apostrophes", "endings", "joined", "names", "symbols",
]  # fmt: skip


LETTERS = "abcdefghijklmnopqrstuvwxyzéèàç'ABCDEFGHIJKLMNOPQRSTUVWXYZÉ"
WORDS = st.text(st.sampled_from(LETTERS), min_size=1, max_size=8) | st.sampled_from(
    ["Anna", "1969", "été", "l'", "'t", ".", "?", "!", ",", "the", *sorted(ALL_SYMBOLS)]
)
SENTENCE = st.lists(WORDS, min_size=1, max_size=8)


@pytest.fixture(scope="module")
def vocabularies() -> Vocabularies:
    """Subwords that can write any word of these letters."""
    counts = dict.fromkeys(["the", "Anna", "1234567890", ".", "?", "!", ",", *LETTERS], 5)
    subwords = Subwords.train(counts, "bpe", 200, sorted(ALL_SYMBOLS))
    return Vocabularies(Vocabulary(subwords.inventory, subwords), Vocabulary(subwords.inventory, subwords))


def _apply(
    vocabularies: Vocabularies,
    names: list[Augmentations],
    number: int,
    pairs: list[tuple[str, str]],
    links: list[list[Link]],
) -> tuple[list[tuple[list[str], list[str]]], list[list[Link]]]:
    sides = [Sentences.of([side.encode(pair[at].split()) for pair in pairs]) for at, side in enumerate(vocabularies)]
    (source, target), found = Augmentation(vocabularies, names, 1, 60)(number, (sides[0], sides[1]), links)
    rows = [
        [vocabulary.join(ids.tolist())[0] for ids in np.split(side.ids, np.cumsum(side.lengths)[:-1])]
        for vocabulary, side in zip(vocabularies, (source, target), strict=True)
    ]
    return list(zip(*rows, strict=True)), found


def _one(vocabularies: Vocabularies, name: Augmentations, source: str, target: str) -> set[tuple[str, str]]:
    """What becomes of a pair in many minibatches."""
    found = set()
    for number in range(150):
        [(words, translation)], _ = _apply(vocabularies, [name], number, [(source, target)], [[]])
        found.add((" ".join(words), " ".join(translation)))
    return found


@pytest.mark.parametrize(
    ("name", "source", "target", "expected"),
    [
        ("capitals", "The house .", "La cas .", {("THE HOUSE .", "LA CAS ."), ("the house .", "La cas .")}),
        ("titles", "see the house", "voir la cas", {("See The House", "voir la cas")}),
        ("accents", "il est né l' été", "he was born", {("il est ne l' ete", "he was born")}),
        ("apostrophes", "I don 't see l' été", "je", {("I dont see lété", "je")}),
        ("endings", "see it .", "voir .", {("see it", "voir")}),
        ("endings", "see it ?", "voir ?", {("see it", "voir ?")}),
        ("joined", "see it .", "voir .", {("see it . see it .", "voir . voir .")}),
        ("symbols", "see Anna .", "voir Anna .", {("see ⟦1⟧ .", "voir ⟦1⟧ ."), ("see Anna . ⟦1⟧", "voir Anna . ⟦1⟧")}),
        ("symbols", "in 1969 .", "en 1969 .", {("in ⟨1⟩ .", "en ⟨1⟩ .")}),
        ("symbols", "a ⟦4⟧ b ⟦2⟧", "x ⟦2⟧ ⟦4⟧", {("a ⟦1⟧ b ⟦2⟧", "x ⟦2⟧ ⟦1⟧")}),
    ],
)
def test_changes(
    vocabularies: Vocabularies, name: Augmentations, source: str, target: str, expected: set[tuple[str, str]]
) -> None:
    """A pair becomes this in some minibatches."""
    assert expected <= _one(vocabularies, name, source, target)


def test_typing_errors_and_names(vocabularies: Vocabularies) -> None:
    """A typing error is in one word of the source; a name is exchanged on both sides alike."""
    for source, target in _one(vocabularies, "typos", "see the house", "voir"):
        assert target == "voir"
        assert source.split()[:2] == ["see", "the"]
    names = _one(vocabularies, "names", "see Anna .", "voir Anna .")
    assert len(names) > 20
    assert all(source.split()[1] == target.split()[1] for source, target in names)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4), st.integers(0, 10**6), st.data())
def test_any_pairs(
    vocabularies: Vocabularies, pairs: list[tuple[list[str], list[str]]], number: int, data: st.DataObject
) -> None:
    """As many pairs, none of them empty; links are between words that are there; the result depends on nothing else."""
    lines = [(" ".join(source), " ".join(target)) for source, target in pairs]
    links = [
        data.draw(st.lists(st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1)), max_size=5))
        for source, target in pairs
    ]
    found, changed = _apply(vocabularies, NAMES, number, lines, links)
    assert (found, changed) == _apply(vocabularies, NAMES, number, lines, links)
    assert len(found) == len(changed) == len(pairs)
    for (source, target), linked in zip(found, changed, strict=True):
        assert source
        assert target
        assert all(s < len(source) and t < len(target) for s, t in linked)
        shared = ALL_SYMBOLS.intersection(source) & ALL_SYMBOLS.intersection(target)
        for symbols in SYMBOLS.values():
            own = [symbols.index(word) for word in dict.fromkeys(source) if word in symbols and word in shared]
            assert own == sorted(own), "symbols are numbered in the order of the source"


def test_nothing_is_changed_without_names(vocabularies: Vocabularies) -> None:
    assert _apply(vocabularies, [], 3, [("see Anna .", "voir .")], [[(0, 0)]]) == (
        [(["see", "Anna", "."], ["voir", "."])],
        [[(0, 0)]],
    )
