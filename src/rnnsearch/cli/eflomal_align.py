"""`rnnsearch eflomal-align`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rnnsearch.cli.options import Quality, check_inputs, files_of_pairs, special
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterator


def _file(*names: str, help_: str) -> Any:
    return typer.Option(*names, metavar="FILE", help=help_)


def _letters(option: str, help_: str) -> Any:
    return typer.Option(option, min=0, metavar="N", show_default=False, help=help_)


def _without_effect(*names: str) -> Any:
    return typer.Option(*names, hidden=True)


Source = Annotated[Path | None, _file("--source", "-s", help_="Source text, one sentence per line.")]
Target = Annotated[Path | None, _file("--target", "-t", help_="Its translation, line by line.")]
Joined = Annotated[Path | None, _file("--input", "-i", help_="Both sides in one file instead, `source ||| target`.")]
Verbose = Annotated[bool, _without_effect("--verbose", "-v")]
_ForwardLinks = Annotated[
    Path | None, _file("--forward-links", "-f", help_="Write links to this file, at most one for each target word.")
]
_ReverseLinks = Annotated[
    Path | None, _file("--reverse-links", "-r", help_="Write links to this file, at most one for each source word.")
]
_ForwardScores = Annotated[
    Path | None,
    _file("--forward-scores", "-F", help_="Write a score of each target, given its source; lower is better."),
]
_ReverseScores = Annotated[
    Path | None,
    _file("--reverse-scores", "-R", help_="Write a score of each source, given its target; lower is better."),
]
_Priors = Annotated[Path | None, _file("--priors", "-p", help_="Counts of other text, as `eflomal-makepriors` writes them.")]


def command(
    source: Source = None,
    target: Target = None,
    joined: Joined = None,
    forward: _ForwardLinks = None,
    reverse: _ReverseLinks = None,
    forward_scores: _ForwardScores = None,
    reverse_scores: _ReverseScores = None,
    priors: _Priors = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of links that exist.")] = False,
    source_prefix: Annotated[int, _letters("--source-prefix", "Shorten source words to their first N letters.")] = 0,
    source_suffix: Annotated[int, _letters("--source-suffix", "Shorten source words to their last N letters.")] = 0,
    target_prefix: Annotated[int, _letters("--target-prefix", "Shorten target words to their first N letters.")] = 0,
    target_suffix: Annotated[int, _letters("--target-suffix", "Shorten target words to their last N letters.")] = 0,
    quality: Quality = "best",
    verbose: Verbose = False,
    debug: Annotated[bool, _without_effect("--debug")] = False,
    null_prior: Annotated[float, _without_effect("--null-prior")] = 0.2,
    model: Annotated[int, _without_effect("--model", "-m")] = 3,
    score_model: Annotated[int, _without_effect("--score-model", "-M")] = 0,
    length: Annotated[float, _without_effect("--length", "-l")] = 1.0,
    ibm1_iters: Annotated[int | None, _without_effect("--ibm1-iters", "-1")] = None,
    hmm_iters: Annotated[int | None, _without_effect("--hmm-iters", "-2")] = None,
    fert_iters: Annotated[int | None, _without_effect("--fert-iters", "-3")] = None,
    n_samplers: Annotated[int, _without_effect("--n-samplers")] = 3,
) -> None:
    """Align the words of sentence pairs, with the options and the files of eflomal-align.

    The settings of eflomal's sampler are accepted and have no effect: `-m`, `-M`, `-l`, `-1`, `-2`, `-3`, `--n-samplers`,
    `--null-prior`, `-v` and `--debug`.
    """
    texts = files_of_pairs(source, target, joined, "--input")
    outputs = [forward, reverse, forward_scores, reverse_scores]
    check_inputs(*texts, priors, outputs=[file for file in outputs if not special(file)], again=texts)
    for file in (forward, reverse):
        if file is not None and not overwrite and not special(file) and file.exists():
            raise RnnsearchError(f"{file}: it exists already; give --overwrite to replace it")

    from rnnsearch.data.lines import read_lines
    from rnnsearch.eflomal import Aligner

    aligner = Aligner(
        source_prefix_len=source_prefix,
        source_suffix_len=source_suffix,
        target_prefix_len=target_prefix,
        target_suffix_len=target_suffix,
        quality=quality,
    )
    try:
        aligner.align(
            *sides(texts),
            links_filename_fwd=_name(forward),
            links_filename_rev=_name(reverse),
            scores_filename_fwd=_name(forward_scores),
            scores_filename_rev=_name(reverse_scores),
            priors_input=None if priors is None else read_lines(priors),
        )
    except ValueError as error:
        raise RnnsearchError(f"{', '.join(map(str, texts))}: {error}") from None


def _name(file: Path | None) -> str | None:
    return None if file is None else str(file)


def sides(texts: list[Path]) -> tuple[Iterator[str], Iterator[str]]:
    """Yield the lines of both sides, of two files or of one with both."""
    from rnnsearch.alignment import read_joined
    from rnnsearch.data.lines import read_lines

    if len(texts) == 2:
        return read_lines(texts[0]), read_lines(texts[1])
    return (pair[0] for pair in read_joined(texts[0])), (pair[1] for pair in read_joined(texts[0]))
