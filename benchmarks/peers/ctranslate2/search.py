"""CTranslate2 as a contestant of `ctranslate2_serving.py`: a model folder, and the number of threads."""

from __future__ import annotations

import sys
from pathlib import Path

import ctranslate2

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.peers.search_server import serve

BATCH_TOKENS = 2048


def main() -> None:
    """Load the model and serve."""
    translator = ctranslate2.Translator(sys.argv[1], inter_threads=1, intra_threads=int(sys.argv[2]))

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        found = translator.translate_batch(
            [sentence.split() for sentence in sentences],
            beam_size=beam,
            min_decoding_length=steps,
            max_decoding_length=steps,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
        )
        return sum(len(one.hypotheses[0]) for one in found)

    serve(translate, computes=translator.compute_type)


if __name__ == "__main__":
    main()
