"""The layers for other people's models."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import Tensor

import rnnsearch
from rnnsearch import RnnsearchError
from rnnsearch.nn import BahdanauAttention, BidirectionalRNN, RecurrentCell

B, S, K, Q, M, A, E, N = 3, 5, 4, 6, 7, 8, 3, 4
CELLS = ("gated", "lstm", "tanh")
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]).bool()
"""One sequence without padding, one with, and one where there is nothing to attend to."""
DEVICES = (
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")),
)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(1)


def random(*shape: int, grad: bool = False) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=grad)


def attention(dtype: torch.dtype = torch.float64, device: str = "cpu") -> BahdanauAttention:
    return BahdanauAttention(Q, M, A, device=device, dtype=dtype)


def test_lazily_in_the_package() -> None:
    program = "import sys, rnnsearch; assert 'nn' in rnnsearch.__all__; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert rnnsearch.nn.BahdanauAttention is BahdanauAttention


# Attention


def test_attention_is_the_equation() -> None:
    layer, query, memory = attention(), random(B, Q), random(B, S, M)
    context, weights = layer(query, memory, MASK)
    W_a, U_a, v_a = (p.detach().numpy() for p in (layer.W_a, layer.U_a, layer.v_a))
    for b in range(B - 1):
        length = int(MASK[b].sum())
        e = np.array([v_a @ np.tanh(W_a @ query[b].numpy() + U_a @ memory[b, j].numpy()) for j in range(length)])
        alpha = np.exp(e) / np.exp(e).sum()
        np.testing.assert_allclose(weights[b, :length].detach(), alpha, rtol=0, atol=1e-14)
        np.testing.assert_allclose(context[b].detach(), alpha @ memory[b, :length].numpy(), rtol=0, atol=1e-14)
    assert (weights[~MASK] == 0).all()


def test_attention_without_a_mask_attends_everywhere() -> None:
    layer, query, memory = attention(), random(B, Q), random(B, S, M)
    without = layer(query, memory)
    with_ones = layer(query, memory, torch.ones(B, S, dtype=torch.bool))
    for one, two in zip(without, with_ones, strict=True):
        assert torch.equal(one, two)
    torch.testing.assert_close(without[1].sum(-1), torch.ones(B).double())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nothing_to_attend_to_gives_zeros(dtype: torch.dtype, device: str) -> None:
    layer = attention(dtype, device)
    query = torch.randn(B, K, Q, device=device, dtype=dtype, requires_grad=True)
    memory = torch.randn(B, S, M, device=device, dtype=dtype, requires_grad=True)
    context, weights = layer(query, memory, MASK.to(device))
    assert context.dtype == weights.dtype == dtype
    assert (context[2] == 0).all()
    assert (weights[2] == 0).all()
    torch.testing.assert_close(weights[:2].sum(-1), torch.ones_like(weights[:2, :, 0]))
    ((context * torch.randn_like(context)).sum() + (weights * torch.randn_like(weights)).sum()).backward()
    for tensor in (query, memory, *layer.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
        assert (tensor.grad != 0).any()
    assert (query.grad[2] == 0).all()
    assert (memory.grad[2] == 0).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_close(dtype: torch.dtype, device: str) -> None:
    layer, query, memory = attention(dtype, device), random(B, Q).to(device, dtype), random(B, S, M).to(device, dtype)
    found = layer(query, memory, MASK.to(device))
    expected = layer.float()(query.float(), memory.float(), MASK.to(device))
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), two, rtol=0, atol=0.02)


def test_several_queries_are_each_a_query() -> None:
    layer, query, memory = attention(), random(B, K, Q), random(B, S, M)
    contexts, weights = layer(query, memory, MASK)
    assert contexts.shape == (B, K, M)
    for k in range(K):
        context, weight = layer(query[:, k], memory, MASK)
        torch.testing.assert_close(contexts[:, k], context)
        torch.testing.assert_close(weights[:, k], weight)


def test_keys_can_be_reused() -> None:
    layer, query, memory = attention(), random(B, Q), random(B, S, M)
    keys = layer.keys(memory)
    for one, two in zip(layer(query, memory, MASK, keys), layer(query, memory, MASK), strict=True):
        assert torch.equal(one, two)
    assert not torch.equal(layer(query, memory, MASK, 2 * keys)[1], layer(query, memory, MASK, keys)[1])


def test_attention_does_not_see_padding() -> None:
    layer, query, memory = attention(), random(B, Q), random(B, S, M)
    changed = memory.masked_fill(~MASK.unsqueeze(2), 1e6)
    for one, two in zip(layer(query, memory, MASK), layer(query, changed, MASK), strict=True):
        assert torch.equal(one, two)


@pytest.mark.slow
def test_gradients_of_attention() -> None:
    layer = attention()
    names = [name for name, _ in layer.named_parameters()]

    def run(query: Tensor, memory: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = torch.func.functional_call(
            layer, dict(zip(names, parameters, strict=True)), (query, memory, MASK)
        )
        return found

    inputs = random(B, K, Q, grad=True), random(B, S, M, grad=True), *layer.parameters()
    assert torch.autograd.gradcheck(run, inputs)
    assert torch.autograd.gradgradcheck(run, inputs)


def test_attention_learns_from_its_first_step() -> None:
    """To find the vector that resembles the query, among vectors that resemble nothing."""
    layer = BahdanauAttention(M, M, 16)
    memory = torch.randn(32, S, M)
    query, right = memory[:, 2], torch.full((32,), 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    losses = []
    for _ in range(40):
        loss = torch.nn.functional.nll_loss(layer(query, memory)[1].log(), right)
        optimizer.zero_grad()
        loss.backward()
        if not losses:
            assert all(p.grad is not None and p.grad.abs().max() > 1e-3 for p in layer.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


def test_initial_weights_have_their_variance() -> None:
    layer = BahdanauAttention(300, 500, 400)
    assert layer.W_a.var().item() == pytest.approx(2 / 700, rel=0.05)
    assert layer.U_a.var().item() == pytest.approx(2 / 900, rel=0.05)
    assert layer.v_a.var().item() == pytest.approx(1 / 400, rel=0.2)
    before = layer.W_a.clone()
    layer.reset_parameters()
    assert not torch.equal(layer.W_a, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((random(B, Q + 1), random(B, S, M)), rf"query has the shape \({B}, {Q + 1}\); expected \({B}, {Q}\)"),
        ((random(2, K, Q), random(B, S, M)), rf"query .* expected \({B}, any, {Q}\)"),
        ((random(B, Q), random(B, S)), rf"memory has the shape \({B}, {S}\); expected \(any, any, {M}\)"),
        ((random(B, Q), random(B, S, M), MASK[:1]), "mask has the shape"),
        ((random(B, Q), random(B, S, M), MASK[None]), r"mask has the shape \(1, 3, 5\); expected \(3, any, 5\)"),
        ((random(B, Q), random(B, S, M), MASK, random(B, S, A + 1)), "keys has the shape"),
    ],
)
def test_wrong_shapes_are_named(arguments: tuple[Tensor, ...], message: str) -> None:
    with pytest.raises(RnnsearchError, match=message):
        attention()(*arguments)


# Cells and the bidirectional RNN


@pytest.mark.parametrize("cell", CELLS)
def test_the_rnn_is_the_cell_in_both_directions(cell: str) -> None:
    rnn, x = BidirectionalRNN(E, N, cell, dtype=torch.float64), random(B, S, E)
    step = RecurrentCell(E, N, cell, dtype=torch.float64)
    annotations = rnn(x, MASK)
    assert annotations.shape == (B, S, 2 * N)
    assert (annotations[~MASK] == 0).all()
    for b in range(B):
        positions = range(int(MASK[b].sum()))
        for weights, order, half in (
            (rnn.forward_cell, positions, slice(N)),
            (rnn.backward_cell, reversed(positions), slice(N, None)),
        ):
            step.cell.load_state_dict(weights.state_dict())
            state = None
            for j in order:
                state = step(x[b, j], state)
                torch.testing.assert_close(annotations[b, j, half], step.hidden(state))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_rnn_does_not_see_padding(cell: str, dtype: torch.dtype, device: str) -> None:
    rnn = BidirectionalRNN(E, N, cell, device=device, dtype=dtype)
    x, mask = random(B, S, E).to(device, dtype), MASK.to(device)
    padded = x.masked_fill(~mask.unsqueeze(2), torch.nan).requires_grad_()
    annotations = rnn(padded, mask)
    assert annotations.dtype == dtype
    assert (annotations[2] == 0).all()
    tolerance = {"rtol": 0, "atol": 1e-6 if dtype in (torch.float32, torch.float64) else 0.01}
    torch.testing.assert_close(annotations[1:2, :2], rnn(x[1:2, :2]), **tolerance)
    left = torch.cat([padded[1:2, 2:], padded[1:2, :2]], 1)
    torch.testing.assert_close(rnn(left, mask[1:2].flip(1))[:, -2:], annotations[1:2, :2], **tolerance)
    annotations.float().pow(2).sum().backward()
    assert padded.grad is not None
    assert (padded.grad[~mask] == 0).all()
    assert padded.grad[mask].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_fast_recurrence_is_the_plain_one(dtype: torch.dtype) -> None:
    rnn = BidirectionalRNN(E, N, dtype=dtype)
    # Sequences in no order, more than a step computes at a time.
    mask = torch.arange(9) < torch.randint(0, 10, (40, 1))
    found = []
    for recurrences in (rnn.recurrences, None):
        rnn.recurrences = recurrences
        rnn.zero_grad()
        x = torch.randn(40, 9, E, dtype=dtype, generator=torch.Generator().manual_seed(2)).requires_grad_()
        annotations = rnn(x, mask)
        annotations.pow(2).sum().backward()
        found.append([annotations.detach(), x.grad, *(p.grad.clone() for p in rnn.parameters() if p.grad is not None)])
    for fast, plain in zip(*found, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-4 if dtype == torch.float32 else 1e-10)


def test_second_derivatives_of_the_rnn() -> None:
    rnn, x = BidirectionalRNN(2, 2, dtype=torch.float64), random(1, 3, 2, grad=True)
    assert torch.autograd.gradcheck(rnn, (x,))
    (first,) = torch.autograd.grad(rnn(x).pow(2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()
    rnn.recurrences = None
    assert torch.autograd.gradgradcheck(rnn, (x,))


def test_cells_work_functionally() -> None:
    """With parameters that are not the module's own, as for `torch.func` and parametrisations."""
    cell = RecurrentCell(E, N, dtype=torch.float64)
    doubled = {name: 2 * parameter.detach() for name, parameter in cell.named_parameters()}
    x = random(B, E)
    found = torch.func.functional_call(cell, doubled, (x,))
    cell.load_state_dict(doubled)
    assert torch.equal(found, cell(x))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cells_start_orthogonal_and_open(cell: str, dtype: torch.dtype) -> None:
    layer = RecurrentCell(E, N, cell, dtype=dtype)
    parameters = dict(layer.cell.named_parameters())
    for name, parameter in parameters.items():
        assert parameter.dtype == dtype
        if name.startswith("U"):
            torch.testing.assert_close((parameter @ parameter.T).float(), torch.eye(N), rtol=0, atol=0.02)
        elif name.startswith("W"):
            assert 0 < parameter.abs().max() <= (6 / (E + N)) ** 0.5 + 0.01
        else:
            assert (parameter == (1 if name == "b_f" else 0)).all()
    assert layer.state_size == (2 * N if cell == "lstm" else N)


