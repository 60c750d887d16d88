"""The contestants of the training benchmarks: the settings, the command and the progress lines of each.

The peers' models are not the same function as ours: they project the hidden state straight to the vocabulary where ours has
a maxout layer, and the bidirectional encoders of OpenNMT-py and eole divide the hidden size between their directions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import python_of
from speed_text import BATCH, Size, environment

from rnnsearch.atomic import write_json
from rnnsearch.config import from_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.ops.matmul import bf16_is_slower

OUR_MODES: dict[str, dict[str, str]] = {"rnnsearch": {}, "rnnsearch bf16": {"precision": "bf16"}}
"""What we compete with: settings of training that differ from the paper's."""
PEER_MODES = {"joeynmt": "fp32", "joeynmt sorted": "fp32", "opennmt-py": "fp32", "eole": "fp32", "eole bf16": "bf16"}
"""What they compete with, and the type that they compute in; the first word is the peer.

JoeyNMT does not sort sentences by length, as the others do: `joeynmt sorted` is given text that is in order.
"""


@dataclass(frozen=True)
class Task:
    """What is to be trained."""

    text: Path
    """A folder that `speed_text.write_training_text` wrote."""
    size_name: str
    size: Size
    updates: int
    pairs: int
    """In the text: all of them are one pool, sorted by length and cut into minibatches, where a contestant does that."""
    batch: int = BATCH
    """Pairs in a minibatch."""


@dataclass(frozen=True)
class Step:
    """An update as its progress line tells it."""

    words: float
    """Target words, end symbols counted, padding not."""
    seconds: float
    """From the line of the update before it to its own."""


def known_modes(modes: dict[str, dict[str, str]], section: str) -> dict[str, dict[str, str]]:
    """Those that this version has the settings for; the others are named."""
    known = {}
    for name, mode in modes.items():
        try:
            from_dict({section: mode})
        except RnnsearchError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
        else:
            known[name] = mode
    return known


def train_ours(task: Task, mode: dict[str, str], threads: int) -> list[Step]:
    """Train ours, and time its updates."""
    script = Path(__file__).parent / "our_training.py"
    command = [sys.executable, script, "--text", task.text, "--size", task.size_name, "--updates", task.updates]
    settings = {"batch_size": task.batch, "pool_batches": task.pairs // task.batch, **mode}
    for key, value in settings.items():
        command += ["--set", f"training.{key}={value}"]

    def words(line: str, seconds: float) -> float | None:
        return json.loads(line)["words"] if line.startswith('{"update"') else None

    return _timed(command, words, threads)


def train_peer(contestant: str, task: Task, output: Path, peers: Path, threads: int) -> list[Step]:
    """Train a peer with its own command, and time its updates by the lines it writes after each."""
    peer, _, mode = contestant.partition(" ")
    settings = SETTINGS[peer](task, output, mode)
    # JSON is YAML.
    file = output / "settings.yaml"
    write_json(file, settings)
    python = python_of(peers, peer)
    command: list[object] = {
        "joeynmt": [python, "-m", "joeynmt", "train", file, "--skip-test"],
        "opennmt-py": [python, "-m", "onmt.bin.train", "-config", file],
        "eole": [python.parent / "eole", "train", "-config", file],
    }[peer]
    return _timed(command, _words_by_speed if peer == "joeynmt" else _words_by_count, threads)


def _words_by_speed(line: str, seconds: float) -> float | None:
    """JoeyNMT tells the target words a second since its last line."""
    found = re.search(r"Step: +\d+,.* Tokens per Sec: +(\d+)", line)
    return int(found[1]) * seconds if found else None


def _words_by_count(line: str, seconds: float) -> float | None:
    """OpenNMT-py and eole tell the words of the minibatch: source/target/sentences."""
    found = re.search(r"Step +\d+/ *\d+; .*bsz: +\d+/ *(\d+)/", line)
    return int(found[1]) if found else None


def _timed(
    command: list[Any], words: Callable[[str, float], float | None], threads: int
) -> list[Step]:
    """Run a command; `words` gives the target words of an update if a line tells of one."""
    steps, lines, before = [], [], time.perf_counter()
    with subprocess.Popen(
        [str(part) for part in command],
        env=environment(threads),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            now = time.perf_counter()
            found = words(line, now - before)
            if found is not None:
                steps.append(Step(found, now - before))
                before = now
    if process.returncode:
        raise RuntimeError("".join([f"{' '.join(map(str, command))} failed:\n", *lines[-30:]]))
    return steps


def _joeynmt(task: Task, output: Path, mode: str) -> dict[str, Any]:
    def side(language: str) -> dict[str, Any]:
        # At the level of words, its tokenizer called "sentencepiece" only cuts at spaces.
        return {
            "lang": language,
            "level": "word",
            "lowercase": False,
            "max_length": 60,
            "voc_file": f"{task.text}/joey.{language}.vocab",
            "tokenizer_type": "sentencepiece",
        }

    recurrent = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": task.size.embedding, "scale": False},
        "hidden_size": task.size.hidden,
        "num_layers": 1,
        "dropout": 0.0,
    }
    attending = {"hidden_dropout": 0.0, "input_feeding": True, "init_hidden": "bridge", "attention": "bahdanau"}
    return {
        "name": "speed",
        "joeynmt_version": "2.3.0",
        "model_dir": str(output / "model"),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": f"{task.text}/{mode or 'train'}",
            "dev": f"{task.text}/dev",
            "dataset_type": "plain",
            "src": side("en"),
            "trg": side("fr"),
        },
        "testing": {"beam_size": 5, "beam_alpha": 1.0, "n_best": 1, "max_output_length": 100},
        "training": {
            "optimizer": "adadelta",
            "learning_rate": 1.0,
            "learning_rate_min": 0.0001,
            # Its "plateau" passes PyTorch an argument that it no longer takes.
            "scheduling": "exponential",
            "decrease_factor": 0.99,
            "clip_grad_norm": 1.0,
            "batch_size": task.batch,
            "batch_type": "sentence",
            "epochs": 1000,
            "updates": task.updates,
            "validation_freq": 100_000,
            "logging_freq": 1,
            "overwrite": True,
            "shuffle": not mode,
            "print_valid_sents": [0],
            "keep_best_ckpts": 1,
        },
        "model": {"encoder": {**recurrent, "bidirectional": True}, "decoder": {**recurrent, **attending}},
    }


