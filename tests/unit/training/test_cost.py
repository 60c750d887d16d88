"""What training minimises, against PyTorch's own cross-entropy."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnsearch.config import ModelConfig, TrainingConfig
from rnnsearch.model import Source, TeacherForcedOutput
from rnnsearch.model.decoder import DecoderOutput
from rnnsearch.model.readout import Readout
from rnnsearch.ops import CpuRecurrences, loops
from rnnsearch.ops.cross_entropy import ROWS
from rnnsearch.training.cost import cost_divisor, training_cost
from toy import ORDERS, batch_of, random_model, random_pairs

Normalization = Literal["sum", "sentences", "tokens"]


def forced(logits: Tensor, words: Tensor) -> TeacherForcedOutput:
    """The readout of which these are the logits: W_o is the unit matrix."""
    empty = torch.empty(0)
    V = logits.shape[1]
    readout = Readout(ModelConfig(maxout_size=V), V, 1).to(logits.dtype)
    with torch.no_grad():
        readout.W_o.copy_(torch.eye(V))
    decoded, source = DecoderOutput(empty, empty, None), Source(empty, empty.bool(), empty)
    return TeacherForcedOutput(readout, logits, words, torch.zeros_like(words), decoded, source)


def expected_cost(logits: Tensor, words: Tensor, smoothing: float, consistency: float) -> Tensor:
    """Summed over the positions; with a consistency, by PyTorch's own divergence of each two rows."""
    cost = torch.nn.functional.cross_entropy(logits, words, reduction="sum", label_smoothing=smoothing)
    if consistency:
        log_p = torch.log_softmax(logits, 1)
        for one, other in ((log_p[0::2], log_p[1::2]), (log_p[1::2], log_p[0::2])):
            cost = cost + consistency / 2 * torch.nn.functional.kl_div(other, one, reduction="sum", log_target=True)
    return cost


@settings(max_examples=60)
@given(
    positions=st.integers(1, 9),
    words=st.integers(1, 8),
    sentences=st.integers(1, 5),
    smoothing=st.sampled_from((0.0, 0.1, 0.7)),
    consistency=st.sampled_from((0.0, 0.0, 0.5, 5.0)),
    normalization=st.sampled_from(("sum", "sentences", "tokens")),
    scale=st.sampled_from((0.1, 3.0, 50.0)),
    seed=st.integers(0, 2**31),
)
def test_cost_and_gradient(
    positions: int,
    words: int,
    sentences: int,
    smoothing: float,
    consistency: float,
    normalization: Normalization,
    scale: float,
    seed: int,
) -> None:
    generator = torch.Generator().manual_seed(seed)
    readings = 2 if consistency else 1
    target = torch.randint(words, (positions,), generator=generator).repeat_interleave(readings)
    positions *= readings
    logits = (scale * torch.randn(positions, words, dtype=torch.float64, generator=generator)).requires_grad_()
    config = TrainingConfig(label_smoothing=smoothing, loss_normalization=normalization, consistency=consistency)

    cost, nll = training_cost(forced(logits, target), cost_divisor(sentences, positions, config), config)
    (gradient,) = torch.autograd.grad(3 * cost, logits)

    cross_entropy = torch.nn.functional.cross_entropy
    divisor = {"sum": 1, "sentences": sentences, "tokens": positions}[normalization]
    expected = expected_cost(logits, target, smoothing, consistency) / divisor
    (expected_gradient,) = torch.autograd.grad(3 * expected, logits)
    torch.testing.assert_close(cost, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(nll, cross_entropy(logits, target, reduction="sum").detach(), rtol=1e-12, atol=1e-12)
    assert not nll.requires_grad


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("consistency", [0.0, 2.0])
def test_gradcheck(smoothing: float, consistency: float) -> None:
    config = TrainingConfig(label_smoothing=smoothing, consistency=consistency)
    target = torch.tensor([0, 0, 3, 3])

    def cost(logits: Tensor) -> Tensor:
        return training_cost(forced(logits, target), 3, config)[0]

    logits = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    assert torch.autograd.gradcheck(cost, (logits,))


def test_the_logits_stay_as_they_are() -> None:
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(1), requires_grad=True)
    before = logits.detach().clone()
    cost, _ = training_cost(forced(logits, torch.tensor([0, 1, 2])), 1, TrainingConfig(label_smoothing=0.1))
    first = torch.autograd.grad(cost, logits, retain_graph=True)[0]
    second = torch.autograd.grad(cost, logits)[0]
    assert torch.equal(first, second)
    assert torch.equal(logits.detach(), before)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("consistency", [0.0, 3.0])
