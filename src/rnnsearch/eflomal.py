"""The Python interface of eflomal, for programs that call it: `from rnnsearch import eflomal` in place of `import eflomal`.

The arguments, the files and the numbers of lines are those of eflomal 2.0. Links are better, and the same in every run;
scores follow the same definition. `Aligner` has one argument more, `quality`, which is "best" or "fast". Settings of the
sampler have no effect, because there is none: `model`, `score_model`, `n_iterations`, `n_samplers`, `rel_iterations`,
`null_prior`, `quiet` and `use_gdb`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from rnnsearch.alignment import Aligner as _Aligner
from rnnsearch.alignment import Corpus, Quality
from rnnsearch.alignment.agreement import QUALITIES
from rnnsearch.alignment.priors import Priors
from rnnsearch.alignment.scores import DirectedLinks, scores
from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError

__all__ = ["Aligner", "calculate_priors", "sentences_from_joint_file", "write_priors"]


class Aligner:
    """An aligner with the constructor of eflomal's. It has no state: each call of `align` learns from its own text."""

    def __init__(
        self,
        model: int = 3,
        score_model: int = 0,
        n_iterations: tuple[int, int, int] | None = None,
        n_samplers: int = 3,
        rel_iterations: float = 1.0,
        null_prior: float = 0.2,
        source_prefix_len: int = 0,
        source_suffix_len: int = 0,
        target_prefix_len: int = 0,
        target_suffix_len: int = 0,
        *,
        quality: Quality = "best",
    ) -> None:
        """Take the numbers of letters to which the words of a side are shortened; 0 leaves words as they are.

        Raises ValueError for any other `quality`.
        """
        if quality not in QUALITIES:
            raise ValueError(f"quality={quality!r}: choose {' or '.join(map(repr, QUALITIES))}")
        self._quality: Quality = quality
        self._lengths = (source_prefix_len, source_suffix_len), (target_prefix_len, target_suffix_len)

    def align(
        self,
        src_input: Iterable[str],
        trg_input: Iterable[str],
        links_filename_fwd: str | None = None,
        links_filename_rev: str | None = None,
        scores_filename_fwd: str | None = None,
        scores_filename_rev: str | None = None,
        priors_input: Iterable[str] | None = None,
        quiet: bool = True,
        use_gdb: bool = False,
    ) -> None:
        """Align the lines of both inputs, whose words are separated by white space, and write the files that are named.

        Forward links have at most one link for each target word, and reverse links at most one for each source word; both
        are written source–target. A score is written for each line, the lower the better. A line with an empty side has no
        links and the score 0, written as `-0`. The file `-` is standard output. `priors_input` are the lines of a file of
        priors. Raises ValueError if one input has more lines than the other, and for malformed priors.
        """
        names = links_filename_fwd, links_filename_rev, scores_filename_fwd, scores_filename_rev
        priors = None if priors_input is None else _read_priors(priors_input)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rnnsearch-")))
            files = [
                stack.enter_context((folder / kind).open("w", encoding="utf-8", newline="\n"))
                for kind in ("forward", "reverse", "forward.scores", "reverse.scores")
            ]
            corpus = Corpus(self._words(src_input, trg_input), folder)
            links = _written(corpus, _Aligner.learn(corpus, known=priors, quality=self._quality), files)
            if scores_filename_fwd is not None or scores_filename_rev is not None:
                for of_line in scores(corpus, links, priors):
                    for file, score in zip(files[2:], of_line, strict=True):
                        file.write(f"{score:g}\n")
            else:
                for _ in links:
                    pass
            for file, name in zip(files, names, strict=True):
                file.close()
                if name is not None:
                    _copy(Path(file.name), name)

    def _words(self, source: Iterable[str], target: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
        for number, lines in enumerate(zip_longest(source, target)):
            if None in lines:
                raise ValueError(
                    f"Mismatched file sizes: the {'source' if lines[0] is None else 'target'} has {number} lines"
                )
            yield tuple(  # type: ignore[misc]
                [_shortened(word, *lengths) for word in line.split()]
                for line, lengths in zip(lines, self._lengths, strict=True)
            )


def _read_priors(lines: Iterable[str]) -> Priors:
    try:
        return Priors.read(lines)
    except RnnsearchError as error:
        raise ValueError(str(error)) from None


def _shortened(word: str, prefix: int, suffix: int) -> str:
    return word[:prefix] if prefix else word[-suffix:] if suffix else word


def _written(corpus: Corpus, aligner: _Aligner, files: Sequence[TextIO]) -> Iterator[DirectedLinks]:
    """Write the forward and the reverse links of each line, and yield them."""
    for line in aligner.align(corpus):
        directed = line.one_to_many()
        for file, links in zip(files, directed, strict=False):
            file.write(" ".join(f"{source}-{target}" for source, target in links) + "\n")
        yield directed


def _copy(path: Path, name: str) -> None:
    """Write an output. Callers may hold a file open that exists, so that it has to stay the same file."""
    if name == "-":
        with path.open(encoding="utf-8") as file:
            shutil.copyfileobj(file, sys.stdout)
    elif Path(name).exists():
        shutil.copyfile(path, name)
    else:
        with atomic_write(name) as temporary:
            shutil.copyfile(path, temporary)


def calculate_priors(
    src_sentences: Iterable[str],
    trg_sentences: Iterable[str],
    fwd_alignments: Iterable[str],
    rev_alignments: Iterable[str],
    reverse: bool = False,
) -> Priors:
    """Count the links, jumps and fertilities of lines of words and their links, source–target in both directions.

    Raises ValueError for different numbers of lines, malformed links, and links to words that do not exist. Only False is
    allowed for `reverse`, an argument of an earlier version.
    """
    if reverse:
        raise ValueError("reverse=True: write the links source-target in both directions")
    try:
        return Priors.of_links(src_sentences, trg_sentences, fwd_alignments, rev_alignments)
    except RnnsearchError as error:
        raise ValueError(str(error)) from None


def write_priors(priorsf: TextIO, *priors: object) -> None:
    """Write the five parts of priors, as `calculate_priors` returns them, to an open file."""
    Priors(*priors).write(priorsf)  # type: ignore[arg-type]


def sentences_from_joint_file(
    joint_file: Iterable[str], index: int | None = None
) -> Iterator[str] | Iterator[tuple[str, str]]:
    """Yield both sides of lines `source ||| target`, or the side of this index. Raises ValueError for any other line."""
    for number, line in enumerate(joint_file, start=1):
        sides = line.strip().split(" ||| ")
        if len(sides) != 2:
            raise ValueError(f"Invalid joint input line {number}: write `source ||| target`, with words on both sides")
        yield (sides[0], sides[1]) if index is None else sides[index]