def _onmt_training(task: Task) -> dict[str, Any]:
    """What OpenNMT-py and eole call by the same names."""
    return {
        "batch_size": task.batch,
        "batch_type": "sents",
        "bucket_size": task.pairs,
        "optim": "adadelta",
        "learning_rate": 1.0,
        "max_grad_norm": 1.0,
        "dropout": [0.0],
        "train_steps": task.updates,
        "save_checkpoint_steps": task.updates,
        "valid_steps": 100_000,
        "num_workers": 0,
    }


def _onmt_text(task: Task) -> dict[str, Any]:
    return {
        "data": {"corpus_1": {"path_src": f"{task.text}/train.en", "path_tgt": f"{task.text}/train.fr"}},
        "src_vocab": f"{task.text}/onmt.en.vocab",
        "tgt_vocab": f"{task.text}/onmt.fr.vocab",
        "overwrite": True,
        "report_every": 1,
        "seed": 1,
    }


def _opennmt_py(task: Task, output: Path, mode: str) -> dict[str, Any]:
    return {
        **_onmt_text(task),
        **_onmt_training(task),
        "save_model": str(output / "model"),
        "encoder_type": "brnn",
        "decoder_type": "rnn",
        "rnn_type": "GRU",
        "global_attention": "mlp",
        "src_word_vec_size": task.size.embedding,
        "tgt_word_vec_size": task.size.embedding,
        "hidden_size": task.size.hidden,
        "enc_hid_size": task.size.hidden,
        "dec_hid_size": task.size.hidden,
        "layers": 1,
    }


def _eole(task: Task, output: Path, mode: str) -> dict[str, Any]:
    embedding = task.size.embedding
    return {
        **_onmt_text(task),
        "training": {
            **_onmt_training(task),
            "model_path": str(output / "model"),
            "dropout_steps": [0],
            "compute_dtype": mode or "fp32",
        },
        "model": {
            "architecture": "rnn",
            "hidden_size": task.size.hidden,
            "layers": 1,
            "rnn_type": "GRU",
            "embeddings": {
                "word_vec_size": embedding,
                "src_word_vec_size": embedding,
                "tgt_word_vec_size": embedding,
            },
            "encoder": {"encoder_type": "brnn"},
            "decoder": {"decoder_type": "rnn", "global_attention": "mlp"},
        },
    }


SETTINGS: dict[str, Callable[[Task, Path, str], dict[str, Any]]] = {
    "joeynmt": _joeynmt,
    "opennmt-py": _opennmt_py,
    "eole": _eole,
}


def available(peers: Path) -> list[str]:
    """The contestants among the peers that are installed."""
    return [name for name in PEER_MODES if os.access(python_of(peers, name.split()[0]), os.X_OK)]


def makes_sense(contestant: str) -> bool:
    """Whether it computes in a type that this processor is fast in."""
    return not (contestant.endswith("bf16") and bf16_is_slower())
