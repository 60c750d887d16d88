"""The alignment model a, which weights the source positions at each step of the decoder (section 3.1, appendix A.1.2).

The paper allows any choice of a. To add an alignment model, define a class, here or in a plugin; its name becomes a value of
`model.alignment`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from rnnsearch.model.source import Source
from rnnsearch.plugins import register


class Attended(NamedTuple):
    """The result of a step of attention, for K hypotheses of each of B sentences."""

    context_BKC: Tensor
    """c_i = Σ_j α_ij h_j."""
    alpha_BKS: Tensor | None
    """The weights α_i; None if there is no alignment model."""
    memory_BKX: Tensor | None = None
    """The memory that the alignment model receives at the next step; None if it has no memory."""


ATTENTIONS: dict[str, type[Attention]] = {}
"""The alignment models by their name in `model.alignment`."""


class Attention(nn.Module):
    """An alignment model, which maps the state s_{i−1} and the annotations h_j to the weights α_i and the context c_i."""

    def __init_subclass__(cls, name: str, **more: Any) -> None:
        super().__init_subclass__(**more)
        ATTENTIONS[name] = cls
        register("alignment", name)

    aligns: ClassVar[bool] = True
    """Whether the model computes weights α."""
    remembers_positions: ClassVar[bool] = False
    """Whether the memory has a number for every source position, so that its size changes with the padding."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        """Create parameters for states of size N, annotations of size C, and a hidden layer of size A, if there is one."""
        super().__init__()
        self.hidden_size = hidden_size

    def keys(self, annotations_BSC: Tensor) -> Tensor | None:
        """Return the terms that depend on the annotations alone, (B, S, A) or None; they are computed once per sentence."""
        return None

    def first_memory(self, source: Source) -> Tensor | None:
        """Return the memory (B, 1, X) that the first step receives, or None."""
        return None

    def step(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None) -> Attended:
        """Compute the weights and contexts from the states s_{i−1} (B, K, N) and the memory that the previous step returned.

        If sentences have been selected or added since that step, the number of padded positions may have changed. A memory
        of positions is therefore padded with zeros, or truncated, to the present number.
        """
        if memory_BKX is not None and self.remembers_positions:
            memory_BKX = nn.functional.pad(memory_BKX, (0, source.mask_BS.shape[1] - memory_BKX.shape[2]))
        attended: Attended = self(s_BKN, source, memory_BKX)
        return attended

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        """Compute the weights (B, K, S) and contexts (B, K, C) from the states s_{i−1} (B, K, N) and the memory."""
        raise NotImplementedError

    def initial_weight(self, name: str, weight: Tensor, generator: torch.Generator) -> Tensor | None:
        """Return the initial value of a weight, drawn from `generator`; None leaves it to `RNNsearch.initialize`."""
        return None


class AdditiveAttention(Attention, name="mlp"):
    """The paper's alignment model (appendix A.1.2; Eq. 6 and 5).

    e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j), α_i = softmax_j(e_ij), c_i = Σ_j α_ij h_j.
    """

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.W_a = nn.Parameter(torch.zeros(alignment_size, hidden_size))
        self.U_a = nn.Parameter(torch.zeros(alignment_size, context_size))
        self.v_a = nn.Parameter(torch.zeros(alignment_size))

    def keys(self, annotations_BSC: Tensor) -> Tensor:
        """Return U_a h_j, (B, S, A)."""
        return nn.functional.linear(annotations_BSC, self.U_a)

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        # The query W_a s_{i−1}; the keys U_a h_j were computed once for the sentence.
        query_BKA = nn.functional.linear(s_BKN, self.W_a)
        return attend(additive_energy(query_BKA, source.keys_BSA, self.v_a), source)


class LocationAttention(AdditiveAttention, name="location"):
    """Additive attention that also depends on the weights of the previous step (Chorowski et al. 2015, section 2.2).

    e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + U_f f_ij),  f_i = F ∗ α_{i−1}, with α_0 = 0.
    """

    remembers_positions = True
    FILTERS, WIDTH = 8, 11
    """The number and the width of the filters F, which are convolved with α over source positions."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.F = nn.Parameter(torch.zeros(self.FILTERS, 1, self.WIDTH))
        self.U_f = nn.Parameter(torch.zeros(alignment_size, self.FILTERS))

    def first_memory(self, source: Source) -> Tensor:
        """Return α_0 = 0, (B, 1, S)."""
        return source.annotations_BSC.new_zeros(len(source.mask_BS), 1, source.mask_BS.shape[1])

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        assert memory_BKX is not None
        # The memory is α_{i−1}; the weights of this step become the memory of the next one.
        query_BKA = nn.functional.linear(s_BKN, self.W_a)
        location_BKSA = location_terms(memory_BKX, self.F, self.U_f)
        attended = attend(additive_energy(query_BKA, source.keys_BSA, self.v_a, location_BKSA), source)
        return attended._replace(memory_BKX=attended.alpha_BKS)