def test_in_bfloat16_only_the_gradient_is_rounded(
    compiled: bool, smoothing: float, consistency: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled and not loops.AVAILABLE:
        pytest.skip("no compiled loops here")
    monkeypatch.setattr(loops, "AVAILABLE", compiled)
    generator = torch.Generator().manual_seed(3)
    rows, V = ROWS["bf16"] + 40, 70  # more than one block
    logits = (3 * torch.randn(rows, V, generator=generator)).bfloat16().float().requires_grad_()
    bias = torch.randn(V, generator=generator)
    target = torch.randint(V, (rows // 2,), generator=generator).repeat_interleave(2)
    config = TrainingConfig(label_smoothing=smoothing, consistency=consistency, precision="bf16")
    given = forced(logits, target)
    with torch.no_grad():
        given.readout.b_w.copy_(bias)
    cost, nll = training_cost(given, 1, config)
    cost.backward()

    exact = (logits.detach().double() + bias).requires_grad_()
    cross_entropy = torch.nn.functional.cross_entropy
    expected = expected_cost(exact, target, smoothing, consistency)
    expected.backward()
    torch.testing.assert_close(cost.double(), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(nll.double(), cross_entropy(exact, target, reduction="sum").detach(), rtol=1e-6, atol=0)
    assert logits.grad is not None
    assert exact.grad is not None
    assert given.readout.b_w.grad is not None
    # A divergence's gradient is a difference of nearly equal numbers; the compiled loop's is rounded once, PyTorch's twice.
    rtol, atol = (2**-7, 1e-6) if consistency else (2**-8, 1e-30)
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=rtol, atol=atol)
    torch.testing.assert_close(given.readout.b_w.grad.double(), exact.grad.sum(0), rtol=1e-4, atol=1e-4)
    d_W_o, expected_d_W_o = given.readout.W_o.grad, exact.grad.T @ logits.detach().double()
    assert d_W_o is not None
    assert (d_W_o.double() - expected_d_W_o).norm() < 0.01 * expected_d_W_o.norm()


@pytest.mark.parametrize("order", ORDERS)
def test_a_guide_costs_the_alignments_cross_entropy(order: str) -> None:
    sizes = {"embedding_size": 3, "hidden_size": 4, "alignment_size": 3, "maxout_size": 2}
    model = random_model(ModelConfig(**sizes, decoder_order=order), 7, 6, 1)  # type: ignore[arg-type]
    x, x_lengths, y, y_lengths = batch_of(random_pairs(1, [(3, 5), (4, 2)], 7, 6))
    guide = torch.zeros(2, y.shape[1], x.shape[1], dtype=torch.float64)
    guide[0, 1, 2], guide[0, 4, :2], guide[1, 0, 3] = 1, 0.5, 1
    found = []
    for engine in (CpuRecurrences(), None):
        model.recurrences = engine
        model.zero_grad()
        output = model(x, x_lengths, y, y_lengths)
        assert output.decoded.alpha_TBS is not None
        alpha = output.decoded.alpha_TBS.detach()
        cost, nll = training_cost(output, 2, TrainingConfig(guided_alignment=0.3), guide)
        cost.backward()
        log_alpha = alpha[1, 0, 2].log() + (alpha[4, 0, 0].log() + alpha[4, 0, 1].log()) / 2 + alpha[0, 1, 3].log()
        torch.testing.assert_close(cost.detach(), (nll - 0.3 * log_alpha) / 2, rtol=1e-10, atol=0)
        found.append({name: parameter.grad for name, parameter in model.named_parameters()})
    for name, gradient in found[0].items():
        torch.testing.assert_close(gradient, found[1][name], rtol=1e-9, atol=1e-10, msg=name)
