"""Speed of word aligners: `rnnsearch align` and others on the same pairs, in one thread and in all of them.

The text is so many pairs of Europarl, drawn at random; all of them are 948,271. Each program learns from it and writes the
links of all its lines: others those of both directions, and `rnnsearch align`, with either `--quality`, the joined ones. Of
each run, the record tells processor seconds, the seconds that passed, peak memory, and the peak size of temporary files. The
loops of `rnnsearch align` are compiled before. PYTHON is that of an environment with `eflomal` and `systran-align`. All of
Europarl in all threads, by the faster quality and by eflomal, takes three quarters of an hour on two cores:
`--pairs 948271 --aligners rnnsearch-fast eflomal --all-threads-only`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.alignment.aligners import FAST, OURS, beginning_of, europarl, written
from benchmarks.lib.command import SPEED, Parser, cost_of, rnnsearch
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from benchmarks.peers.aligners import ALIGNERS


def main() -> None:
    """Write the text, let one after the other align it, record."""
    parser = Parser(__doc__, "data", "output", *SPEED, pairs=sized(100_000, 60))
    parser.add_argument("--peers", type=Path, required=True, help="a Python with eflomal and systran-align")
    names = (OURS, FAST, *ALIGNERS)
    parser.add_argument("--aligners", nargs="+", choices=names, default=[OURS, FAST, "eflomal"], help="those that run")
    parser.add_argument("--all-threads-only", action="store_true", help="leave out the runs in one thread")
    arguments = parser.parse_args()

    on, folder = machine(), arguments.output / "word_aligners"
    folder.mkdir(parents=True, exist_ok=True)
    text = written(folder / str(arguments.pairs), ([], []), lambda: europarl(arguments.data, arguments.pairs))
    cost(OURS, arguments.peers, beginning_of(text, 20), 1)  # compiles the loops, which are kept
    runs = []
    for name in arguments.aligners:
        for threads in sorted({1, arguments.threads} - ({1} if arguments.all_threads_only else set())):
            run = undisturbed(partial(cost, name, arguments.peers, text, threads), arguments.background)
            speed = arguments.pairs / run.found["processor"]
            print(
                f"{name}, {threads} threads: {speed:.0f} pairs a processor second, {run.found['passed']:.0f} s", flush=True
            )
            runs.append({"aligner": name, "threads": threads, "pairs_per_second": speed, **run.found, **run.load()})
    write_speed(f"speed/word_aligners-{arguments.pairs}", machine=on, pairs=arguments.pairs, runs=runs)


def cost(name: str, peers: Path, text: Sequence[Path], threads: int) -> dict[str, float]:
    """What it costs an aligner to learn from this text and to link all its words."""
    with TemporaryDirectory(prefix="word-aligners-") as folder:
        temporary, output = Path(folder) / "temporary", Path(folder) / "links"
        temporary.mkdir()
        if name in (OURS, FAST):
            files = ["--source", text[0], "--target", text[1], "--output", output]
            command = rnnsearch("align", *files, "--quality", "fast" if name == FAST else "best")
        else:
            links = [output.with_name(f"{output.name}-{of}") for of in ALIGNERS[name].writes]
            command = [*map(str, ALIGNERS[name].command(peers, text, links))]
        return cost_of(command, threads, (temporary, output.with_name(f"{output.name}.parts")))
