"""A step of the decoder as a graph: extend hypotheses by words, attend, predict the next word (appendix A.2.2)."""

from __future__ import annotations

import numpy as np

from rnnsearch.config import ModelConfig
from rnnsearch.graphs import attention, cells
from rnnsearch.graphs.cells import CELLS
from rnnsearch.graphs.graph import Graph, Tensor
from rnnsearch.graphs.network import Affine, Network, Precision
from rnnsearch.graphs.state import Layout, generates_first, layer_names
from rnnsearch.graphs.weights import Weights


def step(config: ModelConfig, weights: Weights, precision: Precision = "fp32", signed: bool = False) -> Graph:
    """The graph of a step, for the same number of hypotheses of each sentence.

    Inputs: `state` (rows, X), from the encoder or from the step before; `parents` (sentences, hypotheses), the row of that
    state that each hypothesis continues; `words` (sentences, hypotheses), the word by which it does so, or −1 before the
    first one; `keys`, `values` and `lengths` of the encoder, for these sentences; `count` (1), how many of the most
    probable words are wanted. A `location` model also reads `alpha_before` (rows, positions), the `alpha` of the step
    before, which is zero at first.

    Outputs: `next_state` (sentences × hypotheses, X); `alpha` (sentences, hypotheses, positions), if the model has an
    alignment; `best` (sentences, hypotheses, count), the most probable words, and `best_log_p`, log p of each; and `log_p`
    of all words (sentences, hypotheses, V).
    """
    net = Network("step", config, weights, precision, signed)
    graph, layout = net.graph, Layout.of(net)
    state_XX = graph.input("state", "float32", "rows", layout.size)
    parents_QK = graph.input("parents", "int64", "sentences", "hypotheses")
    words_QK = graph.input("words", "int64", "sentences", "hypotheses")
    source = _source(net, layout)
    shape_QK = graph.apply("Shape", parents_QK)
    parents_R, words_R = graph.reshape(parents_QK, -1), graph.reshape(words_QK, -1)

    # What the hypotheses carry, and the word by which each is extended.
    widths = [layout.recurrent, *[layout.recurrent] * (config.decoder_layers - 1), layout.context, layout.memory]
    parts = iter(graph.split(graph.apply("Gather", state_XX, parents_R), [width for width in widths if width]))
    state_RD = next(parts)
    layers_RD = [next(parts) for _ in layer_names(net)]
    context_RG = next(parts) if layout.context else None
    memory_RX = next(parts) if layout.memory else None
    y_RE = net.embedding(words_R, "decoder.E")
    inputs_RG, read_RL = net.affine_parts(
        y_RE, CELLS[config.cell].inputs("decoder.cell"), [Affine("readout.V_o", "readout.b_o")]
    )

    if context_RG is not None:  # s_{i−1} = f(s_{i−2}, y_{i−1}, c_{i−1}); before the first word there is s_0
        is_first_R1 = graph.insert_axis(graph.apply("Less", words_R, graph.constant(np.int64(0))), 1)
        updated_RD = cells.step(net, "decoder.cell", state_RD, inputs_RG + context_RG)
        state_RD = graph.apply("Where", is_first_R1, state_RD, updated_RD)
    s_RN = cells.hidden(net, state_RD)

    # The query and the readout read the same state in one of the two orders, and are then one matrix product.
    query_maps, U_o, from_state_RL = attention.query_maps(net), Affine("readout.U_o"), None
    if query_maps and context_RG is not None and not layers_RD:
        query_RX, from_state_RL = net.affine_parts(s_RN, query_maps, [U_o])
    else:
        query_RX = net.affine(s_RN, *query_maps) if query_maps else s_RN
    if "alpha_before" in source:
        memory_RX = graph.apply("Gather", source["alpha_before"], parents_R)
    alpha_QKS, context_RY, memory_RX = _attend(net, query_RX, memory_RX, source, shape_QK)
    context_RG, context_RL, *contexts_RG = graph.split(
        context_RY, [layout.gates, 2 * config.maxout_size, *[layout.gates] * len(layers_RD)]
    )

    if not generates_first(net):  # s_i = f(s_{i−1}, y_{i−1}, c_i)
        state_RD = cells.step(net, "decoder.cell", state_RD, inputs_RG + context_RG)
        s_RN = cells.hidden(net, state_RD)
    for number, layer in enumerate(layer_names(net)):  # u_i = f(u_{i−1}, s_i, c_i), and s_i + u_i is read above
        below_RN = net.norm(s_RN, f"{layer}.norm")
        layer_RG = net.affine(below_RN, *CELLS[config.cell].inputs(f"{layer}.cell")) + contexts_RG[number]
        layers_RD[number] = cells.step(net, f"{layer}.cell", layers_RD[number], layer_RG)
        s_RN = s_RN + cells.hidden(net, layers_RD[number])
    if from_state_RL is None:
        from_state_RL = net.affine(s_RN, U_o)

    carried = [state_RD, *layers_RD, *([context_RG] if layout.context else [])]
    if memory_RX is not None and layout.memory:
        carried.append(memory_RX)
    graph.output("next_state", graph.join(carried), "float32", "rows_after", layout.size)
    if alpha_QKS is not None:
        graph.output("alpha", alpha_QKS, "float32", "sentences", "hypotheses", "positions")
    _predict(net, from_state_RL + read_RL + context_RL, shape_QK)
    return graph


