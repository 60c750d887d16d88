"""What does a corpus of 850 million words need to be prepared and selected from? Slopes over corpora of millions of pairs.

The corpus is Europarl, repeated with a number before every sentence of a repetition, so that no pair is the same as another.
`prepare` makes shortlists of 30,000 words; `select` keeps two fifths of the words, those most like a text of news, as the
paper's 348 of 850 million. Both run with two jobs, and the smallest corpus with one job too, which tells what share of the
work is divided. Measured are the time, the memory of all processes together (the largest sum of proportional set sizes, seen
twice a second) and the size of what is written.

The times for all the words are extrapolated along the line through the measurements (least squares); the uncertainty is the
range that the slopes between neighbouring sizes give. On ten machines of the same kind, the divided share takes a tenth of
its time. Finished measurements are kept in RUNS, and the program goes on where it was.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib.command import Parser, rnnsearch, text_options
from benchmarks.lib.processes import descendants, megabytes
from benchmarks.lib.record import machine, read_json, sized, write_speed
from benchmarks.lib.texts import sides
from rnnsearch.atomic import write_json
from rnnsearch.data.lines import read_lines

LANGUAGES = ("en", "fr")
SHARE = 348 / 850
"""Of the words, those that the paper kept."""
LOOK = sized(0.5, 0.05)


def write_text(data: Path, pairs: int, folder: Path) -> dict[str, int]:
    """So many pairs, as `text.en` and `text.fr`; the numbers of words of both sides."""
    folder.mkdir(parents=True, exist_ok=True)
    words = dict.fromkeys(LANGUAGES, 0)
    for language in LANGUAGES:
        parts = sorted((data / "europarl").glob(f"europarl-part*.{language}.xz"))
        lines = (f"{n} {line}" if n else line for n in itertools.count() for part in parts for line in read_lines(part))
        with (folder / f"text.{language}").open("w", encoding="utf-8") as file:
            for line in itertools.islice(lines, pairs):
                file.write(f"{line}\n")
                words[language] += len(line.split())
    return words


def memory(process: int) -> float:
    """The proportional set sizes of a process and all its descendants, in MB."""
    total = 0.0
    for one in (process, *descendants(process)):
        with suppress(OSError, StopIteration):  # it may have just ended
            total += megabytes(one, "Pss")
    return total


def measured(command: list[object], output: Path) -> dict[str, float]:
    """The seconds, the memory and the output of one run of the program."""
    for path in output.parent.glob(f"{output.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    began, most = time.perf_counter(), 0.0
    process = subprocess.Popen(rnnsearch(*command), stderr=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, memory(process.pid))
        time.sleep(LOOK)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"rnnsearch {' '.join(map(str, command))}: ended with {process.returncode}")
    written = output.parent.glob(f"{output.name}*")
    files = [file for path in written for file in (path.rglob("*") if path.is_dir() else [path])]
    return {
        "seconds": round(seconds, 1),
        "megabytes": round(most),
        "output_megabytes": round(sum(file.stat().st_size for file in files if file.is_file()) / 2**20),
    }


def commands(data: Path, folder: Path, words: int, jobs: int) -> dict[str, tuple[list[object], Path]]:
    """Both commands on a text with so many target words, and what they write."""
    text, prepared, selected = text_options(folder / "text.en", folder / "text.fr"), folder / "prepared", folder / "selected"
    news = text_options(*sides(data, "wmt/news2008-2011"), prefix="in-domain-")
    outputs = text_options(f"{selected}.en", f"{selected}.fr", prefix="output-")
    return {
        "prepare": (["prepare", *text, "--jobs", jobs, "--output", prepared], prepared),
        "select": (["select", *text, *news, "--words", int(SHARE * words), "--jobs", jobs, *outputs], selected),
    }


def extrapolated(sizes: list[float], values: list[float], size: float) -> dict[str, float]:
    """The value on the line through the measurements, and the range that the slopes between neighbours give."""
    slope, start = np.polyfit(sizes, values, 1)
    slopes = np.diff(values) / np.diff(sizes)
    reached = values[-1] + slopes * (size - sizes[-1])
    return {"value": start + slope * size, "from": float(reached.min()), "to": float(reached.max())}


def main() -> None:
    """Measure what is missing, and write the record."""
    parser = Parser(__doc__, "data", "output")
    sizes = sized([1, 2, 4, 8], [0.0002, 0.0004])
    parser.add_argument("--millions", type=float, nargs="+", default=sizes, help="pairs, two sizes or more")
    parser.add_argument("--words", type=float, default=850, help="millions of target words to extrapolate to")
    asked = parser.parse_args()
    on, place = machine(), asked.output.resolve() / "large-corpora"
    found: dict[str, list[dict[str, Any]]] = {"prepare": [], "select": []}
    divided: dict[str, float] = {}
    for number, millions in enumerate(sorted(asked.millions)):
        folder = place / f"{millions:g}"
        record = folder / "measured.json"
        if not record.exists():
            write_json(record, {"words": write_text(asked.data, round(millions * 1e6), folder)})
        kept = read_json(record)
        for jobs in (2, 1) if number == 0 else (2,):
            for name, (command, output) in commands(asked.data, folder, kept["words"]["fr"], jobs).items():
                key = f"{name}, {jobs} jobs"
                if key not in kept:
                    kept[key] = measured(command, output)
                    write_json(record, kept)
                print(f"{millions:g} million pairs: {key}: {kept[key]}", flush=True)
        for path in folder.iterdir():
            if path != record:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, rows in found.items():
            rows.append({"million_pairs": millions, "million_words": kept["words"]["fr"] / 1e6, **kept[f"{name}, 2 jobs"]})
            if number == 0:
                one, two = (kept[f"{name}, {jobs} jobs"]["seconds"] for jobs in (1, 2))
                divided[name] = max(0.0, min(1.0, 2 * (one - two) / one))
    whole = {}
    for name, rows in found.items():
        sizes = [row["million_words"] for row in rows]
        quantities = ("seconds", "megabytes", "output_megabytes")
        reached = {of: extrapolated(sizes, [row[of] for row in rows], asked.words) for of in quantities}
        # Two jobs have halved the divided share d of the work: of the time t it is d/2 in 1 - d/2.
        share = divided[name] / 2 / (1 - divided[name] / 2)
        whole[name] = {
            **{of: {bound: round(value) for bound, value in by.items()} for of, by in reached.items()},
            "divided_share_of_one_job": round(divided[name], 3),
            "hours_on_one_machine": round(reached["seconds"]["value"] / 3600, 2),
            "hours_on_ten": round(reached["seconds"]["value"] * (1 - share + share / 10) / 3600, 2),
        }
        print(name, whole[name])
    write_speed("scale/large_corpora", machine=on, measured=found, words=asked.words * 1e6, whole=whole)
