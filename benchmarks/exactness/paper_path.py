"""Compare a training of the preset `paper` by this version with one by an earlier version, bit for bit.

    python benchmarks/exactness/paper_path.py --against COMMIT [--updates 200]

Both train on the built-in corpus, at the sizes of the paper, from one seed. The loss over all updates, and every weight
after them, are to be the same bits. The earlier version is checked out in a folder of its own, which is removed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from rnnsearch.datasets.builtin import write_corpus

REPOSITORY = Path(__file__).parent.parent


def main() -> None:
    """Train twice, compare, record."""
    parser = Parser(__doc__)
    parser.add_argument("--against", required=True, help="the earlier version: a commit, a tag")
    parser.add_argument("--updates", type=int, default=200)
    arguments = parser.parse_args()

    on = machine()
    earlier, now = (_output("git", "rev-parse", commit) for commit in (arguments.against, "HEAD"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, train=20_000, valid=50, test=1)
        found = {"now": trained(REPOSITORY, folder, "now", arguments.updates)}
        _output("git", "worktree", "add", "--detach", str(folder / "earlier-version"), earlier)
        try:
            found["earlier"] = trained(folder / "earlier-version", folder, "earlier", arguments.updates)
        finally:
            _output("git", "worktree", "remove", "--force", str(folder / "earlier-version"))
    same = found["now"] == found["earlier"]
    write_result("paper-path", machine=on, updates=arguments.updates, earlier=earlier, now=now, same=same, found=found)
    print("the same, to the last bit" if same else f"not the same: {found}")
    sys.exit(not same)


def trained(version: Path, folder: Path, name: str, updates: int) -> dict[str, Any]:
    """What a version makes of the corpus: the mean loss in nats a word, exactly, and a digest of every weight."""
    settings = {"max_updates": updates, "validate_every": updates, "checkpoint_every": updates, "validate_sentences": 10}
    command = [sys.executable, "-m", "rnnsearch", "train", "--preset", "paper", "--output", folder / name]
    command += [part for side in ("source", "target") for part in (f"--{side}", folder / f"train.{_LANGUAGE[side]}")]
    command += [part for side in ("source", "target") for part in (f"--valid-{side}", folder / f"valid.{_LANGUAGE[side]}")]
    command += [part for key, value in settings.items() for part in ("--set", f"training.{key}={value}")]
    environment = {**os.environ, "PYTHONPATH": str(version / "src")}
    subprocess.run(list(map(str, command)), env=environment, cwd=folder, check=True)
    record = json.loads((folder / name / "training.json").read_text())
    return {
        "train_nll": float(record["validations"][-1]["train_nll"]).hex(),
        "weights": hashlib.sha256((folder / name / "model.safetensors").read_bytes()).hexdigest(),
    }


_LANGUAGE = {"source": "en", "target": "fr"}


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    main()
