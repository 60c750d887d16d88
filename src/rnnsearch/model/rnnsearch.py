"""The complete models RNNsearch and RNNencdec: encoder, decoder, readout, and the order of a decoder step.

The same equations have two uses: `forward` processes existing translations (training, scoring, aligning); `predict` and
`advance` generate new translations, one word at a time (search).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from rnnsearch import ops
from rnnsearch.config import ModelConfig
from rnnsearch.model.cells import Cell
from rnnsearch.model.decoder import Decoder, DecoderOutput
from rnnsearch.model.embedding import read_words
from rnnsearch.model.encoder import Encoder
from rnnsearch.model.readout import Readout
from rnnsearch.model.source import Source, concat_padded
from rnnsearch.ops import CpuRecurrences, Recurrences

ROWS_MULTIPLE = 64
"""The readout is computed for a multiple of this number of target positions; see `WIDTH_MULTIPLE` in `data.batches`."""


@dataclass
class TeacherForcedOutput:
    """The output of the model for existing translations, whose words it receives as input (teacher forcing)."""

    readout: Readout
    readout_RL: Tensor
    """The maxout layer at the P target positions that belong to a sentence: at the first words of all sentences, then at the
    second words, and so on. Rows P … R are padding, so that the largest matrix products have few different shapes."""
    words_P: Tensor
    """The target words at these positions."""
    sentences_P: Tensor
    """The index of the sentence that each position belongs to."""
    decoded: DecoderOutput
    """States, contexts and alignments, with padding."""
    source: Source
    """The encoded sources."""

    @property
    def logits_PV(self) -> Tensor:
        """The logits at these positions, by far the largest tensor, which is therefore computed on demand only."""
        return self.readout.logits(self.readout_RL[: len(self.words_P)])


@dataclass
class Hypotheses:
    """K partial translations of each of B sentences."""

    state_BKD: Tensor
    previous_BKE: Tensor
    """The embedding of the previous word; zero before the first word."""
    memory_BKX: Tensor | None = None
    """The memory of the alignment model, if it has one."""
    extra_layers_BKD: list[Tensor] = field(default_factory=list)
    """The states of the decoder's extra layers."""

    def select(self, sentences_b: Tensor, parents_bk: Tensor) -> Hypotheses:
        """Return the hypotheses `parents_bk` of the sentences `sentences_b`."""
        rows = sentences_b.unsqueeze(1)
        return Hypotheses(
            self.state_BKD[rows, parents_bk],
            self.previous_BKE[rows, parents_bk],
            None if self.memory_BKX is None else self.memory_BKX[rows, parents_bk],
            [state_BKD[rows, parents_bk] for state_BKD in self.extra_layers_BKD],
        )

    def concat(self, other: Hypotheses) -> Hypotheses:
        """Return these hypotheses, followed by those of further sentences."""
        first, second = self.memory_BKX, other.memory_BKX
        return Hypotheses(
            torch.cat([self.state_BKD, other.state_BKD]),
            torch.cat([self.previous_BKE, other.previous_BKE]),
            None if first is None or second is None else concat_padded(first, second, axis=2),
            [torch.cat(pair) for pair in zip(self.extra_layers_BKD, other.extra_layers_BKD, strict=True)],
        )


@dataclass
class StepOutput:
    """The result of a decoder step: the distribution over the next word, and the input of `advance`."""

    log_p_BKV: Tensor
    """log p of every next word, in nats."""
    alpha_BKS: Tensor | None
    """α_i; None if there is no alignment model."""
    hypotheses: Hypotheses
    """The hypotheses with the states of this step."""
    context_BKC: Tensor
    """c_i."""


