"""The packed corpus: what goes in comes out, and a damaged file is an error, never a crash."""

from __future__ import annotations

import random
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.errors import RnnsearchError

Pair = tuple[list[int], list[int]]
sentence = st.lists(st.integers(0, 99), max_size=6)
blocks_of_pairs = st.lists(st.lists(st.tuples(sentence, sentence), max_size=5), max_size=4)


def sentences(lists: list[list[int]]) -> Sentences:
    return Sentences(np.array([*chain(*lists)], dtype=np.int32), np.array([*map(len, lists)], dtype=np.int32))


def pack(path: Path, blocks: list[list[Pair]], size: int = 100) -> PackedCorpus:
    columns = ((sentences([s for s, _ in block]), sentences([t for _, t in block])) for block in blocks)
    write_packed(path, columns, source_size=size, target_size=size)
    return PackedCorpus.open(path)


@given(blocks=blocks_of_pairs, data=st.data())
def test_pairs_come_back(tmp_path_factory: pytest.TempPathFactory, blocks: list[list[Pair]], data: st.DataObject) -> None:
    corpus = pack(tmp_path_factory.mktemp("pack") / "train.arrow", blocks)
    pairs = [*chain(*blocks)]
    assert len(corpus) == len(pairs)
    assert [tuple(side.tolist() for side in corpus.pair(i)) for i in range(len(corpus))] == pairs
    assert [side.tolist() for side in corpus.lengths()] == [
        [len(source) for source, _ in pairs],
        [len(target) for _, target in pairs],
    ]
    if pairs:
        some = data.draw(st.lists(st.integers(0, len(pairs) - 1)))
        source, target = corpus.take(np.array(some, dtype=np.int64))
        assert source.ids.tolist() == [*chain(*(pairs[i][0] for i in some))]
        assert target.lengths.tolist() == [len(pairs[i][1]) for i in some]
        assert source.ids.dtype == target.lengths.dtype == np.int32


def test_any_arrow_library_reads_it(tmp_path: Path) -> None:
    pack(tmp_path / "train.arrow", [[([2, 3], [4])], [([5], [])]])
    table = pa.ipc.open_file(str(tmp_path / "train.arrow")).read_all()
    assert table.to_pydict() == {"source": [[2, 3], [5]], "target": [[4], []]}


@pytest.mark.parametrize("number", [-1, 1])
def test_a_pair_that_is_not_there(tmp_path: Path, number: int) -> None:
    with pytest.raises(IndexError):
        pack(tmp_path / "train.arrow", [[([2], [3])]]).pair(number)


def test_a_missing_file_a_folder_and_other_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="no such file; `rnnsearch prepare`"):
        PackedCorpus.open(tmp_path / "none.arrow")
    (tmp_path / "text").write_text("some text\n" * 100)
    (tmp_path / "empty").touch()
    for name in ("", "text", "empty"):
        with pytest.raises(RnnsearchError, match=r"not a packed corpus, or damaged|not a file but a folder"):
            PackedCorpus.open(tmp_path / name)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"source": [[1]], "other": [[1]]}),
        pa.table({"source": [[1]], "target": [[1]]}),
        pa.table({"source": [["a"]], "target": [["b"]]}),
        pa.table({"source": pa.array([[1]], pa.list_(pa.int32())), "target": pa.array([[1]], pa.list_(pa.int32()))}),
    ],
)
def test_another_arrow_file_is_told(tmp_path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(str(tmp_path / "x.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(RnnsearchError, match="not a packed corpus, or damaged"):
        PackedCorpus.open(tmp_path / "x.arrow")


def test_missing_words_and_compressed_files_are_told(tmp_path: Path) -> None:
    ids = pa.list_(pa.int32())
    schema = pa.schema([("source", ids), ("target", ids)], metadata={"source_size": "9", "target_size": "9"})
    whole = pa.array([[2, 3]] * 99, ids)
    for broken, compression in [
        (pa.array([[1]] * 98 + [None], ids), None),
        (pa.array([[1]] * 98 + [[None]], ids), None),
        (whole, "lz4"),
    ]:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(str(tmp_path / "x.arrow"), schema, options=options) as writer:
            writer.write_batch(pa.record_batch([whole, broken], schema=schema))
        with pytest.raises(RnnsearchError, match=r"a word is missing|compressed"):
            PackedCorpus.open(tmp_path / "x.arrow")


def test_an_id_outside_the_vocabulary_is_told(tmp_path: Path) -> None:
    corpus = pack(tmp_path / "train.arrow", [[([2], [3]), ([2], [100])]])
    assert corpus.pair(0)[1] == [3]
    with pytest.raises(RnnsearchError, match="a target word id is outside its vocabulary of 100"):
        corpus.pair(1)


def test_a_file_cut_short_or_altered_anywhere_is_an_error_or_harmless(tmp_path: Path) -> None:
    chance = random.Random(1)
    pairs = [([chance.randrange(100) for _ in range(chance.randrange(9))], [7]) for _ in range(40)]
    pack(tmp_path / "whole.arrow", [pairs[:20], pairs[20:]])
    whole = (tmp_path / "whole.arrow").read_bytes()
    messages = []
    for trial in range(600):
        damaged = bytearray(whole)
        if trial % 2:
            del damaged[chance.randrange(len(damaged)) :]
        for _ in range(chance.choice([0, 1, 30]) if trial % 2 else chance.choice([1, 2, 30])):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path = tmp_path / f"{trial}.arrow"
        path.write_bytes(damaged)
        try:
            corpus = PackedCorpus.open(path)
            corpus.take(np.arange(len(corpus)))
        except RnnsearchError as error:
            messages.append(str(error))
    assert len(messages) > 400
    assert not any("\n" in message for message in messages)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def blocks():  # type: ignore[no-untyped-def]
        yield sentences([[1]]), sentences([[2]])
        raise RnnsearchError("x")

    with pytest.raises(RnnsearchError, match="x"):
        write_packed(tmp_path / "train.arrow", blocks(), source_size=9, target_size=9)
    assert not list(tmp_path.iterdir())
