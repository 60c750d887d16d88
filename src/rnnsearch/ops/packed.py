"""Matrix products with constant weights, packed once in the layout that the processor multiplies fastest.

Search multiplies few rows by the same large matrices at every step, so it spends most of its time on reading weights. oneDNN
reads float32 weights that it has packed itself up to four times as fast as others; int8 weights take a quarter of their
memory. oneDNN also keeps 0.7 MB for every shape of a product, so rows are padded to few different numbers.
"""

from __future__ import annotations

import functools
from typing import Literal, Protocol

import torch
from torch import Tensor

from rnnsearch.ops import decoder_step

WeightPrecision = Literal["fp32", "int8"]

MOST_ROWS = 256
"""Maximum number of float32 rows per product. More rows are multiplied in parts: no slower, and fewer different shapes."""


class Product(Protocol):
    """Maps each row x to W x + b."""

    def __call__(self, x_RX: Tensor) -> Tensor:
        """W x + b (R, Y) for a contiguous x (R, X)."""
        ...

    def unscaled(self, x_RX: Tensor) -> tuple[Tensor, Tensor]:
        """y (R, Y) and a factor (R) such that W x = factor ∘ y, without the bias."""
        ...


def packed(weight_YX: Tensor, bias_Y: Tensor | None = None, precision: WeightPrecision = "fp32") -> Product:
    """Pack a matrix, with or without a bias, for products. Matrices that are not float32 keep their own precision."""
    if weight_YX.dtype == torch.float32 and weight_YX.device.type == "cpu":
        if precision == "int8":
            return _Int8Product(weight_YX, bias_Y)
        if torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):
            return _Float32Product(weight_YX, bias_Y)
    return _PlainProduct(weight_YX, bias_Y)


class _PlainProduct:
    """A product by PyTorch's linear function, for GPUs and for types other than float32."""

    def __init__(self, weight_YX: Tensor, bias_Y: Tensor | None) -> None:
        self._weight_YX, self._bias_Y = weight_YX.detach(), bias_Y

    def __call__(self, x_RX: Tensor) -> Tensor:
        return torch.nn.functional.linear(x_RX, self._weight_YX, self._bias_Y)

    def unscaled(self, x_RX: Tensor) -> tuple[Tensor, Tensor]:
        return torch.nn.functional.linear(x_RX, self._weight_YX), x_RX.new_ones(len(x_RX))


class _Float32Product:
    """A float32 product by oneDNN, without rounding of its factors."""

    def __init__(self, weight_YX: Tensor, bias_Y: Tensor | None) -> None:
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight_YX.detach(), 64)
        self._bias_Y = bias_Y
        self._most = 4

    def __call__(self, x_RX: Tensor) -> Tensor:
        return self._multiply(x_RX, self._bias_Y)

    def unscaled(self, x_RX: Tensor) -> tuple[Tensor, Tensor]:
        return self._multiply(x_RX, None), x_RX.new_ones(len(x_RX))

    def _multiply(self, x_RX: Tensor, bias_Y: Tensor | None) -> Tensor:
        R = len(x_RX)
        if R > MOST_ROWS:
            return torch.cat([self._multiply(part_RX, bias_Y) for part_RX in x_RX.split(MOST_ROWS)])
        # The largest number of rows so far is not rounded up: in a search, it is the full beam of every sentence.
        most = self._most = max(self._most, R)
        H = min(rows(R), most)
        x_HX = x_RX if H == R else torch.nn.functional.pad(x_RX, (0, 0, 0, H - R))
        product_HY: Tensor = torch.ops.mkldnn._linear_pointwise(x_HX, self._packed, bias_Y, "none", [], "")
        return product_HY[:R]


def quantize(weight_YX: Tensor) -> tuple[Tensor, Tensor]:
    """Round a matrix to int8 integers from −127 to 127 (Y, X), which are to be multiplied by the scale of their row (Y).

    Each weight is rounded by at most half of its row's scale, which is the largest magnitude in the row divided by 127.
    Integers that are multiplied by their scales are quantized to the same integers again.
    """
    scale_Y = weight_YX.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / 127
    return (weight_YX / scale_Y.unsqueeze(1)).round().to(torch.int8), scale_Y


class _Int8Product:
    """An int8 product: each row of W and of x has its own scale and integers from −127 to 127, and sums are exact.

    The result of a row therefore does not depend on the other rows, not even in its last bit.
    """

    def __init__(self, weight_YX: Tensor, bias_Y: Tensor | None) -> None:
        whole_YX, scale_Y = quantize(weight_YX.detach())
        self._packed = torch.ops.onednn.qlinear_prepack(whole_YX, [64, whole_YX.shape[1]])
        self._scale_Y, self._zero_Y, self._bias_Y = scale_Y, torch.zeros(len(scale_Y), dtype=torch.long), bias_Y

    def __call__(self, x_RX: Tensor) -> Tensor:
        product_RY, factor_R = self.unscaled(x_RX)
        if self._bias_Y is None:
            return product_RY.mul_(factor_R.unsqueeze(1))
        return torch.addcmul(self._bias_Y, product_RY, factor_R.unsqueeze(1))

    def unscaled(self, x_RX: Tensor) -> tuple[Tensor, Tensor]:
        # Each row of x has its own factor, and the product includes the scales of W.
        R = len(x_RX)
        whole_HX, factor_R = decoder_step.quantize(x_RX, rows(R))
        product_HY = _multiply_int8(whole_HX, self._packed, self._scale_Y, self._zero_Y)
        return product_HY[:R], factor_R


def rows(count: int) -> int:
    """Round `count` up to one of few numbers, by less than a quarter, but to at least 4.

    oneDNN sums a single row in a different order, so 1 must not occur.
    """
    # Three significant bits: multiples of an eighth of the next power of two.
    step = 1 << max(0, (count - 1).bit_length() - 3)
    return max(4, -(-count // step) * step)


def _multiply_int8(x_RX: Tensor, packed: Tensor, scale_Y: Tensor, zero_Y: Tensor) -> Tensor:
    """Return (x − 128) Wᵀ times `scale`, as float32, for an unsigned x."""
    product: Tensor = torch.ops.onednn.qlinear_pointwise(
        x_RX, 1.0, 128, packed, scale_Y, zero_Y, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return product


@functools.cache
def int8_works() -> bool:
    """Whether PyTorch multiplies int8 without overflow on this CPU; older instructions accumulate in 16 bits."""
    generator = torch.Generator().manual_seed(0)
    try:
        for R, X, Y in ((8, 64, 48), (64, 1000, 256)):
            x = torch.randint(1, 256, (R, X), generator=generator, dtype=torch.uint8)
            W = torch.randint(-127, 128, (Y, X), generator=generator, dtype=torch.int8)
            # The largest factors, whose sums overflow in 16 bits.
            x[0], W[0] = 255, 127
            packed = torch.ops.onednn.qlinear_prepack(W, [64, X])
            product = _multiply_int8(x, packed, torch.ones(Y), torch.zeros(Y, dtype=torch.long))
            if not torch.equal(product, (x.float() - 128) @ W.float().T):
                return False
    except (RuntimeError, AttributeError):
        return False
    return True
