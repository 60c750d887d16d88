"""The recognition of formats: what passes for plain text at first sight, no format recognises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.formats.recognition import ENDINGS, document_format_of, format_of, is_plain, message_format_of
from rnnsearch.formats.registry import DOCUMENTS, MESSAGES, UNMISTAKABLE
from rnnsearch.formats.units import Head

BEGINNINGS = (
    b"PAR1", b"PK\x03\x04", b"word/document", b'msgid "', b"\nmsgid", b'msgctxt "', b"# a comment\n", b"WEBVTT\n", b"1\n",
    b"00:00:01,000 --> 00:00:02,000\n",
    b"<tmx>", b"<xliff>", b"<TS>", b"<martif>", b"<resources>", b"<root>", b"<data name=",
    b"<!DOCTYPE html>", b"<!-- -->", b'<?xml version="1.0" encoding="utf-16"?>', b'{"a":', b"[{", b"\xff\xfe", b"\xfe\xff",
    b"\xef\xbb\xbf", b"<\0t\0m\0x\0>\0", b"\0<\0t\0m\0x\0>", b" ", b"\n", "\u2028".encode(), b"Paris", b"many words",
)  # fmt: skip
NAMES = ("text", "a.en", ".po", "A.PO", "b.po.gz", "a.gz", *(f"c{ending}" for ending in ENDINGS))


@settings(max_examples=500)
@given(
    name=st.sampled_from(NAMES), parts=st.lists(st.one_of(st.sampled_from(BEGINNINGS), st.binary(max_size=3)), max_size=4)
)
def test_no_format_recognises_what_is_plain_at_first_sight(name: str, parts: list[bytes]) -> None:
    head = Head(Path(name), b"".join(parts))
    recognised = [one for one in (*UNMISTAKABLE, *MESSAGES, *DOCUMENTS.values()) if one.recognises(head)]
    assert not (recognised and is_plain(head))
    documents = [one for one in DOCUMENTS.values() if one in recognised]
    assert document_format_of(head) is (documents[0] if documents else None)
    assert message_format_of(head) in (*recognised, None)
    assert format_of(head, records=False) in (*recognised, None)


def test_a_plain_text_imports_no_format(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The house is small.\n")
    code = "import sys; from rnnsearch.data.read import read_sources; print(*read_sources(sys.argv[1]), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "text"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The house is small. ")
    assert "rnnsearch.formats.units" in done.stdout
    assert "rnnsearch.formats.registry" not in done.stdout
