"""The optimizers Adadelta and Adam, and the schedule of their learning rate.

Both scale (clip) the gradient in the same pass over the weights that updates them. Both accept sparse gradients, which hold
only some rows of a matrix, as those of the word embeddings do, with the same result as for dense gradients.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from rnnsearch.config import TrainingConfig
from rnnsearch.ops import loops
from rnnsearch.ops import optimizer as steps


class Optimizer(torch.optim.Optimizer):
    """The base class of Adadelta and Adam, which creates the state of every parameter and counts its steps."""

    averages: tuple[str, str]
    """The names of the two running averages in the state of every parameter."""

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:  # type: ignore[override]
        """Update the weights with their gradients multiplied by `scale`."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    state = self.state[parameter]
                    if not state:
                        state["step"] = torch.tensor(0.0)
                        for name in self.averages:
                            state[name] = torch.zeros_like(parameter)
                    state["step"] += 1
                    self._move(parameter, parameter.grad, state, group, scale)

    def _move(self, w: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any], scale: float) -> None:
        raise NotImplementedError


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012, algorithm 1), the paper's optimizer.

    A row whose gradient is zero does not move; only its averages decay by ρ at each step. A row of a sparse gradient is
    therefore not touched before it has a gradient again; then its averages decay by ρ to the power of the missed steps.
    """

    averages = ("square_avg", "acc_delta")

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, rho: float, eps: float) -> None:
        super().__init__(parameters, {"lr": lr, "rho": rho, "eps": eps})

    def _move(self, w: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any], scale: float) -> None:
        rho, eps, lr, step = group["rho"], group["eps"], group["lr"], float(state["step"])
        square_avg, acc_delta = (state[name] for name in self.averages)
        by_rows = g.is_sparse and _compiled(w)
        if by_rows and "row_step" not in state:
            state["row_step"] = torch.full((len(w),), step - 1)
        if not by_rows and "row_step" in state:
            # From sparse to dense gradients: the averages of all rows decay for the steps that the rows have missed.
            decay = (rho ** (step - 1 - state.pop("row_step"))).unsqueeze(1)
            square_avg.mul_(decay)
            acc_delta.mul_(decay)
        if _compiled(w):
            V, E = _as_rows(w)
            if by_rows:
                rows, values, row_step = g.indices()[0], g.values(), state["row_step"]
            else:
                rows, values, row_step = torch.arange(V), g.contiguous(), torch.full((V,), step - 1)
            numbers = (V, E, len(rows), rho, eps, lr, scale, step)
            steps.adadelta(numbers, w, values, rows, square_avg, acc_delta, row_step)
            return
        g = (g.to_dense() if g.is_sparse else g) * scale
        # E[g²] ← ρ E[g²] + (1 − ρ) g²;  Δ = √(E[Δ²] + ε) / √(E[g²] + ε) · g;  E[Δ²] ← ρ E[Δ²] + (1 − ρ) Δ²;  w ← w − η Δ
        square_avg.mul_(rho).addcmul_(g, g, value=1 - rho)
        change = ((acc_delta + eps) / (square_avg + eps)).sqrt_().mul_(g)
        acc_delta.mul_(rho).addcmul_(change, change, value=1 - rho)
        w.sub_(change, alpha=lr)


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015, algorithm 1)."""

    averages = ("exp_avg", "exp_avg_sq")

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], eps: float) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    def _move(self, w: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any], scale: float) -> None:
        (beta1, beta2), eps, step = group["betas"], group["eps"], float(state["step"])
        exp_avg, exp_avg_sq = (state[name] for name in self.averages)
        size, root = group["lr"] / (1 - beta1**step), math.sqrt(1 - beta2**step)
        if _compiled(w):
            V, E = _as_rows(w)
            # slots[v] is the position of row v in `values`, or −1 if its gradient is zero.
            slots = torch.arange(V)
            if g.is_sparse:
                slots.fill_(-1)
                slots[g.indices()[0]] = torch.arange(len(g.values()))
            values = g.values() if g.is_sparse else g.contiguous()
            numbers = (V, E, beta1, beta2, eps, size, root, scale)
            steps.adam(numbers, w, values, slots, exp_avg, exp_avg_sq)
            return
        g = (g.to_dense() if g.is_sparse else g) * scale
        # m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²;  w ← w − η/(1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + ε)
        exp_avg.lerp_(g, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        w.addcdiv_(exp_avg, exp_avg_sq.sqrt().div_(root).add_(eps), value=-size)


def make_optimizer(parameters: Iterable[nn.Parameter], config: TrainingConfig) -> Optimizer:
    """Return the optimizer that `training.optimizer` names: Adadelta, as in the paper, or Adam."""
    if config.optimizer == "adadelta":
        return Adadelta(parameters, lr=config.learning_rate, rho=config.adadelta_rho, eps=config.adadelta_epsilon)
    return Adam(parameters, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9)


def gradient_norm(parameters: Iterable[nn.Parameter]) -> float:
    """Return the L2 norm of the gradient of all parameters. Sparse gradients are coalesced in place."""
    parts = []
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
            parts.append(parameter.grad.values())
        elif parameter.grad is not None:
            parts.append(parameter.grad)
    return float(torch.linalg.vector_norm(torch.stack(torch._foreach_norm(parts))))


def learning_rate(update: int, last_update: int, plateau_factor: float, config: TrainingConfig) -> float:
    """Return the learning rate of an update, counted from 1, of a run that is planned to end with `last_update`."""
    rate = config.learning_rate * plateau_factor
    if update < config.warmup_updates:
        return rate * update / config.warmup_updates
    if config.decay == "linear":
        return rate * max(0.0, (last_update + 1 - update) / max(1, last_update + 1 - config.warmup_updates))
    return rate


def _compiled(w: Tensor) -> bool:
    """Whether the compiled loops can update this parameter."""
    return loops.run_on(w) and w.is_contiguous()


def _as_rows(w: Tensor) -> tuple[int, int]:
    """Return the numbers of rows and columns of a matrix; a vector counts as one row."""
    return (w.shape[0], w.shape[1]) if w.ndim == 2 else (1, w.numel())
