"""The loop: clipping, skipping, stopping, going on bit for bit, and keeping the best model."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rnnsearch.data.batches import Batch
from rnnsearch.model_files import WEIGHTS
from rnnsearch.ops import CpuRecurrences
from rnnsearch.training import trainer as trainer_module
from rnnsearch.training.checkpoint import Progress
from rnnsearch.training.trainer import CHECKPOINT, Trainer
from rnnsearch.training.validation import NLL, Validation
from toy import CELLS, Recorder, StopAt, timeless, toy_system, trainer_of, weights_of


def scores(monkeypatch: pytest.MonkeyPatch, *bleu: float) -> None:
    """Have the validations find these scores, the last for ever."""
    left = list(bleu)

    def validate(*_: object) -> Validation:
        score = left.pop(0) if len(left) > 1 else left[0]
        return Validation(NLL(1 / (1 + score), 5 / (1 + score)), score)

    monkeypatch.setattr(trainer_module, "validate", validate)


def watch(trainer: Trainer, seen: list[int]) -> None:
    """Note the numbers of the minibatches that are taken."""
    batch = trainer.batches.batch

    def watched(number: int) -> Batch:
        seen.append(number)
        return batch(number)

    trainer.batches.batch = watched  # type: ignore[method-assign]


def test_it_learns(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, pairs=200, max_updates=60, validate_every=20)
    recorder = Recorder()
    progress = trainer.run(recorder)
    assert progress.finished == "60 updates are done"
    assert recorder.losses[-1] < 0.8 * recorder.losses[0]
    assert [row["update"] for row in recorder.rows] == [20, 40, 60]
    assert recorder.rows[-1]["valid_nll"] < recorder.rows[0]["valid_nll"]
    assert progress.target_words > 60 * 16


def marks_of(cell: str, stop: int) -> tuple[pytest.MarkDecorator, ...]:
    """`make test` runs the paper's cell, stopped at update 5; the nightly tests run every cell with every stop."""
    if cell == "gated":
        return () if stop == 5 else (pytest.mark.slow,)
    return (pytest.mark.slow,) if stop == 5 else (pytest.mark.nightly,)


@pytest.mark.parametrize(
    ("cell", "stop"),
    [pytest.param(cell, stop, marks=marks_of(cell, stop)) for cell in CELLS for stop in (1, 5, 6, 13)],
)
def test_interrupted_and_resumed_is_uninterrupted(tmp_path: Path, cell: str, stop: int) -> None:
    """Stopped before, at and after a validation (6, 12) and an epoch's end (4, 8, 12), with every source of chance."""
    training = {
        "dropout": 0.2,
        "shuffle": "epoch",
        "max_updates": 15,
        "validate_every": 6,
        "checkpoint_every": 4,
        "decay": "plateau",
        "label_smoothing": 0.1,
        "warmup_updates": 5,
    }
    whole = trainer_of(tmp_path / "whole", pairs=60, model={"cell": cell}, **training)
    whole_recorder = Recorder()
    whole.run(whole_recorder)

    first = trainer_of(tmp_path / "parts", pairs=60, model={"cell": cell}, **training)
    first_recorder = StopAt(first, update=stop)
    progress = first.run(first_recorder)
    assert (progress.update, progress.finished) == (stop, "")
    torch.rand(100)  # another program's business
    second = trainer_of(tmp_path / "parts", pairs=60, model={"cell": cell}, **training)
    second.resume()
    second_recorder = Recorder()
    second.run(second_recorder)

    assert first_recorder.losses + second_recorder.losses == whole_recorder.losses
    assert timeless(second.progress.validations) == timeless(whole.progress.validations)
    assert second.progress.best_update == whole.progress.best_update
    for name in (WEIGHTS, CHECKPOINT):
        expected, found = load_file(tmp_path / "whole" / name), load_file(tmp_path / "parts" / name)
        assert expected.keys() == found.keys()
        for key, tensor in expected.items():
            assert torch.equal(tensor, found[key]), f"{name} {key}"


