"""Shorthand that is read as words."""

import pytest

from rnnsearch.text.shorthand import spelled_out


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("en", "tea w/o sugar, w/ milk", "tea without sugar, with milk"),
        ("en", "meet me @ 5pm, write to @anna or a@b.org", "meet me at 5pm, write to @anna or a@b.org"),
        ("en", "No. 10, see No.5. No. It is late.", "Number 10, see number 5. No. It is late."),
        ("en", "and/or, c/o, 5 W/m", "and/or, c/o, 5 W/m"),
        ("fr", "RDV @ 17h", "RDV à 17h"),
        ("de", "um @ 5", "um @ 5"),
    ],
)
def test_shorthand(language: str, line: str, expected: str) -> None:
    assert spelled_out(line, language) == expected
