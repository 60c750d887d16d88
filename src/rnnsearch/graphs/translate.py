"""Translate lines of standard input greedily by the graphs in this script's folder: `python translate.py < tokenized.txt`.

Spaces separate the words of a line, which is in UTF-8. The script needs the packages onnxruntime and NumPy, and
sentencepiece for models with subwords.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

FOLDER = Path(__file__).parent
END, UNKNOWN, NONE = 0, 1, -1


class Model:
    """The model in this script's folder."""

    def __init__(self) -> None:
        self.data = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))["data"]
        texts = [(FOLDER / f"{side}.vocab").read_text(encoding="utf-8") for side in ("source", "target")]
        self.source, self.target = (text.removesuffix("\n").split("\n") for text in texts)
        self.ids = {word: number for number, word in enumerate(self.source)}
        self.subwords: Any = None
        if self.data["subwords"] != "none":
            from sentencepiece import SentencePieceProcessor

            self.subwords = SentencePieceProcessor(model_file=str(FOLDER / "source.subwords"))
        self.encoder, self.step = (onnxruntime.InferenceSession(FOLDER / f"{name}.onnx") for name in ("encoder", "step"))

    def tokens(self, line: str) -> Sequence[str]:
        """Return the units of a line that the model reads: words, subwords or characters."""
        if self.subwords:
            pieces: list[str] = self.subwords.encode(line, out_type=str)
            return pieces
        return list(line) if self.data["source_units"] in ("characters", "codepoints") else line.split()

    def text(self, tokens: Sequence[str]) -> str:
        """Return the line that consists of these units."""
        if self.data["subwords"] != "none":
            return "".join(tokens).replace("▁", " ").strip()
        return ("" if self.data["target_units"] in ("characters", "codepoints") else " ").join(tokens)

    def translate(self, line: str) -> str:
        """Return the greedy translation of a line."""
        # Encode the sentence; its outputs are inputs of every step. The first step continues no word.
        ids = [self.ids.get(token, UNKNOWN) for token in self.tokens(line)]
        words, lengths = np.array([[*ids, END]]), np.array([len(ids) + 1])
        names = [output.name for output in self.encoder.get_outputs()]
        given = dict(zip(names, self.encoder.run(None, {"words": words, "lengths": lengths}), strict=True))
        given |= {"lengths": lengths, "parents": np.array([[0]]), "words": np.array([[NONE]]), "count": np.array([2])}
        given["alpha_before"] = np.zeros((1, len(ids) + 1), np.float32)
        inputs = [one.name for one in self.step.get_inputs()]
        aligns = "alpha" in [one.name for one in self.step.get_outputs()]
        tokens = []
        # Extend the translation by the most probable word other than `[UNK]`, until that is the end symbol.
        for _ in range(3 * len(ids) + 10):
            outputs = ["next_state", "best", *(["alpha"] if aligns else [])]
            state, best, *alpha = self.step.run(outputs, {name: given[name] for name in inputs})
            word = next(number for number in best[0, 0].tolist() if number != UNKNOWN)
            if word == END:
                break
            tokens.append(self.target[word])
            given |= {"state": state, "words": np.array([[word]])}
            given |= {"alpha_before": alpha[0][0]} if aligns else {}
        return self.text(tokens[::-1] if self.data["right_to_left"] else tokens)


if __name__ == "__main__":
    model = Model()
    for encoded in sys.stdin.buffer:
        translation = model.translate(encoded.decode("utf-8", "replace").strip())
        sys.stdout.buffer.write(f"{translation}\n".encode())
        sys.stdout.flush()
