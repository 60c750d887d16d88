"""The steps of the decoder for one sentence, in float64, from the weights of a model.

The letters of shapes are S for source positions, C for the context, and otherwise those of `rnnsearch.model`. B hypotheses
of the sentence are computed side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.checking.paper import Paper
from rnnsearch.config import ModelConfig
from rnnsearch.graphs.weights import Weights
from rnnsearch.search.trace import Partial
from rnnsearch.system import System
from rnnsearch.text import END, UNK, units_of
from rnnsearch.weight_names import PAPER_NAMES

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
BEST = 8
"""The number of most probable words that a step records."""
_LONGER = 10
"""The largest number of words by which a changed translation may exceed the original one."""


@dataclass(frozen=True)
class WhatIf:
    """The effect of one change at a step; after it, the translation continues greedily."""

    change: Literal["off", "only", "word"]
    """`off`: the source word at position `at` cannot be attended to from this step on; an RNNencdec has read the sentence
    without it. `only`: at this step, all attention is on it. `word`: the word with the id `at` is written."""
    at: int
    best: list[tuple[int, float]]
    """The most probable words of this step with their probabilities; for `word`, those of the step after it."""
    probability: float | None
    """That of the word y_i that the translation has at this step; None for `word`."""
    text: str
    """The translation, detokenised."""


@dataclass(frozen=True)
class Step:
    """A step of the decoder, which predicts one word."""

    word: int
    """The word y_i that is written; its id."""
    state: Floats
    """s_{i−1} (N)."""
    energies: Floats | None
    """e_ij (S); None for an RNNencdec."""
    alpha: Floats | None
    """α_ij (S); None for an RNNencdec."""
    context: Floats
    """c_i (C)."""
    before_maxout: Floats
    """t~_i (2L)."""
    maxout: Floats
    """t_i (L)."""
    probabilities: Floats
    """p(y_i | y_1 … y_{i−1}, x) of all words (V)."""
    z: Floats
    """The update gate (N)."""
    r: Floats
    """The reset gate (N)."""
    candidate: Floats
    """s~_i (N)."""
    new_state: Floats
    """s_i (N)."""
    beam: Sequence[Partial]
    """The hypotheses that go on after this step, and those that end with it, best first."""
    what_ifs: list[WhatIf]


def paper_of(config: ModelConfig, weights: Weights) -> Paper:
    """Return the equations with the weights of a model, in float64."""
    arrays = {short: weights[name].astype(np.float64) for name, short in PAPER_NAMES.items() if name in weights}
    if config.tied_embedding:
        arrays["W_o"] = arrays["E_tgt"]
    return Paper(arrays)


class _Prediction(NamedTuple):
    """What a step computes before a word is written, for B hypotheses."""

    context_BC: Floats
    before_maxout_BL: Floats
    maxout_BL: Floats
    p_BV: Floats


class _Decoder:
    """The decoder for one sentence. The vector of an RNNencdec is the only annotation of its sentence."""

    def __init__(self, paper: Paper, annotations_BSC: Floats, aligns: bool, forbid_unk: bool) -> None:
        """`annotations` are those of the sentence (B = 1), or the vectors of B sentences."""
        self.paper, self.h_BSC, self.aligns, self.forbid_unk = paper, annotations_BSC, aligns, forbid_unk
        self._keys_BSA = paper.keys(annotations_BSC) if aligns else annotations_BSC

    def attend(self, s_BN: Floats, mask_BS: Mask) -> tuple[Floats, Floats]:
        """Return e_ij and α_ij (B, S); those of an RNNencdec are 0 and 1."""
        if not self.aligns:
            return np.zeros((len(s_BN), 1)), np.ones((len(s_BN), 1))
        e_BS = self.paper.energies_of_keys(s_BN, self._keys_BSA)
        return e_BS, self.paper.weights(e_BS, mask_BS)

    def predict(self, s_BN: Floats, previous_BE: Floats, alpha_BS: Floats) -> _Prediction:
        """Return c_i, t~_i, t_i and the distribution of y_i."""
        c_BC = self.paper.context(alpha_BS, self.h_BSC)
        total_BL = self.paper.before_maxout(s_BN, previous_BE, c_BC)
        t_BL = self.paper.maxout(total_BL)
        return _Prediction(c_BC, total_BL, t_BL, self.paper.distribution(t_BL))

    def everywhere(self, rows: int) -> Mask:
        """Return the mask (B, S) with which all words are attended to."""
        return np.ones((rows, self.h_BSC.shape[1]), bool)

    def update(self, s_BN: Floats, word_BE: Floats, c_BC: Floats) -> Floats:
        """Return s_i."""
        return self.paper.gated_unit(s_BN, word_BE, c_BC)

    def follow(
        self, s_BN: Floats, previous_BE: Floats, alpha_BS: Floats, mask_BS: Mask, most: int
    ) -> tuple[Floats, list[list[int]]]:
        """Return the distribution of this step (B, V), and the most probable word of it and of each step after it.

        `alpha` is that of this step; the steps after it attend to the words of `mask`. At most `most` words are written.
        """
        c_BC, _, _, first_p_BV = self.predict(s_BN, previous_BE, alpha_BS)
        words_B = self.best_word(first_p_BV)
        written = [[word] for word in words_B.tolist()]
        rows, decoder = np.arange(len(written)), self
        for _ in range(most - 1):
            going = np.flatnonzero(words_B != END)
            if not len(going):
                break
            rows, mask_BS, decoder = rows[going], mask_BS[going], decoder.of_rows(going)
            previous_BE = self.paper.p["E_tgt"][words_B[going]]
            s_BN = decoder.update(s_BN[going], previous_BE, c_BC[going])
            c_BC, _, _, p_BV = decoder.predict(s_BN, previous_BE, decoder.attend(s_BN, mask_BS)[1])
            words_B = self.best_word(p_BV)
            for row, word in zip(rows.tolist(), words_B.tolist(), strict=True):
                written[row].append(word)
        return first_p_BV, written

    def of_rows(self, rows_B: NDArray[np.int64]) -> _Decoder:
        """Return the decoder for some of the hypotheses; those of one sentence have the same."""
        if len(self.h_BSC) == 1:
            return self
        return _Decoder(self.paper, self.h_BSC[rows_B], self.aligns, self.forbid_unk)

    def best_word(self, p_BV: Floats) -> NDArray[np.int64]:
        """Return the most probable word (B), which is not `[UNK]` where that is forbidden."""
        allowed_BV = p_BV.copy()
        if self.forbid_unk:
            allowed_BV[:, UNK] = 0
        best: NDArray[np.int64] = allowed_BV.argmax(1)
        return best


class Stepper:
    """Computes the steps of the translation of one sentence, and what follows from changes."""

    def __init__(self, system: System, source: Sequence[int], forbid_unk: bool) -> None:
        """`source` are the word ids of the sentence with the end symbol."""
        self._vocabulary = system.vocabularies.target
        self._units = units_of(system.config.data)[1]
        self._aligns, self._forbid_unk = system.aligns, forbid_unk
        self._paper = paper_of(system.config.model, system.weights)
        self._source = list(source)
        self.annotations_SC: Floats
        """h_j; of an RNNencdec, the forward states h→_j, of which the last one is the fixed vector."""
        if self._aligns:
            mask_1S = np.ones((1, len(source)), bool)
            h_1SC = self._paper.encoder(np.array([source]), mask_1S)
            self._decoder, self._first_1N = self._decoder_of(h_1SC), self._paper.initial_state(h_1SC, mask_1S)
        else:
            h_1SC = self._forward_states(np.array([source]))
            self._decoder, self._first_1N = self._from_vectors(h_1SC[:, -1])
        self.annotations_SC = h_1SC[0]

    def _decoder_of(self, h_BSC: Floats) -> _Decoder:
        return _Decoder(self._paper, h_BSC, self._aligns, self._forbid_unk)

    def _forward_states(self, x_BS: NDArray[np.int64]) -> Floats:
        words_BSE = self._paper.p["E_src"][x_BS]
        states_BSN: Floats = self._paper.directed("fwd", words_BSE, np.ones_like(x_BS, bool), range(x_BS.shape[1]))
        return states_BSN

    def _from_vectors(self, vectors_BN: Floats) -> tuple[_Decoder, Floats]:
        """Return an RNNencdec's decoder for the fixed vectors of B sentences, and its first states s_0."""
        return self._decoder_of(vectors_BN[:, None]), self._paper.state_of(vectors_BN)

    def steps(self, words: Sequence[int], beams: Sequence[Sequence[Partial]]) -> list[Step]:
        """Return the steps that write these words; `beams` are the hypotheses after each step."""
        decoder, aligns = self._decoder, self._aligns
        s_1N, previous_1E = self._first_1N, self._before_first(1)
        steps: list[Step] = []
        for i, (word, beam) in enumerate(zip(words, beams, strict=True)):
            e_1S, alpha_1S = decoder.attend(s_1N, decoder.everywhere(1))
            predicted = decoder.predict(s_1N, previous_1E, alpha_1S)
            word_1E = self._embedding([word])
            z_1N, r_1N, candidate_1N = self._paper.gates("dec", s_1N, word_1E, predicted.context_BC)
            new_1N = decoder.update(s_1N, word_1E, predicted.context_BC)
            most = len(words) - i + _LONGER
            known = words[: i + 1]
            changed = self._other_attention(s_1N, previous_1E, e_1S, known, most) if aligns else self._left_out(known, most)
            changed += self._other_words(s_1N, predicted, known, most)
            steps.append(
                Step(
                    word=word,
                    state=s_1N[0],
                    energies=e_1S[0] if aligns else None,
                    alpha=alpha_1S[0] if aligns else None,
                    context=predicted.context_BC[0],
                    before_maxout=predicted.before_maxout_BL[0],
                    maxout=predicted.maxout_BL[0],
                    probabilities=predicted.p_BV[0],
                    z=z_1N[0],
                    r=r_1N[0],
                    candidate=candidate_1N[0],
                    new_state=new_1N[0],
                    beam=beam,
                    what_ifs=changed,
                )
            )
            s_1N, previous_1E = new_1N, word_1E
        return steps

    def _other_attention(
        self, s_1N: Floats, previous_1E: Floats, e_1S: Floats, words: Sequence[int], most: int
    ) -> list[WhatIf]:
        """Return what follows if a source word is switched off, or all attention is on it, for each source word.

        `words` are those of the translation up to this step.
        """
        *written, word = words
        S = e_1S.shape[1]
        if S == 1:
            return []
        later_BS = np.concatenate([~np.eye(S, dtype=bool), np.ones((S, S), bool)])
        now_BS = np.concatenate([~np.eye(S, dtype=bool), np.eye(S, dtype=bool)])
        alpha_BS: Floats = self._paper.weights(e_1S, now_BS)
        s_BN, previous_BE = (np.repeat(array, 2 * S, 0) for array in (s_1N, previous_1E))
        p_BV, predicted = self._decoder.follow(s_BN, previous_BE, alpha_BS, later_BS, most)
        changes: list[tuple[Literal["off", "only"], int]] = [("off", j) for j in range(S)]
        changes += [("only", j) for j in range(S)]
        return [
            WhatIf(*change, best_words(p_V), float(p_V[word]), self._text([*written, *ids]))
            for change, p_V, ids in zip(changes, p_BV, predicted, strict=True)
        ]

    def _left_out(self, words: Sequence[int], most: int) -> list[WhatIf]:
        """Return what follows if an RNNencdec had read the sentence without one of its words, for each of these."""
        *written, word = words
        x, B = self._source, len(self._source) - 1
        if B == 0:
            return []
        without_BS = np.array([[*x[:j], *x[j + 1 :]] for j in range(B)])
        decoder, s_BN = self._from_vectors(self._forward_states(without_BS)[:, -1])
        previous_BE = self._before_first(B)
        alpha_BS = np.ones((B, 1))
        for earlier in written:
            c_BC = decoder.predict(s_BN, previous_BE, alpha_BS).context_BC
            previous_BE = self._embedding([earlier] * B)
            s_BN = decoder.update(s_BN, previous_BE, c_BC)
        p_BV, predicted = decoder.follow(s_BN, previous_BE, alpha_BS, decoder.everywhere(B), most)
        pairs = zip(p_BV, predicted, strict=True)
        return [
            WhatIf("off", j, best_words(p_V), float(p_V[word]), self._text([*written, *ids]))
            for j, (p_V, ids) in enumerate(pairs)
        ]

    def _other_words(self, s_1N: Floats, predicted: _Prediction, words: Sequence[int], most: int) -> list[WhatIf]:
        """Return what follows if one of the most probable words is written instead of the last one of `words`."""
        *written, own = words
        others = [word for word, _ in best_words(predicted.p_BV[0]) if word != own]
        B = len(others)
        word_BE = self._embedding(others)
        s_BN = self._decoder.update(np.repeat(s_1N, B, 0), word_BE, np.repeat(predicted.context_BC, B, 0))
        mask_BS = self._decoder.everywhere(B)
        p_BV, after = self._decoder.follow(s_BN, word_BE, self._decoder.attend(s_BN, mask_BS)[1], mask_BS, most)
        return [
            WhatIf("word", word, [] if word == END else best_words(p_V), None, self._text([*written, word, *ids]))
            for word, p_V, ids in zip(others, p_BV, after, strict=True)
        ]

    def _embedding(self, words: Sequence[int]) -> Floats:
        rows: Floats = self._paper.p["E_tgt"][list(words)]
        return rows

    def _before_first(self, rows: int) -> Floats:
        """Return the embedding of the word before the first one, which is the zero vector."""
        return np.zeros((rows, self._paper.p["E_tgt"].shape[1]))

    def _text(self, ids: Sequence[int]) -> str:
        """Return a translation as text, up to its end symbol."""
        stop = ids.index(END) if END in ids else len(ids)
        return self._units.detokenize(self._vocabulary.join(ids[:stop])[0])


def best_words(p_V: Floats) -> list[tuple[int, float]]:
    """Return the `BEST` most probable words with their probabilities, the most probable first."""
    best = np.argsort(-p_V, kind="stable")[:BEST]
    return [(int(word), float(p_V[word])) for word in best]
