"""Adaptation: trains a model further on new segments of a translation memory, and uses the result if it is not worse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

from rnnsearch.atomic import acquire_lock, write_text
from rnnsearch.config import Config, from_dict, to_dict
from rnnsearch.data.development import FEWEST
from rnnsearch.data.neighbourhoods import choose_dissimilar, neighbourhoods
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.memory import Memory, Pair
from rnnsearch.model_files import ALIGNMENT_LAYER, read_model_config
from rnnsearch.model_folder import check_single, export_model
from rnnsearch.model_versions import Versions
from rnnsearch.terminal import Terminal
from rnnsearch.training.session import train
from rnnsearch.translation import load

FEWEST_SEGMENTS = 20
"""The smallest number of new segments that a model is adapted to."""
_RECIPE: dict[str, Any] = {
    "optimizer": "adam", "learning_rate": 5e-4, "warmup_updates": 0, "decay": "linear", "loss_normalization": "tokens",
    "batch_size": 32, "max_epochs": 4, "max_updates": 1_000_000_000, "max_minutes": 0.0, "weight_average": 0.0,
    "validate_every": 1_000_000_000, "patience": 0, "accumulate": 1, "shards": 1,
}  # fmt: skip
"""The settings of the training; all others are those of the model. It is validated only at its end: no weights are chosen by
the held-out segments, so the scores on these are fair."""
_TAKEN_OVER = (ALIGNMENT_LAYER, "lexicon.tsv", "rare-words.tsv", "phrases.tsv")
"""The files that a model has in common with the one that it is trained from, besides those that training writes."""


@dataclass(frozen=True)
class Quality:
    """The scores of a model on the held-out segments."""

    bleu: float
    chrf: float

    def __str__(self) -> str:
        return f"BLEU {self.bleu:.1f}, chrF {self.chrf:.1f}"


@dataclass(frozen=True)
class Adaptation:
    """The result of an adaptation."""

    before: Quality
    after: Quality
    segments: int
    """The number of new segments in the training text."""
    older: int
    """The number of older segments in the training text, which prevent the model from forgetting them."""
    held_out: int
    """The number of segments on which both models were scored."""
    version: Path | None
    """The folder of the new version; None if it is worse, and was deleted."""


def adapt(model: Path, folder: Path, console: Console | None = None) -> Adaptation:
    """Train a model further on the segments that were added to the memory of `folder` since its last version.

    Training starts from the version in use. It starts from `model` if there is no version yet, or if the version in use
    descends from another model; `model` may be a version itself. The training text consists of new segments and, against
    forgetting, as many older ones, drawn at random. The other new segments are held out; none of the training text is
    similar to them. The new version is used if neither its BLEU nor its chrF on the held-out segments is lower than that of
    the model in use, and deleted otherwise. Raises RnnsearchError if there are too few new segments, and `Interrupted` on
    SIGINT or SIGTERM; then, as after any failure, nothing has changed.
    """
    console = console or Terminal(stderr=True)
    versions, languages = versions_of(model, folder)
    memory = Memory(folder, create=False)
    with _locked(versions):
        record = versions.record()
        base = versions.base_of(model)
        own = record.get("base") == str(base)
        used = versions.current or model
        start, after = (used, int(record["number"])) if own else (model, 0)
        check_single(start)
        segments = memory.since(languages, after)
        if len(segments) < FEWEST_SEGMENTS:
            count = f"{len(segments)} new segments from {languages[0]} to {languages[1]}"
            raise RnnsearchError(f"{folder}: {count}; a model is adapted to {FEWEST_SEGMENTS} or more")
        older = _older(memory.since(languages), after, len(segments))
        kept, held_out = _divided([(source, target) for _, source, target in segments], older, folder)
        _train(start, versions.work, [*kept, *older], held_out, console)
        before, now = _quality(used, held_out), _quality(versions.work / "model", held_out)
        result = Adaptation(before, now, len(kept), len(older), len(held_out), None)
        if now.bleu < before.bleu or now.chrf < before.chrf:
            return result
        made_of = {"base": str(base), "number": segments[-1][0], "date": datetime.now(UTC).date().isoformat()}
        told = {name: value for name, value in asdict(result).items() if name != "version"}
        return replace(result, version=versions.install(versions.work / "model", made_of | told))


def roll_back(model: Path, folder: Path) -> Path:
    """Switch back to the model from which the version in use was trained, and return its folder.

    Raises RnnsearchError if there is none.
    """
    versions, _ = versions_of(model, folder)
    with _locked(versions):
        return versions.roll_back()


def versions_of(model: Path, folder: Path) -> tuple[Versions, tuple[str, str]]:
    """Return the versions in a folder of the model of these languages, and the languages."""
    data = read_model_config(model).data
    languages = data.source_language, data.target_language
    return Versions(folder, "-".join(languages)), languages


@contextmanager
def _locked(versions: Versions) -> Iterator[None]:
    """Return a context in which no other process adapts the model; incomplete versions are deleted before and after it."""
    try:
        lock = acquire_lock(versions.lock)
    except TimeoutError:
        raise RnnsearchError(f"{versions.link}: another process is adapting this model; wait for it or stop it") from None
    except OSError as error:
        raise RnnsearchError(f"{versions.link}: cannot write there: {error.strerror}") from None
    try:
        versions.clear()
        yield
    finally:
        versions.clear()
        lock.release()


def _older(segments: Sequence[tuple[int, str, str]], number: int, count: int) -> list[Pair]:
    """Return `count` segments, or all, of those that are not newer than the one with this number, drawn at random."""
    older = [(source, target) for its_number, source, target in segments if its_number <= number]
    return Random(number).sample(older, min(count, len(older)))


def _divided(pairs: Sequence[Pair], older: Sequence[Pair], folder: Path) -> tuple[list[Pair], list[Pair]]:
    """Divide new pairs into those to train on and those to hold out; the latter are similar to none of the others."""
    held_out = set(choose_dissimilar([*pairs, *older], *neighbourhoods(pairs, seed=1)))
    if len(held_out) < FEWEST:
        raise RnnsearchError(
            f"{folder}: hardly any of the {len(pairs)} new segments differs from all others, so nothing can be held out to "
            "see whether the model gets better; adapt it when there are more"
        )
    parts: tuple[list[Pair], list[Pair]] = [], []
    for number, pair in enumerate(pairs):
        parts[number in held_out].append(pair)
    return parts


def _train(start: Path, work: Path, pairs: Sequence[Pair], held_out: Sequence[Pair], console: Console) -> None:
    """Train a model further; write the complete model to the subfolder `model` of `work`."""
    text, valid = work / "text.jsonl", work / "held-out.jsonl"
    for path, lines in ((text, pairs), (valid, held_out)):
        write_text(path, "".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in lines))
    settings = to_dict(read_model_config(start))
    config: Config = from_dict({**settings, "training": {**settings["training"], **_RECIPE}})
    trained = work / "training"
    train(
        trained, config, sources=text, targets=text, valid_source=valid, valid_target=valid, start=start, console=console
    )  # fmt: skip
    for name in _TAKEN_OVER:
        if (start / name).exists():
            shutil.copyfile(start / name, trained / name)
    export_model(trained, work / "model", "fp32")


def _quality(model: Path, pairs: Sequence[Pair]) -> Quality:
    """Return the scores of a model on some pairs."""
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    score = corpus_score([one.text for one in load(model).translate(sources)], references)
    return Quality(round(score.bleu, 2), round(score.chrf, 2))
