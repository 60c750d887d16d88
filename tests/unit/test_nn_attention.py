"""The attention layers: their equations, their steps, and what PyTorch does with modules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from attention_layers import DTYPES, LAYERS, LENGTHS, MASK, A, B, K, M, Q, S, V, every_layer, made, random, same
from rnnsearch.model import Source
from rnnsearch.model.attention import ATTENTIONS, LARGEST_EXPONENT
from rnnsearch.nn import (
    Attention,
    BahdanauAttention,
    GaussianMixtureAttention,
    LocationAttention,
    MonotonicAttention,
)

Vector = NDArray[np.float64]
compiled_layers = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in ("additive", "cumulative"))) for name in LAYERS]
)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(1)


# Keras and the equations


def test_keras_additive_attention() -> None:
    """Vectors that Keras computed; see `benchmarks/peers/keras/vectors.py`. Keras has neither W_a nor U_a."""
    with np.load(Path(__file__).parent / "keras_additive_attention.npz") as file:
        keras = {name: file[name] for name in file.files}
    query, value, key, wide, lengths, query_mask = (
        torch.from_numpy(keras[name]) for name in ("query", "value", "key", "wide", "lengths", "query_mask")
    )
    units, steps, positions = query.shape[2], query.shape[1], value.shape[1]
    layer = BahdanauAttention(units, units, units, dtype=torch.float64).requires_grad_(False)
    layer.load_state_dict({"W_a": torch.eye(units), "U_a": torch.eye(units), "v_a": torch.from_numpy(keras["scale"])})
    causal = torch.ones(steps, positions, dtype=torch.bool).tril().expand(len(query), -1, -1)
    readable = torch.arange(positions) < lengths.unsqueeze(1)
    calls = {
        "plain": layer(query, value),
        "masked": layer(query, value, lengths=lengths),
        "key": layer(query, key, lengths=lengths, values=wide),
        "query_mask": layer(query, value, query_mask.unsqueeze(2) & readable.unsqueeze(1)),
        "causal": layer(query, value, causal),
    }
    for name, (context, weights) in calls.items():
        # Keras multiplies weights by values in float32.
        np.testing.assert_allclose(context, keras[f"{name}_context"], rtol=0, atol=1e-6, err_msg=name)
        attending = query_mask if name == "query_mask" else torch.ones_like(query_mask)
        assert not weights[~attending].any()  # Keras gives weights to queries that it then ignores
        np.testing.assert_allclose(
            weights[attending], keras[f"{name}_weights"][attending.numpy()], rtol=0, atol=1e-12, err_msg=name
        )
    layer.v_a.fill_(1.0)
    np.testing.assert_allclose(layer(query, value)[0], keras["unscaled_context"], rtol=0, atol=1e-6)


def literal(name: str, p: dict[str, Vector], q: Vector, m: Vector, state: Vector | None) -> tuple[Vector, Vector | None]:
    """α of one step of one sequence and the next state, from the papers' formulas; `state` is None before the first step."""
    positions = range(len(m))
    if name == "mixture":
        a, b, step = np.minimum(p["W_g"] @ q + p["b_g"], LARGEST_EXPONENT).reshape(3, -1)
        kappa = (-1.0 if state is None else state) + np.exp(step)
        phi = np.array([np.sum(np.exp(a - np.exp(b) * (kappa - j) ** 2)) for j in positions])
        return phi / phi.sum(), kappa
    v, bias = p["v_a"], 0.0
    if "g_a" in p:
        v, bias = p["g_a"] * v / np.sqrt(np.sum(v**2)), p["b_a"]
    location = np.zeros((len(m), len(v)))
    if "F" in p:
        seen, (filters, _, width) = np.zeros(len(m)) if state is None else state, p["F"].shape
        for j in positions:
            f = np.zeros(filters)
            for k in range(width):
                if 0 <= j + k - width // 2 < len(m):
                    f += p["F"][:, 0, k] * seen[j + k - width // 2]
            location[j] = p["U_f"] @ f
    e = np.array([v @ np.tanh(p["W_a"] @ q + p["U_a"] @ m[j] + bias + location[j]) for j in positions])
    if name == "monotonic":
        chosen = 1 / (1 + np.exp(-e - p["r"]))
        before = np.eye(len(m))[0] if state is None else state
        return monotonic(chosen, before), monotonic(chosen, before)
    alpha = np.exp(e) / np.exp(e).sum()
    if name == "cumulative":
        return alpha, alpha if state is None else state + alpha
    return alpha, alpha if name == "location" else None


def monotonic(p: Vector, before: Vector) -> Vector:
    """Equation 8 of Raffel et al. 2017, by enumerating where the step began."""
    return np.array([p[j] * sum(before[k] * np.prod(1 - p[k:j]) for k in range(j + 1)) for j in range(len(p))])


@every_layer
@settings(max_examples=5)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=3), seed=st.integers(0, 2**31))
def test_equations(name: str, lengths: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    layer = made(name)
    (memory, values), query = (random(len(lengths), max(lengths), size) for size in (M, V)), random(len(lengths), K, Q)
    parameters = {leaf: parameter.numpy() for leaf, parameter in layer.named_parameters()}
    context, weights = layer(query, memory, lengths=torch.tensor(lengths), values=values)
    for b, length in enumerate(lengths):
        state = None
        for k in range(K):
            alpha, state = literal(name, parameters, query[b, k].numpy(), memory[b, :length].numpy(), state)
            assume(np.isfinite(alpha).all())  # written literally, the equation may divide 0 by 0 far from all positions
            np.testing.assert_allclose(weights[b, k, :length], alpha, rtol=0, atol=1e-12)
            np.testing.assert_allclose(context[b, k], alpha @ values[b, :length].numpy(), rtol=0, atol=1e-12)
        assert (weights[b, :, length:] == 0).all()


@pytest.mark.parametrize(("name", "alignment"), [("additive", "mlp"), ("location", "location"), ("mixture", "monotonic")])
def test_the_translation_models_compute_the_same(name: str, alignment: str) -> None:
    theirs = ATTENTIONS[alignment](Q, M, A).double().requires_grad_(False)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    layer: Attention = {
        "additive": lambda: BahdanauAttention(Q, M, A),
        "location": lambda: LocationAttention(Q, M, A, filters=theirs.F.shape[0], width=theirs.F.shape[2]),
        "mixture": lambda: GaussianMixtureAttention(Q),
    }[name]()
    layer.double().load_state_dict(theirs.state_dict())
    annotations, queries = random(B, S, M), random(B, 3, Q)
    source = Source(annotations, MASK, annotations[:, 0, :Q], theirs.keys(annotations))
    contexts, weights = layer(queries, annotations, MASK)
    carried = theirs.first_memory(source)
    for k in range(3):
        context, alpha, carried = theirs(queries[:, k : k + 1], source, carried)
        same((contexts[:, k : k + 1], weights[:, k : k + 1]), (context, alpha))


# Steps


@every_layer
def test_steps_are_the_call(name: str) -> None:
    layer, query, memory, values = made(name), random(B, K, Q), random(B, S, M), random(B, S, V)
    contexts, weights = layer(query, memory, MASK, values=values)
    prepared = layer.prepare(memory, lengths=LENGTHS, values=values)
    state = layer.first_state(prepared)
    for k in range(K):
        context, alpha, state = layer.step(query[:, k], prepared, state)
        same((context, alpha), (contexts[:, k], weights[:, k]))
    same(layer(query[:, 0], memory, MASK, values=values), (contexts[:, 0], weights[:, 0]))


def test_keys_are_prepared_once() -> None:
    layer, query, memory = made("location"), random(B, K, Q), random(B, S, M)
    same(layer(query, memory, MASK, layer.keys(memory)), layer(query, memory, MASK))
    assert layer.prepare(memory, keys=2 * layer.keys(memory)).keys is not None
    assert not torch.equal(layer(query, memory, keys=2 * layer.keys(memory))[1], layer(query, memory)[1])


def test_location_attention_can_move_on() -> None:
    """With filters that see the position before, each step attends one position further, whatever the memory holds."""
    layer = LocationAttention(Q, M, 1, filters=1, width=3).requires_grad_(False)
    for parameter in layer.parameters():
        parameter.zero_()
    layer.v_a.fill_(50.0)
    layer.U_f.fill_(10.0)
    layer.F[0, 0, 0] = 1.0
    prepared = layer.prepare(torch.zeros(1, S, M))
    state = torch.eye(S)[:1]
    for k in range(1, S):
        _, alpha, state = layer.step(torch.zeros(1, Q), prepared, state)
        assert alpha[0, k] > 0.99


# Monotonic attention


def monotonic_steps(energy_KS: Vector) -> Vector:
    """α (K, S) by the recursion of Raffel et al. 2017 over positions, q_j = (1 − p_{j−1}) q_{j−1} + α_{i−1,j}."""
    before, found = np.eye(energy_KS.shape[1])[0], []
    for e in energy_KS:
        p, q, alpha = 1 / (1 + np.exp(-e)), 0.0, np.zeros(len(e))
        for j in range(len(e)):
            q = q * (1 - p[j - 1] if j else 0.0) + before[j]
            alpha[j] = p[j] * q
        before = alpha
        found.append(alpha)
    return np.array(found)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64], ids=str)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_monotonic_attention_over_long_memories(dtype: torch.dtype, scale: float) -> None:
    """Products of hundreds of probabilities neither vanish nor become NaN; the energies are v_a tanh(m_j) = ± scale."""
    layer = MonotonicAttention(Q, 1, 1, normalize=False, dtype=dtype).requires_grad_(False)
    for parameter, number in {"W_a": 0.0, "U_a": 1.0, "v_a": scale}.items():
        torch.nn.init.constant_(layer.get_parameter(parameter), number)
    # It passes most positions surely, and stops at a few.
    memory = torch.where(torch.rand(1, 500, 1) < 0.02, 10.0, -10.0).to(dtype)
    _, weights = layer(torch.zeros(1, 5, Q, dtype=dtype), memory)
    energies = scale * np.tanh(memory[0, :, 0].double().numpy())
    expected = monotonic_steps(np.tile(energies, (5, 1)))
    np.testing.assert_allclose(weights[0], expected, rtol=0, atol=1e-4 if dtype != torch.float64 else 1e-10)
    assert (weights.sum(-1) <= 1 + 1e-5).all()


