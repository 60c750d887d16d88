"""Running text to words and back again, as the Moses scripts do it; on many lines, in many processes."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from rnnsearch.errors import RnnsearchError

TokenizerKind = Literal["moses", "whitespace"]

# Characters that nobody sees would become words of their own, or cut one in two (a soft hyphen does): control
# characters, soft hyphen, text direction, byte order mark. A zero-width space does separate words.
_CONTROLS = (*range(9), *range(14, 28), *range(0x7F, 0x85), *range(0x86, 0xA0))
_FORMATS = (0xAD, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, 0xFEFF)
_INVISIBLE = str.maketrans(dict.fromkeys(_CONTROLS + _FORMATS) | {0x200B: " "})


def is_invisible(letter: str) -> bool:
    """Whether nobody sees this character, so that it is in no word."""
    return ord(letter) in _INVISIBLE


class Tokenizer:
    """Cuts a line into words, and joins words to a line.

    `moses` is the Moses tokeniser (sacremoses) for running text: cased, without XML escapes, and without
    splitting at hyphens. In one thing it differs: the typographic apostrophe is an apostrophe (`l’ homme`,
    not `l ’ homme`). `whitespace` is for text that is tokenised already.
    """

    def __init__(self, kind: TokenizerKind, language: str) -> None:
        """`language` is a code such as `en`; Moses has English rules for a language that it does not know."""
        self.kind = kind
        self.language = language
        if kind == "moses":
            if not re.fullmatch("[a-z]{2,3}", language):
                raise RnnsearchError(
                    f"{language!r} is no language code; Moses tokenisation needs one of two or three "
                    "letters, such as en or fr"
                )
            self._moses, self._moses_back = _moses(language)

    def tokenize(self, line: str) -> list[str]:
        """The words of `line`: none is empty or holds white space."""
        if self.kind == "whitespace":
            return line.split()
        line = line.translate(_INVISIBLE)
        words: list[str] = self._moses.tokenize(line.replace("’", "'"), escape=False)
        return _with_letters(words, "".join(line.split())) if "’" in line else words

    def detokenize(self, tokens: Sequence[str]) -> str:
        """`tokens` as a reader writes them: punctuation, quotes, clitics and currency where they belong."""
        if self.kind == "whitespace":
            return " ".join(tokens)
        plain = [_plain_quotes(token, tokens) for token in tokens]
        line: str = self._moses_back.detokenize(plain, unescape=False)
        if plain == list(tokens):
            return line
        return " ".join(_with_letters(line.split(" "), "".join(tokens)))


def _plain_quotes(token: str, tokens: Sequence[str]) -> str:
    """`token` with those quotes that the Moses detokeniser does not know replaced by ones that it does."""
    if token == "”":
        return '"'
    if token == "‘" or (token == "’" and "‘" in tokens):
        return "`"
    return token.replace("’", "'")


def _with_letters(words: list[str], letters: str) -> list[str]:
    """`words` spelt with `letters`: Moses has only moved the spaces between them, so they can be put back."""
    if sum(map(len, words)) != len(letters):
        return words
    remaining = iter(letters)
    return ["".join(islice(remaining, len(word))) for word in words]


@functools.cache
def _moses(language: str) -> tuple[Any, Any]:
    """Tokeniser and detokeniser of sacremoses, which takes a fifth of a second to import."""
    from sacremoses import MosesDetokenizer, MosesTokenizer

    letters, lowercase = frozenset(MosesTokenizer.IsAlpha), frozenset(MosesTokenizer.IsLower)

    class FastMosesTokenizer(MosesTokenizer):  # type: ignore[misc]
        """The original builds a set of all letters anew for a word with a full stop: half a millisecond."""

        def isanyalpha(self, text: str) -> bool:
            return not letters.isdisjoint(text)

        def islower(self, text: str) -> bool:
            return lowercase.issuperset(text)

    return FastMosesTokenizer(language), MosesDetokenizer(language)


def language_of(path: str | os.PathLike[str]) -> str | None:
    """The language that a file's name tells: `en` for `train.en.gz`; None where it tells none."""
    from sacremoses.corpus import NonbreakingPrefixes

    path = Path(path)
    code = (path.with_suffix("") if path.suffix in (".gz", ".xz") else path).suffix.removeprefix(".")
    return code if len(code) == 2 and code in NonbreakingPrefixes().available_langs else None


