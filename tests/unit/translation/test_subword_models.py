"""A model of pieces of words speaks of words: in translations, alignments and scores."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

import rnnsearch
from kept import kept
from rnnsearch.config import from_dict
from rnnsearch.data.batches import make_batch
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.subwords import BEGIN
from rnnsearch.training.session import train
from rnnsearch.translation import Translator
from rnnsearch.translation.segments import split_line
from toy import toy_pairs, write_pairs

pytestmark = pytest.mark.slow

LINES = [source for source, _ in toy_pairs(12, seed=9)]


def make_subword_model(place: Path, kind: str) -> None:
    source, target = write_pairs(place, "train", 400, seed=1)
    valid_source, valid_target = write_pairs(place, "valid", 20, seed=2)
    config = from_dict(
        {
            "data": {"tokenizer": "whitespace", "subwords": kind, "subword_pieces": 60},
            "model": {"embedding_size": 16, "hidden_size": 32, "alignment_size": 16, "maxout_size": 16},
            "training": {
                "optimizer": "adam",
                "learning_rate": 5e-3,
                "loss_normalization": "tokens",
                "initialization": "glorot",
                "max_updates": 80,
                "validate_every": 40,
                "batch_size": 32,
            },
        }
    )
    train(place / "model", config, sources=[source], targets=[target], valid_source=valid_source, valid_target=valid_target)


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def folder(request: pytest.FixtureRequest) -> Path:
    return kept(make_subword_model, request.param) / "model"


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return rnnsearch.load(folder)


def test_there_are_pieces(translator: Translator) -> None:
    assert len(translator.system.vocabularies.source.encode(["Name123"])) > 1


def test_translations_are_of_words(translator: Translator) -> None:
    for line, found in zip(LINES, translator.translate(LINES), strict=True):
        assert BEGIN not in found.text
        assert found.text == " ".join(found.tokens)
        assert found.source_tokens == [*line.split(), "</s>"]
        assert found.alignment is not None
        assert found.alignment.shape == (len(found.tokens), len(found.source_tokens))
        np.testing.assert_allclose(found.alignment.sum(1), 1, atol=1e-4)


def test_a_translation_has_the_score_it_is_given(translator: Translator) -> None:
    """The search's pieces may be others than the cutter's, for the same words; where they are the same, so is the score."""
    translations = translator.translate(LINES)
    scored = translator.score(LINES, [found.text for found in translations])
    same = [abs(one.score - other.score) < 1e-3 for one, other in zip(translations, scored, strict=True)]
    assert any(same)
    for one, other in zip(translations, scored, strict=True):
        assert other.tokens == one.tokens
        assert len(other.word_scores) == len(other.tokens) + 1
        assert sum(other.word_scores) == pytest.approx(other.score)
        assert other.alignment is not None
        assert other.alignment.shape == (len(other.tokens), len(other.source_tokens))


def test_the_company_does_not_matter(translator: Translator) -> None:
    together = translator.translate(LINES)
    for line, found in zip(LINES, together, strict=True):
        alone = translator.translate(line)
        assert alone.text == found.text
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_several_models_agree_on_pieces(translator: Translator) -> None:
    """The mean is of the probabilities of pieces, as in search; the mean of those of words would be another figure."""
    other = copy.deepcopy(translator.system)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in other.model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    systems, words = (translator.system, other), ["Name123", "Name77"]
    batch = make_batch([(other.vocabularies.source.encode(words), other.vocabularies.target.encode(words))])
    arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
    p_of_pieces = []
    for system in systems:
        with torch.no_grad():
            output = system.model(*map(torch.from_numpy, arrays))
            p_PV = output.logits_PV.double().softmax(1)
        p_of_pieces.append(p_PV[torch.arange(len(p_PV)), output.words_P].numpy())
    assert len(p_of_pieces[0]) > 3
    line = [" ".join(words)]
    (pair,) = Translator([translator.system, other]).score(line, line)
    assert pair.score == pytest.approx(np.log(np.mean(p_of_pieces, axis=0)).sum(), abs=1e-4)
    of_words = [system.score(line, line)[0].word_scores for system in (Translator([one]) for one in systems)]
    assert pair.score != pytest.approx(np.log(np.mean(np.exp(of_words), axis=0)).sum(), abs=1e-2)


def test_endless_words_and_lines_are_cut(translator: Translator) -> None:
    """A segment has a bounded number of subwords, so that neither time nor memory grow with the square of a line."""
    vocabulary = translator.system.vocabularies.source
    words = ["Name123456" * 20] * 30 + ["dog"] * 5
    segments = split_line(words, 10, vocabulary)
    assert [word for segment in segments for word in segment] == words
    sizes = [len(vocabulary.encode(segment)) for segment in segments]
    assert all(size <= 40 or len(segment) == 1 for size, segment in zip(sizes, segments, strict=True))
    assert split_line(["dog"] * 10, 10, vocabulary) == [["dog"] * 10]
    assert translator.translate("a" * 100_000).finished
    with pytest.raises(RnnsearchError, match=r"line 1: .* subwords; a pair to be scored"):
        translator.score(" ".join(["Name123456" * 20] * 60), "chien")