def test_hard_monotonic_attention_is_the_limit() -> None:
    """With energies far from zero, expectation and the hard choice agree, also where the end is passed."""
    layer = made("monotonic")
    assert isinstance(layer, MonotonicAttention)
    layer.g_a.fill_(3000.0)
    query, memory = random(B, 20, Q), random(B, 12, M)
    soft = layer(query, memory)[1]
    layer.hard = True
    hard = layer(query, memory)[1]
    assert set(hard.unique().tolist()) <= {0.0, 1.0}
    assert 0 < int(hard.sum()) < B * 20
    torch.testing.assert_close(hard, soft, rtol=0, atol=1e-2)
    stops = [alpha.argmax(-1).tolist() for alpha in hard]
    for alpha, places in zip(hard, stops, strict=True):
        read = [place for place, total in zip(places, alpha.sum(-1).tolist(), strict=True) if total]
        assert read == sorted(read)


def test_noise_is_for_training() -> None:
    layer = MonotonicAttention(Q, M, A, noise=1.0)
    query, memory = torch.randn(B, K, Q), torch.randn(B, S, M)
    assert not torch.equal(layer(query, memory)[1], layer(query, memory)[1])
    layer.eval()
    assert torch.equal(layer(query, memory)[1], layer(query, memory)[1])


