"""The alignment models: their equations, their gradients, and what neither padding nor stepping may change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.config import ModelConfig
from rnnsearch.model import RNNsearch, Source
from rnnsearch.model.attention import ATTENTIONS, LARGEST_EXPONENT, Attention, GaussianMixtureAttention, LocationAttention
from rnnsearch.model.cells import CELLS
from rnnsearch.ops import CpuRecurrences, Recurrences, precision_of
from rnnsearch.plugins import OWN
from toy import DEEPER, ORDERS, batch_of, models_more, random_model, random_pairs

VX, VY = 8, 7
N, A = 4, 5
Vector = NDArray[np.float64]
seeds = st.integers(0, 2**31)
ALIGNING = [name for name, attention in ATTENTIONS.items() if attention.aligns]
KINDS = [*((name, "bidirectional") for name in ALIGNING), *((name, "forward") for name in ATTENTIONS)]
"""Every alignment model with every encoder that it can have."""
every_kind = pytest.mark.parametrize(("alignment", "encoder"), KINDS)
every_attention = pytest.mark.parametrize("name", ALIGNING)


def config_of(cell: str, alignment: str, order: str, encoder: str, **more: Any) -> ModelConfig:
    sizes = {"embedding_size": 3, "hidden_size": N, "alignment_size": A, "maxout_size": 2}
    return ModelConfig(**sizes, cell=cell, alignment=alignment, decoder_order=order, encoder=encoder, **more)  # type: ignore[arg-type]


def random_attention(name: str, context_size: int, seed: int) -> Attention:
    attention = ATTENTIONS[name](N, context_size, A).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.normal_(0, 0.5, generator=generator)
    return attention


def random_source(attention: Attention, lengths: list[int], context_size: int, seed: int) -> Source:
    """Annotations of such sentences; what stands past their ends is large, and must not matter."""
    generator = torch.Generator().manual_seed(seed + 1)
    annotations = torch.randn(len(lengths), max(lengths), context_size, dtype=torch.float64, generator=generator)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    annotations[~mask] = 40.0
    source = Source(annotations, mask, annotations[:, 0, :N])
    source.keys_BSA = attention.keys(annotations)
    return source


def literal(
    name: str, p: dict[str, Vector], s: Vector, h: Vector, memory: Vector | None
) -> tuple[Vector, Vector, Vector | None]:
    """One step of one hypothesis of one sentence: α, c, and what the next step is given (None before the first)."""
    positions = range(len(h))
    if name == "mlp":
        e = [p["v_a"] @ np.tanh(p["W_a"] @ s + p["U_a"] @ h[j]) for j in positions]
    elif name == "dot":
        e = [sum(s @ h[j][i : i + len(s)] for i in range(0, len(h[j]), len(s))) for j in positions]
    elif name == "bilinear":
        e = [s @ p["W_a"] @ h[j] for j in positions]
    elif name == "location":
        last = np.zeros(len(h)) if memory is None else memory
        filters, _, width = p["F"].shape
        e = []
        for j in positions:
            f = np.zeros(filters)
            for k in range(width):
                if 0 <= j + k - width // 2 < len(h):
                    f += p["F"][:, 0, k] * last[j + k - width // 2]
            e.append(p["v_a"] @ np.tanh(p["W_a"] @ s + p["U_a"] @ h[j] + p["U_f"] @ f))
    else:
        assert name == "monotonic"
        a, b, step = np.minimum(p["W_g"] @ s + p["b_g"], LARGEST_EXPONENT).reshape(3, -1)
        kappa = (np.full(len(step), -1.0) if memory is None else memory) + np.exp(step)
        phi = np.array([np.sum(np.exp(a - np.exp(b) * (kappa - j) ** 2)) for j in positions])
        return phi / phi.sum(), phi @ h / phi.sum(), kappa
    alpha = np.exp(e) / np.exp(e).sum()
    return alpha, alpha @ h, alpha if name == "location" else None


@every_attention
@pytest.mark.parametrize("context_size", [N, 2 * N])
@settings(max_examples=5)
@given(lengths=st.lists(st.integers(1, 14), min_size=1, max_size=3), seed=seeds)
def test_equations(name: str, context_size: int, lengths: list[int], seed: int) -> None:
    """Three steps, the first with one hypothesis of each sentence, the others with two."""
    attention = random_attention(name, context_size, seed).requires_grad_(False)
    source = random_source(attention, lengths, context_size, seed)
    parameters = {leaf: parameter.numpy() for leaf, parameter in attention.named_parameters()}
    generator = torch.Generator().manual_seed(seed + 2)
    memory = attention.first_memory(source)
    memories: list[list[Vector | None]] = [[None] * 2 for _ in lengths]
    for hypotheses in (1, 2, 2):
        s = torch.randn(len(lengths), hypotheses, N, dtype=torch.float64, generator=generator)
        if memory is not None:
            memory = memory[:, :1].expand(-1, hypotheses, -1) if memory.shape[1] < hypotheses else memory
        context, alpha, memory = attention(s, source, memory)
        assert alpha is not None
        for b, length in enumerate(lengths):
            h = source.annotations_BSC[b, :length].numpy()
            for k in range(hypotheses):
                wanted_alpha, wanted_context, now = literal(name, parameters, s[b, k].numpy(), h, memories[b][k])
                memories[b][k] = now
                if hypotheses == 1:
                    memories[b] = [now, now]
                np.testing.assert_allclose(alpha[b, k, :length], wanted_alpha, rtol=0, atol=1e-10)
                np.testing.assert_allclose(context[b, k], wanted_context, rtol=0, atol=1e-10)
                assert (alpha[b, k, length:] == 0).all(), "attention outside the sentence"
        torch.testing.assert_close(alpha.sum(-1), torch.ones_like(alpha[..., 0]), rtol=0, atol=1e-12)


@every_attention
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    """Over two steps, so that what one hands to the next is differentiated too."""
    attention = random_attention(name, 2 * N, seed=3)
    source = random_source(attention, [3, 1], 2 * N, seed=4)
    annotations = source.annotations_BSC.clone().requires_grad_()
    states = torch.randn(2, 2, 1, N, dtype=torch.float64, generator=torch.Generator().manual_seed(5), requires_grad=True)

    def outputs(states: Tensor, annotations: Tensor, *_: Tensor) -> tuple[Tensor, ...]:
        now = Source(annotations, source.mask_BS, annotations[:, 0, :N], attention.keys(annotations))
        first = attention(states[0], now, attention.first_memory(now))
        second = attention(states[1], now, first.memory_BKX)
        return first.context_BKC, second.context_BKC, second.alpha_BKS

    assert torch.autograd.gradcheck(outputs, (states, annotations, *attention.parameters()))


def test_the_settings_offer_every_class() -> None:
    assert set(OWN["alignment"]) == set(ATTENTIONS)
    assert set(OWN["cell"]) == set(CELLS)


def test_with_weights_of_zero_monotonic_attention_reads_a_word_a_step() -> None:
    attention = GaussianMixtureAttention(N, 2 * N, A).double().requires_grad_(False)
    source = random_source(attention, [6], 2 * N, seed=0)
    memory: Tensor | None = attention.first_memory(source)
    for step in range(6):
        _, alpha, memory = attention(torch.ones(1, 1, N, dtype=torch.float64), source, memory)
        assert alpha is not None
        assert int(alpha.argmax()) == step


@every_attention
def test_a_sentence_whose_state_is_extreme(name: str) -> None:
    """Weights that a bad update has made large give weights α that are still a distribution."""
    attention = random_attention(name, 2 * N, seed=1)
    source = random_source(attention, [50, 3], 2 * N, seed=1)
    s = torch.full((2, 1, N), 200.0, dtype=torch.float64, requires_grad=True)
    memory = attention.first_memory(source)
    for _ in range(3):
        context, alpha, memory = attention(s, source, memory)
    assert alpha is not None
    torch.testing.assert_close(alpha.sum(-1), torch.ones_like(alpha[..., 0]))
    context.sum().backward()
    assert s.grad is not None
    assert torch.isfinite(s.grad).all()


def test_bfloat16_does_not_move_monotonic_attention() -> None:
    """Positions beyond 256 are no numbers in bfloat16: neither κ nor j may be rounded to it."""
    attention = GaussianMixtureAttention(N, 2 * N, A).requires_grad_(False)
    attention.b_g[attention.COMPONENTS : 2 * attention.COMPONENTS] = 3.0  # narrow
    source = random_source(attention.double(), [600], 2 * N, seed=0)
    attention.float()
    source.annotations_BSC, source.summary_BN = source.annotations_BSC.float(), source.summary_BN.bfloat16()
    memory: Tensor | None = attention.first_memory(source)
    assert memory is not None
    memory = memory.float() + 396
    for position in (396, 397, 398, 399, 400):
        with precision_of(torch.device("cpu"), "bf16"):
            _, alpha, memory = attention(torch.ones(1, 1, N), source, memory)
        assert alpha is not None
        assert int(alpha.argmax()) == position


def cost_and_gradients(
    model: RNNsearch, recurrences: Recurrences | None, batch: tuple[Tensor, ...]
) -> tuple[Tensor, dict[str, Tensor]]:
    """The summed NLL, and its derivative by every parameter."""
    model.recurrences = recurrences
    output = model(*batch)
    nll = torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum")
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(nll, list(parameters.values()), allow_unused=True)
    return nll.detach(), {
        name: torch.zeros_like(parameter) if gradient is None else gradient
        for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True)
    }


@every_kind
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=2)
@given(
    cell=st.sampled_from(list(CELLS)),
    lengths=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 7)), min_size=2, max_size=4),
    recurrences=st.sampled_from((CpuRecurrences(), None)),
    more=models_more,
    seed=seeds,
)
def test_padding_changes_nothing(
    alignment: str,
    encoder: str,
    order: str,
    cell: str,
    lengths: list[tuple[int, int]],
    recurrences: Recurrences | None,
    more: dict[str, Any],
    seed: int,
) -> None:
    """The cost and the gradients of a padded batch are the sums of those of its sentences."""
    model = random_model(config_of(cell, alignment, order, encoder, **more), VX, VY, seed)
    pairs = random_pairs(seed, lengths, VX, VY)
    together, gradients = cost_and_gradients(model, recurrences, batch_of(pairs))
    alone = [cost_and_gradients(model, recurrences, batch_of([pair])) for pair in pairs]
    torch.testing.assert_close(together, torch.stack([cost for cost, _ in alone]).sum(), rtol=1e-10, atol=1e-10)
    for name, gradient in gradients.items():
        expected = torch.stack([one[name] for _, one in alone]).sum(0)
        torch.testing.assert_close(gradient, expected, rtol=1e-9, atol=1e-9, msg=lambda text, name=name: f"{name}: {text}")


@every_kind
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cell", CELLS)
def test_stepping_is_teacher_forcing(cell: str, alignment: str, encoder: str, order: str) -> None:
    """Word by word, with sentences that come later and leave earlier, gives what `forward` gives of whole translations."""
    model = random_model(config_of(cell, alignment, order, encoder, **DEEPER), VX, VY, seed=7).requires_grad_(False)
    # The longest source leaves first, and a longer one than those that are left then comes.
    pairs = random_pairs(11, [(13, 2), (3, 6), (5, 4), (9, 5)], VX, VY)
    output = model(*batch_of(pairs))
    expected = torch.log_softmax(output.logits_PV, -1)

    x, x_lengths, y, y_lengths = batch_of(pairs)
    encoded = model.encode(x, x_lengths)
    source = encoded.select(torch.arange(3))
    hypotheses, sentences, written = model.start(source), [0, 1, 2], [0, 0, 0]
    compared = 0
    for time in range(20):
        if time == 4:
            new = encoded.select(torch.tensor([3]))
            source, hypotheses = source.concat(new), hypotheses.concat(model.start(new))
            sentences, written = [*sentences, 3], [*written, 0]
        step = model.predict(hypotheses, source)
        for row, (sentence, position) in enumerate(zip(sentences, written, strict=True)):
            wanted = expected[output.sentences_P == sentence][position]
            torch.testing.assert_close(step.log_p_BKV[row, 0], wanted, rtol=0, atol=1e-11)
            if model.aligns:
                assert step.alpha_BKS is not None
                assert output.decoded.alpha_TBS is not None
                length = int(x_lengths[sentence])
                alpha = output.decoded.alpha_TBS[position, sentence, :length]
                torch.testing.assert_close(step.alpha_BKS[row, 0, :length], alpha, rtol=0, atol=1e-11)
                assert (step.alpha_BKS[row, 0, length:] == 0).all()
            compared += 1
        words = [int(y[sentence, position]) for sentence, position in zip(sentences, written, strict=True)]
        rows = [row for row, i in enumerate(sentences) if written[row] + 1 < int(y_lengths[i])]
        if not rows:
            break
        sentences, written = [sentences[row] for row in rows], [written[row] + 1 for row in rows]
        parents, kept = torch.zeros(len(rows), 1, dtype=torch.int64), torch.tensor(rows)
        hypotheses = model.advance(step, kept, parents, torch.tensor([[words[row]] for row in rows]))
        source = source.select(kept)
    assert compared == len(output.words_P)


@pytest.mark.parametrize("scheme", ["paper", "glorot"])
@every_kind
def test_initial_weights_learn(alignment: str, encoder: str, scheme: str) -> None:
    """After one step along the gradient, every parameter has a gradient: none waits for another that never moves."""
    model = RNNsearch(config_of("gated", alignment, ORDERS[0], encoder), VX, VY).double()
    model.initialize(scheme, 1)
    batch = batch_of(random_pairs(0, [(4, 4), (7, 5)], VX, VY))
    for _ in range(2):
        _, gradients = cost_and_gradients(model, None, batch)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter -= 0.1 * gradients[name]
    for name, gradient in gradients.items():
        assert float(gradient.abs().sum()) > 0, name


@every_kind
def test_bfloat16_training_is_near(alignment: str, encoder: str) -> None:
    model = random_model(config_of("gated", alignment, ORDERS[0], encoder), VX, VY, seed=2).float()
    batch = batch_of(random_pairs(0, [(4, 4), (7, 5)], VX, VY))
    exact, _ = cost_and_gradients(model, None, batch)
    with precision_of(torch.device("cpu"), "bf16"):
        near, gradients = cost_and_gradients(model, None, batch)
    assert float(near) == pytest.approx(float(exact), rel=0.05)
    assert all(torch.isfinite(gradient).all() for gradient in gradients.values())


def test_location_attention_sees_its_last_weights() -> None:
    """Two hypotheses alike but for what they attended to last attend differently now."""
    attention = LocationAttention(N, 2 * N, A).double().requires_grad_(False)
    for parameter in attention.parameters():
        parameter.normal_(0, 1, generator=torch.Generator().manual_seed(0))
    source = random_source(attention, [5], 2 * N, seed=0)
    memory = torch.eye(5, dtype=torch.float64)[None, [0, 3]]
    _, alpha, _ = attention(torch.ones(1, 2, N, dtype=torch.float64), source, memory)
    assert alpha is not None
    assert float((alpha[0, 0] - alpha[0, 1]).abs().max()) > 0.01
