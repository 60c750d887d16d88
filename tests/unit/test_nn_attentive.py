"""The recurrent network that attends, and the first state from a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rnnsearch import RnnsearchError
from rnnsearch.config import ModelConfig
from rnnsearch.model import Source
from rnnsearch.model.decoder import Decoder
from rnnsearch.nn import (
    Attention,
    AttentiveRNN,
    AttentiveState,
    BahdanauAttention,
    GaussianMixtureAttention,
    InitialState,
    LocationAttention,
    Memory,
    MonotonicAttention,
    RecurrentCell,
)
from rnnsearch.nn.attentive import ORDERS

B, S, T, E, N, M, A, O = 3, 5, 4, 2, 6, 3, 7, 4  # noqa: E741
LENGTHS = torch.tensor([5, 2, 3])
CELLS: dict[str, Callable[..., nn.Module]] = {
    "GRUCell": nn.GRUCell,
    "LSTMCell": nn.LSTMCell,
    "RNNCell": nn.RNNCell,
    "gated": RecurrentCell,
    "lstm": lambda *sizes, **more: RecurrentCell(*sizes, "lstm", **more),
}
every_order = pytest.mark.parametrize("order", ORDERS)
every_cell = pytest.mark.parametrize("cell", CELLS)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(1)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def network(cell: str, order: str, layer: bool = False, attention: str = "location", **more: Any) -> AttentiveRNN:
    """In float64, unless told otherwise; with an attention layer, an update reads its output."""
    more = {"dtype": torch.float64, **more}
    reads = O if layer and order != "look-update-generate" else M
    attentions: dict[str, Callable[[], Attention]] = {
        "additive": lambda: BahdanauAttention(N, M, A, **more),
        "location": lambda: LocationAttention(N, M, A, filters=2, width=3, **more),
        "monotonic": lambda: MonotonicAttention(N, M, A, **more),
        "mixture": lambda: GaussianMixtureAttention(N, 2, **more),
    }
    attention_layer = nn.Linear(N + M, O, bias=False, **more) if layer else None
    cell_of_size = CELLS[cell](E + reads, N, **more)
    return AttentiveRNN(E, cell_of_size, attentions[attention](), order=order, attention_layer=attention_layer)


def same(found: tuple[Tensor, ...], expected: tuple[Tensor, ...], tolerance: float = 1e-12) -> None:
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=tolerance)


@every_order
@every_cell
@pytest.mark.parametrize("layer", [False, True], ids=["", "attention layer"])
def test_the_three_actions_in_their_order(cell: str, order: str, layer: bool) -> None:
    """The loop, written out."""
    rnn = network(cell, order, layer).requires_grad_(False)
    memory = rnn.attention.prepare(random(B, S, M), lengths=LENGTHS)
    x = random(B, T, E)
    first = random(B, N)
    outputs, weights, last = rnn(x, memory, rnn.first_state(memory, first))

    size = 2 * N if cell == "lstm" else N
    state: Any = nn.functional.pad(first, (0, size - N))
    if cell == "LSTMCell":
        state = first, torch.zeros_like(first)
    read, carried = torch.zeros(B, rnn.read_size, dtype=torch.float64), None
    for t in range(T):
        for action in order.split("-"):
            hidden = state[0] if cell == "LSTMCell" else state[:, :N]
            if action == "update":
                state = rnn.cell(torch.cat([x[:, t], read], -1), state)
            elif action == "look":
                read, alpha, carried = rnn.attention.step(hidden, memory, carried)
            else:
                output = torch.cat([hidden, read], -1)
                if rnn.attention_layer is not None:
                    output = rnn.attention_layer(output)
                    read = read if order == "look-update-generate" else output
        same((outputs[:, t], weights[:, t]), (output, alpha))
    same((rnn.hidden(last), last.read), (state[0] if cell == "LSTMCell" else state[:, :N], read))


@every_order
def test_the_decoder_of_the_paper(order: str) -> None:
    """States, contexts and weights are those of the translation models, whose cell has a matrix C for the context."""
    config = ModelConfig(embedding_size=E, hidden_size=N, alignment_size=A, maxout_size=2)
    decoder = Decoder(config, 3, 2 * N).double().requires_grad_(False)
    for parameter in decoder.parameters():
        nn.init.normal_(parameter)
    cell = RecurrentCell(E + 2 * N, N, dtype=torch.float64)
    theirs = dict(decoder.cell.named_parameters())
    for name, parameter in cell.cell.named_parameters():
        if name.startswith("W"):
            parameter.data = torch.cat([theirs[name], theirs[name.replace("W", "C")]], 1)
        else:
            parameter.data = theirs[name]
    attention = BahdanauAttention(N, 2 * N, A, dtype=torch.float64)
    attention.load_state_dict(decoder.alignment.state_dict())
    rnn = AttentiveRNN(E, cell, attention, order=order).requires_grad_(False)
    initial = InitialState(N, N, dtype=torch.float64).requires_grad_(False)
    initial.load_state_dict({"W_s": decoder.W_s, "b_s": decoder.b_s})

    annotations, x, mask = random(B, S, 2 * N), random(B, T, E), torch.arange(S) < LENGTHS.unsqueeze(1)
    source = Source(annotations, mask, annotations[:, 0, N:], decoder.alignment.keys(annotations))
    expected = decoder.unroll(decoder.cell.project_input(x.transpose(0, 1)), source)
    memory = attention.prepare(annotations, lengths=LENGTHS)
    state = rnn.first_state(memory, initial(annotations[..., N:], lengths=LENGTHS))
    if order == "update-look-generate":  # the first look is one update later
        weights, state = rnn.look(memory, state)
        same((weights,), (expected.alpha_TBS[0],))
        outputs, weights, _ = rnn(x[:, :-1], memory, state)
        states, contexts, alphas = expected.states_TBN[1:-1], expected.contexts_TBC[1:], expected.alpha_TBS[1:]
    else:
        outputs, weights, _ = rnn(x, memory, state)
        states = expected.states_TBN[:-1] if order == "look-generate-update" else expected.states_TBN[1:]
        contexts, alphas = expected.contexts_TBC, expected.alpha_TBS
    same((outputs.transpose(0, 1), weights.transpose(0, 1)), (torch.cat([states, contexts], -1), alphas))


def test_what_attention_wrapper_computed() -> None:
    """One step of tf.contrib's AttentionWrapper with a GRU and an attention layer, from its documentation, in NumPy."""
    rnn = network("GRUCell", "update-look-generate", layer=True, attention="additive").requires_grad_(False)
    p = {name: parameter.numpy() for name, parameter in rnn.named_parameters()}
    m, x, h = random(S, M).numpy(), random(2, E).numpy(), np.zeros(N)
    attended, found, sigma = np.zeros(O), [], lambda z: 1 / (1 + np.exp(-z))
    for t in range(2):
        inputs = np.concatenate([x[t], attended])
        r_x, z_x, n_x = (p["cell.weight_ih"] @ inputs + p["cell.bias_ih"]).reshape(3, N)
        r_h, z_h, n_h = (p["cell.weight_hh"] @ h + p["cell.bias_hh"]).reshape(3, N)
        z = sigma(z_x + z_h)
        h = (1 - z) * np.tanh(n_x + sigma(r_x + r_h) * n_h) + z * h
        e = [p["attention.v_a"] @ np.tanh(p["attention.W_a"] @ h + p["attention.U_a"] @ m_j) for m_j in m]
        context = np.exp(e) / np.exp(e).sum() @ m
        attended = p["attention_layer.weight"] @ np.concatenate([h, context])
        found.append(attended)
    outputs, _, _ = rnn(torch.from_numpy(x)[None], rnn.attention.prepare(torch.from_numpy(m)[None]))
    np.testing.assert_allclose(outputs[0], found, rtol=0, atol=1e-12)


