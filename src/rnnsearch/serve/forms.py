"""Form bodies, in the encodings that HTML, `curl` and the libraries of PHP and Java use."""

from __future__ import annotations

from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException

from rnnsearch.errors import shown

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
MOST_FIELDS = 1000
"""The most fields of a form."""
CHARSETS = {
    "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "ascii", "ascii": "ascii", "iso-8859-1": "cp1252", "latin1": "cp1252",
    "windows-1252": "cp1252", "iso-8859-15": "iso-8859-15",
}  # fmt: skip
"""The charsets of a body, and the codecs that decode them; `iso-8859-1` is decoded as browsers do."""


def options_of(content_type: str) -> tuple[str, dict[str, str]]:
    """Parse a `Content-Type` header: return the type of the body in lower case, and its parameters."""
    kind, options = parse_options_header(content_type)
    return kind.decode("latin-1"), {name.decode("latin-1"): value.decode("latin-1") for name, value in options.items()}


def codec_of(options: dict[str, str]) -> str:
    """Return the codec of a body whose type has these parameters. HTTPException for a charset that is not supported."""
    charset = options.get("charset", "utf-8")
    if charset.lower() not in CHARSETS:
        raise HTTPException(415, f"charset {shown(charset)}: give the text in UTF-8")
    return CHARSETS[charset.lower()]


def fields_of(kind: str, options: dict[str, str], body: bytes, file: str = "") -> list[tuple[str, str | bytes]]:
    """Return the names and values of a form, in order.

    The part `file` of a multipart form may be a file: its value is bytes then, and its name the field `filename`.
    ValueError of one line if the form is broken or has too many fields.
    """
    codec = codec_of(options)
    if kind == MULTIPART:
        return _Parts(options.get("boundary", ""), codec, file).read(body)
    text = body.decode(codec)
    return [*parse_qsl(text, keep_blank_values=True, encoding=codec, errors="strict", max_num_fields=MOST_FIELDS)]


class _Parts:
    """A parser of multipart forms, whose parts are fields; all files but the part `file` are refused."""

    def __init__(self, boundary: str, codec: str, file: str) -> None:
        if not boundary:
            raise ValueError("the multipart form has no boundary; give one in Content-Type")
        self._boundary, self._codec, self._file = boundary.encode("latin-1"), codec, file
        self._fields: list[tuple[str, str | bytes]] = []
        self._header, self._value, self._data = bytearray(), bytearray(), bytearray()
        self._disposition = b""
        self._ended = False

    def read(self, body: bytes) -> list[tuple[str, str | bytes]]:
        """Return the fields of a body."""
        try:
            parser = MultipartParser(
                self._boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": lambda data, start, stop: self._header.extend(data[start:stop]),
                    "on_header_value": lambda data, start, stop: self._value.extend(data[start:stop]),
                    "on_header_end": self._header_end,
                    "on_part_data": lambda data, start, stop: self._data.extend(data[start:stop]),
                    "on_part_end": self._end,
                    "on_end": self._form_end,
                },
            )
            parser.write(body)
            parser.finalize()
        except FormParserError:
            raise ValueError("the multipart form is broken") from None
        if body and not self._ended:
            raise ValueError("the multipart form has no end")
        return self._fields

    def _begin(self) -> None:
        if len(self._fields) == MOST_FIELDS:
            raise ValueError(f"the form has more than {MOST_FIELDS:,} fields")
        self._disposition = b""
        self._data.clear()

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _end(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise ValueError("a part of the multipart form has no name")
        name = options[b"name"].decode(self._codec)
        if b"filename" in options and name == self._file:
            filename = options[b"filename"].decode(self._codec)
            self._fields += [("filename", filename), (name, bytes(self._data))]
            return
        if b"filename" in options:
            raise ValueError(f"{shown(name)}: it is a file; give its text as a field without a file name")
        self._fields.append((name, self._data.decode(self._codec)))

    def _form_end(self) -> None:
        self._ended = True
