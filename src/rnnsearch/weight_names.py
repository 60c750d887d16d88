"""The paper's symbols for the parameters (the table of `docs/reference/symbols.md`), and the names that version 0.1 used."""

from __future__ import annotations

import re


def _cell(module: str, suffix: str, context: bool) -> dict[str, str]:
    matrices = "WUC" if context else "WU"
    gates = {"": "", "_z": "z", "_r": "r"}
    names = {f"{module}.{M}{ours}": f"{M}{paper}_{suffix}" for M in matrices for ours, paper in gates.items()}
    return names | {f"{module}.b": f"b_{suffix}"}


PAPER_NAMES: dict[str, str] = {
    "encoder.E": "E_src",
    **_cell("encoder.forward_cell", "fwd", context=False),
    **_cell("encoder.backward_cell", "bwd", context=False),
    "decoder.E": "E_tgt",
    "decoder.W_s": "W_s",
    "decoder.b_s": "b_s",
    "decoder.alignment.W_a": "W_a",
    "decoder.alignment.U_a": "U_a",
    "decoder.alignment.v_a": "v_a",
    **_cell("decoder.cell", "dec", context=True),
    **{f"readout.{name}": name for name in ("U_o", "V_o", "C_o", "b_o", "W_o", "b_w")},
}
"""Maps parameter names of models with gated hidden units to the paper's symbols, as the conformance vectors spell them."""


_EARLIER_NAMES = ((r"\.above\.", ".extra_layers."), (r"\bnorm\.g\b", "norm.weight"), (r"\bnorm\.b\b", "norm.bias"))


def present_name(name: str) -> str:
    """Return the current name of a tensor that version 0.1 saved as `name`; all other names are returned unchanged."""
    for earlier, now in _EARLIER_NAMES:
        name = re.sub(earlier, now, name)
    return name
