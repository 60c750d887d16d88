"""Damaged models, checkpoints, prepared texts and aligners, and those that a stranger made.

What comes of them is one clear error, or what was there before, never a mixture; and of what a stranger has signed anew,
numbers that are finite. They are read in processes of their own, which may neither crash, nor wait, nor take much memory.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors import numpy, safe_open
from safetensors.torch import load_file, save_file

import poison
from campaign.trial import SMALL, Part, run, settings, world
from rnnsearch.alignment import Aligner, Corpus
from rnnsearch.data.development import HELD_OUT
from rnnsearch.data.prepared import open_prepared
from rnnsearch.jobs import digest_of
from rnnsearch.model_folder import checksum, load_system, new_system
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


def alter(path: Path, random: Random) -> None:
    """Arrays that are not what they should be, under a checksum that matches."""
    if path.suffix != ".safetensors":
        odd_json(path, random)
        return
    with safe_open(path, "np") as file:
        metadata = dict(file.metadata() or {})
    altered, _ = poison.alter(numpy.load_file(path), random)
    numpy.save_file(altered, path, metadata)
    if "progress" in metadata:
        metadata["crc32"] = checksum(load_file(path), metadata["progress"], metadata["optimizer"])
    elif "rnnsearch" in metadata:
        header = json.loads(metadata["rnnsearch"]) | {"crc32": checksum(load_file(path))}
        metadata["rnnsearch"] = json.dumps(header)
    numpy.save_file(altered, path, metadata)


def odd_json(path: Path, random: Random) -> None:
    """A text that is no object, nested too deep, or full of control characters."""
    path.write_text(random.choice(poison.ODD_JSON), encoding="utf-8", errors="surrogatepass")


def link(path: Path, random: Random) -> None:
    """A link to a device, to a text, to a folder, or to nothing."""
    poison.replace_by_link(path, random.choice(("/dev/zero", "/dev/null", "/etc/passwd", "/etc", "nothing", path.name)))


def pipe(path: Path, random: Random) -> None:
    """A pipe that nobody writes into."""
    poison.replace_by_pipe(path)


def bomb(path: Path, random: Random) -> None:
    """A file that claims more than it has, or is as large as no memory."""
    if path.suffix == ".safetensors":
        poison.claim(path, random.choice(("F32", "I8", "BOOL")), random.choice(((1 << 40,), (2**31, 2**20), (2**62, 4))))
    elif path.suffix in (".json", ".vocab"):
        poison.huge(path)
    else:
        cut(path, random)


STRANGE: tuple[Callable[[Path, Random], None], ...] = (alter, alter, alter, odd_json, link, pipe, bomb)
"""What a stranger does on purpose."""
WAYS: tuple[Callable[[Path, Random], None], ...] = (flip, flip, cut, zero, add, remove, edit_json, edit_json)


def sign(folder: Path) -> None:
    """Write the digest of an aligner's files as they are now."""
    with suppress(ValueError, TypeError, RecursionError, OSError):
        description = json.loads((folder / "aligner.json").read_text())
        files = (folder / name for name in ("source.words", "target.words", "aligner.safetensors"))
        (folder / "aligner.json").write_text(json.dumps(description | {"digest": digest_of(*files)}))


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
        sides = ((world() / name).read_text().splitlines()[:100] for name in ("train.en", "train.fr"))
        self.pairs = [(source.split(), target.split()) for source, target in zip(*sides, strict=True)]
        for folder in (self.run, self.other):
            learner = Aligner.learn(Corpus(self.pairs if folder == self.run else self.pairs[:60]))
            learner.save(folder / "aligner")
        self.links = [line.links() for line in Aligner.load(self.run / "aligner").align(self.pairs)]

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

    def aligner(self, folder: Path) -> bool:
        """Whether it draws the links that it drew; all that it finds are numbers."""
        found = list(Aligner.load(folder / "aligner").align(self.pairs))
        assert all(np.isfinite(line.probability).all() for line in found)
        return [line.links() for line in found] == self.links

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
    "aligner": tuple(f"aligner/{name}" for name in ("aligner.json", "aligner.safetensors", "source.words", "target.words")),
    "prepared": ("data/train.arrow", "data/train.arrow", "data/source.vocab", "data/prepare.json", f"data/{HELD_OUT[0]}"),
}


def damage(seed: int, numbers: Sequence[int]) -> Part:
    """As many damaged folders: half of them models, the others checkpoints, prepared texts and aligners."""
    part, came = Part(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="campaign-") as place:
        patients = Patients(Path(place))
        for number in numbers:
            random = Random(f"{seed} {number}")
            kind = random.choice(("model", "model", "model", "checkpoint", "prepared", "aligner"))
            name = random.choice(KINDS[kind])
            folder = Path(shutil.copytree(patients.run, Path(place) / random.choice(("damaged", "[/b]\x1b[2J\n\x07"))))
            if random.random() < 0.15:
                way = "swapped"
                shutil.copy(patients.other / name, folder / name)
            else:
                how = random.choice(WAYS if random.random() < 0.5 else STRANGE)
                way = how.__name__
                how(folder / name, random)
            if kind == "aligner" and way == "alter":
                sign(folder / "aligner")
            found = poison.in_child(partial(getattr(patients, kind), folder))
            came[found] += 1
            # What was signed anew may be another one, and another whole run is as good as this.
            another = way == "alter" or (kind == "checkpoint" and way == "swapped")
            failure = None if found in ("sound", "refused") or (found == "unsound" and another) else found
            part.attempt(f"{number}: {name} {way}", failure)
            shutil.rmtree(folder)
    part.notes.update(came)
    return part
