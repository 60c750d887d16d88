"""What the fused recurrences implement goes through them, and everything else the plain way.

The traps are subclasses: they have the parameters of what is implemented, by the same names, and are another function.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rnnsearch.config import ModelConfig
from rnnsearch.model import RNNsearch, Source
from rnnsearch.model.attention import ATTENTIONS, AdditiveAttention, Attended, Attention, FixedContext, attend
from rnnsearch.model.cells import CELLS, Cell, GatedCell, LSTMCell
from rnnsearch.ops import CpuRecurrences, Recurrences
from toy import DEEPER, ORDERS, batch_of, random_model, random_pairs

VX, VY = 12, 15
SENTENCES = [sentence for sentence, _ in random_pairs(3, [(6, 0), (1, 0), (3, 0)], VX, VY)]


class ResetAfterwards(GatedCell, name="trap"):
    """The gates of the gated unit, but the reset gate acts after U, as in `torch.nn.GRU`."""

    def step(self, weights: tuple[Tensor, ...], state: Tensor, inputs: Tensor) -> Tensor:
        U, U_zr = weights
        N = self.hidden_size
        z, r = torch.sigmoid(inputs[..., N:] + nn.functional.linear(state, U_zr)).chunk(2, -1)
        return state + z * (torch.tanh(inputs[..., :N] + r * nn.functional.linear(state, U)) - state)


class CoupledLSTM(LSTMCell, name="trap"):
    """The gates of the LSTM, but what is not forgotten is not written."""

    def activate(self, state: Tensor, total: Tensor) -> Tensor:
        N = self.hidden_size
        _, f, o = torch.sigmoid(total[..., N:]).chunk(3, -1)
        memory = f * state[..., N:] + (1 - f) * torch.tanh(total[..., :N])
        return torch.cat([o * torch.tanh(memory), memory], -1)


class WithoutTanh(AdditiveAttention, name="trap"):
    """The parameters of the paper's alignment model, but rectified linear units."""

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        query_BK1A = nn.functional.linear(s_BKN, self.W_a).unsqueeze(2)
        return attend(torch.relu(query_BK1A + source.keys_BSA.unsqueeze(1)) @ self.v_a, source)


class HalfContext(FixedContext, name="trap"):
    """No alignment model, as in RNNencdec, but another context."""

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        return Attended(super().forward(s_BKN, source).context_BKC / 2, None)


# The traps are for these tests alone: nobody else finds them in the registries.
del CELLS["trap"], ATTENTIONS["trap"]
OUR_CELLS: dict[str, type[Cell]] = {**CELLS, "gated trap": ResetAfterwards, "lstm trap": CoupledLSTM}
OUR_ATTENTIONS: dict[str, type[Attention]] = {**ATTENTIONS, "mlp trap": WithoutTanh, "none trap": HalfContext}

every_model = pytest.mark.parametrize(
    ("cell", "attention", "order", "encoder"),
    [
        (cell, attention, order, encoder)
        for cell in OUR_CELLS
        for attention in OUR_ATTENTIONS
        for order in ORDERS
        for encoder in ("forward", "bidirectional")
        if OUR_ATTENTIONS[attention].aligns or encoder == "forward"
    ],
)


def model_of(cell: str, attention: str, order: str = ORDERS[0], encoder: str = "auto", seed: int = 0) -> RNNsearch:
    """Random weights in float64; with the second order, further layers too."""
    real_cell, real_attention = cell.removesuffix(" trap"), attention.removesuffix(" trap")
    sizes = {"embedding_size": 5, "hidden_size": 8, "alignment_size": 6, "maxout_size": 4}
    more: dict[str, Any] = {**sizes, **(DEEPER if order == ORDERS[1] else {})}
    config = ModelConfig(cell=real_cell, alignment=real_attention, decoder_order=order, encoder=encoder, **more)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CELLS, real_cell, OUR_CELLS[cell])
        patch.setitem(ATTENTIONS, real_attention, OUR_ATTENTIONS[attention])
        model = random_model(config, VX, VY, seed)
    assert type(model.decoder.cell) is OUR_CELLS[cell]
    assert type(model.decoder.alignment) is OUR_ATTENTIONS[attention]
    return model.eval()


class Spy(CpuRecurrences):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.called: Counter[str] = Counter()

    def gated(self, *given: Any, **named: Any) -> Tensor:
        self.called["gated"] += 1
        return super().gated(*given, **named)

    def attentive(self, *given: Any, **named: Any) -> tuple[Tensor, Tensor, Tensor]:
        self.called["attentive"] += 1
        return super().attentive(*given, **named)


def nll_of(model: RNNsearch, recurrences: Recurrences | None) -> Tensor:
    """The NLL of some pairs."""
    model.recurrences = recurrences
    output = model(*batch_of(random_pairs(5, [(6, 4), (2, 5), (4, 1)], VX, VY)))
    return torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum")


@every_model
def test_training(cell: str, attention: str, order: str, encoder: str) -> None:
    model, spy = model_of(cell, attention, order, encoder), Spy()
    nll, plain = nll_of(model, spy), nll_of(model, None)
    directions = 2 if encoder == "bidirectional" else 1
    encoder_layers, further_decoder_layers = (2, 2) if order == ORDERS[1] else (1, 0)
    expected = Counter[str]()
    if cell == "gated":
        expected["gated"] = directions * encoder_layers + further_decoder_layers + (attention == "none")
        expected["attentive"] = int(attention == "mlp")
    assert spy.called == +expected
    torch.testing.assert_close(nll, plain, rtol=1e-10, atol=1e-10)
    if spy.called:
        parameters = list(model.parameters())
        gradients = (torch.autograd.grad(of, parameters, allow_unused=True, materialize_grads=True) for of in (nll, plain))
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def test_the_traps_are_other_functions() -> None:
    """Otherwise the tests above would prove nothing of them."""
    for cell, attention in (("gated trap", "mlp"), ("lstm trap", "mlp"), ("gated", "mlp trap"), ("gated", "none trap")):
        trap, implemented = (
            model_of(*names) for names in ((cell, attention), (cell.removesuffix(" trap"), attention.removesuffix(" trap")))
        )
        assert trap.state_dict().keys() == implemented.state_dict().keys()
        assert float((nll_of(trap, None) - nll_of(implemented, None)).detach().abs()) > 1e-3
