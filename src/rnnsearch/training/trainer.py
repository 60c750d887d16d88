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
from rnnsearch.model_folder import save_weights
from rnnsearch.ops import choose_recurrences, fast_products, kept_memory, precision_of, usable_precision
from rnnsearch.system import System
from rnnsearch.training.average import WeightAverage
from rnnsearch.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from rnnsearch.training.cost import cost_divisor, training_cost
from rnnsearch.training.gradients import Shard, reduction, shards
from rnnsearch.training.optimizer import gradient_norm, learning_rate, make_optimizer
from rnnsearch.training.processes import Processes
from rnnsearch.training.tensor_files import checksum
from rnnsearch.training.validation import DevelopmentSet, validate

CHECKPOINT = Path("checkpoints") / "last.safetensors"


class Listener(Protocol):
    """An object that receives the reports of a `Trainer`; `Display` and `Silent` implement it."""

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        """Report an update: the NLL of the minibatch in nats per target word, and its number of target words."""

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """Report a validation: its row of `training.json`, and whether the model is the best so far."""

    def notice(self, text: str) -> None:
        """Report a message of one line for the user."""


class Silent:
    """A `Listener` that ignores all reports; all processes except the first use it."""

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        """Do nothing."""

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """Do nothing."""

    def notice(self, text: str) -> None:
        """Do nothing."""


