"""Renders `docs/reference/scale.md`: many processes, many jobs, a cluster, and corpora of a billion words.

    python benchmarks/scale_page.py
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quality import read, table
from record import SPEED

from rnnsearch.atomic import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "scale.md"
MACHINE = "amd-epyc-avx2"
"""The processor that all of these were measured on."""
NETWORKS = ("1 Gbit/s", "10 Gbit/s", "100 Gbit/s")

HEAD = """# Many processes and large corpora

<!-- Written by benchmarks/scale_page.py from benchmarks/results. Do not edit it; run the script. -->

What the scripts in [benchmarks](../../benchmarks/README.md) measured, on two cores of an AMD EPYC with AVX2, with PyTorch
2.13.0, and what is computed from it. How to use many processes is in the guides: [train](../how-to/many-processes.md),
[many cores](../how-to/many-cores.md), [a cluster](../how-to/cluster.md).
"""

WEIGHTS = """## The same weights on any number of processes

Hashes (SHA-256, the first twelve digits) of the weights, their average and the optimizer's state after {updates} updates
of the preset `demo` in {shards} shards (`benchmarks/same_weights.py`). In a killed run, {kills} processes are killed, each
at a random moment after another checkpoint; the run goes on with those that are left, and if there are none, it is resumed.
"""

PROCESSES = """## Two processes of one thread, beside one process of two threads

Target words a second of training, preset `paper` with layers of 300 and 500 and 10,000 words, minibatches of 80 pairs;
medians of {rounds} rounds, in which all take turns (`benchmarks/processes.py`).
"""

NOISE = """\
On one machine, processes are as fast as threads. The same bits on any number of processes cost {cost:.0%} beside
DistributedDataParallel, which is within the noise: single rounds differ from their median by up to {noise:.0%}.
"""

MEMORY = """## Memory of a process

At the paper's size ({parameters:.1f} million parameters: {weights} MB of weights, and {optimizer} MB of Adadelta's state),
minibatches of {pairs} pairs:
"""

BILLION = """\
Every process has all weights and all of the optimizer's state. For a model of a billion parameters, that is, on paper:

| | bytes a parameter | 10⁹ parameters |
|---|---:|---:|
| weights | 4 | 4 GB |
| Adadelta's or Adam's two states | 8 | 8 GB |
| gradient, laid end to end | 4 | 4 GB |
| `exact` only: what the others have sent | 4 | 4 GB |
| `training.weight_average` | 4 | 4 GB |
| in all, with `exact` and without an average | 20 | 20 GB |

Activations come on top; they depend on the minibatch and not on the number of parameters. Nothing is divided between the
processes but the minibatch, so a model has to fit into each of them. An update sends and receives 8 GB for each process,
which takes 6.4 s at 10 Gbit/s and 0.64 s at 100 Gbit/s.
"""

GROWTH = """## Growth to 64 processes

Computed from the time of a gradient, of the rest of an update, and of adding gradients, and from the bytes that travel,
as measured with one process of one thread (`benchmarks/many_processes.py` says how). Processes do not share a memory or a
cache, all are equally fast, and a message takes 50 µs more than its bytes. Efficiency is the speed divided by that of one
process and the number of processes; `exact`, the same model as above.
"""

GROWN = """\
One process trains {large:,} words a second with minibatches of 80 pairs, and {small:,} with 640 pairs in 64 shards,
because a shard of ten pairs is computed less efficiently. With more shards than processes, `exact` sends the dense
gradients once for each shard: over a slow network, let there be as many shards as processes, or use `fast`. The speed of
two processes on this machine is the only check of this computation that was made.
"""

JOBS = """## `--jobs`

{lines:,} sentences of Multi30k, by the installed translator; whole programs, their start included, and the same bytes
(`benchmarks/jobs.py`).
"""

RAY = """## Ray beside `--jobs`

{lines:,} sentences of newstest2012, preset `best`, on the same two cores (`benchmarks/cluster.py`); whole programs, and
the same bytes.
"""

RAY_ITSELF = "Ray takes half a minute for itself, whatever the size of the text. On one machine, use `--jobs`.\n"

LARGE = """## {words:.0f} million words

