"""The paper's experiment as data: which systems are trained, on which text, for how long, and how they are tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rnnsearch.config import Config, from_dict, from_preset, merge, to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import PAPER_EDGES
from rnnsearch.experiments import paper

Scale = Literal["builtin", "multi30k", "files", "wmt14"]

PATIENCE = 5
"""RNNsearch-50* stops after this many validations in a row without improvement."""


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
    """Training time of each system but the last, which is trained `paper.LONGER` times as long."""
    builtin: CorpusSizes | None = None
    """None where the text is given."""

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
        """The time limit of a system's training, including that of the training it continues."""
        return self.minutes * paper.LONGER if system.continues else self.minutes

    def config_of(self, system: TrainedSystem) -> Config:
        """All settings of one system."""
        own: dict[str, dict[str, Any]] = {
            "data": {"max_length": system.limit},
            "model": {"alignment": "mlp" if system.kind == "RNNsearch" else "none"},
            # Time alone ends a training, except that of the last system, which also ends when it stops improving.
            "training": {
                "max_minutes": self.training_minutes(system),
                "patience": PATIENCE if system.continues else 0,
            },
        }
        return from_dict(merge(to_dict(self.config), own))

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the experiment, as plain values."""
        text = {key: _names(value) for key, value in vars(self.text).items()}
        for key in ("valid_source", "valid_target"):  # version 0.1 took one file for each side
            if len(text[key]) == 1:
                (text[key],) = text[key]
        return {
            "scale": self.scale,
            "limits": list(self.limits),
            "minutes": self.minutes,
            "text": asdict(self.builtin) if self.builtin else text,
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
_CONSTANT_RATE: dict[str, Any] = {"decay": "none", "max_epochs": 0, "max_updates": 100_000_000}

# As in the paper, *All* allows [UNK] in translations; only *No UNK* forbids it.
_ALLOW_UNK: dict[str, Any] = {"forbid_unk": False}

_SMALL: dict[str, dict[str, Any]] = {
    "training": {**_CONSTANT_RATE, "learning_rate": 2e-3, "weight_average": 0.999},
    "search": _ALLOW_UNK,
}

_BUILTIN: dict[str, dict[str, Any]] = {
    "training": {
        **_CONSTANT_RATE,
        "learning_rate": 2e-3,
        "weight_average": 0.998,
        "validate_every": 200,
        "validate_sentences": 300,
        "checkpoint_every": 200,
    },
    "search": _ALLOW_UNK,
}

_PAPER: dict[str, dict[str, Any]] = {"training": _CONSTANT_RATE}

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
    seed: int | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
) -> Experiment:
    """The experiment at one of the scales; `builtin` writes its text into `folder`, the others need `text`.

    `budget_hours` is the training time of all systems together; None stands for the default of the scale. `seed` is that of
    the weights, of dropout and of the order of the text. `overrides` (section → key → value) are settings of all systems.

    Raises RnnsearchError where `text` is given but not used, or needed but not given, and for `overrides` of settings in
    which the systems differ.
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
    if scale == "builtin":
        if text is not None:
            raise RnnsearchError("--scale builtin has its own text; to give yours, use --scale files")
        return Experiment(
            scale,
            builtin_text(folder / "corpus"),
            config("demo", _BUILTIN),
            limits=_HALF,
            minutes=minutes,
            builtin=CorpusSizes(train=60_000, valid=500, test=1500),
        )
    if text is None:
        raise RnnsearchError(
            f"--scale {scale} needs its text: --source and --target, --valid-source and --valid-target, --test-source and "
            "--test-target"
        )
    if scale == "wmt14":
        return Experiment(scale, text, config("paper", _PAPER), limits=paper.LIMITS, minutes=minutes)
    limits = _HALF if scale == "multi30k" else paper.LIMITS
    return Experiment(scale, text, config("small", _SMALL), limits=limits, minutes=minutes)


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


def _names(value: Path | tuple[Path, ...] | None) -> Any:
    """Files by name and size, so that an experiment can continue after its text was moved to another folder."""
    if isinstance(value, tuple):
        return [_names(path) for path in value]
    return value and [value.name, value.stat().st_size if value.is_file() else None]
