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

This page is for those who want to know what `rnnsearch` does when something goes wrong: a process that is killed, a full
disk, a damaged file, a request that makes no sense. `python tests/campaign` tries such things, thousands of times, with
small texts and models. They are drawn at random, but always in the same way for the same seed.
[Mended faults](mended-faults.md) lists single inputs, and what happens with them now.

An attempt fails if a command prints a traceback, hangs, ends otherwise than with success or with one clear line, or leaves a
part of a file under its final name; and, by the kind of attack, if
"""
FOUND = """\
The table is of the program as it is now. When the campaign was first run, it found faults. Each has been mended and has a
test since then, and the attempts were made again. Among them were

- loads that mixed the header of one model with the weights of the next, and said that the file was damaged;
- processes of a training, whose launcher was killed before they had met, that waited for a quarter of an hour and more;
- `prepare --output ''`, which ended in a traceback.
"""
KILLS = """\
Of a training on two processes, their launcher or either of them is killed. If it is one of the two, the run goes on with the
other, and has *lost a process*.
"""
REASONS = {
    "kills": "the same command, run once more after `kill -9`, does not end with the bits of an undisturbed one",
    "damage": "a damaged file is neither refused nor read as it was written",
    "disk": "a write that failed goes unnoticed, or the next run without faults is not as good as an undisturbed one",
    "lies": "the same, on a file system that fails or lies",
    "stream": "memory grows by more than some megabytes",
    "readers": "a model cannot be loaded at some moment of the training",
    "writers": "neither training is refused, or the other one does not end with the bits of an undisturbed one",
    "requests": "the server fails (status 500), refuses a request without one line that says why, leaves out the header for "
    "other sites, or does not answer a good request afterwards",
    "system": "a command that succeeds does not print and write what it does in ordinary surroundings, one that must be "
    "refused succeeds, an input is changed, or an output that is a link, or has another mode than new files have, does not "
    "stay so",
    "fuzz": "a command takes more than 40 seconds of processor time, or 8 GB of memory",
    "html": "a parser finds other elements, attributes or comments in the translation than in the document, or other words "
    "than those of the plain translation",
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
    yield ";\n".join(f"- *{name}*: {reason}" for name, reason in REASONS.items() if name in parts) + ".\n"
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
