"""How good a translator is that has only a small memory to learn from, by the number of pairs.

    python benchmarks quality/small_data --data DATA --output RUNS [--peers PEERS] [--only 'multi30k-en-fr/2000-*']
        [--seeds 3] [--threads 1] [--list]

On captions (Multi30k) and on debates (Europarl), in both directions:

- `memory`: `rnnsearch train` on the pairs, with the preset that it chooses itself (`memory`);
- `from-installed`: the installed model, trained further on the pairs, with the same preset and `--from`;
- `installed`: the installed model as it is;
- `nearest`: the translation of the most similar of the pairs, unchanged;
- `joeynmt`, `eole`: Transformers of these toolkits, trained on the pairs for the processor seconds that `memory` had with
  the same seed, see `small_peers.py`. They need `--peers`.

The pairs are the first ones of the training text that no sentence of the test set is in. The test sets are test_2016_flickr,
and 1,000 pairs from the end of the second part of Europarl; they are translated once, and nothing is chosen by them. The
installed translators learned from all of Europarl, so their figures are too good there. `train` holds its development set
out of the pairs. BLEU and chrF are sacreBLEU's, with the 95% interval of BLEU by bootstrap resampling, and the processor
seconds of the training.

Each combination is a cell, with a name such as `multi30k-en-fr/2000-memory-1`: text, direction, pairs, system and seed.
`--only` computes the cells whose names match a pattern, and may be repeated; `--list` prints the names, and estimates of the
minutes on one core. A cell that is in RUNS already is not computed again, and the same command goes on with one of ours that
was killed; its processor seconds are then not known, so the peers beside it need `--budget`. The record has all cells that
are in RUNS. A peer that failed is recorded with the reason and without a score; to try it again, delete its folder.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib.command import Parser, cost_of, rnnsearch, run
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.quality.small_peers import PeerFailed, Training, translations_of_peer
from rnnsearch.atomic import write_json
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.evaluation.nearest import nearest
from rnnsearch.evaluation.significance import bootstrap_bleu

SIZES = sized((2_000, 5_000, 20_000, 100_000), (200,))
DIRECTIONS = ("en-fr", "fr-en")
Pairs = Sequence[tuple[str, str]]
TEST_PAIRS = sized(1000, 10)
MULTI30K = 29_000
"""All of its pairs."""
SYSTEMS = ("nearest", "memory", "from-installed", "joeynmt", "eole")
PEERS = ("joeynmt", "eole")
LEAST_BLEU = 0.5
"""A peer below it has failed."""
EPOCHS = {2_000: 80, 5_000: 50, 20_000: 30, 100_000: 15}
"""The most epochs of the preset `memory`, by the number of pairs."""
FURTHER_EPOCHS = {2_000: 15, 5_000: 10, 20_000: 8, 100_000: 4}
"""The same if the installed model, which is three times as large, is trained further."""
PAIRS_A_SECOND = {2_000: 110, 5_000: 80, 20_000: 80, 100_000: 45}
"""Pairs that are trained on in a second of one core, for the estimates; Europarl has twice as many words in a pair."""


@dataclass(frozen=True)
class Cell:
    """What is computed at once."""

    text: str
    direction: str
    system: str
    pairs: int | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """Its name, which is that of its folder as well."""
        parts = (part for part in (self.pairs, self.system, self.seed) if part is not None)
        return f"{self.text}-{self.direction}/{'-'.join(map(str, parts))}"

    @property
    def minutes(self) -> float:
        """An estimate of the minutes on one core."""
        longer = 2 if self.text == "europarl" else 1
        if self.pairs is None or self.system == "nearest":
            return 2 * longer
        size = min(EPOCHS, key=lambda size: abs(size - (self.pairs or 0)))
        epochs = FURTHER_EPOCHS[size] * 3 if self.system == "from-installed" else EPOCHS[size]
        return 2 * longer + longer * epochs * self.pairs / PAIRS_A_SECOND[size] / 60


def main() -> None:
    """Compute the cells that are not there yet, and record all that are."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--peers", type=Path, help="the folder that peers/install.py wrote")
    parser.add_argument("--only", action="append", help="a pattern for the names of cells, such as 'multi30k-*/2000-*'")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--budget", type=float, help="processor seconds of the peers, instead of those of `memory`")
    parser.add_argument("--list", action="store_true", help="only list the cells, with estimates of minutes")
    arguments = parser.parse_args()
    all_cells = cells(arguments.sizes, arguments.seeds)
    chosen = [one for one in all_cells if any(fnmatch(one.name, pattern) for pattern in arguments.only or ["*"])]
    if arguments.list:
        for one in chosen:
            print(f"{one.minutes:7.0f}  {one.name}")
        print(f"{sum(one.minutes for one in chosen):7.0f}  minutes on one core")
        return
    on = machine()
    read = cache(partial(texts, arguments.data))
    for one in chosen:
        if one.system in PEERS and arguments.peers is None:
            print(f"{one.name}: left out, since there is no --peers")
        elif not (arguments.output / one.name / "scores.json").exists():
            compute(one, read(one.text, *one.direction.split("-")), arguments.output, arguments)
    record(on, [one for one in cells(SIZES, 9) if (arguments.output / one.name / "scores.json").exists()], arguments.output)


def cells(sizes: Iterable[int], seeds: int) -> list[Cell]:
    """All cells, the cheapest ones first; a peer comes after our model that it is compared with."""
    found = []
    for text in ("multi30k", "europarl"):
        for direction in DIRECTIONS:
            found.append(Cell(text, direction, "installed"))
            for size in (size for size in sizes if text != "multi30k" or size <= MULTI30K):
                found.append(Cell(text, direction, "nearest", size))
                found += [Cell(text, direction, one, size, seed) for seed in range(1, seeds + 1) for one in SYSTEMS[1:]]
    return sorted(found, key=lambda one: (one.minutes, SYSTEMS.index(one.system) if one.system in SYSTEMS else -1))


