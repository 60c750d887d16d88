"""The demonstration: everything the system does, on its built-in corpus, in a few minutes."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from rnnsearch.atomic import write_json
from rnnsearch.config import Config
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import hard_alignment, read_gold
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.evaluation.aer import AlignmentScore, alignment_error_rate
from rnnsearch.evaluation.system import Evaluation, evaluate
from rnnsearch.report.heatmap import plot_alignment
from rnnsearch.report.page import Sample, write_page
from rnnsearch.training.session import train
from rnnsearch.training.trainer import CHECKPOINT
from rnnsearch.translation import Translation, Translator, load

TEST_PAIRS = 500


def next_steps(folder: Path) -> tuple[str, ...]:
    """Commands to try after the demonstration in `folder`; a line that begins with `#` says why."""
    return (
        "# Translate a sentence of your own, of words the little grammar knows",
        f"echo 'The old man gives the red book to the girl.' | rnnsearch translate --model {folder}/model",
        "# With scores and alignments, as JSON",
        f"rnnsearch translate --model {folder}/model --format json {folder}/corpus/test.en",
        "# Train on your own text: a sentence a line, line n of one file the translation of line n of the other",
        "rnnsearch train --source train.en --target train.fr --valid-source dev.en --valid-target dev.fr --output model",
    )


@dataclass(frozen=True)
class Shown:
    """A sentence picked to be shown."""

    source: str
    reference: str
    translation: Translation


@dataclass(frozen=True)
class Demo:
    """What the demonstration found and wrote."""

    evaluation: Evaluation
    alignment: AlignmentScore | None
    shown: list[Shown]
    """A few of its translations."""
    page: Path
    heat_maps: list[Path]


def run_demo(folder: Path, config: Config, pairs: int, seed: int, console: Console) -> Demo:
    """Make the corpus, train (or go on with a training that was stopped), evaluate, and write the page."""
    corpus = folder / "corpus"
    if not (corpus / "train.fr").exists():
        console.print(f"Generating {pairs:,} English–French sentence pairs from a small bilingual grammar …")
        write_corpus(corpus, train=pairs, valid=TEST_PAIRS, test=TEST_PAIRS, seed=seed)
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
    with console.status(f"translating {len(sources)} sentences it has never seen"):
        evaluation = evaluate(translator, sources, references)
        alignment = _alignment_score(translator, sources, references, corpus / "test.gold")
    shown = _choose(sources, references, evaluation.translations)
    heat_maps = []
    for number, translation in enumerate((sample.translation for sample in shown[:4]), 1):
        if translation.alignment is not None and translation.tokens:
            heat_maps.append(folder / f"alignment-{number}.png")
            plot_alignment(translation.alignment, translation.source_tokens, translation.tokens, heat_maps[-1])
    demo = Demo(evaluation, alignment, shown, folder / "index.html", heat_maps)
    write_json(folder / "scores.json", {"evaluation": evaluation.to_dict(), "aer": alignment and alignment.aer})
    _write_page(demo, model)
    return demo


def _alignment_score(
    translator: Translator, sources: list[str], references: list[str], gold: Path
) -> AlignmentScore | None:
    if not translator.system.model.aligns:
        return None
    pairs = translator.score(sources, references)
    predicted = [hard_alignment(pair.alignment) for pair in pairs if pair.alignment is not None]
    return alignment_error_rate(predicted, read_gold(gold))


def _choose(sources: list[str], references: list[str], translations: list[Translation]) -> list[Shown]:
    """One sentence of each of several lengths: the one whose words change their order the most."""
    chosen = []
    for low, high in ((5, 8), (9, 12), (13, 16), (17, 22), (23, 30), (31, 60)):
        of_length = [
            (_crossings(translation), -index)
            for index, translation in enumerate(translations)
            if low < len(translation.source_tokens) <= high + 1
        ]
        if of_length:
            index = -max(of_length)[1]
            chosen.append(Shown(sources[index], references[index], translations[index]))
    return chosen


def _crossings(translation: Translation) -> int:
    """Pairs of neighbouring target words that were read from right to left."""
    sources = [j for _, j in sorted((i, j) for j, i in translation.links or [])]
    return sum(after < before for before, after in itertools.pairwise(sources))


def _write_page(demo: Demo, model: Path) -> None:
    record = json.loads((model / "training.json").read_text(encoding="utf-8"))
    score = demo.evaluation.all
    figures = {
        "BLEU": f"{score.bleu:.1f}\n{score.bleu_signature}",
        "chrF": f"{score.chrf:.1f}",
        "training": f"{60 * record['hours']:.1f} min\n{record['updates']:,} updates, {record['epochs']:.1f} epochs",
        "speed": f"{record['target_words_per_second']:,}\ntarget words a second, validation included",
        "parameters": f"{record['parameters'] / 1e6:.1f} M",
    }
    if demo.alignment:
        figures["AER"] = f"{demo.alignment.aer:.3f}\nagainst gold links; 0 is perfect"
    write_page(
        demo.page,
        title="rnnsearch: a translator and what it looks at",
        introduction=(
            "This translator began with random numbers a few minutes ago. It was shown English sentences beside their "
            "French translations, nothing else: no dictionary, no grammar, no word alignments. What it makes of sentences "
            "that it has never seen is below, and each word of it can tell which source words it was read from."
        ),
        figures=figures,
        curves=record["validations"],
        length_bins=demo.evaluation.by_length,
        samples=[
            Sample(
                source_tokens=sample.translation.source_tokens,
                target_tokens=sample.translation.tokens,
                alignment=sample.translation.alignment,
                source_text=sample.source,
                translation_text=sample.translation.text,
                reference_text=sample.reference,
            )
            for sample in demo.shown
        ],
        next_steps=next_steps(model.parent),
    )