def test_empty_batches_and_sequences() -> None:
    rnn = BidirectionalRNN(E, N)
    assert rnn(torch.zeros(0, S, E)).shape == (0, S, 2 * N)
    assert rnn(torch.zeros(B, 0, E)).shape == (B, 0, 2 * N)
    context, weights = attention(torch.float32)(torch.zeros(B, Q), torch.zeros(B, 0, M))
    assert torch.equal(context, torch.zeros(B, M))
    assert weights.shape == (B, 0)


@pytest.mark.parametrize("layer", [BidirectionalRNN, RecurrentCell])
def test_a_wrong_cell_is_named(layer: type[torch.nn.Module]) -> None:
    with pytest.raises(RnnsearchError, match="there is no cell 'gru'; use one of gated, lstm, tanh"):
        layer(E, N, "gru")
    with pytest.raises(RnnsearchError, match="x has the shape"):
        layer(E, N)(torch.zeros(B, S, E + 1))


# What PyTorch does with modules

CASES = [
    pytest.param(lambda: BahdanauAttention(Q, M, A), (torch.randn(B, Q), torch.randn(B, S, M), MASK), id="attention"),
    pytest.param(lambda: BahdanauAttention(Q, M, A), (torch.randn(B, K, Q), torch.randn(B, S, M)), id="attention, K"),
    pytest.param(lambda: RecurrentCell(E, N, "lstm"), (torch.randn(B, E),), id="cell"),
    *(
        pytest.param(
            lambda c=c: BidirectionalRNN(E, N, c),
            (torch.randn(B, 3, E), MASK[:, :3]),
            id=f"rnn, {c}",
            marks=pytest.mark.nightly,
        )
        for c in ("gated", "lstm")
    ),
]


