"""A prepared folder that a stranger made is refused in one line, or holds what it says."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poison
from rnnsearch.config import DataConfig
from rnnsearch.data.batches import BatchStream, Guide
from rnnsearch.data.development import HELD_OUT
from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import LINKS, PreparedData, open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.vocabularies import FILES as VOCABULARY_FILES
from toy import write_pairs


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("prepared")
    source, target = write_pairs(place, "train", 60, 1)
    (place / "links").write_text("0-0 1-1\n" * 60)
    prepare([source], [target], place / "data", DataConfig(tokenizer="whitespace"), links=[place / "links"], hold_out=5)
    info = json.loads((place / "data" / "prepare.json").read_text())
    (place / "data" / "prepare.json").write_text(json.dumps(info | {"crc32": {}}))  # a stranger's match what is there
    return place / "data"


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "data"))


def use(data: PreparedData) -> None:
    """What a training does with the text."""
    stream = BatchStream(data.corpus, batch_size=16, pool_batches=2, shuffle="once", seed=1)
    assert data.links is not None
    guide = Guide(data.links, data.vocabularies)
    for number in range(stream.batches_per_epoch):
        stream.batch(number)
    for pair in range(len(data.corpus)):
        pairs = np.array([pair])
        guide(BatchStream(data.corpus, batch_size=1, pool_batches=1, shuffle="once", seed=1).batch(pair), guide.links(pairs))
    data.summary()


@pytest.mark.parametrize("name", [*VOCABULARY_FILES[:2], *HELD_OUT, LINKS])
def test_a_file_larger_than_any_disk_is_not_read(saved: Path, tmp_path: Path, name: str) -> None:
    """Neither to compute the checksum that `prepare.json` states."""
    folder = Path(shutil.copytree(saved, tmp_path / "data"))
    info = json.loads((folder / "prepare.json").read_text())
    (folder / "prepare.json").write_text(json.dumps(info | {"crc32": {name: "00000000"}}))
    poison.huge(folder / name)
    assert poison.in_child(lambda: bool(open_prepared(folder)), seconds=20) == "refused"


def edit(value: Any, random: Random) -> Any:
    """JSON with one odd value, or without one."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(sorted(value))
        if random.random() < 0.2:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: edit(value[key], random)}
    return random.choice((None, True, -1, 0, 1.5, 10**30, float("nan"), "", "[/b]\x1b[2J", [], {}, [1], {"a": 1}, 10**4000))


@given(st.integers(0, 10**9))
def test_a_description_with_odd_values(saved: Path, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = Path(shutil.copytree(saved, tmp_path_factory.mktemp("edited") / "data"))
    info = json.loads((saved / "prepare.json").read_text())
    for attempt in range(10):
        (folder / "prepare.json").write_text(json.dumps(edit(info, Random(f"{seed} {attempt}"))))
        with suppress(RnnsearchError):
            use(open_prepared(folder))


@pytest.mark.parametrize("text", poison.ODD_JSON)
def test_an_odd_description_is_refused(folder: Path, text: str) -> None:
    (folder / "prepare.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(RnnsearchError, match=r"prepare\.json: damaged"):
        open_prepared(folder)


def columns(pairs: list[tuple[list[int], list[int]]]) -> tuple[Sentences, Sentences]:
    source, target = (
        Sentences(np.array([*chain(*side)], np.int32), np.array([*map(len, side)], np.int32))
        for side in zip(*pairs, strict=True)
    )
    return source, target


@pytest.mark.parametrize("pair", [([0], [99]), ([99], [0]), ([0, 0, 0], [0]), ([2**31 - 2], [0])])
def test_links_outside_of_their_pairs_are_refused(folder: Path, pair: tuple[list[int], list[int]]) -> None:
    pairs = [pair] * len(open_prepared(folder).corpus)
    write_packed(folder / "links.arrow", [columns(pairs)], source_size=2**31 - 1, target_size=2**31 - 1)
    with pytest.raises(RnnsearchError, match=r"links\.arrow: a link is outside of its pair"):
        use(open_prepared(folder))


def test_a_corpus_of_larger_vocabularies_is_refused(folder: Path) -> None:
    pairs = len(open_prepared(folder).corpus)
    write_packed(folder / "train.arrow", [columns([([1000], [1000])] * pairs)], source_size=2000, target_size=2000)
    with pytest.raises(RnnsearchError, match=r"train\.arrow: for vocabularies of \(2000, 2000\) words"):
        open_prepared(folder)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_blocks_are_refused_before_they_are_expanded(tmp_path: Path, codec: str) -> None:
    ids = pa.ListArray.from_arrays(pa.array([0, 25_000_000], pa.int32()), pa.array(np.zeros(25_000_000, np.int32)))
    schema = pa.schema([(side, pa.list_(pa.int32())) for side in ("source", "target")])
    schema = schema.with_metadata({"source_size": "9", "target_size": "9"})
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(tmp_path / "bomb.arrow"), "wb") as out, pa.ipc.new_file(out, schema, options=options) as writer:
        writer.write_batch(pa.record_batch([ids, ids], schema=schema))
    del ids
    assert (tmp_path / "bomb.arrow").stat().st_size < 2_000_000
    most = pa.default_memory_pool().max_memory()
    with pytest.raises(RnnsearchError, match="compressed or cut short"):
        PackedCorpus.open(tmp_path / "bomb.arrow")
    assert pa.default_memory_pool().max_memory() == most


@pytest.mark.parametrize("name", ["prepare.json", "train.arrow", "links.arrow", "source.vocab", "held-out.source"])
def test_what_is_no_file_is_refused_at_once(folder: Path, name: str) -> None:
    for target in ("/dev/zero", None):
        if target is None:
            poison.replace_by_pipe(folder / name)
        else:
            poison.replace_by_link(folder / name, target)
        with pytest.raises(RnnsearchError, match=r"not a file but|no prepared data here"):
            open_prepared(folder)


@given(st.integers(0, 10**9))
def test_a_packed_corpus_with_any_bytes_changed(saved: Path, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    random, folder = Random(seed), tmp_path_factory.mktemp("packed")
    whole = (saved / "train.arrow").read_bytes()
    for _ in range(10):
        content = bytearray(whole)
        for _ in range(random.choice((1, 1, 8, 64))):
            content[random.randrange(len(content))] = random.randrange(256)
        (folder / "train.arrow").write_bytes(content)

        def read() -> bool:
            corpus = PackedCorpus.open(folder / "train.arrow")
            corpus.take(np.arange(len(corpus)))
            return True

        assert poison.in_child(read) in ("sound", "refused")
