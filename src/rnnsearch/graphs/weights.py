"""The weights of a trained model as NumPy arrays, float32 or int8."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import SCALE
from rnnsearch.untrusted import check_header
from rnnsearch.weight_names import present_name

Floats = NDArray[np.float32]


class Weights:
    """The weights of a model, or of a part of one, by the names of `docs/reference/symbols.md`."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` as a weight file has them: floating-point numbers, or int8 with the scales of the rows beside them."""
        self.arrays = arrays

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read a weight file. Raises RnnsearchError where it is none."""
        try:
            check_header(path)
            arrays = load_file(path)
        except (SafetensorError, OSError, ValueError, KeyError) as error:
            raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None
        return cls({present_name(name): array for name, array in arrays.items()})

    def __or__(self, others: Weights) -> Weights:
        """These weights and others, whose names differ."""
        return Weights({**self.arrays, **others.arrays})

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def shape(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return self.arrays[name].shape

    def are_integers(self, name: str) -> bool:
        """Whether a matrix is stored as integers with a scale for each row."""
        return name + SCALE in self.arrays

    def __getitem__(self, name: str) -> Floats:
        """The weights as float32."""
        array = self.arrays[name].astype(np.float32)
        if self.are_integers(name):
            array *= self.arrays[name + SCALE].astype(np.float32)[:, None]
        return array

    def embeddings(self, name: str, ids: NDArray[np.int64]) -> Floats:
        """Rows (…, E) of a matrix; those of −1, which stands for no word, are zero."""
        rows = self.arrays[name][ids].astype(np.float32)
        if self.are_integers(name):
            rows *= self.arrays[name + SCALE].astype(np.float32)[ids][..., None]
        rows[ids < 0] = 0
        return rows

    def exactly(self, name: str) -> NDArray[Any]:
        """The weights in the precision that they have; those that are integers as float32."""
        return self[name] if self.are_integers(name) else self.arrays[name]

    def are_finite(self, name: str) -> bool:
        """Whether the weights are finite as float32."""
        with np.errstate(over="ignore"):
            if self.are_integers(name):
                array = self.arrays[name + SCALE].astype(np.float32) * np.float32(128)
            else:
                array = self.arrays[name].astype(np.float32)
        return bool(np.isfinite(array).all())

    def quantized(self, name: str) -> tuple[NDArray[np.int8], Floats]:
        """A matrix as integers from −127 to 127 and a scale for each row, by which they are to be multiplied.

        A matrix that is stored as such is returned unchanged. The scale of any other is the largest magnitude of the row,
        divided by 127.
        """
        if self.are_integers(name):
            return self.arrays[name], self.arrays[name + SCALE].astype(np.float32)
        whole = self[name]
        scales = np.maximum(np.abs(whole).max(1), np.finfo(np.float32).tiny) / np.float32(127)
        return np.round(whole / scales[:, None]).astype(np.int8), scales
