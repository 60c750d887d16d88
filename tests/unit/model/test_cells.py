"""The recurrent functions against a literal transcription of their equations, and against PyTorch's where it has them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rnnsearch.model.cells import CELLS, Cell

E, N, C, B = 3, 4, 5, 2
Vector = NDArray[np.float64]
seeds = st.integers(0, 2**31)


def sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x))


def random_cell(name: str, seed: int, context: bool = True) -> tuple[Cell, dict[str, Vector]]:
    cell = CELLS[name](E, N, C if context else 0).double()
    generator = torch.Generator().manual_seed(seed)
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return cell, {key: parameter.detach().numpy() for key, parameter in cell.named_parameters()}


def step(cell: Cell, state: torch.Tensor, x: torch.Tensor, c: torch.Tensor | None) -> torch.Tensor:
    inputs = cell.project_input(x)
    if c is not None:
        inputs = inputs + cell.project_context(c)
    with torch.no_grad():
        return cell.step(cell.recurrent_weights(), state, inputs)


def random(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=20)
@given(seed=seeds)
def test_gated_unit_is_the_papers(seed: int) -> None:
    cell, p = random_cell("gated", seed)
    s, x, c = random(seed + 1, B, N), random(seed + 2, B, E), random(seed + 3, B, C)
    found = step(cell, s, x, c).numpy()
    for b in range(B):
        sb, xb, cb = s[b].numpy(), x[b].numpy(), c[b].numpy()
        z = sigmoid(p["W_z"] @ xb + p["U_z"] @ sb + p["C_z"] @ cb)
        r = sigmoid(p["W_r"] @ xb + p["U_r"] @ sb + p["C_r"] @ cb)
        candidate = np.tanh(p["W"] @ xb + p["U"] @ (r * sb) + p["C"] @ cb + p["b"])
        np.testing.assert_allclose(found[b], (1 - z) * sb + z * candidate, rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(seed=seeds)
def test_tanh_unit(seed: int) -> None:
    cell, p = random_cell("tanh", seed)
    s, x, c = random(seed + 1, B, N), random(seed + 2, B, E), random(seed + 3, B, C)
    expected = np.tanh(x.numpy() @ p["W"].T + s.numpy() @ p["U"].T + c.numpy() @ p["C"].T + p["b"])
    np.testing.assert_allclose(step(cell, s, x, c).numpy(), expected, rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(seed=seeds)
def test_lstm_is_pytorchs(seed: int) -> None:
    cell, _ = random_cell("lstm", seed, context=False)
    theirs = torch.nn.LSTMCell(E, N).double()
    order = ("i", "f", "", "o")
    with torch.no_grad():
        theirs.weight_ih.copy_(cell.stacked("W", *order))
        theirs.weight_hh.copy_(cell.stacked("U", *order))
        theirs.bias_ih.copy_(cell.stacked("b", *order))
        theirs.bias_hh.zero_()
        hidden, memory, x = random(seed + 1, B, N), random(seed + 2, B, N), random(seed + 3, B, E)
        expected = theirs(x, (hidden, memory))
    state = step(cell, torch.cat([hidden, memory], -1), x, None)
    torch.testing.assert_close(cell.hidden(state), expected[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(state[..., N:], expected[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_without_context_has_no_matrices_for_one(name: str) -> None:
    _, with_context = random_cell(name, 0)
    _, without = random_cell(name, 0, context=False)
    assert with_context.keys() - without.keys() == {key for key in with_context if key.startswith("C")}


@pytest.mark.parametrize("name", CELLS)
def test_context_and_input_are_projected_gate_by_gate(name: str) -> None:
    cell, p = random_cell(name, 1)
    x, c = random(2, 7, B, E), random(3, 7, B, C)
    for index, gate in enumerate(cell.gates):
        suffix = f"_{gate}" if gate else ""
        part = slice(index * N, (index + 1) * N)
        bias = p.get(f"b{suffix}", np.zeros(N))
        np.testing.assert_allclose(
            cell.project_input(x)[..., part].detach(), x.numpy() @ p[f"W{suffix}"].T + bias, atol=1e-12
        )
        np.testing.assert_allclose(cell.project_context(c)[..., part].detach(), c.numpy() @ p[f"C{suffix}"].T, atol=1e-12)


def test_only_the_papers_biases() -> None:
    _, p = random_cell("gated", 0)
    assert {key for key in p if key.startswith("b")} == {"b"}


@pytest.mark.parametrize("name", CELLS)
def test_first_state_has_an_empty_memory(name: str) -> None:
    cell, _ = random_cell(name, 0)
    hidden = random(1, B, N)
    state = cell.first_state(hidden)
    assert state.shape == (B, cell.state_width * N)
    assert torch.equal(cell.hidden(state), hidden)
    assert (state[:, N:] == 0).all()


@pytest.mark.parametrize("name", CELLS)
def test_recurrent_dropout_is_of_training_alone_and_the_same_at_all_steps(name: str) -> None:
    cell, _ = random_cell(name, 1)
    plain = [weight.clone() for weight in cell.recurrent_weights()]
    cell.recurrent_dropout = 0.4
    torch.manual_seed(1)
    for weight, dropped in zip(plain, cell.train().recurrent_weights(), strict=True):
        zero = dropped == 0
        assert 0.1 < float(zero.double().mean()) < 0.7
        torch.testing.assert_close(dropped[~zero], weight[~zero] / 0.6)
    for weight, kept in zip(plain, cell.eval().recurrent_weights(), strict=True):
        assert torch.equal(weight, kept)
