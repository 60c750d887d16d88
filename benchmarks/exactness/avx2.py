"""Is int8 search the same on a processor with AVX2 alone? QEMU plays such a processor (Haswell), slowly.

The installed translator translates some sentences, together and each by itself, on this processor and on the emulated one.
On either, each sentence has to have the same bits alone and among the others: text, score and attention. Between the two,
the texts have to be the same and the scores to differ by 1e-4 at most. Needs the program `qemu-x86_64` (Debian's
`qemu-user`); without it, nothing is compared, and the exit status is 77.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

from benchmarks.lib.command import Parser, environment
from benchmarks.lib.record import machine, sized, write_result

CPU = "Haswell"
SENTENCES = ["The old man reads.", "Where is the station?", "She gave the red book to her sister, who thanked her for it."]
TOLERANCE = 1e-4
SKIPPED = 77
CODE = """
import hashlib, json, sys
from rnnsearch import load
from rnnsearch.graphs.engine import signed_products_are_exact
lines, translator = json.loads(sys.argv[1]), load("en-fr")
def of(found):
    return [[one.text, one.score.hex(), hashlib.sha256(one.alignment.tobytes()).hexdigest()] for one in found]
together = of(translator.translate(lines, precision="int8"))
alone = [of(translator.translate([line], precision="int8"))[0] for line in lines]
print(json.dumps({"together": together, "alone": alone, "signed": signed_products_are_exact()}))
"""


def main() -> None:
    """Translate on both, compare, record, print."""
    parser = Parser(__doc__)
    parser.add_argument("--sentences", type=int, default=sized(len(SENTENCES), 1), choices=range(1, len(SENTENCES) + 1))
    lines = SENTENCES[: parser.parse_args().sentences]
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        print("SKIPPED: there is no qemu-x86_64 here; nothing was compared", file=sys.stderr)
        sys.exit(SKIPPED)
    here, there = _translated([], lines), _translated([emulator, "-cpu", CPU], lines)
    found: dict[str, Any] = {
        "same_bits_alone_and_together": {
            "here": here["alone"] == here["together"],
            CPU: there["alone"] == there["together"],
        },
        "signed_products": {"here": here["signed"], CPU: there["signed"]},
        "same_texts": [one[0] for one in here["alone"]] == [one[0] for one in there["alone"]],
        "largest_difference_of_scores": max(
            abs(float.fromhex(one[1]) - float.fromhex(other[1]))
            for one, other in zip(here["alone"], there["alone"], strict=True)
        ),
    }
    write_result("exactness/avx2", machine=machine(), emulated=CPU, sentences=lines, **found)
    print(json.dumps(found, indent=1))
    same = all(found["same_bits_alone_and_together"].values()) and found["same_texts"]
    sys.exit(not (same and found["largest_difference_of_scores"] <= TOLERANCE))


def _translated(emulator: list[str], lines: list[str]) -> dict[str, Any]:
    command = [*emulator, sys.executable, "-c", CODE, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(1))
    found: dict[str, Any] = json.loads(done.stdout)
    return found
