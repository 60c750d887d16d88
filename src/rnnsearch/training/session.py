"""A whole training: prepare the text, start or resume the run, and write the model, its record and its card."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from rich.console import Console

from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import Config, DataConfig, from_dict, read_json, to_dict
from rnnsearch.data.development import NO_DEVELOPMENT_SET, check_development_set
from rnnsearch.data.inputs import check_readable
from rnnsearch.data.prepare import with_languages
from rnnsearch.data.prepared import PreparedData, open_prepared, prepared_info
from rnnsearch.data.read import read_pairs
from rnnsearch.devices import default_device, device_name
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import CONFIG, WEIGHTS, read_model_config
from rnnsearch.model_folder import check_single, load_system
from rnnsearch.system import TRAINING_COPIES, System, check_memory, new_system
from rnnsearch.terminal import Terminal
from rnnsearch.training.card import model_card
from rnnsearch.training.display import Display
from rnnsearch.training.processes import Processes, joined
from rnnsearch.training.run_folder import begin, check_output, locked, prepared_text, resumed_settings
from rnnsearch.training.tensor_files import load_weights
from rnnsearch.training.trainer import Listener, Silent, Trainer
from rnnsearch.training.validation import DevelopmentSet, negative_log_likelihood, validate
from rnnsearch.translation.request import patterns_of
from rnnsearch.translation.translator import Translator

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One file, or several that are read one after another."""


class Interrupted(Exception):
    """The run was stopped by a signal and has written its checkpoint."""


def train(
    output: str | os.PathLike[str],
    config: Config,
    *,
    sources: Paths = (),
    targets: Paths = (),
    links: Paths = (),
    data: str | os.PathLike[str] | None = None,
    valid_source: Paths = (),
    valid_target: Paths = (),
    hold_out: int | None = None,
    start: str | os.PathLike[str] | None = None,
    resume: bool = False,
    console: Console | None = None,
) -> Translator:
    """Train a system in the folder `output`, and return it as a translator.

    The text is either a folder `data` that `prepare` has written, or raw parallel text in the files `sources` and `targets`.
    The files `links`, which are optional, contain word alignments of the raw text for guided alignment.

    The development set is one of three: the files `valid_source` and `valid_target`; or `hold_out` pairs of the raw text,
    which are drawn at random, never trained on, and written to `data/held-out.source` and `.target` in the output folder;
    or the pairs that were held out when `data` was prepared. By default, runs of adjacent pairs of the raw text are held
    out, to which no training pair is similar (`rnnsearch.data.neighbourhoods`).

    With `start`, training begins with the weights, the vocabularies, and the model and data settings of that model
    (fine-tuning). With `resume`, a run that was stopped or killed continues from its last checkpoint, and ends with the same
    weights, bit for bit, as an uninterrupted run. On SIGINT or SIGTERM, the run writes a checkpoint and raises
    `Interrupted`; a second SIGINT ends it at once.

    If `torchrun` has started several processes that call this function with the same arguments, they share the work. They
    need a common file system. If one of them is killed and `torchrun` restarts them, they resume.
    """
    console = console or Terminal(stderr=True)
    folder = Path(output)
    text = _paths(sources), _paths(targets), _paths(links)
    valid = _paths(valid_source), _paths(valid_target)
    check_development_set(*valid, hold_out, data)
    check_readable(*text[0], *text[1], *text[2], *valid[0], *valid[1])
    if any(valid) and hold_out is None:
        hold_out = 0
    reading = _reading(config.data, text[:2], data, start)
    development = read_development_set(*valid, reading) if any(valid) else None
    with joined() as processes, locked(folder) if processes.first else contextlib.nullcontext():
        console = console if processes.first else Console(quiet=True)
        may_resume = resume or processes.restarted
        resuming = processes.first_does(lambda: check_output(folder, may_resume, console))
        initial = None
        if start is not None:
            check_single(start)
            initial = load_system(start)
        if initial is not None:
            config = replace(config, data=initial.config.data, model=initial.config.model)
        if resuming:
            config = resumed_settings(read_json(folder / CONFIG), config, folder, compare_data=data is None)
        patterns_of(config.search, config.data.protects)  # a validation would refuse them after the first updates
        check_memory(config.model, 2, 2, TRAINING_COPIES)  # a lower bound: the sizes of the vocabularies are not known yet
        prepared = _from_first(
            processes, lambda: prepared_text(folder, config, text, hold_out, data, resuming, initial, console)
        )
        if development is None:
            if not prepared.held_out:
                raise RnnsearchError(f"{data}: no pairs were held out here, and so {NO_DEVELOPMENT_SET}")
            development = _held_out(prepared)
        config = _with_data_settings(config, prepared)

        system = new_system(config, prepared.vocabularies)
        if initial is not None and start is not None:
            load_weights(Path(start) / WEIGHTS, system)
        system.model.to(default_device())
        _describe(console, system, prepared, processes)

        trainer = Trainer(system, prepared.corpus, development, folder, prepared.links, processes)
        if resuming:
            trainer.resume()
        with contextlib.ExitStack() as stack:
            stack.enter_context(_stopping(trainer, console))
            processes.first_does(lambda: begin(folder, system, None if resuming else prepared))
            if not resuming:
                trainer.save()  # from now on the folder holds a run
            listener: Listener = Silent()
            if processes.first:
                listener = stack.enter_context(Display(console, folder / "tensorboard", trainer))
            progress = trainer.run(listener)
        if not progress.finished:
            raise Interrupted(f"stopped at update {progress.update:,}; the same command with --resume goes on from there")
        console.print(
            f"Finished: {progress.finished}. The best model is that of update {progress.best_update:,}.", markup=False
        )
        load_weights(folder / WEIGHTS, system)
        system.model.eval()
        if processes.first:
            record = training_record(trainer, prepared)
            write_json(folder / "training.json", record)
            write_text(folder / "README.md", model_card(system, record))
        return Translator([system])


