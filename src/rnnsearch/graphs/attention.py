"""The alignment model a (section 3.1, appendix A.1.2): energies, weights and contexts. See `model.attention`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rnnsearch.graphs.graph import Tensor
from rnnsearch.graphs.hypotheses import Rectangle
from rnnsearch.graphs.network import Affine, Network

_PART = "decoder.alignment"
MIXTURE = 5
"""The number of Gaussians of a `monotonic` model: the width of its memory κ."""
_LARGEST_EXPONENT = 5.0
_LOWEST = float(np.finfo(np.float32).min)


def has_keys(net: Network) -> bool:
    """Whether the energies depend on the annotations."""
    return net.config.alignment not in ("none", "monotonic")


def keys(net: Network, annotations_BSC: Tensor) -> Tensor:
    """Return the terms of the energies that depend on the annotations alone, (B, S, A), such as U_a h_j."""
    graph, N = net.graph, net.config.hidden_size
    if net.config.alignment == "dot":  # the sum of both directions, h→_j + h←_j
        halves = graph.split(annotations_BSC, [N] * (1 + net.config.bidirectional))
        return halves[0] if len(halves) == 1 else halves[0] + halves[1]
    matrix = "W_a" if net.config.alignment == "bilinear" else "U_a"
    return net.affine_of_positions(annotations_BSC, Affine(f"{_PART}.{matrix}"))


def key_size(net: Network) -> int:
    """Return A, the width of the keys."""
    return net.config.hidden_size if net.config.alignment in ("dot", "bilinear") else net.config.alignment_size


def query_maps(net: Network) -> list[Affine]:
    """Return the maps from the state s_{i−1} to its terms of the energies; an empty list if the state is the query."""
    if net.config.alignment in ("mlp", "location"):
        return [Affine(f"{_PART}.W_a")]
    return [Affine(f"{_PART}.W_g", f"{_PART}.b_g")] if net.config.alignment == "monotonic" else []


def additive_energy(net: Network, query_QKA: Tensor, keys_QSA: Tensor, location_QKSA: Tensor | None = None) -> Tensor:
    """Return e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j + U_f f_ij), (Q, K, S) (appendix A.1.2).

    The term U_f f_ij belongs to a `location` model.
    """
    graph = net.graph
    # All pairs of a hypothesis and a source position, (Q, K, S, A).
    total_QKSA = graph.insert_axis(query_QKA, 2) + graph.insert_axis(keys_QSA, 1)
    if location_QKSA is not None:
        total_QKSA = total_QKSA + location_QKSA
    v_a = graph.constant(net.weights[f"{_PART}.v_a"][:, None])
    return graph.remove_axis(graph.apply("Tanh", total_QKSA) @ v_a, -1)


def location_terms(net: Network, alpha_RS: Tensor) -> Tensor:
    """Return U_f f_ij (R, S, A), with f_i = F ∗ α_{i−1} (Chorowski et al. 2015, section 2.2)."""
    graph, F, U_f = net.graph, net.weights[f"{_PART}.F"], net.weights[f"{_PART}.U_f"]
    reach = F.shape[2] // 2
    # X filters are convolved with the weights of the previous step, which are padded with zeros on both sides.
    f_RXS = graph.apply("Conv", graph.insert_axis(alpha_RS, 1), graph.constant(F), pads=[reach, reach])
    f_RSX = graph.apply("Transpose", f_RXS, perm=[0, 2, 1])
    return f_RSX @ graph.constant(np.ascontiguousarray(U_f.T))


def dot_energy(net: Network, s_QKN: Tensor, keys_QSN: Tensor) -> Tensor:
    """Return e_ij = s_{i−1}ᵀ k_j, (Q, K, S) (Luong et al. 2015)."""
    return s_QKN @ net.graph.apply("Transpose", keys_QSN, perm=[0, 2, 1])


def mixture_weights(
    net: Network, hats_RX: Tensor, kappa_RX: Tensor, inside_QS: Tensor, hypotheses: Rectangle
) -> tuple[Tensor, Tensor]:
    """Return α_ij = φ_ij / Σ_k φ_ik, (Q, K, S), and κ_i = κ_{i−1} + exp κ^, (R, X) (Graves 2013).

    φ_ij = Σ_x exp(a^_x − exp(b^_x) (κ_ix − j)²), for X Gaussians. α is therefore a softmax over all pairs of a position and
    a Gaussian, summed over the Gaussians.
    """
    # The parameters of the Gaussians; the means κ only move forward.
    graph = net.graph
    hats_RX = graph.apply("Min", hats_RX, _LARGEST_EXPONENT)
    a_RX, b_RX, step_RX = graph.split(hats_RX, [MIXTURE] * 3)
    kappa_RX = kappa_RX + graph.apply("Exp", step_RX)
    a_R1X, b_R1X, kappa_R1X = (graph.insert_axis(one, 1) for one in (a_RX, graph.apply("Exp", b_RX), kappa_RX))
    # The exponent a^ − exp(b^) (κ − j)² of each position and Gaussian.
    positions_S1 = graph.insert_axis(graph.cast(graph.positions(inside_QS, 1), "float32"), 1)
    distance_RSX = kappa_R1X - positions_S1
    terms_RSX = a_R1X - b_R1X * distance_RSX * distance_RSX
    # The softmax over positions and Gaussians, with padding masked; then the sum over the Gaussians.
    terms_QKX = hypotheses.grid(graph.reshape(terms_RSX, 0, -1))
    terms_QKSX = graph.reshape(terms_QKX, 0, 0, -1, MIXTURE)
    terms_QKSX = graph.apply("Where", graph.insert_axis(graph.insert_axis(inside_QS, 1), 3), terms_QKSX, _LOWEST)
    shares_QKX = graph.apply("Softmax", graph.reshape(terms_QKSX, 0, 0, -1), axis=-1)
    return graph.reduce("ReduceSum", graph.reshape(shares_QKX, 0, 0, -1, MIXTURE), 3), kappa_RX


def weights(net: Network, energy_QKS: Tensor, inside_QS: Tensor) -> Tensor:
    """Return α_i = softmax_j(e_ij) over a sentence's own positions, (Q, K, S) (Eq. 6)."""
    energy_QKS = net.graph.apply("Where", net.graph.insert_axis(inside_QS, 1), energy_QKS, _LOWEST)
    return net.graph.apply("Softmax", energy_QKS, axis=-1)


def inside(net: Network, values_QSY: Tensor, lengths_Q: Tensor) -> Tensor:
    """Return a mask (Q, S) of the positions that belong to a sentence."""
    graph = net.graph
    return graph.apply("Less", graph.positions(values_QSY, 1), graph.insert_axis(lengths_Q, 1))


def values(net: Network, annotations_BSC: Tensor, maps: Sequence[Affine]) -> Tensor:
    """Return [C; C_o; …] h_j (B, S, Y), in place of the annotations.

    The decoder reads a context only through linear maps, and C c_i = Σ_j α_ij C h_j. The maps are therefore applied once to
    each sentence instead of at each step.
    """
    return net.affine_of_positions(annotations_BSC, *maps)
