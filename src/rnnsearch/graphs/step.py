"""A step of the decoder as a graph, which extends hypotheses by words and predicts the next word (appendix A.2.2)."""

from __future__ import annotations

import numpy as np

from rnnsearch.config import ModelConfig
from rnnsearch.graphs import attention, cells
from rnnsearch.graphs.cells import CELLS
from rnnsearch.graphs.graph import Graph, Tensor
from rnnsearch.graphs.hypotheses import Ragged, Rectangle
from rnnsearch.graphs.network import Affine, Network, Precision
from rnnsearch.graphs.state import Layout, generates_first, layer_names
from rnnsearch.graphs.weights import Weights

GROUP = 32
"""The number of words in a group. The most probable words are searched for in the groups with the highest maxima only."""


def step(
    config: ModelConfig,
    weights: Weights,
    precision: Precision = "fp32",
    signed: bool = False,
    *,
    for_search: bool = False,
    selects: bool = False,
    whole: bool = True,
    given: bool = False,
) -> Graph:
    """Return the graph of a step, for the same number of hypotheses of each sentence.

    Inputs: `state` (rows, X), from the encoder or the previous step; `parents` (sentences, hypotheses), the row of this
    state that each hypothesis continues; `words` (sentences, hypotheses), the word by which it does so, or −1 before the
    first word; `keys`, `values` and `lengths` of the encoder, for these sentences; `count` (1), the number of best words to
    return. A `location` model also reads `alpha_before` (rows, positions), the `alpha` of the previous step, initially zero.

    Outputs: `next_state` (sentences × hypotheses, X); `alpha` (sentences, hypotheses, positions), if the model has an
    alignment; `best` (sentences, hypotheses, count), the most probable words, and `best_log_p`, log p of each; and `log_p`
    of all words (sentences, hypotheses, V), followed by padding of −∞.

    With `for_search`, sentences may have different numbers of hypotheses. The axes (sentences, hypotheses) of all tensors
    are replaced by (rows), with a row for each hypothesis, and two further inputs assign the rows to sentences: see
    `Ragged`. `best_log_p` is replaced by `best_logits` (rows, count), which differ from log p by a constant of the row, and
    `highest_p` (rows, 1), the probability of the best word. `log_p` is an output only with `whole`. The projections of
    `words` are a further input, `read` (rows, Y), which the graph of `word_rows` computes. With `given`, the input `given`
    (rows) contains a possible next word of each row, and the output `given_logits` (rows, 1) its logit.

    With `selects` (vocabulary selection), `columns` (C) are the ids of the selected words of all sentences, and `own`
    (sentences, X) holds the places of each sentence's own words among them, followed by −1. `best` and `log_p` then refer to
    these X places.
    """
    net = Network("step", config, weights, precision, signed)
    graph, layout = net.graph, Layout.of(net)
    state_XX = graph.input("state", "float32", "rows_before", layout.size)
    hypotheses = Ragged(graph) if for_search else Rectangle(graph)
    parents_R, words_R = hypotheses.parents_R, hypotheses.words_R
    source = _source(net, layout)

    # The parts of the state of each hypothesis, and the projections of the word by which it is extended.
    widths = [layout.recurrent, *[layout.recurrent] * (config.decoder_layers - 1), layout.context, layout.memory]
    parts = iter(graph.split(graph.apply("Gather", state_XX, parents_R), [width for width in widths if width]))
    state_RD = next(parts)
    layers_RD = [next(parts) for _ in layer_names(net)]
    context_RG = next(parts) if layout.context else None
    memory_RX = next(parts) if layout.memory else None
    if for_search:
        read_RY = graph.input("read", "float32", "rows", layout.word_size)
    else:
        read_RY = _read_words(net, net.embedding(words_R, "decoder.E"))
    inputs_RG, read_RL = graph.split(read_RY, [layout.gates, 2 * config.maxout_size])

    # In the order look-generate-update, the update of the previous step comes first: s_{i−1} = f(s_{i−2}, y_{i−1}, c_{i−1}).
    # Before the first word, the state is s_0.
    if context_RG is not None:
        is_first_R1 = graph.insert_axis(graph.apply("Less", words_R, graph.constant(np.int64(0))), 1)
        updated_RD = cells.step(net, "decoder.cell", state_RD, inputs_RG + context_RG)
        state_RD = graph.apply("Where", is_first_R1, state_RD, updated_RD)
    s_RN = cells.hidden(net, state_RD)

    # The query W_a s_{i−1}. In the order look-generate-update, the readout reads the same state, so that one matrix product
    # computes both.
    query_maps, U_o, from_state_RL = attention.query_maps(net), Affine("readout.U_o"), None
    if query_maps and context_RG is not None and not layers_RD:
        query_RX, from_state_RL = net.affine_parts(s_RN, query_maps, [U_o])
    else:
        query_RX = net.affine(s_RN, *query_maps) if query_maps else s_RN
    # The weights α_i, and the context c_i in the form of its projections: C c_i for the cell, C_o c_i for the readout, and
    # those for the extra layers.
    if "alpha_before" in source:
        memory_RX = graph.apply("Gather", source["alpha_before"], parents_R)
    alpha_RS, context_RY, memory_RX = _attend(net, query_RX, memory_RX, source, hypotheses)
    context_RG, context_RL, *contexts_RG = graph.split(
        context_RY, [layout.gates, 2 * config.maxout_size, *[layout.gates] * len(layers_RD)]
    )

    # In the order look-update-generate, the state is updated now: s_i = f(s_{i−1}, y_{i−1}, c_i).
    if not generates_first(net):
        state_RD = cells.step(net, "decoder.cell", state_RD, inputs_RG + context_RG)
        s_RN = cells.hidden(net, state_RD)
    # The extra layers: u_i = f(u_{i−1}, s_i, c_i); the next layer reads s_i + u_i.
    for number, layer in enumerate(layer_names(net)):
        below_RN = net.norm(s_RN, f"{layer}.norm")
        layer_RG = net.affine(below_RN, *CELLS[config.cell].inputs(f"{layer}.cell")) + contexts_RG[number]
        layers_RD[number] = cells.step(net, f"{layer}.cell", layers_RD[number], layer_RG)
        s_RN = s_RN + cells.hidden(net, layers_RD[number])
    if from_state_RL is None:
        from_state_RL = net.affine(s_RN, U_o)

    # The outputs: the next state, the weights, and the prediction from t~_i = U_o s + V_o E y_{i−1} + C_o c_i + b_o.
    carried = [state_RD, *layers_RD, *([context_RG] if layout.context else [])]
    if memory_RX is not None and layout.memory:
        carried.append(memory_RX)
    graph.output("next_state", graph.join(carried), "float32", "rows_after", layout.size)
    if alpha_RS is not None:
        hypotheses.output("alpha", alpha_RS, "float32", "positions")
    logits_RV = _logits(net, from_state_RL + read_RL + context_RL, hypotheses if selects else None)
    _predict(net, logits_RV, hypotheses, for_search, whole)
    if given:
        given_R1 = graph.insert_axis(graph.input("given", "int64", "rows"), 1)
        hypotheses.output("given_logits", graph.apply("GatherElements", logits_RV, given_R1, axis=1), "float32", 1)
    return graph