# Initial weights


def test_initial_weights() -> None:
    layer = MonotonicAttention(300, 500, 400, score_bias=-4.0)
    assert layer.W_a.var().item() == pytest.approx(2 / 700, rel=0.05)
    assert layer.g_a.item() == pytest.approx(400**-0.5)
    assert layer.r.item() == -4.0
    assert not layer.b_a.any()
    location = LocationAttention(30, 50, 400, filters=16, width=21)
    assert location.U_f.var().item() == pytest.approx(2 / 416, rel=0.1)
    before = location.F.clone()
    location.reset_parameters()
    assert not torch.equal(location.F, before)


@every_layer
def test_every_parameter_learns_from_the_start(name: str) -> None:
    layer = LAYERS[name]()
    context, _ = layer(torch.randn(B, K, Q), torch.randn(B, S, M), MASK)
    (context * torch.randn_like(context)).sum().backward()
    for leaf, parameter in layer.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().max() > 1e-5, leaf


# What PyTorch does with modules


@every_layer
def test_gradients(name: str) -> None:
    """Over three steps, so that what one passes to the next is differentiated too."""
    layer = made(name).requires_grad_(True)
    names = [leaf for leaf, _ in layer.named_parameters()]

    def run(query: Tensor, memory: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = torch.func.functional_call(
            layer, dict(zip(names, parameters, strict=True)), (query, memory), {"lengths": LENGTHS[1:]}
        )
        return found

    inputs = random(2, 3, Q).requires_grad_(), random(2, 4, M).requires_grad_(), *layer.parameters()
    assert torch.autograd.gradcheck(run, inputs)


@every_layer
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_close(name: str, dtype: torch.dtype) -> None:
    layer, query, memory = LAYERS[name](dtype=dtype), random(B, K, Q).to(dtype), random(B, S, M).to(dtype)
    found = layer(query, memory, lengths=LENGTHS)
    expected = layer.float()(query.float(), memory.float(), lengths=LENGTHS)
    assert found[0].dtype == dtype
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one.float(), two, rtol=0, atol=0.06)


