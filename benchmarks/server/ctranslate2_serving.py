"""Speed and memory beside CTranslate2 and its Transformers: a list of sentences, and 32 clients that ask one by one.

    pip install ctranslate2
    python benchmarks server/ctranslate2_serving [--sentences 256] [--turns 3] [--threads 2] [--beam 5] [--only NAME]

All weights are random, so the speed is measured, and nothing else. Every sentence has as many words, and every translation
one more: CTranslate2 can fix only one length for all sentences of a batch. So neither loses anything to padding, and neither
gains by putting new sentences in the place of those that have ended. In every turn, each contestant starts twice: to
translate the list, and to serve. The list goes to CTranslate2 in batches of 2048 tokens, and to ours in its own batches; the
server around CTranslate2 is `peers/ctranslate2/server.py`. Loading is not timed, and the first sentences are not.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.lib.command import SPEED, Parser, environment
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from benchmarks.peers.ctranslate2.model import Size, write_transformer
from benchmarks.peers.search_program import Job, SearchProgram
from benchmarks.server.clients import Served, closed_loop, in_process, percentiles
from rnnsearch.config import from_preset
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import save_settings, save_weights
from rnnsearch.system import new_system
from rnnsearch.text.vocabularies import Vocabularies
from rnnsearch.text.vocabulary import Vocabulary

PEERS = Path(__file__).parents[1] / "peers"
WORDS = 25
"""In every sentence."""
KNOWN = 8000
"""Words that are in everyone's vocabulary, and the size of the small ones."""
LENGTHS = {"minimum_length_ratio": "1.0", "maximum_length_ratio": "1.0"}
"""A translation has as many words as its source, the end symbol counted."""


OURS = {"rnnsearch, preset best": ("best", KNOWN), "rnnsearch, preset paper": ("paper", 30_000)}
TRANSFORMERS = {
    "CTranslate2, 2+2 layers of 256": Size(2, 256, 4, KNOWN),
    "CTranslate2, 6+6 layers of 512": Size(6, 512, 8, 32_000),
}
CLIENTS = 32
PRECISIONS = ("float32", "int8")


def our_model(folder: Path, preset: str, words: int) -> int:
    """Write a model of ours; its number of parameters."""
    data = {"tokenizer": "whitespace", "subwords": "none", "source_language": "en", "target_language": "fr"}
    config = from_preset(preset, {"data": data})
    names = _vocabulary(words)
    system = new_system(config, Vocabularies(names, names))
    folder.mkdir()
    save_settings(folder, system)
    save_weights(folder / WEIGHTS, system)
    return system.model.count_parameters()


def _vocabulary(words: int) -> Vocabulary:
    return Vocabulary([f"w{number}" for number in range(words)])


@dataclass(frozen=True)
class Entrant:
    """A model, and how its programs are run."""

    folder: Path
    parameters: int
    search: Sequence[object]
    """What `search_server.py` is told, to translate lists."""
    program: Sequence[object]
    options: Sequence[object]
    """What Python runs to serve, and its options."""


def entrants(folder: Path, threads: int, beam: int) -> dict[str, Entrant]:
    """All of them, their models written to `folder`."""
    found = {}
    for name, (preset, words) in OURS.items():
        model = folder / preset
        parameters = our_model(model, preset, words)
        for precision in PRECISIONS:
            settings = {**LENGTHS, "precision": "int8" if precision == "int8" else "fp32"}
            search = ["rnnsearch", model, *(f"{key}={value}" for key, value in settings.items()), "batch_sentences=32"]
            options = [*settings_of({f"search.{key}": value for key, value in settings.items()}), "--beam", beam]
            found[f"{name}, {precision}"] = Entrant(model, parameters, search, ("-m", "rnnsearch", "serve"), options)
    for name, size in TRANSFORMERS.items():
        for precision in PRECISIONS:
            model = folder / f"{size.width}-{precision}"
            parameters = write_transformer(model, size, _vocabulary(size.words).words[2:], precision)
            options = ["--threads", threads, "--beam", beam, "--steps", WORDS + 1]
            search, program = ["ctranslate2", model, threads], (PEERS / "ctranslate2" / "server.py",)
            found[f"{name}, {precision}"] = Entrant(model, parameters, search, program, options)
    return found


