"""`rnnsearch select`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rnnsearch.cli.options import Jobs, Languages, TrainingFiles, files_of
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.terminal import Terminal

_Source = Annotated[
    list[Path] | None,
    typer.Option("--source", "-s", metavar="FILE", help="The large corpus, source side; may be repeated."),
]
_Target = Annotated[
    list[Path] | None,
    typer.Option("--target", "-t", metavar="FILE", help="The large corpus, target side, line by line; may be repeated."),
]
_OutputSource = Annotated[
    Path, typer.Option("--output-source", metavar="FILE", help="Where to write the selected source lines.")
]
_OutputTarget = Annotated[
    Path, typer.Option("--output-target", metavar="FILE", help="Where to write the selected target lines.")
]
_InDomainSource = Annotated[
    Path | None,
    typer.Option("--in-domain-source", metavar="FILE", help="In-domain source text; need not be parallel."),
]
_InDomainTarget = Annotated[
    Path | None,
    typer.Option("--in-domain-target", metavar="FILE", help="In-domain target text; need not be parallel."),
]
_Pairs = Annotated[int | None, typer.Option("--pairs", min=1, help="The number of pairs to keep.")]
_Words = Annotated[
    int | None, typer.Option("--words", min=1, help="The number of target words to keep, instead of --pairs.")
]
_Method = Annotated[
    Literal["axelrod", "moore-lewis", "random"],
    typer.Option("--method", help="`axelrod` scores both sides, `moore-lewis` one; `random` is a baseline."),
]
_Side = Annotated[Literal["source", "target"] | None, typer.Option("--side", help="The side that `moore-lewis` scores.")]
_Scores = Annotated[
    Path | None, typer.Option("--scores", metavar="FILE", help="Write the score of every pair to this file.")
]
_Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random sample, or of the random selection.")]


def command(
    output_source: _OutputSource,
    output_target: _OutputTarget,
    files: TrainingFiles = None,
    source: _Source = None,
    target: _Target = None,
    languages: Languages = None,
    in_domain_source: _InDomainSource = None,
    in_domain_target: _InDomainTarget = None,
    pairs: _Pairs = None,
    words: _Words = None,
    method: _Method = "axelrod",
    side: _Side = None,
    scores: _Scores = None,
    jobs: Jobs = 1,
    seed: _Seed = 1,
) -> None:
    """Select the pairs of a corpus that are like given text.

    Pairs are ranked by the cross-entropy difference (Axelrod, He and Gao 2011) of n-gram models of the in-domain text and of
    a sample of the corpus. Files are in UTF-8, compressed or not, not tokenised. The selected pairs stay in order.
    A run that was killed goes on scoring where it was.
    """
    from rnnsearch.cli.options import check_inputs
    from rnnsearch.formats.languages import parse_languages

    both = files_of(files)
    sources, targets = [*(source or []), *both], [*(target or []), *both]
    if not (sources and targets):
        raise RnnsearchError("there is no corpus to select from: give --source and --target, or FILE")
    outputs = [output_source, output_target, scores]
    read = [*sources, *(file for file in targets if file not in sources), in_domain_source, in_domain_target]
    check_inputs(*read, outputs=outputs, again=read)

    from rnnsearch.selection.cross_entropy_difference import select
    from rnnsearch.selection.general_corpus import Side
    from rnnsearch.terminal import Terminal

    console = Terminal(stderr=True, soft_wrap=True)
    given: dict[Side, Path | None] = {"source": in_domain_source, "target": in_domain_target}
    with _bars(console) as show:
        found = select(
            sources,
            targets,
            (output_source, output_target),
            languages=parse_languages(languages),
            method=method,
            side=side,
            in_domain={name: path for name, path in given.items() if path is not None},
            pairs=pairs,
            words=words,
            scores=scores,
            seed=seed,
            progress=show,
            jobs=jobs,
        )
    console.print(f"{found.read:>12,} pairs read")
    console.print(f"{found.kept:>12,} kept: {found.source_words:,} source words, {found.target_words:,} target words")
    if found.worst is not None:
        console.print(f"{found.worst:>12.3f} bits per word: the largest cross-entropy difference among them")


@contextmanager
def _bars(console: Terminal) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar for each stage; elsewhere than on a terminal, its name."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from rnnsearch.terminal import DescriptionColumn

    columns = (
        DescriptionColumn(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), DescriptionColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
                if not console.is_terminal:
                    console.print(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield show