def test_killed_between_checkpoint_and_validation(tmp_path: Path) -> None:
    """A kill loses what came after the checkpoint: the best model written meanwhile, too, is found again."""
    training = {"max_updates": 12, "validate_every": 3, "checkpoint_every": 5, "dropout": 0.1, "decay": "plateau"}

    class Killed(BaseException):
        pass

    class Killer(Recorder):
        def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
            super().updated(progress, nll_per_word, words)
            if progress.update == 8:
                raise Killed

    whole = trainer_of(tmp_path / "whole", **training)
    whole.run(Recorder())
    first = trainer_of(tmp_path / "parts", **training)
    with pytest.raises(Killed):
        first.run(Killer())
    second = trainer_of(tmp_path / "parts", **training)
    second.resume()
    assert second.progress.update == 5
    second.run(Recorder())
    assert timeless(second.progress.validations) == timeless(whole.progress.validations)
    for name, tensor in weights_of(whole).items():
        assert torch.equal(tensor, weights_of(second)[name]), name
    assert (tmp_path / "whole" / WEIGHTS).read_bytes() == (tmp_path / "parts" / WEIGHTS).read_bytes()


def test_a_run_can_be_made_longer(tmp_path: Path) -> None:
    training = {"dropout": 0.2, "validate_every": 4}
    whole = trainer_of(tmp_path / "whole", max_updates=12, **training)
    whole.run(Recorder())
    first = trainer_of(tmp_path / "parts", max_updates=8, **training)
    first.run(Recorder())
    second = trainer_of(tmp_path / "parts", max_updates=12, **training)
    second.resume()
    assert second.run(Recorder()).finished == "12 updates are done"
    for name, tensor in weights_of(whole).items():
        assert torch.equal(tensor, weights_of(second)[name]), name


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    first = trainer_of(tmp_path, max_updates=5)
    first.run(Recorder())
    best = (tmp_path / WEIGHTS).read_bytes()
    second = trainer_of(tmp_path, max_updates=5)
    second.resume()
    recorder = Recorder()
    assert second.run(recorder).finished == "5 updates are done"
    assert not recorder.losses
    assert not recorder.rows
    assert (tmp_path / WEIGHTS).read_bytes() == best


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_step_with_a_gradient_that_is_not_finite_is_skipped(tmp_path: Path, bad: float) -> None:
    trainer = trainer_of(tmp_path, max_updates=5, validate_every=10)
    weights: list[dict[str, torch.Tensor]] = []
    states: list[dict[str, torch.Tensor]] = []
    E = trainer.system.model.encoder.E

    def spoil(gradient: torch.Tensor) -> torch.Tensor:
        # The gradient of E holds some rows only: one more, or the same again, is added to it.
        row = torch.full((1, gradient.shape[1]), bad)
        added = torch.sparse_coo_tensor([[0]], row, gradient.shape, check_invariants=True)
        return gradient + added if trainer.progress.update == 2 else gradient  # the third update's

    E.register_hook(spoil)

    class Watcher(Recorder):
        def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
            super().updated(progress, nll_per_word, words)
            weights.append(weights_of(trainer))
            states.append({key: value.clone() for key, value in trainer.optimizer.state[E].items()})

    recorder = Watcher()
    progress = trainer.run(recorder)
    assert progress.update == 5
    assert progress.skipped == 1
    assert len(recorder.notices) == 1
    assert "update 3" in recorder.notices[0]
    assert all(torch.equal(weights[2][name], weights[1][name]) for name in weights[1]), "the step was taken"
    assert all(torch.equal(states[2][key], states[1][key]) for key in states[1]), "the optimizer has seen it"
    assert not torch.equal(weights[3]["encoder.E"], weights[2]["encoder.E"]), "it never went on"
    assert all(torch.isfinite(tensor).all() for tensor in weights[4].values())
    assert math.isfinite(trainer.progress.validations[-1]["train_nll"])


