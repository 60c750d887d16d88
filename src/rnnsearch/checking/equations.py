"""The equations that `rnnsearch check` compares: the arguments and results of each function, and example inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rnnsearch.checking.paper import Array, Paper

ARGUMENTS = {
    "p": "weights by name",
    "s": "(B, n) float, the state s_{i−1}",
    "c": "(B, 2n) float, the context c_i",
    "c_previous": "(B, 2n) float, the context c_{i−1} of the previous step; the paper's model does not read it",
    "h": "(B, Tx, 2n) float, the annotations [h→_j ; h←_j]; numbers at padding are arbitrary",
    "x": "(B, Tx) int, the source words, with the end symbol 0 at the end and as padding",
    "y": "(B, Ty) int, the target words, with the end symbol 0 at the end and as padding",
    "mask": "(B, Tx) bool, false at padding",
    "y_mask": "(B, Ty) bool, false at padding",
    "e": "(B, Tx) float, the energies e_ij",
    "alpha": "(B, Tx) float, the weights α_ij",
    "previous": "(B, m) float, the embedding E y_{i−1}; the zero vector at the first word",
    "word": "(B, m) float, the embedding E y_i, of the word that is predicted and then read",
    "t": "(B, l) float, the maxout layer t_i",
    "g": "gradients by the name of the weights",
    "limit": "float, the largest norm",
}
"""The arguments of the functions, with their shapes."""

WEIGHTS = {
    "E_src (Kx, m), E_tgt (Ky, m)": "embeddings, a row for each word",
    "W, Wz, Wr (n, m); U, Uz, Ur (n, n); b (n,)": "with _fwd, _bwd, _dec: candidate, gates z and r; bias of the candidate",
    "C_dec, Cz_dec, Cr_dec (n, 2n)": "the same for the context, in the decoder",
    "W_s (n, n), b_s (n,)": "initial state",
    "W_a (n', n), U_a (n', 2n), v_a (n',)": "alignment model",
    "b_a (n',)": "a bias of the alignment model, which some implementations have and the paper has not",
    "U_o (2l, n), V_o (2l, m), C_o (2l, 2n), b_o (2l,)": "readout before the maxout",
    "W_o (Ky, l), b_w (Ky,)": "softmax",
}
"""The weights in `p`, with their shapes."""


@dataclass(frozen=True)
class Equation:
    """An equation of the paper, and the function in a student's file that computes it."""

    name: str
    arguments: tuple[str, ...]
    formula: str
    place: str
    returns: str
    axes: tuple[str, ...]
    """The names of the axes of the first result, for messages that say where a difference begins."""
    results: tuple[str, ...] = ("",)
    """The names of the results; if empty, the results have the names of the weights."""
    tolerance: float = 1e-9
    builds_on: tuple[str, ...] = ()
    """The equations that this one is put together from."""


_X = ("p", "x", "mask", "y", "y_mask")
EQUATIONS = (
    Equation(
        "gated_unit", ("p", "s", "word", "c"),
        "s_i = (1 − z) ∘ s_{i−1} + z ∘ tanh(W E y_i + U [r ∘ s_{i−1}] + C c_i + b)", "A.1.1",
        "(B, n), the new state; with the weights of the decoder, _dec", ("sentence", "unit"),
    ),
    Equation(
        "encoder", ("p", "x", "mask"), "h_j = [h→_j ; h←_j]", "A.2.1",
        "(B, Tx, 2n), the annotations; padding is not compared", ("sentence", "word", "unit"),
        builds_on=("gated_unit",),
    ),
    Equation("initial_state", ("p", "h", "mask"), "s_0 = tanh(W_s h←_1 + b_s)", "A.2.2", "(B, n)", ("sentence", "unit")),
    Equation(
        "energies", ("p", "s", "h"), "e_ij = v_aᵀ tanh(W_a s_{i−1} + U_a h_j)", "A.1.2",
        "(B, Tx); numbers at padding are compared, too", ("sentence", "word"),
    ),
    Equation(
        "weights", ("e", "mask"), "α_ij = exp(e_ij) / Σ_k exp(e_ik)", "3.1",
        "(B, Tx); zero at padding", ("sentence", "word"),
    ),
    Equation("context", ("alpha", "h"), "c_i = Σ_j α_ij h_j", "3.1", "(B, 2n)", ("sentence", "unit")),
    Equation(
        "readout", ("p", "s", "previous", "c"),
        "t_ij = max(t~_i,2j−1, t~_i,2j), t~_i = U_o s_{i−1} + V_o E y_{i−1} + C_o c_i + b_o",
        "A.2.2", "(B, l), the maxout layer", ("sentence", "unit"),
    ),
    Equation(
        "distribution", ("p", "t"), "p(y_i) = softmax(W_o t_i + b_w)", "A.2.2",
        "(B, Ky), probabilities", ("sentence", "word"),
    ),
    Equation(
        "decoder_step", ("p", "s", "c_previous", "previous", "word", "h", "mask"),
        "attend with s_{i−1}; predict from s_{i−1}, y_{i−1}, c_i; then s_i = f(s_{i−1}, y_i, c_i)", "A.2.2",
        "two arrays: (B, Ky), probabilities of y_i; (B, n), the state s_i", ("sentence", "unit"), ("p(y_i)", "s_i"),
        builds_on=("gated_unit", "energies", "weights", "context", "readout", "distribution"),
    ),
    Equation(
        "log_probability", _X, "log p(y | x) = Σ_i log p(y_i | y_1 … y_{i−1}, x)", "2",
        "(B,), with the end symbol, without padding", ("sentence",),
        builds_on=("encoder", "initial_state", "decoder_step"),
    ),
    Equation(
        "loss", _X, "− Σ_b log p(y_b | x_b) / B", "2", "a number: sum over words, mean over sentences", (),
        builds_on=("log_probability",),
    ),
    Equation(
        "gradients", _X, "∂ loss / ∂ p", "", "gradients by the name of the weights", (), (),
        builds_on=("loss",),
    ),
    Equation(
        "clip", ("g", "limit"), "g · min(1, limit / ‖g‖)", "B.2", "the clipped gradients, by name", (), (),
        1e-5,  # torch.nn.utils.clip_grad_norm_ adds 1e-6 to the norm
    ),
)  # fmt: skip
"""The equations, in the order in which they build on each other."""

