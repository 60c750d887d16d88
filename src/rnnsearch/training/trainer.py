"""The training loop."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from rnnsearch.config import TrainingConfig
from rnnsearch.data.augment import Augmentation
from rnnsearch.data.batches import BatchStream, Guide, SubwordSampling
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import System, checksum, save_weights
from rnnsearch.ops import choose_recurrences, fast_products, kept_memory, precision_of, usable_precision
from rnnsearch.training.average import WeightAverage
from rnnsearch.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from rnnsearch.training.cost import cost_divisor, training_cost
from rnnsearch.training.gradients import Shard, reduction, shards
from rnnsearch.training.optimizer import gradient_norm, learning_rate, make_optimizer
from rnnsearch.training.processes import Processes
from rnnsearch.training.validation import DevelopmentSet, validate

CHECKPOINT = Path("checkpoints") / "last.safetensors"


class Listener(Protocol):
    """Receives reports from a `Trainer`; implemented by `Display` and `Silent`."""

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        """After every update: the minibatch's NLL in nats a target word, and its target words."""

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """After every validation: its row in `training.json`, and whether the model is the best so far."""

    def notice(self, text: str) -> None:
        """Something the user should know, in one line."""


class Silent:
    """The `Listener` of the processes that are not the first."""

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        """Nothing."""

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """Nothing."""

    def notice(self, text: str) -> None:
        """Nothing."""