@pytest.mark.parametrize("clip", [0.0, 1e-3, 0.5])
def test_the_gradient_is_clipped(tmp_path: Path, clip: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The norm over all parameters together; 0 never clips."""
    trainer = trainer_of(tmp_path, max_updates=3, clip_norm=clip, loss_normalization="sum", validate_every=10)
    norms: list[float] = []
    step = trainer.optimizer.step

    def watched(scale: float) -> None:
        gradients = [parameter.grad for parameter in trainer.system.model.parameters()]
        squares = [gradient.to_dense().square().sum() for gradient in gradients if gradient is not None]
        norms.append(scale * float(torch.stack(squares).sum().sqrt()))
        step(scale)

    monkeypatch.setattr(trainer.optimizer, "step", watched)
    trainer.run(Recorder())
    assert len(norms) == 3
    if clip:
        assert norms == pytest.approx([clip] * 3, rel=1e-3)
    else:
        assert min(norms) > 1


def test_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, 1.0, 3.0, 2.0, 3.0, 2.9, 50.0)
    trainer = trainer_of(tmp_path, max_updates=100, validate_every=2, patience=3)
    recorder = Recorder()
    progress = trainer.run(recorder)
    assert progress.finished == "no better score for 3 validations"
    assert recorder.best == [True, True, False, False, False]
    assert (progress.update, progress.best_update, progress.best_score) == (10, 4, 3.0)


def test_no_patience_never_stops_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, 1.0, 0.0)
    trainer = trainer_of(tmp_path, max_updates=12, validate_every=1, patience=0)
    assert trainer.run(Recorder()).finished == "12 updates are done"


@pytest.mark.parametrize(("on", "best"), [("bleu", 4), ("nll", 6)])
def test_the_best_model_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str, best: int) -> None:
    found = {
        2: Validation(NLL(2.0, 9.0), 1.0),
        4: Validation(NLL(1.5, 8.0), 9.0),
        6: Validation(NLL(1.0, 5.0), 2.0),
        8: Validation(NLL(1.2, 6.0), 0.5),
    }
    trainer = trainer_of(tmp_path, max_updates=8, validate_every=2, validate_on=on)
    monkeypatch.setattr(trainer_module, "validate", lambda *_: found[trainer.progress.update])
    at: dict[int, dict[str, torch.Tensor]] = {}

    class Watcher(Recorder):
        def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
            at[progress.update] = weights_of(trainer)

    assert trainer.run(Watcher()).best_update == best
    kept = load_file(tmp_path / WEIGHTS)
    assert all(torch.equal(kept[name], tensor) for name, tensor in at[best].items())
    assert not torch.equal(kept["encoder.E"], at[8]["encoder.E"])


def test_plateau_halves_the_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, 1.0, 0.5, 0.5, 2.0, 0.1)
    trainer = trainer_of(tmp_path, max_updates=12, validate_every=2, decay="plateau", learning_rate=0.008)
    recorder = Recorder()
    trainer.run(recorder)
    rates = [row["learning_rate"] for row in recorder.rows]
    assert rates == pytest.approx([0.008, 0.008, 0.004, 0.002, 0.002, 0.001])


def test_epochs_are_counted_and_limited(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, pairs=50, max_epochs=2, validate_every=100)
    progress = trainer.run(Recorder())
    assert progress.update == 2 * 4  # 50 pairs in batches of 16
    assert trainer.epochs == 2
    assert trainer.progress.validations[-1]["epoch"] == 2


def test_minutes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 7))
    monkeypatch.setattr(trainer_module.time, "monotonic", lambda: float(next(clock)))
    trainer = trainer_of(tmp_path, max_minutes=0.5, validate_every=1000)
    progress = trainer.run(Recorder())
    assert progress.finished == "0.5 minutes are over"
    assert progress.update == 5  # 7 seconds each
    assert progress.validations[-1]["update"] == 5, "a run ends with a validation"


def test_every_run_ends_with_a_validation_and_a_checkpoint(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, max_updates=3, validate_every=100, checkpoint_every=100)
    recorder = Recorder()
    trainer.run(recorder)
    assert [row["update"] for row in recorder.rows] == [3]
    assert (tmp_path / WEIGHTS).exists()
    assert (tmp_path / CHECKPOINT).exists()


def test_validation_does_not_disturb_training(tmp_path: Path) -> None:
    weights = []
    for every in (1, 100):
        trainer = trainer_of(tmp_path / str(every), max_updates=6, validate_every=every, dropout=0.3)
        trainer.run(Recorder())
        weights.append(weights_of(trainer))
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


@pytest.mark.parametrize("alignment", ["mlp", pytest.param("none", marks=pytest.mark.slow)])
def test_both_engines_train_alike(tmp_path: Path, alignment: str) -> None:
    """From the same seed, the loss of thirty updates differs by rounding alone."""
    losses = []
    for engine in (CpuRecurrences(), None):
        trainer = trainer_of(
            tmp_path / type(engine).__name__,
            model={"alignment": alignment},
            max_updates=30,
            dropout=0.1,
            validate_every=100,
        )
        trainer.system.model.double().recurrences = engine
        recorder = Recorder()
        trainer.run(recorder)
        losses.append(recorder.losses)
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert losses[0][-1] < losses[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("accumulate", [1, 2])
def test_two_readings_differ_by_dropout_alone(tmp_path: Path, accumulate: int) -> None:
    losses, words = {}, set()
    for dropout in (0.0, 0.3):
        for consistency in (0.0, 5.0):
            trainer = trainer_of(
                tmp_path / f"{dropout} {consistency}",
                dropout=dropout,
                consistency=consistency,
                accumulate=accumulate,
                max_updates=8,
                loss_normalization="tokens",
            )
            trainer.system.model.double()
            recorder = Recorder()
            words.add(trainer.run(recorder).target_words)
            losses[dropout, consistency] = recorder.losses
    assert len(words) == 1, "a pair that is read twice is one pair"
    assert losses[0, 5] == pytest.approx(losses[0, 0], rel=1e-9), "two equal readings cost what one costs"
    assert losses[0.3, 5] != pytest.approx(losses[0.3, 0], rel=1e-3)


def test_the_seed_decides(tmp_path: Path) -> None:
    def losses(name: str, seed: int) -> list[float]:
        trainer = trainer_of(tmp_path / name, seed=seed, max_updates=5, dropout=0.1)
        recorder = Recorder()
        trainer.run(recorder)
        return recorder.losses

    assert losses("one", 1) == losses("same", 1)
    assert losses("other", 2) != losses("same again", 1)


@pytest.mark.parametrize("stop", ["update", "validation"])
def test_a_stop_is_heeded_at_once(tmp_path: Path, stop: str) -> None:
    trainer = trainer_of(tmp_path, max_updates=50, validate_every=4, checkpoint_every=100)
    recorder = StopAt(trainer, **{stop: 3 if stop == "update" else 1})
    progress = trainer.run(recorder)
    assert progress.update == (3 if stop == "update" else 4)
    assert progress.finished == ""
    second = trainer_of(tmp_path, max_updates=50, validate_every=4)
    second.resume()
    assert second.progress.update == progress.update


def test_the_corpus_is_read_on_where_it_was_left(tmp_path: Path) -> None:
    """Place in the corpus: a resumed run's minibatches are those that were still to come."""
    trainer = trainer_of(tmp_path, pairs=64, max_updates=4, shuffle="epoch", validate_every=100)
    seen: list[int] = []
    watch(trainer, seen)
    trainer.run(StopAt(trainer, update=3))
    assert seen == [0, 1, 2]
    second = trainer_of(tmp_path, pairs=64, max_updates=4, shuffle="epoch", validate_every=100)
    second.resume()
    watch(second, seen)
    second.run(Recorder())
    assert seen == [0, 1, 2, 3]


def test_untrained_and_trained_weights_differ_in_every_tensor(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, max_updates=3, optimizer="adadelta", initialization="glorot", learning_rate=1.0)
    before = dict(toy_system(trainer.system.config).model.named_parameters())
    trainer.run(Recorder())
    for name, tensor in weights_of(trainer).items():
        assert not torch.equal(tensor, before[name]), f"{name} is never trained"


def test_a_limit_that_a_run_has_passed_ends_it_with_a_model(tmp_path: Path) -> None:
    trainer = trainer_of(tmp_path, max_updates=20, validate_every=10)
    trainer.run(StopAt(trainer, update=3))
    assert not (tmp_path / WEIGHTS).exists()
    again = trainer_of(tmp_path, max_updates=2, validate_every=10)
    again.resume()
    progress = again.run(Recorder())
    assert progress.finished == "3 updates are done"
    assert [row["update"] for row in progress.validations] == [3]
    assert (tmp_path / WEIGHTS).exists()


def test_a_score_that_is_no_number_is_not_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, math.nan, 1.0, math.nan)
    trainer = trainer_of(tmp_path, max_updates=6, validate_every=2)
    recorder = Recorder()
    assert trainer.run(recorder).best_update == 4
    assert recorder.best == [True, True, False]