def compare(found: object, expected: object) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "inputs"), CASES)
def test_compiled_is_eager(make, inputs) -> None:  # type: ignore[no-untyped-def]
    layer = make()
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    compare(compiled(*inputs), layer(*inputs))
    for run in (layer, compiled):
        layer.zero_grad()
        found = run(*inputs)
        (found[0] if isinstance(found, tuple) else found).pow(2).sum().backward()
        gradients = [p.grad.clone() for p in layer.parameters() if p.grad is not None]
        assert gradients
        if run is layer:
            expected = gradients
    compare(gradients, expected)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "inputs"), CASES)
def test_exported_is_eager(make, inputs) -> None:  # type: ignore[no-untyped-def]
    """And takes any number of sequences; the attention, any number of positions."""
    layer = make()
    is_attention = isinstance(layer, BahdanauAttention)
    batch, positions = torch.export.Dim("batch", min=2), torch.export.Dim("positions", min=2)
    shapes = tuple({0: batch, 1: positions} if is_attention and i > 0 else {0: batch} for i in range(len(inputs)))
    exported = torch.export.export(layer, inputs, dynamic_shapes=shapes).module()
    compare(exported(*inputs), layer(*inputs))
    more = tuple(torch.cat([x, x]) for x in inputs)
    if is_attention:
        more = (more[0], *(torch.cat([x, x], 1) for x in more[1:]))
    compare(exported(*more), layer(*more))


@pytest.mark.parametrize(("make", "inputs"), CASES)
def test_state_dict_round_trip(make, inputs) -> None:  # type: ignore[no-untyped-def]
    one, two = make(), make()
    two.load_state_dict(one.state_dict())
    for found, expected in zip(two(*inputs), one(*inputs), strict=True):
        assert torch.equal(found, expected)


def test_repr_gives_the_sizes() -> None:
    assert repr(BahdanauAttention(1, 2, 3)) == "BahdanauAttention(query_size=1, memory_size=2, units=3)"
    assert "input_size=1, hidden_size=2" in repr(BidirectionalRNN(1, 2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize(("make", "inputs"), CASES)
def test_on_a_gpu(make, inputs) -> None:  # type: ignore[no-untyped-def]
    layer = make()
    expected = layer(*inputs)
    found = layer.cuda()(*(x.cuda() for x in inputs))
    expected, found = (x if isinstance(x, tuple) else (x,) for x in (expected, found))
    compare(tuple(x.cpu() for x in found), expected)
