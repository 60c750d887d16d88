"""Renders `docs/reference/faults.md`: what the campaign of faults and hostile input has tried, and what failed.

    python tests/campaign --output benchmarks/results/campaign.json
    python benchmarks/faults_page.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quality import read, table

from rnnsearch.atomic import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "faults.md"
HEAD = """# Faults and hostile input

<!-- Written by benchmarks/faults_page.py from benchmarks/results/campaign.json. Do not edit it; run the script. -->

`python tests/campaign` attacks the command line with small texts and models, at random, but always in the same way for the
same seed. An attempt fails if a command prints a traceback, hangs, ends otherwise than with success or with one clear line,
or leaves a part of a file under its final name; and, by the kind of attack, if
"""
FOUND = """\
The table is of the program as it is now. In this campaign, four attempts failed at first. Each fault has a test since then,
and the attempts were made again:

- two of a thousand loads mixed the header of one model with the weights of the next, and said that the file was damaged;
- two processes of a training, whose launcher was killed before they had met, waited for a quarter of an hour and more;
- `prepare --output ''` ended in a traceback.
"""
KILLS = """\
Of a training on two processes, their launcher or either of them is killed. If it is one of the two, the run goes on with the
other, and has *lost a process*.
"""
REASONS = {
    "kills": "the same command, run once more after `kill -9`, does not end with the bits of an undisturbed one;",
    "damage": "a damaged file is neither refused nor read as it was written;",
    "disk": "a write that failed goes unnoticed, or the next run without faults is not as good as an undisturbed one;",
    "lies": "the same, on a file system that fails or lies;",
    "stream": "memory grows by more than some megabytes;",
    "readers": "a model cannot be loaded at some moment of the training;",
    "writers": "neither training is refused, or the other one does not end with the bits of an undisturbed one;",
    "requests": "the server fails, or refuses a request by anything but a status with one line;",
    "fuzz": "a command takes more than 40 seconds of processor time, or 8 GB of memory.",
}
"""What makes an attempt of each part fail, beyond what is said of all."""


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    return "\n".join([HEAD, *attempts(read("campaign"))])


def attempts(parts: Mapping[str, Any]) -> Iterable[str]:
    """The table of attempts and failures, and what was counted on the way."""
    yield "".join(f"- *{name}*: {reason}\n" for name, reason in REASONS.items() if name in parts)
    rows = [(f"*{name}*: {row['what']}", f"{row['attempts']:,}", f"{row['failed']:,}") for name, row in parts.items()]
    whole = (f"{sum(row[of] for row in parts.values()):,}" for of in ("attempts", "failed"))
    yield table(("attack", "attempts", "failures"), [*rows, ("all", *whole)])
    yield FOUND
    if "stream" in parts:
        yield f"Of the stream: {', '.join(f'{megabytes} {at}' for at, megabytes in parts['stream']['notes'].items())}.\n"
    if "kills" in parts:
        yield "## Moments of `kill -9`\n"
        yield KILLS
        yield table(("command, and how the kill found it", "attempts"), parts["kills"]["notes"].items())
    if any(row["failures"] for row in parts.values()):
        yield "## Failures\n"
        yield "".join(f"- {failure}\n" for row in parts.values() for failure in row["failures"])


if __name__ == "__main__":
    main()
