"""Translation speed: sentences a second of ours and of the peers, in batches of 25 and one at a time.

    python benchmarks/translation_speed.py --data DATA --output RUNS --peers PEERS [--beam 5] [--rounds 5]

1,000 real sentences in 40 groups, all of one length within a group. The models are all but untrained, so their translations
would end anywhere: instead every contestant writes exactly as many words as the source has, the end symbol counted, with the
whole beam alive to the end. All keep their models loaded. A round takes one group in five, so that five rounds, in which the
contestants take turns, are all the sentences; loading is not timed, reading words and writing them is. Our
vocabulary selection keeps the 1,000 to 4,000 most frequent words and, for every word of the source, 20 candidates that are
none of these; `vocabulary_selection.py` measures what it costs in BLEU.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contestants import Task, available, known_modes, train_peer
from peers import python_of
from record import BACKGROUND, Run, machine, peak_megabytes, undisturbed, write_speed
from speed_text import (
    BATCH,
    SIDE_BY_SIDE,
    SIZES,
    environment,
    prepared_text,
    sentences_to_translate,
    text_system,
    write_training_text,
)

from rnnsearch.config import SearchConfig
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import System, save_settings, save_weights
from rnnsearch.translation.lexicon import Lexicon

SENTENCES, PARTS = 1000, 5
FREQUENT = (1000, 2000, 4000)
"""Selected frequent words, besides the lexicon's candidates."""
OUR_MODES: dict[str, dict[str, str]] = {
    "rnnsearch": {},
    "rnnsearch int8": {"precision": "int8"},
} | {
    f"rnnsearch int8, vocabulary selection ({words:,} words)": {"precision": "int8", "vocabulary_selection": str(words)}
    for words in FREQUENT
}
"""What we compete with: settings of search."""


@dataclass(frozen=True)
class Job:
    """Groups of sentences, each to be translated in so many steps."""

    groups: list[list[str]]
    steps: list[int]

    @classmethod
    def of(cls, groups: list[list[str]]) -> Job:
        """A step a source word, and one for the end symbol."""
        return cls(groups, [len(group[0].split()) + 1 for group in groups])

    @property
    def sentences(self) -> int:
        """How many sentences there are."""
        return sum(map(len, self.groups))

    @property
    def words(self) -> int:
        """How many words everyone writes."""
        return sum(len(group) * steps for group, steps in zip(self.groups, self.steps, strict=True))


class Contestant:
    """A program that has its model loaded and waits for sentences."""

    def __init__(self, command: list[Any], log: Path, threads: int) -> None:
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            env=environment(threads),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self.about = self._answer()

    def translate(self, job: Job, beam: int) -> float:
        """The seconds it takes."""
        assert self._process.stdin is not None
        print(json.dumps({"groups": job.groups, "steps": job.steps, "beam": beam}), file=self._process.stdin, flush=True)
        answer = self._answer()
        if answer["words"] != job.words:
            raise RuntimeError(f"{self._log.name}: it wrote {answer['words']} words, not {job.words}")
        return float(answer["seconds"])

    def peak_megabytes(self) -> int:
        """The largest resident memory that it has had."""
        return peak_megabytes(self._process.pid)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"it has died; {self._log.name} may say why")
        answer: dict[str, Any] = json.loads(line)
        return answer


def main() -> None:
    """Let all of them translate, round after round, and record how fast they were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with europarl/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the text and the models go")
    parser.add_argument("--peers", type=Path, required=True, help="the folder where `peers.py` installed them")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=PARTS, help="each is a fifth of the sentences")
    parser.add_argument("--latency", type=int, default=50, help="sentences that are translated one at a time")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="in all")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--background", type=float, default=BACKGROUND, help="cores that may be busy beside a run")
    parser.add_argument("--only", action="append", help="contestants, if not all; may be repeated")
    arguments = parser.parse_args()

    on = machine()
    size, folder = SIZES[arguments.size], arguments.output.resolve() / "translation-speed" / arguments.size
    prepared = prepared_text(arguments.data, arguments.output.resolve())
    if not (folder / "text").exists():
        write_training_text(prepared, size, 2 * BATCH, folder / "text")
    task = Task(folder / "text", arguments.size, size, updates=2, pairs=2 * BATCH)
    groups = sentences_to_translate(prepared, size, arguments.sentences)
    parts = [Job.of(groups[number :: PARTS]) for number in range(PARTS)]
    one_by_one = [[sentence] for group in groups for sentence in group]
    alone = [one_by_one[len(one_by_one) * number // arguments.latency] for number in range(arguments.latency)]

    commands = {name: _our_command(task, folder, mode) for name, mode in known_modes(OUR_MODES, "search").items()}
    commands |= {
        name: _peer_command(name, task, folder, arguments.peers)
        for name in available(arguments.peers)
        if name in PEER_MODELS
    }
    commands = {name: command for name, command in commands.items() if name in (arguments.only or commands)}
    runs: dict[str, list[Run[float]]] = {name: [] for name in commands}
    latencies: dict[str, list[Run[float]]] = {name: [] for name in commands}
    one = [Job.of(alone[number :: arguments.rounds]) for number in range(arguments.rounds)]
    with ExitStack() as stack:
        contestants: dict[str, Contestant] = {}
        for name, command in commands.items():
            log = folder / f"{name.replace(',', '').replace(' ', '-')}.log"
            contestants[name] = Contestant(command, log, arguments.threads)
            stack.callback(contestants[name].close)
            contestants[name].translate(Job.of([*alone[:2], groups[0]]), arguments.beam)  # the first are slow everywhere
        for number in range(arguments.rounds):
            for name, contestant in contestants.items():
                part, single = parts[number % PARTS], one[number]
                runs[name].append(_timed(contestant, part, arguments.beam, arguments.background))
                latencies[name].append(_timed(contestant, single, arguments.beam, arguments.background))
                speed = part.sentences / runs[name][-1].found
                latency = 1000 * latencies[name][-1].found / single.sentences
                print(f"round {number + 1}: {name}: {speed:.1f} sentences/s; one: {latency:.0f} ms", flush=True)

    speeds = {name: _speeds(of_name, [parts[n % PARTS] for n in range(len(of_name))]) for name, of_name in runs.items()}
    singly = {name: _speeds(of_name, one) for name, of_name in latencies.items()}
    write_speed(
        f"translation-speed-{arguments.size}-beam{arguments.beam}",
        machine=on,
        rows=[
            *_rows(f"translation, {arguments.size} size, beam {arguments.beam}, batches of {SIDE_BY_SIDE}", speeds),
            *_rows(f"translation, {arguments.size} size, beam {arguments.beam}, one sentence at a time", singly),
        ],
        threads=arguments.threads,
        side_by_side=_record(runs, speeds),
        one_at_a_time=_record(latencies, singly),
    )


PEER_MODELS = {"joeynmt": "settings.yaml", "opennmt-py": "model_step_2.pt", "eole": "model/step_2"}
"""What there is in a peer's folder after two updates that its search is started with."""


