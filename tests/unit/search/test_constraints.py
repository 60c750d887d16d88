"""What search bans and forces, slot by slot."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.config import SearchConfig, from_preset
from rnnsearch.search.constraints import Constraints
from rnnsearch.text.vocabulary import END, UNK

counts = st.integers(0, 6)


def test_the_paper_search_has_the_minimum_of_the_authors_code() -> None:
    """`minlen=len(seq) / 2` of integers, where `seq` ends with the end symbol; it is banned at step k < minlen."""
    lengths = range(1, 121)
    constraints = Constraints(from_preset("paper").search, len(lengths))
    for slot, length in enumerate(lengths):
        constraints.add(slot, length, ())
    for slot, length in enumerate(lengths):
        banned = [bool(constraints.banned(np.array([slot]), np.array([k]))[0, END]) for k in range(3 * length)]
        assert banned == [k < length // 2 for k in range(3 * length)], length


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    ratio=st.sampled_from((0.0, 0.5, 1.0)),
    forbid_unk=st.booleans(),
    rows=st.lists(st.tuples(st.integers(0, 3), counts), min_size=1, max_size=6),
)
def test_banned(lengths: list[int], ratio: float, forbid_unk: bool, rows: list[tuple[int, int]]) -> None:
    constraints = Constraints(SearchConfig(minimum_length_ratio=ratio, forbid_unk=forbid_unk), len(lengths))
    for slot, length in enumerate(lengths):
        constraints.add(slot, length, ())
    slots = [slot % len(lengths) for slot, _ in rows]
    written = [count for _, count in rows]
    banned = constraints.banned(np.array(slots), np.array(written))
    for row, (slot, count) in enumerate(zip(slots, written, strict=True)):
        assert banned[row, END] == (count < int(ratio * lengths[slot]))
        assert banned[row, UNK] == forbid_unk


@given(prefixes=st.lists(st.lists(st.integers(0, 50), max_size=5), min_size=1, max_size=4), written=counts)
def test_forced(prefixes: list[list[int]], written: int) -> None:
    constraints = Constraints(SearchConfig(), len(prefixes))
    for slot, prefix in enumerate(prefixes):
        constraints.add(slot, 3, prefix)
    slots = np.arange(len(prefixes))
    rows, words = constraints.forced(slots, np.full(len(prefixes), written))
    assert rows.tolist() == [slot for slot, prefix in enumerate(prefixes) if written < len(prefix)]
    assert [words[row] for row in rows] == [prefixes[row][written] for row in rows]


def test_a_slot_forgets_the_sentence_before() -> None:
    constraints = Constraints(SearchConfig(minimum_length_ratio=1.0), 1)
    constraints.add(0, 9, [5, 6])
    constraints.add(0, 2, ())
    assert not constraints.banned(np.array([0]), np.array([2]))[0, END]
    assert len(constraints.forced(np.array([0]), np.array([0]))[0]) == 0
