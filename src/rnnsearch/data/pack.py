"""A corpus of word ids on disk: an Arrow file, mapped into memory and read in place.

The file has two columns, `source` and `target`: lists of 32-bit word ids without end symbols, in blocks of
some ten thousand pairs. Any Arrow library reads it; here its buffers are addressed directly, because a
minibatch gathers pairs from all over the corpus.
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
"""So many pairs are read and written together."""

_SIDES = ("source", "target")


@dataclass(frozen=True)
class Sentences:
    """Sentences end to end: `ids` holds the words of all, `lengths` how many each sentence has."""

    ids: Ids
    lengths: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Sentences:
        """These sentences."""
        return cls(np.array([number for row in rows for number in row], np.int32), np.array([*map(len, rows)], np.int32))

    def __getitem__(self, order: Sequence[int] | Positions) -> Sentences:
        """The sentences of these numbers, in their order."""
        each = np.split(self.ids, np.cumsum(self.lengths)[:-1])
        return Sentences(np.concatenate([each[number] for number in order]), self.lengths[order])


def write_packed(path: Path, blocks: Iterable[tuple[Sentences, Sentences]], *, source_size: int, target_size: int) -> None:
    """Write blocks of pairs whose ids lie below `source_size` and `target_size`; whole or not at all."""
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
    """The bytes of a file, mapped into memory. Arrow's own way to it does not take every name."""
    import pyarrow as pa

    with open_regular(path) as file:
        return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _blocks(file: Any) -> tuple[list[Any], Any]:
    """The blocks of pairs of a mapped Arrow file, and its schema. Raises ValueError where a block is compressed.

    A compressed block says how large it is, which Arrow believes. Blocks are therefore read one after the other, as from a
    stream, which is what an Arrow file is between its first eight bytes and its footer.
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
    """Whether the record batch that a message describes has an entry for its compression, see Arrow's `Message.fbs`."""

    def entry(table: int, number: int) -> int:
        """Where an entry of a table of FlatBuffers is; 0 where it has none."""
        entries = table - struct.unpack_from("<i", message, table)[0]
        if entries < 0 or 4 + 2 * number >= struct.unpack_from("<H", message, entries)[0]:
            return 0
        offset = int(struct.unpack_from("<H", message, entries + 4 + 2 * number)[0])
        return table + offset if offset else 0

    def follow(place: int) -> int:
        return place + int(struct.unpack_from("<I", message, place)[0])

    batch = entry(follow(0), 2)
    return not batch or entry(follow(batch), 3) != 0


class PackedCorpus:
    """The pairs of a packed corpus, by number. Takes memory only for the pages of the file in use."""

    def __init__(self, path: Path, sides: Sequence[_Side], rows: Sequence[int]) -> None:
        self.path = path
        self._sides = sides
        self._block_starts = np.cumsum([0, *rows], dtype=np.int64)

    @classmethod
    def open(cls, path: Path | str) -> PackedCorpus:
        """Map the corpus at `path` into memory, and check that it is one."""
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
        """The number of pairs."""
        return int(self._block_starts[-1])

    @property
    def sizes(self) -> tuple[int, int]:
        """What the word ids of the source and of the target lie below."""
        source, target = self._sides
        return source.size, target.size

    def pair(self, number: int) -> tuple[Ids, Ids]:
        """Source and target ids of one pair, without end symbols."""
        source, target = self.take(np.array([number]))
        return source.ids, target.ids

    def lengths(self, pairs: Positions | None = None) -> tuple[Ids, Ids]:
        """The number of words of the source and of the target, for all pairs or for these."""
        blocks, rows = self._locate(np.arange(len(self)) if pairs is None else pairs)
        source, target = (side.spans(blocks, rows)[1] for side in self._sides)
        return source, target

    def take(self, pairs: Positions) -> tuple[Sentences, Sentences]:
        """The sentences of these pairs, in this order."""
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
        """The sentences of these pairs, in this order, some thousands at a time."""
        for start in range(0, len(pairs), BLOCK_PAIRS):
            yield self.take(pairs[start : start + BLOCK_PAIRS])

    def _locate(self, pairs: Positions) -> tuple[Positions, Positions]:
        """The block of each pair, and its row there."""
        if len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(self):
            raise IndexError(f"pairs {pairs.min()} to {pairs.max()} of a corpus of {len(self)}")
        blocks = np.searchsorted(self._block_starts, pairs, side="right") - 1
        return blocks, pairs - self._block_starts[blocks]


class _Side:
    """One column of the file: the positions of the offsets and of the ids of each of its blocks.

    Positions count 32-bit words from the start of the file, so that one indexing operation reads any block.
    """

    def __init__(self, name: str, file: Any, schema: Any, blocks: Sequence[Any]) -> None:
        """Raises ValueError or KeyError where the column is not as `write_packed` writes it."""
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
        position, rest = divmod(buffer.address - file.address, 4)
        if length and (rest or not 0 <= position <= len(self._words) - length):
            raise ValueError("its buffers are compressed or cut short")
        return int(position)

    def spans(self, blocks: Positions, rows: Positions) -> tuple[Positions, Ids]:
        """The start and the number of the ids of these sentences."""
        offsets = self._offsets_at[blocks] + rows
        starts = self._words[offsets]
        return self._ids_at[blocks] + starts, self._words[offsets + 1] - starts

    def take(self, blocks: Positions, rows: Positions) -> Sentences:
        """These sentences."""
        starts, lengths = self.spans(blocks, rows)
        before = np.cumsum(lengths, dtype=np.int64) - lengths
        positions = np.repeat(starts - before, lengths) + np.arange(lengths.sum(dtype=np.int64))
        return Sentences(self._words[positions], lengths)