@pytest.mark.slow
@compiled_layers
def test_compiled_is_eager(name: str) -> None:
    layer, query, memory = LAYERS[name](), torch.randn(B, 2, Q), torch.randn(B, S, M)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    gradients = []
    for run in (layer, compiled):
        layer.zero_grad()
        context, weights = run(query, memory, torch.ones(B, 2, S).tril(3), lengths=LENGTHS)
        (context.pow(2).sum() + weights.pow(2).sum()).backward()
        gradients.append([context, weights, *(p.grad.clone() for p in layer.parameters() if p.grad is not None)])
    same(tuple(gradients[1]), tuple(gradients[0]), 1e-5)


@pytest.mark.slow
@compiled_layers
def test_an_exported_step_is_the_step(name: str) -> None:
    """For any number of sequences and positions, with the memory and the state as inputs."""
    layer = LAYERS[name]()

    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, query: Tensor, memory: Tensor, lengths: Tensor, state: Tensor | None) -> tuple[Tensor | None, ...]:
            return tuple(self.layer.step(query, self.layer.prepare(memory, lengths=lengths), state))

    def inputs(batch: int, positions: int) -> tuple[Tensor | None, ...]:
        query, memory, lengths = torch.randn(batch, Q), torch.randn(batch, positions, M), torch.arange(batch) + 2
        _, _, state = layer.step(torch.randn(batch, Q), layer.prepare(memory, lengths=lengths))
        return query, memory, lengths, state

    batch, positions = torch.export.Dim("batch", min=2), torch.export.Dim("positions", min=2)
    of_state = None if inputs(3, 5)[3] is None else {0: batch} if name == "mixture" else {0: batch, 1: positions}
    shapes = ({0: batch}, {0: batch, 1: positions}, {0: batch}, of_state)
    exported = torch.export.export(Step(), inputs(3, 6), dynamic_shapes=shapes).module()
    for more in (inputs(3, 6), inputs(5, 9)):
        for one, two in zip(exported(*more), Step()(*more), strict=True):
            if one is not None:
                torch.testing.assert_close(one, two)


@every_layer
def test_state_dict_and_repr(name: str) -> None:
    one, two = LAYERS[name](), LAYERS[name]()
    two.load_state_dict(one.state_dict())
    query, memory = torch.randn(B, K, Q), torch.randn(B, S, M)
    for found, expected in zip(two(query, memory), one(query, memory), strict=True):
        assert torch.equal(found, expected)
    sizes = "query_size=5, memory_size=7, units=8"
    text = {
        "additive": f"BahdanauAttention({sizes})",
        "normalised": f"BahdanauAttention({sizes}, normalize=True)",
        "location": f"LocationAttention({sizes}, filters=3, width=5)",
        "cumulative": f"LocationAttention({sizes}, normalize=True, filters=3, width=5, cumulative=True)",
        "monotonic": f"MonotonicAttention({sizes}, normalize=True, score_bias=-0.5, noise=0.0, hard=False)",
        "mixture": "GaussianMixtureAttention(query_size=5, components=2)",
    }
    assert repr(one) == text[name]
