"""Repeated pairs of a corpus of any size: which pairs are the first of their kind.

The fingerprints of the pairs are in a file. Of some millions of pairs they are sorted in memory; of more, DuckDB groups them
within a limit of memory, and on disk beyond it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError

IN_MEMORY = 20_000_000
"""So many fingerprints are sorted in memory, which takes 24 bytes for each."""
_MEMORY = "1GB"
"""The memory that DuckDB takes at most."""
_BATCH = 1 << 20


class Fingerprints:
    """The fingerprints of pairs, in their order, in a file. Use it in a `with` statement while they are added."""

    def __init__(self, path: Path) -> None:
        """`path` is where they are written; what is in the way goes beside it."""
        self._path = path
        self._count = 0

    def __enter__(self) -> Fingerprints:
        self._file = self._path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, fingerprints: NDArray[np.uint64]) -> None:
        """Those of the next pairs."""
        self._file.write(fingerprints.astype(np.uint64).tobytes())
        self._count += len(fingerprints)

    def first(self) -> NDArray[np.bool_]:
        """For each pair, whether none before it has the same fingerprint.

        Raises RnnsearchError where DuckDB is needed and missing, or has no room.
        """
        return self._first_in_memory() if self._count <= IN_MEMORY else self._first_on_disk()

    def _first_in_memory(self) -> NDArray[np.bool_]:
        fingerprints = np.fromfile(self._path, dtype=np.uint64)
        order = np.argsort(fingerprints, kind="stable")
        first = np.ones(self._count, dtype=bool)
        fingerprints = fingerprints[order]
        first[order[np.flatnonzero(fingerprints[1:] == fingerprints[:-1]) + 1]] = False
        return first

    def _first_on_disk(self) -> NDArray[np.bool_]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            import duckdb
        except ImportError:
            raise RnnsearchError(
                f"dropping repeated pairs among {self._count:,} needs DuckDB: `pip install 'rnnsearch[big]'` and run "
                "the same command again, which goes on from here; or keep them, --set data.remove_duplicates=false"
            ) from None
        first = np.zeros(self._count, dtype=bool)
        spilled = self._path.with_suffix(".spilled")
        spilled.mkdir(exist_ok=True)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY, "temp_directory": str(spilled), "preserve_insertion_order": False, "threads": 2,
        }  # fmt: skip
        given, found = spilled / "fingerprints.parquet", spilled / "first.parquet"
        fingerprints = np.memmap(self._path, dtype=np.uint64, mode="r")
        schema = pa.schema([("pair", pa.int64()), ("fingerprint", pa.uint64())])
        with pq.ParquetWriter(str(given), schema, compression="none", use_dictionary=False) as writer:
            for start in range(0, self._count, _BATCH):
                batch = np.array(fingerprints[start : start + _BATCH])
                pairs = np.arange(start, start + len(batch))
                writer.write_table(pa.table({"pair": pairs, "fingerprint": batch}, schema=schema))
        query = f"SELECT min(pair) FROM read_parquet({_quoted(given)}) GROUP BY fingerprint"
        try:
            with duckdb.connect(config=settings) as connection:
                connection.execute(f"COPY ({query}) TO {_quoted(found)} (FORMAT parquet)")
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise RnnsearchError(f"{spilled}: DuckDB cannot find the repeated pairs: {reason}") from None
        for batch in pq.ParquetFile(str(found)).iter_batches(_BATCH):
            first[batch.column(0).to_numpy()] = True
        return first


def _quoted(path: Path) -> str:
    """A path as SQL has it: statements that copy take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"
