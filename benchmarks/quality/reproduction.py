"""Keeps the results of a `rnnsearch reproduce`, from which the page of results is rendered.

    rnnsearch reproduce --scale builtin --output FOLDER
    python benchmarks/quality/reproduction.py FOLDER
    python benchmarks/pages/render.py results

Writes `results/quality/reproduction-SCALE.json` (Tables 1 and 2, BLEU by length, the claims) and
`docs/images/figure-2-SCALE.png`.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

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
    write_result(
        f"quality/reproduction-{results['scale']}",
        machine=machine(),
        introduction=results["introduction"],
        command=results["commands"][0],
        settings=results["settings"],
        systems=[{key: system[key] for key in KEPT} for system in results["systems"]],
        **{key: results[key] for key in ("paper", "comparison", "claims")},
    )
    shutil.copy(folder / "figures" / "figure-2.png", IMAGES / f"figure-2-{results['scale']}.png")


if __name__ == "__main__":
    main()
