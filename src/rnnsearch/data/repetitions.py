"""The search for repeated pairs in a corpus of any size.

The fingerprints of the pairs are in a file. Up to `IN_MEMORY` of them are sorted in memory; more are grouped by DuckDB,
which writes to disk what exceeds its limit of memory.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError

IN_MEMORY = 20_000_000
"""The largest number of fingerprints that are sorted in memory, which takes 24 bytes for each."""
_MEMORY = "1GB"
"""The limit of DuckDB's memory."""
_BATCH = 1 << 20


class Fingerprints:
    """A file with the fingerprints of pairs, in the order of the pairs. Fingerprints are added in a `with` statement."""

    def __init__(self, path: Path) -> None:
        """`path` is the file; the temporary files of DuckDB are written beside it."""
        self._path = path
        self._count = 0

    def __enter__(self) -> Fingerprints:
        self._file = self._path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, fingerprints: NDArray[np.uint64]) -> None:
        """Append the fingerprints of the next pairs."""
        self._file.write(fingerprints.astype(np.uint64).tobytes())
        self._count += len(fingerprints)

    def first(self) -> NDArray[np.bool_]:
        """Return for each pair whether it is the first one with its fingerprint.

        Raises RnnsearchError if DuckDB is needed and not installed, or if it lacks memory or space on the disk.
        """
        return self._first_in_memory() if self._count <= IN_MEMORY else self._first_on_disk()

    def _first_in_memory(self) -> NDArray[np.bool_]:
        fingerprints = np.fromfile(self._path, dtype=np.uint64)
        order = np.argsort(fingerprints, kind="stable")
        first = np.ones(self._count, dtype=bool)
        # The sort is stable: of equal fingerprints, now neighbours, the first is that of the first pair.
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
        all_pairs, first_pairs = spilled / "fingerprints.parquet", spilled / "first.parquet"
        fingerprints = np.memmap(self._path, dtype=np.uint64, mode="r")
        schema = pa.schema([("pair", pa.int64()), ("fingerprint", pa.uint64())])
        with pq.ParquetWriter(str(all_pairs), schema, compression="none", use_dictionary=False) as writer:
            for start in range(0, self._count, _BATCH):
                batch = np.array(fingerprints[start : start + _BATCH])
                pairs = np.arange(start, start + len(batch))
                writer.write_table(pa.table({"pair": pairs, "fingerprint": batch}, schema=schema))
        query = f"SELECT min(pair) FROM read_parquet({_quoted(all_pairs)}) GROUP BY fingerprint"
        try:
            with duckdb.connect(config=settings) as connection:
                connection.execute(f"COPY ({query}) TO {_quoted(first_pairs)} (FORMAT parquet)")
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise RnnsearchError(f"{spilled}: DuckDB cannot find the repeated pairs: {reason}") from None
        for batch in pq.ParquetFile(str(first_pairs)).iter_batches(_BATCH):
            first[batch.column(0).to_numpy()] = True
        return first


def _quoted(path: Path) -> str:
    """Return a path as a string literal of SQL, because COPY statements take no parameters."""
    return "'" + str(path).replace("'", "''") + "'"
