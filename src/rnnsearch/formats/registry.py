"""All formats, and which of them a file has."""

from __future__ import annotations

from rnnsearch.formats.delimited import Delimited
from rnnsearch.formats.messages import Android, AppleStrings, Fluent, JsonMessages, ResX, Subtitles
from rnnsearch.formats.po import Po
from rnnsearch.formats.qt import QtLinguist
from rnnsearch.formats.records import JsonLines, JsonList, Parquet
from rnnsearch.formats.tbx import Tbx
from rnnsearch.formats.tmx import Tmx
from rnnsearch.formats.units import Format, Head, MessageFormat
from rnnsearch.formats.xliff import Xliff

UNMISTAKABLE: tuple[Format, ...] = (Tmx(), Xliff(), QtLinguist(), Tbx(), Po(), Parquet())
"""Formats with both sides of pairs in a file, whose beginning no plain text has."""
RECORDS: tuple[Format, ...] = (JsonList(), JsonLines(), Delimited())
"""Formats with both sides of pairs in a file, whose beginning may be that of a plain text."""
MESSAGES: tuple[MessageFormat, ...] = (Subtitles(), Android(), ResX(), JsonMessages(), AppleStrings(), Fluent())
"""Formats with one language in a file."""


def format_of(head: Head, records: bool = True) -> Format | None:
    """The format of a file with both sides of pairs that begins so; None if it has none of these.

    Without `records`, only those are considered that no plain text can be mistaken for.
    """
    return next((one for one in (*UNMISTAKABLE, *(RECORDS if records else ())) if one.recognises(head)), None)


def message_format_of(head: Head) -> MessageFormat | None:
    """The format of a file with one language that begins so; None if it has none of these."""
    return next((one for one in MESSAGES if one.recognises(head)), None)
