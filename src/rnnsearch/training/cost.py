"""The training cost: the negative log-likelihood (NLL) summed over the target words of a minibatch (appendix B.2)."""

from __future__ import annotations

import torch
from torch import Tensor

from rnnsearch.config import TrainingConfig
from rnnsearch.model import TeacherForcedOutput
from rnnsearch.ops import linear_cross_entropy


def training_cost(
    output: TeacherForcedOutput, divisor: float, config: TrainingConfig, guide_BTS: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the cost to differentiate, and the NLL in nats summed over the words of the minibatch; both are scalars.

    The cost differs from the NLL by label smoothing, by the division by `divisor`, and by two terms. With `guide_BTS` (see
    `Batch`), the cross-entropy of the attention, −Σ guide · log α, is added with the weight `guided_alignment` (Chen et al.
    2016; Mi et al. 2016). With `consistency`, sentences 2i and 2i + 1 must be the same pair, computed with different
    dropout, and the divergence between their word distributions is added (Liang et al. 2021).
    """
    cost, nll = linear_cross_entropy(
        output.readout_RL.to(output.readout.W_o.dtype),
        output.readout.W_o,
        output.readout.b_w,
        output.words_P,
        label_smoothing=config.label_smoothing,
        scale=1 / divisor,
        consistency=config.consistency,
        precision=config.precision,
    )
    if guide_BTS is not None and output.decoded.alpha_TBS is not None:
        alpha_BTS = output.decoded.alpha_TBS.transpose(0, 1)
        log_alpha_BTS = (alpha_BTS + torch.finfo(torch.float32).tiny).log()
        cost = cost - config.guided_alignment / divisor * (guide_BTS * log_alpha_BTS).sum()
    return cost, nll


def cost_divisor(sentences: int, words: int, config: TrainingConfig) -> int:
    """Return the divisor that `loss_normalization` prescribes for an update with these numbers of pairs and target words."""
    return {"sum": 1, "sentences": sentences, "tokens": words}[config.loss_normalization]
