"""Updates of several minibatches, and alignments that are told where to go."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.training.trainer import Trainer
from rnnsearch.translation.scoring import score_pairs
from toy import Recorder, StopAt, toy_config, toy_pairs, toy_trainer, trainer_of, weights_of


@pytest.mark.parametrize("normalization", ["sum", "sentences", "tokens"])
def test_accumulated_minibatches_are_one_large_one(tmp_path: Path, normalization: str) -> None:
    """Four of eight pairs are one of thirty-two, where these are the same pairs: the whole corpus."""
    common = {"max_updates": 5, "loss_normalization": normalization, "optimizer": "adadelta", "learning_rate": 1.0}
    once = trainer_of(tmp_path / "once", pairs=32, batch_size=32, **common)
    parts = trainer_of(tmp_path / "parts", pairs=32, batch_size=8, accumulate=4, **common)
    losses = []
    for trainer in (once, parts):
        recorder = Recorder()
        trainer.run(recorder)
        losses.append(recorder.losses)
        assert trainer.epochs == 5
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    for name, weight in weights_of(once).items():
        torch.testing.assert_close(weights_of(parts)[name], weight, rtol=1e-3, atol=1e-5, msg=name)


@pytest.mark.slow
def test_accumulating_can_be_interrupted(tmp_path: Path) -> None:
    def trainer(name: str) -> Trainer:
        return trainer_of(tmp_path / name, pairs=50, accumulate=3, max_epochs=5, shuffle="epoch", dropout=0.1)

    whole = trainer("whole")
    whole.run(Recorder())
    assert whole.progress.update == whole.last_update == 7, "20 minibatches, by threes"
    cut = trainer("cut")
    cut.run(StopAt(cut, update=4))
    again = trainer("cut")
    again.resume()
    again.run(Recorder())
    for name, weight in weights_of(whole).items():
        assert torch.equal(weight, weights_of(again)[name]), name


@pytest.mark.slow
def test_a_guided_alignment_goes_where_it_is_told(tmp_path: Path) -> None:
    """Links nobody would think of: every target word to the first source word."""
    folder = tmp_path / "links"
    folder.mkdir()
    lengths = [len(target.split()) for _, target in toy_pairs(100, seed=1)]
    ends = [
        Sentences(np.concatenate(places).astype(np.int32), np.array(lengths, np.int32))
        for places in ([np.zeros(T) for T in lengths], [np.arange(T) for T in lengths])
    ]
    write_packed(folder / "links.arrow", [(ends[0], ends[1])], source_size=1, target_size=100)
    links = PackedCorpus.open(folder / "links.arrow")
    source, target = toy_pairs(1, seed=5)[0]
    first = []
    for given in (None, links):
        config = toy_config(training={"max_updates": 60, "learning_rate": 0.03, "guided_alignment": 1.0})
        trainer = toy_trainer(tmp_path / str(len(first)), config, links=given)
        trainer.run(Recorder())
        (pair,) = score_pairs([trainer.system], [source.split()], [target.split()])
        assert pair.alignment is not None
        first.append(float(pair.alignment[:, 0].mean()))
    assert first[0] < 0.5
    assert first[1] > 0.9
