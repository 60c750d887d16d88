"""The everyday pairs of the bundled translators' training text are whole, and none of them is read for two."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from box.text import EVERYDAY, everyday

FILES = sorted(EVERYDAY.glob("*.tsv"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_has_two_sides(path: Path) -> None:
    head, *rows = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert head == "en\tfr"
    for row in rows:
        english, french = row.split("\t")
        assert english == " ".join(english.split())
        assert french == " ".join(french.split())
        assert english
        assert french


def test_every_pair_is_there_once() -> None:
    pairs = everyday()
    assert len(pairs) == len(set(pairs))


def test_placeholders_are_on_both_sides() -> None:
    for english, french in everyday():
        placeholder = re.compile(r"%[a-z]|\{\w+\}|https?://\S+|\S+@\S+\.\w+")
        assert sorted(placeholder.findall(english)) == sorted(placeholder.findall(french)), (english, french)
