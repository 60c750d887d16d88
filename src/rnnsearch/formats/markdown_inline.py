"""The inline elements of Markdown: code, links, images, emphasis, formulas."""

from __future__ import annotations

import html
import re
from collections.abc import Collection

from rnnsearch.formats.parts import Codes

_MOST_NESTED = 10
_BRACKETS = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+"
_ADDRESS = r"\((?:[^()\\]|\\.|\([^()]*\))*+\)"
# At most 500 characters may stand between two marks, so that the time of matching is linear in the length of the text.
_INLINE = re.compile(
    rf"""
    (?P<escape>\\[!-/:-@\[-`{{-~])
    | (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>.{{1,500}}?)(?<!`)(?P=ticks)(?!`))
    | (?P<math>\$\$[^$]{{1,500}}\$\$|(?<![\w$])\$(?=[^\s$])[^$]{{1,500}}(?<=\S)\$(?![\w$]))
    | (?P<template>\{{%.{{0,500}}?%\}}|\{{\{{.{{0,500}}?\}}\}})
    | (?P<emoji>(?<![\w:]):[a-z][a-z0-9_+-]{{1,40}}:(?![\w:]))
    | (?P<footnote>\[\^[^\]\s]+\])
    | (?P<link>(?P<open>!?\[)(?P<label>{_BRACKETS})\](?P<target>{_ADDRESS}|\[[^\[\]]*\])?)
    | (?P<address><(?:[a-z][a-z0-9+.-]{{1,31}}:[^\s<>]*|[^\s<>@]{{1,200}}@[^\s<>]*)>)
    | (?P<tag><[^<>]*>)
    | (?P<bare>\b(?:https?|ftp)://[^\s<>()]+(?<![.,;:!?'"*_]))
    | (?P<reference>&(?:\#\d{{1,7}}|\#[xX][0-9a-fA-F]{{1,6}}|[A-Za-z]\w{{1,30}});)
    | (?P<mark>\*\*\*|\*\*|\*|~~|(?<!\w)(?:___|__|_))(?=[^\s*_~])
      (?P<marked>.{{1,500}}?)(?<=\S)(?<!\\)(?P=mark)(?!(?<=_)\w)(?![*~])
    """,
    re.VERBOSE | re.DOTALL,
)


def coded(text: str, codes: Codes, defined: Collection[str], nested: int = 0) -> str:
    """Replace the markup of a text by elements of `codes`: marks and links surround their words, and code is kept."""
    return _INLINE.sub(lambda match: _coded(match, codes, defined, nested), text) if nested < _MOST_NESTED else text


def _coded(match: re.Match[str], codes: Codes, defined: Collection[str], nested: int) -> str:
    raw = match[0]
    if match["tag"] is not None:
        return raw
    if match["link"] is not None:
        return _link(match, codes, defined, nested)
    if mark := match["mark"]:
        return codes.around(mark, coded(match["marked"], codes, defined, nested + 1), mark)
    if match["footnote"] or match["template"] or match["address"] or match["emoji"]:
        return codes.alone(raw)
    if match["escape"] or match["reference"]:
        return codes.kept(raw, raw[1:] if match["escape"] else html.unescape(raw))
    return codes.kept(raw, match["inside"] or raw)


def _link(match: re.Match[str], codes: Codes, defined: Collection[str], nested: int) -> str:
    label, target = match["label"], match["target"]
    if target in (None, "[]"):  # the label is the name by which the link is defined
        if label.casefold() in defined:
            return codes.kept(match[0], label)
        if target is None:
            return match["open"] + coded(label, codes, defined, nested + 1) + "]"
    if not label:
        return codes.alone(match[0])
    return codes.around(match["open"], coded(label, codes, defined, nested + 1), f"]{target}")
