"""Damaged models, checkpoints and prepared texts: one clear error, or what was there before; never a mixture."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from campaign.trial import SMALL, Part, run, settings, world
from rnnsearch.data.development import HELD_OUT
from rnnsearch.data.prepared import open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_folder import load_system, new_system
from rnnsearch.training.checkpoint import Progress, load_checkpoint
from rnnsearch.training.optimizer import make_optimizer

ODD = (None, True, -1, 0, 1, 2, 3.5, 1e308, 10**30, float("nan"), "", "x", "gated", [], {}, [1], {"a": 1})


def flip(path: Path, random: Random) -> None:
    """Change some bits of a byte."""
    content = bytearray(path.read_bytes())
    content[random.randrange(len(content))] ^= random.randrange(1, 256)
    path.write_bytes(content)


def cut(path: Path, random: Random) -> None:
    """Lose the end."""
    path.write_bytes(path.read_bytes()[: random.randrange(path.stat().st_size)])


def zero(path: Path, random: Random) -> None:
    """A part becomes zero, as after a power failure."""
    content = bytearray(path.read_bytes())
    first = random.randrange(len(content))
    size = random.randrange(1, 4097)
    content[first : first + size] = bytes(len(content[first : first + size]))
    path.write_bytes(content)


def add(path: Path, random: Random) -> None:
    """Something follows."""
    path.write_bytes(path.read_bytes() + random.randbytes(random.randrange(1, 50)))


def remove(path: Path, random: Random) -> None:
    """It has gone."""
    path.unlink()


def edit(value: Any, random: Random) -> Any:
    """JSON with one odd value, or without one."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice([*value])
        if random.random() < 0.2:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: edit(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        return [*value[:place], edit(value[place], random), *value[place + 1 :]]
    return random.choice(ODD)


def edit_json(path: Path, random: Random) -> None:
    """Edit a JSON file, or the JSON in a checkpoint's header."""
    if path.suffix == ".json":
        path.write_text(json.dumps(edit(json.loads(path.read_text()), random)))
    elif path.name == "last.safetensors":
        with safe_open(path, "pt") as file:
            metadata = file.metadata()
        progress = json.dumps(edit(json.loads(metadata["progress"]), random))
        save_file(load_file(path), path, {"progress": progress, "optimizer": metadata["optimizer"]})
    else:
        flip(path, random)


WAYS: tuple[Callable[[Path, Random], None], ...] = (flip, flip, cut, zero, add, remove, edit_json, edit_json)


def tensors_of(model: torch.nn.Module) -> dict[str, bytes]:
    """The bytes of all parameters."""
    return {name: parameter.detach().numpy().tobytes() for name, parameter in model.named_parameters()}


class Patients:
    """Three folders that are whole, and what reading a damaged copy of one may come to."""

    def __init__(self, place: Path) -> None:
        text = ["--source", str(world() / "train.en"), "--target", str(world() / "train.fr")]
        done = run(["train", *text, "--hold-out", "12", "--output", "run", *settings(SMALL)], place)
        assert done.status == 0, done.err.decode()
        seeds = {"training.seed": 2, "data.seed": 2}
        done = run(["train", *text, "--hold-out", "12", "--output", "other", *settings(SMALL | seeds)], place)
        assert done.status == 0, done.err.decode()
        self.run, self.other = place / "run", place / "other"
        self.system = load_system(self.run)
        self.progress = self._checkpoint(self.run)
        self.text = open_prepared(self.run / "data")

    def _checkpoint(self, folder: Path) -> tuple[Progress, dict[str, bytes]]:
        system = new_system(self.system.config, self.system.vocabularies)
        optimizer = make_optimizer(system.model.parameters(), system.config.training)
        progress = load_checkpoint(folder / "checkpoints" / "last.safetensors", system.model, optimizer, None)
        return progress, tensors_of(system.model)

    def model(self, folder: Path) -> bool:
        """Whether the model in this folder is the one that was written."""
        system = load_system(folder)
        same = tensors_of(system.model) == tensors_of(self.system.model)
        return same and system.fingerprint() == self.system.fingerprint()

    def checkpoint(self, folder: Path) -> bool:
        """Whether the weights are; its JSON may have been edited to other sensible values."""
        return self._checkpoint(folder)[1] == self.progress[1]

    def prepared(self, folder: Path) -> bool:
        """Whether the text is."""
        text = open_prepared(folder / "data")
        everything = np.arange(len(self.text.corpus))
        return len(text.corpus) == len(everything) and all(
            np.array_equal(one.ids, other.ids)
            for one, other in zip(text.corpus.take(everything), self.text.corpus.take(everything), strict=True)
        )


KINDS = {
    "model": ("config.json", "model.safetensors", "source.vocab", "target.vocab"),
    "checkpoint": ("checkpoints/last.safetensors",),
    "prepared": ("data/train.arrow", "data/train.arrow", "data/source.vocab", "data/prepare.json", f"data/{HELD_OUT[0]}"),
}


def damage(seed: int, numbers: Sequence[int]) -> Part:
    """As many damaged folders: half of them models, the others checkpoints and prepared texts."""
    part, came = Part(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        patients = Patients(Path(place))
        for number in numbers:
            random = Random(f"{seed} {number}")
            kind = random.choice(("model", "model", "checkpoint", "prepared"))
            name = random.choice(KINDS[kind])
            folder = Path(shutil.copytree(patients.run, Path(place) / "damaged"))
            if random.random() < 0.15:
                way = "swapped"
                shutil.copy(patients.other / name, folder / name)
            else:
                how = random.choice(WAYS)
                way = how.__name__
                how(folder / name, random)
            failure = None
            try:
                right = getattr(patients, kind)(folder)
                came["read right" if right else "read wrong"] += 1
                if not right and not (kind == "checkpoint" and way == "swapped"):  # another whole run is as good as this
                    failure = "is read, and is not what was written"
            except RnnsearchError as error:
                came["refused"] += 1
                failure = f"an error of several lines: {error}" if "\n" in str(error) else None
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
            part.attempt(f"{number}: {name} {way}", failure)
            shutil.rmtree(folder)
    part.notes.update(came)
    return part
