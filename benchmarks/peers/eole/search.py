"""eole in `translation_speed.py`."""

from __future__ import annotations

from collections.abc import Callable

from eole.config.run import PredictConfig
from eole.inference_engine import InferenceEnginePY


def load(model: str) -> Callable[[list[str], int, int], int]:
    """Load a model folder."""
    config = PredictConfig(model_path=[model], src="-", batch_type="sents", gpu_ranks=[])
    engine = InferenceEnginePY(config)

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        config.batch_size = len(sentences)
        exactly = {"beam_size": beam, "min_length": steps, "max_length": steps}
        _, _, found = engine.infer_list(sentences, settings=exactly)
        return sum(len(best.split()) for best, *_ in found)

    return translate
