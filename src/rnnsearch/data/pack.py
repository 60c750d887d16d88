"""A packed corpus: word ids on disk in an Arrow file, which is mapped into memory and read in place.

The file has two columns, `source` and `target`, with lists of 32-bit word ids without end symbols, in blocks of some ten
thousand pairs. Any Arrow library can read it. This module reads its buffers directly, because the pairs of a minibatch come
from all over the corpus.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import open_regular

Ids = NDArray[np.int32]
Positions = NDArray[np.int64]

BLOCK_PAIRS = 16384
"""The number of pairs that are read or written together."""

_SIDES = ("source", "target")


@dataclass(frozen=True)
class Sentences:
    """Several sentences: `ids` holds the words of all of them, one sentence after another, and `lengths` their lengths."""

    ids: Ids
    lengths: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Sentences:
        """Return sentences from their lists of ids."""
        return cls(np.array([number for row in rows for number in row], np.int32), np.array([*map(len, rows)], np.int32))

    def __getitem__(self, order: Sequence[int] | Positions) -> Sentences:
        """Return the sentences with these numbers, in this order."""
        ids = np.split(self.ids, np.cumsum(self.lengths)[:-1])
        return Sentences(np.concatenate([ids[number] for number in order]), self.lengths[order])


def write_packed(path: Path, blocks: Iterable[tuple[Sentences, Sentences]], *, source_size: int, target_size: int) -> None:
    """Write blocks of pairs, whose ids must be below `source_size` and `target_size`, to a file, atomically."""
    import pyarrow as pa

    sizes = {"source_size": str(source_size), "target_size": str(target_size)}
    schema = pa.schema([(side, pa.list_(pa.int32())) for side in _SIDES], metadata=sizes)
    with (
        atomic_write(path) as temporary,
        temporary.open("wb") as file,
        pa.ipc.new_file(file, schema) as writer,
    ):
        for block in blocks:
            columns = [_list_array(sentences) for sentences in block]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _list_array(sentences: Sentences) -> Any:
    import pyarrow as pa

    offsets = np.zeros(len(sentences.lengths) + 1, dtype=np.int32)
    np.cumsum(sentences.lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(sentences.ids))


def _mapped(path: Path) -> Any:
    """Return the bytes of a file, mapped into memory. Arrow's own function for this does not accept every file name."""
    import pyarrow as pa

    with open_regular(path) as file:
        return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _blocks(file: Any) -> tuple[list[Any], Any]:
    """Return the blocks of pairs of a mapped Arrow file, and its schema. Raises ValueError if a block is compressed.

    A compressed block states its own size, and Arrow would allocate as much memory without a check. The messages are
    therefore read one by one and checked first: between its first eight bytes and its footer, an Arrow file is a stream of
    messages.
    """
    import pyarrow as pa

    reader = pa.ipc.open_file(file)
    if reader.schema.names != list(_SIDES) or any(field.type != pa.list_(pa.int32()) for field in reader.schema):
        raise ValueError(f"its columns are {', '.join(map(str, reader.schema))}")
    messages = pa.ipc.MessageReader.open_stream(pa.BufferReader(file.slice(8)))
    messages.read_next_message()  # the schema
    blocks = []
    for _ in range(reader.num_record_batches):
        message = messages.read_next_message()
        if message.type != "record batch" or _is_compressed(message.metadata.to_pybytes()):
            raise ValueError("its buffers are compressed or cut short")
        blocks.append(pa.ipc.read_record_batch(message, reader.schema))
    return blocks, reader.schema


def _is_compressed(message: bytes) -> bool:
    """Whether the metadata of a record batch has the field `compression` (see `Message.fbs` of Arrow)."""

    def entry(table: int, number: int) -> int:
        """Return the position of a field of a FlatBuffers table, or 0 if the table does not have the field."""
        entries = table - struct.unpack_from("<i", message, table)[0]
        if entries < 0 or 4 + 2 * number >= struct.unpack_from("<H", message, entries)[0]:
            return 0
        offset = int(struct.unpack_from("<H", message, entries + 4 + 2 * number)[0])
        return table + offset if offset else 0

    def follow(position: int) -> int:
        """Return the position that the offset at `position` refers to."""
        return position + int(struct.unpack_from("<I", message, position)[0])

    batch = entry(follow(0), 2)
    return not batch or entry(follow(batch), 3) != 0