class RNNsearch(nn.Module):
    """The model of section 3, or, with `alignment = "none"`, the RNN Encoder–Decoder of section 2.1."""

    def __init__(self, config: ModelConfig, source_vocabulary_size: int, target_vocabulary_size: int) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config, source_vocabulary_size)
        self.decoder = Decoder(config, target_vocabulary_size, self.encoder.context_size)
        self.readout = Readout(config, target_vocabulary_size, self.encoder.context_size)
        if config.tied_embedding:
            self.readout.W_o = self.decoder.E
        self.recurrences: Recurrences | None = CpuRecurrences()
        """The implementation of the recurrences. If it is None or lacks a recurrence, the model runs its own loop."""

    @property
    def generates_first(self) -> bool:
        """Whether a word is predicted from s_{i−1}, before the state update, and not from s_i, after it."""
        return self.config.decoder_order == "look-generate-update"

    @property
    def aligns(self) -> bool:
        """Whether the model has an alignment: RNNsearch has one, RNNencdec has none."""
        return self.decoder.alignment.aligns

    def sparse_gradients(self, enabled: bool) -> None:
        """Set whether the gradients of the word embeddings hold only the rows of words that occur."""
        # Tied embeddings are also the output layer, whose gradient has all rows.
        self.encoder.sparse_gradient = enabled
        self.decoder.sparse_gradient = enabled and not self.config.tied_embedding

    @property
    def embeddings_with_sparse_gradients(self) -> list[nn.Parameter]:
        """The word embeddings whose gradients hold only the rows of words that occur."""
        return [part.E for part in (self.encoder, self.decoder) if part.sparse_gradient]

    def recurrent_dropout(self, probability: float) -> None:
        """Set the probability of dropout on the recurrent matrices of all cells, which applies in training."""
        for module in self.modules():
            if isinstance(module, Cell):
                module.recurrent_dropout = probability

    def encode(self, x_BS: Tensor, lengths_B: Tensor, dropout: float = 0.0, word_dropout: float = 0.0) -> Source:
        """Encode source sentences: word ids (B, S), each with its end symbol and padding after it, and lengths (B)."""
        source: Source = self.encoder(x_BS, lengths_B, self.recurrences, dropout, word_dropout)
        source.keys_BSA = self.decoder.alignment.keys(source.annotations_BSC)
        return source

    def forward(
        self,
        x_BS: Tensor,
        x_lengths_B: Tensor,
        y_BT: Tensor,
        y_lengths_B: Tensor,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> TeacherForcedOutput:
        """Run the model on sources `x` and their translations `y`: word ids, and lengths that include the end symbol."""
        source = self.encode(x_BS, x_lengths_B, dropout, word_dropout)

        y_TB = y_BT.T
        T, B = y_TB.shape
        written_TBE = read_words(y_TB, self.decoder.E, self.decoder.sparse_gradient, dropout, word_dropout)
        previous_TBE = nn.functional.pad(written_TBE[:-1], (0, 0, 0, 0, 1, 0))  # zero before the first word

        # The word that the update to s_i reads: y_i if y_i was predicted from s_{i−1}, and y_{i−1} if s_i predicts y_i.
        read_TBE = written_TBE if self.generates_first else previous_TBE
        mask_TB = torch.arange(T, device=y_BT.device).unsqueeze(1) < y_lengths_B
        inputs_TBG = self.decoder.cell.project_input(read_TBE)
        decoded = self.decoder.unroll(inputs_TBG, source, mask_TB, self.recurrences)
        states_TBN = decoded.states_TBN[:-1] if self.generates_first else decoded.states_TBN[1:]
        for layer in self.decoder.extra_layers:
            states_TBN = layer(states_TBN, decoded.contexts_TBC, mask_TB, self.recurrences, dropout)

        # The readout is computed only at the P positions that are no padding, which `gather_distinct` selects from T × B.
        positions_P = mask_TB.flatten().nonzero().squeeze(1)
        positions_R = nn.functional.pad(positions_P, (0, -len(positions_P) % ROWS_MULTIPLE))
        s_RN, y_RE, c_RC = (
            ops.gather_distinct(steps.flatten(0, 1), positions_R, len(positions_P))
            for steps in (states_TBN, previous_TBE, decoded.contexts_TBC)
        )
        readout_RL = self.readout.hidden(ops.dropout(s_RN, dropout), y_RE, c_RC, dropout)
        return TeacherForcedOutput(self.readout, readout_RL, y_TB.flatten()[positions_P], positions_P % B, decoded, source)

    def start(self, source: Source) -> Hypotheses:
        """Return the empty translation of each sentence, as B × 1 hypotheses."""
        decoder = self.decoder
        state_B1D = decoder.first_state(source).unsqueeze(1)
        return Hypotheses(
            state_B1D,
            state_B1D.new_zeros(*state_B1D.shape[:2], self.config.embedding_size),
            decoder.alignment.first_memory(source),
            [layer.first_state(decoder.cell.hidden(state_B1D)) for layer in decoder.extra_layers],
        )

    def predict(self, hypotheses: Hypotheses, source: Source) -> StepOutput:
        """Attend to the source and predict the next word of every hypothesis."""
        # (α_i, c_i) = a(s_{i−1}, h).
        cell = self.decoder.cell
        state_BKD, previous_BKE = hypotheses.state_BKD, hypotheses.previous_BKE
        context_BKC, alpha_BKS, memory_BKX = self.decoder.alignment.step(
            cell.hidden(state_BKD), source, hypotheses.memory_BKX
        )
        # In the order look-update-generate, s_i = f(s_{i−1}, y_{i−1}, c_i) comes before the prediction of y_i.
        if not self.generates_first:
            state_BKD = self._update(state_BKD, previous_BKE, context_BKC)
        s_BKN, extra_layers_BKD = cell.hidden(state_BKD), []
        for layer, extra_BKD in zip(self.decoder.extra_layers, hypotheses.extra_layers_BKD, strict=True):
            extra_BKD, s_BKN = layer.step(extra_BKD, s_BKN, context_BKC)
            extra_layers_BKD.append(extra_BKD)
        # p(y_i) from the state, y_{i−1} and c_i.
        logits_BKV = self.readout(s_BKN, previous_BKE, context_BKC)
        hypotheses = Hypotheses(state_BKD, previous_BKE, memory_BKX, extra_layers_BKD)
        return StepOutput(torch.log_softmax(logits_BKV, -1), alpha_BKS, hypotheses, context_BKC)

    def advance(self, step: StepOutput, sentences_b: Tensor, parents_bk: Tensor, words_bk: Tensor) -> Hypotheses:
        """Extend the hypotheses `parents_bk` of the sentences `sentences_b` by the words `words_bk`."""
        hypotheses = step.hypotheses.select(sentences_b, parents_bk)
        state_bkD = hypotheses.state_BKD
        written_bkE = nn.functional.embedding(words_bk, self.decoder.E)
        # In the order look-generate-update, s_i = f(s_{i−1}, y_i, c_i) follows the choice of y_i.
        if self.generates_first:
            context_bkC = step.context_BKC[sentences_b.unsqueeze(1), parents_bk]
            state_bkD = self._update(state_bkD, written_bkE, context_bkC)
        return replace(hypotheses, state_BKD=state_bkD, previous_BKE=written_bkE)

    def _update(self, state: Tensor, y: Tensor, context: Tensor) -> Tensor:
        """Return the next states (…, D) from states (…, D), the embeddings of words (…, E) and contexts (…, C)."""
        cell = self.decoder.cell
        return cell.step(cell.recurrent_weights(), state, cell.project_input(y) + cell.project_context(context))

    @torch.no_grad()
    def initialize(self, scheme: str, seed: int) -> None:
        """Set random initial weights, which depend on the scheme and the seed only.

        `paper` is appendix B.1: recurrent matrices are orthogonal, W_a and U_a ~ N(0, 0.001²), v_a and biases are zero, all
        others ~ N(0, 0.01²). `glorot` draws matrices uniformly by fan-in and fan-out (Glorot & Bengio 2010), v_a and other
        vectors uniformly with the variance 1 / length, and embeddings ~ N(0, 0.1²). An alignment model can draw its own
        weights (`Attention.initial_weight`).
        """
        generator = torch.Generator().manual_seed(seed)
        for name, parameter in self.named_parameters():
            tensor, leaf = torch.empty(parameter.shape), name.rsplit(".", 1)[-1]
            alignment = name.removeprefix("decoder.alignment.")
            own = None if alignment == name else self.decoder.alignment.initial_weight(alignment, tensor, generator)
            if own is not None:
                tensor = own
            elif leaf == "weight":  # of a layer normalisation
                tensor.fill_(1.0)
            elif leaf.startswith("b"):
                # An LSTM learns slowly if it forgets at the start of training (Gers et al. 2000).
                tensor.fill_(1.0 if leaf == "b_f" else 0.0)
            elif leaf.startswith("U") and "cell." in name:
                nn.init.orthogonal_(tensor, generator=generator)
            elif scheme == "paper":
                if leaf == "v_a":
                    tensor.zero_()
                else:
                    tensor.normal_(0, 0.001 if leaf in ("W_a", "U_a") else 0.01, generator=generator)
            elif leaf == "E":
                tensor.normal_(0, 0.1, generator=generator)
            elif tensor.ndim == 1:
                bound = (3 / len(tensor)) ** 0.5
                tensor.uniform_(-bound, bound, generator=generator)
            else:
                nn.init.xavier_uniform_(tensor, generator=generator)
            parameter.copy_(tensor)

    def count_parameters(self) -> int:
        """Return the number of trainable parameters."""
        return sum(parameter.numel() for parameter in self.parameters())
