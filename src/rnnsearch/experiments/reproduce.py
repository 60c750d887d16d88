"""The paper's experiment from the text to the report, in parts; finished parts are not run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.config import CONFIG, WEIGHTS, from_dict, to_dict
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import open_prepared
from rnnsearch.data.read import read_lines
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.datasets.catalog import WMT14
from rnnsearch.datasets.texts import MANIFEST, download
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import CorpusSizes, DataSelection, Experiment, TrainedSystem
from rnnsearch.experiments.findings import as_dict, collect_results
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.measure import measure
from rnnsearch.experiments.testset import choose, open_test_set
from rnnsearch.report.reproduction import draw_figures, write_report
from rnnsearch.report.results import Results
from rnnsearch.selection.cross_entropy_difference import select
from rnnsearch.training.session import train
from rnnsearch.training.trainer import CHECKPOINT


@dataclass(frozen=True)
class Part:
    """One step of a reproduction."""

    title: str
    minutes: float
    """An estimate of its time."""
    result: Path
    """The file that exists once the part is finished."""
    run: Callable[[], None]

    @property
    def finished(self) -> bool:
        """Whether the part need not run."""
        return self.result.exists()


@dataclass(frozen=True)
class Reproduction:
    """An experiment, and the folder in which it is run."""

    experiment: Experiment
    layout: Layout
    console: Console
    command: str
    """The command line that the report gives for its results."""
    outside: Mapping[str, Path] = field(default_factory=dict)
    """Translations of the test set by other systems, by the systems' names."""

    def run(self) -> Results:
        """Run the parts that are not finished, and write the report.

        A training that is asked to stop raises `Interrupted`; call `run` again to resume it. Raises RnnsearchError where the
        folder belongs to another experiment, or where a translation from outside does not fit the test set.
        """
        self._check_names()
        self._claim_folder()
        self._check_lines()
        parts = list(self._parts())
        for number, part in enumerate(parts, 1):
            if not part.finished:
                left = sum(later.minutes for later in parts[number - 1 :] if not later.finished)
                self.console.print(
                    Text.assemble(
                        (f"Part {number} of {len(parts)}: {part.title}", "bold"), f"; about {_duration(left)} left in all"
                    ),
                    soft_wrap=True,
                )
                part.run()
        results = collect_results(self.experiment, self.layout, self.outside, self.command)
        draw_figures(results, self.layout.figures)
        write_json(self.layout.results, as_dict(results))
        write_report(self.layout.report, results)
        return results

    def _parts(self) -> Iterator[Part]:
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
        for system in experiment.systems:
            minutes = experiment.training_minutes(system)
            if system.continues:
                minutes -= experiment.training_minutes(system.continues)
            result = layout.model(system) / "training.json"
            yield Part(f"training {system.name}", minutes, result, partial(self._train, system))
        for system in experiment.systems:
            result = layout.translations(system) / "measured.json"
            yield Part(f"translating with {system.name}", 0.7, result, partial(self._measure, system))

    def _write_corpus(self, sizes: CorpusSizes) -> None:
        folder = self.experiment.text.test_source.parent
        write_corpus(folder, train=sizes.train, valid=sizes.valid, test=sizes.test)

    def _download(self, archives: Path) -> None:
        with self.console.status("downloading WMT 2014") as status:
            download(
                WMT14,
                self.experiment.text.test_source.parent,
                lambda what, done, total: status.update(f"{what}: {done / 1e6:,.0f} MB" + _of(total and total / 1e6)),
                archives,
            )

    def _select(self, selection: DataSelection, record: Path) -> None:
        with self.console.status("selecting") as status:
            found = select(
                selection.source,
                selection.target,
                (self.experiment.text.source[0], self.experiment.text.target[0]),
                in_domain={"source": selection.in_domain_source, "target": selection.in_domain_target},
                words=selection.words,
                seed=self.experiment.config.data.seed,
                progress=lambda stage, done, total: status.update(f"{stage}: {done:,} pairs" + _of(total)),
            )
        write_json(record, asdict(found))

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
        self._check_lines()  # now also of a test set that has just been downloaded
        prepared = [open_prepared(self.layout.prepared(limit)) for limit in self.experiment.limits]
        choose(self.experiment.text, prepared, self.experiment.long, self.layout.test)

    def _train(self, system: TrainedSystem) -> None:
        model = self.layout.model(system)
        if system.continues and not (model / CHECKPOINT).exists():
            _copy_run(self.layout.model(system.continues), model)
        train(
            model,
            self.experiment.config_of(system),
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
        """Raise RnnsearchError if a system from outside has the name of one that is trained here."""
        trained = {system.name for system in self.experiment.systems}
        for name in self.outside:
            if name in trained:
                raise RnnsearchError(f"--system {name}=…: a system of that name is trained here; give it another name")

    def _claim_folder(self) -> None:
        """Record the experiment in the folder; raise RnnsearchError if the folder belongs to another one."""
        here = json.loads(json.dumps(self.experiment.describe()))
        place = self.layout.experiment
        if not place.exists():
            write_json(place, here)
            return
        there = json.loads(place.read_text(encoding="utf-8"))
        # Settings that did not exist when the folder was made get their default values.
        there["config"] = to_dict(from_dict(there["config"], str(place)))
        different = [key for key in here if there.get(key) != here[key]]
        if different:
            raise RnnsearchError(
                f"{self.layout.folder}: another experiment is there ({', '.join(different)} differ); give the options of "
                "that experiment, or another --output"
            )

    def _check_lines(self) -> None:
        """Raise RnnsearchError, before any training, if a translation from outside lacks or adds lines."""
        test = self.experiment.text.test_target
        made_here = self.experiment.builtin or self.experiment.archives
        if self.outside and not (made_here and not test.exists()):
            expected = sum(1 for _ in read_lines(test))
            for name, path in self.outside.items():
                found = sum(1 for _ in read_lines(path))
                if found != expected:
                    raise RnnsearchError(
                        f"{path}: {found:,} lines, but the test set has {expected:,}; line n must be the translation of "
                        f"sentence n by {name}"
                    )


def _copy_run(run: Path, to: Path) -> None:
    """Copy the files that a training resumes from, the checkpoint last, so that an incomplete copy is not resumed."""
    for name in (CONFIG, WEIGHTS, CHECKPOINT):
        with atomic_write(to / name) as temporary:
            temporary.write_bytes((run / name).read_bytes())


def _of(total: float | None) -> str:
    return f" of {total:,.0f}" if total else ""


def _duration(minutes: float) -> str:
    if minutes >= 2 * 24 * 60:
        return f"{minutes / 60 / 24:.0f} days"
    if minutes >= 2 * 60:
        return f"{minutes / 60:.0f} hours"
    return f"{round(minutes)} minutes" if minutes >= 1.5 else "a minute"
