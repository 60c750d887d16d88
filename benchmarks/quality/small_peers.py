"""Transformers of JoeyNMT and of eole for small texts, trained for as many processor seconds as our model was.

JoeyNMT has the Transformer that Wu et al. (2021) found best for Multi30k, as `joeynmt_transformer.py` describes it; neither
toolkit has a recipe for so little text. eole has the same Transformer with the same peak of the learning rate, but
its own schedule (Noam) and a moving average of the weights instead of a choice of checkpoint. The text is in the subwords of
our model, whose number depends on the number of pairs. The last pairs of the text, a twentieth of them but not more than
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
from typing import Any, NamedTuple

from benchmarks.lib.command import environment
from benchmarks.peers.eole.toolkit import EOLE
from benchmarks.peers.joeynmt.toolkit import JOEYNMT
from benchmarks.quality.joeynmt_transformer import WIDTH, transformer_settings
from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import from_preset
from rnnsearch.data.lines import read_lines
from rnnsearch.data.prepare import prepare
from rnnsearch.text import Tokenizer
from rnnsearch.text.subwords import Subwords, join

Pairs = Sequence[tuple[str, str]]
PARTS = ("train", "validated", "test")
MOST_VALIDATED, VALIDATE_EVERY = 100, 400
"""The most pairs on which JoeyNMT is validated, and the updates between two validations."""


class Training(NamedTuple):
    """How a peer is trained."""

    peers: Path
    """The folder that peers/install.py wrote."""
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
    pieces = write_pieces(folder, texts, languages)
    translate = {"joeynmt": by_joeynmt, "eole": by_eole}[peer]
    tokenizer = Tokenizer("moses", languages[1])
    written = translate(folder, languages, pieces, how)
    if not written.exists():
        raise PeerFailed("it wrote no translations")
    lines = list(read_lines(written))
    if len(lines) != len(sources):
        raise PeerFailed(f"it wrote {len(lines):,} translations of {len(sources):,} sentences")
    return [tokenizer.detokenize(join(line.split())[0]) for line in lines]


def write_pieces(folder: Path, texts: dict[str, Pairs], languages: tuple[str, str]) -> list[str]:
    """Write the parts of the text in subwords that are learned from the part to train on; return the subwords."""
    for side, language in enumerate(languages):
        write_text(folder / f"plain.{language}", "".join(f"{pair[side]}\n" for pair in texts["train"]))
    data = from_preset("memory", pairs=len(texts["train"])).data
    source, target = ([folder / f"plain.{language}"] for language in languages)
    prepare(source, target, folder / "prepared", data)
    for side, language in enumerate(languages):
        tokenizer = Tokenizer("moses", language)
        subwords = Subwords.load(folder / "prepared" / f"{('source', 'target')[side]}.subwords", "bpe")
        for part, pairs in texts.items():
            lines = (
                " ".join(piece for word in tokenizer.tokenize(pair[side]) for piece in subwords.segment(word))
                for pair in pairs
            )
            write_text(folder / f"{part}.{language}", "".join(f"{line}\n" for line in lines))
    return list(subwords.inventory)


def by_joeynmt(folder: Path, languages: tuple[str, str], pieces: Sequence[str], how: Training) -> Path:
    """Train JoeyNMT, and translate the test set."""
    write_text(folder / "pieces.vocab", "".join(f"{piece}\n" for piece in ("<unk>", "<pad>", "<s>", "</s>", *pieces)))
    settings = transformer_settings(folder, *languages[::-1])
    settings["training"]["validation_freq"] = VALIDATE_EVERY
    settings["random_seed"] = how.seed
    write_json(folder / "training.yaml", settings)  # JSON is YAML
    write_json(folder / "test.yaml", {**settings, "data": {**settings["data"], "test": str(folder / "test")}})
    joeynmt = [JOEYNMT.python(how.peers), "-m", "joeynmt"]
    log = folder / "joeynmt.log"
    train_for([*joeynmt, "train", folder / "training.yaml", "--skip-test"], how.seconds, log)
    run([*joeynmt, "test", folder / "test.yaml", "--output-path", folder / "translated"], log)
    return folder / "translated.test"


def by_eole(folder: Path, languages: tuple[str, str], pieces: Sequence[str], how: Training) -> Path:
    """Train eole, and translate the test set."""
    write_text(folder / "eole.vocab", "".join(f"{piece}\n" for piece in pieces))
    source, target = languages
    model, translated = folder / "eole", folder / "translated.eole"
    settings: dict[str, Any] = {
        "data": {"corpus_1": {"path_src": f"{folder}/train.{source}", "path_tgt": f"{folder}/train.{target}"}},
        "src_vocab": f"{folder}/eole.vocab",
        "tgt_vocab": f"{folder}/eole.vocab",
        "share_vocab": True,
        "overwrite": True,
        "report_every": 100,
        "seed": how.seed,
        "training": {
            "batch_size": 1024,
            "batch_type": "tokens",
            "bucket_size": 20_000,
            "normalization": "tokens",
            "param_init_method": "xavier_uniform",  # else all weights, also those of the norms, are between -0.1 and 0.1
            "optim": "adam",
            "adam_beta2": 0.98,
            "learning_rate": 0.9,  # 0.0025 at the end of the warm-up
            "decay_method": "noam",
            "warmup_steps": 1000,
            "average_decay": 0.001,
            "label_smoothing": 0.1,
            "dropout": [0.3],
            "dropout_steps": [0],
            "train_steps": 1_000_000,
            "save_checkpoint_steps": 100,
            "keep_checkpoint": 2,
            "valid_steps": 1_000_000,
            "num_workers": 0,
            "compute_dtype": "fp32",
            "model_path": str(model),
        },
        "model": {
            "architecture": "transformer",
            "layers": 4,
            "hidden_size": WIDTH,
            "heads": 4,
            "transformer_ff": 2 * WIDTH,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {"word_vec_size": WIDTH, "position_encoding_type": "SinusoidalInterleaved"},
        },
    }
    write_json(folder / "eole.yaml", settings)
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
