"""Transformers of JoeyNMT and of eole for small texts, trained for as many processor seconds as our model was.

JoeyNMT has the Transformer that Wu et al. (2021) found best for Multi30k, as `joeynmt_transformer.py` describes it; neither
toolkit has a recipe for so little text. eole has the same Transformer with the same peak of the learning rate, 0.0025, but
its own schedule (Noam) and a moving average of the weights instead of a choice of checkpoint. The text is in the subwords of
our model, whose number depends on the number of pairs. The last pairs of the text, a twentieth of them but not more than
300, are for validation. Training ends when the processor time is spent; JoeyNMT then translates with the checkpoint that has
the best BLEU, and eole with the last one.
"""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.lib.command import environment
from benchmarks.lib.texts import write_lines
from benchmarks.peers.eole.toolkit import EOLE
from benchmarks.peers.joeynmt.transformer import commands
from benchmarks.peers.pieces import Pairs, without_pieces, write_pieces
from benchmarks.peers.toolkit import settings_of
from rnnsearch.atomic import write_json
from rnnsearch.config import from_preset

PARTS = ("train", "validated", "test")


def translations_of_peer(
    peer: str, folder: Path, pairs: Pairs, sources: Sequence[str], languages: tuple[str, str], peers: Path, seconds: float
) -> list[str]:
    """Train a peer on pairs for so many processor seconds, and translate sources with it."""
    held_out = min(300, max(1, len(pairs) // 20))
    texts = dict(zip(PARTS, (pairs[:-held_out], pairs[-held_out:], [(one, one) for one in sources]), strict=True))
    pieces = write_pieces(folder, texts, languages, from_preset("memory", pairs=len(texts["train"])).data)
    translate = {"joeynmt": by_joeynmt, "eole": by_eole}[peer]
    return without_pieces(translate(folder, languages, pieces, peers, seconds), languages[1])


def by_joeynmt(folder: Path, languages: tuple[str, str], pieces: Sequence[str], peers: Path, seconds: float) -> Path:
    """Train JoeyNMT, and translate the test set."""
    train, test = commands(folder, pieces, languages, {"test": folder / "test"}, peers, validation=200)
    train_for(train, seconds)
    run(test)
    return folder / "translated.test"


def by_eole(folder: Path, languages: tuple[str, str], pieces: Sequence[str], peers: Path, seconds: float) -> Path:
    """Train eole, and translate the test set."""
    write_lines(folder / "eole.vocab", pieces)
    source, target = languages
    model, translated = folder / "eole", folder / "translated.eole"
    described = EOLE.settings.with_name("transformer.json")
    write_json(folder / "eole.yaml", settings_of(described, folder=folder, source=source, target=target))
    eole = EOLE.python(peers).parent / "eole"
    train_for([eole, "train", "-config", folder / "eole.yaml"], seconds)
    # The links in the folder of the model lead to the last checkpoint that has been written whole.
    where = ["-model_path", model, "-src", folder / f"test.{source}", "-output", translated]
    run([eole, "predict", *where, "-beam_size", 5, "-max_length", 100])
    return translated


def train_for(command: Sequence[object], seconds: float) -> None:
    """Run a program in one thread until it has had so many processor seconds."""
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (round(seconds), round(seconds)))
    done = subprocess.run(list(map(str, command)), check=False, env=environment(1), preexec_fn=limit)
    if done.returncode > 0:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {done.returncode}")


def run(command: Sequence[object]) -> None:
    """Run a program in one thread."""
    subprocess.run(list(map(str, command)), check=True, env=environment(1))
