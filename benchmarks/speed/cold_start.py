"""The time from a cold start to the output of `--help`, and to the first translation of a small model.

    python benchmarks/speed/cold_start.py --model MODEL [--rounds 10]

Every measurement is the wall time of a separate process, after one run that is not counted, so that the files are in the
cache of the system and compiled loops in that of Numba. MODEL is a model folder, e.g. that of `rnnsearch demo`. The commands
take turns in every round. The stages are measured in one process: the time of an import is that of the modules which no
earlier stage has imported.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, undisturbed, write_speed

SENTENCE = "The old man gives the red book to the girl."

STAGES = """
import json, sys, time
began = time.perf_counter()
seconds = {}
def stage(name):
    global began
    now = time.perf_counter()
    seconds[name], began = now - began, time.perf_counter()
import numpy; stage("import NumPy")
import torch; stage("import PyTorch")
import pydantic, rnnsearch.config; stage("import settings and Pydantic")
try:
    import numba
except ImportError:
    pass
stage("import Numba")
import rnnsearch.translation; stage("import rnnsearch.translation")
model = rnnsearch.load(sys.argv[1]); stage("load the model")
model.source_words(sys.argv[2]); stage("tokenise")
model.translate(sys.argv[2]); stage("first translation")
model.translate(sys.argv[2]); stage("second translation")
print(json.dumps(seconds))
"""


def main() -> None:
    """Measure, record, print."""
    parser = Parser(__doc__, "model")
    parser.add_argument("--rounds", type=int, default=sized(10, 1))
    arguments = parser.parse_args()

    on = machine()
    with TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_text(SENTENCE + "\n", encoding="utf-8")
        translate = ["-m", "rnnsearch", "translate", "--model", str(arguments.model)]
        programs = {
            "python, doing nothing": ["-c", "pass"],
            "rnnsearch --help": ["-m", "rnnsearch", "--help"],
            "rnnsearch translate --help": ["-m", "rnnsearch", "translate", "--help"],
            "import torch": ["-c", "import torch"],
            "rnnsearch translate, a missing file": [*translate, "none"],
            "rnnsearch translate, one sentence": [*translate, str(text)],
        }
        for program in programs.values():
            _seconds(program)
        measured = undisturbed(
            lambda: {name: statistics.median(times) for name, times in _in_turn(programs, arguments.rounds).items()}
        )
        rounds = [_stages(arguments.model) for _ in range(1 + arguments.rounds)][1:]
    stages = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    seconds = measured.found
    whole, torch = seconds["rnnsearch translate, one sentence"], seconds["import torch"] - seconds["python, doing nothing"]
    write_speed(
        "speed/cold_start",
        on,
        sentence=SENTENCE,
        rounds=arguments.rounds,
        load=measured.load(),
        seconds={name: round(value, 4) for name, value in seconds.items()},
        share_of_importing_pytorch=round(torch / whole, 3),
        stages={name: round(value, 4) for name, value in stages.items()},
    )
    for name, value in (seconds | stages).items():
        print(f"{name:40} {value:7.3f} s")
    print(f"importing PyTorch is {100 * torch / whole:.0f}% of the first translation")


def _in_turn(programs: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            times[name].append(_seconds(program))
    return times


def _seconds(program: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def _stages(model: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", STAGES, str(model), SENTENCE], capture_output=True, text=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


if __name__ == "__main__":
    main()
