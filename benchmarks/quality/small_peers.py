"""Transformers of JoeyNMT and of eole for small texts, trained for as many processor seconds as our model was.

JoeyNMT has the Transformer that Wu et al. (2021) found best for Multi30k, as `joeynmt_transformer.py` describes it; neither
toolkit has a recipe for so little text. eole has the same Transformer with the same peak of the learning rate, 0.0025, but
its own schedule (Noam) and a moving average of the weights instead of a choice of
checkpoint; by default it would draw all weights, also those of the norms, between -0.1 and 0.1. The text is in the subwords
of our model, whose number depends on the number of pairs. The last pairs of the text, a twentieth of them but not more than
100, are for validation: an untrained Transformer writes up to the length limit, and more pairs would take most of the time.
Training ends when the processor time is spent; JoeyNMT then translates with the checkpoint that has the best BLEU, and eole
with the last one.
"""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import environment
from benchmarks.lib.texts import write_lines
from benchmarks.peers.eole.toolkit import EOLE
from benchmarks.peers.joeynmt.transformer import commands
from benchmarks.peers.pieces import Pairs, without_pieces, write_pieces
from benchmarks.peers.toolkit import settings_of
from rnnsearch.atomic import write_json
from rnnsearch.config import from_preset

PARTS = ("train", "validated", "test")
MOST_VALIDATED, VALIDATE_EVERY = 100, 400
"""The most pairs on which JoeyNMT is validated, and the updates between two validations."""


class Training(NamedTuple):
    """How a peer is trained."""

    peers: Path
    """The folder that peers/install has written."""
    seconds: float
    """Processor seconds."""
    seed: int


class PeerFailed(Exception):
    """A peer has no translations; the message says why, in a line."""


def translations_of_peer(
    peer: str, folder: Path, pairs: Pairs, sources: Sequence[str], languages: tuple[str, str], how: Training
) -> list[str]:
    """Train a peer on pairs, and translate sources with it. Raises PeerFailed if it fails."""
    held_out = min(MOST_VALIDATED, max(1, len(pairs) // 20))
    texts = dict(zip(PARTS, (pairs[:-held_out], pairs[-held_out:], [(one, one) for one in sources]), strict=True))
    pieces = write_pieces(folder, texts, languages, from_preset("memory", pairs=len(texts["train"])).data)
    translate = {"joeynmt": by_joeynmt, "eole": by_eole}[peer]
    written = translate(folder, languages, pieces, how)
    if not written.exists():
        raise PeerFailed("it wrote no translations")
    lines = without_pieces(written, languages[1])
    if len(lines) != len(sources):
        raise PeerFailed(f"it wrote {len(lines):,} translations of {len(sources):,} sentences")
    return lines


def by_joeynmt(folder: Path, languages: tuple[str, str], pieces: Sequence[str], how: Training) -> Path:
    """Train JoeyNMT, and translate the test set."""
    chosen = {"validation": VALIDATE_EVERY, "seed": how.seed}
    train, test = commands(folder, pieces, languages, {"test": folder / "test"}, how.peers, **chosen)
    log = folder / "joeynmt.log"
    train_for(train, how.seconds, log)
    run(test, log)
    return folder / "translated.test"


def by_eole(folder: Path, languages: tuple[str, str], pieces: Sequence[str], how: Training) -> Path:
    """Train eole, and translate the test set."""
    write_lines(folder / "eole.vocab", pieces)
    source, target = languages
    model, translated = folder / "eole", folder / "translated.eole"
    named = {"folder": folder, "source": source, "target": target, "seed": how.seed}
    write_json(folder / "eole.yaml", settings_of(EOLE.settings.with_name("transformer.json"), **named))
    eole = EOLE.python(how.peers).parent / "eole"
    log = folder / "eole.log"
    train_for([eole, "train", "-config", folder / "eole.yaml"], how.seconds, log)
    # The links in the folder of the model lead to the last checkpoint that has been written whole.
    where = ["-model_path", model, "-src", folder / f"test.{source}", "-output", translated]
    run([eole, "predict", *where, "-beam_size", 5, "-max_length", 100], log)
    return translated


def train_for(command: Sequence[object], seconds: float, log: Path) -> None:
    """Run a program in one thread until it has had so many processor seconds. Raises PeerFailed if it ends otherwise."""
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (round(seconds), round(seconds)))
    before = processor_seconds()
    status = run_with_log(command, log, limit)
    spent = processor_seconds() - before
    if status > 0 or (status < 0 and spent < 0.9 * seconds):
        how = f"status {status}" if status > 0 else signal.Signals(-status).name
        raise PeerFailed(f"training ended with {how} after {spent:.0f} of {seconds:.0f} processor seconds: {last_line(log)}")


def run(command: Sequence[object], log: Path) -> None:
    """Run a program in one thread. Raises PeerFailed if it fails."""
    if status := run_with_log(command, log):
        raise PeerFailed(f"{Path(str(command[0])).name} ended with status {status}: {last_line(log)}")


def run_with_log(command: Sequence[object], log: Path, before: Callable[[], None] | None = None) -> int:
    """Run a program in one thread, with what it tells at the end of a file; return its status."""
    with log.open("a", encoding="utf-8") as told:
        done = subprocess.run(
            list(map(str, command)), check=False, env=environment(1), stdout=told, stderr=told, preexec_fn=before
        )
    return done.returncode


def processor_seconds() -> float:
    """The processor seconds of all programs that have been run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def last_line(log: Path) -> str:
    """The last line that a program told, at most 100 characters of it."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[-100:] for line in reversed(lines) if line.strip()), "it told nothing")