def compute(cell: Cell, both: tuple[Pairs, Pairs], output: Path, options: Namespace) -> None:
    """Train and translate, and write the scores of a cell."""
    training, test = both
    if cell.pairs is not None and cell.pairs > len(training):
        print(f"{cell.name}: only {len(training):,} pairs, so it is left out")
        return
    folder, pairs = output / cell.name, training[: cell.pairs or 0]
    folder.mkdir(parents=True, exist_ok=True)
    sources, languages = [one for one, _ in test], (cell.direction[:2], cell.direction[3:])
    seconds = None
    if cell.system == "nearest":
        translations = [one.target for one in nearest(sources, pairs)]
    elif cell.system in PEERS:
        seconds = options.budget or budget(cell, output)
        if seconds is None:
            print(f"{cell.name}: left out; compute {replace(cell, system='memory').name} first, or give --budget")
            return
        how = Training(options.peers, seconds, cell.seed or 1)
        try:
            translations = translations_of_peer(cell.system, folder, pairs, sources, languages, how)
            scores = scored(translations, test)
            if scores["bleu"] < LEAST_BLEU:
                raise PeerFailed(f"its translations have {scores['bleu']:.2f} BLEU: it has not learned to translate")
        except PeerFailed as failure:
            reason = str(failure).replace(str(output), "RUNS")
            write_json(folder / "scores.json", {"failed": reason, "processor_seconds": seconds})
            print(f"{cell.name} failed: {failure}", flush=True)
            return
    else:
        model = cell.direction
        if cell.system != "installed":
            seconds, model = trained(folder, pairs, languages, cell, options.threads), str(folder / "model")
        translations = translated(model, sources, folder)
    write_json(folder / "scores.json", {**scored(translations, test), "processor_seconds": seconds})
    print(f"computed {cell.name}", flush=True)


def budget(cell: Cell, output: Path) -> float | None:
    """The processor seconds that our model had, if they are known."""
    path = output / replace(cell, system="memory").name / "scores.json"
    seconds: float | None = json.loads(path.read_text(encoding="utf-8"))["processor_seconds"] if path.exists() else None
    return seconds


def record(on: dict[str, Any], computed: Sequence[Cell], output: Path) -> None:
    """Write the record, in the order of texts, directions and sizes."""
    rows = []
    for one in sorted(computed, key=lambda one: (one.text, one.direction, one.pairs or 0, one.system, one.seed or 0)):
        scores = json.loads((output / one.name / "scores.json").read_text(encoding="utf-8"))
        rows.append({**asdict(one), **scores})
        told = (
            f"failed: {scores['failed']}" if "failed" in scores else f"BLEU {scores['bleu']:.1f} chrF {scores['chrf']:.1f}"
        )
        print(f"{one.name:36} {told}")
    write_result("quality/small_data", machine=on, rows=rows)


def texts(data: Path, text: str, source: str, target: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The training pairs and the test pairs; no sentence of the test is in the training pairs."""
    if text == "multi30k":
        training, test = (
            pairs(*([data / text / f"{part}.{language}.gz"] for language in (source, target)))
            for part in ("train", "test_2016_flickr")
        )
    else:
        parts = [
            pairs(*([data / text / f"europarl-part{part}.{language}.xz"] for language in (source, target)))
            for part in (0, 1)
        ]
        training, test = parts[0], parts[1][-TEST_PAIRS:]
    tested = {sentence for pair in test for sentence in pair}
    return [pair for pair in training if not tested & set(pair)], test


def pairs(sources: list[Path], targets: list[Path]) -> list[tuple[str, str]]:
    """The pairs of some files, without those with an empty side; no more than are needed."""
    sides = (chain.from_iterable(map(read_lines, files)) for files in (sources, targets))
    return list(islice((pair for pair in zip(*sides, strict=True) if all(map(str.strip, pair))), 2 * max(SIZES)))


def trained(folder: Path, text: Pairs, languages: tuple[str, str], cell: Cell, threads: int | None) -> float | None:
    """Train our model on a text; return the processor seconds, None if it went on with an earlier run."""
    path = folder / "text.jsonl"
    path.write_text("".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in text), encoding="utf-8")
    how = ["--languages", ",".join(languages), "--output", folder / "model"]
    how += ["--from", cell.direction] if cell.system == "from-installed" else ["--preset", "memory"]
    resumed = (folder / "model").exists()
    cost = cost_of(rnnsearch("train", path, *how, "--resume", *settings_of({"training.seed": cell.seed})), threads)
    return None if resumed else round(cost["processor"], 1)


def translated(model: str, sources: Sequence[str], folder: Path) -> list[str]:
    """The translations of a model of ours."""
    source, output = folder / "test.source", folder / "test.hyp"
    source.write_text("".join(f"{one}\n" for one in sources), encoding="utf-8")
    run("translate", "--model", model, source, "--format", "text", "--output", output)
    return list(read_lines(output))


def scored(translations: list[str], test: Pairs) -> dict[str, Any]:
    """BLEU with its 95% interval, and chrF."""
    references = [reference for _, reference in test]
    score = corpus_score(translations, references)
    low, high = np.quantile(bootstrap_bleu(translations, references), (0.025, 0.975)).tolist()
    return {"bleu": round(score.bleu, 2), "interval": [round(low, 2), round(high, 2)], "chrf": round(score.chrf, 2)}
