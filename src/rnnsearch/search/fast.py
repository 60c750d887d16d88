"""The fast backend computes the same function as the plain one, optimised for a CPU, few rows and many steps.

- The context enters linearly, so [C; C_o] h_j is computed once per sentence, and [C; C_o] c_i = Σ_j α_ij [C; C_o] h_j is a
  weighted sum. All hypotheses of a sentence share [C; C_o] h_j.
- [W; V_o] E y + [b; b_o] depends on the word alone and is cached, one row for every word that has occurred.
- [U_z; U_r; W_a; U_o] s is a single matrix product per step.
- Weights are packed once per model (`packed`), without loss as float32, or as int8.
- With vocabulary selection, W_o is multiplied only for the frequent words and for each sentence's own candidates.

The letters of tensor names are those of `rnnsearch.model`. M is the width of a state's projections: those of the cell, then
the query (A), then U_o s (2L). Y is the width of the projections of a context or a word: all gates (G), then 2L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rnnsearch.model import RNNsearch
from rnnsearch.model.attention import AdditiveAttention, FixedContext
from rnnsearch.model.cells import Cell
from rnnsearch.ops import decoder_step
from rnnsearch.ops.packed import WeightPrecision, packed
from rnnsearch.search.backend import Integers, Prediction, VocabularySelection
from rnnsearch.search.fast_layers import CELL_STEPS, FastDecoderLayer, FastEncoderLayer, WordProducts, cell_step

BLOCK = 128
"""The frequent words, candidates and padding together are a multiple of this number of columns. Compiled sums process this
number of columns at a time, or a fraction of it, so a sum does not depend on the candidates of other sentences."""


class FastBackend:
    """A packed copy of a model's weights for search on a CPU; later changes to the model have no effect. See `Backend`.

    The copy takes as much memory as the model's weights, or a quarter of that with int8.
    """

    @staticmethod
    def implements(model: RNNsearch) -> bool:
        """Whether the model is on a CPU, and this backend implements its cells and its alignment model."""
        cells = (type(module) for module in model.modules() if isinstance(module, Cell))
        return (
            model.readout.W_o.device.type == "cpu"
            and type(model.decoder.alignment) in (AdditiveAttention, FixedContext)
            and all(cell in CELL_STEPS for cell in cells)
        )

    @torch.inference_mode()
    def __init__(
        self, model: RNNsearch, precision: WeightPrecision = "fp32", selection: VocabularySelection | None = None
    ) -> None:
        """Pack the weights. Raises ValueError for a model that this backend does not implement."""
        if not self.implements(model):
            raise ValueError("the fast backend does not implement this model; use the plain backend")
        encoder, decoder, readout = model.encoder, model.decoder, model.readout
        self.generates_first = model.generates_first
        self.cell = decoder.cell
        self.selection = selection

        self.E_source = encoder.E.detach()
        self.encoder = FastEncoderLayer(encoder, precision)
        self.encoder_extra_layers = [(layer.norm, FastEncoderLayer(layer, precision)) for layer in encoder.extra_layers]
        self.norm_annotations = encoder.norm
        self.reads_forward_only = encoder.backward_cell is None

        self.first_state = packed(decoder.W_s, decoder.b_s, precision)
        self.extra_layers = [FastDecoderLayer(layer, readout.U_o, precision) for layer in decoder.extra_layers]
        layers_C = [layer.cell.stacked("C") for layer in decoder.extra_layers]
        self.from_context = packed(torch.cat([self.cell.stacked("C"), readout.C_o, *layers_C]), precision=precision)
        self.gates = len(self.cell.stacked("C"))

        self.cell_step = cell_step(self.cell, precision)
        self.query_column = len(self.cell_step.from_state)
        """The first column of the query in the projections of a state."""
        queries: list[Tensor] = []
        self.attention: AdditiveAttention | None = None
        if isinstance(decoder.alignment, AdditiveAttention):
            self.attention, self.v_a = decoder.alignment, decoder.alignment.v_a.detach()
            self.keys = packed(decoder.alignment.U_a, precision=precision)
            queries = [decoder.alignment.W_a]
        self.from_state = packed(torch.cat([self.cell_step.from_state, *queries, readout.U_o]), precision=precision)
        self.words = WordProducts(model, precision)

        self.frequent = len(readout.b_w) if selection is None else min(selection.frequent, len(readout.b_w))
        self.maxout_width = len(readout.b_o)
        self.norm_maxout = readout.norm
        self.from_maxout = packed(readout.W_o[: self.frequent], precision=precision)
        self.W_o, self.b_w = readout.W_o.detach(), readout.b_w.detach()

    def session(self, slots: int, positions: int) -> FastSession:
        return FastSession(self, slots, positions)

    def state_products(self, state_RD: Tensor) -> Tensor:
        """The projections (R, M) of new states (R, D)."""
        return self.from_state(self.cell.hidden(state_RD).contiguous())


@dataclass
class _Waiting:
    """Encoded sentences that wait for a slot."""

    lengths_B: Tensor
    keys_BSA: Tensor | None
    values_BSY: Tensor
    """[C; C_o] h_j, then C h_j of the extra layers. RNNencdec has one position, which holds its context."""
    state_BD: Tensor
    projected_BM: Tensor
    """The projections of s_0."""
    candidates: list[list[int]]
    """With vocabulary selection, the candidates of each sentence."""


class FastSession:
    """One search; see `SearchSession`."""

    def __init__(self, backend: FastBackend, slots: int, positions: int) -> None:
        self._backend = backend
        self._slots, self._positions = slots, positions
        self._slots_R = torch.empty(0, dtype=torch.int64)
        self._words_R = np.empty(0, np.int64)
        self._extra_layers_RD: list[Tensor] = []
        self._candidates: list[list[int]] = [[]] * slots
        self._candidate_weights: list[tuple[Tensor, Tensor]] = [(backend.W_o[:0], backend.b_w[:0])] * slots
        """With vocabulary selection, the rows of W_o and b_w of the candidates of each slot."""
        self._allocated = False

    def encode(self, x_BS: Tensor, lengths_B: Tensor) -> None:
        model = self._backend
        x_BS = x_BS[:, : int(lengths_B.max())]
        (B, S), N = x_BS.shape, model.cell.hidden_size
        mask_SB1 = (torch.arange(S).unsqueeze(1) < lengths_B).to(model.E_source.dtype).unsqueeze(2)
        words, rows_SB = x_BS.T.unique(return_inverse=True)
        h_SBC = model.encoder.run(model.E_source[words], rows_SB, mask_SB1)
        for norm, layer in model.encoder_extra_layers:
            h_SBC = h_SBC + layer.run(norm(h_SBC).flatten(0, 1), torch.arange(S * B).view(S, B), mask_SB1)
        h_SBC = model.norm_annotations(h_SBC)
        last_BC, first_BC = h_SBC[lengths_B - 1, torch.arange(B)], h_SBC[0]
        summary_BN = last_BC if model.reads_forward_only else first_BC[:, N:].contiguous()
        keys_BSA = None
        if model.attention is None:
            values_BSY = model.from_context(summary_BN).unsqueeze(1)
        else:
            annotations = h_SBC.transpose(0, 1).flatten(0, 1).contiguous()  # (B S, C)
            keys_BSA = model.keys(annotations).unflatten(0, (B, S))
            values_BSY = model.from_context(annotations).unflatten(0, (B, S))
        state_BD = model.cell.first_state(torch.tanh(model.first_state(summary_BN)))
        candidates: list[list[int]] = []
        if model.selection is not None:
            sentences = zip(x_BS.tolist(), lengths_B.tolist(), strict=True)
            candidates = [model.selection.candidates(x_S[: length - 1]) for x_S, length in sentences]
        projected_BM = model.state_products(state_BD)
        self._waiting = _Waiting(lengths_B, keys_BSA, values_BSY, state_BD, projected_BM, candidates)

    def add(self, sentences_b: Integers, slots_b: Integers) -> None:
        waiting, model = self._waiting, self._backend
        sentences, slots = torch.from_numpy(sentences_b), torch.from_numpy(slots_b)
        state_bD, projected_bM = waiting.state_BD[sentences], waiting.projected_BM[sentences]
        S = waiting.values_BSY.shape[1]
        if not self._allocated:
            positions = 1 if waiting.keys_BSA is None else self._positions
            self._lengths_Q = torch.zeros(self._slots, dtype=torch.int64)
            self._values_QSY = waiting.values_BSY.new_zeros(self._slots, positions, waiting.values_BSY.shape[2])
            if waiting.keys_BSA is not None:
                self._keys_QSA = waiting.keys_BSA.new_zeros(self._slots, positions, waiting.keys_BSA.shape[2])
            self._state_RD, self._projected_RM = state_bD[:0], projected_bM[:0]
            self._allocated = True
        self._lengths_Q[slots] = waiting.lengths_B[sentences]
        self._values_QSY[slots, :S] = waiting.values_BSY[sentences]
        if waiting.keys_BSA is not None:
            self._keys_QSA[slots, :S] = waiting.keys_BSA[sentences]
        if model.selection is not None:
            self._select_words(sentences_b, slots_b)
        self._state_RD = torch.cat([self._state_RD, state_bD])
        self._projected_RM = torch.cat([self._projected_RM, projected_bM])
        zero_bN = waiting.state_BD.new_zeros(len(slots), model.cell.hidden_size)
        empty = [layer.cell.first_state(zero_bN) for layer in model.extra_layers]
        if self._extra_layers_RD:
            empty = [torch.cat(pair) for pair in zip(self._extra_layers_RD, empty, strict=True)]
        self._extra_layers_RD = empty
        self._slots_R = torch.cat([self._slots_R, slots])
        self._words_R = np.concatenate([self._words_R, np.full(len(slots_b), model.words.none)])

    def _select_words(self, sentences_b: Integers, slots_b: Integers) -> None:
        """Set the candidates of sentences that take slots."""
        model = self._backend
        for sentence, slot in zip(sentences_b.tolist(), slots_b.tolist(), strict=True):
            ids = self._waiting.candidates[sentence]
            self._candidates[slot], self._candidate_weights[slot] = ids, (model.W_o[ids], model.b_w[ids])
        longest = max(len(ids) for ids in self._candidates)
        longest = -(-(model.frequent + longest + 1) // BLOCK) * BLOCK - model.frequent  # at least 1
        padded = [ids + [-1] * (longest - len(ids)) for ids in self._candidates]
        self._candidates_QX = torch.tensor(padded, dtype=torch.int64)

    def predict(self) -> Prediction:
        model = self._backend
        table_VY, words_R = model.words.rows(self._words_R)
        alpha_RS = None
        if model.attention is None:
            context_RY = self._values_QSY[self._slots_R, 0]
        else:
            query_RA = self._projected_RM[:, model.query_column : model.query_column + len(model.v_a)]
            alpha_RS, context_RY = decoder_step.attend(
                query_RA, self._keys_QSA, model.v_a, self._values_QSY, self._lengths_Q, self._slots_R
            )
        context_RY, layers_RY = context_RY.split([table_VY.shape[1], context_RY.shape[1] - table_VY.shape[1]], 1)
        context_RY = context_RY.contiguous()
        if not model.generates_first:
            self._update(context_RY, torch.arange(len(words_R)), table_VY, words_R)
        self._context_RY = context_RY
        s_RN = model.cell.hidden(self._state_RD)
        for i, layer in enumerate(model.extra_layers):
            context_RG = layers_RY[:, i * model.gates : (i + 1) * model.gates]
            self._extra_layers_RD[i] = layer.step(self._extra_layers_RD[i], s_RN, context_RG)
            u_RN = layer.cell.hidden(self._extra_layers_RD[i])
            self._projected_RM[:, -model.maxout_width :] += layer.to_readout(u_RN.contiguous())
            s_RN = s_RN + u_RN
        t_RL = decoder_step.maxout(self._projected_RM, context_RY, table_VY, words_R, model.maxout_width)
        t_RL = model.norm_maxout(t_RL)
        if model.selection is not None:
            return self._selected(t_RL, alpha_RS)
        return Prediction(len(t_RL), lambda rows: model.from_maxout.unscaled(t_RL[rows]), model.b_w, alpha_RS)

    def _selected(self, t_RL: Tensor, alpha_RS: Tensor | None) -> Prediction:
        """The prediction over the frequent words and each sentence's own candidates."""
        model, X = self._backend, self._candidates_QX.shape[1]
        product_RV, factor_R = model.from_maxout.unscaled(t_RL)
        logits_RV = t_RL.new_full((len(t_RL), model.frequent + X), -torch.inf)
        bias_V = model.b_w[: model.frequent]
        torch.addcmul(bias_V, product_RV, factor_R.unsqueeze(1), out=logits_RV[:, : model.frequent])
        first, ones_R = 0, t_RL.new_ones(len(t_RL))
        for slot, count in zip(*map(Tensor.tolist, self._slots_R.unique_consecutive(return_counts=True)), strict=True):
            W_XL, b_X = self._candidate_weights[slot]
            rows = slice(first, first + count)
            torch.addmm(b_X, t_RL[rows], W_XL.T, out=logits_RV[rows, model.frequent : model.frequent + len(b_X)])
            first += count
        return Prediction(
            rows=len(t_RL),
            products=lambda rows: (logits_RV[rows], ones_R[rows]),
            bias_V=t_RL.new_zeros(logits_RV.shape[1]),
            alpha_RS=alpha_RS,
            candidates_RX=self._candidates_QX[self._slots_R],
        )

    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        model = self._backend
        parents = torch.from_numpy(parents_r)
        if model.generates_first and len(parents):
            self._update(self._context_RY, parents, *model.words.rows(words_r))
        else:
            self._state_RD, self._projected_RM = self._state_RD[parents], self._projected_RM[parents]
        self._extra_layers_RD = [state_RD[parents] for state_RD in self._extra_layers_RD]
        self._slots_R = self._slots_R[parents]
        self._words_R = words_r

    def _update(self, context_RY: Tensor, parents_R: Tensor, table_VY: Tensor, words_R: Tensor) -> None:
        """Compute s_i = f(s_{i−1}, y, c_i) and its projections."""
        self._state_RD = self._backend.cell_step(
            self._state_RD, self._projected_RM, context_RY, parents_R, table_VY, words_R
        )
        self._projected_RM = self._backend.state_products(self._state_RD)
