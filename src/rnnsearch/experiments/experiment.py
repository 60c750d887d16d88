"""The paper's experiment as data: the systems, the text, the training times, and the test set."""

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
from rnnsearch.presets import PRESETS
from rnnsearch.text import language_of

Scale = Literal["builtin", "multi30k", "files", "wmt14"]
Recipe = Literal["paper", "ours"]

LEAST_PATIENCE = 5
"""RNNsearch-50* stops early only after at least this many consecutive validations without improvement."""


@dataclass(frozen=True)
class TrainedSystem:
    """A system of the paper's Table 1 that is trained here."""

    kind: Literal["RNNencdec", "RNNsearch"]
    limit: int
    """The length limit of its training sentences, in words."""
    paper: str
    """The name of its counterpart in the paper's tables."""
    continues: TrainedSystem | None = None
    """The system whose training it continues; None if it begins with random weights."""

    @property
    def name(self) -> str:
        """The name in the style of the paper, with the length limit of this experiment."""
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
    """The gold word alignments of the test set; None if there are none."""


@dataclass(frozen=True)
class DataSelection:
    """The data selection of section 4.1: training uses the pairs of a general corpus that are most like in-domain text."""

    source: tuple[Path, ...]
    """The source side of the general corpus."""
    target: tuple[Path, ...]
    in_domain_source: Path
    in_domain_target: Path
    words: int
    """The number of target words to select."""


@dataclass(frozen=True)
class CorpusSizes:
    """The numbers of sentence pairs of the parts of the built-in corpus."""

    train: int
    valid: int
    test: int


