"""Generate the file that ships with the package; from the root of the repository:

PYTHONPATH=tools python -m builtin_corpus --output src/rnnsearch/datasets/builtin.npz.xz
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rnnsearch.atomic import atomic_write
from rnnsearch.datasets.builtin import PAIRS

from . import generate
from .pack import pack


def main() -> None:
    """Generate, pack, write."""
    parser = argparse.ArgumentParser(
        "builtin_corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the file to write")
    arguments = parser.parse_args()
    packed = pack(generate(PAIRS))
    with atomic_write(arguments.output) as temporary:
        temporary.write_bytes(packed)
    print(f"{arguments.output}: {PAIRS:,} sentence pairs, {len(packed):,} bytes")


if __name__ == "__main__":
    main()
