"""Several models as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rnnsearch
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.text import Vocabularies
from rnnsearch.text.vocabulary import Vocabulary
from rnnsearch.translation import Translator
from toy import ORDERS, toy_pairs

pytestmark = pytest.mark.slow

Trained = Callable[..., Translator]
LINES = [source for source, _ in toy_pairs(15, seed=21)]


@pytest.fixture(scope="module")
def members(trained: Trained) -> list[Translator]:
    return [trained("gated", "mlp"), trained("lstm", "mlp"), trained("gated", "mlp", ORDERS[1])]


@pytest.fixture(scope="module")
def ensemble(members: list[Translator]) -> Translator:
    return Translator([member.system for member in members])


def test_probabilities_are_the_mean_of_the_models(members: list[Translator], ensemble: Translator) -> None:
    translations = ensemble.translate(LINES)
    texts = [found.text for found in translations]
    alone = [member.score(LINES, texts) for member in members]
    together = ensemble.score(LINES, texts)
    for i, found in enumerate(translations):
        p = np.mean(np.exp([scored[i].word_scores for scored in alone]), axis=0)
        assert found.score == pytest.approx(np.log(p).sum(), abs=1e-3)
        assert found.score == pytest.approx(together[i].score, abs=1e-3)
        assert found.alignment is not None
        np.testing.assert_allclose(found.alignment, together[i].alignment, atol=1e-3)
        np.testing.assert_allclose(found.alignment, np.mean([s[i].alignment for s in alone], axis=0), atol=1e-3)


def test_one_model_twice_is_that_model(members: list[Translator]) -> None:
    twice = Translator([members[0].system] * 2)
    for one, other in zip(members[0].translate(LINES), twice.translate(LINES), strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_an_encoder_decoder_may_be_a_member(trained: Trained, members: list[Translator]) -> None:
    mixed = Translator([members[0].system, trained("gated", "none").system])
    found = mixed.translate(LINES[0])
    assert found.alignment is not None
    np.testing.assert_allclose(found.alignment.sum(1), 1, atol=1e-4)


def test_other_vocabularies_are_refused(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    first = model_folder("mlp")
    system = load_system(first)
    source, target = system.vocabularies
    other = system.changed(system.config, Vocabularies(source, Vocabulary(target.words[2:][::-1])))
    save_settings(tmp_path, other)
    save_weights(tmp_path / WEIGHTS, other)
    with pytest.raises(RnnsearchError, match="its target vocabulary is not that of"):
        rnnsearch.load(first, tmp_path)
    assert rnnsearch.load(first, first).translate(LINES[0]).text
