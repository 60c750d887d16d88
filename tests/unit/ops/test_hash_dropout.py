"""Masks are random, fair, the same forward and backward, and the same for the same seed."""

from __future__ import annotations

import pytest
import torch

from rnnsearch.ops import dropout, loops

N = 200_000
both = pytest.mark.parametrize("compiled", [True, False])


@pytest.fixture(autouse=True)
def chosen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "compiled" in request.fixturenames:
        if request.getfixturevalue("compiled") and not loops.AVAILABLE:
            pytest.skip("Numba, or PyTorch's OpenMP library, is not here")
        monkeypatch.setattr(loops, "AVAILABLE", loops.AVAILABLE and request.getfixturevalue("compiled"))


@both
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_share_and_scale(compiled: bool, p: float) -> None:
    torch.manual_seed(1)
    y = dropout(torch.ones(N), p)
    assert float((y == 0).float().mean()) == pytest.approx(p, abs=0.01)
    assert torch.allclose(y[y != 0], torch.tensor(1 / (1 - p)))


@both
def test_what_is_dropped_has_no_gradient(compiled: bool) -> None:
    x = torch.randn(37, 53, requires_grad=True)
    y = dropout(x.T, 0.4)
    y.sum().backward()
    assert torch.equal(x.grad.T != 0, y != 0)


@both
def test_the_seed_decides(compiled: bool) -> None:
    found = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        found.append([dropout(torch.ones(1000), 0.5), dropout(torch.ones(1000), 0.5)])
    assert torch.equal(found[0][0], found[1][0])
    assert not torch.equal(found[0][0], found[0][1]), "the second mask is the first"
    assert not torch.equal(found[0][0], found[2][0])


@both
def test_neighbours_and_masks_are_independent(compiled: bool) -> None:
    """The correlation of places beside each other, of rows of a matrix, and of one mask with the next."""
    torch.manual_seed(5)
    one, other = ((dropout(torch.ones(N), 0.5) != 0).double() for _ in range(2))
    pairs = [(one[:-1], one[1:]), (one[:-512], one[512:]), (one[:-1024], one[1024:]), (one, other)]
    for a, b in pairs:
        assert abs(float(torch.corrcoef(torch.stack([a, b]))[0, 1])) < 0.012


def test_zero_is_nothing() -> None:
    x = torch.randn(3)
    assert dropout(x, 0.0) is x


@pytest.mark.skipif(not loops.AVAILABLE, reason="Numba, or PyTorch's OpenMP library, is not here")
def test_the_mask_does_not_depend_on_the_threads() -> None:
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            torch.manual_seed(2)
            found.append(dropout(torch.ones(1001), 0.3))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
