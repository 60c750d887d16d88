"""Corpora on a cluster: translating, scoring, aligning and selecting as stages of Ray Data (`pip install rnnsearch[ray]`).

    import ray, rnnsearch.cluster as cluster
    cluster.to_parquet("s3://texts/lines", ["train.en"])
    rows = ray.data.read_parquet("s3://texts/lines")
    cluster.save(cluster.translate(rows, "model"), "s3://texts/translated")
    cluster.to_text("s3://texts/translated", "train.fr", "translation")

A row is a line of text, or a pair of lines: the columns `line`, its number from 0, `source`, and for pairs `target`. A stage
takes rows and returns the same rows with further columns. The result for a row depends only on that row, and is the same as
on one machine. A model is loaded on the machine of this program, and sent to the workers through Ray's object store.

Ray does the rest: it reads and writes on any file system that it supports, distributes the rows to workers, and repeats work
that is lost when a node fails. With `save`, a run that was killed continues from its finished rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rnnsearch.atomic import atomic_write
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_pairs
from rnnsearch.data.word_alignments import Symmetry
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.extras import imports_of_extras
from rnnsearch.jobs import Done, RowStage, Shard, cut
from rnnsearch.jobs.shards import LINES
from rnnsearch.model_catalog import default_model, model_folder
from rnnsearch.model_files import shared_files
from rnnsearch.selection import cross_entropy_difference as selection
from rnnsearch.selection import general_corpus

if TYPE_CHECKING:  # Workers that have no model start sooner without PyTorch.
    from rnnsearch.translation import Translation, Translator
    from rnnsearch.translation.glossary import TermsLike

with imports_of_extras():
    import pyarrow as pa
    import pyarrow.fs
    import pyarrow.parquet
    import ray
    from ray import ObjectRef
    from ray.data import Dataset
    from ray.data.checkpoint import CheckpointConfig
    from ray.exceptions import RayError

Returned = TypeVar("Returned")
Model: TypeAlias = str | os.PathLike[str]
Options: TypeAlias = Mapping[str, Any]
"""Those of Ray's `map_batches`: `concurrency` is the number of workers, each of which has `num_cpus` threads, or a GPU with
`num_gpus=1`."""
Columns: TypeAlias = Mapping[str, tuple[pa.DataType, Callable[[Done[Any]], object]]]
"""The columns that a stage of Ray adds: the type of each, and a function from the result for a row to its value."""
_LINES = ("source",)
_FILE_ROWS = 10 * LINES
_PROCESSORS = 3
"""The smallest number of CPUs: one for a worker, one for the actor that knows the finished rows, one to read and write."""


# Stages ---------------------------------------------------------------------------------------------------------------


def translate(
    rows: Dataset, *models: Model, terms: TermsLike = None, ray_options: Options | None = None, **settings: object
) -> Dataset:
    """Add `translation`, its `score`, log p in nats, and `alignment`, its links in the Pharaoh format ("" for RNNencdec).

    `models` are those of `rnnsearch.load`; `terms` and `settings` are those of `Translator.translate`.
    """
    columns: Columns = {
        "translation": (pa.string(), lambda done: _best(done).text),
        "score": (pa.float64(), lambda done: _best(done).score),
        "alignment": (pa.string(), lambda done: done.written),
    }
    return _mapped(rows, _Stage, (_translate, _LINES, columns, _Packed(*models), terms, settings), _LINES, ray_options)


def score(rows: Dataset, *models: Model, ray_options: Options | None = None) -> Dataset:
    """Add `score`, log p(target | source) in nats."""
    columns: Columns = {"score": (pa.float64(), lambda done: done.note[0])}
    return _mapped(
        rows, _Stage, (_score, general_corpus.SIDES, columns, _Packed(*models)), general_corpus.SIDES, ray_options
    )


def align(
    rows: Dataset,
    *models: Model,
    reverse: Model | None = None,
    symmetry: Symmetry = "grow-diag",
    ray_options: Options | None = None,
) -> Dataset:
    """Add `alignment`, the links between the words of both sides in the Pharaoh format, as `rnnsearch align` writes them.

    `reverse` is a model of the other direction, whose links are joined with these by `symmetry`.
    """
    turned = None if reverse is None else _Packed(reverse)
    columns: Columns = {"alignment": (pa.string(), lambda done: done.written)}
    arguments = (_align, general_corpus.SIDES, columns, _Packed(*models), turned, symmetry)
    return _mapped(rows, _Stage, arguments, general_corpus.SIDES, ray_options)


def select(
    rows: Dataset,
    in_domain: Mapping[general_corpus.Side, Path],
    *,
    pairs: int | None = None,
    words: int | None = None,
    seed: int = 1,
    ray_options: Options | None = None,
) -> Dataset:
    """Return the rows of the best pairs, which are chosen by bilingual cross-entropy difference as in `rnnsearch select`.

    The rows are read four times: to count their words, to draw the samples of the general corpus, to score them, and to
    keep the best. This program holds some forty bytes a row, and the samples.
    """
    return _despite_lost_nodes(lambda: _select(rows, in_domain, pairs, words, seed, ray_options))


def _select(
    rows: Dataset,
    in_domain: Mapping[general_corpus.Side, Path],
    pairs: int | None,
    words: int | None,
    seed: int,
    options: Options | None,
) -> Dataset:
    counts = _columns(_mapped(rows, _Count, (), general_corpus.SIDES, options), "line", *general_corpus.SIDES)
    corpus = _Rows({side: counts[side].astype(np.int32) for side in general_corpus.SIDES}, rows, counts["line"])
    scoring = selection.learn(corpus, in_domain, seed, lambda stage, done, total: None)
    scored = _mapped(rows, _ScoreDifference, (ray.put(scoring), ray.put(corpus.lines)), general_corpus.SIDES, options)
    scores = np.where(corpus.whole, _columns(scored, "line", "score")["score"], np.inf)
    kept = selection.best(corpus, scores, pairs=pairs, words=words)
    return _only(rows, corpus.lines[kept])


def _mapped(
    rows: Dataset, stage: type, arguments: tuple[object, ...], read: Sequence[str], options: Options | None
) -> Dataset:
    missing = {"line", *read} - set(rows.columns() or ())
    if missing:
        raise RnnsearchError(f"the rows have no column {', '.join(sorted(missing))}; see rnnsearch.cluster.to_parquet")
    given = {"batch_size": LINES, "batch_format": "pyarrow", **(options or {})}
    # A block is the unit that a worker processes, that is written, and that is computed again if it is lost.
    rows = rows.repartition(target_num_rows_per_block=given["batch_size"])
    return rows.map_batches(stage, fn_constructor_args=arguments, **given)


class _Packed:
    """The files of models in Ray's object store, from which the workers load them."""

    def __init__(self, *models: Model) -> None:
        folders = [model_folder(model) for model in models] or [default_model()]
        self._files: ObjectRef[list[dict[str, bytes]]] = ray.put(
            [{path.name: path.read_bytes() for path in shared_files(folder)} for folder in folders]
        )

    def load(self) -> Translator:
        """Return the translator, on a GPU if the worker has one."""
        from rnnsearch.translation import load

        self._place = TemporaryDirectory()  # it lives as long as the worker, because some files are read later
        folders = []
        for number, files in enumerate(ray.get(self._files)):
            folders.append(Path(self._place.name) / str(number))
            folders[-1].mkdir()
            for name, content in files.items():
                (folders[-1] / name).write_bytes(content)
        return load(*folders)


