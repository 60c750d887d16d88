"""Collection of the results of a reproduction from the files in its folder."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from rnnsearch.config import to_dict
from rnnsearch.data.lines import read_lines
from rnnsearch.evaluation.bleu import CorpusScore, LengthBin, bleu_by_length, corpus_score
from rnnsearch.evaluation.coverage import unread_words
from rnnsearch.evaluation.significance import bootstrap_bleu, compare
from rnnsearch.experiments import paper
from rnnsearch.experiments.claims import Changes, check_claims, compared_bins
from rnnsearch.experiments.experiment import Experiment, TrainedSystem
from rnnsearch.experiments.further_claims import Evidence, further_claims
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.measure import Measured, open_measured, unsure
from rnnsearch.experiments.recipe import recipe
from rnnsearch.experiments.testset import TestSet, open_test_set
from rnnsearch.report.results import (
    Attempt,
    LongSentence,
    Results,
    SystemResult,
    Training,
)

MOSES_ABSENT = "not run: --system Moses=FILE shows its translations"


def collect_results(experiment: Experiment, layout: Layout, outside: Mapping[str, Path], command: str) -> Results:
    """Score and compare all systems; `outside` are translations of the test set by other systems, by their names."""
    test = open_test_set(experiment.text, layout.test)
    measured = {system.name: open_measured(layout.translations(system)) for system in experiment.systems}
    texts = {name: measurements.texts for name, measurements in measured.items()}
    texts |= {name: list(read_lines(path)) for name, path in outside.items()}
    comparison = compare(texts, test.references)
    systems = [_trained(experiment, layout, system, measured[system.name], test) for system in experiment.systems]
    systems += [_outside(experiment, test, name, path, texts[name]) for name, path in outside.items()]
    by_paper_name = {system.paper: system for system in systems if system.paper}
    aligned_by = next(system for system in experiment.systems if system.paper == "RNNsearch-50").name
    figure_3 = [measured[aligned_by].shown[number] for number in test.choice.figure_3]
    files = [layout.translations(system) / "all.target" for system in experiment.systems] + list(outside.values())
    return Results(
        scale=experiment.scale,
        introduction=_introduction(experiment, layout),
        settings=experiment.describe(),
        systems=systems,
        absent={} if "Moses" in outside else {"Moses": MOSES_ABSENT},
        paper=paper.ROWS,
        comparison=comparison,
        claims=[
            *check_claims(by_paper_name, comparison, _changes(test, systems, texts)),
            *further_claims(_evidence(experiment, test, measured, texts)),
        ],
        alignments=[pair for pair in figure_3 if pair.alignment is not None and pair.tokens],
        aligned_by=aligned_by,
        long_sentences=[_long_sentence(number, test, measured, texts, outside) for number in test.choice.table_3],
        long=experiment.long,
        commands=(
            command,
            _command("rnnsearch", "compare", "--reference", experiment.text.test_target, *files),
        ),
    )


def _evidence(
    experiment: Experiment, test: TestSet, measured: Mapping[str, Measured], texts: Mapping[str, Sequence[str]]
) -> Evidence:
    """Return the evidence for the further claims, with RNNsearch-50 and RNNsearch-50* as the last two systems."""
    *_, search, longer = (system.name for system in experiment.systems)
    edges = experiment.edges
    middle = (len(edges) - 1) // 2
    known = test.choice.known
    return Evidence(
        search=search,
        longer=longer,
        sources=test.sources,
        references=test.references,
        translations=texts[search],
        lengths=test.choice.lengths,
        middle=(edges[middle - 1], edges[middle]),
        long=experiment.limits[1],
        known_references=[test.references[i] for i in known],
        known_translations=measured[longer].known_texts,
        known_moses=[texts["Moses"][i] for i in known] if "Moses" in texts else None,
        inspection=measured[search].inspection,
    )


def as_dict(results: Results) -> dict[str, Any]:
    """Return all numbers as values that JSON can represent, without the alignments, which are in `measurements.json`."""
    values = asdict(replace(results, alignments=[]))
    del values["alignments"]
    return values


def _trained(
    experiment: Experiment, layout: Layout, system: TrainedSystem, measured: Measured, test: TestSet
) -> SystemResult:
    """Return the results of a system that was trained here."""
    model, text = layout.model(system), experiment.text
    record = json.loads((model / "training.json").read_text(encoding="utf-8"))
    evaluate = ("rnnsearch", "evaluate", "--model", model)
    known = ("--source", layout.test / "no-unk.source", "--reference", layout.test / "no-unk.target")
    commands = [
        _command(*evaluate, "--source", text.test_source, "--reference", text.test_target),
        _command(*evaluate, *known, "--set", "search.forbid_unk=true"),
    ]
    if measured.aer:
        sides = ("--source", text.test_source, "--target", text.test_target, "--gold", text.test_gold or "")
        commands.append(_command("rnnsearch", "align", "--model", model, *sides))
    by_length = _by_length(experiment, test, measured.texts)
    return SystemResult(
        name=system.name,
        paper=system.paper,
        all=corpus_score(measured.texts, test.references),
        no_unk=_no_unk(test, measured.known_texts),
        by_length=by_length,
        training=Training(**{key: _number(record[key]) for key in Training.__dataclass_fields__}),
        aer=measured.aer,
        unread=None if measured.unread is None else _unread_shares(by_length, test.choice.lengths, measured.unread),
        unfinished=measured.unfinished,
        commands=tuple(commands),
    )


def _number(value: Any) -> Any:
    """Return a number of a JSON file, in which `null` stands for NaN."""
    return math.nan if value is None else value


def _changes(test: TestSet, systems: Sequence[SystemResult], texts: Mapping[str, Sequence[str]]) -> Changes:
    """Return the relative change of each system's BLEU from the middle bin to the longest one, in resampled test sets.

    The result is empty if there are no two bins to compare.
    """
    bins = compared_bins(systems[0].by_length)
    if bins is None:
        return {}
    members = [_members(systems[0].by_length[number], test.choice.lengths) for number in bins]
    changes = {}
    for system in systems:
        before, after = (
            bootstrap_bleu([texts[system.name][i] for i in chosen], [test.references[i] for i in chosen])
            for chosen in members
        )
        changes[system.name] = (after - before) / np.maximum(before, 1e-9)
    return changes


def _members(length_bin: LengthBin, lengths: Sequence[int]) -> list[int]:
    """Return the numbers of the sentences whose source length is in the bin."""
    return [i for i, words in enumerate(lengths) if length_bin.low < words <= (length_bin.high or words)]


def _outside(experiment: Experiment, test: TestSet, name: str, path: Path, lines: list[str]) -> SystemResult:
    """Return the results of a system whose translations come from a file."""
    return SystemResult(
        name=name,
        paper=name if name in paper.ROWS else None,
        all=corpus_score(lines, test.references),
        no_unk=_no_unk(test, [lines[i] for i in test.choice.known]),
        by_length=_by_length(experiment, test, lines),
        training=None,
        aer=None,
        unread=None,
        unfinished=0,
        commands=(_command("sacrebleu", experiment.text.test_target, "-i", path, "-m", "bleu", "chrf"),),
    )


def _no_unk(test: TestSet, lines: Sequence[str]) -> CorpusScore | None:
    references = [test.references[i] for i in test.choice.known]
    return corpus_score(lines, references) if references else None


def _by_length(experiment: Experiment, test: TestSet, lines: Sequence[str]) -> list[LengthBin]:
    return bleu_by_length(test.choice.lengths, lines, test.references, experiment.edges)


def _unread_shares(bins: Sequence[LengthBin], lengths: Sequence[int], unread: Sequence[int]) -> list[float | None]:
    """Return for each bin the share of the source words of its sentences that no target word attends to."""
    shares: list[float | None] = []
    for length_bin in bins:
        members = _members(length_bin, lengths)
        words = sum(lengths[i] for i in members)
        shares.append(sum(unread[i] for i in members) / words if words else None)
    return shares


def _long_sentence(
    number: int,
    test: TestSet,
    measured: Mapping[str, Measured],
    texts: Mapping[str, Sequence[str]],
    outside: Mapping[str, Path],
) -> LongSentence:
    attempts = []
    for name, measurements in measured.items():
        pair = measurements.shown[number]
        unread = None
        if pair.alignment is not None:
            unread = [pair.source_tokens[position] for position in unread_words(pair.alignment)]
        attempts.append(Attempt(name, measurements.texts[number], pair.tokens, unsure(pair), unread))
    attempts += [Attempt(name, texts[name][number], texts[name][number].split(), [], None) for name in outside]
    return LongSentence(test.sources[number], test.references[number], attempts)


def _introduction(experiment: Experiment, layout: Layout) -> str:
    short, long = experiment.limits
    last = experiment.systems[-1]
    assert last.continues is not None
    records = [
        json.loads((layout.model(system) / "training.json").read_text(encoding="utf-8")) for system in experiment.systems
    ]
    model = experiment.config.model
    devices = ", ".join(dict.fromkeys(record["device"] for record in records))
    pairs = " and ".join(f"{record['training_pairs']:,}" for record in (records[0], records[2]))
    selection = experiment.selection
    if experiment.builtin:
        text = "on sentences that a small bilingual grammar has generated"
    elif selection:
        names = ", ".join(path.name for path in selection.source)
        text = f"on {selection.words:,} words that were selected from {names} by {selection.in_domain_source.name}"
    else:
        text = f"on {', '.join(path.name for path in experiment.text.source)}"
    updates = experiment.config.training.max_updates
    by_updates = all(record["updates"] == updates for record in records[:4])
    cost = f"{updates:,} updates" if by_updates else f"{experiment.minutes:g} minutes"
    paragraphs = [
        "The experiments of Bahdanau, Cho and Bengio, “Neural Machine Translation by Jointly Learning to Align and "
        f"Translate” (2015), at the scale “{experiment.scale}”: RNNencdec, which reads a sentence into one vector, and "
        f"RNNsearch, which looks back at its words, each trained on sentences of up to {short} and of up to {long} words, "
        f"{text} ({pairs} pairs). Each had the same {cost} ({devices}) and {model.hidden_size} "
        f"hidden units; {last.name} is {last.continues.name} trained on, to at most {paper.MORE_UPDATES:.2f} times its "
        f"updates (in the paper, 2.32 times): {records[4]['updates']:,} where {last.continues.name} had "
        f"{records[3]['updates']:,}. It ended because of this: {records[4]['finished']}.",
        recipe(to_dict(experiment.config)),
    ]
    if experiment.limits != paper.LIMITS:
        paragraphs.append(
            f"These sentences are shorter than the paper’s, and so its limits of {paper.LIMITS[0]} and {paper.LIMITS[1]} "
            f"words are {short} and {long} here; the lengths of Figure 2 and Table 3 are scaled down alike."
        )
    return "\n\n".join(paragraphs)


def _command(*words: str | Path) -> str:
    return shlex.join(str(word) for word in words)
