"""What the model asks of an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from torch import Tensor

if TYPE_CHECKING:
    from rnnsearch.model.attention import Source
    from rnnsearch.model.cells import Cell
    from rnnsearch.model.decoder import Decoder


@dataclass
class Decoded:
    """A whole target side, run through the decoder's recurrence (shapes: see `rnnsearch.model`)."""

    states_TBN: Tensor
    """s_0 … s_Ty: one longer than the target, T + 1 along the first axis."""
    contexts_TBC: Tensor
    """c_1 … c_Ty."""
    alpha_TBS: Tensor | None
    """α_1 … α_Ty; None where there is no alignment model."""


class Engine(Protocol):
    """Both loops, differentiable with respect to every tensor argument and every parameter."""

    def encode(self, cell: Cell, inputs_SBG: Tensor, real_SB: Tensor, backward: bool = False) -> Tensor:
        """Hidden states (S, B, N) of one direction, from zero; positions outside a sentence leave the state at zero."""
        ...

    def decode(
        self, decoder: Decoder, inputs_TBG: Tensor, source: Source, real_TB: Tensor | None = None
    ) -> Decoded:
        """Attend with s_{i−1}, then update: s_i = f(s_{i−1}, input i, c_i), for i = 1 … Ty.

        What comes of steps past a sentence's end, where `real` is False, means nothing, and nothing may depend on it.
        """
        ...