@dataclass(frozen=True)
class Experiment:
    """An experiment with four systems, and a fifth that continues the training of the fourth, on the same test set."""

    scale: Scale
    text: Text
    config: Config
    """The settings that all systems share: all except the length limit, the alignment model and the training time."""
    limits: tuple[int, int]
    """The two length limits of training sentences, in words: 30 and 50 in the paper."""
    minutes: float
    """The training time of each system except the last, which has `paper.MORE_UPDATES` times the updates of the fourth."""
    builtin: CorpusSizes | None = None
    """The sizes of the built-in corpus; None for other text."""
    selection: DataSelection | None = None
    """The selection of the training text from a larger corpus; None if all of the text is used."""
    archives: Path | None = None
    """The folder of the archives of WMT 2014 if this text is downloaded; None for other text."""

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
        """The edges of the bins of Figure 2 in words: those of the paper, scaled like the length limits."""
        return tuple(self._scaled(edge) for edge in PAPER_EDGES)

    @property
    def long(self) -> int:
        """The smallest number of words of a long sentence: 30 in the paper's Table 3, scaled like the length limits."""
        return self._scaled(paper.LONG)

    def _scaled(self, words: int) -> int:
        return max(1, round(words * self.limits[1] / paper.LIMITS[1]))

    def training_minutes(self, system: TrainedSystem) -> float:
        """Return the expected training time of a system in minutes, including that of the training that it continues."""
        return self.minutes * paper.LONGER if system.continues else self.minutes

    def config_of(self, system: TrainedSystem) -> Config:
        """Return the settings of one system. For the last one, `config_of_longer` sets the length of the training."""
        own: dict[str, dict[str, Any]] = {
            "data": {"max_length": system.limit},
            "model": {"alignment": "mlp" if system.kind == "RNNsearch" else "none"},
            "training": {"max_minutes": 0.0 if system.continues else self.minutes, "patience": 0},
        }
        return from_dict(merge(to_dict(self.config), own))

    def config_of_longer(self, system: TrainedSystem, updates: int, validations: int) -> Config:
        """Return the settings of the system that continues a training with these numbers of updates and validations.

        It has `paper.MORE_UPDATES` times as many updates, but stops early if its score does not improve for half as many
        validations as that training had.
        """
        own = {
            "max_updates": max(updates + 1, round(updates * paper.MORE_UPDATES)),
            "max_epochs": 0,
            "patience": max(LEAST_PATIENCE, validations // 2),
        }
        return from_dict(merge(to_dict(self.config_of(system)), {"training": own}))

    def describe(self) -> dict[str, Any]:
        """Return everything that identifies the experiment, as values that JSON can represent."""
        text: dict[str, Any]
        if self.builtin:
            text = asdict(self.builtin)
        elif self.archives:
            text = {"dataset": WMT14.name}
        else:
            # Selected text is described by the files that it is selected from.
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
"""The default hours of training of all systems together, for each scale."""

# Adam learns in minutes what takes Adadelta hours. The learning rate is constant, because RNNsearch-50* could not continue
# after a decay to zero, as the presets have it. Instead, the weights are averaged, and the averages are tested. The learning
# rate of `_SMALL` is the mean of the linear decay of its preset.
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
"""The length limits for image captions and generated sentences, which are about half as long as news."""


_VARIED = ("data.max_length", "model.alignment", "training.max_minutes", "training.patience")
"""The settings that `Experiment.config_of` sets for each system, because the systems differ in them."""


def make_experiment(
    scale: Scale,
    folder: Path,
    text: Text | None,
    budget_hours: float | None = None,
    *,
    words: int | None = None,
    in_domain: tuple[Path, Path] | None = None,
    archives: Path | None = None,
    recipe: Recipe | None = None,
    seed: int | None = None,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
) -> Experiment:
    """Return the experiment at one of the scales, with the files that it writes in `folder`.

    The scale `builtin` has its own text. `wmt14` without `text` downloads that of the paper, with its archives in the folder
    `archives`. The other scales need `text`. With `words`, this number of target words is selected from the training text by
    similarity to the text `in_domain` (source and target side); from the downloaded text, by default 348 million words are
    selected by similarity to News Commentary.

    `recipe` says how the systems are trained: as in the paper (`paper`), at the sizes of the scale, or by a recipe of ours
    that learns faster (`ours`). By default, `wmt14` has the paper's recipe, the other scales ours.

    `budget_hours` is the training time of all systems together; None stands for the default of the scale. `seed` is the seed
    for the weights, for dropout and for the order of the text. `overrides` (section → key → value) are settings of all
    systems.

    Raises RnnsearchError if one of `text`, `words`, `in_domain` and `archives` is missing or superfluous, for `wmt14` with
    our recipe, and for `overrides` of settings in which the systems differ.
    """
    overrides = overrides or {}
    for section, values in overrides.items():
        for key in values:
            if f"{section}.{key}" in _VARIED:
                raise RnnsearchError(f"--set {section}.{key}: the systems of the experiment differ in it; leave it out")
    if seed is not None:
        overrides = merge({"data": {"seed": seed}, "training": {"seed": seed}}, overrides)

    recipe = recipe or ("paper" if scale == "wmt14" else "ours")
    if scale == "wmt14" and recipe == "ours":
        raise RnnsearchError("--recipe ours: the scale wmt14 has the paper's recipe; use --scale files for another one")

    def config(preset: str, values: Mapping[str, Mapping[str, Any]]) -> Config:
        if recipe == "paper":
            preset, values = "paper", merge(_sizes_of(preset), _PAPER)
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
    return Experiment(
        scale,
        text,
        config("paper", _PAPER) if scale == "wmt14" else config("small", _SMALL),
        limits=_HALF if scale == "multi30k" else paper.LIMITS,
        minutes=minutes,
        selection=selection,
        archives=archives,
    )


def _sizes_of(preset: str) -> dict[str, dict[str, Any]]:
    """Return the settings of a preset that are sizes of the model or of the vocabularies; the others are its recipe."""
    values = PRESETS[preset]
    data = {key: value for key, value in values["data"].items() if key in ("source_words", "target_words")}
    return {"data": data, "model": values["model"]} if preset != "paper" else {}


def downloaded_text(folder: Path) -> tuple[Text, tuple[Path, Path]]:
    """Return the files of WMT 2014 in `folder`, and those of its news text, the in-domain text for data selection.

    As in the paper, the development set is newstest2012 and newstest2013, and the test set is newstest2014.
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
    """Return the files of the built-in corpus in `folder`."""
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
    """Return the language code in the names of all these files, for the name of the file that is selected from them.

    Raises RnnsearchError if the names have no language or several.
    """
    languages = {language_of(path) for path in files}
    language = languages.pop() if len(languages) == 1 else None
    if language is None:
        raise RnnsearchError(
            f"cannot tell one language from the file names {', '.join(path.name for path in files)}; give files whose names "
            "end with it, such as train.en or train.fr.gz"
        )
    return language


def _names(value: Path | tuple[Path, ...] | None) -> Any:
    """Return the names and sizes of files without their folders, so that an experiment can continue if its text is moved."""
    if isinstance(value, tuple):
        return [_names(path) for path in value]
    return value and [value.name, value.stat().st_size if value.is_file() else None]
