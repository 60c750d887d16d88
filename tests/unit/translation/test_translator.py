"""From lines to translations: blank, long and slow ones, n-best lists, settings, and what is written of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.data.length_batches import by_length
from rnnsearch.data.word_alignments import hard_alignment
from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import FORMATS, ScoredPair, Translation, Translator, score_pairs
from rnnsearch.translation import translator as translator_module
from rnnsearch.translation.formats import pair_as_json
from rnnsearch.translation.segments import split_line
from rnnsearch.translation.translation import Segment
from toy import ALIGNMENTS, TARGET_WORDS, toy_pairs

Trained = Callable[..., Translator]
LINE = "the big dog sees a red cat ."
BLANK = ["", " ", "\t", "  \t ", "\u00a0", "\u3000"]


@pytest.fixture(scope="module")
def translator(trained: Trained) -> Translator:
    return trained("gated", "mlp")


# Lines ---------------------------------------------------------------------------------------------------------------


def test_a_translation(translator: Translator) -> None:
    found = translator.translate(LINE)
    assert found.text == " ".join(found.tokens)
    assert found.source_tokens == [*LINE.split(), "</s>"]
    assert found.finished
    assert found.score < 0
    assert set(found.tokens) <= {*TARGET_WORDS, "[UNK]"}
    assert found.alignment is not None
    assert found.alignment.shape == (len(found.tokens), len(found.source_tokens))
    np.testing.assert_allclose(found.alignment.sum(1), 1, atol=1e-5)
    assert (found.alignment >= 0).all()


@settings(max_examples=15)
@given(lines=st.lists(st.sampled_from([LINE, "", "Name1 zzz .", *(s for s, _ in toy_pairs(5, seed=3))]), max_size=6))
def test_shapes(trained: Trained, lines: list[str]) -> None:
    found = trained("gated", "mlp").translate(lines)
    assert len(found) == len(lines)
    for line, translation in zip(lines, found, strict=True):
        assert translation.source_tokens == [*line.split(), "</s>"]
        assert translation.alignment is not None
        assert translation.alignment.shape == (len(translation.tokens), len(line.split()) + 1)
        np.testing.assert_allclose(translation.alignment.sum(1), 1, atol=1e-5)
        assert translation.links == hard_alignment(translation.alignment)


def test_no_lines(translator: Translator) -> None:
    assert translator.translate([]) == []
    assert translator.n_best([], 3) == []
    assert list(translator.stream([])) == []


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("blank", BLANK, ids=ascii)
def test_a_blank_line_gives_a_blank_line(trained: Trained, alignment: str, blank: str) -> None:
    translator = trained("gated", alignment)
    before, found, after = translator.translate([LINE, blank, LINE])
    assert (found.text, found.tokens, found.score, found.finished) == ("", [], 0, True)
    assert found.source_tokens == ["</s>"]
    assert before.text == after.text == translator.translate(LINE).text
    assert len(translator.n_best([blank, LINE], 3)[0]) == 1
    for name, write in FORMATS.items():
        if name != "json" and not (name == "pharaoh" and alignment == "none"):
            assert write([found], 0, False) == ""


@pytest.mark.parametrize("blank", BLANK[:2], ids=ascii)
def test_rnnencdec_has_no_alignment_of_a_blank_line_either(trained: Trained, blank: str) -> None:
    found = trained("gated", "none").translate(blank)
    assert found.alignment is None
    assert found.links is None


def test_a_line_of_unknown_words(translator: Translator) -> None:
    found = translator.translate("xyzzy plugh")
    assert found.source_tokens == ["xyzzy", "plugh", "</s>"]


def test_a_very_long_line_is_translated_in_pieces_and_harms_no_other(translator: Translator) -> None:
    sources = [source for source, _ in toy_pairs(3, seed=4)]
    endless = " ".join([*["the big dog sees a red cat"] * 1429, "."][:10_000])
    alone = translator.translate(sources)
    *found, long = translator.translate([*sources, endless])
    assert [t.text for t in found] == [t.text for t in alone]
    words = endless.split()
    assert long.source_tokens == [*words, "</s>"]
    assert [token for segment in long.segments for token in segment.source_tokens] == words
    assert max(len(segment.source_tokens) for segment in long.segments) <= 200
    assert len(long.tokens) == sum(len(segment.tokens) for segment in long.segments)
    starts = np.cumsum([0, *(len(segment.tokens) for segment in long.segments)])
    assert [segment.target_start for segment in long.segments] == starts[:-1].tolist()
    record = json.loads(FORMATS["json"]([long], 0, False))
    assert "alignment" not in record
    assert len(record["segments"]) == len(long.segments)


def test_a_line_in_pieces_has_an_alignment_in_blocks(translator: Translator) -> None:
    line = "the big dog sees a red cat . the old man has a book ."
    found = translator.translate(line, max_segment=8)
    assert [segment.source_tokens for segment in found.segments] == [line.split()[:8], line.split()[8:]]
    parts = [translator.translate(" ".join(segment.source_tokens)) for segment in found.segments]
    assert found.tokens == parts[0].tokens + parts[1].tokens
    assert found.score == pytest.approx(parts[0].score + parts[1].score, abs=1e-4)
    matrix = found.alignment
    assert matrix is not None
    assert matrix.shape == (len(found.tokens), len(line.split()) + 1)
    np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-5)
    cut = len(parts[0].tokens)
    assert (matrix[:cut, 8:-1] == 0).all()
    assert (matrix[cut:, :8] == 0).all()
    np.testing.assert_allclose(matrix[cut:, 8:], parts[1].alignment, atol=1e-4)
    assert found.links == hard_alignment(matrix)
    assert len(translator.n_best([line], 4, max_segment=8)[0]) == 1


@given(
    tokens=st.lists(st.sampled_from(("a", "b", ".", "?", ",", ";", "...", ".?")), max_size=60),
    longest=st.integers(1, 12),
)
def test_split_line(tokens: list[str], longest: int) -> None:
    pieces = split_line(tokens, longest)
    assert [token for piece in pieces for token in piece] == tokens
    assert all(1 <= len(piece) <= longest for piece in pieces)
    for piece in pieces[:-1]:
        assert len(piece) > longest // 2 or len(piece) == longest, "a line cut small"


def test_lines_are_split_where_a_reader_would() -> None:
    assert split_line(["a", "b", ",", "c", "d", ".", "e", "f", "g"], 7) == [["a", "b", ",", "c", "d", "."], ["e", "f", "g"]]
    assert split_line(["a", "b", "c", "d", ",", "e", "f", "g", "h"], 7) == [["a", "b", "c", "d", ","], ["e", "f", "g", "h"]]
    assert split_line(["a", ".", "b", "c", "d", "e", "f", "g", "h"], 7) == [["a", ".", "b", "c", "d", "e", "f"], ["g", "h"]]


# Settings ------------------------------------------------------------------------------------------------------------


def test_n_best(translator: Translator) -> None:
    (found,) = translator.n_best([LINE], 4, beam=2)
    assert 1 < len(found) <= 4
    assert len({tuple(t.tokens) for t in found}) == len(found)
    ranks = [t.score / (len(t.tokens) + 1) for t in found]
    assert ranks == sorted(ranks, reverse=True)
    assert found[0].text == translator.translate(LINE, beam=4).text


def test_without_length_normalization_the_most_probable_is_first(translator: Translator) -> None:
    for found in translator.n_best([source for source, _ in toy_pairs(10, seed=5)], 4, length_normalization=0.0):
        scores = [t.score for t in found]
        assert scores == sorted(scores, reverse=True)


def test_forbid_unk(translator: Translator) -> None:
    lines = [f"Name{i} sees Name{i + 1} ." for i in range(5)]
    assert any("[UNK]" in t.tokens for t in translator.translate(lines))
    assert not any("[UNK]" in t.tokens for t in translator.translate(lines, forbid_unk=True))


def test_what_is_cut_off_is_marked(translator: Translator) -> None:
    found = translator.translate([LINE, ""], maximum_length_ratio=0.3)
    assert not found[0].finished
    assert len(found[0].tokens) == 2
    assert found[1].finished


@settings(max_examples=10)
@given(
    prefix=st.lists(st.sampled_from([*TARGET_WORDS, "Zbigniew"]), max_size=5).map(" ".join),
    place=st.integers(0, 2),
    how=st.sampled_from(({}, {"temperature": 1.0}, {"forbid_unk": True, "beam": 2})),
)
def test_a_prefix_is_written_as_it_was_given(trained: Trained, prefix: str, place: int, how: dict[str, object]) -> None:
    """Words the model does not know included; the other lines are as without it."""
    translator = trained("gated", "mlp")
    lines = [LINE, "", "a man finds the tree ."]
    prefixes = [prefix if i == place else "" for i in range(3)]
    found = translator.translate(lines, prefix=prefixes, **how)
    for line, translation, beginning in zip(lines, found, prefixes, strict=True):
        if line:
            assert translation.text.split()[: len(beginning.split())] == beginning.split()
            assert translation.alignment is not None
            assert len(translation.alignment) == len(translation.tokens)
        if not beginning:
            assert translation.text == translator.translate(line, **how).text


def test_a_translation_of_its_own_beginning_is_itself(translator: Translator) -> None:
    whole = translator.translate(LINE)
    for words in range(len(whole.tokens) + 1):
        again = translator.translate(LINE, prefix=" ".join(whole.tokens[:words]))
        assert again.text == whole.text
        assert again.score == pytest.approx(whole.score, abs=1e-4)


def test_prefixes_that_do_not_fit(translator: Translator) -> None:
    with pytest.raises(RnnsearchError, match="1 prefixes for 2 lines"):
        translator.translate([LINE, LINE], prefix=["le"])
    with pytest.raises(RnnsearchError, match="one for each line"):
        translator.translate([LINE, LINE], prefix="le")
    with pytest.raises(RnnsearchError, match=r"search\.vocabulary_selection = 3: the words of a prefix"):
        translator.translate(LINE, prefix="le", vocabulary_selection=3)


def test_draws(translator: Translator) -> None:
    """As many as are asked for; a search among them by minimum Bayes risk takes as many as the beam is wide."""
    (five,) = translator.n_best([LINE], 5, temperature=2.0)
    assert len(five) == 5
    assert len({t.text for t in five}) > 1
    by_seed = [[translator.translate(LINE, temperature=2.0, seed=seed).text for seed in range(8)] for _ in range(2)]
    assert by_seed[0] == by_seed[1]
    assert len(set(by_seed[0])) > 1
    risk = translator.translate(LINE, temperature=0.7, minimum_bayes_risk=True, beam=20)
    assert risk.text in {t.text for t in translator.n_best([LINE], 20, temperature=0.7)[0]}


def test_rnnencdec_has_no_coverage(trained: Trained) -> None:
    with pytest.raises(RnnsearchError, match=r"search\.coverage: an RNNencdec computes no alignment"):
        trained("gated", "none").translate(LINE, coverage=0.2)


@pytest.mark.parametrize(("setting", "value"), [("beem", 3), ("beam", 0), ("beam", "many"), ("max_segment", -1)])
def test_a_wrong_setting_is_named(translator: Translator, setting: str, value: object) -> None:
    for translate in (translator.translate, lambda line, **wrong: list(translator.stream([line], **wrong))):
        with pytest.raises(RnnsearchError, match=setting):
            translate(LINE, **{setting: value})


# Streams -------------------------------------------------------------------------------------------------------------


def test_a_stream_keeps_order(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [source for source, _ in toy_pairs(40, seed=6)]
    monkeypatch.setattr(translator_module, "arriving", lambda lines: ARRIVING(lines, 7))
    streamed = list(translator.stream(iter(sources)))
    assert [n_best[0].source_tokens[:-1] for n_best in streamed] == [source.split() for source in sources]
    assert [n_best[0].text for n_best in streamed] == [t.text for t in translator.translate(sources)]


ARRIVING = translator_module.arriving


@given(count=st.integers(0, 50), most=st.integers(1, 9))
@settings(max_examples=30)
def test_groups_hold_every_line_once(count: int, most: int) -> None:
    groups = list(ARRIVING((str(i) for i in range(count)), most))
    assert all(1 <= len(group) <= most for group in groups)
    assert [line for group in groups for line in group] == [str(i) for i in range(count)]


def test_who_types_slowly_is_answered_line_by_line(translator: Translator) -> None:
    answered = [threading.Event() for _ in range(3)]
    told: list[bool] = []

    def person() -> Iterator[str]:
        for i, event in enumerate(answered):
            yield LINE
            told.append(event.wait(60))  # says the next line only once this one is answered
            assert told[i]

    for event, n_best in zip(answered, translator.stream(person()), strict=True):
        assert n_best[0].text
        event.set()
    assert told == [True, True, True]


def test_an_error_in_the_source_comes_out_of_the_stream_after_what_came_before(translator: Translator) -> None:
    def lines() -> Iterator[str]:
        yield LINE
        yield "a cat ."
        raise RnnsearchError("input.en:3: not valid UTF-8")

    stream = translator.stream(lines())
    assert next(stream)[0].source_tokens == [*LINE.split(), "</s>"]
    assert next(stream)[0].source_tokens == ["a", "cat", ".", "</s>"]
    with pytest.raises(RnnsearchError, match=r"input\.en:3"):
        next(stream)


# Batches -------------------------------------------------------------------------------------------------------------


@given(
    lengths=st.lists(st.integers(1, 50), max_size=60),
    sentences=st.integers(1, 10),
    positions=st.integers(1, 200),
)
def test_by_length(lengths: list[int], sentences: int, positions: int) -> None:
    batches = list(by_length(lengths, sentences, positions))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert 1 <= len(batch) <= sentences
        assert len(batch) == 1 or longest * len(batch) <= positions
    in_order = [lengths[index] for batch in batches for index in batch]
    assert in_order == sorted(in_order, reverse=True)


# Scores --------------------------------------------------------------------------------------------------------------


def test_more_sources_than_targets(translator: Translator) -> None:
    with pytest.raises(RnnsearchError, match="2 source lines but 1 target"):
        score_pairs([translator.system], [["a"], ["b"]], [["c"]])


def test_a_pair_too_long_to_align_is_named(translator: Translator) -> None:
    with pytest.raises(RnnsearchError, match=r"line 12: .*5001"):
        score_pairs([translator.system], [["a"], ["the"] * 5001], [["c"], ["d"]], first_line=11)


def test_no_pairs(translator: Translator) -> None:
    assert score_pairs([translator.system], [], []) == []


def test_lines_are_scored_as_they_are_tokenised(translator: Translator) -> None:
    found = translator.translate(LINE)
    (pair,) = translator.score([LINE], [found.text])
    assert pair.tokens == found.tokens
    assert pair.score == pytest.approx(found.score, abs=1e-4)


def test_scores_of_words(translator: Translator) -> None:
    """They are log-probabilities, and the words of a good translation are probable."""
    (pair,) = score_pairs([translator.system], [LINE.split()], [translator.translate(LINE).tokens], with_alignment=False)
    assert all(score <= 0 for score in pair.word_scores)
    assert pair.alignment is None
    (other,) = score_pairs([translator.system], [LINE.split()], [["arbre"] * len(pair.tokens)])
    assert other.score < pair.score - 5


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_the_end_symbol_has_a_row_of_its_own(trained: Trained, alignment: str) -> None:
    """Search and scoring agree on it; there is none where the end was not reached, or where nothing is aligned."""
    translator = trained("gated", alignment)
    translation, unfinished = translator.translate(LINE), translator.translate(LINE, maximum_length_ratio=0.2)
    (pair,) = translator.score_words([translation.source_tokens[:-1]], [translation.tokens])
    assert unfinished.end_alignment is None
    assert unfinished.with_end()[0] == unfinished.tokens
    if alignment == "none":
        assert translation.end_alignment is None
        assert pair.end_alignment is None
        return
    assert translation.end_alignment is not None
    assert translation.end_alignment.shape == (len(translation.source_tokens),)
    assert translation.end_alignment.sum() == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(translation.end_alignment, pair.end_alignment, atol=1e-4)
    tokens, rows = translation.with_end()
    assert tokens == [*translation.tokens, "</s>"]
    assert rows is not None
    np.testing.assert_array_equal(rows[:-1], translation.alignment)
    np.testing.assert_array_equal(rows[-1], translation.end_alignment)
    np.testing.assert_allclose(translation.to_dict()["end_alignment"], translation.end_alignment, atol=1e-4)


def test_the_end_of_a_line_in_segments_is_that_of_the_last_one(trained: Trained) -> None:
    long = trained("gated", "mlp").translate(" ".join([LINE] * 3), max_segment=10)
    assert len(long.segments) > 1
    last = long.segments[-1]
    assert long.end_alignment is not None
    assert long.end_alignment.shape == (len(long.source_tokens),)
    assert not long.end_alignment[: last.source_start].any()
    assert long.end_alignment.sum() == pytest.approx(1, abs=1e-4)
    assert [len(segment["end_alignment"]) for segment in long.to_dict()["segments"]] == [
        len(segment.source_tokens) + 1 for segment in long.segments
    ]


# Formats -------------------------------------------------------------------------------------------------------------


def translation(words: list[str], source: list[str], seed: int, score: float = -1.5) -> Translation:
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(source) + 1), len(words)).astype(np.float32)
    return Translation(" ".join(words), score, True, [Segment(0, source, 0, words, weights)])


sentences = st.lists(st.text('abé|«"\\', min_size=1, max_size=4), min_size=1, max_size=5)


@given(
    n_best=st.lists(st.builds(translation, sentences, st.just(["x", "y"]), seed=st.integers(0, 99)), min_size=1, max_size=3),
    number=st.integers(0, 10**6),
)
def test_formats_can_be_read_back(n_best: list[Translation], number: int) -> None:
    first = n_best[0]
    assert FORMATS["text"](n_best, number, False) == first.text

    record = json.loads(FORMATS["json"](n_best, number, True))
    assert "\n" not in FORMATS["json"](n_best, number, True)
    assert record["line"] == number
    assert record["tokens"] == first.tokens
    assert record["source_tokens"] == ["x", "y", "</s>"]
    assert record["score"] == pytest.approx(first.score, abs=1e-6)
    assert record["finished"] is True
    assert [other["text"] for other in record["n_best"]] == [t.text for t in n_best]
    np.testing.assert_allclose(record["alignment"], first.alignment, atol=1e-4)
    assert "n_best" not in json.loads(FORMATS["json"](n_best, number, False))

    lines = FORMATS["pharaoh"](n_best, number, True).split("\n")
    assert len(lines) == len(n_best)
    for line, t in zip(lines, n_best, strict=True):
        assert {tuple(map(int, link.split("-"))) for link in line.split()} == t.links

    lines = FORMATS["text"](n_best, number, True).split("\n")
    assert len(lines) == len(n_best)
    for line, t in zip(lines, n_best, strict=True):
        assert line == f"{number} ||| {t.text} ||| {t.score:.4f}"


def test_json_of_a_given_pair() -> None:
    weights = np.array([[0.25, 0.75, 0.0]], np.float32)
    pair = ScoredPair(["a", "b", "</s>"], ["é"], -0.5, [-0.2, -0.3], weights, np.array([0, 0.25, 0.75], np.float32))
    line = pair_as_json(pair, 3)
    assert "é" in line
    assert json.loads(line) == {
        "line": 3,
        "source_tokens": ["a", "b", "</s>"],
        "tokens": ["é"],
        "score": -0.5,
        "alignment": [[0.25, 0.75, 0.0]],
        "end_alignment": [0.0, 0.25, 0.75],
    }
