"""eole, the successor of OpenNMT-py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.peers.toolkit import Task, Toolkit, onmt_text, onmt_training, words_by_count


def settings(task: Task, output: Path, mode: str) -> dict[str, Any]:
    """Its settings for a task."""
    embedding = task.size.embedding
    return {
        **onmt_text(task),
        "training": {
            **onmt_training(task),
            "model_path": str(output / "model"),
            "dropout_steps": [0],
            "compute_dtype": mode or "fp32",
        },
        "model": {
            "architecture": "rnn",
            "hidden_size": task.size.hidden,
            "layers": 1,
            "rnn_type": "GRU",
            "embeddings": {
                "word_vec_size": embedding,
                "src_word_vec_size": embedding,
                "tgt_word_vec_size": embedding,
            },
            "encoder": {"encoder_type": "brnn"},
            "decoder": {"decoder_type": "rnn", "global_attention": "mlp"},
        },
    }


EOLE = Toolkit(
    name="eole",
    package="eole",
    version="0.6.4",
    resolved=True,
    needs=("tokenizers", "transformers", "aiohttp"),
    modes={"": "fp32", "bf16": "bf16"},
    settings=settings,
    command=lambda python, file: [python.parent / "eole", "train", "-config", file],
    words=words_by_count,
    trained="model/step_2",
)