That is the text of WMT 2014 that the paper selects from. Measured with `--jobs 2` on Europarl, repeated with a number
before every sentence of a repetition (`benchmarks/large_corpora.py`): `prepare` makes shortlists of 30,000 words, and
`select` keeps two fifths of the words, as the paper does. Words are those of the target side. Memory is the largest sum of
the proportional set sizes of all processes. With eight million pairs, four fifths of that of `prepare` are pages of a
temporary file that is mapped into memory, which the system takes back where it needs them.
"""

REACHED = """\
Along the line through these, for {words:.0f} million words; in brackets, what the slopes between neighbouring sizes give.
On ten machines, the share of the work that is divided between jobs takes a tenth of its time; the rest stays on one.
"""

REST = """\
Reading and writing on ten machines at once is not measured: the last column holds where the file system is ten times as
fast too.
"""


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    parts = (weights, processes, memory, growth, jobs, ray, large_corpora)
    return "\n".join([HEAD, *(text for part in parts for text in part())])


def speed(name: str) -> dict[str, Any]:
    """The record of a speed benchmark; empty where there is none."""
    path = SPEED / MACHINE / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def weights() -> Iterable[str]:
    """The hashes of weights, for texts and numbers of processes."""
    if record := read("same-weights"):
        texts = list(record["sha256"])
        runs = list(record["sha256"][texts[0]])
        counts = {run: [word for word in run.split() if word.isdigit()] for run in runs}
        yield WEIGHTS.format(**record, kills=max(int(kills) for _, kills in counts.values()))
        rows = [(*counts[run], *(f"`{record['sha256'][text][run][:12]}`" for text in texts)) for run in runs]
        yield table(("processes", "kills", *texts), rows)


def processes() -> Iterable[str]:
    """Processes beside threads, alone and beside other programs."""
    record = speed("processes-small")
    speeds, shares, rounds = (record[of] for of in ("words_per_second", "of_one_process", "rounds"))
    first, *_ = speeds
    noise = [abs(value / speeds[way][beside] - 1)
             for way, by in rounds.items() for beside, values in by.items() for value in values]  # fmt: skip
    yield PROCESSES.format(rounds=len(rounds[first]["alone"]))
    rows = []
    for way, by in speeds.items():
        told = "" if way == first else " ({:.0%})"
        rows.append((way, *(f"{value:,}{told.format(shares[way][beside])}" for beside, value in by.items())))
    yield table(("", *speeds[first]), rows)
    exact, fast = (speeds[f"2 processes, {way}"]["alone"] for way in ("exact", "fast"))
    yield NOISE.format(cost=1 - exact / fast, noise=max(noise))


def memory() -> Iterable[str]:
    """Peak memory at the paper's size, and what a billion parameters would need."""
    record = speed("processes-memory-full")
    first = next(iter(record["memory"].values()))
    yield MEMORY.format(
        parameters=first["parameters"] / 1e6,
        weights=first["weights_megabytes"],
        optimizer=first["optimizer_megabytes"],
        pairs=record["pairs"],
    )
    rows = [(way, f"{max(of['peak_megabytes']):,} MB") for way, of in record["memory"].items()]
    yield table(("", "peak of each process"), rows)
    yield BILLION


def growth() -> Iterable[str]:
    """Efficiency on up to 64 processes."""
    record = speed("many-processes-small")["growth"]
    yield GROWTH
    columns = [record[name][network] for name in record for network in NETWORKS]
    rows = [(count, *(f"{column[count]['efficiency']:.0%}" for column in columns)) for count in columns[0] if count != "1"]
    yield table(("processes", *(f"{name}, {network}" for name in record for network in NETWORKS)), rows)
    large, small = (by[NETWORKS[0]]["1"]["words_per_second"] for by in record.values())
    yield GROWN.format(large=large, small=small)


def jobs() -> Iterable[str]:
    """`translate` and `prepare` in several processes."""
    if record := speed("jobs"):
        yield JOBS.format(**record)
        rows = [(way, f"{statistics.median(of['seconds']):.1f}", f"{of['lines_per_second']:,.0f}")
                for way, of in record["found"].items()]  # fmt: skip
        yield table(("", "seconds", "lines a second"), rows)


def ray() -> Iterable[str]:
    """Ray beside `--jobs`."""
    record = speed("cluster")
    yield RAY.format(**record)
    rows = [(way, ", ".join(f"{value:.0f}" for value in values)) for way, values in record["seconds"].items()]
    steps = [(f"Ray, of these: {step}", f"{value:.0f}") for step, value in record["ray_steps"].items()]
    yield table(("", "seconds"), [*rows, *steps])
    yield RAY_ITSELF


def large_corpora() -> Iterable[str]:
    """Preparing and selecting, as measured, and for all the words of the paper's text."""
    if record := speed("large-corpora"):
        million = record["words"] / 1e6
        yield LARGE.format(words=million)
        rows = [
            (command, f"{row['million_pairs']:g}", f"{row['million_words']:.0f}", f"{row['seconds']:,.0f}",
             f"{row['megabytes']:,}", f"{row['output_megabytes']:,}")
            for command, found in record["measured"].items() for row in found
        ]  # fmt: skip
        yield table(("", "million pairs", "million words", "seconds", "memory, MB", "written, MB"), rows)
        yield REACHED.format(words=million)
        yield table(("", "hours", "memory, GB", "written, GB", "hours on ten machines"),
                    [(command, *reached(of)) for command, of in record["whole"].items()])  # fmt: skip
        yield REST


def reached(of: dict[str, Any]) -> Iterable[str]:
    """The cells of one command: time, memory, disk, and the time on ten machines."""
    for quantity, unit in (("seconds", 3600), ("megabytes", 1024), ("output_megabytes", 1024)):
        value, low, high = (of[quantity][bound] / unit for bound in ("value", "from", "to"))
        yield f"{value:.1f} ({low:.1f}–{high:.1f})"
    yield f"{of['hours_on_ten']:.1f}"


if __name__ == "__main__":
    main()
