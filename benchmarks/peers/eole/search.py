"""eole in `translation_speed.py`: its model folder. Runs in its environment."""

from __future__ import annotations

import sys
from pathlib import Path

from eole.config.run import PredictConfig
from eole.inference_engine import InferenceEnginePY

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks.peers.search_server import serve


def main() -> None:
    """Load the model and serve."""
    config = PredictConfig(model_path=[sys.argv[1]], src="-", batch_type="sents", gpu_ranks=[])
    engine = InferenceEnginePY(config)

    def translate(sentences: list[str], steps: int, beam: int) -> int:
        config.batch_size = len(sentences)
        exactly = {"beam_size": beam, "min_length": steps, "max_length": steps}
        _, _, found = engine.infer_list(sentences, settings=exactly)
        return sum(len(best.split()) for best, *_ in found)

    serve(translate)


if __name__ == "__main__":
    main()
