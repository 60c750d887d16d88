"""What training minimises: word NLLs, summed over the minibatch (appendix B.2)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rnnsearch.config import TrainingConfig
from rnnsearch.engine import Precision, kernels
from rnnsearch.engine.training_kernels import softmax_backward
from rnnsearch.model import Forced

ROWS = 256
"""Target positions whose logits are there at one time."""


def training_cost(forced: Forced, sentences: int, config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """The cost to differentiate, and the plain NLL in nats summed over the minibatch's words, both scalars.

    They differ by label smoothing and by what the sum is divided by (`loss_normalization`).
    """
    divisor = {"sum": 1, "sentences": sentences, "tokens": len(forced.words_P)}[config.loss_normalization]
    cost, nll = _SmoothedNLL.apply(
        forced.readout_QL.to(forced.readout.W_o.dtype),
        forced.readout.W_o,
        forced.readout.b_w,
        forced.words_P,
        config.label_smoothing,
        1 / divisor,
        config.precision,
    )
    return cost, nll


class _SmoothedNLL(torch.autograd.Function):
    """scale · Σ [(1 − ε) · NLL + ε · mean over the vocabulary of −log p] (Szegedy et al. 2016), and Σ NLL.

    The logits of a minibatch, and their gradient, would be the largest tensors of training by far. Here they never exist
    whole: a block of rows at a time, the gradient takes the logits' place as soon as their softmax is known, and goes on to
    the layer below and the weights. So the forward pass does the work of the backward pass too.
    """

    @staticmethod
    def forward(
        ctx: Any,
        readout_QL: Tensor,
        W_o: Tensor,
        b_w: Tensor,
        words_P: Tensor,
        epsilon: float,
        scale: float,
        precision: Precision,
    ) -> tuple[Tensor, Tensor]:
        (Q, _), V, P = readout_QL.shape, len(W_o), len(words_P)
        rounded = torch.bfloat16 if precision == "bf16" else readout_QL.dtype
        W = W_o.to(rounded)
        d_readout_QL = torch.empty_like(readout_QL)
        d_W_o = torch.zeros_like(W_o)
        d_bias_RV = b_w.new_zeros(torch.get_num_threads(), V)
        nll_P, smoothed_P = readout_QL.new_empty(P), readout_QL.new_empty(P)
        block = readout_QL.new_empty(min(ROWS, Q), V)
        for first in range(0, Q, ROWS):
            t_RL = readout_QL[first : first + ROWS].to(rounded)
            logits_RV = block[: len(t_RL)]
            if rounded == logits_RV.dtype:
                torch.addmm(b_w, t_RL, W.T, out=logits_RV)
            else:
                torch.add(t_RL @ W.T, b_w, out=logits_RV)
            real = slice(first, min(first + ROWS, P))
            rows = max(0, real.stop - real.start)
            _softmax_backward(
                logits_RV[:rows], words_P[real], nll_P[real], smoothed_P[real], d_bias_RV, epsilon, scale
            )
            logits_RV[rows:] = 0
            d_logits_RV = logits_RV.to(rounded)
            d_readout_QL[first : first + ROWS] = d_logits_RV @ W
            if rounded == W_o.dtype:
                d_W_o.addmm_(d_logits_RV.T, t_RL)
            else:
                d_W_o += d_logits_RV.T @ t_RL
        ctx.save_for_backward(d_readout_QL, d_W_o, d_bias_RV.sum(0))
        nll = nll_P.sum()
        ctx.mark_non_differentiable(nll)
        cost = (1 - epsilon) * nll + epsilon * smoothed_P.sum() if epsilon else nll
        return cost * scale, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        d_cost = gradients[0]
        if d_cost.device.type == "cpu" and d_cost == 1:
            return *ctx.saved_tensors, None, None, None, None
        return *(d * d_cost for d in ctx.saved_tensors), None, None, None, None


def _softmax_backward(
    logits_RV: Tensor,
    words_R: Tensor,
    nll_R: Tensor,
    smoothed_R: Tensor,
    d_bias_XV: Tensor,
    epsilon: float,
    scale: float,
) -> None:
    """From logits to the cost's gradient with respect to them, in their place; the last arguments are filled or added to."""
    if kernels.AVAILABLE and logits_RV.device.type == "cpu" and logits_RV.dtype == torch.float32:
        numbers = (*logits_RV.shape, epsilon, scale)
        softmax_backward(numbers, logits_RV, words_R, nll_R, smoothed_R, d_bias_XV)
        return
    log_p_RV = torch.log_softmax(logits_RV, 1)
    words_R1 = words_R.unsqueeze(1)
    torch.neg(log_p_RV.gather(1, words_R1).squeeze(1), out=nll_R)
    torch.neg(log_p_RV.mean(1), out=smoothed_R)
    torch.exp(log_p_RV, out=logits_RV)
    logits_RV.sub_(epsilon / logits_RV.shape[1])
    logits_RV.scatter_add_(1, words_R1, logits_RV.new_full(words_R1.shape, epsilon - 1)).mul_(scale)
    d_bias_XV[0] += logits_RV.sum(0)
