"""Trains, tunes and runs an installed Moses, the phrase-based system that the paper compares with, on a parallel text.

Writes the detokenised translations of the test set, for `rnnsearch reproduce --system Moses=moses.fr`. A step that was
finished in WORK is not run again. MOSES is the folder in which Moses was built. It has `bin/moses`, `bin/lmplz`,
`bin/build_binary`, `scripts/training/train-model.perl` and `mert-moses.pl`, and in `training-tools`, `tools` or `bin` a word
aligner: `mgiza` or `GIZA++`, with `mkcls`.

The text is tokenised and cleaned as for `rnnsearch reproduce`, except that training pairs may have up to 80 words, as is
usual for Moses. The language model is of order 5 and estimated on the target side of the same pairs; the paper's also had
monolingual text.
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.lib.command import Parser
from benchmarks.lib.texts import write_lines
from rnnsearch.atomic import atomic_write
from rnnsearch.config import DataConfig
from rnnsearch.data.clean import Cleaner
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs import Shard, Stage, Workers, cut, numbered
from rnnsearch.text import Tokenizer, language_of

MAX_LENGTH = 80
"""Words of the longest training sentences."""
_LM_ORDER = "5"

_ESCAPES = str.maketrans(
    {"&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;", "[": "&#91;", "]": "&#93;"}
)
"""Moses reads these characters as markup or as separators of factors, so its own scripts escape them."""
PROGRAMS = {
    "decoder": "bin/moses",
    "estimate": "bin/lmplz",
    "pack": "bin/build_binary",
    "train": "scripts/training/train-model.perl",
    "tune": "scripts/training/mert-moses.pl",
}
ALIGNERS = ("training-tools", "tools", "bin")
"""Where a word aligner may be."""


def find_moses(folder: Path) -> dict[str, Path]:
    """`PROGRAMS` and the `aligner`, in the folder of a Moses; RnnsearchError names the first one that is missing."""
    folder = folder.resolve()
    aligners = [folder / place / name for place in ALIGNERS for name in ("mgiza", "GIZA++")]
    aligner = next((program for program in aligners if program.exists()), folder / ALIGNERS[0] / "GIZA++")
    programs = {name: folder / place for name, place in PROGRAMS.items()} | {"aligner": aligner}
    for program in (*programs.values(), aligner.with_name("mkcls")):
        if not program.exists():
            raise RnnsearchError(
                f"{folder}: the Moses there is incomplete: {program} is missing; give the folder in which Moses was built, "
                f"with its word aligner in {ALIGNERS[0]}/"
            )
    return programs


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the translations."""
    parser = Parser(__doc__, "output")
    parser.add_argument("--moses", type=Path, required=True, help="the folder in which Moses was built")
    parser.add_argument("--source", type=Path, required=True, action="append", help="training text; may be repeated")
    parser.add_argument("--target", type=Path, required=True, action="append", help="training text; may be repeated")
    parser.add_argument("--valid-source", type=Path, required=True, help="development set, for tuning")
    parser.add_argument("--valid-target", type=Path, required=True, help="development set, for tuning")
    parser.add_argument("--test-source", type=Path, required=True, help="the text to translate")
    parser.add_argument("--work", type=Path, required=True, help="the folder in which Moses works")
    given = parser.parse_args(arguments)
    try:
        run_moses(find_moses(given.moses), given)
    except RnnsearchError as error:
        parser.exit(2, f"moses.py: {error}\n")


