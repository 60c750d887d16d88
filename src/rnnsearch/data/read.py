"""Readers of text: lines, and sentence pairs from pairs of files or from files of any of `rnnsearch.formats`."""

from __future__ import annotations

import errno
import os
import stat
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.formats.languages import Languages, language_in_name
from rnnsearch.formats.no_text import check_text
from rnnsearch.formats.opening import COMMANDS, DAMAGED, SAMPLE, File, damaged, open_file, opened, unreadable
from rnnsearch.formats.pairs import languages_of, pairs_of, pairs_of_messages
from rnnsearch.formats.registry import document_name_of, format_of, message_format_of
from rnnsearch.formats.units import Format, Head, ending

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BY_ENDING = {
    ".tmx": "TMX", ".tbx": "TBX", ".po": "PO", ".parquet": "Parquet",
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff"), "XLIFF"),
}  # fmt: skip
"""The formats of files with these names, which are recognised by their content."""
_CHUNK = 1 << 20
"""The number of bytes of a file that are read at once; of a pipe, fewer may have arrived."""
LONGEST_LINE = 1 << 24
"""The largest number of bytes of a line. It limits the memory for files without line ends, which are not text."""


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input for `-`, without their ends.

    A line ends only at a line feed (U+2028 and similar characters are text), so that all tools agree which line is line n; a
    carriage return before the line feed is dropped. In a file without any line feed, lines end at carriage returns. Files
    that are compressed (gzip, xz, bzip2, Zstandard) are decompressed. Raises RnnsearchError, with file and line, for a file
    that cannot be read, is damaged or is not UTF-8.
    """
    for line in _lines(path):
        yield line.removesuffix("\n").removesuffix("\r")


def read_arriving_lines(path: Path | str) -> Iterator[list[str]]:
    """Yield lists of lines, each with all lines of a file or a pipe that have arrived by then.

    Lines are decoded and checked as in `read_lines`, except that only a line feed ends a line.
    """
    path = Path(path)
    with opened(path) as file:
        check_text(file.peek(SAMPLE)[:SAMPLE], path)
        number, rest = 0, b""
        while chunk := file.read1(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
            if lines:
                yield [_arrived(line, path, number + k) for k, line in enumerate(lines, start=1)]
                number += len(lines)
            _check_length(rest, path, number + 1)
        if rest:
            yield [_arrived(rest, path, number + 1)]


def _arrived(raw: bytes, path: Path, number: int) -> str:
    _check_length(raw, path, number)
    return _decode(raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw, path, number).removesuffix("\r")


def read_text(path: Path | str) -> str:
    """Return the whole text of a file that `read_lines` can read, including its line ends."""
    return "".join(_lines(path))


def _lines(path: Path | str) -> Iterator[str]:
    """Yield the decoded lines of a file with their ends, as `read_lines` describes."""
    path = Path(path)
    try:
        with open_file(path) as file:
            yield from _lines_of(file, path)
    except DAMAGED as error:
        raise damaged(f"{path}:1", error) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _lines_of(file: File, path: Path) -> Iterator[str]:
    """Yield the decoded lines of an open file with their ends."""
    number = 0
    try:
        check_text(file.peek(SAMPLE)[:SAMPLE], path)
        for number, raw in enumerate(_raw_lines(file), 1):
            _check_length(raw, path, number)
            if b"\n" in raw[:-1]:
                raise RnnsearchError(f"{path}:{number}: lines end at carriage returns up to here; make all ends alike")
            if number == 1:
                raw = raw.removeprefix(_BYTE_ORDER_MARK)
            yield _decode(raw, path, number)
    except DAMAGED as error:
        raise damaged(f"{path}:{number + 1}", error) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _check_length(raw: bytes, path: Path, number: int) -> None:
    if len(raw) > LONGEST_LINE:
        raise RnnsearchError(f"{path}:{number}: the line has more than {LONGEST_LINE:,} bytes; is this a text?")


def _raw_lines(file: File) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; a line that is too long is cut after `LONGEST_LINE` + 1 bytes."""
    raw = file.readline(LONGEST_LINE + 1)
    if b"\r" in raw and not raw.endswith(b"\n"):
        # There is no line feed in the whole file, or in so many bytes that its lines must end at carriage returns.
        rest = raw
        while raw:
            *lines, rest = rest.split(b"\r")
            yield from (line + b"\r" for line in lines)
            raw = file.read(LONGEST_LINE) if len(rest) <= LONGEST_LINE else b""
            rest += raw
        if rest:
            yield rest
        return
    while raw:
        yield raw
        raw = file.readline(LONGEST_LINE + 1)


