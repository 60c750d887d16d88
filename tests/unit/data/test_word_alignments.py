"""Links between words: read, written, and taken from attention."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.word_alignments import GoldLinks, hard_alignment, parse_gold, read_gold, symmetrize, to_pharaoh
from rnnsearch.errors import RnnsearchError


def test_a_line_of_gold_links_holds_sure_and_possible_ones() -> None:
    gold = parse_gold("0-0 1p2 10-3 ")
    assert gold.sure == {(0, 0), (10, 3)}
    assert gold.possible == {(0, 0), (1, 2), (10, 3)}


def test_a_sentence_number_before_a_tab_is_no_link() -> None:
    assert parse_gold("17\t0-1 2p3 \n") == parse_gold("0-1 2p3")
    assert parse_gold("17\t") == parse_gold("17") == parse_gold("") == GoldLinks(frozenset(), frozenset())


def test_links_set_apart_by_tabs_all_count() -> None:
    assert parse_gold("0-0\t1-1").sure == {(0, 0), (1, 1)}


def test_reverse_swaps_the_sides_of_both_kinds() -> None:
    gold = parse_gold("0\t0-6 2p9", reverse=True)
    assert gold.sure == {(6, 0)}
    assert gold.possible == {(6, 0), (9, 2)}


def test_a_link_both_sure_and_possible_is_sure() -> None:
    assert parse_gold("1p1 1-1").sure == {(1, 1)}


@pytest.mark.parametrize("line", ["0-0 1:2", "0-0 3", "0--1", "-1-2", "0-0,1-1", "a\t0-0", "²-1"])
def test_what_is_no_link_is_named(line: str) -> None:
    with pytest.raises(RnnsearchError, match="is not an alignment link; write 0-0"):
        parse_gold(line)


def test_a_bad_line_of_a_file_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_text("0\t0-0 1p1\n1\t\n2\t0-0 x\n", encoding="utf-8")
    with pytest.raises(RnnsearchError, match=r"gold\.txt:3: 'x' is not"):
        read_gold(path)
    path.write_text("0\t0-0 1p2\n1\t\n", encoding="utf-8")
    assert read_gold(path, reverse=True) == [
        GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (2, 1)})),
        GoldLinks(frozenset(), frozenset()),
    ]


def test_a_word_is_linked_to_the_source_word_of_which_it_has_the_greatest_share() -> None:
    alignment = np.array([[0.3, 0.6, 0.1], [0.0, 0.9, 0.1], [0.1, 0.1, 0.8]])  # les vaches . / the cows </s>
    assert hard_alignment(alignment) == {(0, 0), (1, 1), (0, 2)}  # the end symbol, last, is not a word
    assert hard_alignment(np.zeros((0, 3))) == hard_alignment(np.ones((2, 1))) == frozenset()


def test_a_source_word_that_was_hardly_read_attracts_no_link() -> None:
    alignment = np.array([[0.98, 0.01, 0.0, 0.01], [0.01, 0.0, 0.98, 0.01]])
    assert hard_alignment(alignment) == {(0, 0), (2, 1)}


def test_one_target_word_alone_is_linked_to_the_word_that_it_read_most() -> None:
    assert hard_alignment(np.array([[0.2, 0.5, 0.1, 0.2]])) == {(1, 0)}


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_every_target_word_has_one_link_and_none_to_the_end_symbol(target: int, source: int, seed: int) -> None:
    found = hard_alignment(np.random.default_rng(seed).dirichlet(np.ones(source), size=target))
    assert {j for _, j in found} == (set(range(target)) if source > 1 else set())
    assert len(found) <= target
    assert all(0 <= i < source - 1 and 0 <= j < target for i, j in found)


links = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15)


@given(forward=links, backward=links)
def test_grown_links_are_between_intersection_and_union(
    forward: frozenset[tuple[int, int]], backward: frozenset[tuple[int, int]]
) -> None:
    both, grown = (symmetrize(forward, backward, how) for how in ("intersection", "grow-diag"))
    assert both == forward & backward
    assert both <= grown <= forward | backward
    assert grown == symmetrize(backward, forward, "grow-diag")
    assert bool(grown) == bool(both), "it grows from something"
    sources, targets = ({link[side] for link in grown} for side in (0, 1))
    for source, target in (forward | backward) - grown:
        touches = any((source + i, target + j) in grown for i in (-1, 0, 1) for j in (-1, 0, 1))
        assert not touches or (source in sources and target in targets), "nothing is left that could be added"


def test_growing_along_the_diagonal() -> None:
    forward, backward = frozenset({(0, 0), (1, 1), (3, 2)}), frozenset({(0, 0), (2, 1), (3, 3)})
    assert symmetrize(forward, backward, "grow-diag") == {(0, 0), (1, 1), (2, 1), (3, 2), (3, 3)}
    assert symmetrize(forward, frozenset({(5, 5)}), "grow-diag") == frozenset()


@given(forward=links, backward=links)
def test_final_links_are_those_of_words_that_have_none(
    forward: frozenset[tuple[int, int]], backward: frozenset[tuple[int, int]]
) -> None:
    expected = set(symmetrize(forward, backward, "grow-diag"))
    for direction in (forward, backward):
        for link in sorted(direction):
            if all(link[0] != source and link[1] != target for source, target in expected):
                expected.add(link)
    assert symmetrize(forward, backward, "grow-diag-final-and") == expected
    assert symmetrize(forward, backward, "union") == forward | backward


@given(links)
def test_pharaoh_lines_are_sorted_and_read_back(found: frozenset[tuple[int, int]]) -> None:
    line = to_pharaoh(found)
    assert parse_gold(line).sure == found
    assert line == to_pharaoh(sorted(found, reverse=True))


def test_pharaoh_lines_sort_numbers_as_numbers() -> None:
    assert to_pharaoh({(10, 0), (2, 11), (2, 3)}) == "2-3 2-11 10-0"


def test_no_other_way_to_combine_links() -> None:
    with pytest.raises(RnnsearchError, match="'grow' is no way to combine links; choose intersection"):
        symmetrize(frozenset(), frozenset(), "grow")  # type: ignore[arg-type]
