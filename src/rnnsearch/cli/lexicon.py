"""`rnnsearch lexicon`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Model, SearchSet, search_settings


def command(
    model: Model,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", help="Source text to learn from, best the text of the training.")
    ] = None,
    target: Annotated[Path | None, typer.Option("--target", "-t", help="Its translation, line by line.")] = None,
    check_source: Annotated[
        Path | None, typer.Option("--check-source", help="Development text to count changed translations on.")
    ] = None,
    check_reference: Annotated[Path | None, typer.Option("--check-reference", help="Its reference translations.")] = None,
    set_: SearchSet = None,
) -> None:
    """Learn which words translate which, from the model's attention, and keep it beside the model as `lexicon.tsv`.

    `search.shortlist` chooses among the most frequent words and those that the lexicon has for the words of a sentence.
    With development text, this prints how many translations change by it.
    """
    import itertools

    from rnnsearch.data.read import read_pairs
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.evaluation.bleu import bleu
    from rnnsearch.translation import load
    from rnnsearch.translation.lexicon import LEXICON, Lexicon, LinkCounter

    settings = search_settings(False, None, set_)
    translator = load(model)
    if (source is None) != (target is None) or (check_source is None) != (check_reference is None):
        raise RnnsearchError("give both sides: --source and --target, --check-source and --check-reference")
    if source is None and check_source is None:
        raise RnnsearchError("nothing to do: give --source and --target, or --check-source and --check-reference")
    if source is not None and target is not None:
        counter, pairs, read = LinkCounter(translator.system), read_pairs([source], [target]), 0
        while group := list(itertools.islice(pairs, 2000)):
            read += len(group)
            counter.add(
                [translator.source_words(line) for line, _ in group], [translator.target_words(line) for _, line in group]
            )
        if not counter.counts:
            raise RnnsearchError(f"{source}, {target}: of {read} pairs there is none to learn from")
        lexicon = Lexicon.from_counts(counter.counts)
        lexicon.save(model)
        print(f"{model / LEXICON}: {len(lexicon.translations):,} source words, learned from {read:,} pairs")
    if check_source is not None and check_reference is not None:
        checked = list(read_pairs([check_source], [check_reference]))
        if not checked:
            raise RnnsearchError(f"{check_source}, {check_reference}: no pairs to count changed translations on")
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
