"""Moses, the phrase-based system that the paper compares with, driven in an installation of it: train, tune, decode.

The text is tokenised and cased as for the other systems, and training pairs may have 80 words, as is usual for Moses; the
language model is of order 5, of the target side of the same pairs. (The paper's had monolingual text besides.)
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rnnsearch.atomic import atomic_write, write_text
from rnnsearch.config import DataConfig
from rnnsearch.data.clean import Cleaner
from rnnsearch.data.read import read_lines, read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments.experiment import Text
from rnnsearch.text import Tokenizer, tokenize_lines, tokenize_pairs

LONGEST = 80
_LM_ORDER = "5"

# What Moses would read as markup or as a separator of factors; its own scripts write them so. `&` comes first.
_ESCAPES = (
    ("&", "&amp;"),
    ("|", "&#124;"),
    ("<", "&lt;"),
    (">", "&gt;"),
    ("'", "&apos;"),
    ('"', "&quot;"),
    ("[", "&#91;"),
    ("]", "&#93;"),
)


@dataclass(frozen=True)
class Installation:
    """The programs of Moses and of a word aligner."""

    decoder: Path
    train: Path
    tune: Path
    estimate_lm: Path
    pack_lm: Path
    aligner: Path
    """The folder of `mgiza` or `GIZA++`, with `mkcls` and what else comes with it."""

    @property
    def is_mgiza(self) -> bool:
        """Whether the aligner is MGIZA, which has threads."""
        return (self.aligner / "mgiza").exists()


def find_moses(folder: Path) -> Installation:
    """The programs in a Moses folder; RnnsearchError names the one that is not there."""
    folder = folder.resolve()
    aligners = [folder / name for name in ("training-tools", "tools", "bin")]
    found = Installation(
        decoder=folder / "bin" / "moses",
        train=folder / "scripts" / "training" / "train-model.perl",
        tune=folder / "scripts" / "training" / "mert-moses.pl",
        estimate_lm=folder / "bin" / "lmplz",
        pack_lm=folder / "bin" / "build_binary",
        aligner=next(
            (place for place in aligners if (place / "mgiza").exists() or (place / "GIZA++").exists()), aligners[0]
        ),
    )
    needed = [found.decoder, found.train, found.tune, found.estimate_lm, found.pack_lm]
    aligner = found.aligner / ("mgiza" if found.is_mgiza else "GIZA++")
    for program in [*needed, aligner, found.aligner / "mkcls"]:
        if not program.exists():
            raise RnnsearchError(
                f"{folder}: no whole Moses: {program} is missing; give the folder in which Moses was built, with its "
                f"word aligner in {aligners[0].name}/"
            )
    return found


def run_moses(
    moses: Installation,
    text: Text,
    data: DataConfig,
    folder: Path,
    output: Path,
    notice: Callable[[str], None],
) -> None:
    """Train, tune and decode in `folder`, and write the detokenised translations of the test set to `output`.

    `data` says how the text is tokenised and cleaned. A step that was finished before is not run again.
    """
    folder = folder.resolve()
    source, target = (Tokenizer(data.tokenizer, side) for side in (data.source_language, data.target_language))
    names = [f"{name}.{side}" for name in ("train", "dev") for side in ("source", "target")]
    train_source, train_target, dev_source, dev_target = (folder / name for name in names)
    threads = str(os.cpu_count() or 1)
    if not train_target.exists():
        notice("Moses: tokenising")
        _write_lines(folder / "test.source", tokenize_lines(source, read_lines(text.test_source)))
        _write_lines(dev_source, tokenize_lines(source, read_lines(text.valid_source)))
        _write_lines(dev_target, tokenize_lines(target, read_lines(text.valid_target)))
        _write_pairs(train_source, train_target, source, target, text, data)
    lm = folder / "lm.bin"
    if not lm.exists():
        notice("Moses: estimating the language model")
        arpa = folder / "lm.arpa"
        _run(folder, moses.estimate_lm, "-o", _LM_ORDER, "--discount_fallback", "--text", train_target, "--arpa", arpa)
        with atomic_write(lm) as temporary:
            _run(folder, moses.pack_lm, arpa, temporary)
    model = folder / "model" / "moses.ini"
    if not model.exists():
        notice("Moses: aligning the words and extracting phrases")
        _run(
            folder,
            *(moses.train, "-root-dir", folder, "-corpus", folder / "train", "-f", "source", "-e", "target"),
            *("-alignment", "grow-diag-final-and", "-reordering", "msd-bidirectional-fe"),
            *("-lm", f"0:{_LM_ORDER}:{lm}:8", "-external-bin-dir", moses.aligner, "-cores", threads),
            *(("-mgiza", "-mgiza-cpus", threads) if moses.is_mgiza else ()),
        )
    tuned = folder / "tuning" / "moses.ini"
    if not tuned.exists():
        notice("Moses: tuning on the development set")
        shutil.rmtree(tuned.parent, ignore_errors=True)  # half a tuning cannot be gone on with
        _run(
            folder,
            *(moses.tune, dev_source, dev_target, moses.decoder, model, "--mertdir", moses.decoder.parent),
            *("--working-dir", tuned.parent, "--decoder-flags", f"-threads {threads}"),
        )
    notice("Moses: translating the test set")
    decoded = _run(folder, moses.decoder, "-f", tuned, "-threads", threads, input_file=folder / "test.source")
    lines = decoded.removesuffix("\n").split("\n")
    write_text(output, "".join(target.detokenize(_unescape(line).split()) + "\n" for line in lines))


def _write_pairs(
    source_path: Path, target_path: Path, source: Tokenizer, target: Tokenizer, text: Text, data: DataConfig
) -> None:
    """The training pairs; the target's file is there once both are whole."""
    cleaner = Cleaner(replace(data, max_length=LONGEST))
    with (
        atomic_write(target_path) as target_part,
        atomic_write(source_path) as source_part,
        source_part.open("w", encoding="utf-8", newline="\n") as source_file,
        target_part.open("w", encoding="utf-8", newline="\n") as target_file,
    ):
        for source_words, target_words in tokenize_pairs(source, target, read_pairs(text.source, text.target)):
            if cleaner.keep(source_words, target_words):
                source_file.write(_escaped(source_words))
                target_file.write(_escaped(target_words))


def _write_lines(path: Path, lines: Iterator[list[str]]) -> None:
    write_text(path, "".join(map(_escaped, lines)))


def _escaped(words: Sequence[str]) -> str:
    line = " ".join(words)
    for plain, escaped in _ESCAPES:
        line = line.replace(plain, escaped)
    return line + "\n"


def _unescape(line: str) -> str:
    for plain, escaped in reversed(_ESCAPES):
        line = line.replace(escaped, plain)
    return line


def _run(folder: Path, *command: str | Path, input_file: Path | None = None) -> str:
    """Run a program of Moses in `folder`, its messages into `moses.log` there; what it prints is returned."""
    log = folder / "moses.log"
    with (input_file or Path(os.devnull)).open("rb") as given, log.open("ab") as messages:
        try:
            done = subprocess.run(
                [*map(str, command)], cwd=folder, stdin=given, stdout=subprocess.PIPE, stderr=messages, check=False
            )
        except OSError as error:
            raise RnnsearchError(f"{command[0]}: cannot run it: {error.strerror}") from None
    if done.returncode:
        raise RnnsearchError(f"{command[0]} failed with exit status {done.returncode}; {log} has its last words")
    return done.stdout.decode("utf-8")
