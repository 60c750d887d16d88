"""The training cost: the NLL summed over the words of a minibatch (appendix B.2)."""

from __future__ import annotations

import torch
from torch import Tensor

from rnnsearch.config import TrainingConfig
from rnnsearch.model import TeacherForcedOutput
from rnnsearch.ops import linear_cross_entropy


def training_cost(
    output: TeacherForcedOutput, divisor: float, config: TrainingConfig, guide_BTS: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The cost to differentiate, and the plain NLL in nats summed over the minibatch's words, both scalars.

    They differ by label smoothing, by the divisor, and, where links are given as `guide` (see `Batch`), by the alignment's
    cross-entropy against them, −Σ guide · log α, weighted (Chen et al. 2016; Mi et al. 2016). With `consistency`, sentences
    2i and 2i + 1 are to be one pair, read with different dropout: their words' divergence costs too (Liang et al. 2021).
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
    """The divisor of the cost of an update with so many sentences and target words (`loss_normalization`)."""
    return {"sum": 1, "sentences": sentences, "tokens": words}[config.loss_normalization]
