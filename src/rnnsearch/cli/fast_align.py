"""`rnnsearch fast_align`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rnnsearch.cli.options import Quality, check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rnnsearch.alignment import LineLinks


def _without_effect(*names: str) -> Any:
    return typer.Option(*names, hidden=True)


def command(
    file: Annotated[Path, typer.Option("--input", "-i", metavar="FILE", help="Pairs, `source ||| target` on each line.")],
    reverse: Annotated[
        bool, typer.Option("--reverse", "-r", help="Link each source word, not each target word, at most once.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--print_scores", "-s", help="Also print the log-probability of each line, `links ||| score`.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option("--conditional_probabilities", "-p", metavar="FOLDER", help="Keep the aligner in this folder."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--force_align", "-f", metavar="FOLDER", help="Align by this aligner, that `-p` or `--save` kept."),
    ] = None,
    multiplier: Annotated[
        float, typer.Option("--mean_srclen_multiplier", "-m", help="With -f: target words for each source word.")
    ] = 1.0,
    quality: Quality = "best",
    tension: Annotated[str, _without_effect("--diagonal_tension", "-T")] = "4",
    optimize_tension: Annotated[bool, _without_effect("--optimize_tension", "-o")] = False,
    favor_diagonal: Annotated[bool, _without_effect("--favor_diagonal", "-d")] = False,
    variational_bayes: Annotated[bool, _without_effect("--variational_bayes", "-v")] = False,
    alpha: Annotated[float, _without_effect("--alpha", "-a")] = 0.01,
    p0: Annotated[float, _without_effect("--p0", "-q")] = 0.08,
    no_null_word: Annotated[bool, _without_effect("--no_null_word", "-N")] = False,
    iterations: Annotated[int, _without_effect("--iterations", "-I")] = 5,
    beam_threshold: Annotated[float, _without_effect("--beam_threshold", "-t")] = -4.0,
    buffer_size: Annotated[int, _without_effect("--thread_buffer_size", "-b")] = 10_000,
) -> None:
    """Align the words of sentence pairs, with the options and the output of fast_align.

    Without -f, an aligner learns from the pairs; with -f, one that was kept aligns each line as soon as it arrives, and
    prints `source ||| target ||| links ||| score`. Parameters are the folder of an aligner, for both directions.
    The settings of fast_align's own model are accepted and have no effect: `-d`, `-o`, `-v`, `-T`, `-a`, `-q`, `-N`, `-I`,
    `-t` and `-b`.
    """
    if save is not None and model is not None:
        raise RnnsearchError(f"-p keeps an aligner that learns now, and -f {model} has learned: give one of the two")
    if save is not None and save.exists() and not save.is_dir():
        raise RnnsearchError(f"{save}: this is a file; name a folder to keep the aligner in, or remove the file")
    if model is not None and not model.is_dir():
        raise RnnsearchError(f"{model}: no folder of an aligner; `-p` and `rnnsearch align --save` keep one")
    check_inputs(file, folders=[save, model], printed=True)
    if model is not None:
        _force(file, model, reverse, multiplier)
        return
    _learn(file, save, reverse, scores, quality)
    if optimize_tension:  # force_align.py reads it here, and gives it back as -T
        print(f"     final tension: {tension}", file=sys.stderr)


class _Pair(NamedTuple):
    """The words of a line."""

    source: list[str]
    target: list[str]


def _pair(line: str, number: int) -> _Pair:
    """The words before the first `|||` of a line, and those behind it; a pair with an empty side has no links."""
    from rnnsearch.text.tokenize import split_at_spaces

    words = split_at_spaces(line)
    middle = words.index("|||") if "|||" in words else len(words)
    pair = _Pair(words[:middle], words[middle + 1 :])
    if not (pair.source and pair.target):
        print(f"Error in line {number}", file=sys.stderr)
    return pair


def _learn(file: Path, save: Path | None, reverse: bool, scores: bool, quality: Quality) -> None:
    """Learn from the pairs, and print their links."""
    from array import array

    from rnnsearch.alignment import Aligner, Corpus, steps
    from rnnsearch.cli.bar import bar
    from rnnsearch.data.lines import read_lines
    from rnnsearch.jobs.output import written

    sizes = array("i"), array("i")

    def pairs() -> Iterator[_Pair]:
        for number, line in enumerate(read_lines(file), start=1):
            pair = _pair(line, number)
            for side, words in zip(sizes, pair, strict=True):
                side.append(len(words))
            yield pair

    corpus = Corpus(pairs())
    if not any(source and target for source, target in zip(*sizes, strict=True)):
        raise RnnsearchError(f"{file}: no pairs to align; write `source ||| target` on each line")
    if reverse:
        sizes = sizes[1], sizes[0]
    multiplier = sum(target / source for source, target in zip(*sizes, strict=True) if source) / corpus.lines
    print(f"expected target length = source length * {multiplier:g}", file=sys.stderr)
    with bar("learning", total=corpus.pairs * steps(quality, corpus.pairs)) as advance:
        aligner = Aligner.learn(corpus, advance, quality=quality)
    if save is not None:
        aligner.save(save)
        print(f"conditional probabilities: {save}", file=sys.stderr)
    with written(None) as out:
        for source, target, line in zip(*sizes, aligner.align(corpus), strict=True):
            links = _links(line, reverse)
            out.write(f"{links} ||| {_score(line, source, target, multiplier, reverse):g}\n" if scores else f"{links}\n")


def _force(file: Path, model: Path, reverse: bool, multiplier: float) -> None:
    """Print each line with its links, and with its log-probability."""
    from rnnsearch.alignment import Aligner
    from rnnsearch.data.lines import read_arriving_lines
    from rnnsearch.jobs.output import written

    aligner = Aligner.load(model)
    number, total = 0, 0.0
    with written(None) as out:
        for lines in read_arriving_lines(file):
            pairs = [_pair(line, number + k) for k, line in enumerate(lines, start=1)]
            number += len(lines)
            for pair, line in zip(pairs, aligner.align(pairs), strict=True):
                generating, generated = (len(side) for side in (pair[::-1] if reverse else pair))
                score = _score(line, generating, generated, multiplier, reverse)
                total += score
                parts = [*pair.source, "|||", *pair.target, "|||", *_links(line, reverse).split(), "|||", f"{score:g}"]
                out.write(" ".join(parts) + "\n")
            out.flush()
    print(f"TOTAL LOG PROB {total:g}", file=sys.stderr)


def _links(line: LineLinks, reverse: bool) -> str:
    return " ".join(f"{source}-{target}" for source, target in line.one_to_many()[reverse])


def _score(line: LineLinks, generating: int, generated: int, multiplier: float, reverse: bool) -> float:
    """The log-probability of the generated words, given the others, and of their number, which is Poisson-distributed."""
    from math import lgamma, log

    mean = 0.05 + generating * multiplier
    if mean <= 0:
        raise RnnsearchError(f"-m {multiplier:g}: the mean number of target words for each source word is positive")
    return log(mean) * generated - lgamma(generated + 1) - mean + line.log_likelihood[reverse]
