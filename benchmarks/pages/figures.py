"""What the templates of pages compute from the records."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.lib.record import read_all
from rnnsearch.config import from_preset, to_dict
from rnnsearch.data.word_alignments import parse_gold
from rnnsearch.experiments.recipe import recipe
from rnnsearch.model_catalog import default_model, summarize
from rnnsearch.report.figures import SERIES, add_legend, new_figure, plain_axes, save_figure, start_at_zero

CURVES = Path(__file__).parents[2] / "docs" / "images" / "newstest2014-curves.png"
DEVELOPMENT = ("newstest2012", "newstest2013")
COMPARABLE_FROM = {"best": 8001}
"""The first update after which a row of newstest2014 was validated on the same sentences as the others."""
Record = dict[str, Any]


def source(script: str, record_name: str) -> str:
    """Names the script behind a table and its record; a record of several processors or systems has an asterisk."""
    name = f"results/{record_name}.json"
    where = f"`{name}`" if "*" in name else f"[`{name}`](../../benchmarks/{name})"
    if not script:
        return f"Recorded in {where}."
    return f"Measured by [`{script}.py`](../../benchmarks/{script}.py), recorded in {where}."


# Small data ----------------------------------------------------------------------------------------------------------

SMALL_SYSTEMS = {
    "memory": "`rnnsearch train` on the pairs",
    "from-installed": "the installed translator, trained further on the pairs",
    "installed": "the installed translator, as it is",
    "nearest": "the translation of the nearest pair, as it is",
    "joeynmt": "JoeyNMT, for as many processor minutes",
    "eole": "eole, for as many processor minutes",
}


def small_data(rows: list[Record], text: str, direction: str) -> tuple[list[int], dict[str, list[str]]]:
    """The numbers of pairs that a text has cells for, and for each system what its cells say, one for each number."""
    own = [row for row in rows if (row["text"], row["direction"]) == (text, direction)]
    sizes = sorted({row["pairs"] for row in own if row["pairs"]})
    table = {}
    for system, name in SMALL_SYSTEMS.items():
        of_system = [row for row in own if row["system"] == system]
        if of_system:
            # The installed translator has not learned from the pairs.
            table[name] = [_small_cell([row for row in of_system if row["pairs"] in (None, size)]) for size in sizes]
    return sizes, table


def _small_cell(seeds: list[Record]) -> str:
    """The mean of some seeds: BLEU with its interval, and the processor minutes of the training."""
    if not seeds:
        return "–"
    failed = [row["failed"] for row in seeds if "failed" in row]
    seeds = [row for row in seeds if "failed" not in row]
    if not seeds:
        return f"failed: {failed[0]}".replace("|", "\\|")
    bleu, low, high = (
        statistics.mean(values) for values in zip(*((row["bleu"], *row["interval"]) for row in seeds), strict=True)
    )
    seconds = [row["processor_seconds"] for row in seeds if row["processor_seconds"] is not None]
    told = f"{bleu:.1f} ({low:.1f}–{high:.1f})"
    told += f", {statistics.mean(seconds) / 60:.0f} min" if seconds else ""
    told += f", {len(seeds)} seeds" if len(seeds) > 1 else ""
    return told + (f", {len(failed)} failed" if failed else "")


# Quality --------------------------------------------------------------------------------------------------------------


def systems(language: str) -> Iterator[tuple[str, ...]]:
    """A row for every record of a system that translates Multi30k into this language."""
    for stem, record in read_all("quality/multi30k-*").items():
        named = re.fullmatch(r"(rnn\w+)-(.+?)(-de)?(-and-\d+-more)?", stem)
        assert named is not None
        if bool(named[3]) != (language == "de"):
            continue
        model, preset, where = named[1].replace("rnn", "RNN"), named[2], record["machine"]["cpu"]
        runs = [record, *record.get("others", [])]
        members = [run for run in runs if "member" in run]
        for seed, run in enumerate(members or runs, 1):
            training = run["training"]
            label = f"{model}, {preset}, seed {seed}" if len(runs) > 1 else f"{model}, {preset}"
            if members:  # the others have a record of their own
                label = f"{model}, {_member(preset, run['member'])}"
            numbers = f"{training['parameters'] / 1e6:.1f} M", f"{training['hours']:.1f}"
            yield label, *_bleus(run["evaluation"]), *numbers, where
        if "ensemble" in record:
            together = ("with this one" if len(members) == 1 else "with these") if members else f"ensemble of {len(runs)}"
            yield f"**{model}, {preset}, {together}**", *_bleus(record["ensemble"]), "", "", where
    for stem, record in read_all("quality/joeynmt_transformer-*").items():
        if stem.endswith("-de") == (language == "de"):
            name = f"Transformer, {stem.removesuffix('-de')} (JoeyNMT {record['version']})"
            yield name, *_bleus(record["evaluation"]), "", f"{record['hours']:.1f}", record["machine"]["cpu"]


def _member(preset: str, settings: str) -> str:
    """A model that translates together with one of `preset`: how it differs from its own preset."""
    alone = preset.split("-")[0]
    own = to_dict(from_preset(alone))
    differ = []
    for setting in settings.split():
        key, value = setting.split("=")
        section, _, field = key.partition(".")
        if str(own[section][field]).lower() != value:
            differ.append(f"`{setting}`")
    return f"{alone}, {' '.join(differ)}" if differ else f"{alone}, subwords of {preset}"


def _bleus(evaluation: Record) -> tuple[str, ...]:
    """BLEU on `val`, and both kinds of it on the test set."""
    tokenised = evaluation["test_2016_flickr"].get("lower-cased, tokenised")
    cased = (f"{evaluation[test]['all']['bleu']:.2f}" for test in ("val", "test_2016_flickr"))
    return *cased, f"{tokenised['bleu']:.2f}" if tokenised else "–"


def installed() -> dict[str, Record]:
    """The facts of each installed translator."""
    return {f"{pair[:2]}-{pair[3:]}": _facts(pair, record) for pair, record in read_all("quality/box-*").items()}


def _facts(pair: str, record: Record) -> Record:
    ways = next(row["ways"] for row in record["rows"].values() if "float32" in row["ways"])
    scores = ways["int8 weights, int8 products"]["scores"]
    languages = {"en": "English", "fr": "French"}
    return {
        "from_language": languages[pair[:2]],
        "to_language": languages[pair[3:]],
        "floats": f"{ways['float32']['megabytes']:.0f} MB",
        "parameters": f"{record['trainings'][-1]['parameters'] / 1e6:.1f} million parameters",
        "megabytes": f"{summarize(default_model(pair)).megabytes:.1f} MB",
        "tatoeba": f"{scores['Tatoeba']['bleu']:.1f}",
        "news": f"{scores['newstest2013']['bleu']:.1f}",
        "signature": scores["Tatoeba"]["signature"],
        "hours": f"{sum(training['hours'] for training in record['trainings']):.1f} hours",
        "sentences": f"{scores['Tatoeba']['sentences']:,}",
        "rows": record["rows"],
        "examples": next(row["examples"] for row in record["rows"].values() if "float32" in row["ways"]),
    }


# newstest2014 ---------------------------------------------------------------------------------------------------------


def bleus(row: Record) -> list[float]:
    """The BLEU of a row on each development set."""
    return [row["scores"]["as it is"][test]["all"]["bleu"] for test in DEVELOPMENT]


def gains(before: Record, after: Record) -> str:
    """How much more BLEU a row has on each development set."""
    return " and ".join(f"{now - then:.1f}" for then, now in zip(bleus(before), bleus(after), strict=True))


def recipe_of(name: str) -> str:
    """How the settings of a row that was trained from nothing differ from the paper's."""
    from benchmarks.quality.newstest import ROWS

    overrides: dict[str, Record] = {}
    for key, value in ROWS[name].settings.items():
        section, _, field = key.partition(".")
        overrides.setdefault(section, {})[field] = value
    return recipe(to_dict(from_preset(ROWS[name].preset, overrides)))


