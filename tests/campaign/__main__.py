"""Run the campaign, or parts of it: `python tests/campaign --seed 1`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[0] = str(Path(__file__).parents[1])
sys.path.insert(1, str(Path(__file__).parents[2] / "src"))

from campaign.damage import damage  # noqa: E402
from campaign.disk import full, library, lies  # noqa: E402
from campaign.fuzz import fuzz  # noqa: E402
from campaign.kills import kills  # noqa: E402
from campaign.markup import markup  # noqa: E402
from campaign.requests import requests  # noqa: E402
from campaign.sharing import readers, stream, writers  # noqa: E402
from campaign.system import system  # noqa: E402
from campaign.trial import Part  # noqa: E402

PARTS: dict[str, tuple[Callable[[int, Sequence[int]], Part], int, str]] = {
    "kills": (kills, 200, "kill -9 at random moments, and the same command again"),
    "damage": (damage, 500, "damaged models, checkpoints and prepared texts"),
    "disk": (full, 100_000, "a full disk, at every write and every new file of some commands"),
    "lies": (lies, 100_000, "file systems that fail or lie about names and locks"),
    "stream": (stream, 20_000, "lines through one `translate`, and its memory"),
    "readers": (readers, 1000, "loads of a model while a training saves it"),
    "writers": (writers, 10, "two trainings into one folder at once"),
    "requests": (requests, 2000, "odd requests to the server"),
    "system": (system, 1000, "commands with odd streams, limits, variables, pipes, links and names of outputs"),
    "fuzz": (fuzz, 2000, "commands with odd files, names, outputs and settings"),
    "html": (markup, 10_000, "HTML documents, most of them tag soup, and what a parser finds in their translations"),
}
"""The parts by name: the function, the default number of attempts, and a description."""


def main() -> None:
    """Run the parts that the command line names, and write their results."""
    described = "\n".join(f"  {name:10} {count:6,} {what}" for name, (_, count, what) in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python tests/campaign",
        description=f"Attack the command line. The parts, and how many attempts each makes:\n{described}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--count", type=int, help="the number of attempts")
    parser.add_argument("--only", type=int, metavar="N", help="only attempt N, which has failed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--output", type=Path, metavar="FILE.json", help="a table of attempts and failures; it keeps the rows of other parts"
    )
    arguments = parser.parse_args()
    with library():
        _run(arguments)


def _run(arguments: argparse.Namespace) -> None:
    rows: dict[str, dict[str, object]] = {}
    for name in arguments.part or PARTS:
        run, count, what = PARTS[name]
        began = time.monotonic()
        part = run(arguments.seed, range(arguments.count or count) if arguments.only is None else [arguments.only])
        seconds = round(time.monotonic() - began)
        rows[name] = {"what": what, "seed": arguments.seed, **asdict(part), "failed": len(part.failures), "seconds": seconds}
        if arguments.output:
            keep(arguments.output, name, rows[name])
        print(f"{name:10} {part.attempts:6,} attempts  {len(part.failures):4,} failures  {seconds:6,} s  {what}", flush=True)
    sys.exit(any(row["failed"] for row in rows.values()))


def keep(output: Path, name: str, row: dict[str, object]) -> None:
    """Write the row of a part into the table, and keep the rows of other parts, which earlier runs may have written."""
    known = json.loads(output.read_text(encoding="utf-8")) if output.exists() else {}
    parts = {part: known[part] for part in PARTS if part in known and part != name}
    parts[name] = row
    text = json.dumps({part: parts[part] for part in PARTS if part in parts}, indent=2, ensure_ascii=True)
    output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
