"""The texts of a data set: written to a folder of parallel files, with a manifest that describes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rnnsearch.atomic import atomic_write, write_json
from rnnsearch.data.lines import read_lines
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.datasets.catalog import (
    AnyText,
    Archive,
    BuiltinText,
    Dataset,
    Dictionary,
    LinkedSentences,
    ParallelText,
)
from rnnsearch.datasets.fetch import Progress, discard, fetch, recorded_checksums
from rnnsearch.datasets.unpack import DamagedArchive, unpack
from rnnsearch.errors import RnnsearchError

MANIFEST = "manifest.json"
"""The file that is written last, when all texts of a data set are complete."""
_ARCHIVES = "archives"
_COUNT_CHUNK = 1 << 20


@dataclass(frozen=True)
class Downloaded:
    """The result of a download."""

    folder: Path
    texts: dict[str, int]
    """The number of sentence pairs of each parallel text, by the name of the text."""
    fetched: bool
    """Whether anything was written; False if the folder was complete before."""
    left_out: dict[str, int] = field(default_factory=dict)
    """The number of lines that were replaced by empty ones because they were not valid UTF-8, by the name of the file."""


def download(dataset: Dataset, folder: Path, progress: Progress | None = None, archives: Path | None = None) -> Downloaded:
    """Write the texts of `dataset` to `folder`: `NAME.en` and `NAME.fr` for each and, last, `manifest.json`.

    The built-in corpus is not downloaded, and has `NAME.gold` as well. Archives that are already in the folder `archives`
    (by default `folder/archives`) are not downloaded again; they may be deleted afterwards. If the call is interrupted, the
    same call continues. A folder that is complete according to its manifest is not changed.
    """
    archives = archives or folder / _ARCHIVES
    report = progress or (lambda what, done, total: None)
    complete = _complete(dataset, folder)
    if complete is not None:
        return complete
    left_out: dict[str, int] = {}
    try:
        paths = {archive: fetch(archive, archives, report) for archive in dataset.archives}
        for archive, path in paths.items():
            outputs = _outputs(dataset, archive, folder)
            if outputs:
                left_out |= unpack(path, outputs, _Counter(f"unpacking {path.name}", report))
        for text in dataset.texts:
            if isinstance(text, LinkedSentences):
                files = [folder / name for name in dataset.files(text)]
                _join([paths[archive] for archive in text.archives], files, _Counter(f"joining {text.name}", report))
            if isinstance(text, Dictionary):
                _write_table(text, paths[text.archive], folder / dataset.files(text)[0])
        if any(isinstance(text, BuiltinText) for text in dataset.texts):
            write_corpus(folder)
        pairs = {text.name: _count(dataset, text, folder) for text in dataset.texts}
        downloaded = Downloaded(folder, pairs, True, left_out)
        write_json(folder / MANIFEST, _manifest(dataset, downloaded, archives))
    except DamagedArchive as error:
        discard(error.archive)
        raise RnnsearchError(f"{error}; it was deleted, and the same command fetches it anew") from None
    except OSError as error:
        raise RnnsearchError(f"cannot write to {folder}: {error.strerror or error}") from None
    return downloaded


class _Counter:
    """A function of numbers of bytes that adds them up and reports the sum as progress."""

    def __init__(self, what: str, report: Progress) -> None:
        self._what, self._report = what, report
        self._done = 0

    def __call__(self, more: int) -> None:
        self._done += more
        self._report(self._what, self._done, None)


def _outputs(dataset: Dataset, archive: Archive, folder: Path) -> dict[str, Path]:
    """Return the paths to which files of an archive are extracted, by the names of these files in the archive."""
    return {
        side.member or archive.name: folder / f"{text.name}.{language}"
        for text in dataset.texts
        if isinstance(text, ParallelText)
        for side, language in zip((text.source, text.target), dataset.languages, strict=True)
        if side.archive == archive
    }


def _join(archives: Sequence[Path], outputs: Sequence[Path], step: Callable[[int], None]) -> None:
    """Write every pair of linked sentences, sorted by their numbers, so that all translations of a sentence are in a row.

    `archives` are those of the source, the target and the links. All linked sentences are held in memory.
    """
    with TemporaryDirectory(prefix=".joining-", dir=outputs[0].parent) as temporary:
        tables = {archive: Path(temporary) / archive.stem for archive in archives}
        for archive, path in tables.items():
            unpack(archive, {archive.name: path}, lambda more: None)
        links = archives[2]
        pairs = sorted({(_number(row[0], links), _number(row[1], links)) for row in _rows(links, tables[links], 2)})
        sentences = []
        for side, archive in enumerate(archives[:2]):
            linked = {pair[side] for pair in pairs}
            rows = ((_number(row[0], archive), row[2]) for row in _rows(archive, tables[archive], 3))
            sentences.append({number: " ".join(text.split()) for number, text in rows if number in linked})
    with ExitStack() as stack:
        files = [stack.enter_context(stack.enter_context(atomic_write(path)).open("wb")) for path in outputs]
        for pair in pairs:
            lines = [texts.get(number, "") for texts, number in zip(sentences, pair, strict=True)]
            if all(lines):  # a sentence may have been deleted since the links were exported
                for file, line in zip(files, lines, strict=True):
                    step(file.write(line.encode() + b"\n"))


def _rows(archive: Path, table: Path, columns: int) -> Iterator[list[str]]:
    """Yield the rows of a table of tab-separated values. Raises DamagedArchive if a row has fewer than `columns` columns."""
    for number, line in enumerate(read_lines(table), 1):
        row = line.split("\t")
        if len(row) < columns:
            raise DamagedArchive(archive, f"line {number} has {len(row)} columns, and {columns} are needed")
        yield row


def _number(text: str, archive: Path) -> int:
    try:
        return int(text)
    except ValueError:
        raise DamagedArchive(archive, f"{text!r} where the number of a sentence should be") from None


def _write_table(dictionary: Dictionary, archive: Path, output: Path) -> None:
    """Write a table with the first pronunciation of every word: word, tab, phones."""
    mark = dictionary.comments
    written = set()
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(read_lines(archive), 1):
            text = line if mark is None else line.partition(mark)[0].rstrip()
            if not text.strip():
                continue
            word, _, phones = text.partition("\t" if mark is None else " ")
            if mark is not None:
                word = re.sub(r"\([0-9]+\)$", "", word)
            if not (word and phones.strip()):
                raise DamagedArchive(archive, f"line {number} is not a word and its phones: {line[:60]!r}")
            if word not in written:
                written.add(word)
                file.write(f"{word}\t{' '.join(phones.split())}\n")


def _count(dataset: Dataset, text: AnyText, folder: Path) -> int:
    """Return the number of pairs of a text. Raises RnnsearchError if its two files have different numbers of lines."""
    if isinstance(text, Dictionary):
        return _lines(folder / dataset.files(text)[0])
    source, target = (folder / name for name in dataset.files(text)[:2])
    lines = [_lines(path) for path in (source, target)]
    if lines[0] != lines[1]:
        raise RnnsearchError(
            f"{source} has {lines[0]} lines but {target} has {lines[1]}: the archive at its source is not what it was; "
            "line n of one must be the translation of line n of the other"
        )
    return lines[0]


def _lines(path: Path) -> int:
    """Return the number of lines of a file, whatever its encoding."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while chunk := file.read(_COUNT_CHUNK):
            count += chunk.count(b"\n")
            last = chunk[-1:]
    return count + (last != b"\n")


