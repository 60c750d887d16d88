"""The paper's experiment as data: which systems are trained, on which text, for how long, and how they are tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rnnsearch.config import Config, from_dict, from_preset, merge, to_dict
from rnnsearch.datasets.catalog import WMT14
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import PAPER_EDGES
from rnnsearch.experiments import paper
from rnnsearch.text import language_of

Scale = Literal["builtin", "multi30k", "files", "wmt14"]

LEAST_PATIENCE = 5
"""RNNsearch-50* never stops after fewer validations in a row without improvement."""


@dataclass(frozen=True)
class TrainedSystem:
    """A system of Table 1 that is trained here."""

    kind: Literal["RNNencdec", "RNNsearch"]
    limit: int
    """The length limit of its training sentences, in words."""
    paper: str
    """The name of its counterpart in the paper's tables."""
    continues: TrainedSystem | None = None
    """The system whose training it continues."""

    @property
    def name(self) -> str:
        """The name in the paper's style, with this experiment's length limit."""
        return f"{self.kind}-{self.limit}{'*' if self.continues else ''}"

    @property
    def folder(self) -> str:
        """The name of its model folder."""
        return self.name.replace("*", "-longer")


@dataclass(frozen=True)
class Text:
    """Parallel text: line n of a target file is the translation of line n of its source file."""

    source: tuple[Path, ...]
    target: tuple[Path, ...]
    valid_source: tuple[Path, ...]
    valid_target: tuple[Path, ...]
    test_source: Path
    test_target: Path
    test_gold: Path | None = None
    """Gold word alignments of the test set."""


@dataclass(frozen=True)
class DataSelection:
    """Data selection (section 4.1): the pairs of a general corpus that are most like in-domain text are trained on."""

    source: tuple[Path, ...]
    """The general corpus, source side."""
    target: tuple[Path, ...]
    in_domain_source: Path
    in_domain_target: Path
    words: int
    """Target words to keep."""


@dataclass(frozen=True)
class CorpusSizes:
    """The numbers of sentence pairs of each part, where the text is the built-in corpus."""

    train: int
    valid: int
    test: int


