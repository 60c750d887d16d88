"""What an aligner learns from a text, and the links that it draws."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.alignment import Bitext, read_joined, train_aligner
from rnnsearch.alignment.bitext import LONGEST, normalize
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import Links, read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.text.tokenize import Tokenizer


def links_of(text: list[tuple[str, str]]) -> list[Links]:
    bitext = Bitext.of((source.split(), target.split()) for source, target in text)
    return [line.links() for line in train_aligner(bitext).lines()]


def test_words_that_go_together_are_linked() -> None:
    text = [("the house", "la maison"), ("the flower", "la fleur"), ("a house", "une maison"), ("house", "maison")]
    assert links_of(text) == [{(0, 0), (1, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}, {(0, 0)}]


def test_every_line_has_its_links_empty_ones_too() -> None:
    text = [("", "a b"), ("", ""), ("x y", "x y"), ("x", ""), ("y", "y")]
    found = links_of(text)
    assert len(found) == 5
    assert [bool(links) for links in found] == [False, False, True, False, True]
    assert links_of([]) == []
    assert links_of([("", "")]) == [frozenset()]


def test_a_line_of_any_length_is_aligned() -> None:
    words = [f"w{n}" for n in range(2 * LONGEST + 10)]
    [found] = links_of([(" ".join(words), " ".join(words))])
    assert all(source == target for source, target in found)
    assert len(found) > LONGEST
    assert max(found)[0] > 2 * LONGEST
    assert all(0 <= target < 3 for links in links_of([("a", "b " * 5000 + "a")]) for target, _ in links)


words = st.lists(st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1, max_size=3), max_size=6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(words, words), max_size=5))
def test_any_text_is_aligned_within_its_words_and_always_alike(text: list[tuple[list[str], list[str]]]) -> None:
    first, second = (list(train_aligner(Bitext.of(text)).lines()) for _ in "12")
    assert len(first) == len(text)
    for line, again, (source, target) in zip(first, second, text, strict=True):
        assert line.probability.tolist() == again.probability.tolist()
        assert ((line.probability >= 0) & (line.probability < 1.001)).all()
        assert (line.source < len(source)).all()
        assert (line.target < len(target)).all()
        assert len(set(zip(line.source.tolist(), line.target.tolist(), strict=True))) == len(line.source)
        both, either = line.links("intersection"), line.links("union")
        assert both <= line.links("grow-diag") <= line.links("grow-diag-final-and") <= either
        assert line.links("probability", 0.9) <= line.links("probability", 0.3)


def test_links_agree_with_the_grammar_of_the_builtin_corpus_and_the_likelihood_rises(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=1500, valid=0, test=500)
    tokenizers = [Tokenizer("moses", language) for language in ("en", "fr")]
    sides = [
        [tokenizer.tokenize(line) for part in ("test", "train") for line in read_lines(tmp_path / f"{part}.{language}")]
        for tokenizer, language in zip(tokenizers, ("en", "fr"), strict=True)
    ]
    likelihoods: list[np.ndarray] = []
    steps: list[tuple[int, int]] = []

    def tell(step: int, of: int, likelihood: np.ndarray) -> None:
        steps.append((step, of))
        likelihoods.append(likelihood)

    aligner = train_aligner(Bitext.of(zip(*sides, strict=True)), progress=tell)
    assert steps == [(step, len(steps)) for step in range(1, len(steps) + 1)]
    assert (likelihoods[-1] > likelihoods[4]).all(), "jumps are learned"
    assert (likelihoods[3] > likelihoods[0]).all(), "words are learned"
    gold = read_gold(tmp_path / "test.gold")
    found = [line.links() for line in aligner.lines()][:500]
    assert alignment_error_rate(found, gold).aer < 0.06


@pytest.mark.slow
def test_code_from_the_cache_of_the_compiler_gives_the_same_bytes(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=1500, valid=0, test=1)
    command = [sys.executable, "-m", "rnnsearch", "align", "--format", "json"]
    command += ["--source", str(tmp_path / "train.en"), "--target", str(tmp_path / "train.fr")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (subprocess.run(command, env=environment, capture_output=True, check=True).stdout for _ in "12")
    assert first == second


def test_one_form_of_case_quotes_and_dashes() -> None:
    assert normalize("L’Œuvre") == normalize("l'œuvre") == "l'oeuvre"
    assert normalize("«") == normalize("”") == '"'


def test_files_of_joined_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs"
    path.write_text("a b ||| c\nd\te ||| f\n ||| g\n||| h\ni |||\n", encoding="utf-8")
    pairs = [(source.split(), target.split()) for source, target in read_joined(path)]
    assert pairs == [(["a", "b"], ["c"]), (["d"], ["e", "|||", "f"]), ([], ["g"]), ([], ["h"]), (["i"], [])]
    path.write_text("a ||| b\na b\n", encoding="utf-8")
    with pytest.raises(RnnsearchError, match=r"pairs:2: 1 parts instead of 2; write `source \|\|\| target`"):
        list(read_joined(path))