Case = dict[str, Array]
"""Inputs by the name of the argument; those of `p` and `g` have names such as `p/W_a`."""

Results = dict[str, Array]


def draw_case(seed: int) -> Case:
    """Draw weights and inputs of small sizes; every size is a different number, so that no axis is taken for another."""
    rng = np.random.default_rng(seed)
    Kx, Ky, m, n, n_a, half, B, Tx, Ty = 17, 19, 5, 6, 7, 4, 3, 8, 9
    shapes: dict[str, tuple[int, ...]] = {"E_src": (Kx, m), "E_tgt": (Ky, m)}
    for side in ("fwd", "bwd", "dec"):
        for gate in ("", "z", "r"):
            shapes |= {f"W{gate}_{side}": (n, m), f"U{gate}_{side}": (n, n)}
            if side == "dec":
                shapes[f"C{gate}_{side}"] = (n, 2 * n)
        shapes[f"b_{side}"] = (n,)
    shapes |= {"W_s": (n, n), "b_s": (n,), "W_a": (n_a, n), "U_a": (n_a, 2 * n), "v_a": (n_a,), "b_a": (n_a,)}
    shapes |= {"U_o": (2 * half, n), "V_o": (2 * half, m), "C_o": (2 * half, 2 * n), "b_o": (2 * half,)}
    shapes |= {"W_o": (Ky, half), "b_w": (Ky,)}
    p = {name: rng.normal(0, 0.7, shape) for name, shape in shapes.items()}
    x, mask = _padded([rng.integers(2, Kx, length) for length in (4, Tx - 1, 2)])
    y, y_mask = _padded([rng.integers(2, Ky, length) for length in (Ty - 1, 3, 5)])
    paper = Paper(p)
    h = np.where(mask[..., None], paper.encoder(x, mask), rng.normal(size=(B, Tx, 2 * n)))
    e = rng.normal(0, 1.5, (B, Tx))
    return {
        **{f"p/{name}": value for name, value in p.items()},
        "x": x, "mask": mask, "y": y, "y_mask": y_mask, "h": h, "e": e, "alpha": paper.weights(e, mask),
        "s": np.tanh(rng.normal(size=(B, n))), "c": np.tanh(rng.normal(size=(B, 2 * n))),
        "c_previous": np.tanh(rng.normal(size=(B, 2 * n))),
        "previous": rng.normal(size=(B, m)), "word": rng.normal(size=(B, m)), "t": rng.normal(0, 1.5, (B, half)),
        **{f"g/{name}": rng.normal(0, 1.5, shapes[name]) for name in ("W_a", "U_a", "v_a")}, "limit": np.array(1.0),
        **{f"direction/{name}": rng.normal(size=shape) for name, shape in shapes.items()},
    }  # fmt: skip


def group(case: Case, name: str) -> dict[str, Array]:
    """Return the arrays of a case that are named `name/…`."""
    return {key.removeprefix(f"{name}/"): value for key, value in case.items() if key.startswith(f"{name}/")}


def compute(equation: Equation, case: Case, deviations: frozenset[str]) -> Results:
    """Return the results of the paper's equation with these deviations; for gradients, the derivatives along directions."""
    paper = Paper(group(case, "p"), deviations)
    if equation.name == "gradients":
        slopes = paper.derivatives(group(case, "direction"), *(case[name] for name in _X[1:]))
        return {name: np.array(value) for name, value in slopes.items()}
    arguments = {**case, "p": paper.p}
    if equation.name == "clip":
        return paper.clip(group(case, "g"), float(case["limit"]))
    result = getattr(paper, equation.name)(*(arguments[name] for name in equation.arguments if name != "p"))
    results = result if isinstance(result, tuple) else (result,)
    return prepared(equation, case, dict(zip(equation.results, results, strict=True)))


def prepared(equation: Equation, case: Case, results: Mapping[str, Array]) -> Results:
    """Prepare results for the comparison: clear annotations of padding, and turn gradients into directional derivatives."""
    if equation.name == "encoder":
        return {name: np.where(case["mask"][..., None], value, 0) for name, value in results.items()}
    if equation.name == "gradients":
        directions = group(case, "direction")
        return {name: np.array((value * directions[name]).sum()) for name, value in results.items()}
    return dict(results)


def _padded(sentences: list[Array]) -> tuple[Array, Array]:
    """Return the sentences, each with its end symbol 0, as ids (B, T) and their mask."""
    lengths = np.array([len(sentence) + 1 for sentence in sentences])
    longest = lengths.max()
    ids = np.stack([np.pad(sentence, (0, longest - len(sentence))) for sentence in sentences])
    return ids, np.arange(longest) < lengths[:, None]