_CHUNK = 500  # lines that a process is sent at a time
_FEW = 4000  # fewer lines than this are tokenised before a process would have started
_MOST_PROCESSES = 16


def tokenize_lines(tokenizer: Tokenizer, lines: Iterable[str], *, processes: int | None = None) -> Iterator[list[str]]:
    """The words of each line, in order, from `processes` processes (by default one a core).

    Reads only a little ahead of what it yields, so that a stream of any length takes bounded memory.
    """
    for (words,) in _tokenize_rows([tokenizer], ((line,) for line in lines), processes):
        yield words


def tokenize_pairs(
    source: Tokenizer, target: Tokenizer, pairs: Iterable[tuple[str, str]], *, processes: int | None = None
) -> Iterator[tuple[list[str], list[str]]]:
    """The words of both sides of each pair, likewise."""
    for source_words, target_words in _tokenize_rows([source, target], pairs, processes):  # noqa: UP028
        yield source_words, target_words


def _tokenize_rows(
    tokenizers: Sequence[Tokenizer], rows: Iterable[Sequence[str]], processes: int | None
) -> Iterator[list[list[str]]]:
    processes = processes or min(os.cpu_count() or 1, _MOST_PROCESSES)
    rows = iter(rows)
    head = list(islice(rows, _FEW))
    if processes == 1 or len(head) < _FEW:
        for row in chain(head, rows):
            yield [tokenizer.tokenize(line) for tokenizer, line in zip(tokenizers, row, strict=True)]
        return
    rows = chain(head, rows)
    chunks = iter(lambda: list(islice(rows, _CHUNK)), [])
    workers: list[_Worker] = []
    threads = ThreadPoolExecutor(processes)
    try:
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for _ in range(processes):
            workers.append(_Worker(tokenizers))
            idle.put(workers[-1])

        def tokenize(chunk: list[Sequence[str]]) -> list[list[list[str]]]:
            worker = idle.get()
            try:
                return worker.tokenize(chunk)
            finally:
                idle.put(worker)

        ahead: deque[Future[list[list[list[str]]]]] = deque()
        for chunk in chunks:
            ahead.append(threads.submit(tokenize, chunk))
            if len(ahead) > 2 * processes:
                yield from ahead.popleft().result()
        while ahead:
            yield from ahead.popleft().result()
    finally:
        # Also when the consumer stops early, or Ctrl-C comes: a thread whose process is gone waits no longer.
        for worker in workers:
            worker.kill()
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()


class _Worker:
    """A process that runs `rnnsearch.text.worker`.

    Not multiprocessing: its fork is unsafe beside the threads of a tensor library, and its other methods run
    the caller's script again unless that guards its main part.
    """

    def __init__(self, tokenizers: Sequence[Tokenizer]) -> None:
        specification = json.dumps([[tokenizer.kind, tokenizer.language] for tokenizer in tokenizers])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rnnsearch.text.worker", specification],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )

    def tokenize(self, rows: list[Sequence[str]]) -> list[list[list[str]]]:
        """The words of each line of each row."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(rows).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer.endswith(b"\n"):
            raise RnnsearchError(
                f"a tokenising process ended early (exit status {self._process.wait()}); "
                "if memory ran out, use fewer processes"
            )
        return [[words.split() for words in row] for row in json.loads(answer)]

    def kill(self) -> None:
        """End the process at once; it has nothing to lose."""
        self._process.kill()

    def close(self) -> None:
        """Wait for the end of a killed process, and close its pipes."""
        self._process.communicate()
