"""Attention layers: additive, location-sensitive, monotonic, and a mixture of Gaussians."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from rnnsearch.errors import RnnsearchError
from rnnsearch.model.attention import additive_energy, location_terms, mixture_energy
from rnnsearch.nn.memory import Memory
from rnnsearch.nn.shapes import Lengths, expect, padded, read_mask


class Attended(NamedTuple):
    """The result of a step of attention."""

    context: Tensor
    """The mean of the values, weighted by α, (B, value_size)."""
    weights: Tensor
    """The weights α, (B, S)."""
    state: Tensor | None
    """The state that the next step receives, (B, X); None if the steps do not depend on each other."""


class Attention(nn.Module):
    """A layer that attends to a memory. Subclasses define `align` and, if they need them, `keys` and `first_state`.

    There are two ways to use the layer. Called as a module, it takes a memory and all queries. In a loop, as in a decoder in
    which each context influences the next query, the memory is prepared once, and each step passes its state to the next:

        memory = attention.prepare(annotations, lengths=lengths)
        state = attention.first_state(memory)
        for t in range(T):
            context, weights, state = attention.step(query, memory, state)

    `AttentiveRNN` is this loop around a recurrent cell.
    """

    units: int | None = None
    """The size of a key; None if keys may have any size, or if there are none."""

    def __init__(self, query_size: int, memory_size: int | None) -> None:
        """Take the sizes of a query and of a vector of the memory; None stands for any size."""
        super().__init__()
        self.query_size = query_size
        self.memory_size = memory_size

    def keys(self, memory: Tensor) -> Tensor | None:
        """Return the terms of the energies that depend on a memory (B, S, memory_size) alone, (B, S, units)."""
        return None

    def first_state(self, memory: Memory) -> Tensor | None:
        """Return the state that the first step receives, (B, X); None if the steps do not depend on each other."""
        return None

    def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the weights (B, K, S) of queries (B, K, query_size), and the next state. K is 1 if there is a state."""
        raise NotImplementedError

    def prepare(
        self,
        memory: Tensor | PackedSequence,
        mask: Tensor | None = None,
        keys: Tensor | None = None,
        *,
        lengths: Lengths | None = None,
        values: Tensor | PackedSequence | None = None,
    ) -> Memory:
        """Prepare a memory (B, S, memory_size), or a packed one, for `step`; the parameters are those of `forward`."""
        memory, lengths = padded(memory, "memory", lengths)
        B, S, _ = expect(memory, "memory", (None, None, self.memory_size))
        # By default, the values are the memory itself, and the keys are computed from it.
        if values is None:
            values = memory
        else:
            values, _ = padded(values, "values", None)
            expect(values, "values", (B, S, None))
        if keys is None:
            keys = self.keys(memory)
        else:
            expect(keys, "keys", (B, S, self.units))
        return Memory(values, keys, *read_mask(mask, lengths, memory))

    def step(self, query: Tensor, memory: Memory, state: Tensor | None = None) -> Attended:
        """Attend to a prepared memory with a query of each sequence (B, query_size).

        `state` is that of the last step; without it, this is the first step. Raises RnnsearchError if shapes do not match.
        """
        # A single query of each sequence (K = 1).
        B = memory.values.shape[0]
        expect(query, "query", (B, self.query_size))
        memory.expect_queries(1)
        if state is None:
            state = self.first_state(memory)
        weights_B1S, state = self.align(query.unsqueeze(1), memory, state)
        return Attended(_contexts(weights_B1S, memory.values).squeeze(1), weights_B1S.squeeze(1), state)

    def forward(
        self,
        query: Tensor,
        memory: Tensor | PackedSequence,
        mask: Tensor | None = None,
        keys: Tensor | None = None,
        *,
        lengths: Lengths | None = None,
        values: Tensor | PackedSequence | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attend to a memory (B, S, memory_size) with a query of each sequence (B, query_size), or K (B, K, query_size).

        Returns the context (B, value_size) and the weights (B, S), or (B, K, value_size) and (B, K, S). If steps depend on
        each other, the K queries are K steps.

        `mask` (B, S), or (B, K, S) if it differs between queries, selects the positions that a query may attend to: those
        where it is True or, if its type is an integer, not zero. A mask of floating-point numbers is added to the energies,
        as by `torch.nn.functional.scaled_dot_product_attention`; −∞ (or the lowest number of its type) excludes a position.
        `lengths` (B) exclude all positions from these numbers on, with a mask or instead of one. An excluded position has
        the weight zero, and its vector has no effect as long as it is finite; if all are excluded, the weights and the
        context are zero. Otherwise the weights of a query sum to 1, except in `MonotonicAttention`.

        The context is the weighted mean of `values` (B, S, value_size), by default the memory. Pass `keys` =
        `layer.keys(memory)` if you attend to the same memory several times. Raises RnnsearchError if shapes do not match.
        """
        prepared = self.prepare(memory, mask, keys, lengths=lengths, values=values)
        if query.dim() == 2:
            context, weights, _ = self.step(query, prepared)
            return context, weights
        _, K, _ = expect(query, "query", (prepared.values.shape[0], None, self.query_size))
        prepared.expect_queries(K)
        state = self.first_state(prepared)
        # All queries at once, unless each step depends on the previous one.
        if state is None:
            weights_BKS, _ = self.align(query, prepared, None)
        else:
            steps = []
            for k in range(K):
                weights_B1S, state = self.align(query[:, k : k + 1], prepared.of_query(k), state)
                steps.append(weights_B1S)
            B, S, _ = prepared.values.shape
            weights_BKS = torch.cat(steps, 1) if steps else query.new_zeros(B, 0, S)
        return _contexts(weights_BKS, prepared.values), weights_BKS

    def extra_repr(self) -> str:
        return f"query_size={self.query_size}, memory_size={self.memory_size}"


class BahdanauAttention(Attention):
    """Additive attention (Bahdanau et al. 2015, appendix A.1.2).

    For a query q and the vectors m_j of a memory, the weights are α_j = softmax_j(v_aᵀ tanh(W_a q + U_a m_j)), and the
    context is Σ_j α_j m_j. In the paper, q is the decoder's last state, and m_j is the annotation of source word j.

    With `normalize`, the energies are g_a v_aᵀ / ‖v_a‖ tanh(W_a q + U_a m_j + b_a), with a learnt scale g_a and bias b_a
    (weight normalisation, Salimans and Kingma 2016, as in `tf.contrib.seq2seq`).
    """

    units: int

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        units: int,
        *,
        normalize: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of a query and of a vector of the memory, and the number of hidden units of the alignment model."""
        super().__init__(query_size, memory_size)
        self.units = units
        self.normalize = normalize
        self.W_a = nn.Parameter(torch.empty(units, query_size, device=device, dtype=dtype))
        self.U_a = nn.Parameter(torch.empty(units, memory_size, device=device, dtype=dtype))
        self.v_a = nn.Parameter(torch.empty(units, device=device, dtype=dtype))
        if normalize:
            self.g_a = nn.Parameter(torch.empty((), device=device, dtype=dtype))
            self.b_a = nn.Parameter(torch.empty(units, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw matrices and filters uniformly as Glorot and Bengio (2010) do, and v_a uniformly with variance 1 / units.

        The scale g_a and the bias b_a of `normalize` become 1 / √units and zero.
        """
        for name, parameter in self.named_parameters():
            self._reset(name, parameter)

    def _reset(self, name: str, parameter: nn.Parameter) -> None:
        """Initialise the parameter with this name."""
        if name == "v_a":
            bound = (3 / self.units) ** 0.5
            nn.init.uniform_(parameter, -bound, bound)
        elif name == "g_a":
            nn.init.constant_(parameter, self.units**-0.5)
        elif name == "b_a":
            nn.init.zeros_(parameter)
        else:
            nn.init.xavier_uniform_(parameter)

    def keys(self, memory: Tensor) -> Tensor:
        """Return U_a m_j for a memory (B, S, memory_size), (B, S, units); compute it once for all queries."""
        return nn.functional.linear(memory, self.U_a)

    def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return memory.softmax(self._energy(query_BKQ, memory)), None

    def _energy(self, query_BKQ: Tensor, memory: Memory, location_BKSA: Tensor | None = None) -> Tensor:
        """Return the energies e_ij (B, K, S), with the location terms U_f f_ij if there are any."""
        if memory.keys is None:
            raise RnnsearchError("the memory has no keys; prepare it with the `prepare` of this layer")
        if not self.normalize:
            return additive_energy(nn.functional.linear(query_BKQ, self.W_a), memory.keys, self.v_a, location_BKSA)
        # Weight normalisation: g_a v_a / ‖v_a‖; the smallest normal number prevents a division by zero.
        v_a = self.g_a * nn.functional.normalize(self.v_a, dim=0, eps=torch.finfo(self.v_a.dtype).tiny)
        return additive_energy(nn.functional.linear(query_BKQ, self.W_a, self.b_a), memory.keys, v_a, location_BKSA)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, units={self.units}" + (", normalize=True" if self.normalize else "")


class LocationAttention(BahdanauAttention):
    """Location-sensitive attention (Chorowski et al. 2015), which also depends on the weights of earlier steps.

    α_ij = softmax_j(v_aᵀ tanh(W_a q_i + U_a m_j + U_f f_ij)),  f_i = F ∗ α_{i−1},  α_0 = 0.

    With `cumulative`, the filters F are applied to Σ_{k<i} α_k instead of α_{i−1} (Tacotron 2, Shen et al. 2018).
    `normalize` is that of `BahdanauAttention`. The state (B, S) is the input of F.
    """

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        units: int,
        *,
        filters: int = 32,
        width: int = 31,
        cumulative: bool = False,
        normalize: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of `BahdanauAttention`, the number of filters, and the number of positions that a filter spans.

        Raises RnnsearchError if the width is not odd, because a filter then has no centre.
        """
        if width % 2 != 1:
            raise RnnsearchError(f"width is {width}; expected an odd number, so that a filter has a centre")
        super().__init__(query_size, memory_size, units, normalize=normalize, device=device, dtype=dtype)
        self.cumulative = cumulative
        self.F = nn.Parameter(torch.empty(filters, 1, width, device=device, dtype=dtype))
        self.U_f = nn.Parameter(torch.empty(units, filters, device=device, dtype=dtype))
        self.reset_parameters()

    def first_state(self, memory: Memory) -> Tensor:
        """Return α_0 = 0, (B, S)."""
        return memory.values.new_zeros(memory.values.shape[:2])

    def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor]:
        B, S, _ = memory.values.shape
        assert state_BX is not None
        expect(state_BX, "state", (B, S))
        if S == 0:  # a convolution needs at least one position
            return query_BKQ.new_zeros(B, 1, 0), state_BX
        # f_i = F ∗ state, where the state is α_{i−1} or, with `cumulative`, Σ_{k<i} α_k.
        location_B1SA = location_terms(state_BX.unsqueeze(1).to(self.F.dtype), self.F, self.U_f)
        weights_B1S = memory.softmax(self._energy(query_BKQ, memory, location_B1SA))
        weights_BS = weights_B1S.squeeze(1)
        return weights_B1S, state_BX + weights_BS if self.cumulative else weights_BS

    def extra_repr(self) -> str:
        filters, _, width = self.F.shape
        more = f", filters={filters}, width={width}" + (", cumulative=True" if self.cumulative else "")
        return super().extra_repr() + more


class MonotonicAttention(BahdanauAttention):
    """Monotonic attention, trained in expectation (Raffel et al. 2017), which moves over the memory from left to right only.

    Step i begins where step i − 1 stopped. At each position j, it stops with the probability p_ij, or goes on to j + 1:

        e_ij = g_a v_aᵀ / ‖v_a‖ tanh(W_a q_i + U_a m_j + b_a) + r        p_ij = σ(e_ij)
        α_ij = p_ij Σ_{k≤j} α_{i−1,k} Π_{k≤l<j} (1 − p_il)               α_0 = (1, 0, 0, …)

    α_ij is the probability that step i stops at j, and 1 − Σ_j α_ij that it passes the end, so the weights may sum to less
    than 1. With `hard`, a step stops at the first position where e_ij > 0, as the authors do after training; this is not
    differentiable. Noise that is added to the energies in training drives p_ij towards 0 or 1, where expected and hard
    attention agree. The state (B, S) is α, in float32 or better.
    """

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        units: int,
        *,
        score_bias: float = 0.0,
        noise: float = 0.0,
        hard: bool = False,
        normalize: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the sizes of `BahdanauAttention`, the initial value of r, and the standard deviation of the training noise.

        A lower r makes the first steps longer; the authors use values down to −4, and a noise of 1.
        """
        self.score_bias, self.noise, self.hard = score_bias, noise, hard
        super().__init__(query_size, memory_size, units, normalize=normalize, device=device, dtype=dtype)
        self.r = nn.Parameter(torch.empty((), device=device, dtype=dtype))
        self.reset_parameters()

    def _reset(self, name: str, parameter: nn.Parameter) -> None:
        if name == "r":
            nn.init.constant_(parameter, self.score_bias)
        else:
            super()._reset(name, parameter)

    def first_state(self, memory: Memory) -> Tensor:
        """Return α_0 = (1, 0, 0, …), (B, S)."""
        B, S, _ = memory.values.shape
        first_S = torch.arange(S, device=memory.values.device) == 0
        return first_S.to(torch.promote_types(memory.values.dtype, torch.float32)).expand(B, S)

    def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor]:
        B, S, _ = memory.values.shape
        assert state_BX is not None
        expect(state_BX, "state", (B, S))
        # The energies of all positions, with the bias r, the bias of a floating-point mask, and the noise of training.
        energy_BS = self._energy(query_BKQ, memory).squeeze(1).to(state_BX.dtype) + self.r
        if memory.bias is not None:
            energy_BS = energy_BS + memory.bias.squeeze(1).to(energy_BS.dtype)
        if memory.mask is not None:  # sigmoid(e) and log(1 − sigmoid(e)) of an excluded position are zero
            energy_BS = energy_BS.masked_fill(~memory.mask.squeeze(1), torch.finfo(energy_BS.dtype).min)
        if self.training and self.noise:
            energy_BS = energy_BS + self.noise * torch.randn_like(energy_BS)
        # The probabilities of stopping at each position, given where the previous step stopped.
        weights_BS = first_stop(energy_BS, state_BX) if self.hard else expected_stops(energy_BS, state_BX)
        return weights_BS.unsqueeze(1), weights_BS

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, score_bias={self.score_bias}, noise={self.noise}, hard={self.hard}"


class GaussianMixtureAttention(Attention):
    """Attention by location alone (Graves 2013): a mixture of X Gaussians over the positions, whose means only move forward.

    (a^, b^, κ^) = W_g q_i + b_g, for each of the X components;  κ_i = κ_{i−1} + exp κ^,  κ_0 = −1;
    φ_ij = Σ_x exp(a^_x − exp(b^_x) (κ_ix − j)²);  α_ij = φ_ij / Σ_k φ_ik, where Graves does not normalise.

    Positions j = 0, 1, … are those of the tensor. The state (B, X) is κ, in float32 or better. The exponents are at most 5.
    This is the alignment model `monotonic` of the translation models.
    """

    def __init__(
        self,
        query_size: int,
        components: int = 5,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """Take the size of a query, and the number X of Gaussians."""
        super().__init__(query_size, None)
        self.components = components
        self.W_g = nn.Parameter(torch.empty(3 * components, query_size, device=device, dtype=dtype))
        self.b_g = nn.Parameter(torch.empty(3 * components, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W_g uniformly as Glorot and Bengio (2010) do; b_g is zero, so that steps are about one position long."""
        nn.init.xavier_uniform_(self.W_g)
        nn.init.zeros_(self.b_g)

    def first_state(self, memory: Memory) -> Tensor:
        """Return κ_0 = −1, (B, X)."""
        dtype = torch.promote_types(memory.values.dtype, torch.float32)
        return memory.values.new_full((memory.values.shape[0], self.components), -1.0, dtype=dtype)

    def align(self, query_BKQ: Tensor, memory: Memory, state_BX: Tensor | None) -> tuple[Tensor, Tensor]:
        B, S, _ = memory.values.shape
        assert state_BX is not None
        expect(state_BX, "state", (B, self.components))
        # The softmax of log φ divides φ by its sum over the positions.
        hats = nn.functional.linear(query_BKQ, self.W_g, self.b_g)
        energy_B1S, kappa_B1X = mixture_energy(hats, state_BX.unsqueeze(1), S)
        return memory.softmax(energy_B1S), kappa_B1X.squeeze(1)

    def extra_repr(self) -> str:
        return f"query_size={self.query_size}, components={self.components}"


def expected_stops(energy_BS: Tensor, alpha_BS: Tensor) -> Tensor:
    """Return α_i (B, S) of `MonotonicAttention` from e_i and α_{i−1}, for all positions at once, in logarithms.

    With C_j = Σ_{l<j} log(1 − p_il), the sum over k is exp(C_j) Σ_{k≤j} exp(log α_{i−1,k} − C_k).
    """
    # log(1 − p_ij) = −softplus(e_ij), and C_j, its exclusive cumulative sum. Logarithms prevent an underflow of products.
    log_passed_BS = -nn.functional.softplus(energy_BS)
    C_BS = nn.functional.pad(log_passed_BS, (1, 0))[:, : energy_BS.shape[1]].cumsum(-1)
    log_alpha_BS = alpha_BS.clamp(min=torch.finfo(alpha_BS.dtype).tiny).log()
    return torch.sigmoid(energy_BS) * (C_BS + torch.logcumsumexp(log_alpha_BS - C_BS, -1)).exp()


def first_stop(energy_BS: Tensor, alpha_BS: Tensor) -> Tensor:
    """Return α_i (B, S) of hard attention: 1 at the first position with e_ij > 0, from the previous stop on; 0 elsewhere."""
    # The cumulative sum of α_{i−1} is 1 from the previous stop on.
    stops_BS = (energy_BS > 0) & (alpha_BS.cumsum(-1) > 0.5)
    return (stops_BS & (stops_BS.cumsum(-1) == 1)).to(alpha_BS.dtype)


def _contexts(weights_BKS: Tensor, values_BSX: Tensor) -> Tensor:
    """Return Σ_j α_ij m_j, (B, K, X)."""
    return torch.bmm(weights_BKS.to(values_BSX.dtype), values_BSX)
