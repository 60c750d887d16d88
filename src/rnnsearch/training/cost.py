"""What training minimises: word NLLs, summed over the minibatch (appendix B.2)."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy

from rnnsearch.config import TrainingConfig
from rnnsearch.model import Forced


def training_cost(forced: Forced, sentences: int, config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """The cost to differentiate, and the plain NLL in nats summed over the minibatch's words, both scalars.

    They differ by label smoothing and by what the sum is divided by (`loss_normalization`).
    """
    nll = cross_entropy(forced.logits_PV, forced.words_P, reduction="sum")
    cost = nll
    if config.label_smoothing:
        # (1 − ε) · NLL + ε · mean over the vocabulary of −log p, the mean from one log-sum-exp already in the NLL.
        chosen_P = forced.logits_PV.gather(1, forced.words_P.unsqueeze(1)).squeeze(1)
        uniform = nll + (chosen_P - forced.logits_PV.mean(1)).sum()
        cost = (1 - config.label_smoothing) * nll + config.label_smoothing * uniform
    divisor = {"sum": 1, "sentences": sentences, "tokens": len(forced.words_P)}[config.loss_normalization]
    return cost / divisor, nll.detach()