def word_rows(config: ModelConfig, weights: Weights, precision: Precision = "fp32", signed: bool = False) -> Graph:
    """Return the graph that computes the projections of the previous word for a step.

    Input: `y` (rows, E), embeddings of words. Output: `read`, [W; V_o] y + [b; b_o] (rows, Y).
    """
    net = Network("word_rows", config, weights, precision, signed)
    read_RY = _read_words(net, net.graph.input("y", "float32", "rows", config.embedding_size))
    net.graph.output("read", read_RY, "float32", "rows", Layout.of(net).word_size)
    return net.graph


def _read_words(net: Network, y_RE: Tensor) -> Tensor:
    """Return the projections of words that the cell and the readout read, [W; V_o] y + [b; b_o] (R, Y)."""
    return net.affine(y_RE, *CELLS[net.config.cell].inputs("decoder.cell"), Affine("readout.V_o", "readout.b_o"))


def _source(net: Network, layout: Layout) -> dict[str, Tensor]:
    """Declare the inputs of a step that depend on the source, and return them by name."""
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
    net: Network, query_RX: Tensor, memory_RX: Tensor | None, source: dict[str, Tensor], hypotheses: Rectangle
) -> tuple[Tensor | None, Tensor, Tensor | None]:
    """Return α_i (R, S), the context as a value (R, Y), and the next memory of a `monotonic` model (R, X).

    α is None without an alignment model.
    """
    graph, values_QSY, width = net.graph, source["values"], Layout.of(net).value_size
    if net.config.alignment == "none":  # every step has the same context
        return None, hypotheses.shared(graph.remove_axis(values_QSY, 1)), None
    inside_QS = attention.inside(net, values_QSY, source["lengths"])
    if net.config.alignment == "monotonic":
        assert memory_RX is not None
        alpha_QKS, memory_RX = attention.mixture_weights(net, query_RX, memory_RX, inside_QS, hypotheses)
    else:
        query_QKX = hypotheses.grid(query_RX)
        if net.config.alignment in ("dot", "bilinear"):
            energy_QKS = attention.dot_energy(net, query_QKX, source["keys"])
        else:
            location_QKSA = None if memory_RX is None else hypotheses.grid(attention.location_terms(net, memory_RX))
            energy_QKS = attention.additive_energy(net, query_QKX, source["keys"], location_QKSA)
        alpha_QKS = attention.weights(net, energy_QKS, inside_QS)
    # c_i = Σ_j α_ij h_j (Eq. 5), where the values are annotations to which C, C_o, … have already been applied.
    alpha_QKS = graph.apply("Where", graph.insert_axis(inside_QS, 1), alpha_QKS, 0.0)
    return hypotheses.rows(alpha_QKS), hypotheses.rows(alpha_QKS @ values_QSY, width), memory_RX


