"""Records the losses of small trainings in many settings, with which `tests/system/test_golden.py` compares.

    python benchmarks/exactness/golden.py

Run it after a change that is meant to alter results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.exactness.systems import SYSTEMS, development, trained, write_texts
from benchmarks.lib.record import TINY

GOLDEN = Path(__file__).parents[2] / "tests" / "system" / "golden_losses.json"
LEARNING = {
    "training.optimizer": "adam",
    "training.learning_rate": 4e-3,
    "training.initialization": "glorot",
    "training.loss_normalization": "tokens",
}
"""What makes six updates change a model so much that another algorithm has other losses."""


def losses(system: str, folder: Path) -> dict[str, list[float]]:
    """The training losses of a system, and the log-probabilities of some translations."""
    texts = write_texts(folder / "texts")
    translator = trained(system, texts, folder / "model", LEARNING)
    record = json.loads((folder / "model" / "training.json").read_text(encoding="utf-8"))
    return {
        "training": [round(row["train_nll"], 5) for row in record["validations"]],
        "scores": [round(float(pair.score), 4) for pair in translator.score(*development(texts))],
    }


def main() -> None:
    """Record the losses of all systems."""
    found = {}
    for name in list(SYSTEMS)[: 2 if TINY else None]:
        with TemporaryDirectory() as folder:
            found[name] = losses(name, Path(folder))
    path = Path(TINY) / GOLDEN.name if TINY else GOLDEN
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