def costs_of(rows: Mapping[str, Record], names: Iterable[str]) -> Record:
    """What each command cost, as the last of the rows tells that knows."""
    return {command: cost for name in names for command, cost in (rows[name].get("costs") or {}).items()}


def draw_curves(rows: Mapping[str, Any]) -> None:
    """BLEU on the development set against hours, a line for each system that was trained from nothing."""
    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    for name, colour in zip(("rnnencdec-50", "rnnsearch-50", "best"), SERIES, strict=False):
        first, validations = COMPARABLE_FROM.get(name, 0), rows[name]["training"]["validations"]
        points = [(one["hours"], one["valid_bleu"]) for one in validations if one["update"] >= first]
        axes.plot(*zip(*(points if first else [(0.0, 0.0), *points]), strict=True), color=colour, label=name)
    plain_axes(axes, "hours", "BLEU")
    start_at_zero(axes)
    add_legend(axes)
    save_figure(figure, CURVES)


# Alignment, characters, scale, speed ----------------------------------------------------------------------------------


def differing_links(example: Record) -> Iterator[tuple[str, str, str]]:
    """The words of the links that only one of two aligners drew, and what each link is where it was drawn."""
    source, target = example["source"].split(), example["target"].split()
    links = {name: parse_gold(example[name]).sure for name in ("rnnsearch", "eflomal", "gold", "possible")}
    for link in sorted(links["rnnsearch"] ^ links["eflomal"]):
        right = "right" if link in links["gold"] else "possible" if link in links["possible"] else "wrong"
        ours, theirs = (right if link in links[name] else "" for name in ("rnnsearch", "eflomal"))
        yield f"{source[link[0]]} – {target[link[1]]}", ours, theirs


