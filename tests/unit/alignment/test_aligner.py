"""What an aligner learns from a text, and the links that it draws."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.alignment import Aligner, Corpus, LineLinks, agreement, bitext, lexicon, read_joined, steps
from rnnsearch.alignment.agreement import train
from rnnsearch.alignment.ascending import Ascending
from rnnsearch.alignment.bitext import LONGEST
from rnnsearch.alignment.vocabulary import normalize
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import Links, read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.text.tokenize import Tokenizer


def learned(text: Iterable[tuple[str, str]], folder: Path | None = None) -> tuple[Aligner, list[LineLinks]]:
    corpus = Corpus(((source.split(), target.split()) for source, target in text), folder)
    aligner = Aligner.learn(corpus)
    return aligner, list(aligner.align(corpus))


def links_of(text: list[tuple[str, str]]) -> list[Links]:
    return [line.links() for line in learned(text)[1]]


def some_text(lines: int, seed: int = 0) -> list[tuple[str, str]]:
    """Pairs of words that translate each other, in a similar order."""
    draw = np.random.default_rng(seed)
    chosen = (draw.zipf(1.5, int(draw.integers(3, 9))) % 50 for _ in range(lines))
    return [(" ".join(f"e{n}" for n in line), " ".join(f"{n}f" for n in np.roll(line, 1))) for line in chosen]


def same(ours: Sequence[LineLinks], theirs: Sequence[LineLinks]) -> bool:
    return len(ours) == len(theirs) and all(
        np.array_equal(getattr(one, column), getattr(other, column))
        for one, other in zip(ours, theirs, strict=True)
        for column in ("source", "target", "forward", "backward", "probability")
    )


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


@pytest.mark.slow
def test_a_line_of_any_length_is_aligned() -> None:
    words = [f"w{n}" for n in range(2 * LONGEST + 10)]
    [found] = links_of([(" ".join(words), " ".join(words))])
    assert all(source == target for source, target in found)
    assert len(found) > LONGEST
    assert max(found)[0] > 2 * LONGEST
    assert all(0 <= target < 3 for links in links_of([("a", "b " * 5000 + "a")]) for target, _ in links)


words = st.lists(st.text(st.characters(blacklist_categories=("Z", "C")), min_size=1, max_size=3), max_size=6)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(words, words), max_size=5))
def test_any_text_is_aligned_within_its_words_and_always_alike(text: list[tuple[list[str], list[str]]]) -> None:
    first, second = (learned((" ".join(one), " ".join(other)) for one, other in text)[1] for _ in "12")
    assert len(first) == len(text)
    for line, again, (source, target) in zip(first, second, text, strict=True):
        assert line.probability.tolist() == again.probability.tolist()
        assert ((line.probability >= 0) & (line.probability < 1.001)).all()
        assert (line.source < len(source)).all()
        assert (line.target < len(target)).all()
        assert len(set(zip(line.source.tolist(), line.target.tolist(), strict=True))) == len(line.source)
        both, either = line.links("intersection"), line.links("union")
        assert both <= line.links("grow-diag") <= line.links("grow-diag-final-and") <= either
        certain = line.probability > 0.5
        assert set(zip(line.source[certain].tolist(), line.target[certain].tolist(), strict=True)) <= line.links()


def test_links_agree_with_the_grammar_of_the_builtin_corpus_and_the_likelihood_rises(tmp_path: Path) -> None:
    write_corpus(tmp_path, train=1500, valid=0, test=500)
    tokenizers = [Tokenizer("moses", language) for language in ("en", "fr")]
    sides = [
        [tokenizer.tokenize(line) for part in ("test", "train") for line in read_lines(tmp_path / f"{part}.{language}")]
        for tokenizer, language in zip(tokenizers, ("en", "fr"), strict=True)
    ]
    corpus, seen = Corpus(zip(*sides, strict=True)), 0

    def advance(pairs: int) -> None:
        nonlocal seen
        seen += pairs

    agreeing, independent, likelihoods = train(corpus, advance)
    assert seen == corpus.pairs * steps("best", corpus.pairs)
    assert len(likelihoods) == steps("best", corpus.pairs)
    assert (likelihoods[-1] > likelihoods[4]).all(), "jumps are learned"
    assert (likelihoods[3] > likelihoods[0]).all(), "words are learned"
    gold = read_gold(tmp_path / "test.gold")
    found = [line.links() for line in Aligner(corpus.words, agreeing, independent).align(corpus)][:500]
    assert alignment_error_rate(found, gold).aer < 0.055


def test_a_kept_aligner_draws_the_same_links_of_the_text_it_learned_from(tmp_path: Path) -> None:
    text = some_text(200)
    aligner, found = learned(text)
    aligner.save(tmp_path / "kept")
    pairs = [(source.split(), target.split()) for source, target in text]
    assert same(list(Aligner.load(tmp_path / "kept").align(pairs)), found)


def test_links_of_a_line_of_new_text_depend_on_no_other_line(tmp_path: Path) -> None:
    aligner, _ = learned(some_text(200))
    new = [("e1 e2 unknown", "2f 1f unknown"), ("", "1f"), ("e3 zzz e4", "3f yyy 4f"), ("unknown e1", "1f zzz")]
    pairs = [(source.split(), target.split()) for source, target in new]
    together, alone = list(aligner.align(pairs)), [next(aligner.align([pair])) for pair in pairs]
    assert same(together, alone)
    assert together[2].links() >= {(0, 0), (2, 2)}
    assert (2, 2) in together[0].links(), "a new word is linked to what is written alike"


def test_a_damaged_aligner_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="no aligner is there"):
        Aligner.load(tmp_path)
    learned(some_text(20))[0].save(tmp_path)
    for name in ("aligner.safetensors", "source.words"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[:-1])
        with pytest.raises(RnnsearchError, match="damaged"):
            Aligner.load(tmp_path)
        (tmp_path / name).write_bytes(content)
    Aligner.load(tmp_path)


@pytest.mark.parametrize("killed_after", [1, 350, 1100, 2100, 2500, 3600])
def test_a_training_that_was_killed_goes_on_to_the_same_bits(tmp_path: Path, killed_after: int) -> None:
    text, seen = some_text(200), 0
    _, whole = learned(text)

    def kill(pairs: int) -> None:
        nonlocal seen
        seen += pairs
        if seen >= killed_after:
            raise KeyboardInterrupt

    corpus = Corpus(((source.split(), target.split()) for source, target in text), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Aligner.learn(corpus, kill)
    steps_told: list[int] = []
    again = Corpus(((source.split(), target.split()) for source, target in text), tmp_path)
    aligner = Aligner.learn(again, steps_told.append)
    assert same(list(aligner.align(again)), whole)
    assert sum(steps_told) == 200 * steps("best", 200), "the progress that was made is told too"


@pytest.mark.slow
def test_a_text_in_many_blocks_has_the_links_of_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    text = some_text(300)
    _, whole = learned(text)
    monkeypatch.setattr(bitext, "SIZE", 500)
    monkeypatch.setattr(lexicon, "_CHUNK", 30)
    _, parts = learned(text)
    assert [line.links() for line in parts] == [line.links() for line in whole]
    for one, other in zip(parts, whole, strict=True):
        assert one.probability == pytest.approx(other.probability, abs=1e-3)


def test_any_number_of_threads_computes_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bitext, "SIZE", 500)
    text = some_text(60)
    by_threads = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        by_threads.append(learned(text)[1])
    assert same(*by_threads)


def test_a_fast_training_takes_fewer_steps_on_a_long_text_and_links_words_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps("fast", 1_000_000) <= steps("best", 1_000_000) / 2
    assert steps("fast", 10_000) == steps("best", 10_000)
    monkeypatch.setattr(agreement, "_LONG", 50)
    text, told = some_text(60), []
    links = [line.links() for line in Aligner.learn(text, told.append, quality="fast").align(text)]
    assert sum(told) == 60 * steps("fast", 60)
    assert sum(map(len, links)) > sum(len(source.split()) for source, _ in text) / 2


@given(st.lists(st.lists(st.integers(0, 1 << 40), max_size=5), max_size=5))
def test_ascending_numbers_are_read_as_they_were_appended(parts: list[list[int]]) -> None:
    numbers = sorted(number for part in parts for number in part)
    with TemporaryDirectory() as folder:
        kept, begun = Ascending(Path(folder) / "numbers", np.uint8), 0
        for part in parts:
            kept.append(np.array(numbers[begun : begun + len(part)], np.int64))
            begun += len(part)
        assert kept.read().tolist() == numbers
        kept.remove()
        assert not list(Path(folder).iterdir())


def test_links_of_small_probability_are_drawn_until_there_are_nearly_as_many_as_expected() -> None:
    def line(*probability: float) -> LineLinks:
        p = np.array(probability)
        n, none = np.arange(len(p)), np.zeros(len(p), np.float32)
        return LineLinks(n, n, none, none, np.zeros((len(p), 0)), p, (0.0, 0.0))

    assert line(0.9, 0.8, 0.1).linked().tolist() == [0, 1]
    assert line(0.4, 0.3, 0.45, 0.35, 0.35, 0.45, 0.1).linked().tolist() == [2, 5]
    assert line(0.2, 0.3).linked().tolist() == []
    assert line().linked().tolist() == []


PEAKS = """
import gc, json, sys, tracemalloc
from rnnsearch.alignment import Aligner, Corpus, ascending, bitext, lexicon
bitext.SIZE, lexicon._CHUNK, ascending._PIECE = 10_000, 500, 100

