"""OpenNMT-py in `translation_speed.py`."""

from __future__ import annotations

import os
from collections.abc import Callable

from onmt.inference_engine import InferenceEnginePY
from onmt.opts import translate_opts
from onmt.utils.parse import ArgumentParser


def load(model: str) -> Callable[[list[str], int, int], int]:
    """Load a model file."""
    parser = ArgumentParser()
    translate_opts(parser)
    options = parser.parse_args(["-model", model, "-src", "-", "-output", os.devnull])
    ArgumentParser.validate_translate_opts(options)
    ArgumentParser._get_all_transform_translate(options)
    ArgumentParser._validate_transforms_opts(options)
    ArgumentParser.validate_translate_opts_dynamic(options)
    engine = InferenceEnginePY(options)

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        options.batch_size = len(sentences)
        engine.translator.beam_size = beam
        engine.translator.min_length = engine.translator.max_length = steps
        _, found = engine.infer_list(sentences)
        return sum(len(best.split()) for best, *_ in found)

    return translate
