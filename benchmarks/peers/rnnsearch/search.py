"""Our contestant in `translation_speed.py`: a model folder, and settings of search as KEY=VALUE."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

import rnnsearch
from benchmarks.peers.search_server import serve


def main() -> None:
    """Load the model and serve."""
    translator = rnnsearch.load(sys.argv[1])
    mode = dict(argument.split("=", 1) for argument in sys.argv[2:])

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        # The source's length, the end symbol counted, is the number of steps: not before it, and not after.
        exactly: dict[str, Any] = {"minimum_length_ratio": 1.0, "maximum_length_ratio": 1.0, "split_sentences": False}
        settings = {**exactly, "beam": beam, "batch_sentences": len(sentences), **mode}
        translations = translator.translate(sentences, **settings)
        return sum(len(translation.tokens) for translation in translations)

    serve(translate)


if __name__ == "__main__":
    main()
