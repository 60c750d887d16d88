"""`rnnsearch lexicon`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Jobs, Model, SearchSet, check_inputs, once, search_settings
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

    from collections import Counter

    from rnnsearch.cli.bar import bar
    from rnnsearch.data.read import read_pairs
    from rnnsearch.evaluation.bleu import bleu
    from rnnsearch.shards import Kept, cut
    from rnnsearch.translation import load
    from rnnsearch.translation.corpora import CountLinks, TranslateLines, in_processes, model_digest, translate_all
    from rnnsearch.translation.lexicon import LEXICON, Lexicon

    translator = load(model)
    if source is not None and target is not None:
        counting, read = CountLinks(translator), 0
        counts: dict[str, Counter[str]] = {}
        run = {"command": "lexicon", "models": model_digest(model)}
        with (
            Kept(model / LEXICON, run) as kept,
            in_processes(counting, translator, jobs) as processes,
            bar("counting links", source) as advance,
        ):
            for result in processes.results(counting.shards(cut(read_pairs([source], [target]))), kept):
                read += result["pairs"]
                for word, linked in result["counts"].items():
                    counts.setdefault(word, Counter()).update(linked)
                advance(result["pairs"])
            lexicon = Lexicon.from_counts(counts)
            if counts:
                lexicon.save(model)
        if not counts:
            raise RnnsearchError(f"{source}, {target}: none of the {read} pairs can be learned from")
        print(f"{model / LEXICON}: {len(lexicon.translations):,} source words, learned from {read:,} pairs")
    if check_source is not None and check_reference is not None:
        checked = list(read_pairs([check_source], [check_reference]))
        if not checked:
            raise RnnsearchError(f"{check_source}, {check_reference}: no pairs to translate")
        lines, references = [line for line, _ in checked], [line for _, line in checked]
        words = translator.system.config.search.vocabulary_selection or 1000
        settings = {"vocabulary_selection": words, "split_sentences": False} | settings
        translating = TranslateLines(translator)
        translating.warm_up(settings)
        with in_processes(translating, translator, jobs) as processes, bar("translating", total=2 * len(lines)) as advance:

            def translations(**how: object) -> list[str]:
                texts: list[str] = []
                for found in translate_all(processes, translating, lines, how):
                    texts += [translation.text for translation in found]
                    advance(len(found))
                return texts

            without = translations(**settings | {"vocabulary_selection": 0})
            with_it = translations(**settings)
        changed = sum(one != other for one, other in zip(without, with_it, strict=True))
        print(
            f"search.vocabulary_selection={settings['vocabulary_selection']} changes {changed:,} of {len(lines):,} "
            f"translations; BLEU {bleu(without, references):.2f} without, {bleu(with_it, references):.2f} with it"
        )
