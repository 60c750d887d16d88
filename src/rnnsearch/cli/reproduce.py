"""`rnnsearch reproduce`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rnnsearch.cli.options import Set, Sources, Targets, ValidSources, ValidTargets, check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.experiments.experiment import Experiment

_Scale = Annotated[
    Literal["builtin", "multi30k", "files", "wmt14"],
    typer.Option(
        help="`builtin`: the built-in corpus, half an hour on two CPU cores; `multi30k`: image captions, 4 hours; "
        "`files`: any parallel text, 4 hours; `wmt14`: the text, the sizes and the recipe of the paper, 585 hours; use "
        "a GPU."
    ),
]
_Output = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write everything.")]
_TestSource = Annotated[Path | None, typer.Option("--test-source", metavar="FILE", help="Test set, source side.")]
_TestTarget = Annotated[Path | None, typer.Option("--test-target", metavar="FILE", help="Test set, reference translations.")]
_Words = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="N",
        help="Select N target words of the training text by their similarity to in-domain text; `348M` by default where "
        "`wmt14` downloads its text.",
    ),
]
_InDomainSource = Annotated[
    Path | None,
    typer.Option("--in-domain-source", metavar="FILE", help="In-domain text for --words, source side."),
]
_InDomainTarget = Annotated[
    Path | None,
    typer.Option("--in-domain-target", metavar="FILE", help="In-domain text for --words, target side."),
]
_Archives = Annotated[
    Path | None,
    typer.Option(
        "--archives",
        metavar="FOLDER",
        help="With `wmt14` and without --source: the folder that has the archives of WMT 2014, or that they are "
        "downloaded to.",
    ),
]
_System = Annotated[
    list[str] | None,
    typer.Option("--system", metavar="NAME=FILE", help="Another system's translations of the test set; may be repeated."),
]
_Recipe = Annotated[
    Literal["paper", "ours"] | None,
    typer.Option(
        help="How the systems are trained: `paper`, as in the paper, which takes days at any size; `ours`, which learns in "
        "hours. By default, `wmt14` has the paper's recipe and the other scales ours."
    ),
]
_BudgetHours = Annotated[
    float | None, typer.Option("--budget-hours", min=0.001, help="Training time of all systems together.")
]
_Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of the weights, of dropout, and of the order of the text.")
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="SYSTEM",
        help="Train and test this system alone, such as RNNsearch-50, so that several machines share the work; may "
        "be repeated.",
    ),
]


def command(
    scale: _Scale,
    output: _Output,
    source: Sources = None,
    target: Targets = None,
    valid_source: ValidSources = None,
    valid_target: ValidTargets = None,
    test_source: _TestSource = None,
    test_target: _TestTarget = None,
    words: _Words = None,
    in_domain_source: _InDomainSource = None,
    in_domain_target: _InDomainTarget = None,
    archives: _Archives = None,
    system: _System = None,
    recipe: _Recipe = None,
    budget_hours: _BudgetHours = None,
    seed: _Seed = None,
    only: _Only = None,
    set_: Set = None,
) -> None:
    """Reproduce the experiments of the paper.

    The command trains the paper's five systems, fills its tables, draws its figures and tests its claims. It writes
    index.html, the figures and results.json into the output folder. If it is stopped or killed, the same command continues.
    docs/reference/paper-settings.md compares the paper's recipe with ours, setting by setting.
    """
    several = (source, target, valid_source, valid_target)
    files = [*(file for files in several for file in files or []), test_source, test_target]
    if any(files) and not (source and target and valid_source and valid_target and test_source and test_target):
        raise RnnsearchError(
            "the text is not complete: give --source and --target, --valid-source and --valid-target, --test-source and "
            "--test-target"
        )
    outside = dict(map(_outside, system or []))
    if (in_domain_source is None) != (in_domain_target is None):
        raise RnnsearchError("the in-domain text has two sides: give both --in-domain-source and --in-domain-target")
    read = [*files, in_domain_source, in_domain_target, *outside.values()]
    check_inputs(*read, again=read)

    from rnnsearch.config import parse_assignments
    from rnnsearch.experiments.experiment import Text, make_experiment

    text = None
    if source and target and valid_source and valid_target and test_source and test_target:
        text = Text(tuple(source), tuple(target), tuple(valid_source), tuple(valid_target), test_source, test_target)
    overrides = parse_assignments(set_ or [])
    experiment = make_experiment(
        scale,
        output,
        text,
        budget_hours,
        words=None if words is None else _number(words),
        in_domain=(in_domain_source, in_domain_target) if in_domain_source and in_domain_target else None,
        archives=archives,
        recipe=recipe,
        seed=seed,
        overrides=overrides,
    )
    _run(experiment, output, outside, only or ())


def _outside(given: str) -> tuple[str, Path]:
    """The name of another system and the file of its translations."""
    name, equals, path = given.partition("=")
    if not (name and equals and path):
        raise RnnsearchError(f"--system {given}: give a name and a file, as in --system Moses=moses.fr")
    return name, Path(path)


def _run(experiment: Experiment, output: Path, outside: dict[str, Path], only: Sequence[str]) -> None:
    """Runs what is not done yet, and says which claims hold."""
    import shlex

    from rnnsearch.experiments.layout import Layout
    from rnnsearch.experiments.reproduce import Reproduction
    from rnnsearch.terminal import Terminal
    from rnnsearch.training.session import Interrupted

    console = Terminal()
    reproduction = Reproduction(
        experiment,
        Layout(output),
        console,
        shlex.join(["rnnsearch", *without_only(sys.argv[1:])]),
        outside,
        only,
    )
    try:
        results = reproduction.run()
    except Interrupted as stop:
        console.print(f"{stop}. To continue the reproduction, run the same command again.", soft_wrap=True)
        raise typer.Exit(130) from None
    if results is None:
        return
    for claim in results.claims:
        verdict = {True: "holds", False: "does not hold", None: "cannot be said"}[claim.held]
        console.print(f"\n{claim.statement}: {verdict}", style="bold", soft_wrap=True)
        for figure in claim.figures:
            console.print(f"  {figure}", soft_wrap=True)
    console.print(f"\n{output / 'index.html'}", soft_wrap=True)


def without_only(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command that writes the report, from those of one that shares the work with others."""
    left = []
    values = iter(arguments)
    for argument in values:
        if argument == "--only":
            next(values, None)
        elif not argument.startswith("--only="):
            left.append(argument)
    return left


def _number(text: str) -> int:
    """A count of words such as `5000000`, `500k` or `348M`."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kM]?)", text)
    number = round(float(match[1]) * {"": 1, "k": 1_000, "M": 1_000_000}[match[2]]) if match else 0
    if number < 1:
        raise RnnsearchError(f"--words {text}: give a number of words, such as 5000000, 500k or 348M")
    return number