def peak(text):
    gc.collect()
    tracemalloc.start()
    corpus = Corpus((source.split(), target.split()) for source, target in text)
    for _ in Aligner.learn(corpus).align(corpus):
        pass
    found = tracemalloc.get_traced_memory()[1], corpus.cells
    tracemalloc.stop()
    return found

text = json.load(sys.stdin)
peak(text[:10])  # compiles
print(json.dumps([peak(text), peak(4 * text)]))
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text() -> None:
    """Measured in a process of its own, where nothing else allocates."""
    given = json.dumps(some_text(1000))
    # What several threads have in memory at a time depends on how fast each of them is.
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PEAKS], input=given, capture_output=True, text=True, check=True, env=alone)
    (short, cells), (long, more_cells) = json.loads(done.stdout)
    # Objects that wait for the collector of garbage vary; the numbers of the cells alone are four bytes each.
    assert long - short < 0.5 * 4 * (more_cells - cells)


@pytest.mark.nightly
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
    path.write_text("a b ||| c\nd\te ||| f\n ||| g\n||| h\ni |||\nj\tk\nl\t|||\tm\n", encoding="utf-8")
    pairs = [(source.split(), target.split()) for source, target in read_joined(path)]
    assert pairs[:2] == [(["a", "b"], ["c"]), (["d", "e"], ["f"])], "where `|||` separates the sides, a tab is a space"
    assert pairs[2:] == [([], ["g"]), ([], ["h"]), (["i"], []), (["j"], ["k"]), (["l"], ["m"])]
    path.write_text("a b\tc\nd\te ||| f\n", encoding="utf-8")
    pairs = [(source.split(), target.split()) for source, target in read_joined(path)]
    assert pairs == [(["a", "b"], ["c"]), (["d"], ["e", "|||", "f"])], "a table may have `|||` for a word"
    path.write_text("a ||| b\na b\n", encoding="utf-8")
    with pytest.raises(RnnsearchError, match=r"pairs:2: 1 parts instead of 2; write `source \|\|\| target`"):
        list(read_joined(path))
