"""Aligns two files with fast_align (Dyer, Chahuneau and Smith 2013), in an environment with the package `systran-align`.

    PYTHON benchmarks/peers/fast_align/align.py SOURCE TARGET LINKS

The options are those that its authors recommend (`-d -o -v`), and the links are those of both directions together, as the
package returns them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import systran_align

if __name__ == "__main__":
    source, target, links = map(Path, sys.argv[1:])
    sides = [path.read_text(encoding="utf-8").splitlines() for path in (source, target)]
    with tempfile.TemporaryDirectory() as name:
        text, forward, backward = (str(Path(name) / part) for part in ("text", "forward", "backward"))
        Path(text).write_text("".join(f"{one} ||| {other}\n" for one, other in zip(*sides, strict=True)), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            text, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        aligner = systran_align.Aligner(forward, backward)
    with links.open("w", encoding="utf-8") as file:
        for one, other in zip(*sides, strict=True):
            found = aligner.align(one.split(), other.split())["alignments"]
            file.write(" ".join(f"{i}-{j}" for i, j in sorted(found)) + "\n")