class PackedCorpus:
    """An open packed corpus, whose pairs are numbered from 0. Only those pages of the file that are in use take memory."""

    def __init__(self, path: Path, sides: Sequence[_Side], rows: Sequence[int]) -> None:
        self.path = path
        self._sides = sides
        self._block_starts = np.cumsum([0, *rows], dtype=np.int64)

    @classmethod
    def open(cls, path: Path | str) -> PackedCorpus:
        """Map the packed corpus at `path` into memory. Raises RnnsearchError if it is missing or damaged."""
        import pyarrow as pa

        path = Path(path)
        try:
            file = _mapped(path)
            blocks, schema = _blocks(file)
            sides = [_Side(side, file, schema, blocks) for side in _SIDES]
        except FileNotFoundError:
            raise RnnsearchError(f"{path}: no such file; `rnnsearch prepare` writes it") from None
        except (pa.ArrowException, OSError, ValueError, LookupError, AttributeError, OverflowError, struct.error) as error:
            reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
            raise RnnsearchError(f"{path}: not a packed corpus, or damaged ({reason}); prepare it again") from None
        return cls(path, sides, [block.num_rows for block in blocks])

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self._block_starts[-1])

    @property
    def sizes(self) -> tuple[int, int]:
        """The sizes of the source and the target vocabulary; all word ids are below them."""
        source, target = self._sides
        return source.size, target.size

    def pair(self, number: int) -> tuple[Ids, Ids]:
        """Return the source and the target ids of one pair, without end symbols."""
        source, target = self.take(np.array([number]))
        return source.ids, target.ids

    def lengths(self, pairs: Positions | None = None) -> tuple[Ids, Ids]:
        """Return the numbers of words of the source and of the target for the pairs with these numbers, or for all pairs."""
        blocks, rows = self._locate(np.arange(len(self)) if pairs is None else pairs)
        source, target = (side.spans(blocks, rows)[1] for side in self._sides)
        return source, target

    def take(self, pairs: Positions) -> tuple[Sentences, Sentences]:
        """Return the sentences of the pairs with these numbers, in this order.

        Raises RnnsearchError if a word id is outside its vocabulary.
        """
        blocks, rows = self._locate(pairs)
        taken = []
        for side in self._sides:
            sentences = side.take(blocks, rows)
            if len(sentences.ids) and not 0 <= sentences.ids.min() <= sentences.ids.max() < side.size:
                raise RnnsearchError(
                    f"{self.path}: a {side.name} word id is outside its vocabulary of {side.size}: "
                    "the file is damaged; prepare it again"
                )
            taken.append(sentences)
        return taken[0], taken[1]

    def in_blocks(self, pairs: Positions) -> Iterator[tuple[Sentences, Sentences]]:
        """Yield the sentences of the pairs with these numbers, in this order, `BLOCK_PAIRS` pairs at a time."""
        for start in range(0, len(pairs), BLOCK_PAIRS):
            yield self.take(pairs[start : start + BLOCK_PAIRS])

    def _locate(self, pairs: Positions) -> tuple[Positions, Positions]:
        """Return the block of each pair, and its row in the block."""
        if len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(self):
            raise IndexError(f"pairs {pairs.min()} to {pairs.max()} of a corpus of {len(self)}")
        blocks = np.searchsorted(self._block_starts, pairs, side="right") - 1
        return blocks, pairs - self._block_starts[blocks]


class _Side:
    """One column of the file, with the positions at which the offsets and the ids of each block begin.

    A position counts 32-bit words from the start of the file, so that a single indexing operation can read from all blocks.
    """

    def __init__(self, name: str, file: Any, schema: Any, blocks: Sequence[Any]) -> None:
        """Raises ValueError or KeyError if the column is not as `write_packed` writes it."""
        self.name = name
        self.size = int((schema.metadata or {})[f"{name}_size".encode()])
        self._words = np.frombuffer(file, dtype=np.int32, count=file.size // 4)
        offsets_at, ids_at = [], []
        for block in blocks:
            block.validate()
            column = block.column(name)
            offsets, ids = column.offsets, column.values
            if column.null_count or ids.null_count:
                raise ValueError("a word is missing")
            offsets_at.append(self._position(file, column.buffers()[1], len(offsets)))
            ids_at.append(self._position(file, column.buffers()[3], len(ids)))
            ends = offsets.to_numpy()
            if ends[0] < 0 or ends[-1] > len(ids) or (np.diff(ends) < 0).any():
                raise ValueError("its sentences overlap")
        self._offsets_at = np.array(offsets_at, dtype=np.int64)
        self._ids_at = np.array(ids_at, dtype=np.int64)

    def _position(self, file: Any, buffer: Any, length: int) -> int:
        """Return the position of an Arrow buffer in the file. Raises ValueError if the buffer is not inside the file."""
        position, rest = divmod(buffer.address - file.address, 4)
        if length and (rest or not 0 <= position <= len(self._words) - length):
            raise ValueError("its buffers are compressed or cut short")
        return int(position)

    def spans(self, blocks: Positions, rows: Positions) -> tuple[Positions, Ids]:
        """Return the positions at which the ids of these sentences start, and the numbers of their ids."""
        offsets = self._offsets_at[blocks] + rows
        starts = self._words[offsets]
        return self._ids_at[blocks] + starts, self._words[offsets + 1] - starts

    def take(self, blocks: Positions, rows: Positions) -> Sentences:
        """Return the sentences at these rows of these blocks."""
        starts, lengths = self.spans(blocks, rows)
        # The k-th word of a sentence goes to `before + k` of the result, and comes from `start + k` of the file.
        before = np.cumsum(lengths, dtype=np.int64) - lengths
        positions = np.repeat(starts - before, lengths) + np.arange(lengths.sum(dtype=np.int64))
        return Sentences(self._words[positions], lengths)
