"""OpenNMT-py in `translation_speed.py`: its model file. Runs in its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from onmt.inference_engine import InferenceEnginePY
from onmt.opts import translate_opts
from onmt.utils.parse import ArgumentParser

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.peers.search_server import serve


def main() -> None:
    """Load the model and serve."""
    parser = ArgumentParser()
    translate_opts(parser)
    options = parser.parse_args(["-model", sys.argv[1], "-src", "-", "-output", os.devnull])
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

    serve(translate)


if __name__ == "__main__":
    main()
