"""What training minimises: word NLLs, summed over the minibatch (appendix B.2)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rnnsearch.config import TrainingConfig
from rnnsearch.model import Forced


def training_cost(forced: Forced, sentences: int, config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """The cost to differentiate, and the plain NLL in nats summed over the minibatch's words, both scalars.

    They differ by label smoothing and by what the sum is divided by (`loss_normalization`).
    """
    cost, nll = _SmoothedNLL.apply(forced.logits_QV, forced.words_P, config.label_smoothing)
    divisor = {"sum": 1, "sentences": sentences, "tokens": len(forced.words_P)}[config.loss_normalization]
    return cost / divisor, nll


class _SmoothedNLL(torch.autograd.Function):
    """(1 − ε) · NLL + ε · Σ mean over the vocabulary of −log p, and the NLL (Szegedy et al. 2016).

    By hand because the logits are the largest tensor of a step: one copy of it here, four under autograd.
    """

    @staticmethod
    def forward(ctx: Any, logits_QV: Tensor, words_P: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
        log_p_PV = torch.log_softmax(logits_QV[: len(words_P)], 1)
        words_P1 = words_P.unsqueeze(1)
        nll = -log_p_PV.gather(1, words_P1).sum()
        cost = (1 - epsilon) * nll - epsilon * log_p_PV.mean(1).sum() if epsilon else nll.clone()
        ctx.save_for_backward(log_p_PV, words_P1)
        ctx.epsilon, ctx.rows = epsilon, len(logits_QV)
        ctx.mark_non_differentiable(nll)
        return cost, nll

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        log_p_PV, words_P1 = ctx.saved_tensors
        epsilon: float = ctx.epsilon
        d_logits_QV = log_p_PV.new_zeros(ctx.rows, log_p_PV.shape[1])
        d_logits_PV = torch.exp(log_p_PV, out=d_logits_QV[: len(log_p_PV)])
        if epsilon:
            d_logits_PV -= epsilon / d_logits_PV.shape[1]
        d_logits_PV.scatter_add_(1, words_P1, d_logits_PV.new_full(words_P1.shape, epsilon - 1))
        d_logits_PV.mul_(gradients[0])
        return d_logits_QV, None, None
