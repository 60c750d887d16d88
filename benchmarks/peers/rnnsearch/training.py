"""Training steps of ours, one JSON line each on standard output: our contestant in the speed benchmarks."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.lib.command import Parser
from benchmarks.lib.processes import peak_megabytes
from benchmarks.lib.speed_text import BATCH, SIZES, text_system, uniform_system
from benchmarks.lib.training import train
from rnnsearch.config import parse_assignments


def main() -> None:
    """Train, and print a line after every update and one at the end."""
    parser = Parser(__doc__, words=25, size="small", updates=4)
    parser.add_argument("--text", type=Path, help="a folder that `speed_text` wrote")
    parser.add_argument("--set", action="append", metavar="KEY=VALUE", help="a setting of training")
    arguments = parser.parse_args()

    size = SIZES[arguments.size]
    config = size.config(parse_assignments(arguments.set or []).get("training"))
    with tempfile.TemporaryDirectory() as folder:
        if arguments.text is None:
            pairs = BATCH * arguments.updates
            system, corpus = uniform_system(Path(folder), config, arguments.words, size.words, pairs)
        else:
            system, corpus = text_system(arguments.text, config)
        train(system, corpus, arguments.updates, lambda update: print(json.dumps(asdict(update)), flush=True))
    print(json.dumps({"peak_megabytes": peak_megabytes()}), flush=True)


if __name__ == "__main__":
    main()