class _Stage:
    """Calls a stage of `rnnsearch.translation.stages` on the rows of a table, and adds columns for the results."""

    def __init__(
        self,
        make: Callable[..., RowStage[Any, Any]],
        read: Sequence[str],
        columns: Columns,
        models: _Packed,
        *arguments: Any,
    ) -> None:
        self._models, self._read, self._columns = models, read, columns
        self._stage = make(models.load(), *arguments)

    def __call__(self, rows: pa.Table) -> pa.Table:
        sides = [rows[name].to_pylist() if name in self._read else [None] * len(rows) for name in general_corpus.SIDES]
        results = self._stage(Shard([*zip(*sides, strict=True)], whole=len(rows)))
        for name, (kind, value) in self._columns.items():
            rows = rows.append_column(name, pa.array([value(done) for done in results], kind))
        return rows


def _translate(translator: Translator, terms: TermsLike, settings: Mapping[str, object]) -> RowStage[Any, Any]:
    from rnnsearch.translation.stages import Translate

    return Translate(translator, format="pharaoh", glossary=translator.glossary(terms), settings=settings)


def _best(done: Done[list[Translation]]) -> Translation:
    assert done.record is not None
    return done.record[0]


def _score(translator: Translator) -> RowStage[Any, Any]:
    from rnnsearch.translation.stages import Score

    return Score(translator)


