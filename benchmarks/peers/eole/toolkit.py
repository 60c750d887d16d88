"""eole, the successor of OpenNMT-py."""

from __future__ import annotations

from benchmarks.peers.toolkit import FOLDER, Toolkit, words_by_count

EOLE = Toolkit(
    name="eole",
    package="eole",
    version="0.6.4",
    resolved=True,
    needs=("tokenizers", "transformers", "aiohttp"),
    modes={"": "fp32", "bf16": "bf16"},
    settings=FOLDER / "eole" / "gru.json",
    chosen=lambda mode: {"precision": mode or "fp32"},
    command=lambda python, file: [python.parent / "eole", "train", "-config", file],
    words=words_by_count,
    trained="model/step_2",
)