class Trainer:
    """A training run, which trains a system on a packed corpus and writes the best weights and checkpoints to a folder.

    After `resume`, `run` continues exactly as an uninterrupted run would have. If several processes train together, each has
    a trainer; they share the work of every update, and only the first one validates and writes.
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
        """Create a trainer with freshly initialised state.

        `links` are the word alignments of the pairs of the corpus, for guided alignment. `processes` are the processes that
        train together; by default, this one alone.
        """
        self.system = system
        self.processes = processes or Processes()
        self.development = development
        self.folder = folder
        self.stop_requested = False
        """A signal handler or another thread sets this to True to make the run save a checkpoint and return."""
        self.progress = Progress()
        device = device_of(system.model)
        settings = system.config.training
        self.settings: TrainingConfig = replace(settings, precision=usable_precision(settings.precision, device))
        """The settings of the run: `system.config.training`, with float32 where this machine is slow in bfloat16."""
        system.model.recurrences = choose_recurrences(self.settings.engine, device, self.settings.precision)
        # On a GPU, dense gradients of the embeddings are faster than sparse ones, and there is memory for them.
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
        if links is not None and self.settings.guided_alignment and system.aligns:
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
        """The number of the update with which the run ends unless it stops early."""
        planned = self.settings.max_updates
        if self.settings.max_epochs:
            minibatches = self.settings.max_epochs * self.batches.batches_per_epoch
            planned = min(planned, -(-minibatches // self.settings.accumulate))
        return planned

    @property
    def epochs(self) -> float:
        """The number of passes over the corpus so far, which need not be whole."""
        return self.progress.update * self.settings.accumulate / self.batches.batches_per_epoch

    def resume(self) -> None:
        """Restore the state of the checkpoint. `run` decides by the present settings whether the run is finished."""
        self.progress = load_checkpoint(self.folder / CHECKPOINT, self.system.model, self.optimizer, self.average)
        self.progress.finished = ""

    def run(self, listener: Listener) -> Progress:
        """Train until the run is finished or a stop is requested in any process; return the progress."""
        self.listener = listener
        self._report_precision()
        with fast_products(), kept_memory():
            return self._run()

    def _run(self) -> Progress:
        progress, settings = self.progress, self.settings
        began = time.monotonic() - progress.seconds
        progress.finished = self._reason_to_finish()
        if progress.finished:  # a resumed run that has already passed a limit of the present settings
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
        """Update the time spent, and return whether the run is to stop; the result is the same in all processes."""
        stopping, self.progress.seconds = self.processes.agree(self.stop_requested, time.monotonic() - began)
        return stopping

    def _report_precision(self) -> None:
        """Report a precision that differs from the setting, or from that of the run before its last checkpoint."""
        now, before, setting = self.settings.precision, self.progress.precision, self.system.config.training.precision
        if now != setting:
            self.listener.notice(
                f"training.precision = {setting}: this CPU multiplies bfloat16 more slowly than float32, so {now} is used"
            )
        if before not in ("", now):
            self.listener.notice(
                f"this run was in {before} until update {self.progress.update:,} and goes on in {now}: "
                "it will not end at the same bits as one that stays in one precision"
            )
        self.progress.precision = now

    def save(self) -> None:
        """Write the checkpoint. Raises RnnsearchError if the processes have different weights."""
        if self.processes.count > 1:
            weights = int(checksum(dict(self.system.model.named_parameters())), 16)
            self.processes.check_same(weights, f"the weights after update {self.progress.update:,}")
        self.processes.first_does(
            lambda: save_checkpoint(self.folder / CHECKPOINT, self.system.model, self.optimizer, self.average, self.progress)
        )

    def _update(self) -> None:
        """Do one update: sum the gradients over the shards of `training.accumulate` minibatches, clip, and step."""
        progress, model, settings = self.progress, self.system.model, self.settings
        device = device_of(model)
        first = progress.update * settings.accumulate
        batches = [self.batches.batch(number) for number in range(first, first + settings.accumulate)]
        sentences = sum(len(batch.source_BS) for batch in batches)
        words = sum(int(batch.target_lengths_B.sum()) for batch in batches)
        # With consistency training, every pair has two forward passes, which differ in their dropout.
        passes = 2 if settings.consistency else 1
        divisor = cost_divisor(passes * sentences, passes * words, settings)

        def backward(model: nn.Module, shard: Shard, weight: float) -> float:
            with shard.random(), precision_of(device, settings.precision):
                output = model(
                    *batch_tensors(shard.batch, device, passes),
                    dropout=settings.dropout,
                    word_dropout=settings.word_dropout,
                )
            guide_BTS = shard.batch.guide_BTS
            guide = None if guide_BTS is None else torch.from_numpy(guide_BTS.repeat(passes, 0)).to(device)
            cost, nll = training_cost(output, divisor / weight if weight else math.inf, settings, guide)
            cost.backward()
            return float(nll) / passes

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
            progress.interval_updates += 1
            progress.interval_norm += norm
            progress.interval_clipped += norm > clip
        else:
            progress.skipped += 1
            self.listener.notice(
                f"update {progress.update}: the gradient is not finite ({norm}); skipped ({progress.skipped} so far)"
            )
        self.optimizer.zero_grad()  # already here, so that the next minibatch can use the memory
        progress.target_words += words
        self.listener.updated(progress, nll / words, words)

    def _validate(self) -> None:
        """Validate the averaged weights, or the model's own without averaging, unless this update is validated already."""
        rows = self.progress.validations
        if rows and rows[-1]["update"] == self.progress.update:
            return
        with self.average.in_use() if self.average else contextlib.nullcontext():
            self._validate_weights()

    def _validate_weights(self) -> None:
        """Score the development set with the present weights, and save them if they are the best so far.

        Otherwise count a validation without gain, and with `decay = plateau` halve the learning rate.
        """
        progress, settings = self.progress, self.settings
        nll, nll_per_sentence, bleu, wer, ser = self.processes.first_does(self._scores)
        score = -nll if settings.validate_on == "nll" else bleu
        if wer is not None and ser is not None and settings.validate_on == "wer":
            score = -wer - ser / 1000
        if math.isnan(score):
            score = -math.inf  # no later score would be greater than NaN
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
            "gradient_norm": progress.interval_norm / max(1, progress.interval_updates),
            "clipped": progress.interval_clipped / max(1, progress.interval_updates),
        }
        if wer is not None:
            row |= {"valid_wer": wer, "valid_ser": ser}
        progress.validations.append(row)
        progress.interval_nll, progress.interval_words = 0.0, 0
        progress.interval_norm, progress.interval_updates, progress.interval_clipped = 0.0, 0, 0
        if best:
            progress.best_score, progress.best_update, progress.validations_without_gain = score, progress.update, 0
            self.processes.first_does(lambda: save_weights(self.folder / WEIGHTS, self.system))
        else:
            progress.validations_without_gain += 1
            if settings.decay == "plateau":
                progress.plateau_factor /= 2
        self.listener.validated(row, best)

    def _scores(self) -> tuple[float, float, float, float | None, float | None]:
        """Return the scores of the development set: NLL in nats per target word and per sentence, BLEU, WER and SER."""
        self.system.model.eval()
        dev = validate([self.system], self.development)
        return dev.nll.per_word, dev.nll.per_sentence, dev.bleu, dev.wer, dev.ser

    def _reason_to_finish(self) -> str:
        """Return why the run is finished, or an empty string if it is not."""
        progress, settings = self.progress, self.settings
        if progress.update >= self.last_update:
            return f"{progress.update} updates are done"
        if settings.max_minutes and progress.seconds >= 60 * settings.max_minutes:
            return f"{settings.max_minutes:g} minutes are over"
        if settings.patience and progress.validations_without_gain >= settings.patience:
            return f"no better score for {settings.patience} validations"
        return ""
