"""The reproduction of the paper's experiment, from the text to the report, in parts; finished parts are not run again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rnnsearch.atomic import acquire_lock, atomic_write, write_json
from rnnsearch.config import from_dict, to_dict
from rnnsearch.data.lines import read_lines
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import open_prepared
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.datasets.catalog import WMT14
from rnnsearch.datasets.texts import MANIFEST, download
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import CorpusSizes, DataSelection, Experiment, TrainedSystem
from rnnsearch.experiments.findings import as_dict, collect_results
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.measure import measure
from rnnsearch.experiments.testset import choose, open_test_set
from rnnsearch.model_files import CONFIG, WEIGHTS
from rnnsearch.report.reproduction import draw_figures, write_report
from rnnsearch.report.results import Results
from rnnsearch.selection.cross_entropy_difference import select
from rnnsearch.training.checkpoint import continue_checkpoint
from rnnsearch.training.session import train
from rnnsearch.training.trainer import CHECKPOINT


@dataclass(frozen=True)
class Part:
    """One step of a reproduction."""

    title: str
    minutes: float
    """The estimated time in minutes."""
    result: Path
    """The file that exists when the part is finished."""
    run: Callable[[], None]

    @property
    def finished(self) -> bool:
        """Whether the part has been run before."""
        return self.result.exists()


@dataclass(frozen=True)
class Reproduction:
    """An experiment with the folder in which it is run."""

    experiment: Experiment
    layout: Layout
    console: Console
    command: str
    """The command line that is shown in the report."""
    outside: Mapping[str, Path] = field(default_factory=dict)
    """Files with translations of the test set by other systems, by the names of the systems."""
    only: Sequence[str] = ()
    """The names of the systems to train and test on this machine, if other machines do the rest; empty for all systems."""

    def run(self) -> Results | None:
        """Run the parts that are not finished, write the report, and return the results.

        The result is None, without a report, if systems are left to other machines. A training that is stopped by a signal
        raises `Interrupted`; call `run` again to resume it. Raises RnnsearchError if the folder belongs to another
        experiment, or if the translations of another system do not fit the test set.
        """
        systems = self._chosen()
        self._check_names()
        self._claim_folder()
        self._check_lines()
        self._announce_hours(systems)
        text_parts = list(self._text_parts())
        parts = [*text_parts, *self._system_parts(systems)]
        for number, part in enumerate(parts, 1):
            # Several processes may work in the folder. They share the text; a training locks its own model folder.
            with self._locked() if number <= len(text_parts) and not part.finished else contextlib.nullcontext():
                if not part.finished:
                    left = sum(later.minutes for later in parts[number - 1 :] if not later.finished)
                    title = f"Part {number} of {len(parts)}: {part.title}"
                    self._print(Text.assemble((title, "bold"), f"; about {_duration(left)} left in all"))
                    part.run()
        elsewhere = [system.name for system in self.experiment.systems if not self._measured(system).exists()]
        if elsewhere:
            self._print(
                f"Not tested here: {', '.join(elsewhere)}. Once the folders `models` and `translations` have all systems, "
                "the same command without --only writes the report."
            )
            return None
        results = collect_results(self.experiment, self.layout, self.outside, self.command)
        draw_figures(results, self.layout.figures)
        write_json(self.layout.results, as_dict(results))
        write_report(self.layout.report, results)
        return results

    def _chosen(self) -> list[TrainedSystem]:
        """Return the systems to train and test on this machine. Raises RnnsearchError for a name of no system."""
        systems = self.experiment.systems
        for name in self.only:
            if not any(name in (system.name, system.folder) for system in systems):
                names = ", ".join(system.name for system in systems)
                raise RnnsearchError(f"--only {name}: no system of this experiment; its systems are {names}")
        return [system for system in systems if not self.only or {system.name, system.folder} & set(self.only)]

    def _announce_hours(self, systems: Sequence[TrainedSystem]) -> None:
        """Print how long each training will take, before anything is started."""
        minutes = {
            system.name: self._training_minutes(system)
            for system in systems
            if not (self.layout.model(system) / "training.json").exists()
        }
        if minutes:
            each = ", ".join(f"{name} {_duration(time)}" for name, time in minutes.items())
            self._print(
                f"Training time on this machine: {each}; {_duration(sum(minutes.values()))} in all. --budget-hours "
                "sets the total of all systems, and --only trains some of them, so that several machines share the work."
            )

    def _training_minutes(self, system: TrainedSystem) -> float:
        """Return the time of a training in minutes, without that of the training that it continues."""
        minutes = self.experiment.training_minutes(system)
        return minutes - self.experiment.training_minutes(system.continues) if system.continues else minutes

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Return a context in which no other process prepares the text in this folder, after waiting for such processes."""
        path = self.layout.lock
        try:
            lock = acquire_lock(path)
        except TimeoutError:
            self._print("Waiting for another process, which prepares the text in this folder")
            lock = acquire_lock(path, timeout=-1)
        try:
            yield
        finally:
            lock.release()

    def _print(self, text: str | Text) -> None:
        self.console.print(text, soft_wrap=True)

    def _measured(self, system: TrainedSystem) -> Path:
        """Return the file that exists when the system has been tested."""
        return self.layout.translations(system) / "measurements.json"

    def _text_parts(self) -> Iterator[Part]:
        """Yield the parts that prepare the text."""
        experiment, layout = self.experiment, self.layout
        if experiment.builtin:
            result = experiment.text.target[-1]
            yield Part("writing the built-in corpus", 0.1, result, partial(self._write_corpus, experiment.builtin))
        if experiment.archives:
            result = experiment.text.test_source.with_name(MANIFEST)
            yield Part("downloading WMT 2014", 120, result, partial(self._download, experiment.archives))
        if experiment.selection:
            title = f"selecting {experiment.selection.words:,} words"
            result = experiment.text.source[0].with_name("selected.json")
            yield Part(title, experiment.selection.words / 1e7, result, partial(self._select, experiment.selection, result))
        for limit in experiment.limits:
            title = f"preparing the text, sentences of up to {limit} words"
            yield Part(title, 0.5, layout.prepared(limit) / "prepare.json", partial(self._prepare, limit))
        yield Part("choosing the sentences to show", 0.1, layout.test / "choice.json", self._choose)

    def _system_parts(self, systems: Sequence[TrainedSystem]) -> Iterator[Part]:
        """Yield the parts that train these systems, and then those that test them."""
        for system in systems:
            title, result = f"training {system.name}", self.layout.model(system) / "training.json"
            yield Part(title, self._training_minutes(system), result, partial(self._train, system))
        for system in systems:
            yield Part(f"translating with {system.name}", 0.7, self._measured(system), partial(self._measure, system))

    def _write_corpus(self, sizes: CorpusSizes) -> None:
        folder = self.experiment.text.test_source.parent
        write_corpus(folder, train=sizes.train, valid=sizes.valid, test=sizes.test)

    def _download(self, archives: Path) -> None:
        with self.console.status("downloading WMT 2014") as status:
            downloaded = download(
                WMT14,
                self.experiment.text.test_source.parent,
                lambda what, done, total: status.update(f"{what}: {done / 1e6:,.0f} MB" + _of(total and total / 1e6)),
                archives,
            )
        for name, lines in downloaded.left_out.items():
            self._print(f"{name}: {lines:,} lines are not valid UTF-8, and are left out with their translations")

    def _select(self, selection: DataSelection, record: Path) -> None:
        with self.console.status("selecting") as status:
            selected = select(
                selection.source,
                selection.target,
                (self.experiment.text.source[0], self.experiment.text.target[0]),
                in_domain={"source": selection.in_domain_source, "target": selection.in_domain_target},
                words=selection.words,
                seed=self.experiment.config.data.seed,
                progress=lambda stage, done, total: status.update(f"{stage}: {done:,} pairs" + _of(total)),
            )
        write_json(record, asdict(selected))

    def _prepare(self, limit: int) -> None:
        text = self.experiment.text
        system = next(system for system in self.experiment.systems if system.limit == limit)
        data = self.experiment.config_of(system).data
        with self.console.status("preparing the text") as status:
            prepare(
                text.source,
                text.target,
                self.layout.prepared(limit),
                data,
                progress=lambda stage, pairs: status.update(f"{stage}: {pairs:,} pairs"),
            )

    def _choose(self) -> None:
        self._check_lines()  # again, because the test set may have just been downloaded
        prepared = [open_prepared(self.layout.prepared(limit)) for limit in self.experiment.limits]
        choose(self.experiment.text, prepared, self.experiment.long, self.layout.test)

    def _train(self, system: TrainedSystem) -> None:
        model, config = self.layout.model(system), self.experiment.config_of(system)
        if system.continues:
            before = self.layout.model(system.continues)
            if not (before / "training.json").exists():
                raise RnnsearchError(
                    f"--only {system.name}: it goes on from {system.continues.name}, which is not in {before}; train that "
                    "here first, or copy its folder from the machine that has trained it"
                )
            record = json.loads((before / "training.json").read_text(encoding="utf-8"))
            config = self.experiment.config_of_longer(system, record["updates"], len(record["validations"]))
            if not (model / CHECKPOINT).exists():
                _continue_run(before, model)
        train(
            model,
            config,
            data=self.layout.prepared(system.limit),
            valid_source=self.experiment.text.valid_source,
            valid_target=self.experiment.text.valid_target,
            resume=model.exists(),
            console=self.console,
        )

    def _measure(self, system: TrainedSystem) -> None:
        with self.console.status("translating the test set"):
            measure(
                self.layout.model(system),
                open_test_set(self.experiment.text, self.layout.test),
                self.experiment.text.test_gold,
                self.layout.translations(system),
            )

    def _check_names(self) -> None:
        """Raise RnnsearchError if a system in `outside` has the name of one that is trained here."""
        trained = {system.name for system in self.experiment.systems}
        for name in self.outside:
            if name in trained:
                raise RnnsearchError(f"--system {name}=…: a system of that name is trained here; give it another name")

    def _claim_folder(self) -> None:
        """Record the experiment in the folder. Raises RnnsearchError if the folder belongs to another experiment."""
        description = json.loads(json.dumps(self.experiment.describe()))
        path = self.layout.experiment
        if not path.exists():
            write_json(path, description)
            return
        recorded = json.loads(path.read_text(encoding="utf-8"))
        # Settings that did not exist when the folder was created get their default values.
        recorded["config"] = to_dict(from_dict(recorded["config"], str(path)))
        different = [key for key in description if recorded.get(key) != description[key]]
        if different:
            raise RnnsearchError(
                f"{self.layout.folder}: another experiment is there ({', '.join(different)} differ); give the options of "
                "that experiment, or another --output"
            )

    def _check_lines(self) -> None:
        """Raise RnnsearchError if a file of `outside` has not one line for each line of the test set.

        Nothing is checked while the test set is not yet written or downloaded.
        """
        test = self.experiment.text.test_target
        created_here = self.experiment.builtin or self.experiment.archives
        if self.outside and not (created_here and not test.exists()):
            expected = sum(1 for _ in read_lines(test))
            for name, path in self.outside.items():
                lines = sum(1 for _ in read_lines(path))
                if lines != expected:
                    raise RnnsearchError(
                        f"{path}: {lines:,} lines, but the test set has {expected:,}; line n must be the translation of "
                        f"sentence n by {name}"
                    )


def _continue_run(run: Path, to: Path) -> None:
    """Copy the files from which a training resumes; the checkpoint comes last, so that an incomplete copy is not resumed."""
    for name in (CONFIG, WEIGHTS):
        with atomic_write(to / name) as temporary:
            temporary.write_bytes((run / name).read_bytes())
    continue_checkpoint(run / CHECKPOINT, to / CHECKPOINT)


def _of(total: float | None) -> str:
    return f" of {total:,.0f}" if total else ""


def _duration(minutes: float) -> str:
    """Format a duration for people, in minutes, hours or days."""
    if minutes >= 2 * 24 * 60:
        return f"{minutes / 60 / 24:.0f} days"
    if minutes >= 2 * 60:
        return f"{minutes / 60:.0f} hours"
    return f"{round(minutes)} minutes" if minutes >= 1.5 else "a minute"
