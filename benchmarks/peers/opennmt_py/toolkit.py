"""OpenNMT-py."""

from __future__ import annotations

from benchmarks.peers.toolkit import FOLDER, Toolkit, words_by_count

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
    settings=FOLDER / "opennmt_py" / "gru.json",
    chosen=lambda mode: {},
    command=lambda python, file: [python, "-m", "onmt.bin.train", "-config", file],
    words=words_by_count,
    trained="model_step_2.pt",
)
