"""`rnnsearch lexicon`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Model, SearchSet, check_inputs, search_settings
from rnnsearch.errors import RnnsearchError


def command(
    model: Model,
    source: Annotated[
        Path | None,
        typer.Option("--source", "-s", metavar="FILE", help="Source text to learn from, preferably the training text."),
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--target", "-t", metavar="FILE", help="Its translation, line by line.")
    ] = None,
    check_source: Annotated[
        Path | None,
        typer.Option("--check-source", metavar="FILE", help="Development text, to count the translations that change."),
    ] = None,
    check_reference: Annotated[
        Path | None, typer.Option("--check-reference", metavar="FILE", help="Its reference translations.")
    ] = None,
    set_: SearchSet = None,
) -> None:
    """Learn a lexicon of word translations from the attention.

    The lexicon is written into the model folder as `lexicon.tsv`. Vocabulary selection (`search.vocabulary_selection`)
    restricts the search to the most frequent target words and to the lexicon's translations of the source words. With
    development text, the command prints how many translations change because of that.
    """
    settings = search_settings(False, None, set_)
    if (source is None) != (target is None) or (check_source is None) != (check_reference is None):
        raise RnnsearchError("give both sides: --source and --target, --check-source and --check-reference")
    if source is None and check_source is None:
        raise RnnsearchError("there is nothing to do: give --source and --target, or --check-source and --check-reference")
    check_inputs(source, target, check_source, check_reference, models=[model])

    import itertools

    from rnnsearch.data.read import read_pairs
    from rnnsearch.evaluation.bleu import bleu
    from rnnsearch.translation import load
    from rnnsearch.translation.lexicon import LEXICON, Lexicon, LinkCounter

    translator = load(model)
    if source is not None and target is not None:
        counter, pairs, read = LinkCounter(translator.system), read_pairs([source], [target]), 0
        while group := list(itertools.islice(pairs, 2000)):
            read += len(group)
            counter.add(
                [translator.source_words(line) for line, _ in group], [translator.target_words(line) for _, line in group]
            )
        if not counter.counts:
            raise RnnsearchError(f"{source}, {target}: none of the {read} pairs can be learned from")
        lexicon = Lexicon.from_counts(counter.counts)
        lexicon.save(model)
        print(f"{model / LEXICON}: {len(lexicon.translations):,} source words, learned from {read:,} pairs")
    if check_source is not None and check_reference is not None:
        checked = list(read_pairs([check_source], [check_reference]))
        if not checked:
            raise RnnsearchError(f"{check_source}, {check_reference}: no pairs to translate")
        lines, references = [line for line, _ in checked], [line for _, line in checked]
        words = translator.system.config.search.vocabulary_selection or 1000
        settings = {"vocabulary_selection": words} | settings
        without = [t.text for t in translator.translate(lines, **settings | {"vocabulary_selection": 0})]
        with_it = [t.text for t in translator.translate(lines, **settings)]
        changed = sum(one != other for one, other in zip(without, with_it, strict=True))
        print(
            f"search.vocabulary_selection={settings['vocabulary_selection']} changes {changed:,} of {len(lines):,} "
            f"translations; BLEU {bleu(without, references):.2f} without, {bleu(with_it, references):.2f} with it"
        )
