"""Repeated pairs of a corpus of any size: which pairs are the first of their kind.

The fingerprints of the pairs are in a file. Of some millions of pairs they are sorted in memory; of more, DuckDB groups them
within a limit of memory, and on disk beyond it.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

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
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema([("pair", pa.int64()), ("fingerprint", pa.uint64())])
        self._writer = pq.ParquetWriter(str(self._path), self._schema, compression="none", use_dictionary=False)
        self._waiting: list[NDArray[np.uint64]] = []
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._write()
        self._writer.close()

    def __len__(self) -> int:
        return self._count + sum(map(len, self._waiting))

    def add(self, fingerprints: NDArray[np.uint64]) -> None:
        """Those of the next pairs."""
        self._waiting.append(fingerprints)
        if sum(map(len, self._waiting)) >= _BATCH:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        joined = np.concatenate(self._waiting)
        pairs = np.arange(self._count, self._count + len(joined))
        self._writer.write_table(pa.table({"pair": pairs, "fingerprint": joined}, schema=self._schema))
        self._count += len(joined)
        self._waiting = []

    def first(self) -> NDArray[np.bool_]:
        """For each pair, whether none before it has the same fingerprint.

        Raises RnnsearchError where DuckDB is needed and missing, or has no room.
        """
        return self._first_in_memory() if self._count <= IN_MEMORY else self._first_on_disk()

    def _first_in_memory(self) -> NDArray[np.bool_]:
        import pyarrow.parquet as pq

        fingerprints = pq.read_table(str(self._path), columns=["fingerprint"]).column(0).to_numpy()
        order = np.argsort(fingerprints, kind="stable")
        first = np.ones(self._count, dtype=bool)
        ordered = fingerprints[order]
        first[order[1:][ordered[1:] == ordered[:-1]]] = False
        return first

    def _first_on_disk(self) -> NDArray[np.bool_]:
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
        found = spilled / "first.parquet"
        query = f"SELECT min(pair) FROM read_parquet({_quoted(self._path)}) GROUP BY fingerprint"
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
