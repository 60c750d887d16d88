from random import Random

import numpy as np
import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.evaluation.significance import RESAMPLES, bootstrap_bleu, compare

WORDS = ["the", "old", "young", "woman", "sees", "gives", "red", "book", "house", "tree", "dog", "under", "night"]


def reference_lines(count: int = 120) -> list[str]:
    random = Random(1)
    return [" ".join(random.choices(WORDS, k=random.randrange(6, 14))) + "." for _ in range(count)]


def with_faults(lines: list[str], share: float, seed: int) -> list[str]:
    """The lines with this share of their words replaced."""
    random = Random(seed)
    return [" ".join("wrong" if random.random() < share else word for word in line.split()) for line in lines]


def test_a_much_better_system_is_significantly_better() -> None:
    references = reference_lines()
    outputs = {"good": with_faults(references, 0.05, 2), "bad": with_faults(references, 0.4, 3)}
    found = compare(outputs, references)
    p = found.p_value("good", "bad")
    assert p is not None
    assert p < 0.01
    assert found.p_value("bad", "good") == p
    assert found.p_value("good", "good") is None


def test_equally_good_systems_are_not_told_apart() -> None:
    references = reference_lines()
    outputs = {name: with_faults(references, 0.2, seed) for name, seed in (("a", 2), ("b", 3), ("c", 4))}
    found = compare(outputs, references)
    assert min(p for row in found.p for p in row if p is not None) > 0.05


def test_scores_are_those_of_corpus_score_with_a_signature_that_says_how_they_were_resampled() -> None:
    references = reference_lines()
    outputs = {"one": with_faults(references, 0.1, 2), "two": with_faults(references, 0.3, 3)}
    found = compare(outputs, references)
    assert found.names == ["one", "two"]
    assert found.bleu == pytest.approx([corpus_score(lines, references).bleu for lines in outputs.values()])
    assert all(0 < half < 10 for half in found.interval)
    assert "bs:1000" in found.signature
    assert "tok:13a" in found.signature
    assert found == compare(outputs, references), "the resamples are the same every time"


def test_a_missing_line_is_named() -> None:
    references = reference_lines()
    with pytest.raises(RnnsearchError, match=r"short has 119 lines, but the test set has 120"):
        compare({"whole": references, "short": references[1:]}, references)


@pytest.mark.parametrize("outputs", [{}, {"one": ["a"]}])
def test_one_system_is_nothing_to_compare(outputs: dict[str, list[str]]) -> None:
    with pytest.raises(RnnsearchError, match="two systems or more"):
        compare(outputs, ["a"])


def test_no_sentences() -> None:
    with pytest.raises(RnnsearchError, match="0 translations"):
        compare({"one": [], "two": []}, [])


def test_the_same_translations_twice_are_no_different() -> None:
    references = reference_lines()
    lines = with_faults(references, 0.2, 2)
    found = compare({"one": lines, "other": lines, "better": references}, references)
    assert found.p_value("one", "other") == 1.0
    better = found.p_value("one", "better")
    assert better is not None
    assert better < 0.01


def test_bootstrap_bleu_agrees_with_sacrebleu() -> None:
    references = reference_lines(150)
    outputs = with_faults(references, 0.2, 2)
    found = bootstrap_bleu(outputs, references)
    ours = compare({"one": outputs, "other": with_faults(references, 0.3, 3)}, references)
    assert found.shape == (RESAMPLES,)
    assert np.mean(found) == pytest.approx(corpus_score(outputs, references).bleu, abs=0.5)
    low, high = np.quantile(found, [0.025, 0.975])
    assert (high - low) / 2 == pytest.approx(ours.interval[0], rel=0.15)
    assert np.array_equal(found, bootstrap_bleu(outputs, references))
    np.testing.assert_allclose(bootstrap_bleu(references, references), 100)
