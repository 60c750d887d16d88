"""Install the toolkits we are measured against, each in a virtual environment of its own.

    python benchmarks/peers.py --output PEERS [--only joeynmt]

They are never dependencies of ours. All of them get the PyTorch that we run on, so that it is the code that is compared.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import torch


@dataclass(frozen=True)
class Peer:
    """A toolkit, and what it takes to train and translate with it."""

    package: str
    version: str
    resolved: bool
    """Whether it allows our PyTorch, so that its dependencies can be had as it states them."""
    needs: tuple[str, ...]
    """What it needs beyond that."""


PEERS = {
    "joeynmt": Peer(
        "JoeyNMT",
        "2.3.0",
        False,
        (
            *("pyyaml", "tensorboard", "sentencepiece", "subword-nmt", "sacrebleu", "datasets", "matplotlib", "seaborn"),
            *("portalocker", "packaging", "pandas", "sacremoses", "importlib-metadata"),
        ),
    ),
    "opennmt-py": Peer(
        "OpenNMT-py",
        "3.5.1",
        False,
        (
            *("configargparse", "pyyaml", "tensorboard", "sacrebleu", "six", "flask", "waitress", "pyonmttok"),
            *("ctranslate2", "rapidfuzz", "fasttext-wheel", "sentencepiece", "subword-nmt", "spacy", "pyahocorasick"),
        ),
    ),
    "eole": Peer("eole", "0.6.4", True, ("tokenizers", "transformers", "aiohttp")),
}


def python_of(peers: Path, name: str) -> Path:
    """The Python that has the peer, in the folder that `--output` named."""
    return peers / name / "bin" / "python"


def main() -> None:
    """Make the environments that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="where the environments go")
    parser.add_argument("--only", choices=PEERS, action="append", help="not all of them; may be repeated")
    arguments = parser.parse_args()
    for name in arguments.only or PEERS:
        install(PEERS[name], arguments.output / name)


def install(peer: Peer, folder: Path) -> None:
    """One environment: PyTorch first, then the peer, then what it needs."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    # Builds for one kind of device have a local part ("+cpu"), which not every index spells out.
    run(*pip, f"torch=={torch.__version__.split('+')[0]}", "numpy")
    run(*pip, *([] if peer.resolved else ["--no-deps"]), f"{peer.package}=={peer.version}")
    run(*pip, *peer.needs)
    print(f"{peer.package} {peer.version}: {folder}", file=sys.stderr)


def run(*command: object) -> None:
    """Run a command; an error ends the program."""
    subprocess.run([str(part) for part in command], check=True)


if __name__ == "__main__":
    main()