def _align(translator: Translator, reverse: _Packed | None, symmetry: Symmetry) -> RowStage[Any, Any]:
    from rnnsearch.translation.stages import Align

    return Align(translator, None if reverse is None else reverse.load(), symmetry=symmetry)


class _Count:
    """A stage that replaces each side by the number of its words."""

    def __call__(self, rows: pa.Table) -> pa.Table:
        words = ([len(line.split()) for line in rows[side].to_pylist()] for side in general_corpus.SIDES)
        return pa.table([rows["line"], *(pa.array(side, pa.int32()) for side in words)], ["line", *general_corpus.SIDES])


class _ScoreDifference:
    """A stage that returns only scores; the rows are read again after the best ones have been determined."""

    def __init__(self, scoring: ObjectRef[selection.Scoring], lines: ObjectRef[NDArray[np.int64]]) -> None:
        self._scoring, self._lines = ray.get([scoring, lines])

    def __call__(self, rows: pa.Table) -> pa.Table:
        numbers = np.searchsorted(self._lines, rows["line"].to_numpy())
        scores = self._scoring.scores(numbers, {side: rows[side].to_pylist() for side in general_corpus.SIDES})
        return pa.table([rows["line"], pa.array(scores)], ["line", "score"])


@dataclass(frozen=True)
class _Rows(general_corpus.GeneralCorpus):
    """A general corpus of rows; the number of a pair is its position in `lines`."""

    rows: Dataset
    lines: NDArray[np.int64]

    def some(
        self, mask: NDArray[np.bool_], progress: general_corpus.Progress, block: int = LINES
    ) -> Iterator[tuple[NDArray[np.int64], Mapping[general_corpus.Side, Sequence[str]]]]:
        """See `GeneralCorpus`; the rows are filtered, and sorted by their numbers."""
        rows = _only(self.rows, self.lines[mask]).sort("line")
        for batch in rows.iter_batches(batch_format="pyarrow", batch_size=block):
            numbers = np.searchsorted(self.lines, batch["line"].to_numpy())
            yield numbers, {side: batch[side].to_pylist() for side in general_corpus.SIDES}


def _only(rows: Dataset, lines: NDArray[np.int64]) -> Dataset:
    """Return the rows with these numbers, which must be sorted."""
    selected = ray.put(np.append(lines, -1))  # −1 is the number of no row, and stands after all selected ones

    def keep(batch: pa.Table) -> pa.Table:
        chosen, lines = ray.get(selected), batch["line"].to_numpy()
        return batch.filter(pa.array(chosen[np.searchsorted(chosen[:-1], lines)] == lines))

    return rows.map_batches(keep, batch_size=LINES, batch_format="pyarrow")