class FixedContext(Attention, name="none"):
    """No alignment model, as in RNNencdec: every context is the encoder's last state, c_i = h→_Tx (section 2.1)."""

    aligns = False

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        return Attended(source.summary_BN.unsqueeze(1).expand(-1, s_BKN.shape[1], -1), None)


class DotAttention(Attention, name="dot"):
    """Dot-product attention without parameters (Luong et al. 2015): e_ij = s_{i−1}ᵀ (h→_j + h←_j).

    In Luong et al., states and annotations have the same size; here, the sum of both directions has the size of a state.
    """

    def keys(self, annotations_BSC: Tensor) -> Tensor:
        """Return h→_j + h←_j, or h→_j of a forward-only encoder, (B, S, N)."""
        # X is 2, or 1 for a forward-only encoder.
        halves_BSXN: Tensor = annotations_BSC.unflatten(-1, (-1, self.hidden_size))
        return halves_BSXN.sum(-2)

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert source.keys_BSA is not None
        return attend(torch.bmm(s_BKN, source.keys_BSA.transpose(1, 2)), source)


class BilinearAttention(DotAttention, name="bilinear"):
    """Bilinear attention (`general` in Luong et al. 2015): e_ij = s_{i−1}ᵀ W_a h_j."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.W_a = nn.Parameter(torch.zeros(hidden_size, context_size))

    def keys(self, annotations_BSC: Tensor) -> Tensor:
        """Return W_a h_j, (B, S, N)."""
        return nn.functional.linear(annotations_BSC, self.W_a)


class GaussianMixtureAttention(Attention, name="monotonic"):
    """The mixture of Gaussians of Graves (2013), whose means only move forward. The paper discusses it in section 6.1.

    (a^, b^, κ^) = W_g s_{i−1} + b_g, for each of X components;  κ_i = κ_{i−1} + exp κ^;
    φ_ij = Σ_x exp(a^_x − exp(b^_x) (κ_ix − j)²);  α_ij = φ_ij / Σ_k φ_ik, so the weights of a step sum to 1.
    """

    COMPONENTS = 5
    """The number X of Gaussians."""

    def __init__(self, hidden_size: int, context_size: int, alignment_size: int) -> None:
        super().__init__(hidden_size, context_size, alignment_size)
        self.W_g = nn.Parameter(torch.zeros(3 * self.COMPONENTS, hidden_size))
        self.b_g = nn.Parameter(torch.zeros(3 * self.COMPONENTS))

    def first_memory(self, source: Source) -> Tensor:
        """Return κ_0 = −1, (B, 1, X), so that with parameters of zero the first step attends to the first word."""
        return source.summary_BN.new_full((len(source.summary_BN), 1, self.COMPONENTS), -1.0)

    def forward(self, s_BKN: Tensor, source: Source, memory_BKX: Tensor | None = None) -> Attended:
        assert memory_BKX is not None
        # α is the softmax of log φ, which divides φ by its sum over the positions; the memory is κ.
        hats = nn.functional.linear(s_BKN, self.W_g, self.b_g)
        energy_BKS, kappa_BKX = mixture_energy(hats, memory_BKX, source.mask_BS.shape[1])
        return attend(energy_BKS, source)._replace(memory_BKX=kappa_BKX)


def additive_energy(query_BKA: Tensor, keys_BSA: Tensor, v_a: Tensor, location_BKSA: Tensor | None = None) -> Tensor:
    """Return e_ij = v_aᵀ tanh(query_i + keys_j + location_ij), (B, K, S), for queries W_a s_{i−1} and keys U_a h_j."""
    # All pairs of a query and a source position.
    total_BKSA = query_BKA.unsqueeze(2) + keys_BSA.unsqueeze(1)
    if location_BKSA is not None:
        total_BKSA = total_BKSA + location_BKSA
    return torch.tanh(total_BKSA) @ v_a


def location_terms(alpha_BKS: Tensor, F: Tensor, U_f: Tensor) -> Tensor:
    """Return U_f f_ij (B, K, S, A), with f_i = F ∗ α_{i−1}, for filters F (X, 1, width) and U_f (A, X)."""
    f = nn.functional.conv1d(alpha_BKS.flatten(0, 1).unsqueeze(1), F, padding="same")  # (B K, X, S)
    location_BKSA: Tensor = nn.functional.linear(f.transpose(1, 2), U_f).unflatten(0, alpha_BKS.shape[:2])
    return location_BKSA


LARGEST_EXPONENT = 5.0
"""The upper bound of a mixture's exponents: a step of e⁵ positions, or a Gaussian much narrower than one position."""