def check_readable(*paths: Path | str) -> None:
    """Raise RnnsearchError for the first of these files that is missing, is a folder, or is not readable for this user.

    Commands that do something slow before they read call this first. No file is opened, so that pipes keep their data.
    """
    for path in map(Path, paths):
        if str(path) == "-":
            if sys.stdin is None:
                raise RnnsearchError("-: standard input is closed; name a file")
            continue
        try:
            if stat.S_ISDIR(path.stat().st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not os.access(path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise unreadable(path, error) from None


def read_only_once(path: Path | str) -> bool:
    """Whether a path can be read only once, like a pipe; `-` always counts as such, even if it is a regular file."""
    if str(path) == "-":
        return True
    try:
        status = Path(path).stat()
    except OSError:  # the function that reads it will report the error
        return False
    return not stat.S_ISREG(status.st_mode) and not os.path.samestat(status, Path(os.devnull).stat())


def check_repeatable(*paths: Path | str) -> None:
    """Raise RnnsearchError for the first of these paths that can be read only once, for callers that read them twice."""
    for path in paths:
        if read_only_once(path):
            raise RnnsearchError(f"{path}: can be read only once, and is needed again; write it into a file, and name it")


def check_distinct(*paths: Path | str) -> None:
    """Raise RnnsearchError if two of these paths are the same pipe, for the second reader would get nothing."""
    seen: set[tuple[int, int]] = set()
    for path in filter(read_only_once, paths):
        try:
            status = os.fstat(0) if str(path) == "-" else Path(path).stat()
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in seen:
            raise RnnsearchError(f"{path}: can be read only once, and is given twice; write it into a file, and name it")
        seen.add((status.st_dev, status.st_ino))


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
        for source_line, target_line in zip_longest(_ended(files[0], source), _ended(files[1], target)):
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
            yield from _ended(file, path)
        else:
            yield from (pair[side] for pair in pairs_of(format_, file, path, languages, tags))


def _head(file: File, path: Path) -> Head:
    return Head(path, file.peek(SAMPLE)[:SAMPLE])


def _ended(file: File, path: Path) -> Iterator[str]:
    """Yield the lines of an open file without their ends."""
    for line in _lines_of(file, path):
        yield line.removesuffix("\n").removesuffix("\r")


def read_table(path: Path | str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a table, which has a pair on each line: source, tab, target. Blank lines are skipped.

    Further columns contain features of the source, such as `V;PST`; they are appended to the source after a tab. Raises
    RnnsearchError, with file and line, if there is no second column.
    """
    path = Path(path)
    with opened(path) as file:
        yield from _table(file, path)


def _table(file: File, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_ended(file, path), 1):
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


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8")) + 1
        # Latin-1 has no letters from 0x80 to 0x9f, where Windows has quotation marks and dashes.
        charset = "latin1" if all(not 0x80 <= byte < 0xA0 for byte in raw) else "windows-1252"
        raise RnnsearchError(
            f"{path}:{number}: not valid UTF-8 (byte 0x{raw[error.start]:02x} at column {column}); "
            f"convert it, e.g. {COMMANDS.get(path.suffix, 'cat')} {path.name} | iconv -f {charset} -t utf-8"
        ) from None