def _source(net: Network, layout: Layout) -> dict[str, Tensor]:
    """The inputs of a step that are of the source."""
    graph, aligns = net.graph, net.config.alignment != "none"
    source = {}
    if attention.has_keys(net):
        source["keys"] = graph.input("keys", "float32", "sentences", "positions", attention.key_size(net))
    source["values"] = graph.input("values", "float32", "sentences", "positions" if aligns else 1, layout.value_size)
    if aligns:
        source["lengths"] = graph.input("lengths", "int64", "sentences")
    if net.config.alignment == "location":
        source["alpha_before"] = graph.input("alpha_before", "float32", "rows", "positions")
    return source


def _attend(
    net: Network, query_RX: Tensor, memory_RX: Tensor | None, source: dict[str, Tensor], shape_QK: Tensor
) -> tuple[Tensor | None, Tensor, Tensor | None]:
    """α_i (Q, K, S), the context as a value (R, Y), and the memory of a `monotonic` model (R, 5), after this step."""
    graph, values_QSY = net.graph, source["values"]
    if net.config.alignment == "none":  # one context for every step
        width = Layout.of(net).value_size
        shape = graph.join([shape_QK, graph.constant(np.array([width], np.int64))])
        return None, graph.reshape(graph.apply("Expand", values_QSY, shape), -1, width), None
    inside_QS = attention.inside(net, values_QSY, source["lengths"])
    if net.config.alignment == "monotonic":
        assert memory_RX is not None
        alpha_QKS, memory_RX = attention.mixture_weights(net, query_RX, memory_RX, inside_QS, shape_QK)
    else:
        query_QKX = attention.by_sentences(net, query_RX, shape_QK)
        if net.config.alignment in ("dot", "bilinear"):
            energy_QKS = attention.dot_energy(net, query_QKX, source["keys"])
        else:
            location_QKSA = None if memory_RX is None else attention.location_terms(net, memory_RX, shape_QK)
            energy_QKS = attention.additive_energy(net, query_QKX, source["keys"], location_QKSA)
        alpha_QKS = attention.weights(net, energy_QKS, inside_QS)
    # c_i = Σ_j α_ij h_j, to which C, C_o, … have been applied already
    alpha_QKS = graph.apply("Where", graph.insert_axis(inside_QS, 1), alpha_QKS, 0.0)
    return alpha_QKS, graph.reshape(alpha_QKS @ values_QSY, -1, Layout.of(net).value_size), memory_RX


def _predict(net: Network, total_RL: Tensor, shape_QK: Tensor) -> None:
    """Return p(y_i) = softmax(W_o t + b_w), with t_j = max(t~_{2j−1}, t~_{2j}), as log p of all words, and of the best."""
    graph, vocabulary_size = net.graph, net.weights.shape("readout.b_w")[0]
    count = graph.input("count", "int64", 1)
    t_RL = graph.reduce("ReduceMax", graph.reshape(total_RL, -1, net.config.maxout_size, 2), 2)
    matrix = "decoder.E" if net.config.tied_embedding else "readout.W_o"
    logits_RV = net.affine(net.norm(t_RL, "readout.norm"), Affine(matrix, "readout.b_w"))
    log_p_RV = graph.apply("LogSoftmax", logits_RV, axis=1)
    best_log_p_RW, best_RW = graph.apply_many("TopK", 2, log_p_RV, count, axis=1)
    outputs: list[tuple[str, Tensor, str, int | str]] = [
        ("best", best_RW, "int64", "count"),
        ("best_log_p", best_log_p_RW, "float32", "count"),
        ("log_p", log_p_RV, "float32", vocabulary_size),
    ]
    for name, rows_RX, element_type, size in outputs:
        tensor_QKX = attention.by_sentences(net, rows_RX, shape_QK)
        graph.output(name, tensor_QKX, element_type, "sentences", "hypotheses", size)