@every_order
@every_cell
def test_steps_are_the_call_and_can_go_on(cell: str, order: str) -> None:
    rnn = network(cell, order, layer=True).requires_grad_(False)
    memory, x = rnn.attention.prepare(random(B, S, M), lengths=LENGTHS), random(B, T, E)
    outputs, weights, _ = rnn(x, memory)
    state = rnn.first_state(memory)
    for t in range(2):
        output, alpha, state = rnn.step(x[:, t], memory, state)
        same((output, alpha), (outputs[:, t], weights[:, t]))
    rest, alphas, _ = rnn(x[:, 2:], memory, state)
    same((rest, alphas), (outputs[:, 2:], weights[:, 2:]))


def test_an_output_before_its_input() -> None:
    """In look-generate-update, output t does not depend on input t, so a decoder can choose it from the output."""
    rnn = network("gated", "look-generate-update").requires_grad_(False)
    memory, x = rnn.attention.prepare(random(B, S, M)), random(B, T, E)
    outputs, _, _ = rnn(x, memory)
    state = rnn.first_state(memory)
    for t in range(T):
        _, state = rnn.look(memory, state)
        output, state = rnn.generate(state)
        same((output,), (outputs[:, t],))
        state = rnn.update(x[:, t], state)


def test_a_mask_for_each_step() -> None:
    rnn, mask = network("GRUCell", "look-update-generate").requires_grad_(False), torch.rand(B, T, S) < 0.5
    memory = rnn.attention.prepare(random(B, S, M), mask)
    _, weights, _ = rnn(random(B, T, E), memory)
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all()
    with pytest.raises(RnnsearchError, match="mask is for 4 queries of each sequence, but there are 3"):
        rnn(random(B, T - 1, E), memory)


