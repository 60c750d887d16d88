"""`fast_products`: a setting that is always put back, and products that stay float32."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.ops import fast_products, matmul

onednn: Any = getattr(torch.backends.mkldnn, "matmul", None)
has_switch = pytest.mark.skipif(
    not hasattr(onednn, "fp32_precision"), reason="this PyTorch has no switch for oneDNN's float32 products"
)


@pytest.fixture
def stays_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a CPU where the switch loses nothing."""
    monkeypatch.setattr(matmul, "_stays_float32", lambda: True)


@has_switch
@pytest.mark.usefixtures("stays_float32")
def test_the_setting_is_restored() -> None:
    before = onednn.fp32_precision
    with fast_products():
        assert onednn.fp32_precision == "bf16"
        with fast_products():
            assert onednn.fp32_precision == "bf16"
        assert onednn.fp32_precision == "bf16"
    assert onednn.fp32_precision == before


@has_switch
@pytest.mark.usefixtures("stays_float32")
def test_the_setting_is_restored_after_an_exception() -> None:
    before = onednn.fp32_precision
    with pytest.raises(KeyError), fast_products():
        raise KeyError
    assert onednn.fp32_precision == before


@has_switch
def test_trying_the_switch_leaves_it_as_it_was() -> None:
    before = onednn.fp32_precision
    matmul._stays_float32.__wrapped__()
    assert onednn.fp32_precision == before


@has_switch
def test_it_does_nothing_where_products_would_be_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "LARGEST_ERROR", 1e-12)
    assert not matmul._stays_float32.__wrapped__()
    monkeypatch.setattr(matmul, "_stays_float32", lambda: False)
    before = onednn.fp32_precision
    with fast_products():
        assert onednn.fp32_precision == before


@settings(max_examples=25)
@given(rows=st.integers(1, 90), inner=st.integers(1, 600), columns=st.integers(1, 90), seed=st.integers(0, 2**31))
def test_products_are_float32(rows: int, inner: int, columns: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.randn(rows, inner, generator=generator), torch.randn(inner, columns, generator=generator)
    with fast_products():
        found = a @ b
        turned = torch.nn.functional.linear(a, b.T.contiguous())
    exact = a.double() @ b.double()
    # bfloat16 has eight bits: it would be wrong by some 1e-3 of the largest sum of magnitudes.
    scale = (a.double().abs() @ b.double().abs()).max()
    for product in (found, turned):
        assert float((product.double() - exact).abs().max() / scale) < 1e-5


def test_float64_is_left_alone() -> None:
    a, b = torch.randn(40, 70, dtype=torch.float64), torch.randn(70, 30, dtype=torch.float64)
    plain = a @ b
    with fast_products():
        assert torch.equal(a @ b, plain)


@pytest.mark.parametrize("slower", [True, False])
def test_the_precision_that_takes_longer_by_the_clock(slower: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([3.0] * 6 + [4.0] * 6 if slower else [4.0] * 6 + [3.0] * 6)
    readings = (reading for duration in seconds for reading in (0.0, duration))
    monkeypatch.setattr(matmul.time, "perf_counter", lambda: next(readings))
    assert matmul.bf16_is_slower.__wrapped__() is slower