def _columns(rows: Dataset, *names: str) -> dict[str, NDArray[Any]]:
    """Return columns of numbers as arrays, sorted by `line`, with each row once."""
    batches = [batch.select(names) for batch in rows.iter_batches(batch_format="pyarrow", batch_size=None)]
    table = {name: np.concatenate([batch[name].to_numpy() for batch in batches]) for name in names}
    _, order = np.unique(table["line"], return_index=True)
    return {name: column[order] for name, column in table.items()}


# Files ----------------------------------------------------------------------------------------------------------------


def to_parquet(folder: str, sources: Sequence[Path], targets: Sequence[Path] = ()) -> int:
    """Write text files as rows, `line` and `source`, and `target` where there are targets, to Parquet files in a folder.

    The folder may be on any file system that Arrow knows, such as `s3://bucket/name`. Returns the number of rows.
    """
    names = ["source", "target"] if targets else ["source"]
    texts: Iterator[tuple[str, ...]]
    texts = read_pairs(sources, targets) if targets else ((line,) for path in sources for line in read_lines(path))
    system, place = pyarrow.fs.FileSystem.from_uri(_absolute(folder))
    system.create_dir(place)
    schema, first = pa.schema([("line", pa.int64()), *((name, pa.string()) for name in names)]), 0
    for group in cut(texts, _FILE_ROWS):
        numbers = np.arange(first, first + len(group))
        columns = [pa.array(numbers), *(pa.array(side, pa.string()) for side in zip(*group, strict=True))]
        pyarrow.parquet.write_table(
            pa.table(columns, schema=schema), f"{place}/{first:012d}.parquet", filesystem=system, row_group_size=LINES
        )
        first += len(group)
    return first


def save(rows: Dataset, folder: str) -> None:
    """Compute the rows, and write them as Parquet files in a folder on any file system that Ray knows.

    Until all rows are written, the numbers of the finished ones are kept in `FOLDER.parts`. If this program or the cluster
    is killed, the same call, with rows from the same files, computes only the missing rows. This function also repeats work
    that is lost with a node and that Ray does not repeat, such as the listing of files.
    """
    folder = _absolute(folder)
    rows.context.checkpoint_config = CheckpointConfig("line", f"{folder}.parts")
    _expect_processors()
    _despite_lost_nodes(lambda: rows.write_parquet(folder))


def _despite_lost_nodes(work: Callable[[], Returned]) -> Returned:
    """Do work, and repeat it if it fails because a node was lost; other failures are raised."""
    nodes = _living_nodes()
    while True:
        try:
            return work()
        except RayError:
            before, nodes = nodes, _living_nodes()
            if before <= nodes:
                raise
            warnings.warn("a node was lost; what it had not finished is computed again", RnnsearchWarning, stacklevel=3)
            _expect_processors()


def _expect_processors() -> None:
    processors = ray.cluster_resources().get("CPU", 0)
    if processors < _PROCESSORS:
        raise RnnsearchError(
            f"Ray has {processors:g} CPUs, and would wait for ever: a stage needs {_PROCESSORS}. On one machine, say "
            f"ray.init(num_cpus={_PROCESSORS}), however many it has"
        )


def _living_nodes() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def to_text(folder: str, output: Path, column: str) -> int:
    """Write a column of saved rows as lines of text, in the order of the rows' numbers; whole, or not at all.

    Returns the number of lines. Rows that were written twice, because a run was killed between, become one line.
    """
    return _despite_lost_nodes(lambda: _to_text(_absolute(folder), Path(output), column))


def _to_text(folder: str, output: Path, column: str) -> int:
    last = -1
    rows = ray.data.read_parquet(folder).select_columns(["line", column]).sort("line")
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        lines = 0
        for batch in rows.iter_batches(batch_format="pyarrow", batch_size=LINES):
            for number, value in zip(batch["line"].to_pylist(), batch[column].to_pylist(), strict=True):
                if number != last:
                    file.write(f"{value:.6f}\n" if isinstance(value, float) else f"{value}\n")
                    last, lines = number, lines + 1
    return lines


def _absolute(folder: str) -> str:
    return folder if "://" in folder else str(Path(folder).absolute())
