"""The file of the built-in corpus holds what the grammar generates, and gives it back to the letter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_corpus import AlignedPair, generate
from builtin_corpus.pack import pack
from rnnsearch.datasets import builtin
from rnnsearch.datasets.builtin import Lines, read_pairs

SHIPPED = Path(builtin.__file__).with_name("builtin.npz.xz")

english = st.sampled_from(["the", "The", "cat", "dog", "does", "n't", "'s", ",", "?", "o", "'clock", "über-cat"])
french = st.sampled_from(["le", "l'", "chat", "qu'", "été", ",", ".", "?", "aujourd'hui", "-t-il", "deux"])


def as_lines(pairs: list[AlignedPair]) -> Lines:
    return Lines(*([getattr(pair, name) for pair in pairs] for name in ("source_text", "target_text", "pharaoh")))


@st.composite
def aligned_pairs(draw: st.DrawFn) -> AlignedPair:
    """Any pair whose French words are all linked; its sentences end with a full stop, as they do in the corpus."""
    source = (*draw(st.lists(english, max_size=12)), ".")
    target = (*draw(st.lists(french, max_size=12)), ".")
    places = st.integers(0, len(source) - 1)
    linked = [draw(st.sets(places, min_size=1, max_size=4)) for _ in target]
    possible = frozenset((i, j) for j, sources in enumerate(linked) for i in sources)
    sure = draw(st.sets(st.sampled_from(sorted(possible))))
    return AlignedPair(source, target, frozenset(sure), possible)


@settings(max_examples=50, deadline=None)
@given(st.lists(aligned_pairs(), min_size=1, max_size=5))
def test_what_is_packed_comes_back(tmp_path_factory: pytest.TempPathFactory, pairs: list[AlignedPair]) -> None:
    path = tmp_path_factory.getbasetemp() / "packed.npz.xz"
    path.write_bytes(pack(pairs))
    assert read_pairs(path, len(pairs)) == as_lines(pairs)


def test_what_is_generated_comes_back(tmp_path: Path) -> None:
    pairs = list(generate(300, seed=5))
    (tmp_path / "packed").write_bytes(pack(pairs))
    assert read_pairs(tmp_path / "packed", 300) == as_lines(pairs)


def test_the_package_has_what_is_generated() -> None:
    assert read_pairs(SHIPPED, 2000) == as_lines(list(generate(2000)))


@pytest.mark.nightly
@pytest.mark.system
def test_the_package_has_all_that_is_generated(tmp_path: Path) -> None:
    """The command itself, run as its description says."""
    command = [sys.executable, "-m", "builtin_corpus", "--output", str(tmp_path / "again")]
    subprocess.run(command, cwd=Path(__file__).parents[2] / "tools", check=True)
    again, shipped = (read_pairs(path, builtin.PAIRS) for path in (tmp_path / "again", SHIPPED))
    assert again == shipped


def test_the_shipped_file_is_small() -> None:
    assert SHIPPED.stat().st_size < 1_500_000
