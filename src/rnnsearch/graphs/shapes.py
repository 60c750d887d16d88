"""The names and the shapes of a model's parameters, computed from its settings; see `docs/reference/symbols.md`."""

from __future__ import annotations

from rnnsearch.config import ModelConfig
from rnnsearch.graphs.attention import MIXTURE
from rnnsearch.graphs.cells import CELLS

Shapes = dict[str, tuple[int, ...]]

FILTERS, FILTER_WIDTH = 8, 11
"""The number and the width of the filters F of a `location` model."""
LINK_FEATURES, LINK_FILTER = 6, 5
"""The number of features of a link, and the width of the filter K, in an alignment layer."""


def shapes_of_package(config: ModelConfig, source_words: int, target_words: int) -> Shapes:
    """Return the parameters of a model that uses no plugin, with vocabularies of these sizes."""
    N, E, L = config.hidden_size, config.embedding_size, config.maxout_size
    directions = ["forward_cell", "backward_cell"] if config.bidirectional else ["forward_cell"]
    C = N * len(directions)
    # The encoder: its embedding, and the cells and the layer normalisation of each layer.
    shapes: Shapes = {"encoder.E": (source_words, E)}
    for layer, width in [("encoder", E), *((f"encoder.extra_layers.{i}", C) for i in range(config.encoder_layers - 1))]:
        for direction in directions:
            shapes |= _cell(config, f"{layer}.{direction}", width, 0)
        shapes |= _norm(config, f"{layer}.norm", C)
    # The decoder: its embedding, initial state, alignment model, cell and extra layers.
    shapes |= {"decoder.E": (target_words, E), "decoder.W_s": (N, N), "decoder.b_s": (N,)}
    shapes |= {f"decoder.alignment.{name}": shape for name, shape in _alignment(config, C).items()}
    shapes |= _cell(config, "decoder.cell", E, C)
    for i in range(config.decoder_layers - 1):
        shapes |= _norm(config, f"decoder.extra_layers.{i}.norm", N)
        shapes |= _cell(config, f"decoder.extra_layers.{i}.cell", N, C)
    # The readout: the maxout layer and the output layer.
    shapes |= {"readout.U_o": (2 * L, N), "readout.V_o": (2 * L, E), "readout.C_o": (2 * L, C), "readout.b_o": (2 * L,)}
    if not config.tied_embedding:
        shapes["readout.W_o"] = target_words, L
    return shapes | {"readout.b_w": (target_words,)} | _norm(config, "readout.norm", L)


def alignment_layer_shapes(config: ModelConfig) -> Shapes:
    """Return the parameters of an alignment layer."""
    A, N, E = config.alignment_size, config.hidden_size, config.embedding_size
    shapes: Shapes = {"W_l": (A, 2 * N + 2 * E), "U_l": (A, N * (1 + config.bidirectional) + E), "b_l": (A,)}
    return shapes | {"w_l": (LINK_FEATURES,), "K": (LINK_FILTER, LINK_FILTER), "c_l": (1,)}


def _cell(config: ModelConfig, name: str, input_size: int, context_size: int) -> Shapes:
    N, cell = config.hidden_size, CELLS[config.cell]
    shapes: Shapes = {}
    for gate in cell.gates:
        suffix = f"_{gate}" if gate else ""
        shapes |= {f"{name}.W{suffix}": (N, input_size), f"{name}.U{suffix}": (N, N)}
        shapes |= {f"{name}.C{suffix}": (N, context_size)} if context_size else {}
        shapes |= {f"{name}.b{suffix}": (N,)} if gate in cell.biased else {}
    return shapes


def _norm(config: ModelConfig, name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)} if config.layer_norm else {}


def _alignment(config: ModelConfig, C: int) -> Shapes:
    A, N = config.alignment_size, config.hidden_size
    additive: Shapes = {"W_a": (A, N), "U_a": (A, C), "v_a": (A,)}
    kinds: dict[str, Shapes] = {
        "mlp": additive,
        "location": additive | {"F": (FILTERS, 1, FILTER_WIDTH), "U_f": (A, FILTERS)},
        "bilinear": {"W_a": (N, C)},
        "monotonic": {"W_g": (3 * MIXTURE, N), "b_g": (3 * MIXTURE,)},
    }
    return kinds.get(config.alignment, {})
