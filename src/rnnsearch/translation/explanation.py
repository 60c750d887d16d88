"""The explanation of a translation, word by word: all quantities of the decoder's equations, and the effects of changes.

The quantities are computed in float64 with `rnnsearch.checking.paper`, from the weights of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import search_all
from rnnsearch.search.trace import Partial, TracedBackend
from rnnsearch.text import END, Vocabularies
from rnnsearch.translation.steps import Floats, Step, Stepper
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator

MOST_WORDS = 40
"""The largest number of words or subwords, on either side, of a sentence that is explained."""


@dataclass(frozen=True)
class Explanation:
    """A translation of one sentence, and the steps that lead to it."""

    line: str
    translation: Translation
    source: list[int]
    """The ids of the source words or subwords that the model reads, with the end symbol."""
    vocabularies: Vocabularies
    annotations: Floats
    """h_j (S, C); of an RNNencdec, the forward states h→_j, of which the last one is the fixed vector."""
    aligns: bool
    """Whether the model attends; False for an RNNencdec."""
    steps: list[Step]
    """The last one predicts the end symbol, if the translation is finished."""


def explain(translator: Translator, line: str, **settings: object) -> Explanation:
    """Translate one sentence, and compute every quantity of its translation.

    `settings` are those of `Translator.translate`. Raises RnnsearchError for a line without words or with more than
    `MOST_WORDS`, for an ensemble, and for a model that is not the paper's.
    """
    system = translator.system
    _check_paper(translator)
    search = translator.search_settings(settings)
    search = replace(search, temperature=0.0, vocabulary_selection=0, split_sentences=False, precision="fp32")
    request = translator.requests([line], 1, [], search)[0]
    if len(request.queries) != 1:
        reason = f"is longer than search.max_segment = {search.max_segment}" if request.queries else "has no words"
        raise RnnsearchError(f"explain: the line {reason}; give one sentence")
    query = request.queries[0]
    if len(query.words) > MOST_WORDS:
        raise RnnsearchError(f"explain: the sentence has {len(query.words)} words or subwords; give at most {MOST_WORDS}")
    traced = TracedBackend(translator.backend(search))
    search_all(traced, [query], search)
    translation = translator.translations(request, search)[0]
    best = next(hypothesis for hypothesis in query.hypotheses if hypothesis.score == translation.score)
    ended = [Partial((*one.words, END), one.score) for one in query.hypotheses if one.finished]
    words = ([*best.words, END] if best.finished else best.words)[:MOST_WORDS]
    beams = [
        sorted([*beam, *(one for one in ended if len(one.words) == i)], key=lambda one: -one.score)
        for i, beam in enumerate(traced.beams[: len(words)], 1)
    ]
    source = [*query.words, END]
    stepper = Stepper(system, source, search.forbid_unk)
    steps = stepper.steps(words, beams)
    return Explanation(line, translation, source, system.vocabularies, stepper.annotations_SC, system.aligns, steps)


def _check_paper(translator: Translator) -> None:
    """Raise RnnsearchError unless the model is one RNNsearch or RNNencdec of the paper."""
    if len(translator.systems) > 1:
        raise RnnsearchError(f"explain: {translator.kind}; give one model, whose equations are then shown")
    config = translator.system.config.model
    values = {
        "alignment": ("mlp", "none"), "cell": ("gated",), "encoder_layers": (1,), "decoder_layers": (1,),
        "layer_norm": (False,), "decoder_order": ("look-generate-update",), "bidirectional": (config.alignment != "none",),
    }  # fmt: skip
    for name, allowed in values.items():
        value = getattr(config, name)
        if value not in allowed:
            raise RnnsearchError(
                f"explain: model.{name} = {value}, and the equations that are shown are the paper's, with "
                f"{' or '.join(map(str, allowed))}; give another model"
            )
