"""The encoder as a graph, from words to all inputs of the decoder (section 3.2, appendix A.2.1)."""

from __future__ import annotations

import numpy as np

from rnnsearch.config import ModelConfig
from rnnsearch.graphs import attention, cells
from rnnsearch.graphs.graph import Graph, Tensor
from rnnsearch.graphs.network import Affine, Network, Precision
from rnnsearch.graphs.state import Layout, value_maps
from rnnsearch.graphs.weights import Weights


def encoder(
    config: ModelConfig,
    weights: Weights,
    precision: Precision = "fp32",
    signed: bool = False,
    *,
    for_search: bool = False,
) -> Graph:
    """Return the graph of the encoder.

    Inputs: `words` (sentences, positions), the word ids of each sentence with its end symbol, and any ids after it; and
    `lengths` (sentences), which count the end symbol.

    Outputs: `annotations` h_j (sentences, positions, C); `keys` (sentences, positions, A), if the alignment model has them;
    `values` (sentences, positions, Y), whose weighted means replace the contexts; and `state` (sentences, X), the initial
    state of the decoder.

    With `for_search`, the graph reads the embeddings `x` (sentences, positions, E) instead of `words`, because a matrix of
    embeddings in the graph would be a second copy in memory.
    """
    net = Network("encoder", config, weights, precision, signed, for_file=not for_search)
    graph = net.graph
    axes = ("sentences", "positions")
    if for_search:
        x_BSE = graph.input("x", "float32", *axes, config.embedding_size)
    else:
        x_BSE = net.embedding(graph.input("words", "int64", *axes), "encoder.E")
    lengths_B = graph.input("lengths", "int64", "sentences")

    # The bidirectional recurrence, and the extra layers with their residual connections; then the annotations.
    lengths32_B = graph.cast(lengths_B, "int32")
    x_SBE = graph.apply("Transpose", x_BSE, perm=[1, 0, 2])
    h_SBC = cells.unroll(net, "encoder", x_SBE, lengths32_B)
    for layer in (f"encoder.extra_layers.{number}" for number in range(config.encoder_layers - 1)):
        h_SBC = h_SBC + cells.unroll(net, layer, net.norm(h_SBC, f"{layer}.norm"), lengths32_B)
    annotations_BSC = graph.apply("Transpose", net.norm(h_SBC, "encoder.norm"), perm=[1, 0, 2])
    summary_BN = _summary(net, annotations_BSC, lengths_B)

    # What the decoder reads: keys U_a h_j, values [C; C_o; …] h_j, and its initial state.
    layout = Layout.of(net)
    graph.output("annotations", annotations_BSC, "float32", "sentences", "positions", layout.context_size)
    if attention.has_keys(net):
        keys_BSA = attention.keys(net, annotations_BSC)
        graph.output("keys", keys_BSA, "float32", "sentences", "positions", attention.key_size(net))
    maps = value_maps(net)
    if config.alignment == "none":  # RNNencdec has one context for all positions
        values_BSY = attention.values(net, graph.insert_axis(summary_BN, 1), maps)
    else:
        values_BSY = attention.values(net, annotations_BSC, maps)
    positions = 1 if config.alignment == "none" else "positions"
    graph.output("values", values_BSY, "float32", "sentences", positions, layout.value_size)
    graph.output("state", _first_state(net, summary_BN, layout), "float32", "sentences", layout.size)
    return graph


def _summary(net: Network, annotations_BSC: Tensor, lengths_B: Tensor) -> Tensor:
    """Return h←_1 of a bidirectional encoder, or h→_Tx of a forward-only one, (B, N)."""
    graph, N = net.graph, net.config.hidden_size
    if net.config.bidirectional:
        first_B1C = graph.apply("Slice", annotations_BSC, *_slice(net, 0, 1, axis=1))
        return graph.split(graph.remove_axis(first_B1C, 1), [N, N])[1]
    # The last state of the forward recurrence is that of the end symbol.
    last_B = graph.apply("Sub", lengths_B, graph.constant(np.int64(1)))
    return graph.apply("GatherND", annotations_BSC, graph.insert_axis(last_B, 1), batch_dims=1)


def _slice(net: Network, start: int, end: int, axis: int) -> list[Tensor]:
    return [net.graph.constant(np.array([number], np.int64)) for number in (start, end, axis)]


def _first_state(net: Network, summary_BN: Tensor, layout: Layout) -> Tensor:
    """Return the initial state (B, X), with s_0 = tanh(W_s h←_1 + b_s) (appendix A.2.2).

    The other parts of a state are zero, except for κ_0 = −1 of a `monotonic` model.
    """
    graph = net.graph
    s_BN = graph.apply("Tanh", net.affine(summary_BN, Affine("decoder.W_s", "decoder.b_s")))
    # The constant part of the state, repeated for each sentence; the memory is at its end.
    rest = np.zeros((1, layout.size - net.config.hidden_size), np.float32)
    rest[:, rest.shape[1] - layout.memory :] = -1.0
    if not rest.size:
        return s_BN
    sentences = graph.apply("Shape", s_BN, start=0, end=1)
    shape = graph.join([sentences, graph.constant(np.array([rest.shape[1]], np.int64))])
    return graph.join([s_BN, graph.apply("Expand", graph.constant(rest), shape)])
