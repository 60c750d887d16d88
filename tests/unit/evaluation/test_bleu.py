import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import corpus_bleu, corpus_chrf

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import (
    CorpusScore,
    LengthBin,
    bleu,
    bleu_by_length,
    corpus_score,
    no_unk_subset,
    tokenized_bleu,
)

HYPOTHESES = ["The cat sleeps on the mat.", "It is raining again today, he said."]
REFERENCES = ["The cat is sleeping on the mat.", "It is raining again today, he said to us."]


def test_scores_are_sacrebleus_and_carry_its_signatures() -> None:
    score = corpus_score(HYPOTHESES, REFERENCES)
    assert score.bleu == bleu(HYPOTHESES, REFERENCES) == corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert score.chrf == corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert "tok:13a" in score.bleu_signature
    assert "case:mixed" in score.bleu_signature
    assert "version:" in score.chrf_signature
    assert score.sentences == 2


def test_a_perfect_translation_scores_100_and_a_short_one_is_told_so() -> None:
    perfect = corpus_score(REFERENCES, REFERENCES)
    assert perfect.bleu == pytest.approx(100)
    assert perfect.brevity_penalty == perfect.length_ratio == 1
    short: CorpusScore = corpus_score(["The cat is sleeping", "It is raining again"], REFERENCES)
    assert short.length_ratio < 1
    assert short.brevity_penalty < 1


def test_scores_need_as_many_translations_as_references_and_some() -> None:
    with pytest.raises(RnnsearchError, match="2 translations but 1 references"):
        corpus_score(HYPOTHESES, REFERENCES[:1])
    with pytest.raises(RnnsearchError, match="0 translations"):
        bleu([], [])


def test_validation_does_not_scold_tokenised_text(caplog: pytest.LogCaptureFixture) -> None:
    bleu(["A cat ."] * 101, ["A cat ."] * 101)
    assert not caplog.records


def test_a_bin_holds_its_upper_edge_and_not_its_lower() -> None:
    lengths = [0, 1, 10, 11, 20, 21]
    text = [f"sentence number {n} has these words" for n in lengths]
    bins = bleu_by_length(lengths, text, text, edges=(10, 20, 30))
    assert [(b.low, b.high, b.sentences) for b in bins] == [
        (0, 10, 3),
        (10, 20, 2),
        (20, 30, 1),
        (30, None, 0),
    ]
    assert bins[0].bleu == pytest.approx(100)
    assert bins[-1].bleu is None
    assert [b.label for b in bins] == ["1–10", "11–20", "21–30", "31+"]


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=20),
    st.sets(st.integers(1, 100), max_size=6),
)
def test_every_sentence_is_in_exactly_one_bin(lengths: list[int], edges: set[int]) -> None:
    text = [f"a sentence of {n} words or so" for n in lengths]
    bins = bleu_by_length(lengths, text, text, edges=sorted(edges))
    assert sum(b.sentences for b in bins) == len(lengths)
    assert len(bins) == len(edges) + 1
    assert all((b.bleu is None) == (b.sentences == 0) for b in bins)


def test_a_bin_is_scored_on_its_own_sentences() -> None:
    bins = bleu_by_length([5, 15], HYPOTHESES, REFERENCES, edges=(10,))
    assert bins == [
        LengthBin(0, 10, 1, bleu(HYPOTHESES[:1], REFERENCES[:1])),
        LengthBin(10, None, 1, bleu(HYPOTHESES[1:], REFERENCES[1:])),
    ]


@pytest.mark.parametrize("edges", [(0, 10), (20, 10), (10, 10), (-5,)])
def test_edges_must_rise(edges: tuple[int, ...]) -> None:
    with pytest.raises(RnnsearchError, match="edges"):
        bleu_by_length([1, 2], HYPOTHESES, REFERENCES, edges=edges)


def test_lengths_must_be_as_many_as_sentences() -> None:
    with pytest.raises(RnnsearchError, match="1 source lengths for 2 translations"):
        bleu_by_length([1], HYPOTHESES, REFERENCES)


def test_no_unk_keeps_the_pairs_without_unknown_words_on_either_side() -> None:
    source = [["a", "b"], ["a", "x"], ["b"], []]
    reference = [["A"], ["A"], ["A", "Y"], ["A"]]
    assert no_unk_subset(source, reference, {"a", "b"}, {"A": 2}) == [0, 3]
    with pytest.raises(RnnsearchError, match="4 sources but 1 references"):
        no_unk_subset(source, reference[:1], {"a"}, {"A"})


def test_tokenised_bleu_is_that_of_the_papers_script() -> None:
    """Worked by hand; nothing is smoothed. Tokens that sacreBLEU would join or split count as they are."""
    reference = [["l'", "homme", "est", "-il", "là", "?"]]
    assert tokenized_bleu(reference, reference) == pytest.approx(100)
    assert tokenized_bleu([["l'", "homme", "est", "-il", "ici", "?"]], reference) == pytest.approx(
        100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    )
    assert tokenized_bleu([["l'homme", "est", "-il", "là", "?"]], reference) < tokenized_bleu(reference, reference)
    assert tokenized_bleu([["homme"]], reference) == 0
    with pytest.raises(RnnsearchError, match="0 translations"):
        tokenized_bleu([], [])