def mixture_energy(hats: Tensor, kappa_BKX: Tensor, S: int) -> tuple[Tensor, Tensor]:
    """Return log φ_i (B, K, S) and κ_i (B, K, X) for `GaussianMixtureAttention`.

    They follow from `hats` = [a^ ; b^ ; κ^] (B, K, 3X) and `kappa` = κ_{i−1}.
    """
    # The parameters of the Gaussians; κ_i = κ_{i−1} + exp κ^.
    hats = hats.clamp(max=LARGEST_EXPONENT)
    hats = hats.to(torch.promote_types(hats.dtype, torch.float32))  # bfloat16 cannot distinguish position 300 from 301
    a_BKX, b_BKX, step_BKX = hats.chunk(3, -1)
    kappa_BKX = kappa_BKX + step_BKX.exp()
    # log φ_ij = log Σ_x exp(a^_x − exp(b^_x) (κ_ix − j)²).
    positions_S = torch.arange(S, device=hats.device, dtype=hats.dtype)
    distance_BKSX = kappa_BKX.unsqueeze(2) - positions_S.unsqueeze(1)
    return (a_BKX.unsqueeze(2) - b_BKX.exp().unsqueeze(2) * distance_BKSX**2).logsumexp(-1), kappa_BKX


def masked_softmax(energy_BKS: Tensor, mask_BXS: Tensor) -> Tensor:
    """Return α_i = softmax_j(e_ij) over the positions where the mask is True, (B, K, S).

    α is zero at all other positions; if the mask is False everywhere, all weights of that step are zero. X is K, or 1 if
    all K share a mask.
    """
    outside_BXS = ~mask_BXS
    # The lowest finite number instead of −∞: the softmax of a row of −∞ would be NaN.
    energy_BKS = energy_BKS.masked_fill(outside_BXS, torch.finfo(energy_BKS.dtype).min)
    return torch.softmax(energy_BKS, -1).masked_fill(outside_BXS, 0.0)


def attend(energy_BKS: Tensor, source: Source) -> Attended:
    """Compute α_i = softmax_j(e_ij) over the sentence's own positions (Eq. 6), and c_i = Σ_j α_ij h_j (Eq. 5)."""
    alpha_BKS = masked_softmax(energy_BKS, source.mask_BS.unsqueeze(1))
    return Attended(torch.bmm(alpha_BKS, source.annotations_BSC), alpha_BKS)
