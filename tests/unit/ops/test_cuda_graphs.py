"""How loops and their memory are kept as CUDA graphs; a stand-in for the graphs themselves needs no GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from rnnsearch.ops.cuda_graphs import Graphs


class Recorded(TorchDispatchMode):
    """Remembers the operators that run within it, and runs them again, on the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operator(*args, **(kwargs or {}))
        self.operators.append((operator, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        for operator, args, kwargs, result in self.operators:
            again = operator(*args, **kwargs)
            if again.data_ptr() != result.data_ptr():
                result.copy_(again)


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Graphs:
    @contextlib.contextmanager
    def capture(graph: Recorded, **_: object) -> Iterator[None]:
        with graph:
            yield

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recorded)
    monkeypatch.setattr(torch.cuda, "graph", capture)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    return Graphs(most=3, device="cpu")


def loop(settings: tuple[int], a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a @ b + settings[0], (2 * a).double(), a.to(torch.bfloat16)


def test_results_are_those_of_the_loop_and_stay(graphs: Graphs) -> None:
    """For shapes that come and go, for arguments in any order in memory, also after later calls have used the memory."""
    found: list[tuple[tuple[Tensor, ...], tuple[Tensor, ...]]] = []
    for n in (3, 5, 3, 200, 3, 3, 5, 7, 200, 7, 0, 3, 0):
        for settings in ((1,), (2,)):
            a, b = torch.randn(4, n).T, torch.randn(4, n + 1)
            found.append((graphs(loop, settings, a, b), loop(settings, a, b)))
            assert len(graphs._captured) <= 3
    for ours, expected in found:
        for one, other in zip(ours, expected, strict=True):
            assert one.dtype == other.dtype
            assert torch.equal(one, other)


def test_a_shape_is_captured_once(graphs: Graphs) -> None:
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    graphs(loop, (1,), a, b)
    captured = list(graphs._captured.values())
    graphs(loop, (1,), b.T.contiguous()[:3], b)
    assert list(graphs._captured.values()) == captured
    graphs(loop, (2,), a, b)
    assert len(graphs._captured) == 2


def test_more_memory_begins_anew(graphs: Graphs) -> None:
    graphs(loop, (1,), torch.randn(3, 4), torch.randn(4, 5))
    pool = graphs._pool
    graphs(loop, (1,), torch.randn(3000, 4), torch.randn(4, 5))
    assert len(graphs._captured) == 1
    assert graphs._pool is not pool, "memory of graphs that are gone"