def test_any_cell_and_any_attention() -> None:
    """A stack of two cells, and the bilinear attention of Luong et al. 2015."""

    class Stack(nn.Module):
        input_size, hidden_size = E + M, N

        def __init__(self) -> None:
            super().__init__()
            self.below, self.above = nn.GRUCell(E + M, N), nn.GRUCell(N, N)

        def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            below = self.below(x, state[1])
            return self.above(below, state[0]), below

    class Bilinear(Attention):
        def __init__(self) -> None:
            super().__init__(N, M)
            self.W_a = nn.Parameter(torch.randn(N, M))

        def keys(self, memory: Tensor) -> Tensor:
            return memory @ self.W_a.T

        def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor | None]:
            assert memory.keys is not None
            return memory.softmax(query_BKQ @ memory.keys.transpose(1, 2)), None

    stack, attention = Stack(), Bilinear()
    rnn = AttentiveRNN(E, stack, attention)
    memory, x, zero = attention.prepare(torch.randn(B, S, M), lengths=LENGTHS), torch.randn(B, 1, E), torch.zeros(B, N)
    outputs, weights, state = rnn(x, memory, rnn.first_state(memory, (zero, zero)))
    assert isinstance(state, AttentiveState)
    same((outputs[:, 0, :N],), (state.cell[0],))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, 1))


# The first state


def test_the_first_state_from_the_memory() -> None:
    memory, mask = random(B, S, M), torch.tensor([[1, 1, 1, 1, 1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]])
    for summary in ("first", "mean"):
        initial = InitialState(M, N, summary, dtype=torch.float64).requires_grad_(False)
        nn.init.normal_(initial.b_s)
        first = summary == "first"
        read = [memory[0, 0], memory[1, 2]] if first else [memory[0].mean(0), memory[1, 2:4].mean(0)]
        expected = torch.stack([torch.tanh(initial.W_s @ m + initial.b_s) for m in [*read, memory.new_zeros(M)]])
        changed = memory.masked_fill(~mask.bool().unsqueeze(2), torch.nan)
        same((initial(changed, mask), initial(changed, mask.bool())), (expected, expected))
        same((initial(memory, lengths=LENGTHS),), (initial(memory, torch.arange(S) < LENGTHS.unsqueeze(1)),))
        assert repr(initial) == f"InitialState(memory_size={M}, hidden_size={N}, summary={summary})"
        assert torch.autograd.gradcheck(initial, (memory.clone().requires_grad_(), mask))


# Errors and what PyTorch does with modules


def test_errors_name_what_is_wrong() -> None:
    rnn = network("GRUCell", "look-update-generate")
    memory = rnn.attention.prepare(random(B, S, M))
    attention = BahdanauAttention(N, M, A)
    for message, call in {
        "there is no order 'update'; use one of look-update-generate, look-gen": lambda: AttentiveRNN(
            E, nn.GRUCell(E + M, N), attention, order="update"
        ),
        "the attention has the query_size 6, and the cell the hidden_size 5": lambda: AttentiveRNN(
            E, nn.GRUCell(E + M, 5), attention
        ),
        "the cell has the input_size 1, less than the 2 of an input": lambda: AttentiveRNN(E, nn.GRUCell(1, N), attention),
        "Linear has no hidden_size; a cell needs": lambda: AttentiveRNN(E, nn.Linear(E, N), attention),
        r"x has the shape \(3, 4, 3\); expected \(3, any, 2\)": lambda: rnn(random(B, T, E + 1), memory),
        "x has no steps": lambda: rnn(random(B, 0, E), memory),
        r"what an update reads beside x has the shape \(3, 9\); expected \(3, 3\)": lambda: rnn(
            random(B, T, E), rnn.attention.prepare(random(B, S, M), values=random(B, S, 9))
        ),
        "there is no summary 'last'; use first or mean": lambda: InitialState(M, N, "last"),
        "x is a PackedSequence": lambda: rnn(nn.utils.rnn.pack_sequence([random(T, E)] * B), memory),
        "memory has the type Tensor; expected what `attention.prepare`": lambda: rnn(random(B, T, E), random(B, S, M)),
    }.items():
        with pytest.raises(RnnsearchError, match=message):
            call()


