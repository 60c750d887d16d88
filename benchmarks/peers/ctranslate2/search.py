"""CTranslate2 as a contestant of `ctranslate2_serving.py`."""

from __future__ import annotations

from collections.abc import Callable

import ctranslate2

BATCH_TOKENS = 2048


def load(model: str, threads: str) -> Callable[[list[str], int, int], int]:
    """Load a model folder, for so many threads."""
    translator = ctranslate2.Translator(model, inter_threads=1, intra_threads=int(threads))

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

    return translate
