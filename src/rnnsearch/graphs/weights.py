"""The weights of a trained model as NumPy arrays, in float32 or int8."""

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
Arrays = dict[str, NDArray[Any]]


class Weights:
    """The weights of a model, or of a part of one, by the names of `docs/reference/symbols.md`."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of a weight file: floating-point numbers, or int8 with the scales of the rows."""
        self.arrays = arrays

    @classmethod
    def load(cls, path: Path) -> Weights:
        """Read a weight file. Raises RnnsearchError if it is not a complete safetensors file."""
        try:
            check_header(path)
            arrays = load_file(path)
        except (SafetensorError, OSError, ValueError, KeyError) as error:
            raise RnnsearchError(f"{path}: not a whole safetensors file ({error})") from None
        return cls({present_name(name): array for name, array in arrays.items()})

    def __or__(self, others: Weights) -> Weights:
        """Return the union of these weights and others with different names."""
        return Weights({**self.arrays, **others.arrays})

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return self.arrays[name].shape

    def are_integers(self, name: str) -> bool:
        """Whether a matrix is stored as integers with a scale for each row."""
        return name + SCALE in self.arrays

    def __getitem__(self, name: str) -> Floats:
        """Return the weights as float32."""
        array = self.arrays[name].astype(np.float32)
        if self.are_integers(name):
            array *= self.arrays[name + SCALE].astype(np.float32)[:, None]
        return array

    def embeddings(self, name: str, ids: NDArray[np.int64]) -> Floats:
        """Return the rows (…, E) of a matrix with these ids (…); the row of −1, which stands for no word, is zero."""
        rows = self.arrays[name][ids].astype(np.float32)
        if self.are_integers(name):
            rows *= self.arrays[name + SCALE].astype(np.float32)[ids][..., None]
        rows[ids < 0] = 0
        return rows

    def exactly(self, name: str) -> NDArray[Any]:
        """Return the weights in their stored precision, except that integers become float32."""
        return self[name] if self.are_integers(name) else self.arrays[name]

    def are_finite(self, name: str) -> bool:
        """Whether the weights are finite as float32."""
        # Of integers, the scales decide; the largest magnitude of an integer is 128.
        with np.errstate(over="ignore"):
            if self.are_integers(name):
                array = self.arrays[name + SCALE].astype(np.float32) * np.float32(128)
            else:
                array = self.arrays[name].astype(np.float32)
        return bool(np.isfinite(array).all())

    def quantized(self, name: str) -> tuple[NDArray[np.int8], Floats]:
        """Return a matrix as integers from −127 to 127, and the scale of each row, by which they must be multiplied.

        A matrix that is stored in this form is returned unchanged. For any other matrix, the scale is the largest magnitude
        of the row divided by 127.
        """
        if self.are_integers(name):
            return self.arrays[name], self.arrays[name + SCALE].astype(np.float32)
        whole = self[name]
        scales = np.maximum(np.abs(whole).max(1), np.finfo(np.float32).tiny) / np.float32(127)
        return np.round(whole / scales[:, None]).astype(np.int8), scales
