"""Models, checkpoints, prepared texts and aligners that are damaged, or manipulated on purpose.

Reading a damaged folder must end in one clear error, or return exactly what was written before, never a mixture. A folder
that was manipulated and then signed anew may have other contents, but only finite numbers. All folders are read in child
processes, which must neither crash, nor hang, nor use much memory.
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
from campaign.trial import SMALL, Part, chance, run, settings, world
from rnnsearch.alignment import Aligner, Corpus
from rnnsearch.data.development import HELD_OUT
from rnnsearch.data.prepared import open_prepared
from rnnsearch.jobs import digest_of
from rnnsearch.model_folder import load_system
from rnnsearch.system import new_system
from rnnsearch.training.checkpoint import Progress, load_checkpoint
from rnnsearch.training.optimizer import make_optimizer
from rnnsearch.weight_files import checksum

ODD = (None, True, -1, 0, 1, 2, 3.5, 1e308, 10**30, float("nan"), "", "x", "gated", [], {}, [1], {"a": 1})


def flip(path: Path, random: Random) -> None:
    """Change some bits of a byte."""
    content = bytearray(path.read_bytes())
    content[random.randrange(len(content))] ^= random.randrange(1, 256)
    path.write_bytes(content)


def cut(path: Path, random: Random) -> None:
    """Cut off the end of a file."""
    path.write_bytes(path.read_bytes()[: random.randrange(path.stat().st_size)])


def zero(path: Path, random: Random) -> None:
    """Overwrite a part of a file with zeros, as after a power failure."""
    content = bytearray(path.read_bytes())
    first = random.randrange(len(content))
    size = random.randrange(1, 4097)
    content[first : first + size] = bytes(len(content[first : first + size]))
    path.write_bytes(content)


def add(path: Path, random: Random) -> None:
    """Append some bytes to a file."""
    path.write_bytes(path.read_bytes() + random.randbytes(random.randrange(1, 50)))


def remove(path: Path, random: Random) -> None:
    """Delete a file."""
    path.unlink()


def edit(value: Any, random: Random) -> Any:
    """Return a JSON value in which one member is odd or missing."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice([*value])
        if random.random() < 0.2:
            return {name: member for name, member in value.items() if name != key}
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
    """Replace arrays by wrong ones, and make the checksum match."""
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
    """Replace a file by JSON that is no object, nested too deep, or full of control characters."""
    path.write_text(random.choice(poison.ODD_JSON), encoding="utf-8", errors="surrogatepass")


def link(path: Path, random: Random) -> None:
    """Replace a file by a link to a device, to a text, to a folder, or to nothing."""
    poison.replace_by_link(path, random.choice(("/dev/zero", "/dev/null", "/etc/passwd", "/etc", "nothing", path.name)))


def pipe(path: Path, random: Random) -> None:
    """Replace a file by a pipe into which nobody writes."""
    poison.replace_by_pipe(path)


def bomb(path: Path, random: Random) -> None:
    """Replace a file by one whose header claims more data than it has, or that is larger than the memory."""
    if path.suffix == ".safetensors":
        if chance(random, 0.3):
            poison.huge(path)
        else:
            poison.claim(path, random.choice(("F32", "I8", "BOOL")), random.choice(((1 << 40,), (2**31, 2**20), (2**62, 4))))
    elif path.suffix in (".json", ".vocab", ".words", ".source"):
        poison.huge(path)
    else:
        cut(path, random)


STRANGE: tuple[Callable[[Path, Random], None], ...] = (alter, alter, alter, odd_json, link, pipe, bomb)
"""Manipulations on purpose."""
WAYS: tuple[Callable[[Path, Random], None], ...] = (flip, flip, cut, zero, add, remove, edit_json, edit_json)
"""Damage by accident; the more frequent kinds are listed twice."""


def sign(folder: Path) -> None:
    """Write the digest of an aligner's files as they are now."""
    with suppress(ValueError, TypeError, RecursionError, OSError):
        description = json.loads((folder / "aligner.json").read_text())
        files = (folder / name for name in ("source.words", "target.words", "aligner.safetensors"))
        (folder / "aligner.json").write_text(json.dumps(description | {"digest": digest_of(*files)}))


def tensors_of(model: torch.nn.Module) -> dict[str, bytes]:
    """Return the bytes of all parameters of a model."""
    return {name: parameter.detach().numpy().tobytes() for name, parameter in model.named_parameters()}


class Patients:
    """Two undamaged folders, with a model, a checkpoint, prepared text and an aligner, and checks of damaged copies.

    A check returns whether a copy has the contents of the original, and raises an error if it cannot be read.
    """

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
        """Whether the model in this folder is the original."""
        system = load_system(folder)
        same = tensors_of(system.model) == tensors_of(self.system.model)
        return same and system.fingerprint() == self.system.fingerprint()

    def checkpoint(self, folder: Path) -> bool:
        """Whether the checkpoint has the original weights; its JSON may have been edited to other sensible values."""
        return self._checkpoint(folder)[1] == self.progress[1]

    def aligner(self, folder: Path) -> bool:
        """Whether the aligner draws the original links. All probabilities must be finite."""
        alignments = list(Aligner.load(folder / "aligner").align(self.pairs))
        assert all(np.isfinite(line.probability).all() for line in alignments)
        return [line.links() for line in alignments] == self.links

    def prepared(self, folder: Path) -> bool:
        """Whether the prepared text is the original."""
        text = open_prepared(folder / "data")
        everything = np.arange(len(self.text.corpus))
        return len(text.corpus) == len(everything) and all(
            np.array_equal(damaged.ids, original.ids)
            for damaged, original in zip(text.corpus.take(everything), self.text.corpus.take(everything), strict=True)
        )


KINDS = {
    "model": ("config.json", "model.safetensors", "source.vocab", "target.vocab"),
    "checkpoint": ("checkpoints/last.safetensors",),
    "aligner": tuple(f"aligner/{name}" for name in ("aligner.json", "aligner.safetensors", "source.words", "target.words")),
    "prepared": ("data/train.arrow", "data/train.arrow", "data/source.vocab", "data/prepare.json", f"data/{HELD_OUT[0]}"),
}


def damage(seed: int, numbers: Sequence[int]) -> Part:
    """Read a damaged folder for each number: half of them are models, the rest checkpoints, prepared texts and aligners."""
    part, outcomes = Part(), Counter[str]()
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
            outcome = poison.in_child(partial(getattr(patients, kind), folder))
            outcomes[outcome] += 1
            # A folder that was signed anew may have other contents, and so may a checkpoint of another training.
            may_differ = way == "alter" or (kind == "checkpoint" and way == "swapped")
            failure = None if outcome in ("sound", "refused") or (outcome == "unsound" and may_differ) else outcome
            part.attempt(f"{number}: {name} {way}", failure)
            shutil.rmtree(folder)
    part.notes.update(outcomes)
    return part
