"""Products with packed weights: exact in float32, close in int8, and a row by itself."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.ops.packed import MOST_ROWS, int8_works, packed, rows

sizes = st.integers(1, 70)
seeds = st.integers(0, 2**31)
needs_int8 = pytest.mark.skipif(not int8_works(), reason="no int8 products here")


@settings(max_examples=20)
@given(R=sizes, X=sizes, Y=sizes, biased=st.booleans(), seed=seeds)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_float_products_are_exact(dtype: torch.dtype, R: int, X: int, Y: int, biased: bool, seed: int) -> None:
    torch.manual_seed(seed)
    x, W = torch.randn(R, X, dtype=dtype), torch.randn(Y, X, dtype=dtype)
    b = torch.randn(Y, dtype=dtype) if biased else None
    product = packed(W, b)
    tolerance = 1e-4 if dtype == torch.float32 else 1e-10
    expected = torch.nn.functional.linear(x.double(), W.double(), None if b is None else b.double())
    torch.testing.assert_close(product(x).double(), expected, rtol=tolerance, atol=tolerance)
    unscaled, factor = product.unscaled(x)
    without = torch.nn.functional.linear(x.double(), W.double())
    torch.testing.assert_close((unscaled * factor[:, None]).double(), without, rtol=tolerance, atol=tolerance)


@needs_int8
@settings(max_examples=20)
@given(R=sizes, X=sizes, Y=sizes, biased=st.booleans(), seed=seeds)
def test_int8_products_are_close(R: int, X: int, Y: int, biased: bool, seed: int) -> None:
    torch.manual_seed(seed)
    x, W, b = torch.randn(R, X), torch.randn(Y, X), torch.randn(Y) if biased else None
    error = (packed(W, b, "int8")(x) - torch.nn.functional.linear(x, W, b)).abs()
    # Half a unit of each factor, times the other.
    unit_x, unit_W = x.abs().amax(1) / 127, W.abs().amax(1) / 127
    bound = unit_x[:, None] * W.abs().sum(1) + unit_W * x.abs().sum(1)[:, None]
    assert (error <= 0.51 * bound + X * unit_x[:, None] * unit_W + 1e-4).all()


@needs_int8
@settings(max_examples=20)
@given(R=sizes, X=sizes, Y=sizes, seed=seeds)
def test_an_int8_row_is_the_same_in_any_company(R: int, X: int, Y: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, product = torch.randn(R, X), packed(torch.randn(Y, X), torch.randn(Y), "int8")
    together = product(x)
    for row in (0, R // 2, R - 1):
        assert torch.equal(product(x[row : row + 1])[0], together[row])


def test_many_rows_are_multiplied_in_parts() -> None:
    torch.manual_seed(3)
    x, W, b = torch.randn(2 * MOST_ROWS + 5, 40), torch.randn(24, 40), torch.randn(24)
    product = packed(W, b)
    torch.testing.assert_close(product(x), torch.nn.functional.linear(x, W, b), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(product(x[-1:]), product(x)[-1:], rtol=1e-5, atol=1e-5)


def test_rows_come_in_few_numbers() -> None:
    for count in range(1, 2000):
        assert count <= rows(count) < max(5, count * 1.25)
    assert len({rows(count) for count in range(1, 1025)}) < 40
