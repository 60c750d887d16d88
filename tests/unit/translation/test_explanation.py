"""The steps of a translation: their numbers are the model's, and what follows from a change is what the model does then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from rnnsearch.data.batches import make_batch
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import END
from rnnsearch.translation import Translator
from rnnsearch.translation.explanation import MOST_WORDS, Explanation, explain
from toy import ALIGNMENTS, ORDERS

Trained = Callable[..., Translator]
LINE = "the big dog sees a red cat ."


def greedy(translator: Translator, words: list[int], written: list[int], off: int | None = None) -> list[int]:
    """The most probable words after those that are written, by the model in PyTorch; one source word may be masked."""
    model = translator.system.model
    batch = make_batch([(words, [])])
    with torch.inference_mode():
        source = model.encode(torch.from_numpy(batch.source_BS), torch.from_numpy(batch.source_lengths_B))
        if off is not None:
            source.mask_BS[0, off] = False
        hypotheses = model.start(source)
        found: list[int] = []
        while (found or written or [None])[-1] != END and len(found) < 60:
            step = model.predict(hypotheses, source)
            place = len(found)
            word = written[place] if place < len(written) else int(step.log_p_BKV[0, 0].argmax())
            found.append(word)
            zero = torch.zeros(1, dtype=torch.int64)
            hypotheses = model.advance(step, zero, zero[None], torch.tensor([[word]]))
    return found


def text_of(explanation: Explanation, ids: list[int]) -> str:
    return " ".join(explanation.vocabularies.target.decode(ids[: ids.index(END)] if END in ids else ids))


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_numbers_are_those_of_the_translation(trained: Trained, alignment: str) -> None:
    translator = trained(alignment=alignment)
    explanation = explain(translator, LINE)
    translation = translator.translate(LINE)
    assert explanation.translation.text == translation.text
    words = [step.word for step in explanation.steps]
    assert text_of(explanation, words) == " ".join(translation.tokens)
    assert words[-1] == END
    score = sum(np.log(step.probabilities[step.word]) for step in explanation.steps)
    assert score == pytest.approx(translation.score, abs=1e-4)
    for step in explanation.steps:
        assert step.probabilities.sum() == pytest.approx(1)
    if alignment == "mlp":
        alpha = np.array([step.alpha for step in explanation.steps])
        np.testing.assert_allclose(alpha, np.array(translation.with_end()[1]), atol=1e-4)
    else:
        assert all(step.alpha is None for step in explanation.steps)
        np.testing.assert_array_equal(explanation.steps[2].context, explanation.annotations[-1])


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_quantities_follow_from_each_other(trained: Trained, alignment: str) -> None:
    steps = explain(trained(alignment=alignment), LINE)
    for step, after in zip(steps.steps, [*steps.steps[1:], None], strict=True):
        np.testing.assert_allclose(step.maxout, step.before_maxout.reshape(-1, 2).max(1))
        np.testing.assert_allclose(step.new_state, (1 - step.z) * step.state + step.z * step.candidate, atol=1e-12)
        if step.alpha is not None and step.energies is not None:
            exponential = np.exp(step.energies - step.energies.max())
            np.testing.assert_allclose(step.alpha, exponential / exponential.sum())
            np.testing.assert_allclose(step.context, step.alpha @ steps.annotations, atol=1e-12)
        if after is not None:
            np.testing.assert_array_equal(after.state, step.new_state)


def test_the_beam_leads_to_the_translation(trained: Trained) -> None:
    explanation = explain(trained(), LINE, beam=3)
    words = tuple(step.word for step in explanation.steps)
    for place, step in enumerate(explanation.steps, 1):
        assert words[:place] in [one.words for one in step.beam]
        assert len(step.beam) <= 3
        assert [one.score for one in step.beam] == sorted((one.score for one in step.beam), reverse=True)
    last = next(one for one in explanation.steps[-1].beam if one.words == words)
    assert last.score == pytest.approx(explanation.translation.score)


def test_a_word_is_switched_off_as_by_the_mask_of_the_model(trained: Trained) -> None:
    translator = trained()
    explanation = explain(translator, LINE)
    source = explanation.source[:-1]
    for one in (one for one in explanation.steps[0].what_ifs if one.change == "off"):
        assert one.text == text_of(explanation, greedy(translator, source, [], one.at))


def test_all_attention_on_a_word_makes_its_annotation_the_context(trained: Trained) -> None:
    translator = trained()
    explanation = explain(translator, LINE)
    before, step = explanation.steps[2:4]
    p = {name: translator.system.weights[name].astype(np.float64) for name in translator.system.weights.arrays}
    only = [one for one in step.what_ifs if one.change == "only"]
    assert [one.at for one in only] == list(range(len(explanation.source)))
    for one in only:
        total = p["readout.U_o"] @ step.state + p["readout.C_o"] @ explanation.annotations[one.at] + p["readout.b_o"]
        total += p["readout.V_o"] @ p["decoder.E"][before.word]
        logits = p["readout.W_o"] @ total.reshape(-1, 2).max(1) + p["readout.b_w"]
        expected = np.exp(logits) / np.exp(logits).sum()
        assert one.probability == pytest.approx(expected[step.word])
        np.testing.assert_allclose([p for _, p in one.best], np.sort(expected)[::-1][:8])


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_another_word_goes_on_as_the_model_does(trained: Trained, alignment: str) -> None:
    translator = trained(alignment=alignment)
    explanation = explain(translator, LINE)
    words = [step.word for step in explanation.steps]
    others = [one for one in explanation.steps[2].what_ifs if one.change == "word"]
    assert len(others) == 7
    for one in others:
        expected = greedy(translator, explanation.source[:-1], [*words[:2], one.at])
        limit = len(words) + 10  # a changed translation may be longer than the translation by so many words
        assert one.text == text_of(explanation, expected[:limit])


def test_an_rnnencdec_reads_the_sentence_without_a_word(trained: Trained) -> None:
    translator = trained(alignment="none")
    explanation = explain(translator, LINE)
    source = explanation.source[:-1]
    words = [step.word for step in explanation.steps]
    for place in (0, 3):
        left_out = [one for one in explanation.steps[place].what_ifs if one.change == "off"]
        assert [one.at for one in left_out] == list(range(len(source)))
        for one in left_out:
            expected = greedy(translator, source[: one.at] + source[one.at + 1 :], words[:place])
            assert one.text == text_of(explanation, expected[: len(words) + 10])


@pytest.mark.parametrize("line", ["dog", "Unknown", "the cat"])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_short_sentences(trained: Trained, alignment: str, line: str) -> None:
    assert explain(trained(alignment=alignment), line).steps


def test_what_cannot_be_explained_is_refused(trained: Trained) -> None:
    translator = trained()
    for line, message in (("", "no words"), (" \n", "no words"), ("dog " * (MOST_WORDS + 1), "at most 40")):
        with pytest.raises(RnnsearchError, match=message):
            explain(translator, line)
    with pytest.raises(RnnsearchError, match=r"ensemble of 2 RNNsearch; give one model"):
        explain(Translator([translator.system, translator.system]), LINE)
    with pytest.raises(RnnsearchError, match=r"model.cell = lstm, .* with gated"):
        explain(trained("lstm"), LINE)
    with pytest.raises(RnnsearchError, match=r"model.decoder_order = look-update-generate"):
        explain(trained(order=ORDERS[1]), LINE)
    with pytest.raises(RnnsearchError, match=r"search\.beam"):
        explain(translator, LINE, beam=0)


def test_settings_of_the_search_hold(trained: Trained) -> None:
    translator = trained()
    one, three = (explain(translator, LINE, beam=beam) for beam in (1, 3))
    assert all(len(step.beam) == 1 for step in one.steps)
    assert max(len(step.beam) for step in three.steps) == 3
    assert replace(one, steps=[]).source == three.source
