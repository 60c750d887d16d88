"""JoeyNMT. It does not sort sentences by length, as the others do: in the mode `sorted`, its text is in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.peers.toolkit import Task, Toolkit

VERSION = "2.3.0"


def words_of(language: str, vocabulary: str, longest: int) -> dict[str, Any]:
    """The settings of one side, whose words are separated by spaces."""
    return {
        "lang": language,
        "level": "word",
        "lowercase": False,
        "max_length": longest,
        "voc_file": vocabulary,
        "tokenizer_type": "sentencepiece",  # at the level of words, it only cuts at spaces
    }


def settings(folder: Path, train: str, dev: str, sides: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """The settings of all models, trained in a folder on the text of these files."""
    return {
        "name": "model",
        "joeynmt_version": VERSION,
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "random_seed": 1,
        "data": {"train": train, "dev": dev, "dataset_type": "plain", "src": sides[0], "trg": sides[1]},
        "testing": {"beam_size": 5, "beam_alpha": 1.0, "n_best": 1, "max_output_length": 100},
        "training": {"epochs": 100_000, "overwrite": True, "print_valid_sents": [0], "keep_best_ckpts": 1},
    }


def speed_settings(task: Task, output: Path, mode: str) -> dict[str, Any]:
    """The settings for a task."""
    recurrent = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": task.size.embedding, "scale": False},
        "hidden_size": task.size.hidden,
        "num_layers": 1,
        "dropout": 0.0,
    }
    attending = {"hidden_dropout": 0.0, "input_feeding": True, "init_hidden": "bridge", "attention": "bahdanau"}
    source, target = (words_of(language, f"{task.text}/joey.{language}.vocab", 60) for language in ("en", "fr"))
    shared = settings(output, f"{task.text}/{mode or 'train'}", f"{task.text}/dev", (source, target))
    training = {
        "optimizer": "adadelta",
        "learning_rate": 1.0,
        "learning_rate_min": 0.0001,
        # Its "plateau" passes PyTorch an argument that it no longer takes.
        "scheduling": "exponential",
        "decrease_factor": 0.99,
        "clip_grad_norm": 1.0,
        "batch_size": task.batch,
        "batch_type": "sentence",
        "updates": task.updates,
        "validation_freq": 100_000,
        "logging_freq": 1,
        "shuffle": not mode,
    }
    return {
        **shared,
        "training": {**shared["training"], **training},
        "model": {"encoder": {**recurrent, "bidirectional": True}, "decoder": {**recurrent, **attending}},
    }


def words(line: str, seconds: float) -> float | None:
    """It tells the target words a second since its last line."""
    found = re.search(r"Step: +\d+,.* Tokens per Sec: +(\d+)", line)
    return int(found[1]) * seconds if found else None


JOEYNMT = Toolkit(
    name="joeynmt",
    package="JoeyNMT",
    version=VERSION,
    resolved=False,
    needs=(
        *("pyyaml", "tensorboard", "sentencepiece", "subword-nmt", "sacrebleu", "datasets", "matplotlib", "seaborn"),
        *("portalocker", "packaging", "pandas", "sacremoses", "importlib-metadata"),
    ),
    modes={"": "fp32", "sorted": "fp32"},
    settings=speed_settings,
    command=lambda python, file: [python, "-m", "joeynmt", "train", file, "--skip-test"],
    words=words,
    trained="settings.yaml",
)
