"""The display of a training's progress: a bar on a terminal, lines in a log file, and curves for TensorBoard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from rnnsearch.training.checkpoint import Progress
from rnnsearch.training.trainer import Trainer

LINE_EVERY_SECONDS = 30.0


class Display:
    """A `Listener` that shows the progress of a `Trainer` on the console and writes curves for TensorBoard."""

    def __init__(self, console: Console, tensorboard: Path, trainer: Trainer) -> None:
        self._console = console
        resumed_at = trainer.progress.update
        # TensorBoard hides the points that a killed run wrote after its last checkpoint, for the resumed run repeats them.
        self._curves = _Curves(tensorboard, resumed_at + 1 if resumed_at else None, self.notice)
        columns: list[ProgressColumn] = [
            TextColumn("[bold]training"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
        ]
        self._bar = Bar(*columns, console=console, disable=not console.is_terminal)
        self._last_update, self._max_minutes = trainer.last_update, trainer.settings.max_minutes
        self._task = self._bar.add_task("", total=1.0, text="")
        self._nll = 0.0
        self._rates: list[tuple[float, int]] = []
        self._line_at = time.monotonic() + 5

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()
        self._curves.do("close")

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        """Advance the bar; the loss that it shows is a running mean over about fifty updates."""
        now = time.monotonic()
        self._nll = nll_per_word if not self._nll else 0.98 * self._nll + 0.02 * nll_per_word
        self._rates = [*self._rates[-49:], (now, progress.target_words)]
        (then, before), (_, after) = self._rates[0], self._rates[-1]
        rate = (after - before) / (now - then) if now > then else 0.0
        done = progress.update / self._last_update
        if self._max_minutes:
            done = max(done, progress.seconds / 60 / self._max_minutes)
        text = f"update {progress.update:,}  loss {self._nll:.3f}  {rate:,.0f} words/s"
        self._bar.update(self._task, completed=min(1.0, done), text=text)
        if progress.update % 10 == 0:
            self._scalar("train/nll_per_word", nll_per_word, progress.update)
            self._scalar("train/target_words_per_second", rate, progress.update)
        if not self._console.is_terminal and now >= self._line_at:
            self._line_at = now + LINE_EVERY_SECONDS
            self._console.print(f"{text}  {100 * min(1.0, done):.0f}% done", highlight=False, soft_wrap=True)

    def validated(self, row: dict[str, Any], best: bool) -> None:
        """Print the scores of a validation, and add them to the curves."""
        for key in ("valid_nll", "valid_bleu", "valid_wer", "valid_ser", "learning_rate"):
            if key in row:
                self._scalar(key.replace("valid_", "valid/"), row[key], row["update"])
        self._curves.do("flush")
        unit, score = "word", f"dev BLEU {row['valid_bleu']:.2f}"
        if "valid_wer" in row:
            unit, score = "symbol", f"dev WER {row['valid_wer']:.2f}, SER {row['valid_ser']:.2f}"
        self._console.print(
            f"validation at update {row['update']:,} (epoch {row['epoch']:.2f}): train NLL {row['train_nll']:.3f}, "
            f"dev NLL {row['valid_nll']:.3f} per {unit}, {score}" + (" (best)" if best else ""),
            highlight=False,
            soft_wrap=True,
        )
        self._rates = []

    def notice(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _scalar(self, name: str, value: float, update: int) -> None:
        self._curves.do("add_scalar", name, value, update)


class _Curves:
    """A writer of curves for TensorBoard that stops writing after its first error, so that the training continues."""

    def __init__(self, folder: Path, purge_step: int | None, notice: Callable[[str], None]) -> None:
        from torch.utils.tensorboard import SummaryWriter  # slow to import

        self._notice = notice
        self._writer: SummaryWriter | None = None
        # The writer has a thread. An error there is raised by the next call, so the thread need not print it as well.
        self._hook, threading.excepthook = threading.excepthook, self._thread_failed
        try:
            self._writer = SummaryWriter(str(folder), purge_step=purge_step)
        except OSError as error:
            self._give_up(error)

    def do(self, method: str, *arguments: object) -> None:
        """Call a method of the TensorBoard writer, unless an earlier error has closed it."""
        if self._writer is not None:
            try:
                getattr(self._writer, method)(*arguments)
            except OSError as error:
                self._give_up(error)
        if method == "close":
            threading.excepthook = self._hook

    def _give_up(self, error: OSError) -> None:
        self._writer = None
        self._notice(f"the curves for TensorBoard cannot be written ({error.strerror or error}); training continues")

    def _thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        if not isinstance(failed.exc_value, OSError):
            self._hook(failed)
