"""JoeyNMT in `translation_speed.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from joeynmt.config import load_config, parse_global_args
from joeynmt.prediction import prepare
from joeynmt.search import search


def load(settings: str) -> Callable[[list[str], int, int], int]:
    """Load the model of a file of settings."""
    arguments = parse_global_args(load_config(Path(settings)), rank=0, mode="translate")
    model, _, _, data = prepare(arguments, rank=0, mode="translate")
    model.eval()

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        data.reset_cache()
        for sentence in sentences:
            data.set_item(sentence)
        words = 0
        # Its `predict` does the same, but does not hand the least length on.
        for batch in data.make_iter(
            batch_size=len(sentences),
            batch_type="sentence",
            shuffle=False,
            seed=1,
            num_workers=0,
            eos_index=model.eos_index,
            pad_index=model.pad_index,
            device=arguments.device,
        ):
            batch.sort_by_src_length()
            found, _, _ = search(
                model,
                batch,
                max_output_length=steps,
                min_output_length=steps,
                beam_size=beam,
                beam_alpha=arguments.test.beam_alpha,
            )
            words += sum(map(len, model.trg_vocab.arrays_to_sentences(arrays=found, cut_at_eos=True)))
        return words

    return translate
