"""The catalogue of known deviations from the paper: each is a switch of `rnnsearch.checking.paper.Paper`."""

from __future__ import annotations

UNIT = {
    "reset-after-product": "the reset gate is applied after the product with U, as torch.nn.GRU does",
    "gates-exchanged": "z and 1 − z are exchanged",
    "candidate-relu": "relu stands for tanh in the candidate of the gated unit",
    "no-candidate-bias": "the candidate of the gated unit has no bias b",
    "no-reset-gate": "the gated unit has no reset gate",
    "recurrent-transposed": "U, U_z and U_r are transposed: s @ U stands for s @ U.T",
}
ENCODER = {
    "backward-not-reversed-back": "the backward states are not reversed back",
    "backward-reversed-with-padding": "the backward states are reversed together with the padding",
    "backward-reads-forward": "the backward RNN reads the sentence from left to right",
    "halves-exchanged": "the annotations are [h← ; h→]",
    "encoder-reads-padding": "the encoder reads the padding, too, and has annotations of it",
}
INITIAL_STATE = {
    "initial-state-zero": "s_0 is zero",
    "initial-state-forward": "s_0 is computed from the last forward state, h→_Tx",
    "initial-state-last-backward": "s_0 is computed from the backward state of the last word, h←_Tx",
    "initial-state-mean": "s_0 is computed from the mean of the backward states",
    "initial-state-relu": "relu stands for tanh in s_0",
    "initial-state-linear": "s_0 has no tanh",
    "initial-state-transposed": "W_s is transposed: h @ W_s stands for h @ W_s.T",
    "no-initial-bias": "s_0 has no bias b_s",
}
ENERGIES = {
    "energy-relu": "relu stands for tanh in the energies",
    "energy-linear": "the energies have no tanh",
    "energy-tanh-last": "the tanh is applied after the product with v_a, not before it",
    "energy-without-v_a": "the energies are sums over the hidden units, without v_a",
    "energy-bias": "the alignment model has a bias, b_a",
    "energy-dot-product": "the energies are dot products of W_a s_{i−1} and U_a h_j",
    "energy-scaled-dot-product": "the energies are dot products of W_a s_{i−1} and U_a h_j, divided by √n'",
}
WEIGHTS = {
    "softmax-wrong-axis": "the softmax of the energies is taken over the sentences, not over the words of a sentence",
    "padding-not-masked": "the padding is not masked in the softmax of the energies",
    "padding-energy-zero": "the energies of the padding are set to 0, not to −∞",
    "mask-inverted": "the mask is inverted, so that only the padding is attended to",
    "mask-after-softmax": "the weights are masked after the softmax, so that they no longer sum to 1",
}
CONTEXT = {
    "context-mean": "the context is the mean of all annotations, whatever the weights",
    "context-best": "the context is the annotation of the largest weight",
}
READOUT = {
    "no-maxout": "there is no maxout, and all 2l units are returned",
    "maxout-left-out": "there is no maxout, and the first l units are used",
    "maxout-halves": "the maxout takes the larger of unit j and unit l + j, not of neighbours",
    "mean-of-neighbours": "the mean of neighbours stands for their maximum",
    "no-readout-bias": "the readout has no bias b_o",
}
DISTRIBUTION = {
    "no-softmax-bias": "the distribution has no bias b_w",
    "distribution-wrong-axis": "the softmax of the distribution is taken over the sentences, not over the vocabulary",
}
RETURNED = {
    "distribution-in-logarithms": "logarithms of the probabilities are returned",
    "distribution-scores": "the distribution has no softmax",
}
STEP = {
    "attends-with-new-state": "the state is updated first, and the attention reads s_i, not s_{i−1}",
    "updates-before-predicting": "the state is updated before predicting, as in Eq. 4 (the order look-update-generate)",
    "context-of-previous-step": "the context of the previous step, c_{i−1}, is read",
    "predicts-from-own-word": "the previous word is shifted: y_i is predicted from y_i itself",
    "updates-with-previous-word": "the previous word is shifted: s_i is computed from y_{i−1}, not from y_i",
}
SENTENCE = {
    "first-word-embedded": "the word before the first is the embedding of word 0, not the zero vector",
    "no-teacher-forcing": "the decoder reads the words that it finds most probable, not those of the target",
    "end-not-scored": "the end symbol is not scored",
    "target-padding-scored": "the padding of the target is scored, too",
}
LOSS = {
    "loss-sum": "the loss is summed over the sentences, not averaged",
    "loss-sign": "the loss has no minus sign",
    "loss-mean-of-words": "the loss is averaged over the words, not over the sentences",
}
CLIPPING = {
    "clip-by-value": "each element of the gradient is clipped by its value",
    "clip-each-tensor": "each tensor is clipped by its own norm",
}

