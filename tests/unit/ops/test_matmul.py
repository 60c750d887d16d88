"""`fast_products`: a setting that is always put back, and products that stay float32."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.ops import fast_products, matmul, usable_precision

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
    seconds = itertools.cycle([3.0, 4.0] if slower else [4.0, 3.0])  # float32, bfloat16, and so on
    readings = (reading for duration in seconds for reading in (0.0, duration))
    monkeypatch.setattr(matmul, "_has_bf16_instructions", lambda: None)
    monkeypatch.setattr(matmul.time, "perf_counter", lambda: next(readings))
    assert matmul.bf16_is_slower.__wrapped__() is slower


@pytest.mark.parametrize(("avx512_bf16", "amx"), [(False, False), (True, False), (False, True)])
def test_instructions_decide_and_not_the_clock(avx512_bf16: bool, amx: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_bf16_is_slower_by_the_clock", lambda: pytest.fail("the clock was asked"))
    monkeypatch.setattr(matmul.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    assert matmul.bf16_is_slower.__wrapped__() is not (avx512_bf16 or amx)


@pytest.mark.parametrize("slower", [True, False])
def test_the_clock_decides_where_instructions_are_not_known(slower: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matmul, "_bf16_is_slower_by_the_clock", lambda: slower)
    monkeypatch.setattr(matmul.platform, "machine", lambda: "aarch64")
    assert matmul.bf16_is_slower.__wrapped__() is slower


def test_only_bf16_on_a_cpu_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    monkeypatch.setattr(matmul, "bf16_is_slower", lambda: True)
    assert [usable_precision("bf16", cpu), usable_precision("bf16", cuda)] == ["fp32", "bf16"]
    monkeypatch.setattr(matmul, "bf16_is_slower", lambda: False)
    assert [usable_precision("bf16", cpu), usable_precision("fp32", cpu)] == ["bf16", "fp32"]
