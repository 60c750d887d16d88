"""Priors: counted from links, written and read as in eflomal's files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.alignment import Priors
from rnnsearch.errors import RnnsearchError

SOURCE, TARGET = ["The old house .\n", "the house\n", "\n"], ["La vieille maison .\n", "la maison\n", "rien\n"]
FORWARD, REVERSE = ["0-0 1-1 2-2 3-3\n", "0-0 1-0 1-1\n", "\n"], ["3-3 0-0 2-2\n", "0-0 1-1\n", "\n"]
# Jumps: in the first pair four steps of 1 forward, and the last to 4; in the second, 0-0 is the first of the links of `la`
# (from −1: 1), 1-0 the last, from which `maison` is 0 away, and the end 1; the third jumps from −1 to the end, 0, and to 1.
WRITTEN = """\
LEX	.	.	1
LEX	The	La	1
LEX	house	la	1
LEX	house	maison	2
LEX	old	vieille	1
LEX	the	la	1
FERF	.	1	1
FERF	The	1	1
FERF	house	1	1
FERF	house	2	1
FERF	old	1	1
FERF	the	1	1
FERR	.	1	1
FERR	La	1	1
FERR	la	1	1
FERR	maison	1	2
HMMF	0	1
HMMF	1	8
HMMR	1	6
HMMR	2	2
"""


def written(priors: Priors) -> str:
    file = io.StringIO()
    priors.write(file)
    return file.getvalue()


def test_what_links_count() -> None:
    assert written(Priors.of_links(SOURCE, TARGET, FORWARD, REVERSE)) == WRITTEN


def test_what_is_read() -> None:
    assert written(Priors.read(WRITTEN.splitlines(True))) == WRITTEN
    assert Priors.read(WRITTEN.splitlines()) == Priors.of_links(SOURCE, TARGET, FORWARD, REVERSE)
    assert Priors.read(["LEX\ta\tb\t1.5", "LEX\ta\tb\t2"]).lexicon == {("a", "b"): 3.5}


_word = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=3)
_count = st.integers(1, 1000)
_fertility = st.dictionaries(st.tuples(_word, st.integers(1, 9)), _count)
_jumps = st.dictionaries(st.integers(-30, 30), _count)


@given(st.tuples(st.dictionaries(st.tuples(_word, _word), _count), _jumps, _jumps, _fertility, _fertility))
def test_what_is_written_is_read_again(counts: tuple[dict[tuple[str, str], int], ...]) -> None:
    assert Priors.read(io.StringIO(written(Priors(*counts)))) == counts  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        *("LEX\ta\t1", "LEX\ta\tb\tc\t1", "HMMF\t1\t2\t3", "HMMR\tx\t1", "FERF\ta\tb\t1", "LEX\ta\tb\tnan", "NEW\ta\tb\t1"),
        *("LEX\ta\tb\t-1", "", "a\tb\t1", "HMMF\t1\tinf", "LEX\ta\tb\t"),
    ],
)
def test_what_is_no_line_of_priors(line: str) -> None:
    with pytest.raises(RnnsearchError, match=r"line 2 of the priors: .* is no line of priors"):
        Priors.read(["HMMF\t1\t2\n", line + "\n"])


def test_links_that_do_not_belong_to_the_text() -> None:
    with pytest.raises(RnnsearchError, match="line 2: the link 2-0 is outside of 2 source and 1 target words"):
        Priors.of_links(["a", "a b"], ["x", "y"], ["0-0", "0-0"], ["0-0", "2-0"])
    with pytest.raises(RnnsearchError, match="line 2: the numbers of lines of both texts and their links differ"):
        Priors.of_links(["a", "b"], ["x", "y"], ["0-0"], ["0-0", "0-0"])
    with pytest.raises(RnnsearchError, match="line 1: '0:0' is not a link"):
        Priors.of_links(["a"], ["x"], ["0:0"], ["0-0"])