def offline(entrant: Entrant, job: Job, beam: int, threads: int, background: float) -> dict[str, Any]:
    """Translate the list in a new process."""
    command = [sys.executable, PEERS / "search_server.py", *entrant.search]
    contestant = SearchProgram(command, entrant.folder.with_suffix(".log"), threads)
    try:
        contestant.translate(Job([job.groups[0][:32]], job.steps), beam)
        run = undisturbed(lambda: contestant.translate(job, beam), background)
        return {
            "sentences_per_second": round(job.sentences / run.found, 2),
            "words_per_second": round(job.words / run.found, 1),
            "peak_megabytes": contestant.peak_megabytes(),
            **run.load(),
        }
    finally:
        contestant.close()


def served(entrant: Entrant, lines: list[str], clients: int, threads: int, background: float) -> dict[str, Any]:
    """Serve the clients in a new process."""
    with Served(entrant.folder, *entrant.options, program=entrant.program, environment=environment(threads)) as server:
        in_process(closed_loop, server.port, lines[: 2 * clients], clients)
        run = undisturbed(lambda: in_process(closed_loop, server.port, lines, clients), background)
        seconds, latencies, found = run.found
        words = sum(len(text.split()) for text in found)
        if words != len(lines) * (WORDS + 1):
            raise RuntimeError(f"{words} words were written, not {len(lines) * (WORDS + 1)}")
        return {
            "sentences_per_second": round(len(lines) / seconds, 2),
            "words_per_second": round(words / seconds, 1),
            **percentiles(latencies),
            "peak_megabytes": server.peak_megabytes(),
            **run.load(),
        }


def main() -> None:
    """Measure in turns, and write the record."""
    parser = Parser(__doc__, *SPEED, sentences=sized(256, 8), beam=5, turns=sized(3, 1))
    parser.add_argument("--only", action="append", help="contestants, as the record names them, if not all; may be repeated")
    arguments = parser.parse_args()

    on = machine() | {"ctranslate2": version("ctranslate2")}
    chance = random.Random(1)
    lines = [" ".join(f"w{chance.randrange(KNOWN)}" for _ in range(WORDS)) for _ in range(arguments.sentences)]
    job = Job.of([lines])
    threads, background = arguments.threads, arguments.background
    turns: dict[str, list[dict[str, dict[str, Any]]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        every = entrants(Path(folder), threads, arguments.beam)
        chosen = {name: every[name] for name in arguments.only or every}
        for _ in range(arguments.turns):
            for name, entrant in chosen.items():
                turn = {
                    "offline": offline(entrant, job, arguments.beam, threads, background),
                    "served": served(entrant, lines, CLIENTS, threads, background),
                }
                turns.setdefault(name, []).append(turn)
                print(name, turn, flush=True)
    rows = {
        name: {
            "parameters": chosen[name].parameters,
            **{
                f"{how}_{what}": statistics.median(turn[how][what] for turn in found)
                for how in ("offline", "served")
                for what in ("sentences_per_second", "words_per_second", "peak_megabytes")
            },
            **{
                f"served_{cut}": statistics.median(turn["served"][cut] for turn in found)
                for cut in ("p50_ms", "p95_ms", "p99_ms")
            },
            "turns": found,
        }
        for name, found in turns.items()
    }
    write_speed(
        "server/ctranslate2_serving",
        machine=on,
        sentences=len(lines),
        source_words=WORDS,
        target_words=WORDS + 1,
        beam=arguments.beam,
        threads=threads,
        clients=CLIENTS,
        contestants=rows,
    )