class Trainer:
    """One run: from a system and a packed corpus to the best weights in a folder.

    After `resume`, `run` goes on exactly as an uninterrupted run would have. Of several processes, each has a trainer; they
    share the work of every update, and the first validates and writes.
    """

    def __init__(
        self,
        system: System,
        corpus: PackedCorpus,
        development: DevelopmentSet,
        folder: Path,
        links: PackedCorpus | None = None,
        processes: Processes | None = None,
    ) -> None:
        """`links` are word alignments of the pairs of the corpus, for guided alignment; `processes`, this one by default."""
        self.system = system
        self.processes = processes or Processes()
        self.development = development
        self.folder = folder
        self.stop_requested = False
        """Set it, from a signal handler or another thread, and the run saves a checkpoint and returns."""
        self.progress = Progress()
        device = device_of(system.model)
        asked = system.config.training
        self.settings: TrainingConfig = replace(asked, precision=usable_precision(asked.precision, device))
        """The settings of the run: `system.config.training`, with a precision that this machine computes fast."""
        system.model.recurrences = choose_recurrences(self.settings.engine, device, self.settings.precision)
        # On a GPU, whole gradients are faster than sparse ones, and there is memory for them.
        system.model.sparse_gradients(device.type == "cpu")
        system.model.recurrent_dropout(self.settings.recurrent_dropout)
        self._reduce = reduction(system.model, self.processes, self.settings)
        self.optimizer = make_optimizer(system.model.parameters(), self.settings)
        self.average = WeightAverage(system.model, self.settings.weight_average) if self.settings.weight_average else None
        sampling, alpha = None, self.settings.subword_sampling
        if alpha:
            sampling = SubwordSampling(system.vocabularies, alpha, self.settings.seed)
        augmentation = None
        if self.settings.augment:
            augmentation = Augmentation(
                system.vocabularies, self.settings.augment, self.settings.seed, system.config.data.max_length
            )
        guide = None
        if links is not None and self.settings.guided_alignment and system.model.aligns:
            guide = Guide(links, system.vocabularies)
        self.batches = BatchStream(
            corpus,
            batch_size=self.settings.batch_size,
            pool_batches=self.settings.pool_batches,
            shuffle=self.settings.shuffle,
            seed=self.settings.seed,
            augmentation=augmentation,
            subword_sampling=sampling,
            guide=guide,
        )
        torch.manual_seed(self.settings.seed)

    @property
    def last_update(self) -> int:
        """The update that the run ends with unless it stops early."""
        planned = self.settings.max_updates
        if self.settings.max_epochs:
            minibatches = self.settings.max_epochs * self.batches.batches_per_epoch
            planned = min(planned, -(-minibatches // self.settings.accumulate))
        return planned

    @property
    def epochs(self) -> float:
        """Passes over the corpus so far."""
        return self.progress.update * self.settings.accumulate / self.batches.batches_per_epoch

    def resume(self) -> None:
        """Restore the state of the checkpoint. Whether the run is finished is decided again, by the present settings."""
        self.progress = load_checkpoint(self.folder / CHECKPOINT, self.system.model, self.optimizer, self.average)
        self.progress.finished = ""

    def run(self, listener: Listener) -> Progress:
        """Train until the run is finished, or until a stop is requested of any process."""
        self.listener = listener
        self._tell_precision()
        with fast_products(), kept_memory():
            return self._run()

    def _run(self) -> Progress:
        progress, settings = self.progress, self.settings
        began = time.monotonic() - progress.seconds
        progress.finished = self._reason_to_finish()
        if progress.finished:  # a run that goes on only to end: with a limit that it has passed
            self._validate()
        stopping, _ = self.processes.agree(self.stop_requested, progress.seconds)
        while not progress.finished and not stopping:
            self._update()
            stopping = self._agree(began)
            progress.finished = self._reason_to_finish()
            if progress.update % settings.validate_every == 0 or progress.finished:
                self._validate()
                stopping = self._agree(began)
                progress.finished = progress.finished or self._reason_to_finish()
            if progress.update % settings.checkpoint_every == 0 and not progress.finished:
                self.save()
        self.save()
        return progress

    def _agree(self, began: float) -> bool:
        """Take the time of the run, and see whether it is to stop; all processes find the same."""
        stopping, self.progress.seconds = self.processes.agree(self.stop_requested, time.monotonic() - began)
        return stopping

    def _tell_precision(self) -> None:
        """Report a precision that differs from the setting, or from the one that the run has had so far."""
        now, before, asked = self.settings.precision, self.progress.precision, self.system.config.training.precision
        if now != asked:
            self.listener.notice(
                f"training.precision = {asked}: this CPU multiplies bfloat16 more slowly than float32, so {now} is used"
            )
        if before not in ("", now):
            self.listener.notice(
                f"this run was in {before} until update {self.progress.update:,} and goes on in {now}: "
                "it will not end at the same bits as one that stays in one precision"
            )
        self.progress.precision = now

    def save(self) -> None:
        """Write the checkpoint; all processes must have the same weights."""
        if self.processes.count > 1:
            weights = int(checksum(dict(self.system.model.named_parameters())), 16)
            self.processes.check_same(weights, f"the weights after update {self.progress.update:,}")
        self.processes.first_does(
            lambda: save_checkpoint(
                self.folder / CHECKPOINT, self.system.model, self.optimizer, self.average, self.progress
            )
        )

    def _update(self) -> None:
        """One update: cost and gradient of every shard of every minibatch, added up; clipping; step."""
        progress, model, settings = self.progress, self.system.model, self.settings
        device = device_of(model)
        first = progress.update * settings.accumulate
        batches = [self.batches.batch(number) for number in range(first, first + settings.accumulate)]
        sentences = sum(len(batch.source_BS) for batch in batches)
        words = sum(int(batch.target_lengths_B.sum()) for batch in batches)
        readings = 2 if settings.consistency else 1
        divisor = cost_divisor(readings * sentences, readings * words, settings)

        def backward(model: nn.Module, shard: Shard, weight: float) -> float:
            with shard.random(), precision_of(device, settings.precision):
                output = model(
                    *batch_tensors(shard.batch, device, readings),
                    dropout=settings.dropout,
                    word_dropout=settings.word_dropout,
                )
            guide_BTS = shard.batch.guide_BTS
            guide = None if guide_BTS is None else torch.from_numpy(guide_BTS.repeat(readings, 0)).to(device)
            cost, nll = training_cost(output, divisor / weight if weight else math.inf, settings, guide)
            cost.backward()
            return float(nll) / readings

        model.train()
        count = self.processes.count if settings.reduction == "fast" else settings.shards
        losses = self._reduce(
            [shard for number, batch in enumerate(batches, first) for shard in shards(batch, number, count, settings.seed)],
            backward,
        )
        nll = sum(losses)
        norm = gradient_norm(model.parameters())

        progress.update += 1
        if math.isfinite(norm) and math.isfinite(nll):
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate(progress.update, self.last_update, progress.plateau_factor, settings)
            clip = settings.clip_norm or math.inf
            self.optimizer.step(scale=min(1.0, clip / max(norm, 1e-12)))
            if self.average:
                self.average.updated(progress.update)
            progress.interval_nll += nll
            progress.interval_words += words
        else:
            progress.skipped += 1
            self.listener.notice(
                f"update {progress.update}: the gradient is not finite ({norm}); skipped ({progress.skipped} so far)"
            )
        self.optimizer.zero_grad()  # here, so that the next minibatch can use the memory
        progress.target_words += words
        self.listener.updated(progress, nll / words, words)

    def _validate(self) -> None:
        """Score the development set, keep the model if it is the best, and see whether the run has stalled."""
        rows = self.progress.validations
        if rows and rows[-1]["update"] == self.progress.update:
            return
        with self.average.in_use() if self.average else contextlib.nullcontext():
            self._validate_weights()

    def _validate_weights(self) -> None:
        """Validate the weights that the model has now."""
        progress, settings = self.progress, self.settings
        nll, nll_per_sentence, bleu, wer, ser = self.processes.first_does(self._scores)
        score = -nll if settings.validate_on == "nll" else bleu
        if wer is not None and ser is not None and settings.validate_on == "wer":
            score = -wer - ser / 1000
        if math.isnan(score):
            score = -math.inf  # else no later score would count as better
        best = progress.best_score is None or score > progress.best_score
        row = {
            "update": progress.update,
            "epoch": round(self.epochs, 3),
            "hours": round(progress.seconds / 3600, 4),
            "train_nll": progress.interval_nll / max(1, progress.interval_words),
            "valid_nll": nll,
            "valid_nll_per_sentence": nll_per_sentence,
            "valid_bleu": bleu,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
        }
        if wer is not None:
            row |= {"valid_wer": wer, "valid_ser": ser}
        progress.validations.append(row)
        progress.interval_nll, progress.interval_words = 0.0, 0
        if best:
            progress.best_score, progress.best_update, progress.validations_without_gain = score, progress.update, 0
            self.processes.first_does(lambda: save_weights(self.folder / WEIGHTS, self.system))
        else:
            progress.validations_without_gain += 1
            if settings.decay == "plateau":
                progress.plateau_factor /= 2
        self.listener.validated(row, best)

    def _scores(self) -> tuple[float, float, float, float | None, float | None]:
        """The development set's NLL in nats a target word and a sentence, its BLEU, and its error rates."""
        self.system.model.eval()
        found = validate([self.system], self.development)
        return found.nll.per_word, found.nll.per_sentence, found.bleu, found.wer, found.ser

    def _reason_to_finish(self) -> str:
        progress, settings = self.progress, self.settings
        if progress.update >= self.last_update:
            return f"{progress.update} updates are done"
        if settings.max_minutes and progress.seconds >= 60 * settings.max_minutes:
            return f"{settings.max_minutes:g} minutes are over"
        if settings.patience and progress.validations_without_gain >= settings.patience:
            return f"no better score for {settings.patience} validations"
        return ""
