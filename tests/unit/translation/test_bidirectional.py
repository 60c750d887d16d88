"""A model that writes from right to left, alone and together with one that does not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from rich.console import Console

import rnnsearch
from kept import kept
from rnnsearch.data.prepared import open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Ranking
from rnnsearch.system import System
from rnnsearch.text import Vocabularies, Vocabulary
from rnnsearch.training.average import average_models
from rnnsearch.training.session import train
from rnnsearch.translation import Translator
from rnnsearch.translation.translation import Segment, Translation
from toy import toy_config, toy_pairs, write_pairs

pytestmark = pytest.mark.slow

LINES = [source for source, _ in toy_pairs(12, seed=31)]
WAYS = {"forward": False, "backward": True}
QUIET = Console(quiet=True)


def make_both_directions(place: Path) -> None:
    """A model of each direction; names are cut into pieces."""
    (source, target), valid = write_pairs(place, "train", 400, seed=1), write_pairs(place, "valid", 20, seed=2)
    for name, right_to_left in WAYS.items():
        config = toy_config(
            data={"subwords": "bpe", "subword_pieces": 60, "right_to_left": right_to_left},
            model={"hidden_size": 32, "embedding_size": 16},
            training={"max_updates": 120, "validate_every": 60, "batch_size": 32},
        )
        text = {"sources": [source], "targets": [target], "valid_source": valid[0], "valid_target": valid[1]}
        train(place / name, config, console=QUIET, **text)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    place = kept(make_both_directions)
    return {name: place / name for name in WAYS}


@pytest.fixture(scope="module")
def sides(folders: dict[str, Path]) -> list[Translator]:
    return [rnnsearch.load(folder) for folder in folders.values()]


@pytest.fixture(scope="module")
def together(folders: dict[str, Path]) -> Translator:
    return rnnsearch.load(*folders.values())


def test_the_text_is_the_same_and_its_words_stand_the_other_way_round(folders: dict[str, Path]) -> None:
    forward, backward = (open_prepared(folder / "data") for folder in folders.values())
    assert len(forward.corpus) == len(backward.corpus) > 300
    for number in range(len(forward.corpus)):
        (x, y), (same_x, turned_y) = forward.corpus.pair(number), backward.corpus.pair(number)
        assert list(x) == list(same_x)
        words = forward.vocabularies.target.join(y)[0]
        assert backward.vocabularies.target.join(turned_y)[0] == words
        assert list(turned_y) == [i for word in reversed(words) for i in forward.vocabularies.target.encode([word])]


def test_places_of_words_and_other_cuts(folders: dict[str, Path]) -> None:
    vocabulary = open_prepared(folders["backward"] / "data").vocabularies.target
    words = ["le", "chien", "Name123", "voit", "."]
    ids, word_ids = vocabulary.encode(words), vocabulary.word_ids(words)
    assert vocabulary.join(ids) == (words, word_ids)
    assert word_ids == sorted(word_ids, reverse=True)
    assert len(word_ids) > len(words)
    assert vocabulary.join(vocabulary.resample(ids, 0.5, Random(1)))[0] == words


def test_it_is_a_mirror(sides: list[Translator]) -> None:
    """The same weights under a vocabulary that is not turned write the same words, the last one first."""
    turned = sides[1].system
    vocabulary = Vocabulary(turned.vocabularies.target.words[2:], turned.vocabularies.target.subwords)
    data = replace(turned.config.data, right_to_left=False)
    vocabularies = Vocabularies(turned.vocabularies.source, vocabulary)
    mirror = Translator([System(replace(turned.config, data=data), vocabularies, turned.model)])
    for ours, theirs in zip(sides[1].translate(LINES), mirror.translate(LINES), strict=True):
        assert ours.tokens == theirs.tokens[::-1]
        assert ours.score == pytest.approx(theirs.score, abs=1e-5)
        assert ours.alignment is not None
        assert theirs.alignment is not None
        np.testing.assert_allclose(ours.alignment, theirs.alignment[::-1], atol=1e-5)
        (ours_again,) = sides[1].score([" ".join(ours.source_tokens[:-1])], [ours.text])
        (theirs_again,) = mirror.score([" ".join(ours.source_tokens[:-1])], [theirs.text])
        assert ours_again.tokens == ours.tokens
        assert ours_again.word_scores == pytest.approx([*theirs_again.word_scores[-2::-1], theirs_again.word_scores[-1]])
        np.testing.assert_allclose(ours_again.alignment, theirs_again.alignment[::-1], atol=1e-5)  # type: ignore[index]


def test_what_both_agree_on_wins(sides: list[Translator], together: Translator) -> None:
    lists = together.n_best(LINES, 8)
    of_sides = [[{one.text: one for one in found} for found in side.n_best(LINES, 8)] for side in sides]
    for line, found, *own_lists in zip(LINES, lists, *of_sides, strict=True):
        texts = [one.text for one in found]
        # A side scores what it has not found; search may cut a name into other pieces than `score` does.
        everything = {
            text: [own.get(text) or side.score(line, text) for side, own in zip(sides, own_lists, strict=True)]
            for text in itertools.chain(*own_lists)
        }
        assert len(texts) == len(set(texts)) == 8 < len(everything)
        means = {text: np.mean([one.score for one in of]) / (len(of[0].tokens) + 1) for text, of in everything.items()}
        best = sorted(means.values(), reverse=True)[:8]
        assert [means[text] for text in texts] == pytest.approx(best, abs=1e-4)
        assert [one.score / (len(one.tokens) + 1) for one in found] == pytest.approx(best, abs=1e-4)
        for one in found:
            alphas = [of_side.alignment for of_side in everything[one.text]]
            np.testing.assert_allclose(one.alignment, np.mean(alphas, axis=0), atol=1e-3)  # type: ignore[arg-type]


def test_a_score_is_the_mean_of_both(sides: list[Translator], together: Translator) -> None:
    texts = [one.text for one in together.translate(LINES)]
    alone = [side.score(LINES, texts) for side in sides]
    for both, *pairs in zip(together.score(LINES, texts), *alone, strict=True):
        assert both.score == pytest.approx(np.mean([pair.score for pair in pairs]))
        np.testing.assert_allclose(both.alignment, np.mean([pair.alignment for pair in pairs], axis=0), atol=1e-6)  # type: ignore[arg-type]


def test_neither_the_company_nor_the_order_of_the_models_matters(folders: dict[str, Path], together: Translator) -> None:
    texts = [one.text for one in together.translate(LINES)]
    assert [together.translate(line).text for line in LINES] == texts
    assert [one.text for one in rnnsearch.load(*reversed(folders.values())).translate(LINES)] == texts


def test_blank_lines_and_lines_in_segments(together: Translator) -> None:
    long = " ".join(LINES[:4])
    blank, cut = together.translate(["", long], max_segment=8)
    assert (blank.text, blank.score, blank.tokens) == ("", 0.0, [])
    assert len(cut.segments) > 1
    assert cut.alignment is not None
    assert cut.alignment.shape == (len(cut.tokens), len(cut.source_tokens))
    np.testing.assert_allclose(cut.alignment.sum(1), 1, atol=1e-4)


def test_the_same_words_in_other_segments(together: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each side has subwords of its own, by which it cuts a long line."""
    line, sides = " ".join(LINES[:4]), together._sides  # type: ignore[attr-defined]
    (cut,) = sides[0].translate([line], max_segment=8)
    one, two, *rest = cut.segments
    joined = Segment(0, one.source_tokens + two.source_tokens, 0, one.tokens + two.tokens, alignment=None)
    for side, translation in zip(sides, (cut, replace(cut, segments=[joined, *rest])), strict=True):
        monkeypatch.setattr(side, "n_best_of_sentences", lambda *_, found=translation, **__: [[found]])
    found = together.n_best(line, 5)
    assert {len(translation.segments) for translation in found} == {len(cut.segments), len(cut.segments) - 1}
    (whole,) = (translation for translation in found if len(translation.segments) == len(cut.segments))
    assert whole.score == pytest.approx(np.mean([_score_of(side, whole) for side in sides]), abs=0.05)