def run_moses(moses: dict[str, Path], text: argparse.Namespace) -> None:
    """Train, tune and decode in `work`, and write the detokenised translations of the test set to `output`."""
    folder, threads = text.work.resolve(), str(os.cpu_count() or 1)
    source, target = _tokenizer(text.source[0]), _tokenizer(text.target[0])
    train_source, train_target, dev_source, dev_target, test_source = (
        folder / name for name in ("train.source", "train.target", "dev.source", "dev.target", "test.source")
    )
    if not train_target.exists():
        print("Tokenising")
        for tokenizer, path, written in (
            (source, text.test_source, test_source),
            (source, text.valid_source, dev_source),
            (target, text.valid_target, dev_target),
        ):
            write_lines(written, (_escaped(tokenizer.tokenize(line)) for line in read_lines(path)))
        _write_pairs((train_source, train_target), (source, target), read_pairs(text.source, text.target))
    lm = folder / "lm.bin"
    if not lm.exists():
        print("Estimating the language model")
        arpa = folder / "lm.arpa"
        options = ("--discount_fallback", "--text", train_target, "--arpa", arpa)
        _run(folder, moses["estimate"], "-o", _LM_ORDER, *options)
        with atomic_write(lm) as temporary:
            _run(folder, moses["pack"], arpa, temporary)
    model = folder / "model" / "moses.ini"
    if not model.exists():
        print("Aligning words and extracting phrases")
        _run(
            folder,
            *(moses["train"], "-root-dir", folder, "-corpus", folder / "train", "-f", "source", "-e", "target"),
            *("-alignment", "grow-diag-final-and", "-reordering", "msd-bidirectional-fe"),
            *("-lm", f"0:{_LM_ORDER}:{lm}:8", "-external-bin-dir", moses["aligner"].parent, "-cores", threads),
            *(("-mgiza", "-mgiza-cpus", threads) if moses["aligner"].name == "mgiza" else ()),
        )
    tuned = folder / "tuning" / "moses.ini"
    if not tuned.exists():
        print("Tuning on the development set")
        shutil.rmtree(tuned.parent, ignore_errors=True)  # an interrupted tuning cannot be continued
        decoder = moses["decoder"]
        folders = ("--mertdir", decoder.parent, "--working-dir", tuned.parent, "--decoder-flags", f"-threads {threads}")
        _run(folder, moses["tune"], dev_source, dev_target, decoder, model, *folders)
    print("Translating the test set")
    decoded = _run(folder, moses["decoder"], "-f", tuned, "-threads", threads, input_file=test_source)
    lines = decoded.removesuffix("\n").split("\n")
    write_lines(text.output, (target.detokenize(html.unescape(line).split()) for line in lines))


def _tokenizer(file: Path) -> Tokenizer:
    language = language_of(file)
    if language is None:
        raise RnnsearchError(f"{file}: the file name does not tell the language; name it as in train.en")
    return Tokenizer("moses", language)


@dataclass(frozen=True)
class _Tokenize(Stage[tuple[str, str], list[list[list[str]]]]):
    """Tokenises the lines of rows, each by the tokenizer of its column."""

    tokenizers: Sequence[Tokenizer]

    def __call__(self, shard: Shard[tuple[str, str]]) -> list[list[list[str]]]:
        return [[one.tokenize(line) for one, line in zip(self.tokenizers, row, strict=True)] for row in shard.rows]


def _write_pairs(
    paths: tuple[Path, Path], tokenizers: tuple[Tokenizer, Tokenizer], pairs: Iterable[tuple[str, str]]
) -> None:
    """Write the training pairs, tokenised by a process for each core; the target's file appears once both are complete."""
    cleaner = Cleaner(DataConfig(max_length=MAX_LENGTH))
    with (
        Workers(_Tokenize(tokenizers), os.cpu_count() or 1) as processes,
        atomic_write(paths[1]) as target_part,
        atomic_write(paths[0]) as source_part,
        source_part.open("w", encoding="utf-8", newline="\n") as source_file,
        target_part.open("w", encoding="utf-8", newline="\n") as target_file,
    ):
        for source_words, target_words in chain.from_iterable(processes.results(numbered(cut(pairs)))):
            if cleaner.keep(source_words, target_words):
                source_file.write(_escaped(source_words) + "\n")
                target_file.write(_escaped(target_words) + "\n")


def _escaped(words: Sequence[str]) -> str:
    return " ".join(words).translate(_ESCAPES)


def _run(folder: Path, *command: str | Path, input_file: Path | None = None) -> str:
    """Run a program in `folder` and return what it prints; its messages are appended to `moses.log` there."""
    log = folder / "moses.log"
    with (input_file or Path(os.devnull)).open("rb") as given, log.open("ab") as messages:
        try:
            done = subprocess.run(
                [*map(str, command)], cwd=folder, stdin=given, stdout=subprocess.PIPE, stderr=messages, check=False
            )
        except OSError as error:
            raise RnnsearchError(f"{command[0]}: cannot run it: {error.strerror}") from None
    if done.returncode:
        raise RnnsearchError(f"{command[0]} failed with exit status {done.returncode}; see {log}")
    return done.stdout.decode("utf-8")
