"""The alignment layer as a graph, which predicts the word links between two given sentences.

The equations are those of `rnnsearch.model.alignment_layer.AlignmentLayer`.
"""

from __future__ import annotations

import numpy as np

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.graph import Graph, Tensor
from rnnsearch.graphs.network import Affine, Network, Precision
from rnnsearch.graphs.weights import Weights

_FAR = -1e4


def alignment_layer(
    config: ModelConfig, weights: Weights, layer: Weights, precision: Precision = "fp32", signed: bool = False
) -> Graph:
    """Return the graph of an alignment layer, for sentence pairs whose translations were forced through the decoder.

    Inputs: `words` (sentences, positions) and `lengths` as for the encoder; `target_words` (sentences, steps) with the end
    symbol and any ids after it, and `target_lengths`; `annotations` of the encoder; `states` s_0 … s_Ty (sentences, steps +
    1, N), and `alpha` (sentences, steps, positions).

    Output: the `probabilities` p_ij of links (sentences, steps, positions); those of end symbols and padding are
    meaningless.
    """
    # The inputs.
    net = Network("alignment_layer", config, weights | layer, precision, signed)
    graph, N = net.graph, config.hidden_size
    words_BS = graph.input("words", "int64", "sentences", "positions")
    lengths_B = graph.input("lengths", "int64", "sentences")
    target_words_BT = graph.input("target_words", "int64", "sentences", "steps")
    target_lengths_B = graph.input("target_lengths", "int64", "sentences")
    C = N * (1 + config.bidirectional)
    annotations_BSC = graph.input("annotations", "float32", "sentences", "positions", C)
    states_BXN = graph.input("states", "float32", "sentences", "states", N)
    alpha_BTS = graph.input("alpha", "float32", "sentences", "steps", "positions")

    # Masks of the words and position pairs that are no padding, and the relative positions of words.
    inside_BS, places_BS = _positions(net, words_BS, lengths_B)
    inside_BT, target_places_BT = _positions(net, target_words_BT, target_lengths_B)
    inside_BS1, inside_BT1 = graph.insert_axis(inside_BS, 2), graph.insert_axis(inside_BT, 2)
    inside_BTS = graph.apply("And", inside_BT1, graph.insert_axis(inside_BS, 1))

    # e_ij = q_i · k_j,  q_i = tanh(W_l [s_{i−1}; s_i; E y_i; E y_{i+1}] + b_l),  k_j = U_l [h_j; E x_j]
    y_BTE = graph.apply("Where", inside_BT1, net.embedding(target_words_BT, "decoder.E"), 0.0)
    before_BTN, after_BTN = _slice(net, states_BXN, 0, -1), _slice(net, states_BXN, 1, None)
    read_BTX = graph.join([before_BTN, after_BTN, y_BTE, _next(net, y_BTE)])
    read_BTX = graph.apply("Where", inside_BT1, read_BTX, 0.0)
    query_BTA = graph.apply("Tanh", net.affine_of_positions(read_BTX, Affine("W_l", "b_l")))
    read_BSX = graph.join([annotations_BSC, net.embedding(words_BS, "encoder.E")])
    key_BSA = net.affine_of_positions(graph.apply("Where", inside_BS1, read_BSX, 0.0), Affine("U_l"))
    energy_BTS = query_BTA @ graph.apply("Transpose", key_BSA, perm=[0, 2, 1])
    energy_BTS = graph.apply("Where", inside_BTS, energy_BTS, _FAR)

    # p→_ij = softmax_j(e_ij),  p←_ij = softmax_i(e_ij),  m_ij = (p→_ij p←_ij)^½,  K ∗ m
    log_forward_BTS = graph.apply("LogSoftmax", energy_BTS, axis=2)
    log_backward_BTS = graph.apply("LogSoftmax", energy_BTS, axis=1)
    linked_BTS = graph.apply("Exp", (log_forward_BTS + log_backward_BTS) * 0.5)
    linked_BTS = graph.apply("Where", inside_BTS, linked_BTS, 0.0)
    K = layer["K"][None, None]
    reach = K.shape[2] // 2
    around_BXTS = graph.apply("Conv", graph.insert_axis(linked_BTS, 1), graph.constant(K), pads=[reach] * 4)

    # p_ij = σ(w_l · f_ij + (K ∗ m)_ij + c_l),  f_ij = (e_ij, ln p→_ij, ln p←_ij, α_ij, α_{i+1,j}, |i/Ty − j/Tx|)
    target_places_BT1, places_B1S = graph.insert_axis(target_places_BT, 2), graph.insert_axis(places_BS, 1)
    away_BTS = graph.apply("Abs", target_places_BT1 - places_B1S)
    features = [energy_BTS, log_forward_BTS, log_backward_BTS, alpha_BTS, _next(net, alpha_BTS), away_BTS]
    total_BTS = features[0] * float(layer["w_l"][0])
    for feature, weight in zip(features[1:], layer["w_l"][1:], strict=True):
        total_BTS = total_BTS + feature * float(weight)
    total_BTS = graph.apply("Where", inside_BTS, total_BTS, 0.0)
    total_BTS = total_BTS + graph.remove_axis(around_BXTS, 1) + graph.constant(layer["c_l"])
    probabilities_BTS = graph.apply("Sigmoid", total_BTS)
    graph.output("probabilities", probabilities_BTS, "float32", "sentences", "steps", "positions")
    return graph


def _positions(net: Network, words_BX: Tensor, lengths_B: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask (B, X) of the positions that belong to a sentence, and their relative positions (B, X), from 0 to 1."""
    graph = net.graph
    positions_X, lengths_B1 = graph.positions(words_BX, 1), graph.insert_axis(lengths_B, 1)
    places_BX = (graph.cast(positions_X, "float32") + 0.5) / graph.cast(lengths_B1, "float32")
    return graph.apply("Less", positions_X, lengths_B1), places_BX


def _slice(net: Network, steps_BTX: Tensor, start: int, end: int | None) -> Tensor:
    """Return the steps from `start` to before `end`; None stands for the end."""
    last = np.iinfo(np.int64).max if end is None else end
    bounds = [net.graph.constant(np.array([number], np.int64)) for number in (start, last, 1)]
    return net.graph.apply("Slice", steps_BTX, *bounds)


def _next(net: Network, steps_BTX: Tensor) -> Tensor:
    """Return the values of the next step in place of each step's own; zero at the last step."""
    pads = net.graph.constant(np.array([0, 0, 0, 0, 1, 0], np.int64))
    return net.graph.apply("Pad", _slice(net, steps_BTX, 1, None), pads)
