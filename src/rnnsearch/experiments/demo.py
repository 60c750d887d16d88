"""The demonstration: train on the built-in corpus for a few minutes, evaluate, and write a page with the results."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from rnnsearch.atomic import write_json
from rnnsearch.config import Config
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import hard_alignment, read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.evaluation.aer import AlignmentScore, alignment_error_rate
from rnnsearch.evaluation.system import Evaluation, evaluate
from rnnsearch.report.heatmap import plot_alignment
from rnnsearch.report.page import Sample, write_page
from rnnsearch.training.session import train
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.translation import Translation, Translator, load


def next_steps(folder: Path) -> tuple[str, ...]:
    """Return commands to try after the demonstration in `folder`; a line that begins with `#` explains the next line."""
    return (
        "# Translate a sentence of your own, with words that are in the corpus",
        f"echo 'The old woman shows the red book to the girl.' | rnnsearch translate --model {folder}/model",
        "# With scores and alignments, as JSON",
        f"rnnsearch translate --model {folder}/model --format json {folder}/corpus/test.en",
        "# Train on your own text: one sentence per line; line n of one file is the translation of line n of the other",
        "rnnsearch train --source train.en --target train.fr --valid-source dev.en --valid-target dev.fr --output model",
    )


@dataclass(frozen=True)
class Demo:
    """The results of the demonstration, and the files that it has written."""

    evaluation: Evaluation
    alignment: AlignmentScore | None
    shown: list[Sample]
    """A few translations of different lengths."""
    page: Path
    heat_maps: list[Path]


def run_demo(folder: Path, config: Config, pairs: int, console: Console) -> Demo:
    """Write the corpus, train a model, evaluate it, and write the page, all in `folder`.

    A training that is stopped by a signal raises `Interrupted`; call `run_demo` again to resume it.
    """
    corpus = folder / "corpus"
    if not (corpus / "train.fr").exists():
        console.print(f"Training on {pairs:,} English–French sentence pairs of the built-in corpus")
        write_corpus(corpus, train=pairs)
    model = folder / "model"
    if not (model / "training.json").exists():
        train(
            model,
            config,
            sources=[corpus / "train.en"],
            targets=[corpus / "train.fr"],
            valid_source=corpus / "valid.en",
            valid_target=corpus / "valid.fr",
            resume=(model / CHECKPOINT).exists(),
            console=console,
        )
    translator = load(model)
    sources, references = list(read_lines(corpus / "test.en")), list(read_lines(corpus / "test.fr"))
    with console.status(f"translating {len(sources)} sentences that are not in the training text"):
        evaluation = evaluate(translator, sources, references)
        alignment = _alignment_score(translator, sources, references, corpus / "test.gold")
    chosen = _choose(evaluation.translations)
    heat_maps = []
    for number, translation in enumerate((evaluation.translations[index] for index in chosen[:4]), 1):
        tokens, weights = translation.with_end()
        if weights is not None and translation.tokens:
            heat_maps.append(folder / f"alignment-{number}.png")
            plot_alignment(weights, translation.source_tokens, tokens, heat_maps[-1])
    shown = [_sample(sources[index], references[index], evaluation.translations[index]) for index in chosen]
    demo = Demo(evaluation, alignment, shown, folder / "index.html", heat_maps)
    write_json(folder / "scores.json", {"evaluation": evaluation.to_dict(), "aer": alignment and alignment.aer})
    _write_page(demo, model)
    return demo


def _alignment_score(translator: Translator, sources: list[str], references: list[str], gold: Path) -> AlignmentScore | None:
    """Return the AER of the model's hard alignments of the references; None for a model without an alignment."""
    if not translator.system.aligns:
        return None
    pairs = translator.score(sources, references)
    predicted = [hard_alignment(pair.alignment) for pair in pairs if pair.alignment is not None]
    return alignment_error_rate(predicted, read_gold(gold))


def _choose(translations: list[Translation]) -> list[int]:
    """Return one sentence from each of several ranges of lengths: the one with the most reordering."""
    chosen = []
    for low, high in ((5, 8), (9, 12), (13, 16), (17, 22), (23, 30), (31, 60)):
        candidates = [
            (_crossings(translation), -index)
            for index, translation in enumerate(translations)
            if low < len(translation.source_tokens) <= high + 1
        ]
        if candidates:
            chosen.append(-max(candidates)[1])
    return chosen


def _sample(source: str, reference: str, translation: Translation) -> Sample:
    return Sample(
        source_tokens=translation.source_tokens,
        target_tokens=translation.tokens,
        alignment=translation.alignment,
        source_text=source,
        translation_text=translation.text,
        others={"Reference": reference},
    )


def _crossings(translation: Translation) -> int:
    """Return the number of pairs of neighbouring target words whose linked source words are in the opposite order."""
    sources = [j for _, j in sorted((i, j) for j, i in translation.links or [])]
    return sum(after < before for before, after in itertools.pairwise(sources))


def _write_page(demo: Demo, model: Path) -> None:
    record = json.loads((model / "training.json").read_text(encoding="utf-8"))
    score = demo.evaluation.all
    figures = {
        "BLEU": f"{score.bleu:.1f}\n{score.bleu_signature}",
        "chrF": f"{score.chrf:.1f}",
        "training": f"{60 * record['hours']:.1f} min\n{record['updates']:,} updates, {record['epochs']:.1f} epochs",
        "speed": f"{record['target_words_per_second']:,}\ntarget words per second of training, validation included",
        "parameters": f"{record['parameters'] / 1e6:.1f} M",
    }
    if demo.alignment:
        figures["AER"] = f"{demo.alignment.aer:.3f}\nagainst gold alignments; 0 is perfect"
    write_page(
        demo.page,
        title="rnnsearch: a translator and its attention",
        introduction=(
            "This model was trained a few minutes ago, from random weights, on English sentences and their French "
            "translations alone: it had no dictionary, no grammar and no word alignments. Below are its translations of "
            "sentences that are not in the training text, with the source words that each target word attends to."
        ),
        figures=figures,
        curves=record["validations"],
        length_bins=demo.evaluation.by_length,
        samples=demo.shown,
        next_steps=next_steps(model.parent),
    )
