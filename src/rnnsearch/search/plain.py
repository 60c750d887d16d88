"""The reference backend: search and the scoring of given pairs with the model's own code, on any device."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rnnsearch.data.batches import Batch
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.model import AlignmentLayer, RNNsearch, Source
from rnnsearch.model.rnnsearch import Hypotheses, StepOutput
from rnnsearch.ops import fast_products
from rnnsearch.search.backend import Integers, Prediction, VocabularySelection
from rnnsearch.search.pair_scoring import PairScores

POSITIONS = 20_000
"""Maximum number of hypotheses times source positions, padding included, that are searched in parallel."""


class PlainBackend:
    """A backend that runs the model's own code for a step. See `Backend`."""

    def __init__(self, model: RNNsearch, selection: VocabularySelection | None = None) -> None:
        self._model = model
        self._selection = selection

    def session(self) -> PlainSession:
        return PlainSession(self._model, self._selection)

    def has_room(self, rows: int, positions: int) -> bool:
        return rows * positions <= POSITIONS


class PlainSession:
    """The state of a search that runs the model's own code. See `SearchSession`.

    Each row is passed to the model as a sentence with a single hypothesis (B = R, K = 1).
    """

    def __init__(self, model: RNNsearch, selection: VocabularySelection | None) -> None:
        self._model, self._selection = model, selection
        self._source: Source | None = None
        """The sentences that have a slot, concatenated."""
        self._place_R = np.empty(0, np.int64)
        """The index of the sentence in `_source` that each row belongs to."""
        self._hypotheses: Hypotheses | None = None
        self._allowed_BV: Tensor | None = None
        """With vocabulary selection, True for the words that are allowed for each of these sentences."""

    @torch.inference_mode()
    def encode(self, x_BS: Integers, lengths_B: Integers) -> None:
        device = self._model.readout.b_w.device
        self._waiting = self._model.encode(torch.from_numpy(x_BS).to(device), torch.from_numpy(lengths_B).to(device))
        self._waiting_allowed_BV = None if self._selection is None else self._allowed(self._selection, x_BS, lengths_B)

    @torch.inference_mode()
    def add(self, sentences_b: Integers) -> None:
        sentences = torch.from_numpy(sentences_b).to(self._waiting.mask_BS.device)
        source = self._waiting.select(sentences)
        # The new sentences, each with its empty translation, follow those that are being translated.
        hypotheses = self._model.start(source)
        allowed_BV = None if self._waiting_allowed_BV is None else self._waiting_allowed_BV[sentences]
        if self._source is not None and self._hypotheses is not None:
            source, hypotheses = self._source.concat(source), self._hypotheses.concat(hypotheses)
        if self._source is not None and self._allowed_BV is not None and allowed_BV is not None:
            allowed_BV = torch.cat([self._allowed_BV, allowed_BV])
        first = len(source.mask_BS) - len(sentences_b)
        self._place_R = np.concatenate([self._place_R, np.arange(first, len(source.mask_BS))])
        self._source, self._hypotheses, self._allowed_BV = source, hypotheses, allowed_BV

    @torch.inference_mode()
    def predict(self, count: int, whole: bool = False) -> Prediction:
        assert self._source is not None
        assert self._hypotheses is not None
        # One step of the decoder; each row reads a copy of its source.
        places_R = torch.from_numpy(self._place_R).to(self._source.mask_BS.device)
        self._step: StepOutput = self._model.predict(self._hypotheses, self._source.select(places_R))
        log_p_RV = self._step.log_p_BKV.squeeze(1)
        # With vocabulary selection, the softmax is over the allowed words of the sentence only.
        if self._allowed_BV is not None:
            log_p_RV = torch.log_softmax(log_p_RV.masked_fill(~self._allowed_BV[places_R], -torch.inf), 1)
        log_p_RW, words_RW = log_p_RV.topk(min(count, log_p_RV.shape[1]), 1)
        alpha_R1S = self._step.alpha_BKS
        return Prediction(
            words_RW=words_RW.cpu().numpy(),
            log_p_RW=log_p_RW.double().cpu().numpy(),
            alpha_RS=None if alpha_R1S is None else alpha_R1S.squeeze(1).float().cpu().numpy(),
            log_p_RV=log_p_RV.cpu().numpy() if whole else None,
        )

    @torch.inference_mode()
    def advance(self, parents_r: Integers, words_r: Integers) -> None:
        assert self._source is not None
        device = self._source.mask_BS.device
        parents, words = torch.from_numpy(parents_r).to(device), torch.from_numpy(words_r).to(device)
        first = torch.zeros_like(parents).unsqueeze(1)  # each row acts as a sentence with one hypothesis
        self._hypotheses = self._model.advance(self._step, parents, first, words.unsqueeze(1))
        # Sentences without a row are finished, and their annotations are dropped.
        live, self._place_R = np.unique(self._place_R[parents_r], return_inverse=True)
        if len(live) == 0:
            self._source = None
        elif len(live) < len(self._source.mask_BS):
            live_b = torch.from_numpy(live).to(device)
            self._source = self._source.select(live_b)
            self._allowed_BV = None if self._allowed_BV is None else self._allowed_BV[live_b]

    def _allowed(self, selection: VocabularySelection, x_BS: Integers, lengths_B: Integers) -> Tensor:
        """Return a mask (B, V) that is True for the words that are allowed for each sentence."""
        allowed_BV = torch.zeros(len(x_BS), len(self._model.readout.b_w), dtype=torch.bool)
        allowed_BV[:, : selection.frequent] = True
        for allowed_V, x_S, length in zip(allowed_BV, x_BS.tolist(), lengths_B.tolist(), strict=True):
            allowed_V[selection.candidates(x_S[: length - 1])] = True
        return allowed_BV.to(self._model.readout.b_w.device)


class PlainPairScorer:
    """The scoring of given pairs by the model's own code for whole sentences. See `PairScorer`."""

    def __init__(self, model: RNNsearch, layer: AlignmentLayer | None = None) -> None:
        self._model, self._layer = model, layer

    @torch.inference_mode()
    def __call__(self, batch: Batch, links: bool = False) -> PairScores:
        """See `PairScorer`."""
        # The NLL of each target word, from the logits at the P positions that are no padding.
        tensors = batch_tensors(batch, device_of(self._model))
        with fast_products():
            output = self._model(*tensors)
            log_p_P = -torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="none")
        # The P values are ordered by target position first; they are put back into (T, B), where padding stays zero.
        y_BT, lengths_B = batch.target_BT, batch.target_lengths_B
        log_p_TB = np.zeros(y_BT.T.shape)
        log_p_TB[np.arange(y_BT.shape[1])[:, np.newaxis] < lengths_B] = log_p_P.double().cpu().numpy()
        alpha_TBS = output.decoded.alpha_TBS
        scores = PairScores(log_p_TB.T, None if alpha_TBS is None else alpha_TBS.transpose(0, 1).float().cpu().numpy())
        if links and self._layer is not None:
            scores.links_BTS = self._layer(self._model, output, *tensors).sigmoid().cpu().numpy()
        return scores
