"""OpenNMT-py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.peers.toolkit import Task, Toolkit, onmt_text, onmt_training, words_by_count


def settings(task: Task, output: Path, mode: str) -> dict[str, Any]:
    """Its settings for a task."""
    return {
        **onmt_text(task),
        **onmt_training(task),
        "save_model": str(output / "model"),
        "encoder_type": "brnn",
        "decoder_type": "rnn",
        "rnn_type": "GRU",
        "global_attention": "mlp",
        "src_word_vec_size": task.size.embedding,
        "tgt_word_vec_size": task.size.embedding,
        "hidden_size": task.size.hidden,
        "enc_hid_size": task.size.hidden,
        "dec_hid_size": task.size.hidden,
        "layers": 1,
    }


OPENNMT_PY = Toolkit(
    name="opennmt-py",
    package="OpenNMT-py",
    version="3.5.1",
    resolved=False,
    needs=(
        *("configargparse", "pyyaml", "tensorboard", "sacrebleu", "six", "flask", "waitress", "pyonmttok"),
        *("ctranslate2", "rapidfuzz", "fasttext-wheel", "sentencepiece", "subword-nmt", "spacy", "pyahocorasick"),
    ),
    modes={"": "fp32"},
    settings=settings,
    command=lambda python, file: [python, "-m", "onmt.bin.train", "-config", file],
    words=words_by_count,
    trained="model_step_2.pt",
)