def _peer_command(name: str, task: Task, folder: Path, peers: Path) -> list[Any]:
    """The peer's search, on a model that it trains for two updates if it has none yet."""
    output = folder / name
    if not (output / "trained").exists():
        train_peer(name, task, output, peers, os.cpu_count() or 1)
        (output / "trained").touch()
    script = Path(__file__).parent / f"search_{name.replace('-', '_')}.py"
    return [python_of(peers, name), script, output / PEER_MODELS[name]]


def _our_command(task: Task, folder: Path, mode: dict[str, str]) -> list[Any]:
    """Our search, on a model of random weights."""
    if not (folder / "rnnsearch" / WEIGHTS).exists():
        system, _ = text_system(task.text, task.size.config({"initialization": "glorot"}))
        save_settings(folder / "rnnsearch", system)
        save_weights(folder / "rnnsearch" / WEIGHTS, system)
        _lexicon(system).save(folder / "rnnsearch")
    script = Path(__file__).parent / "search_rnnsearch.py"
    return [sys.executable, script, folder / "rnnsearch", *(f"{key}={value}" for key, value in mode.items())]


def _lexicon(system: System) -> Lexicon:
    """For every source word as many candidates as are kept, all different and none frequent: more than a learned one has."""
    words, target = system.vocabularies.source.words[1:], system.vocabularies.target.words
    rare = target[min(max(FREQUENT), len(target) // 2) :]
    candidates = SearchConfig().shortlist_candidates
    return Lexicon(
        {
            word: [(rare[(number * candidates + i) % len(rare)], 1 / candidates) for i in range(candidates)]
            for number, word in enumerate(words)
        }
    )


def _timed(contestant: Contestant, job: Job, beam: int, background: float) -> Run[float]:
    return undisturbed(lambda: contestant.translate(job, beam), background)


def _speeds(runs: list[Run[float]], jobs: list[Job]) -> list[float]:
    """Sentences a second, run by run."""
    return [job.sentences / run.found for run, job in zip(runs, jobs, strict=True)]


def _overall(speeds: list[float]) -> float:
    """All sentences by all seconds, of rounds with as many sentences each; longer ones in some, so that none is typical."""
    return round(statistics.harmonic_mean(speeds), 2)


def _rows(what: str, speeds: dict[str, list[float]]) -> list[dict[str, object]]:
    """A row of the table for each mode of ours."""
    overall = {name: _overall(of_name) for name, of_name in speeds.items()}
    peers = {name: speed for name, speed in overall.items() if name in PEER_MODELS}
    return [
        {
            "what": what + (f", {name.removeprefix('rnnsearch ')}" if OUR_MODES[name] else ", fp32"),
            "unit": "sentences/s",
            "ours": speed,
            "peers": peers,
        }
        for name, speed in overall.items()
        if name in OUR_MODES
    ]


def _record(runs: dict[str, list[Run[float]]], speeds: dict[str, list[float]]) -> dict[str, Any]:
    return {
        name: {
            "sentences_per_second": _overall(speeds[name]),
            "runs": [
                {"seconds": round(run.found, 3), "sentences_per_second": round(speed, 2), **run.load()}
                for run, speed in zip(of_name, speeds[name], strict=True)
            ],
        }
        for name, of_name in runs.items()
    }


if __name__ == "__main__":
    main()
