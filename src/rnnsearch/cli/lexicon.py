"""`rnnsearch lexicon`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rnnsearch.cli.options import Jobs, Model, SearchSet, check_inputs, once, search_settings
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.translation import Translator


_Source = Annotated[
    Path | None,
    typer.Option("--source", "-s", metavar="FILE", help="Source text to learn from, preferably the training text."),
]
_Target = Annotated[Path | None, typer.Option("--target", "-t", metavar="FILE", help="Its translation, line by line.")]
_CheckSource = Annotated[
    Path | None,
    typer.Option("--check-source", metavar="FILE", help="Development text, to count the translations that change."),
]
_CheckReference = Annotated[
    Path | None, typer.Option("--check-reference", metavar="FILE", help="Its reference translations.")
]


def command(
    model: Model,
    source: _Source = None,
    target: _Target = None,
    check_source: _CheckSource = None,
    check_reference: _CheckReference = None,
    jobs: Jobs = 1,
    set_: SearchSet = None,
) -> None:
    """Learn a lexicon of word translations from the attention.

    The lexicon is written into the model folder as `lexicon.tsv`. Vocabulary selection (`search.vocabulary_selection`)
    restricts the search to the most frequent target words and to the lexicon's translations of the source words. With
    development text, the command prints how many translations change because of that. A run that was killed goes on where it
    was.
    """
    settings = search_settings(False, None, set_)
    if (source is None) != (target is None) or (check_source is None) != (check_reference is None):
        raise RnnsearchError("give both sides: --source and --target, --check-source and --check-reference")
    if source is None and check_source is None:
        raise RnnsearchError("there is nothing to do: give --source and --target, or --check-source and --check-reference")
    pairs = ((source, target), (check_source, check_reference))
    check_inputs(*(file for one, other in pairs if one and other for file in once(one, other)), models=[model])

    from rnnsearch.translation import load

    translator = load(model)
    if source is not None and target is not None:
        _learn(translator, model, source, target, jobs)
    if check_source is not None and check_reference is not None:
        _check(translator, model, check_source, check_reference, settings, jobs)


def _learn(translator: Translator, model: Path, source: Path, target: Path, jobs: int) -> None:
    """Counts links, and writes the lexicon."""
    from collections import Counter

    from rnnsearch.cli.bar import bar
    from rnnsearch.data.read import read_pairs
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.lexicon import LEXICON, Lexicon
    from rnnsearch.translation.stages import CountLinks

    counts: dict[str, Counter[str]] = {}
    read = 0
    with job(CountLinks(translator, [model]), model / LEXICON, jobs, bar("counting links", source)) as counting:
        for result in counting.results(cut(read_pairs([source], [target]))):
            read += result["pairs"]
            for word, linked in result["counts"].items():
                counts.setdefault(word, Counter()).update(linked)
        if not counts:
            if counting.kept is not None:
                counting.kept.clear()
            raise RnnsearchError(f"{source}, {target}: none of the {read} pairs can be learned from")
        lexicon = Lexicon.from_counts(counts)
        counting.out.writelines(lexicon.lines())
    print(f"{model / LEXICON}: {len(lexicon.translations):,} source words, learned from {read:,} pairs")


def _check(translator: Translator, model: Path, source: Path, reference: Path, settings: dict[str, Any], jobs: int) -> None:
    """Counts the translations that vocabulary selection changes."""
    from rnnsearch.cli.bar import bar
    from rnnsearch.data.read import read_pairs
    from rnnsearch.evaluation.bleu import bleu
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.stages import Translate, with_prefixes

    checked = list(read_pairs([source], [reference]))
    if not checked:
        raise RnnsearchError(f"{source}, {reference}: no pairs to translate")
    lines, references = [line for line, _ in checked], [line for _, line in checked]
    words = translator.system.config.search.vocabulary_selection or 1000
    settings = {"vocabulary_selection": words, "split_sentences": False} | settings
    stage = Translate(translator, [model], format=None, settings=settings)
    with job(stage, None, jobs, bar("translating", total=2 * len(lines))) as translating:
        without, with_it = (
            [
                translation.text
                for done in translating.rows(cut(with_prefixes(lines, None)), len(lines), how)
                for translation in done.record or ()
            ]
            for how in ({"vocabulary_selection": 0}, {})
        )
    changed = sum(one != other for one, other in zip(without, with_it, strict=True))
    print(
        f"search.vocabulary_selection={settings['vocabulary_selection']} changes {changed:,} of {len(lines):,} "
        f"translations; BLEU {bleu(without, references):.2f} without, {bleu(with_it, references):.2f} with it"
    )
