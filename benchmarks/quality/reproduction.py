"""Keeps the results of a `rnnsearch reproduce`, from which the page of results is rendered.

    rnnsearch reproduce --scale builtin --output FOLDER
    python benchmarks quality/reproduction FOLDER
    python benchmarks pages/render results

Writes `results/quality/reproduction-SCALE.json` (Tables 1 and 2, BLEU by length, the claims, and the validations of each
system) and `docs/images/figure-2-SCALE.png`. For a run with `--recipe paper`, SCALE ends with `-paper-recipe`.
"""

from __future__ import annotations

import json
import shlex
import shutil
import textwrap
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser
from benchmarks.lib.record import IMAGES, machine, write_result

KEPT = ("name", "paper", "all", "no_unk", "by_length", "training", "aer", "unfinished")
"""What is recorded of a system."""


def main() -> None:
    """Record the results and the figure of one reproduction."""
    parser = Parser(__doc__)
    parser.add_argument("folder", type=Path, help="the --output of a finished `rnnsearch reproduce`")
    folder = parser.parse_args().folder
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    scale = results["scale"]
    if scale != "wmt14" and results["settings"]["config"]["training"]["optimizer"] == "adadelta":
        scale += "-paper-recipe"
    write_result(
        f"quality/reproduction-{scale}",
        machine=machine(),
        introduction=results["introduction"],
        command=_without_folders(results["commands"][0], folder),
        settings=results["settings"],
        systems=[{key: system[key] for key in KEPT} | _curve(folder, system["name"]) for system in results["systems"]],
        **{key: results[key] for key in ("paper", "comparison", "claims")},
    )
    shutil.copy(folder / "figures" / "figure-2.png", IMAGES / f"figure-2-{scale}.png")


def _without_folders(command: str, folder: Path) -> str:
    """The command with its output folder as FOLDER, and files without their folders, on several lines."""
    words = ["FOLDER" if Path(word) == folder else Path(word).name if "/" in word else word for word in shlex.split(command)]
    return textwrap.fill(shlex.join(words), 110, break_long_words=False, break_on_hyphens=False).replace("\n", " \\\n    ")


def _curve(folder: Path, name: str) -> dict[str, Any]:
    """The validations of a system that was trained; nothing for another one, such as Moses."""
    summary = folder / "models" / name.replace("*", "-longer") / "training.json"
    return {"validations": json.loads(summary.read_text(encoding="utf-8"))["validations"]} if summary.exists() else {}
