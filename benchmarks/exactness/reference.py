"""Do ONNX Runtime and the model's own code in PyTorch, both in float32, translate alike?

Both installed translators translate the first lines of newstest2012 and newstest2013. Of each line whose translations
differ, the record has both, and the difference of their scores: below 1e-5 it is a tie, which rounding decides.
"""

from __future__ import annotations

import gzip
from itertools import chain, islice
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_result
from rnnsearch import Translator, load
from rnnsearch.search.backend import Backend
from rnnsearch.search.plain import PlainBackend

TIE = 1e-5
DIRECTIONS = ("en-fr", "fr-en")
AT_ONCE = 200


class Reference(Translator):
    """A translator whose search runs the model's own code."""

    def backend(self, search: object) -> Backend:
        """Return the reference backend, whatever the settings."""
        return PlainBackend(self.system.model)


def main() -> None:
    """Compare, record, print."""
    arguments = Parser(__doc__, "data", lines=sized(5000, 4), directions=DIRECTIONS).parse_args()
    found = {direction: compared(arguments.data, direction, arguments.lines) for direction in arguments.directions}
    write_result("exactness/reference", machine=machine(), tie=TIE, directions=found)
    for direction, of in found.items():
        print(f"{direction}: {of['differ']} of {of['lines']} lines differ, {of['ties']} of them by ties")


def compared(data: Path, direction: str, count: int) -> dict[str, Any]:
    """The lines whose translations differ in a direction."""
    ours = load(direction)
    reference = Reference(ours.systems, ours.folder)
    lines = _lines(data, direction[:2], count)
    differences = []
    for start in range(0, len(lines), AT_ONCE):
        part = lines[start : start + AT_ONCE]
        pairs = (translator.translate(part, precision="fp32") for translator in (ours, reference))
        for line, one, other in zip(part, *pairs, strict=True):
            if one.text != other.text:
                differences.append(
                    {"source": line, "onnx": one.text, "pytorch": other.text, "score_difference": one.score - other.score}
                )
    ties = sum(abs(one["score_difference"]) < TIE for one in differences)
    return {"lines": len(lines), "differ": len(differences), "ties": ties, "differences": differences}


def _lines(data: Path, language: str, count: int) -> list[str]:
    files = [data / "wmt" / f"newstest{year}.{language}.gz" for year in (2012, 2013)]
    texts = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    return list(islice(chain.from_iterable(texts), count))