@dataclass(frozen=True)
class Experiment:
    """Four systems, and a fifth that continues the training of the fourth, all tested on the same sentences."""

    scale: Scale
    text: Text
    config: Config
    """The settings that all systems share: all but the length limit, the alignment model and the training time."""
    limits: tuple[int, int]
    """The two length limits of training sentences, in words: 30 and 50 in the paper."""
    minutes: float
    """Training time of each system but the last, which has `paper.MORE_UPDATES` times the updates of the one before."""
    builtin: CorpusSizes | None = None
    """None where the text is given."""
    selection: DataSelection | None = None
    """Where the training text is selected from a larger one."""
    archives: Path | None = None
    """Where WMT 2014 is downloaded: the folder of its archives. None where the text is given."""

    @property
    def systems(self) -> list[TrainedSystem]:
        """The systems in the order of their training."""
        short, long = self.limits
        last = TrainedSystem("RNNsearch", long, "RNNsearch-50")
        return [
            TrainedSystem("RNNencdec", short, "RNNencdec-30"),
            TrainedSystem("RNNsearch", short, "RNNsearch-30"),
            TrainedSystem("RNNencdec", long, "RNNencdec-50"),
            last,
            TrainedSystem("RNNsearch", long, "RNNsearch-50*", continues=last),
        ]

    @property
    def edges(self) -> tuple[int, ...]:
        """The edges of Figure 2's bins in words: the paper's, scaled like the length limits."""
        return tuple(self._scaled(edge) for edge in PAPER_EDGES)

    @property
    def long(self) -> int:
        """The fewest words of a long sentence: 30 for the paper's Table 3, scaled likewise."""
        return self._scaled(paper.LONG)

    def _scaled(self, words: int) -> int:
        return max(1, round(words * self.limits[1] / paper.LIMITS[1]))

    def training_minutes(self, system: TrainedSystem) -> float:
        """The time that a system's training is expected to take, including that of the training it continues."""
        return self.minutes * paper.LONGER if system.continues else self.minutes

    def config_of(self, system: TrainedSystem) -> Config:
        """The settings of one system; how long the last one is trained is said by `config_of_longer`."""
        own: dict[str, dict[str, Any]] = {
            "data": {"max_length": system.limit},
            "model": {"alignment": "mlp" if system.kind == "RNNsearch" else "none"},
            "training": {"max_minutes": 0.0 if system.continues else self.minutes, "patience": 0},
        }
        return from_dict(merge(to_dict(self.config), own))

    def config_of_longer(self, system: TrainedSystem, updates: int, validations: int) -> Config:
        """The settings of the system that continues a training of so many updates and validations.

        It has as many updates for each of that training as in the paper, unless its score does not rise for half as many
        validations as that training had.
        """
        own = {
            "max_updates": max(updates + 1, round(updates * paper.MORE_UPDATES)),
            "max_epochs": 0,
            "patience": max(LEAST_PATIENCE, validations // 2),
        }
        return from_dict(merge(to_dict(self.config_of(system)), {"training": own}))

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the experiment, as plain values."""
        text: dict[str, Any]
        if self.builtin:
            text = asdict(self.builtin)
        elif self.archives:
            text = {"dataset": WMT14.name}
        else:
            # The selected text is described by what it is selected from.
            files = {**vars(self.text), **(vars(self.selection) if self.selection else {})}
            text = {key: _names(value) for key, value in files.items() if key != "words"}
            for key in ("valid_source", "valid_target"):  # version 0.1 took one file for each side
                if len(text[key]) == 1:
                    (text[key],) = text[key]
        if self.selection:
            text["words"] = self.selection.words
        return {
            "scale": self.scale,
            "limits": list(self.limits),
            "minutes": self.minutes,
            "text": text,
            "config": to_dict(self.config),
        }


BUDGET_HOURS: Mapping[Scale, float] = {
    "builtin": 0.5,
    "multi30k": 4.0,
    "files": 4.0,
    # The paper trained each system for about 110 hours, and RNNsearch-50* for 252.
    "wmt14": round(111 * (3 + paper.LONGER)),
}
"""Hours of training for all systems together."""

# Adam learns in minutes what takes Adadelta hours. The learning rate is constant: after a decay to zero, as in the presets,
# RNNsearch-50* could not continue. The average of the weights, which is what is tested, replaces the decay. The rate of
# `_SMALL` is the mean of its preset's linear decay.
CONSTANT_RATE: dict[str, Any] = {"decay": "none", "max_epochs": 0, "max_updates": 100_000_000}

# As in the paper, *All* allows [UNK] in translations; only *No UNK* forbids it.
_ALLOW_UNK: dict[str, Any] = {"forbid_unk": False}

_SMALL: dict[str, dict[str, Any]] = {
    "training": {**CONSTANT_RATE, "learning_rate": 2e-3, "weight_average": 0.999},
    "search": _ALLOW_UNK,
}

_BUILTIN: dict[str, dict[str, Any]] = {
    "training": {
        **CONSTANT_RATE,
        "learning_rate": 2e-3,
        "weight_average": 0.998,
        "validate_every": 200,
        "validate_sentences": 300,
        "checkpoint_every": 200,
    },
    "search": _ALLOW_UNK,
}

_PAPER: dict[str, dict[str, Any]] = {"training": CONSTANT_RATE}

_HALF = (15, 25)
"""The length limits for captions and generated sentences, which are about half as long as news."""


_VARIED = ("data.max_length", "model.alignment", "training.max_minutes", "training.patience")
"""What `Experiment.config_of` sets for each system: the experiment compares systems that differ in these."""


def make_experiment(
    scale: Scale,
    folder: Path,
    text: Text | None,
    budget_hours: float | None = None,
    *,
    words: int | None = None,
    in_domain: tuple[Path, Path] | None = None,
    archives: Path | None = None,
    seed: int | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
) -> Experiment:
    """The experiment at one of the scales; files that it makes are in `folder`.

    `builtin` has its own text; `wmt14` downloads the paper's where there is no `text`, from or to the folder `archives`; the
    others need `text`. With `words`, so many target words of the training text are selected, by their similarity to the text
    `in_domain` (source and target side); of the downloaded text, 348 million by default, by News Commentary.

    `budget_hours` is the training time of all systems together; None stands for the default of the scale. `seed` is that of
    the weights, of dropout and of the order of the text. `overrides` (section → key → value) are settings of all systems.

    Raises RnnsearchError where `text` is given but not used, or needed but not given, likewise for `words`, `in_domain` and
    `archives`, and for `overrides` of settings in which the systems differ.
    """
    overrides = overrides or {}
    for section, values in overrides.items():
        for key in values:
            if f"{section}.{key}" in _VARIED:
                raise RnnsearchError(f"--set {section}.{key}: the systems of the experiment differ in it; leave it out")
    if seed is not None:
        overrides = merge({"data": {"seed": seed}, "training": {"seed": seed}}, overrides)

    def config(preset: str, values: Mapping[str, Mapping[str, Any]]) -> Config:
        return from_preset(preset, merge(values, overrides))

    hours = BUDGET_HOURS[scale] if budget_hours is None else budget_hours
    minutes = round(60 * hours / (3 + paper.LONGER), 2)
    if archives is not None and (scale != "wmt14" or text is not None):
        raise RnnsearchError("--archives: only --scale wmt14 without --source downloads its text; leave it out")
    if scale == "builtin":
        if text is not None or words is not None or in_domain is not None:
            raise RnnsearchError("--scale builtin has its own text; to give yours, use --scale files")
        return Experiment(
            scale,
            builtin_text(folder / "corpus"),
            config("demo", _BUILTIN),
            limits=_HALF,
            minutes=minutes,
            builtin=CorpusSizes(train=60_000, valid=500, test=1500),
        )
    selection = None
    if text is None and scale == "wmt14":
        archives = archives or folder / "wmt14" / "archives"
        text, news = downloaded_text(folder / "wmt14")
        words, in_domain = words or paper.WORDS, in_domain or news
    if text is None:
        raise RnnsearchError(
            f"--scale {scale} needs its text: --source and --target, --valid-source and --valid-target, --test-source and "
            "--test-target"
        )
    if (words is None) != (in_domain is None):
        raise RnnsearchError(
            "to select training text, give both --words and the in-domain text: --in-domain-source and --in-domain-target"
        )
    if words is not None and in_domain is not None:
        selection = DataSelection(text.source, text.target, *in_domain, words)
        selected = folder / "selected"
        text = replace(
            text,
            source=(selected / f"source.{_language(text.source)}",),
            target=(selected / f"target.{_language(text.target)}",),
        )
    preset, values = ("paper", _PAPER) if scale == "wmt14" else ("small", _SMALL)
    return Experiment(
        scale,
        text,
        config(preset, values),
        limits=_HALF if scale == "multi30k" else paper.LIMITS,
        minutes=minutes,
        selection=selection,
        archives=archives,
    )


def downloaded_text(folder: Path) -> tuple[Text, tuple[Path, Path]]:
    """The files of WMT 2014 in `folder`, and its news text, which data selection takes for the domain.

    As in the paper, the development set is newstest2012 and newstest2013, and the test set newstest2014.
    """
    files = {}
    for text in WMT14.texts:
        source, target = WMT14.files(text)
        files[text.name] = folder / source, folder / target
    development, test = ("newstest2012", "newstest2013"), "newstest2014"
    training = [pair for name, pair in files.items() if name not in (*development, test)]
    valid = [files[name] for name in development]
    return Text(
        source=tuple(source for source, _ in training),
        target=tuple(target for _, target in training),
        valid_source=tuple(source for source, _ in valid),
        valid_target=tuple(target for _, target in valid),
        test_source=files[test][0],
        test_target=files[test][1],
    ), files["news-commentary-v9"]


def builtin_text(folder: Path) -> Text:
    """The files of the built-in corpus in `folder`."""
    return Text(
        (folder / "train.en",),
        (folder / "train.fr",),
        (folder / "valid.en",),
        (folder / "valid.fr",),
        folder / "test.en",
        folder / "test.fr",
        folder / "test.gold",
    )


def _language(files: Sequence[Path]) -> str:
    """The language that all files have in their names, as the name of a file that is made of them is to have it."""
    languages = {language_of(path) for path in files}
    language = languages.pop() if len(languages) == 1 else None
    if language is None:
        raise RnnsearchError(
            f"cannot tell one language from the file names {', '.join(path.name for path in files)}; give files whose names "
            "end with it, such as train.en or train.fr.gz"
        )
    return language


def _names(value: Path | tuple[Path, ...] | None) -> Any:
    """Files by name and size, so that an experiment can continue after its text was moved to another folder."""
    if isinstance(value, tuple):
        return [_names(path) for path in value]
    return value and [value.name, value.stat().st_size if value.is_file() else None]