def _score_of(side: Translator, translation: Translation) -> float:
    """The score of a translation in its own segments."""
    segments = [(segment.source_tokens, segment.tokens) for segment in translation.segments]
    return sum(pair.score for pair in side.score_words(*map(list, zip(*segments, strict=True))))


def test_several_of_one_direction(folders: dict[str, Path], together: Translator) -> None:
    """A model that is there twice has no more weight than its direction."""
    three = rnnsearch.load(folders["forward"], folders["forward"], folders["backward"])
    for one, other in zip(three.translate(LINES), together.translate(LINES), strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-3)


def test_minimum_bayes_risk(together: Translator) -> None:
    candidates = [{one.text for one in found} for found in together.n_best(LINES, 5)]
    risk = together.n_best(LINES, 5, minimum_bayes_risk=True)
    assert all(found[0].text in texts for found, texts in zip(risk, candidates, strict=True))


@pytest.mark.parametrize("way", ["backward", "both"])
def test_what_cannot_be(folders: dict[str, Path], way: str) -> None:
    translator = rnnsearch.load(*([folders["backward"]] if way == "backward" else folders.values()))
    with pytest.raises(RnnsearchError, match="a right-to-left model predicts the beginning last"):
        translator.translate(LINES[0], prefix="le")
    if way == "both":
        with pytest.raises(RnnsearchError, match=r"search\.temperature = 0\.5"):
            translator.translate(LINES[0], temperature=0.5)


def test_models_of_two_directions_have_no_mean_and_no_common_text(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"its data\.right_to_left is not that of"):
        average_models([*folders.values()], tmp_path / "mean")
    place = folders["forward"].parent
    valid: dict[str, Path] = {"valid_source": place / "valid.en", "valid_target": place / "valid.fr"}
    data, start = folders["forward"] / "data", folders["backward"]
    with pytest.raises(RnnsearchError, match="prepared with other vocabularies"):
        train(tmp_path / "further", toy_config(), data=data, start=start, console=QUIET, **valid)
    further: Callable[..., Translator] = train
    more = {"sources": [place / "train.en"], "targets": [place / "train.fr"], **valid}
    config = toy_config(training={"max_updates": 2})
    translator = further(tmp_path / "again", config, start=start, console=QUIET, **more)
    assert translator.system.config.data.right_to_left


def test_coverage_decides_between_both_directions_too(together: Translator) -> None:
    """Translations are ranked as search ranks hypotheses, by the alignments of both directions."""
    for coverage in (0.0, 5.0):
        for found in together.n_best(LINES, 8, coverage=coverage, length_normalization=0.5):
            ranking = Ranking(0.5, coverage)
            scores = [ranking.score(one.score, len(one.tokens) + 1, one.alignment) for one in found]
            assert scores == sorted(scores, reverse=True)
