"""A linear layer, softmax and cross-entropy fused into one function, which never holds all logits in memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rnnsearch.ops import cross_entropy_compiled as compiled
from rnnsearch.ops import loops
from rnnsearch.ops.matmul import Precision

ROWS: dict[Precision, int] = {"fp32": 256, "bf16": 1024}
"""Rows per block of logits. Each block adds a whole matrix to the gradient of W_o, and in bf16 rounds this matrix first."""


def linear_cross_entropy(
    readout_RL: Tensor,
    W_o: Tensor,
    b_w: Tensor,
    words_P: Tensor,
    *,
    label_smoothing: float = 0.0,
    scale: float = 1.0,
    consistency: float = 0.0,
    precision: Precision = "fp32",
) -> tuple[Tensor, Tensor]:
    """Return the cost of the words under softmax(W_o t + b_w), and their NLL, both scalars in nats summed over the P words.

    With ε = `label_smoothing`, the cost is `scale` · Σ [(1 − ε) NLL + ε · mean over the vocabulary of −log p] (Szegedy et
    al. 2016). With λ = `consistency`, rows 2i and 2i + 1 are two predictions p and q of the same word, and each pair adds
    λ · ½ [KL(p | q) + KL(q | p)] to the sum (Liang et al. 2021). Only the first P rows of `readout` (R, L) are used; the
    other rows are padding. W_o is (V, L), and b_w (V).
    """
    cost, nll = _LinearCrossEntropy.apply(readout_RL, W_o, b_w, words_P, label_smoothing, scale, precision, consistency)
    return cost, nll


class _LinearCrossEntropy(torch.autograd.Function):
    """The implementation of `linear_cross_entropy`, whose forward pass also computes the gradients.

    The logits of a minibatch and their gradient would be by far the largest tensors of training. This function computes them
    for one block of rows at a time. Within a block, the gradient overwrites the logits, and the gradients of the readout and
    of the weights are computed from it at once. The backward pass only scales them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        readout_RL: Tensor,
        W_o: Tensor,
        b_w: Tensor,
        words_P: Tensor,
        epsilon: float,
        scale: float,
        precision: Precision,
        consistency: float,
    ) -> tuple[Tensor, Tensor]:
        (R, _), P = readout_RL.shape, len(words_P)
        W = W_o.bfloat16() if precision == "bf16" else W_o
        d_readout_RL = torch.empty_like(readout_RL)
        d_W_o = torch.zeros_like(W_o)
        # One row of bias gradients per thread; buffers for the NLL of each word and for a block of logits.
        d_bias_XV = b_w.new_zeros(torch.get_num_threads(), len(W))
        nll_P, smoothed_P = readout_RL.new_empty(P), readout_RL.new_empty(P)
        divergence_O = readout_RL.new_zeros(P // 2)
        block = W.new_empty(min(ROWS[precision], R), len(W))
        for first in range(0, R, len(block)):
            # The logits W_o t + b_w of a block of rows; in bf16, the bias is added in the compiled loop, in float32.
            t_RL = readout_RL[first : first + len(block)].to(W.dtype)
            logits_RV = block[: len(t_RL)]
            block_P = slice(first, min(first + len(block), P))
            rows = max(0, block_P.stop - block_P.start)
            if precision == "bf16":
                torch.mm(t_RL, W.T, out=logits_RV)
            else:
                torch.addmm(b_w, t_RL, W.T, out=logits_RV)
            # The logits become their gradient, (p − target distribution) · scale; padding rows have the gradient zero.
            pairs = slice(block_P.start // 2, block_P.stop // 2)
            _softmax_backward(
                *(logits_RV[:rows], b_w, words_P[block_P], nll_P[block_P], smoothed_P[block_P]),
                *(divergence_O[pairs], d_bias_XV, epsilon, scale, consistency),
            )
            logits_RV[rows:] = 0
            # The gradients of t and of W_o from that of the logits W_o t + b_w.
            d_readout_RL[first : first + len(block)] = logits_RV @ W
            if precision == "bf16":
                d_W_o += (logits_RV.T @ t_RL).float()  # adding the bfloat16 tensor directly takes nine times as long
            else:
                d_W_o.addmm_(logits_RV.T, t_RL)
        ctx.save_for_backward(d_readout_RL, d_W_o, d_bias_XV.sum(0))
        # The cost: label-smoothed NLL plus λ / 2 times the divergences of the pairs, times `scale`.
        nll = nll_P.sum()
        ctx.mark_non_differentiable(nll)
        cost = (1 - epsilon) * nll + epsilon * smoothed_P.sum() if epsilon else nll
        if consistency:
            cost = cost + consistency / 2 * divergence_O.sum()
        return cost * scale, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        d_cost = gradients[0]
        # The usual gradient of the cost is 1; the gradients were computed in the forward pass.
        if d_cost.device.type == "cpu" and d_cost == 1:
            return *ctx.saved_tensors, None, None, None, None, None
        return *(d * d_cost for d in ctx.saved_tensors), None, None, None, None, None


def _softmax_backward(
    logits_RV: Tensor,
    b_w: Tensor,
    words_R: Tensor,
    nll_R: Tensor,
    smoothed_R: Tensor,
    divergence_O: Tensor,
    d_bias_XV: Tensor,
    epsilon: float,
    scale: float,
    consistency: float,
) -> None:
    """Overwrite the logits with the gradient of the cost with respect to them, fill `nll` and `smoothed`, add to `d_bias`.

    Logits in bfloat16 do not include the bias yet; the computation is in float32. `divergence` is filled only if
    `consistency` is not zero.
    """
    # The compiled loops compute the same as the tensor operations below, in one pass over the logits.
    rounded = logits_RV.dtype == torch.bfloat16
    if loops.run_on(logits_RV, torch.float32, torch.bfloat16):
        scalars = (*logits_RV.shape, epsilon, scale, rounded)
        scratch = d_bias_XV.new_empty(2, *d_bias_XV.shape) if rounded else logits_RV
        tensors = (logits_RV, words_R, nll_R, smoothed_R, d_bias_XV, b_w, scratch)
        if consistency:
            compiled.paired_softmax_backward((*scalars, consistency), *tensors, divergence_O)
        else:
            compiled.softmax_backward(scalars, *tensors)
        return
    # log p, the NLL of the words, and the mean of −log p over the vocabulary; then p overwrites the logits.
    gradient_RV = logits_RV + b_w if rounded else logits_RV
    log_p_RV = torch.log_softmax(gradient_RV, 1)
    words_R1 = words_R.unsqueeze(1)
    torch.neg(log_p_RV.gather(1, words_R1).squeeze(1), out=nll_R)
    torch.neg(log_p_RV.mean(1), out=smoothed_R)
    torch.exp(log_p_RV, out=gradient_RV)
    if consistency:
        # KL(p | q) + KL(q | p) of each pair of rows, and its gradient with respect to the logits of both rows.
        p_O2V, log_p_O2V = (x_RV.unflatten(0, (-1, 2)) for x_RV in (gradient_RV, log_p_RV))
        difference_O2V = log_p_O2V - log_p_O2V.flip(1)
        divergence_O21 = (p_O2V * difference_O2V).sum(2, keepdim=True)
        divergence_O.copy_(divergence_O21.sum((1, 2)))
        pull_O2V = p_O2V * (difference_O2V - divergence_O21) + p_O2V - p_O2V.flip(1)
        gradient_RV.add_(pull_O2V.flatten(0, 1), alpha=consistency / 2)
    # The gradient of the label-smoothed NLL: p − ε / V − (1 − ε) at the word.
    gradient_RV.sub_(epsilon / gradient_RV.shape[1])
    gradient_RV.scatter_add_(1, words_R1, gradient_RV.new_full(words_R1.shape, epsilon - 1)).mul_(scale)
    d_bias_XV[0] += gradient_RV.sum(0)
    if rounded:
        logits_RV.copy_(gradient_RV)
