"""JoeyNMT. It does not sort sentences by length, as the others do: in the mode `sorted`, its text is in order.

At the level of words, its tokenizer `sentencepiece` only cuts at spaces. Its schedule `plateau` passes PyTorch an argument
that it no longer takes, so the learning rate falls by a factor.
"""

from __future__ import annotations

import re

from benchmarks.peers.toolkit import FOLDER, Toolkit


def words(line: str, seconds: float) -> float | None:
    """It tells the target words a second since its last line."""
    found = re.search(r"Step: +\d+,.* Tokens per Sec: +(\d+)", line)
    return int(found[1]) * seconds if found else None


JOEYNMT = Toolkit(
    name="joeynmt",
    package="JoeyNMT",
    version="2.3.0",
    resolved=False,
    needs=(
        *("pyyaml", "tensorboard", "sentencepiece", "subword-nmt", "sacrebleu", "datasets", "matplotlib", "seaborn"),
        *("portalocker", "packaging", "pandas", "sacremoses", "importlib-metadata"),
    ),
    modes={"": "fp32", "sorted": "fp32"},
    settings=FOLDER / "joeynmt" / "gru.json",
    chosen=lambda mode: {"part": mode or "train", "shuffle": not mode},
    command=lambda python, file: [python, "-m", "joeynmt", "train", file, "--skip-test"],
    words=words,
    trained="settings.yaml",
)
