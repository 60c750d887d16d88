"""The columns of the decoder's state, which it carries from step to step, and of the values that replace the annotations."""

from __future__ import annotations

from typing import NamedTuple

from rnnsearch.graphs import attention
from rnnsearch.graphs.cells import CELLS
from rnnsearch.graphs.network import Affine, Network


class Layout(NamedTuple):
    """The widths of the parts of a state, which are concatenated in this order, and those of a value and of a word."""

    recurrent: int
    """D, for the state of the decoder's cell, which begins with s_i (N)."""
    layers: int
    """D for each of the decoder's extra layers."""
    context: int
    """G, for C c_i of the cell, if words are predicted before the state update, which the next step computes; or 0."""
    memory: int
    """The number of Gaussians, for κ_i of a `monotonic` model; 0 for other models."""
    gates: int
    """G, the width of all gates of a cell."""
    value_size: int
    """Y, the width of a value: C h_j of the cell (G), C_o h_j of the readout (2L), and C h_j of each extra layer (G)."""
    word_size: int
    """The width of the projections of a word: W y of the cell (G), and V_o y of the readout (2L)."""
    context_size: int
    """C, the width of an annotation."""

    @classmethod
    def of(cls, net: Network) -> Layout:
        """Return the layout of a model."""
        config, cell = net.config, CELLS[net.config.cell]
        D, G = cell.state_width * config.hidden_size, len(cell.gates) * config.hidden_size
        extra = config.decoder_layers - 1
        return cls(
            recurrent=D,
            layers=D * extra,
            context=G if generates_first(net) else 0,
            memory=attention.MIXTURE if config.alignment == "monotonic" else 0,
            gates=G,
            value_size=G + 2 * config.maxout_size + G * extra,
            word_size=G + 2 * config.maxout_size,
            context_size=config.hidden_size * (1 + config.bidirectional),
        )

    @property
    def size(self) -> int:
        """X, the width of a state."""
        return self.recurrent + self.layers + self.context + self.memory


def generates_first(net: Network) -> bool:
    """Whether a word is predicted from s_{i−1}, before the state update, and not from s_i, after it."""
    return net.config.decoder_order == "look-generate-update"


def layer_names(net: Network) -> list[str]:
    """Return the names of the decoder's extra layers, the lowest first."""
    return [f"decoder.extra_layers.{number}" for number in range(net.config.decoder_layers - 1)]


def value_maps(net: Network) -> list[Affine]:
    """Return the maps from an annotation to a value: C of the cell, C_o of the readout, and C of each extra layer."""
    cell = CELLS[net.config.cell]
    layers = [one for layer in layer_names(net) for one in cell.contexts(f"{layer}.cell")]
    return [*cell.contexts("decoder.cell"), Affine("readout.C_o"), *layers]