CATALOGUE: dict[str, str] = {
    **UNIT, **ENCODER, **INITIAL_STATE, **ENERGIES, **WEIGHTS, **CONTEXT, **READOUT, **DISTRIBUTION, **RETURNED,
    **STEP, **SENTENCE, **LOSS, **CLIPPING,
}  # fmt: skip
"""A description of each deviation, as the rest of a sentence that begins with "if"."""

_STEP_ONLY = [*ENERGIES, *WEIGHTS, *CONTEXT, *READOUT, *DISTRIBUTION, *STEP]
_OF_SENTENCE = [
    *UNIT, *ENCODER, *INITIAL_STATE, *_STEP_ONLY, *SENTENCE,
    *(f"{name}@{side}" for name in UNIT for side in ("encoder", "decoder")),
]  # fmt: skip
OF_EQUATION: dict[str, list[str]] = {
    "gated_unit": [*UNIT],
    "encoder": [*UNIT, *ENCODER],
    "initial_state": [*INITIAL_STATE],
    "energies": [*ENERGIES],
    "weights": [*WEIGHTS],
    "context": [*CONTEXT],
    "readout": [*READOUT],
    "distribution": [*DISTRIBUTION, *RETURNED],
    "decoder_step": [name for name in (*UNIT, *_STEP_ONLY, *RETURNED) if name != "no-maxout"],
    "log_probability": [name for name in _OF_SENTENCE if name != "no-maxout"],
    "loss": [name for name in (*_OF_SENTENCE, *LOSS) if name != "no-maxout"],
    "gradients": [*LOSS],
    "clip": [*CLIPPING],
}
"""The deviations that change the result of each equation."""


_ALTERNATIVES = (
    {"reset-after-product", "no-reset-gate"},
    {"backward-not-reversed-back", "backward-reversed-with-padding", "backward-reads-forward"},
    {"initial-state-zero", "initial-state-forward", "initial-state-last-backward", "initial-state-mean"},
    {"initial-state-zero", "initial-state-relu", "initial-state-linear"},
    {"energy-relu", "energy-linear", "energy-tanh-last", "energy-dot-product", "energy-scaled-dot-product"},
    {"padding-not-masked", "padding-energy-zero", "mask-inverted", "mask-after-softmax"},
    {"context-mean", "context-best"},
    {"no-maxout", "maxout-left-out", "maxout-halves", "mean-of-neighbours"},
    {"attends-with-new-state", "updates-before-predicting", "updates-with-previous-word"},
    {"end-not-scored", "target-padding-scored"},
    {"distribution-scores", "distribution-wrong-axis", "distribution-in-logarithms"},
    {"loss-sum", "loss-mean-of-words"},
    {*CLIPPING},
)
"""Groups of deviations that exclude each other, because they change the same term of an equation."""


READS_PADDING = frozenset(
    {"padding-not-masked", "padding-energy-zero", "mask-inverted", "mask-after-softmax", "context-mean"}
)
"""The deviations with which a sentence depends on the annotations of the padding."""


def together(one: str, other: str) -> bool:
    """Return whether an implementation can have both deviations."""
    names = {one.partition("@")[0], other.partition("@")[0]}
    return len(names) == 2 and not any(names <= alternatives for alternatives in _ALTERNATIVES)


def described(deviation: str) -> str:
    """Return the description of a deviation; `name@side` is a deviation of the encoder or of the decoder alone."""
    name, _, side = deviation.partition("@")
    return CATALOGUE[name] + (f", in the {side} alone" if side else "")