def _manifest(dataset: Dataset, downloaded: Downloaded, archives: Path) -> dict[str, Any]:
    """Return the contents of the manifest of a complete folder."""
    checksums = recorded_checksums(archives)
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "licence": dataset.licence,
        "texts": [
            {
                "name": text.name,
                "pairs": downloaded.texts[text.name],
                "files": {name: (downloaded.folder / name).stat().st_size for name in dataset.files(text)},
            }
            for text in dataset.texts
        ],
        "invalid_lines_left_out": downloaded.left_out,
        "archives": [{"url": archive.url, "sha256": checksums[archive.name]} for archive in dataset.archives],
    }


def _complete(dataset: Dataset, folder: Path) -> Downloaded | None:
    """Return the result of an earlier download from the manifest, or None if the folder is not complete.

    The folder is complete if all files have the sizes that the manifest states. Raises RnnsearchError if the manifest is
    that of another data set.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["dataset"] != dataset.name:
            raise RnnsearchError(f"{folder}: holds {manifest['dataset']} already; name another folder for {dataset.name}")
        texts = {text["name"]: text["pairs"] for text in manifest["texts"]}
        files = {folder / name: size for text in manifest["texts"] for name, size in text["files"].items()}
        left_out = dict(manifest.get("invalid_lines_left_out", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    whole = all(path.is_file() and path.stat().st_size == size for path, size in files.items())
    if not whole or list(texts) != [text.name for text in dataset.texts]:
        return None
    return Downloaded(folder, texts, False, left_out)
