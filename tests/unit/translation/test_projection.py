"""Labels and markup over links."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import parse_gold, read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.projection import LinkedTranslation, labelled_spans, project_labels, read_conll


@pytest.mark.parametrize(
    ("labels", "links", "expected"),
    [
        ("O B-A I-A", "0-0 1-2 2-1", "O B-A I-A"),
        ("B-A B-A", "0-1 1-0", "B-A B-A"),
        ("O I-A I-B", "0-0 1-1 2-2", "O B-A B-B"),
        ("B-A I-A O", "0-0 1-2 1-3", "B-A I-A I-A I-A"),  # a word between, that is linked to nothing, belongs to the span
        ("B-A O", "1-0 1-1", "O O"),
        ("B-A I-A O", "0-0 1-0 2-0", "B-A"),  # by the most links
        ("O B-A", "0-0 1-0", "O"),
    ],
)
def test_a_span_is_where_most_of_its_words_are(labels: str, links: str, expected: str) -> None:
    found = project_labels(labels.split(), parse_gold(links).sure, len(expected.split()))
    assert " ".join(found) == expected


labels = st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=8)


@given(labels)
def test_a_copy_has_the_same_spans(labels: list[str]) -> None:
    copied = project_labels(labels, frozenset((n, n) for n in range(len(labels))), len(labels))
    assert list(labelled_spans(copied)) == list(labelled_spans(labels))


@given(labels, st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_spans_are_of_the_source_at_most_once_each(labels: list[str], links: frozenset[tuple[int, int]]) -> None:
    links = frozenset((source, target) for source, target in links if source < len(labels))
    found = project_labels(labels, links, 8)
    assert len(found) == 8
    given_names, names = ([name for name, *_ in labelled_spans(side)] for side in (labels, found))
    assert all(names.count(name) <= given_names.count(name) for name in names)


def test_names_of_the_builtin_corpus_are_carried_over_its_gold_links(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=0, valid=0, test=300)
    english, french = (
        [Tokenizer("moses", code).tokenize(line) for line in read_lines(tmp_path / f"test.{code}")] for code in ("en", "fr")
    )
    seen = 0
    for source, target, gold in zip(english, french, read_gold(tmp_path / "test.gold"), strict=True):
        names = {word for word in source[1:] if word[0].isupper()} & set(target[1:])
        if not names or any(source.count(name) != target.count(name) for name in names):
            continue
        label = [[f"B-{word}" if word in names else "O" for word in side] for side in (source, target)]
        assert project_labels(label[0], gold.sure, len(target)) == label[1]
        seen += len(names)
    assert seen > 20


def test_markup_over_given_links() -> None:
    document = Markup("the <b>old <i>house</i></b> of the <a href='/b'>baker</a> .", "en", split=False)
    links = parse_gold("0-0 1-2 2-1 3-3 4-3 5-4 6-5").sure
    [sentence] = document.sentences
    translation = LinkedTranslation.of(sentence, "la maison vieille du boulanger .", links)
    assert document.joined([translation]) == "la <b><i>maison</i> vieille</b> du <a href='/b'>boulanger</a> ."


def test_what_is_no_label() -> None:
    with pytest.raises(RnnsearchError, match="label 'B'; write `O`"):
        project_labels(["B"], frozenset(), 0)
    with pytest.raises(RnnsearchError, match="line 2: 'b' has no label"):
        list(read_conll(["a O", "b"]))
    assert list(read_conll(["a x O", "b B-A", "", "", "c O"])) == [(["a", "b"], ["O", "B-A"]), (["c"], ["O"])]
