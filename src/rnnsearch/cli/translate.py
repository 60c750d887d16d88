"""`rnnsearch translate`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import Models, SearchSet, search_settings


def command(
    model: Models,
    file: Annotated[str, typer.Argument(help="Text to translate, a sentence a line; `-` is standard input.")] = "-",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write, if not standard output.")] = None,
    beam: Annotated[int | None, typer.Option("--beam", min=1, help="Hypotheses kept for a sentence.")] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="Translations given for a sentence.")] = 1,
    forbid_unk: Annotated[bool, typer.Option("--forbid-unk", help="Never write `[UNK]`.")] = False,
    replace_unk: Annotated[
        bool, typer.Option("--replace-unk", help="For `[UNK]`, write the source word's entry in the lexicon, or copy it.")
    ] = False,
    prefix: Annotated[
        Path | None, typer.Option("--prefix", metavar="FILE", help="How each translation begins, a line each; may be blank.")
    ] = None,
    format_: Annotated[
        Literal["text", "json", "pharaoh"],
        typer.Option("--format", help="`text`; `json` lines with tokens, scores and alignments; or `pharaoh` links."),
    ] = "text",
    paper: Annotated[
        bool, typer.Option("--paper", help="Search as the paper does: no length normalisation, length limits by its code.")
    ] = False,
    set_: SearchSet = None,
) -> None:
    """Translate a file or standard input, line by line.

    Blank lines give blank lines; a line too long for one search is translated in pieces. A sentence's translation does not
    depend on the sentences around it.
    """
    from contextlib import ExitStack

    from rnnsearch.atomic import atomic_write
    from rnnsearch.data.read import read_lines
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.translation import FORMATS, load

    translator = load(*model)
    if format_ == "pharaoh" and not translator.system.model.aligns:
        raise RnnsearchError(f"{model[0]}: an RNNencdec has no alignment to write; only --format text and json")
    settings = search_settings(paper, beam, set_)
    if forbid_unk:
        settings["forbid_unk"] = True
    if replace_unk:
        settings["replace_unk"] = True
        if not translator.has_lexicon:
            hint = f"`rnnsearch lexicon --model {model[0]} --source TEXT --target TEXT` learns one"
            print(f"rnnsearch: the model has no lexicon, so unknown words are copied; {hint}", file=sys.stderr)
    write = FORMATS[format_]
    prefixes = None if prefix is None else read_lines(prefix)
    unfinished = 0
    replaced: Counter[str] = Counter()
    with ExitStack() as stack:
        out = sys.stdout
        if output is not None:
            out = stack.enter_context(stack.enter_context(atomic_write(output)).open("w", encoding="utf-8", newline="\n"))
        for number, translations in enumerate(translator.stream(read_lines(file), n_best, prefixes, **settings)):
            out.write(write(translations, number, n_best > 1) + "\n")
            if output is None:
                out.flush()
            unfinished += not translations[0].finished
            replaced.update(replacement.by for replacement in translations[0].replacements)
    if replaced:
        print(
            f"rnnsearch: replaced {replaced.total():,} [UNK]: {replaced['lexicon']:,} by the lexicon, "
            f"{replaced['copy']:,} copied from the source (--format json says which)",
            file=sys.stderr,
        )
    if unfinished:
        count = "1 translation" if unfinished == 1 else f"{unfinished} translations"
        print(f"rnnsearch: {count} broke off at the length limit (search.maximum_length_ratio)", file=sys.stderr)
