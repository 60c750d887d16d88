"""Pairs that are held out of the training text: so many, different ones, and none of them is trained on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.config import DataConfig
from rnnsearch.data.development import HELD_OUT, choose_held_out
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import Tokenizer

CONFIG = DataConfig(source_language="en", target_language="fr", tokenizer="whitespace", max_length=4)
TOKENIZERS = Tokenizer("whitespace", "en"), Tokenizer("whitespace", "fr")

lines = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6).map(" ".join)
texts = st.lists(st.tuples(lines, lines), max_size=60)


def written(folder: Path, pairs: list[tuple[str, str]], name: str = "text") -> tuple[list[Path], list[Path]]:
    paths = folder / f"{name}.en", folder / f"{name}.fr"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return [paths[0]], [paths[1]]


def fit(pair: tuple[str, str]) -> bool:
    """Whether the cleaner keeps it."""
    return all(1 <= len(side.split()) <= CONFIG.max_length for side in pair)


@settings(max_examples=60)
@given(pairs=texts, count=st.integers(1, 12), seed=st.integers(0, 5))
def test_as_many_as_asked_for_all_different_and_fit(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], count: int, seed: int
) -> None:
    sources, targets = written(tmp_path_factory.mktemp("text"), pairs)
    config = replace(CONFIG, seed=seed)
    different = {pair for pair in pairs if fit(pair)}
    if len(different) < count:
        with pytest.raises(RnnsearchError, match=f"cannot hold out {count} pairs: .* only {len(different)} different"):
            choose_held_out(sources, targets, count, config, TOKENIZERS)
        return
    held = choose_held_out(sources, targets, count, config, TOKENIZERS)
    assert len(held.pairs) == len(set(held.pairs)) == count
    assert set(held.pairs) <= different
    assert len(different) > count or set(held.pairs) == different
    assert held.pairs == choose_held_out(sources, targets, count, config, TOKENIZERS).pairs, "the seed decides"
    for pair in pairs:
        assert ((pair[0].split(), pair[1].split()) in held) == (pair in held.pairs)


def test_every_pair_is_as_likely_and_the_seed_decides(tmp_path: Path) -> None:
    pairs = [(f"w{i}", f"v{i}") for i in range(20)]
    sources, targets = written(tmp_path, pairs)
    often = dict.fromkeys(pairs, 0)
    for seed in range(300):
        config = DataConfig(source_language="en", target_language="fr", tokenizer="whitespace", seed=seed)
        for pair in choose_held_out(sources, targets, 5, config, TOKENIZERS).pairs:
            often[pair] += 1
    assert sum(often.values()) == 1500
    assert 40 < min(often.values()) <= max(often.values()) < 115, "75 on the average, with a deviation of 7.5"


def test_none_of_them_is_trained_on_and_none_is_lost(tmp_path: Path) -> None:
    """Nor a repetition of one, whatever its spaces; and links stay with their pairs."""
    pairs = [(f"word{i} x", f"mot{i} y") for i in range(50)]
    repeated = [(f"  {source} ", target.replace(" ", "  ")) for source, target in pairs]
    sources, targets = written(tmp_path, pairs + repeated)
    links = tmp_path / "links"
    links.write_text("0-0 1-1\n" * 100)
    plain = DataConfig(source_language="en", target_language="fr", tokenizer="whitespace", remove_duplicates=False)
    prepared = prepare(sources, targets, tmp_path / "data", plain, links=[links], hold_out=12)
    assert prepared.held_out == 12
    assert prepared.info["held_out"] == {"pairs": 12, "lines": 24}
    assert len(prepared.corpus) == 76
    assert any("12 held out" in line for line in prepared.summary())
    held = list(zip(*(path.read_text().splitlines() for path in prepared.development_files), strict=True))
    words = {(tuple(source.split()), tuple(target.split())) for source, target in held}
    assert len(words) == 12
    assert words <= {(tuple(source.split()), tuple(target.split())) for source, target in pairs}
    trained = set()
    for number in range(len(prepared.corpus)):
        ids = prepared.corpus.pair(number)
        sides = (prepared.vocabularies.source.join(ids[0].tolist()), prepared.vocabularies.target.join(ids[1].tolist()))
        trained.add(tuple(tuple(side[0]) for side in sides))
    assert not trained & words
    assert len(trained | words) == 50
    assert not any(word in prepared.vocabularies.source for (word, _), _ in words), "their words are not counted either"
    assert prepared.links is not None
    assert len(prepared.links) == 76

    again = prepare(sources, targets, tmp_path / "again", plain, links=[links], hold_out=12)
    for name in (*HELD_OUT, "train.arrow", "links.arrow", "prepare.json", "source.vocab"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "data" / name).read_bytes()
    assert open_prepared(tmp_path / "again").held_out == again.held_out == 12


def test_a_folder_that_is_prepared_anew_holds_nothing_out(tmp_path: Path) -> None:
    pairs = [(f"word{i}", f"mot{i}") for i in range(30)]
    sources, targets = written(tmp_path, pairs)
    prepare(sources, targets, tmp_path / "data", CONFIG, hold_out=5)
    assert len(prepare(sources, targets, tmp_path / "data", CONFIG).corpus) == 30
    assert open_prepared(tmp_path / "data").held_out == 0
    assert not any((tmp_path / "data" / name).exists() for name in HELD_OUT)


def test_what_can_be_read_only_once_is_refused(tmp_path: Path) -> None:
    _, targets = written(tmp_path, [("a", "b")])
    pipe = tmp_path / "pipe.en"
    os.mkfifo(pipe)
    for source in (Path("-"), pipe):
        with pytest.raises(RnnsearchError, match="can be read only once"):
            prepare([source], targets, tmp_path / "data", CONFIG, hold_out=1)
    assert not (tmp_path / "data").exists()
