"""How good a translator is that has only a small memory to learn from, by the number of pairs.

    python benchmarks/quality/small_data.py --data DATA --output RUNS [--texts multi30k] [--directions en-fr] [--sizes 2000]
        [--seeds 3] [--threads 2]

Four translators, on captions (Multi30k) and on debates (Europarl), in both directions:

- `memory`: `rnnsearch train` on the pairs, with the preset that it chooses itself (`memory`);
- `from installed`: the installed model, trained further on the pairs with a learning rate of 0.0005;
- `installed`: the installed model as it is;
- `nearest`: the translation of the most similar of the pairs, unchanged.

The pairs are the first ones of the training text that no sentence of the test set is in. The test sets are test_2016_flickr,
and 1,000 pairs from the end of the second part of Europarl; they are translated once, and nothing is chosen by them. `train`
holds its development set out of the pairs. BLEU and chrF are sacreBLEU's, with the 95% interval of BLEU by bootstrap
resampling, and the processor seconds of the training. With `--seeds`, so many models are trained of each kind. What is in
RUNS already is not trained again, and the same command goes on with a training that was killed; its processor seconds are
then not known. The smallest curve that says something, of one text and direction:

    python benchmarks/quality/small_data.py --data DATA --output RUNS --threads 1
        --texts multi30k --directions en-fr --sizes 2000 20000
"""

from __future__ import annotations

import json
import sys
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser, cost_of, rnnsearch, run
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, sized, write_result
from rnnsearch.atomic import write_json
from rnnsearch.data.read import read_lines
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.evaluation.nearest import nearest
from rnnsearch.evaluation.significance import bootstrap_bleu

SIZES = sized((2_000, 5_000, 20_000, 100_000), (200,))
DIRECTIONS = (("en", "fr"), ("fr", "en"))
TEST_PAIRS = sized(1000, 10)
FURTHER = {"training.learning_rate": 5e-4, "training.max_epochs": 8, "training.optimizer": "adam"}
"""How the installed model is trained further."""


def main() -> None:
    """Train and score all, and record the scores."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--texts", nargs="+", default=["multi30k", "europarl"], choices=("multi30k", "europarl"))
    parser.add_argument("--directions", nargs="+", default=["-".join(pair) for pair in DIRECTIONS])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    on = machine()
    rows: list[dict[str, Any]] = []
    for text in arguments.texts:
        for direction in arguments.directions:
            source, target = direction.split("-")
            training, test = texts(arguments.data, text, source, target)
            name = f"{text}-{direction}"
            about = {"text": text, "direction": direction}
            installed = evaluated(direction, test, arguments.output / name / "installed")
            rows.append({**about, "system": "installed", "pairs": None, **installed})
            for size in arguments.sizes:
                if size > len(training):
                    print(f"{name}: only {len(training):,} pairs, so not with {size:,}")
                    continue
                pairs = training[:size]
                matches = nearest([one for one, _ in test], pairs)
                rows.append({**about, "system": "nearest", "pairs": size, **scored([one.target for one in matches], test)})
                for system in ("memory", "from installed"):
                    for seed in range(1, arguments.seeds + 1):
                        folder = arguments.output / name / f"{size}-{system.replace(' ', '-')}-{seed}"
                        found = trained(folder, pairs, test, (source, target), system, seed, arguments.threads)
                        rows.append({**about, "system": system, "pairs": size, "seed": seed, **found})
    for row in rows:
        pairs_told = "" if row["pairs"] is None else f"{row['pairs']:,} pairs"
        about_it = f"{row['text']} {row['direction']} {row['system']:14} {pairs_told:14}"
        print(f"{about_it} BLEU {row['bleu']:.1f} chrF {row['chrf']:.1f}")
    write_result(
        "quality/small_data",
        machine=on,
        command="python benchmarks/quality/small_data.py --data DATA --output RUNS",
        rows=rows,
    )


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


def trained(
    folder: Path,
    text: list[tuple[str, str]],
    test: list[tuple[str, str]],
    languages: tuple[str, str],
    system: str,
    seed: int,
    threads: int | None,
) -> dict[str, Any]:
    """The scores of a model that is trained on a text, and the processor seconds."""
    record = folder / "scores.json"
    if record.exists():
        kept: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
        return kept
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "text.jsonl"
    path.write_text("".join(json.dumps({"source": s, "target": t}) + "\n" for s, t in text), encoding="utf-8")
    how = ["--languages", ",".join(languages), "--output", folder / "model"]
    settings: dict[str, object] = {"training.seed": seed}
    if system == "from installed":
        how += ["--from", "-".join(languages)]
        settings |= FURTHER
    else:
        how += ["--preset", "memory"]
    resumed = (folder / "model").exists()
    cost = cost_of(rnnsearch("train", path, *how, "--resume", *settings_of(settings)), threads)
    scores = evaluated(str(folder / "model"), test, folder)
    found = {**scores, "processor_seconds": None if resumed else round(cost["processor"], 1)}
    write_json(record, found)
    return found


def evaluated(model: str, test: list[tuple[str, str]], folder: Path) -> dict[str, Any]:
    """The scores of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    source, output = folder / "test.source", folder / "test.hyp"
    if not output.exists():
        source.write_text("".join(f"{one}\n" for one, _ in test), encoding="utf-8")
        run("translate", "--model", model, source, "--format", "text", "--output", output)
    return scored(list(read_lines(output)), test)


def scored(translations: list[str], test: list[tuple[str, str]]) -> dict[str, Any]:
    """BLEU with its 95% interval, and chrF."""
    references = [reference for _, reference in test]
    score = corpus_score(translations, references)
    low, high = np.quantile(bootstrap_bleu(translations, references), (0.025, 0.975)).tolist()
    return {"bleu": round(score.bleu, 2), "interval": [round(low, 2), round(high, 2)], "chrf": round(score.chrf, 2)}


if __name__ == "__main__":
    main()
