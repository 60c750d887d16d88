"""The page of little text shows what the record has, however little that is."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.lib.record import read
from benchmarks.pages import figures, render


def row(system: str, pairs: int | None = None, seed: int | None = None, bleu: float = 20.0, **more: Any) -> dict[str, Any]:
    cell = {"text": "multi30k", "direction": "en-fr", "system": system, "pairs": pairs, "seed": seed}
    return {**cell, "bleu": bleu, "interval": [bleu - 1, bleu + 1], "chrf": 40.0, "processor_seconds": None, **more}


ROWS = [
    row("installed", bleu=27.0),
    row("nearest", 2000, bleu=7.0),
    row("memory", 2000, 1, 20.0, processor_seconds=600.0),
    row("memory", 2000, 2, 22.0, processor_seconds=1200.0),
    row("memory", 5000, 1, 30.0),
]


def test_cells_are_means_of_their_seeds() -> None:
    sizes, table = figures.small_data(ROWS, "multi30k", "en-fr")
    assert sizes == [2000, 5000]
    names = figures.SMALL_SYSTEMS
    assert table == {
        names["memory"]: ["21.0 (20.0–22.0), 15 min, 2 seeds", "30.0 (29.0–31.0)"],
        names["installed"]: ["27.0 (26.0–28.0)"] * 2,
        names["nearest"]: ["7.0 (6.0–8.0)", "–"],
    }
    assert figures.small_data(ROWS, "europarl", "en-fr") == ([], {})


@pytest.mark.parametrize("rows", [None, [], ROWS[:1], ROWS])
def test_the_page_is_rendered_with_part_of_the_record(
    rows: list[dict[str, Any]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part(name: str) -> dict[str, Any]:
        return ({} if rows is None else {"rows": rows}) if name == "quality/small_data" else read(name)

    monkeypatch.setattr(render, "read", part)
    page = render.render("small-data")
    assert ("## Captions" in page) == (rows is ROWS)
    assert ("| system | 2,000 pairs | 5,000 pairs |\n| --- | ---: | ---: |\n" in page) == (rows is ROWS)