def language_of(system: Record, level: str, language: str) -> Record | None:
    """The row of a language of a level, if the system has been trained on it."""
    rows = system["levels"].get(level, {"languages": []})["languages"]
    return next((row for row in rows if row["language"] == language), None)


def rates(row: Record | None) -> list[str]:
    """The error rates and the minutes of a language."""
    if row is None:
        return ["–"] * 4
    low, high = row["wer_interval"]
    minutes = f"{row['minutes']:.1f}" if "minutes" in row else ""
    return [f"{row['wer']:.1f}", f"{low:.1f}–{high:.1f}", f"{row['ser']:.1f}", minutes]


def mean(level: Record, key: str) -> float:
    """The mean of the languages of a level."""
    values = [row[key] for row in level["languages"]]
    return float(sum(values) / len(values))


def noise(processes: Record) -> float:
    """The largest difference of a single round from the median of its rounds, as a share of the median."""
    medians: dict[str, dict[str, float]] = processes["words_per_second"]
    rounds: dict[str, dict[str, list[float]]] = processes["rounds"]
    return max(
        abs(value / medians[way][beside] - 1)
        for way, by in rounds.items()
        for beside, values in by.items()
        for value in values
    )


SPEED_TABLES = ("training_speed", "engine_roofline", "data_loading", "translation_speed")


def speeds() -> Iterator[tuple[Record, list[Record]]]:
    """The machine and the records of each kind of processor, in the order of `SPEED_TABLES`."""
    folders = {stem.split("/")[0] for stem in read_all("speed/*/*")}
    for folder in sorted(folders):
        found = []
        for name in SPEED_TABLES:
            found += sorted(read_all(f"speed/{folder}/{name}-*").items(), key=lambda item: (len(item[0]), item[0]))
        if found:
            yield {**found[0][1]["machine"], "folder": folder}, [record for _, record in found]


def speed_sources(folder: str) -> str:
    """Names the scripts behind the table of a kind of processor, and their records."""
    found = []
    for script in SPEED_TABLES:
        names = [f"{script}-{rest}" for rest in read_all(f"speed/{folder}/{script}-*")]
        records = ", ".join(f"[`{name}.json`](../../benchmarks/results/speed/{folder}/{name}.json)" for name in names)
        if names:
            found.append(f"[`{script}.py`](../../benchmarks/speed/{script}.py) ({records})")
    return f"Measured by {', '.join(found)}; the records are in `results/speed/{folder}`."


def loads(value: Any) -> list[float]:
    """The loads beside all runs in a record."""
    if isinstance(value, list):
        return [load for item in value for load in loads(item)]
    if isinstance(value, dict):
        own = value.get("background_during")
        return ([] if own is None else [own]) + [load for item in value.values() for load in loads(item)]
    return []


def curve_rows(systems: list[dict[str, Any]], rows: int = 15) -> list[dict[str, Any]]:
    """The BLEU of each trained system, and the norm of the gradient of the fourth, at about so many of their validations."""
    trained = [{v["update"]: v for v in system["validations"]} for system in systems if system.get("validations")]
    updates = sorted({update for curve in trained for update in curve})
    return [
        {
            "update": update,
            "bleu": [curve.get(update, {}).get("valid_bleu") for curve in trained],
            "norm": trained[3].get(update, {}).get("gradient_norm"),
        }
        for update in updates[:: max(1, len(updates) // rows)]
    ]


FUNCTIONS = (
    *(source, curve_rows),
    *(systems, installed, bleus, gains, recipe_of, costs_of),
    *(small_data, differing_links, language_of, rates, mean, noise, speeds, speed_sources, loads),
)
"""What templates call by name."""
