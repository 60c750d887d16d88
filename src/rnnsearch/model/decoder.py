"""The decoder: initial state, attention and state update (section 3.1, appendix A.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.config import ModelConfig
from rnnsearch.model.attention import ATTENTIONS, AdditiveAttention, FixedContext
from rnnsearch.model.cells import CELLS, GatedCell
from rnnsearch.model.layers import DecoderLayer
from rnnsearch.model.source import Source
from rnnsearch.ops import Recurrences


@dataclass
class DecoderOutput:
    """The result of the decoder's recurrence over whole target sentences."""

    states_TBN: Tensor
    """s_0 … s_Ty; the first axis has T + 1 elements."""
    contexts_TBC: Tensor
    """c_1 … c_Ty."""
    alpha_TBS: Tensor | None
    """α_1 … α_Ty; None if there is no alignment model."""


class Decoder(nn.Module):
    """The target embedding, the alignment model, and the cell that updates the state with each word and context."""

    def __init__(self, config: ModelConfig, vocabulary_size: int, context_size: int) -> None:
        super().__init__()
        n = config.hidden_size
        self.E = nn.Parameter(torch.zeros(vocabulary_size, config.embedding_size))
        self.sparse_gradient = False
        """See `Encoder.sparse_gradient`."""
        self.W_s = nn.Parameter(torch.zeros(n, n))
        self.b_s = nn.Parameter(torch.zeros(n))
        self.alignment = ATTENTIONS[config.alignment](n, context_size, config.alignment_size)
        self.cell = CELLS[config.cell](config.embedding_size, n, context_size)
        layers = (DecoderLayer(config, context_size) for _ in range(config.decoder_layers - 1))
        self.extra_layers = cast("list[DecoderLayer]", nn.ModuleList(layers))
        """The layers above the first, lowest first."""

    def first_state(self, source: Source) -> Tensor:
        """Return s_0 = tanh(W_s h←_1 + b_s), as a state (B, D); RNNencdec uses its context c instead of h←_1."""
        return self.cell.first_state(torch.tanh(nn.functional.linear(source.summary_BN, self.W_s, self.b_s)))

    def unroll(
        self, inputs_TBG: Tensor, source: Source, mask_TB: Tensor | None = None, recurrences: Recurrences | None = None
    ) -> DecoderOutput:
        """Run all steps i = 1 … Ty: (α_i, c_i) = a(s_{i−1}, h), then s_i = f(s_{i−1}, inputs_i, c_i).

        `inputs` are projected words, (T, B, G). The results of steps where the mask is False, past a sentence's end, are
        undefined, and nothing may depend on them. `recurrences` compute the cells and alignment models that they implement.
        """
        # The fused recurrences implement the paper's cell with additive attention or with a fixed context.
        if recurrences is not None and type(self.cell) is GatedCell:
            if type(self.alignment) is AdditiveAttention:
                return self._attentive(inputs_TBG, source, mask_TB, recurrences)
            if type(self.alignment) is FixedContext:
                return self._fixed(inputs_TBG, source, mask_TB, recurrences)
        # All other combinations run step by step; a sentence has a single hypothesis (K = 1).
        weights, C = self.cell.recurrent_weights(), self.cell.stacked("C")
        state_BD, memory_B1X = self.first_state(source), self.alignment.first_memory(source)
        states, contexts, alphas = [self.cell.hidden(state_BD)], [], []
        for inputs_BG in inputs_TBG.unbind():
            context_B1C, alpha_B1S, memory_B1X = self.alignment.step(states[-1].unsqueeze(1), source, memory_B1X)
            # s_i = f(s_{i−1}, inputs_i + C c_i).
            context_BC = context_B1C.squeeze(1)
            state_BD = self.cell.step(weights, state_BD, torch.addmm(inputs_BG, context_BC, C.T))
            states.append(self.cell.hidden(state_BD))
            contexts.append(context_BC)
            if alpha_B1S is not None:
                alphas.append(alpha_B1S)
        alpha_TBS = torch.cat(alphas, 1).transpose(0, 1) if alphas else None
        return DecoderOutput(torch.stack(states), torch.stack(contexts), alpha_TBS)

    def _attentive(
        self, inputs_TBG: Tensor, source: Source, mask_TB: Tensor | None, recurrences: Recurrences
    ) -> DecoderOutput:
        """Do the same as `unroll` for the gated cell with additive attention, by `Recurrences.attentive`."""
        assert isinstance(self.alignment, AdditiveAttention)
        assert source.keys_BSA is not None
        # Weights and s_0 are not rounded under autocast; the recurrence itself rounds the factors of its products.
        with ops.full_precision(inputs_TBG):
            U, U_zr = self.cell.recurrent_weights()
            s0_BN, C = self.first_state(source), self.cell.stacked("C")
        return DecoderOutput(
            *recurrences.attentive(
                *(inputs_TBG, s0_BN, source.annotations_BSC, source.keys_BSA, source.mask_BS, mask_TB),
                *(self.alignment.W_a, self.alignment.v_a, U, U_zr, C),
            )
        )

    def _fixed(self, inputs_TBG: Tensor, source: Source, mask_TB: Tensor | None, recurrences: Recurrences) -> DecoderOutput:
        """Do the same as `unroll` for the gated cell with a fixed context, by `Recurrences.gated`.

        The projection of the context is added to the input of every step.
        """
        c_BC = source.summary_BN
        with ops.full_precision(inputs_TBG):
            U, U_zr = self.cell.recurrent_weights()
            s0_BN = self.first_state(source)
            inputs_TBG = inputs_TBG.to(U.dtype) + self.cell.project_context(c_BC)
        states_TBN = recurrences.gated(inputs_TBG, s0_BN, mask_TB, U, U_zr)
        return DecoderOutput(torch.cat([s0_BN.unsqueeze(0), states_TBN]), c_BC.expand(len(inputs_TBG), *c_BC.shape), None)
