"""Every alignment model, and an encoder that reads forward only: trained on the toy language, searched, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from rnnsearch.config import merge, parse_assignments
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.translation import Translator
from toy import Recorder, StopAt, toy_config, toy_pairs, toy_trainer

KINDS = {
    "dot": ("model.alignment=dot",),
    "bilinear": ("model.alignment=bilinear",),
    "location": ("model.alignment=location",),
    "monotonic": ("model.alignment=monotonic",),
    "mlp, encoder forward": ("model.encoder=forward",),
}
"""As a user asks for them, after `--set`. (Others are trained in the tests of everything else.)"""
QUICK = ("dot", "monotonic")
"""Those that `make test` trains; `make test-slow` trains the others."""
UPDATES, STOPPED = 40, 15
LINES = [source for source, _ in toy_pairs(8, seed=31)] + ["the", "zzz sees Name5 ."]


@pytest.fixture(
    scope="module", params=[pytest.param(kind, marks=[pytest.mark.slow] * (kind not in QUICK)) for kind in KINDS]
)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recorder]:
    """A model's folder, and what was seen of its training, which was stopped once, and went on."""
    folder = tmp_path_factory.mktemp("alignment-model")
    settings = {
        "model": {"hidden_size": 24},
        "training": {"max_updates": UPDATES, "validate_every": UPDATES, "checkpoint_every": 1000, "learning_rate": 0.03},
        "search": {"maximum_length_ratio": 2.0},
    }
    config = toy_config(**merge(settings, parse_assignments(KINDS[request.param])))
    first = toy_trainer(folder, config, pairs=100)
    first.run(before := StopAt(first, update=STOPPED))
    second = toy_trainer(folder, config, pairs=100)
    second.resume()
    second.run(after := Recorder())
    after.losses = before.losses + after.losses
    save_settings(folder, second.system)
    return folder, after


@pytest.fixture(scope="module")
def translator(trained: tuple[Path, Recorder]) -> Translator:
    return Translator([load_system(trained[0])], trained[0])


def test_it_trains(trained: tuple[Path, Recorder]) -> None:
    losses = trained[1].losses
    assert len(losses) == UPDATES
    assert np.mean(losses[-5:]) < 0.75 * np.mean(losses[:5])


def test_what_is_loaded_is_what_was_trained(trained: tuple[Path, Recorder], translator: Translator) -> None:
    """The best model is that of the one validation, at the end, where the checkpoint is too."""
    folder, _ = trained
    at_end = load_file(folder / CHECKPOINT)
    for name, parameter in translator.system.model.named_parameters():
        assert (at_end[f"model/{name}"] == parameter).all(), name
    again = Translator([load_system(folder)], folder)
    for one, other in zip(translator.translate(LINES), again.translate(LINES), strict=True):
        assert (one.text, one.score) == (other.text, other.score)
        np.testing.assert_array_equal(one.alignment, other.alignment)
    assert (folder / WEIGHTS).exists()


@pytest.mark.parametrize("batch_sentences", [1, 3, 10])
def test_a_translation_does_not_depend_on_others(translator: Translator, batch_sentences: int) -> None:
    alone = [translator.n_best([line], 2)[0] for line in LINES]
    together = translator.n_best(LINES[::-1], 2, batch_sentences=batch_sentences)[::-1]
    for of_line, wanted in zip(together, alone, strict=True):
        assert [found.text for found in of_line] == [found.text for found in wanted]
        for one, other in zip(of_line, wanted, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            np.testing.assert_allclose(one.alignment, other.alignment, rtol=0, atol=1e-4)


def test_it_aligns(translator: Translator) -> None:
    """What search shows is what `score` finds of the same translation, and each row is a distribution."""
    found = translator.translate(LINES)
    given = translator.score(LINES, [translation.text for translation in found])
    for translation, scored in zip(found, given, strict=True):
        assert translation.alignment is not None
        assert translation.alignment.shape == (len(translation.tokens), len(translation.source_tokens))
        if translation.finished and len(scored.alignment) == len(translation.alignment):
            np.testing.assert_allclose(translation.alignment, scored.alignment, rtol=0, atol=1e-4)
        np.testing.assert_allclose(scored.alignment.sum(1), 1, atol=1e-4)
        np.testing.assert_allclose(translation.alignment.sum(1), 1, atol=1e-4)
