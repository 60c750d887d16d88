"""Sentence pairs, and their sides: from pairs of files, or from files of any of `rnnsearch.formats`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from rnnsearch.data.inputs import read_only_once
from rnnsearch.data.lines import lines_of
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.formats.languages import Languages, language_in_name
from rnnsearch.formats.no_text import check_text
from rnnsearch.formats.opening import SAMPLE, File, opened
from rnnsearch.formats.pairs import languages_of, pairs_of, pairs_of_messages
from rnnsearch.formats.recognition import document_name_of, format_of, message_format_of
from rnnsearch.formats.units import Format, Head, ending

_BY_ENDING = {
    ".tmx": "TMX", ".tbx": "TBX", ".po": "PO", ".parquet": "Parquet",
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff"), "XLIFF"),
}  # fmt: skip
"""The formats of files with these names, which are recognised by their content."""


def read_pairs(
    sources: Sequence[Path], targets: Sequence[Path], languages: Languages = (None, None), tags: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of one or more pairs of files.

    A file that is both source and target has both sides: it is in one of the formats of `rnnsearch.formats`, or a table, see
    `read_table`. Two files of messages, such as JSON or subtitles, have the same keys. Of other files, line n of the source
    belongs to line n of the target. `languages` are those to take from files with several; `tags` says whether their inline
    tags are kept, as `<g1>`, `</g1>` and `<x2/>`. An RnnsearchWarning for each file tells what is omitted.

    Raises RnnsearchError if the numbers of files, or of lines of a pair of files, differ, and for files that are damaged.
    """
    if len(sources) != len(targets):
        raise RnnsearchError(
            f"{len(sources)} source but {len(targets)} target files; name them in the same order, one target for each source"
        )
    for source, target in zip(sources, targets, strict=True):
        if source == target:
            with opened(source) as file:
                format_ = _format_of_both(_head(file, source))
                yield from pairs_of(format_, file, source, languages, tags) if format_ else _table(file, source)
        else:
            yield from _pairs_of_two(source, target, tags)


def _pairs_of_two(source: Path, target: Path, tags: bool) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two files: of messages with the same keys, or of lines."""
    with ExitStack() as stack:
        files = [stack.enter_context(opened(path)) for path in (source, target)]
        heads = [_head(file, path) for file, path in zip(files, (source, target), strict=True)]
        for head in heads:
            if both := format_of(head, records=False):
                raise RnnsearchError(
                    f"{head.path}: {both.name} has both sides of pairs; name it alone, as FILE or with --tsv"
                )
        formats = [message_format_of(head) for head in heads]
        if formats[0] is not None and formats[0] is formats[1]:
            yield from pairs_of_messages(formats[0], (files[0], files[1]), (source, target), tags)
            return
        for path, one, other in ((source, *formats), (target, *reversed(formats))):
            if one is not None:
                kind = "another kind" if other is None else other.name
                raise RnnsearchError(f"{path}: {one.name}, but the other side is of {kind}; give two files of one kind")
        source_lines = target_lines = 0
        for source_line, target_line in zip_longest(lines_of(files[0], source), lines_of(files[1], target)):
            source_lines += source_line is not None
            target_lines += target_line is not None
            if source_lines == target_lines:
                yield source_line, target_line
        if source_lines != target_lines:
            raise RnnsearchError(
                f"{source} has {source_lines} lines but {target} has {target_lines}; "
                "line n of one must be the translation of line n of the other"
            )


def languages_of_text(source: Path, target: Path, languages: Languages = (None, None)) -> Languages:
    """Return the language codes that a file with both sides or the names of two files state; None if they state none."""
    if source != target:
        return _language_of(source), _language_of(target)
    if read_only_once(source):
        return None, None
    with opened(source) as file:
        head = _head(file, source)
    if not head.start:
        raise RnnsearchError(f"{source}: it is empty; there is nothing to read")
    format_ = _format_of_both(head)
    return (None, None) if format_ is None else languages_of(format_, source, languages)


def _language_of(path: Path) -> str | None:
    from rnnsearch.text.tokenize import language_of

    if read_only_once(path):
        return language_of(path)
    with opened(path) as file:
        messages = message_format_of(_head(file, path))
    return language_of(path) if messages is None else language_in_name(path)


def _format_of_both(head: Head) -> Format | None:
    """Return the format of a file that is to have both sides; None for a table. Raises RnnsearchError if it has one side."""
    format_ = format_of(head)
    if format_ is None and (one := message_format_of(head)):
        raise RnnsearchError(
            f"{head.path}: {one.name} of one language; give the file of the other language too, e.g. "
            f"--source {head.path} --target OTHER{head.path.suffix}"
        )
    if format_ is None and head.start:
        check_text(head.start, head.path)
        if name := _BY_ENDING.get(ending(head)):
            raise RnnsearchError(f"{head.path}: its name says {name}, but it begins otherwise; is it the right file?")
    return format_


def one_language(path: Path) -> str | None:
    """Return the name of the format of a file, if it is one of those with one language in a file."""
    with opened(path) as file:
        head = _head(file, path)
    format_ = None if format_of(head) else message_format_of(head)
    return None if format_ is None else format_.name


def kind_of(path: Path) -> str:
    """Return what a file with both sides is called in messages."""
    format_ = _format_of(path)
    return "a table" if format_ is None else format_.name


def _format_of(path: Path) -> Format | None:
    """Return the format of a file with both sides; None for a table, and for a pipe, which could not be read again."""
    if read_only_once(path):
        return None
    with opened(path) as file:
        return format_of(_head(file, path))


def has_units(source: Path, target: Path) -> bool:
    """Return whether these files are in one of the formats of `rnnsearch.formats`, and not plain lines or a table."""
    if source == target:
        return _format_of(source) is not None
    if read_only_once(source):
        return False
    with opened(source) as file:
        return message_format_of(_head(file, source)) is not None


def read_sources(path: Path, languages: Languages = (None, None), tags: bool = False) -> Iterator[str]:
    """Yield the lines of a text, or the source sides of a file that also has the targets, such as TMX."""
    return read_side(path, 0, languages, tags)


def read_side(path: Path, side: int, languages: Languages = (None, None), tags: bool = False) -> Iterator[str]:
    """Yield the lines of a text, or the sources (`side` 0) or targets (1) of a file that has both, such as TMX."""
    path = Path(path)
    with opened(path) as file:
        head = _head(file, path)
        format_ = format_of(head, records=False)
        if format_ is None:
            if document := document_name_of(head):
                message = f"{path}: its lines are read as plain text; --format {document} translates it as a document"
                warnings.warn(RnnsearchWarning(message), stacklevel=2)
            yield from lines_of(file, path)
        else:
            yield from (pair[side] for pair in pairs_of(format_, file, path, languages, tags))


def _head(file: File, path: Path) -> Head:
    return Head(path, file.peek(SAMPLE)[:SAMPLE])


def read_table(path: Path | str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a table, which has a pair on each line: source, tab, target. Blank lines are skipped.

    Further columns contain features of the source, such as `V;PST`; they are appended to the source after a tab. Raises
    RnnsearchError, with file and line, if there is no second column.
    """
    path = Path(path)
    with opened(path) as file:
        yield from _table(file, path)


def _table(file: File, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines_of(file, path), 1):
        if not line.strip():
            continue
        source, *columns = line.split("\t")
        if not columns:
            raise RnnsearchError(
                f"{path}:{number}: no tab; each line of a table has a source, a tab and a target (a text is given by two "
                "files)"
            )
        target, *features = columns
        yield "\t".join([source, *features]), target