def development_set(valid_source: Paths, valid_target: Paths, data: str | os.PathLike[str]) -> DevelopmentSet:
    """Return the development set of a training: the files, or the pairs that were held out when `data` was prepared."""
    valid = _paths(valid_source), _paths(valid_target)
    prepared = open_prepared(Path(data))
    if any(valid):
        return read_development_set(*valid, from_dict({"data": prepared.info["data"]}).data)
    return _held_out(prepared)


def _held_out(prepared: PreparedData) -> DevelopmentSet:
    source, target = prepared.development_files
    return read_development_set([source], [target])


def _reading(
    config: DataConfig,
    text: Sequence[Sequence[Path]],
    data: str | os.PathLike[str] | None,
    start: str | os.PathLike[str] | None,
) -> DataConfig:
    """Return the settings by which the development set is read: its languages are those of the training text."""
    if data is not None:
        return from_dict({"data": prepared_info(Path(data))["data"]}).data
    if start is not None:
        return read_model_config(Path(start)).data
    return with_languages(config, *text)


def read_development_set(
    sources: Sequence[Path], targets: Sequence[Path], config: DataConfig | None = None
) -> DevelopmentSet:
    """Read a development set from one or more pairs of files. Raises RnnsearchError if it is empty.

    Pairs with an empty side are left out. `config` says which languages are read from files with several, and whether inline
    tags are kept.
    """
    languages, tags = (config.languages, config.protects) if config else ((None, None), False)
    pairs = [(s, t) for s, t in read_pairs(sources, targets, languages, tags) if s.strip() and t.strip()]
    if not pairs:
        raise RnnsearchError(f"{', '.join(map(str, (*sources, *targets)))}: no sentence pairs to validate on")
    return DevelopmentSet([s for s, _ in pairs], [t for _, t in pairs])


def _paths(paths: Paths) -> list[Path]:
    return [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(path) for path in paths]


def training_record(trainer: Trainer, prepared: PreparedData) -> dict[str, Any]:
    """Return the contents of `training.json`: the columns of the paper's Table 2, and the circumstances of the training.

    The training NLL is that of the best model on the first thousand pairs of the training corpus, without dropout.
    """
    system, progress = trainer.system, trainer.progress
    pairs = [prepared.corpus.pair(i) for i in range(min(1000, len(prepared.corpus)))]
    on_train = negative_log_likelihood(
        [system],
        [system.vocabularies.source.join(source.tolist())[0] for source, _ in pairs],
        [system.vocabularies.target.join(target.tolist())[0] for _, target in pairs],
    )
    on_dev = validate([system], trainer.development)
    return {
        "updates": progress.update,
        "best_update": progress.best_update,
        "epochs": round(trainer.epochs, 3),
        "hours": round(progress.seconds / 3600, 4),
        "target_words_per_second": round(progress.target_words / max(progress.seconds, 1e-9)),
        "device": device_name(),
        "precision": trainer.settings.precision,
        "train_nll": on_train.per_sentence,
        "dev_nll": on_dev.nll.per_sentence,
        "train_nll_per_word": on_train.per_word,
        "dev_nll_per_word": on_dev.nll.per_word,
        "dev_bleu": on_dev.bleu,
        **({} if on_dev.wer is None else {"dev_wer": on_dev.wer, "dev_ser": on_dev.ser}),
        "dev_bleu_search": "greedy",
        "skipped_updates": progress.skipped,
        "finished": progress.finished,
        "parameters": system.model.count_parameters(),
        "training_pairs": len(prepared.corpus),
        "data": prepared.info,
        "date": datetime.now(UTC).date().isoformat(),
        "torch": torch.__version__,
        "validations": progress.validations,
    }


def _from_first(processes: Processes, work: Callable[[], PreparedData]) -> PreparedData:
    """Return the prepared text that `work` opens or prepares in the first process; the others open it afterwards."""
    opened: list[PreparedData] = []

    def first() -> str:
        opened.append(work())
        return str(opened[0].folder)

    folder = processes.first_does(first)
    return opened[0] if opened else open_prepared(Path(folder))


def _with_data_settings(config: Config, prepared: PreparedData) -> Config:
    """Return the settings to save with the model: `config`, with the `data.*` that the corpus was prepared with."""
    return from_dict({**to_dict(config), "data": prepared.info["data"]})


@contextlib.contextmanager
def _stopping(trainer: Trainer, console: Console) -> Iterator[None]:
    """Return a context in which SIGINT, SIGTERM or SIGHUP requests a stop of the trainer; a second signal is not caught.

    Except for SIGINT, a signal that the process ignores stays ignored.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        trainer.stop_requested = True
        restore()
        console.print("Stopping: writing a checkpoint … (once more to stop at once)")

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError):  # raised outside the main thread, where signals cannot be caught
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if number not in before and (number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN):
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        restore()


def _describe(console: Console, system: System, prepared: PreparedData, processes: Processes) -> None:
    """Print a summary of the text, and the kind and the size of the model."""
    for line in prepared.summary():
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    kind = "RNNsearch" if system.aligns else "RNNencdec"
    together = f", {processes.count} processes" if processes.count > 1 else ""
    console.print(
        f"{kind}, {system.model.count_parameters() / 1e6:.1f} million parameters, on {device_name()}{together}",
        highlight=False,
        soft_wrap=True,
    )
