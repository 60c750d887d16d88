"""Install the toolkits that ours is measured against, each in a virtual environment of its own.

They are never dependencies of ours. All of them get the PyTorch that we run on, so that it is the code that is compared.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import torch

from benchmarks.lib.command import Parser
from benchmarks.peers.toolkit import Toolkit
from benchmarks.peers.toolkits import TOOLKITS


def main() -> None:
    """Make the environments that are not there yet."""
    arguments = Parser(__doc__, "output", only=TOOLKITS).parse_args()
    for name in arguments.only:
        install(TOOLKITS[name], arguments.output / name)


def install(toolkit: Toolkit, folder: Path) -> None:
    """One environment: PyTorch first, then the peer, then what it needs."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    # Builds for one kind of device have a local part ("+cpu"), which not every index spells out.
    run(*pip, f"torch=={torch.__version__.split('+')[0]}", "numpy")
    run(*pip, *([] if toolkit.resolved else ["--no-deps"]), f"{toolkit.package}=={toolkit.version}")
    run(*pip, *toolkit.needs)
    print(f"{toolkit.package} {toolkit.version}: {folder}", file=sys.stderr)


def run(*command: object) -> None:
    """Run a command; an error ends the program."""
    subprocess.run([str(part) for part in command], check=True)
