"""Data selection: what it finds, in which order, and what it refuses."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.selection.cross_entropy_difference import Selection, best, cross_entropy_differences, select
from rnnsearch.selection.general_corpus import CorpusFiles

NEWS = ["minister", "police", "market", "storm", "election", "oil", "strike", "court"]
PARLIAMENT = ["amendment", "president", "committee", "directive", "vote", "report", "rapporteur", "council"]
COMMON = ["the", "a", "of", "in", "and", "to", "is", "was"]


def line(random: Random, topic: list[str], language: str) -> str:
    words = [random.choice(COMMON if place % 2 else topic) for place in range(random.randrange(4, 12))]
    return " ".join(f"{word}{language}" for word in words) + "."


def write(path: Path, lines: list[str]) -> Path:
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def text(tmp_path: Path) -> dict[str, Path]:
    """General text of 400 pairs: every tenth is news, every tenth news on the source side only, the rest parliament."""
    random = Random(1)
    sources, targets = [], []
    for number in range(400):
        sources.append(line(random, NEWS if number % 10 in (0, 5) else PARLIAMENT, "e"))
        targets.append(line(random, NEWS if number % 10 == 0 else PARLIAMENT, "f"))
    return {
        "source": write(tmp_path / "general.en", sources),
        "target": write(tmp_path / "general.fr.gz", targets),
        "in_source": write(tmp_path / "news.en", [line(random, NEWS, "e") for _ in range(150)]),
        "in_target": write(tmp_path / "news.fr", [line(random, NEWS, "f") for _ in range(120)]),
    }


def run(text: dict[str, Path], **options: Any) -> tuple[Selection, list[str], list[str]]:
    """The selection, and the selected lines of both sides."""
    folder = text["source"].parent
    output = folder / "out.en", folder / "out.fr"
    in_domain = {"source": text["in_source"], "target": text["in_target"]}
    found = select([text["source"]], [text["target"]], output, **{"in_domain": in_domain, **options})
    one, other = (path.read_text().splitlines() for path in output)
    assert len(one) == len(other) == found.kept
    return found, one, other


def read(path: Path) -> list[str]:
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode().splitlines()


def is_news(line: str) -> bool:
    return any(line.count(word) for word in NEWS)


def test_it_finds_the_pairs_of_the_domain(text: dict[str, Path], tmp_path: Path) -> None:
    found, sources, targets = run(text, pairs=40, scores=tmp_path / "scores")
    general = list(zip(read(text["source"]), read(text["target"]), strict=True))
    kept = [general.index(pair) for pair in zip(sources, targets, strict=True)]
    assert kept == list(range(0, 400, 10))
    assert (found.read, found.kept) == (400, 40)
    assert found.target_words == sum(len(line.split()) for line in targets)
    scores = [float(score) for score in read(tmp_path / "scores")]
    assert len(scores) == 400
    assert max(scores[number] for number in kept) == pytest.approx(found.worst, abs=1e-6)
    assert sorted(scores)[39] == pytest.approx(found.worst, abs=1e-6)
    assert max(scores[::10]) < min(score for number, score in enumerate(scores) if number % 10)


def test_moore_and_lewis_look_at_one_side(text: dict[str, Path]) -> None:
    """They take pairs of which only that side is of the domain; Axelrod takes those last among the mixed."""
    del text["in_target"]
    in_domain = {"source": text["in_source"]}
    output = text["source"].parent / "out.en", text["source"].parent / "out.fr"
    select([text["source"]], [text["target"]], output, method="moore-lewis", side="source", in_domain=in_domain, pairs=80)
    assert read(output[0]) == read(text["source"])[::5]
    assert sum(map(is_news, read(output[1]))) == 40


@pytest.mark.parametrize("words", [1, 100, 101, 250])
def test_as_many_words_as_asked_for_at_most(text: dict[str, Path], words: int) -> None:
    if words == 1:
        with pytest.raises(RnnsearchError, match="1 words are fewer than the best pair has"):
            run(text, words=words)
        return
    found, _, targets = run(text, words=words)
    assert found.target_words == sum(len(line.split()) for line in targets) <= words
    more, _, _ = run(text, pairs=found.kept + 1)
    assert more.target_words > words


def test_several_corpora_are_one(text: dict[str, Path], tmp_path: Path) -> None:
    whole, sources, targets = run(text, pairs=30)
    parts = []
    for path in (text["source"], text["target"]):
        lines = read(path)
        parts.append([write(tmp_path / f"1-{path.name}", lines[:123]), write(tmp_path / f"2-{path.name}", lines[123:])])
    output = tmp_path / "parts.en", tmp_path / "parts.fr"
    in_domain = {"source": text["in_source"], "target": text["in_target"]}
    assert select(parts[0], parts[1], output, in_domain=in_domain, pairs=30) == whole
    assert [read(path) for path in output] == [sources, targets]


@pytest.mark.parametrize("block", [1, 7, 399, 400, 1000])
def test_the_size_of_blocks_does_not_matter(text: dict[str, Path], block: int) -> None:
    corpus = CorpusFiles.measure([text["source"]], [text["target"]], lambda *_: None)
    in_domain = {"source": text["in_source"], "target": text["in_target"]}
    scores = [cross_entropy_differences(corpus, in_domain, 1, lambda *_: None, size) for size in (4096, block)]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-12, atol=1e-12)


def test_of_equal_pairs_the_first_is_kept(text: dict[str, Path], tmp_path: Path) -> None:
    """And pairs with an empty side are never kept."""
    news = read(text["in_source"])[0], read(text["in_target"])[0]
    pairs = [("", news[1]), *[news] * 3, (news[0], " "), *zip(read(text["source"]), read(text["target"]), strict=True)]
    for name, side in (("source", 0), ("target", 1)):
        write(text[name], [pair[side] for pair in pairs])
    run(text, pairs=43, scores=tmp_path / "scores")
    scores = read(tmp_path / "scores")
    assert scores[0] == scores[4] == "inf"
    corpus = CorpusFiles.measure([text["source"]], [text["target"]], lambda *_: None)
    equal = np.where(corpus.whole, 0.5, np.inf)
    assert np.flatnonzero(best(corpus, equal, pairs=4)).tolist() == [1, 2, 3, 5]
    with pytest.raises(RnnsearchError, match="404 pairs cannot be selected: there are 403"):
        run(text, pairs=404)


def test_random_pairs_are_a_seeds_own(text: dict[str, Path]) -> None:
    first = run(text, method="random", pairs=50, in_domain={}, seed=1)
    assert first == run(text, method="random", pairs=50, in_domain={}, seed=1)
    second = run(text, method="random", pairs=50, in_domain={}, seed=2)
    assert first[1] != second[1]
    assert first[0].worst is None
    general = read(text["source"])
    assert [general.index(line) for line in first[1]] == sorted(general.index(line) for line in first[1])


def test_the_same_seed_gives_the_same_scores(text: dict[str, Path], tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(text, pairs=40, scores=tmp_path / name, seed=seed)
    assert read(tmp_path / "a") == read(tmp_path / "b") != read(tmp_path / "c")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "--pairs"),
        ({"pairs": 3, "words": 3}, "--pairs"),
        ({"pairs": 401}, "401 pairs cannot be selected: there are 400"),
        ({"words": 10**9}, "1,000,000,000 words cannot be selected: there are"),
        ({"pairs": 3, "in_domain": {}}, "--in-domain-source"),
        ({"pairs": 3, "method": "moore-lewis"}, "--side source or --side target"),
        ({"pairs": 3, "method": "moore-lewis", "side": "target", "in_domain": {}}, "--in-domain-target"),
        ({"pairs": 3, "side": "target"}, "--method moore-lewis"),
        ({"pairs": 3, "method": "random", "scores": Path("scores")}, "scores: random selection has no scores"),
        ({"pairs": 3, "in_domain": {"source": Path("none"), "target": Path("none")}}, "none: no such file"),
        ({"pairs": 3, "in_domain": {"source": Path("-"), "target": Path("-")}}, "-: can be read only once"),
        ({"pairs": 3, "in_domain": {"source": Path(os.devnull), "target": Path(os.devnull)}}, "no words in it"),
    ],
)
def test_what_it_refuses(text: dict[str, Path], options: dict[str, Any], told: str) -> None:
    """In one line, and nothing is written."""
    with pytest.raises(RnnsearchError) as refused:
        run(text, **options)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(text["source"].parent.glob("*out*"))


def test_files_of_unequal_length_are_told(text: dict[str, Path]) -> None:
    write(text["target"], read(text["target"])[:-1])
    with pytest.raises(RnnsearchError, match=r"400 lines but .* has 399"):
        run(text, pairs=3)


def test_an_empty_in_domain_text_is_told(text: dict[str, Path]) -> None:
    write(text["in_target"], ["", " "])
    with pytest.raises(RnnsearchError, match=r"news.fr: no words in it"):
        run(text, pairs=3)


@pytest.mark.parametrize("names", [("general.en", "out.fr"), ("out.en", "news.fr"), ("out.en", "out.en")])
def test_no_file_is_read_and_written(text: dict[str, Path], names: tuple[str, str]) -> None:
    folder = text["source"].parent
    before = text["source"].read_bytes()
    in_domain = {"source": text["in_source"], "target": text["in_target"]}
    with pytest.raises(RnnsearchError, match="is used already"):
        select([text["source"]], [text["target"]], (folder / names[0], folder / names[1]), in_domain=in_domain, pairs=3)
    assert text["source"].read_bytes() == before


def test_in_domain_text_may_be_a_memory_of_both_sides(text: dict[str, Path], tmp_path: Path) -> None:
    pairs = list(zip(read(text["in_source"]), read(text["in_target"]), strict=False))
    sides = [write(tmp_path / name, [pair[side] for pair in pairs]) for side, name in enumerate(("plain.en", "plain.fr"))]
    units = "".join(
        f'<tu><tuv xml:lang="fr"><seg>{target}</seg></tuv><tuv xml:lang="en"><seg>{source}</seg></tuv></tu>'
        for source, target in pairs
    )
    memory = tmp_path / "news.tmx"
    memory.write_text(f'<tmx version="1.4"><header srclang="fr"/><body>{units}</body></tmx>', encoding="utf-8")
    expected = run(text, pairs=40, in_domain={"source": sides[0], "target": sides[1]})
    found = run(text, pairs=40, in_domain={"source": memory, "target": memory}, languages=("en", "fr"))
    assert found == expected