def _logits(net: Network, total_RL: Tensor, hypotheses: Rectangle | None) -> Tensor:
    """Return W_o t + b_w (R, V) from t~ (R, 2L), with t_j = max(t~_{2j−1}, t~_{2j}).

    With `hypotheses`, return those of the selected words only.
    """
    # The maxout layer t.
    graph = net.graph
    t_RL = graph.reduce("ReduceMax", graph.reshape(total_RL, -1, net.config.maxout_size, 2), 2)
    t_RL = net.norm(t_RL, "readout.norm")
    readout = Affine("decoder.E" if net.config.tied_embedding else "readout.W_o", "readout.b_w")
    if hypotheses is None:
        return net.affine(t_RL, readout, multiple=GROUP if _grouped(net) else 1)
    logits_RC = net.affine_rows(t_RL, readout, graph.input("columns", "int64", "columns"))
    # The words of a sentence have the same places whatever the other sentences are, so that the softmax sums in one order.
    own_RX = hypotheses.shared(graph.input("own", "int64", "sentences", "own"))
    logits_RX = graph.apply("GatherElements", logits_RC, own_RX, axis=1)
    return graph.apply("Where", graph.apply("Less", own_RX, graph.constant(np.int64(0))), -np.inf, logits_RX)


def _predict(net: Network, logits_RV: Tensor, hypotheses: Rectangle, for_search: bool, whole: bool) -> None:
    """Declare the outputs of the prediction: the best words by p(y_i) = softmax(W_o t + b_w), and log p (see `step`)."""
    graph = net.graph
    count = graph.input("count", "int64", 1)
    logits_RW, best_RW = _best_of_groups(graph, logits_RV, count) if _grouped(net) else _best(graph, logits_RV, count)
    hypotheses.output("best", best_RW, "int64", "count")
    # Search takes logarithms itself, because the last bit of the operator's results depends on the place in a tensor.
    if for_search:
        first_R1 = graph.apply("Slice", best_RW, *(graph.constant(np.array([number])) for number in (0, 1, 1)))
        p_RV = graph.apply("Softmax", logits_RV, axis=1)
        hypotheses.output("best_logits", logits_RW, "float32", "count")
        hypotheses.output("highest_p", graph.apply("GatherElements", p_RV, first_R1, axis=1), "float32", 1)
    if whole:
        log_p_RV = graph.apply("LogSoftmax", logits_RV, axis=1)
        hypotheses.output("log_p", log_p_RV, "float32", "words")
    if whole and not for_search:
        hypotheses.output("best_log_p", graph.apply("GatherElements", log_p_RV, best_RW, axis=1), "float32", "count")


def _grouped(net: Network) -> bool:
    """Whether the vocabulary is so large that the search for the best words in groups is faster."""
    return net.weights.shape("readout.b_w")[0] >= 64 * GROUP


def _best(graph: Graph, logits_RV: Tensor, count: Tensor) -> list[Tensor]:
    """Return the `count` highest logits of each row, and their columns, both (R, W)."""
    return graph.apply_many("TopK", 2, logits_RV, count, axis=1)


def _best_of_groups(graph: Graph, logits_RV: Tensor, count: Tensor) -> list[Tensor]:
    """Do the same as `_best` in a fraction of its time.

    The `count` best words are all in the `count` groups with the highest maxima.
    """
    # The maximum of each of the G groups, and the H groups with the highest maxima.
    highest_RG = graph.reduce("ReduceMax", graph.reshape(logits_RV, 0, GROUP, -1), 1)
    groups = graph.apply("Shape", highest_RG, start=1, end=2)
    _, group_RH = _best(graph, highest_RG, graph.apply("Min", count, groups))
    # The best words among those of these groups; group g consists of the columns g, g + G, g + 2 G, …
    offsets_X1 = graph.insert_axis(graph.constant(np.arange(GROUP)), 1)
    columns_RXH = graph.insert_axis(group_RH, 1) + offsets_X1 * groups
    columns_RX = graph.reshape(columns_RXH, 0, -1)
    best_RW, place_RW = _best(graph, graph.apply("GatherElements", logits_RV, columns_RX, axis=1), count)
    return [best_RW, graph.apply("GatherElements", columns_RX, place_RW, axis=1)]
