"""`rnnsearch select`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def command(
    source: Annotated[list[Path], typer.Option("--source", "-s", help="General text, source side; may be repeated.")],
    target: Annotated[list[Path], typer.Option("--target", "-t", help="Its translation, line by line; may be repeated.")],
    output_source: Annotated[Path, typer.Option("--output-source", help="Where the selected source lines go.")],
    output_target: Annotated[Path, typer.Option("--output-target", help="Where their translations go.")],
    in_domain_source: Annotated[
        Path | None, typer.Option("--in-domain-source", help="Source text of the kind you want; need not be parallel.")
    ] = None,
    in_domain_target: Annotated[
        Path | None, typer.Option("--in-domain-target", help="Target text of the kind you want; need not be parallel.")
    ] = None,
    pairs: Annotated[int | None, typer.Option("--pairs", min=1, help="How many pairs to keep.")] = None,
    words: Annotated[int | None, typer.Option("--words", min=1, help="Or: how many words, on the target side.")] = None,
    method: Annotated[
        Literal["axelrod", "moore-lewis", "random"],
        typer.Option("--method", help="`axelrod`: both sides count. `moore-lewis`: one does. `random`: a baseline."),
    ] = "axelrod",
    side: Annotated[
        Literal["source", "target"] | None, typer.Option("--side", help="With `moore-lewis`: the side that counts.")
    ] = None,
    scores: Annotated[Path | None, typer.Option("--scores", metavar="FILE", help="Write the score of every pair.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random sample, or selection.")] = 1,
) -> None:
    """Keep the sentence pairs of a large corpus that are most like a text of the kind you want.

    Pairs are ranked by the cross-entropy difference of Axelrod, He and Gao (2011), between n-gram models of in-domain text
    and of a sample of the corpus. Files may be plain, .gz or .xz, in UTF-8, untokenised; the kept pairs stay in order.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from rnnsearch.selection.cross_entropy_difference import Side, select

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    given: dict[Side, Path | None] = {"source": in_domain_source, "target": in_domain_target}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
                if not console.is_terminal:
                    console.print(stage, markup=False)
            bars.update(tasks[stage], completed=done, total=total)

        found = select(
            source,
            target,
            (output_source, output_target),
            method=method,
            side=side,
            in_domain={name: path for name, path in given.items() if path is not None},
            pairs=pairs,
            words=words,
            scores=scores,
            seed=seed,
            progress=show,
        )
    console.print(f"{found.read:>12,} pairs read")
    console.print(f"{found.kept:>12,} kept: {found.source_words:,} source words, {found.target_words:,} target words")
    if found.worst is not None:
        console.print(f"{found.worst:>12.3f} bits a word: the cross-entropy difference of the last one kept")
