"""What a cold start costs: seconds, processor seconds and memory, until `--help` or the first translation is there.

    python benchmarks speed/cold_start --model MODEL [--rounds 10]

Every measurement is of a separate process, after one run that is not counted, so that the files are in the cache of the
system and modules are compiled. MODEL is a model folder, or the name of an installed one, such as `en-fr`; it translates a
sentence from standard input. The commands take turns in every round. Medians are reported; the memory is the largest that
was resident, in MB of 1,048,576 bytes. The stages are measured in one process: an import costs what the modules cost which
no earlier stage has imported.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.lib.command import Parser, cost_of
from benchmarks.lib.record import machine, sized, undisturbed, write_speed

SENTENCE = "The old man gives the red book to the girl."
PRECISIONS = "fp32", "int8"

STAGES = """
import json, os, sys, time
stages, began, before = {}, [0.0], [0.0]
def stage(name):
    # The peak is counted anew: what an earlier stage needed for a moment and gave back is not in it.
    status = open("/proc/self/status").read()
    now, peak = (int(status.split(key)[1].split()[0]) / 1024 for key in ("VmRSS:", "VmHWM:"))
    seconds = time.process_time()
    cost = {"processor_seconds": seconds - began[0], "added_mb": now - before[0], "resident_mb": now, "peak_mb": peak}
    stages[name] = cost
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    began[0], before[0] = time.process_time(), now
stage("Python")
import numpy; stage("NumPy")
import onnxruntime; stage("ONNX Runtime")
import rnnsearch.config; stage("settings (Pydantic)")
import rnnsearch.translation; stage("rnnsearch.translation")
from rnnsearch.graphs.engine import signed_products_are_exact
signed_products_are_exact(); stage("a first small graph")
translator = rnnsearch.translation.load(sys.argv[1]); stage("load the model")
how = {"precision": sys.argv[2]}
translator.backend(translator.search_settings(how)); stage("its graphs")
translator.translate(sys.argv[3], **how); stage("first translation")
translator.translate(sys.argv[3], **how); stage("second translation")
print(json.dumps(stages))
"""


def main() -> None:
    """Measure, record, print."""
    parser = Parser(__doc__)
    parser.add_argument("--model", required=True, help="the folder of a model, or the name of an installed one")
    parser.add_argument("--rounds", type=int, default=sized(10, 1))
    arguments = parser.parse_args()

    on = machine()
    with TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_text(SENTENCE + "\n", encoding="utf-8")
        python = [sys.executable]
        translate = [*python, "-m", "rnnsearch", "translate", "--model", arguments.model]
        programs = {
            "python, doing nothing": [*python, "-c", "pass"],
            "rnnsearch --help": [*python, "-m", "rnnsearch", "--help"],
            "rnnsearch translate --help": [*python, "-m", "rnnsearch", "translate", "--help"],
            **{f"rnnsearch translate, {one}": [*translate, "--set", f"search.precision={one}"] for one in PRECISIONS},
        }
        for program in programs.values():
            cost_of(program, text=text)
        measured = undisturbed(lambda: _in_turn(programs, arguments.rounds, text))
        stages = {one: _stages(arguments.model, one) for one in PRECISIONS}
    write_speed(
        "speed/cold_start",
        on,
        sentence=SENTENCE,
        model=arguments.model,
        rounds=arguments.rounds,
        load=measured.load(),
        programs=measured.found,
        stages=stages,
    )
    for name, cost in measured.found.items():
        print(f"{name:34} {cost['passed']:7.3f} s {cost['processor']:7.3f} processor s {cost['megabytes']:7.1f} MB")
    for one, rows in stages.items():
        print(one)
        for name, row in rows.items():
            memory = f"+{row['added_mb']:6.1f} = {row['resident_mb']:6.1f} MB"
            print(f"  {name:32} {row['processor_seconds']:7.3f} processor s  {memory}")


def _in_turn(programs: dict[str, list[str]], rounds: int, text: Path) -> dict[str, dict[str, float]]:
    costs: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            costs[name].append(cost_of(program, text=text))
    return {
        name: {key: round(statistics.median(cost[key] for cost in of), 3) for key in of[0]} for name, of in costs.items()
    }


def _stages(model: str, precision: str) -> dict[str, dict[str, float]]:
    command = [sys.executable, "-c", STAGES, model, precision, SENTENCE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stages: dict[str, dict[str, float]] = json.loads(done.stdout)
    return {name: {key: round(value, 3) for key, value in row.items()} for name, row in stages.items()}