@every_order
@pytest.mark.parametrize("attention", ["additive", "location", "monotonic", "mixture"])
def test_gradients(order: str, attention: str) -> None:
    rnn = network("gated", order, layer=True, attention=attention)
    initial = InitialState(M, N, dtype=torch.float64)

    def run(x: Tensor, annotations: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
        memory = rnn.attention.prepare(annotations, lengths=LENGTHS[1:])
        outputs, weights, _ = rnn(x, memory, rnn.first_state(memory, initial(annotations, lengths=LENGTHS[1:])))
        return outputs, weights

    inputs = random(2, 2, E).requires_grad_(), random(2, 3, M).requires_grad_(), *rnn.parameters(), *initial.parameters()
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


class Decoding(nn.Module):
    """A network, from the annotations on."""

    def __init__(self, rnn: AttentiveRNN) -> None:
        super().__init__()
        self.rnn = rnn

    def forward(self, x: Tensor, annotations: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        outputs, weights, _ = self.rnn(x, self.rnn.attention.prepare(annotations, lengths=lengths))
        return outputs, weights


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "order"), [("gated", ORDERS[0]), ("LSTMCell", ORDERS[2])])
def test_compiled_is_eager(cell: str, order: str) -> None:
    decoding = Decoding(network(cell, order, layer=True, dtype=torch.float32))
    inputs = torch.randn(B, 2, E), torch.randn(B, S, M), LENGTHS
    compiled = torch.compile(decoding, backend="aot_eager", fullgraph=True)
    gradients = []
    for run in (decoding, compiled):
        decoding.zero_grad()
        outputs, weights = run(*inputs)
        outputs.pow(2).sum().backward()
        gradients.append((outputs, weights, *(p.grad.clone() for p in decoding.parameters() if p.grad is not None)))
    same(gradients[1], gradients[0], 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["location", "mixture"])
def test_an_exported_step(attention: str) -> None:
    """The step of a decoder, with its memory and its state as inputs, for any number of sequences and positions."""
    rnn = network("LSTMCell", "update-look-generate", layer=True, attention=attention, dtype=torch.float32)

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = rnn

        def forward(self, x: Tensor, memory: Memory, state: AttentiveState) -> tuple[Tensor, Tensor, AttentiveState]:
            return self.rnn.step(x, memory, state)

    def inputs(batch: int, positions: int) -> tuple[Tensor, Memory, AttentiveState]:
        memory = rnn.attention.prepare(torch.randn(batch, positions, M), lengths=torch.arange(batch) + 1)
        _, _, state = rnn.step(torch.randn(batch, E), memory, rnn.first_state(memory))
        return torch.randn(batch, E), memory, state

    def dynamic(tensor: Tensor, positions: tuple[int, ...] = ()) -> dict[int, Any]:
        return {0: torch.export.Dim.AUTO, **dict.fromkeys(positions, torch.export.Dim.AUTO)}

    x, memory, state = inputs(3, 6)
    of_attention = None if state.attention is None else dynamic(state.attention, () if attention == "mixture" else (1,))
    shapes = (
        dynamic(x),
        Memory(dynamic(x, (1,)), None if memory.keys is None else dynamic(x, (1,)), dynamic(x, (2,)), None),
        AttentiveState((dynamic(x), dynamic(x)), dynamic(x), of_attention),
    )
    exported = torch.export.export(Step(), (x, memory, state), dynamic_shapes=shapes).module()
    for more in ((x, memory, state), inputs(5, 9)):
        found, expected = exported(*more), Step()(*more)
        same((found[0], found[1], found[2].cell[1]), (expected[0], expected[1], expected[2].cell[1]), 1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("attention", ["additive", "location", "monotonic", "mixture"])
def test_half_precision_is_close(attention: str, dtype: torch.dtype) -> None:
    decoding = Decoding(network("gated", "look-update-generate", attention=attention, dtype=dtype))
    x, annotations = torch.randn(B, T, E).to(dtype), torch.randn(B, S, M).to(dtype)
    found = decoding(x, annotations, LENGTHS)
    assert found[0].dtype == dtype
    found[0].float().pow(2).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in decoding.parameters())
    expected = decoding.float()(x.float(), annotations.float(), LENGTHS)
    same(tuple(one.float() for one in found), expected, 0.06)


@pytest.mark.parametrize("attention", ["additive", "location", "monotonic", "mixture"])
def test_autocast_is_close(attention: str) -> None:
    decoding = Decoding(network("LSTMCell", "update-look-generate", layer=True, attention=attention, dtype=torch.float32))
    inputs = torch.randn(B, T, E), torch.randn(B, S, M), LENGTHS
    with torch.autocast("cpu", torch.bfloat16):
        outputs, _ = decoding(*inputs)
    outputs.float().pow(2).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in decoding.parameters())
    torch.testing.assert_close(outputs.float(), decoding(*inputs)[0], rtol=0, atol=0.05)
