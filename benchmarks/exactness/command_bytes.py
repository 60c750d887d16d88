"""Compare what every command writes with what it wrote before, byte for byte.

    python benchmarks exactness/command_bytes --keep FILE.json
    python benchmarks exactness/command_bytes --against FILE.json [--only WORD]

The commands, those of `commands.ini`, run with their main options on a small part of the built-in corpus, with the installed
models and with tiny ones that are trained for a few updates. `--keep` writes a digest of each output: of standard output and
standard error, and of every file. `--against` prints what differs from such a file, and then the exit status is 1. Each
command is forked from this process, which has imported the libraries. Numbers of seconds are left out of the comparison, and
shards are small, so that a text has several.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import sys
from configparser import ConfigParser, ExtendedInterpolation
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.lib.command import Parser

LIBRARIES = ("torch", "torch._dynamo", "numba", "pyarrow", "safetensors.torch", "sacremoses", "sentencepiece", "sacrebleu")
HTML = (
    "<!DOCTYPE html><title>The old house</title><p>The <b>old woman</b> sees <i>the red book</i>. She reads it.</p>"
    '<ul><li>12:30<li><a href="x" title="A book">the book &amp; the cat</a></ul><script>let a = 1</script>\n'
) * 3
RUNNING = (
    "The man sleeps. The woman reads the book, and the cat sees her!\n\n  12:45  \n- [ ] The dog is small. Is it?\n"
    "Mr. Smith sold 3,000 books on 12 May.\nzyxwv qwxzv the house\n* * *\n" + "the dog sees the cat and " * 30 + "sleeps .\n"
)

COMMANDS = Path(__file__).resolve().with_name("commands.ini")
KEPT = ("data", "tiny", "averaged", "small", "copy", "aligner", "n-best", "corpus")
"""What stays for later commands: beginnings of names. The rest of what a command writes is removed after it."""
_SECONDS = re.compile(
    rb"(?m:^)[a-z ]+: [^\n]{0,200} lines/s[^\n]*\n|[\d.]+ s, [\d.]+ sentences/s|"
    rb"\"?(seconds|hours|(target_)?words_per_second)\"?: ?[\d.,]+"
)
_NOT_COMPARED = ("training.json", "README.md", "last.safetensors", "events.out", "log.jsonl", "training.log")
"""Files that hold times."""
_PACKAGE = str(Path(importlib.import_module("rnnsearch").__file__ or "").parent)


def steps() -> dict[str, str]:
    """The commands, by name."""
    parser = ConfigParser(delimiters="=", interpolation=ExtendedInterpolation())
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(COMMANDS, encoding="utf-8")
    return {name: command.replace("\n", " ") for name, command in parser["commands"].items()}


def write_texts(folder: Path) -> None:
    """The texts that the commands read."""
    from rnnsearch.datasets.builtin import write_corpus

    write_corpus(folder / "corpus", train=400, valid=20, test=40)
    sources, targets = ((folder / f"corpus/test.{side}").read_text().splitlines() for side in ("en", "fr"))
    for name, text in {
        "running.en": RUNNING,
        "document.en.html": HTML,
        "prefix": "".join("Le\n" if number % 3 else "\n" for number in range(40)),
        "terms.tsv": "book\tbouquin\nwoman\tdame\n",
        "words.tsv": "cat\tk æ t\nhouse\th a ʊ s\ndog\td ɔ ɡ\n",
        "joined": "".join(f"{one} ||| {other}\n" for one, other in zip(sources, targets, strict=True)),
        "table.tsv": "source\tOther\n" + "".join(f"{one}\t{two}\n" for one, two in zip(sources[:5], targets, strict=False)),
        "marked.conll": "The O\nold B-X\ndog I-X\nsleeps O\n\nThe O\ncat B-Y\n",
        "marked.html": "The <b>old dog</b> sleeps\nThe <i>cat</i>\n",
        "marked.fr": "Le vieux chien dort\nLe chat\n",
        "marked.links": "0-0 1-1 2-2 3-3\n0-0 1-1\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")


def run(command: str) -> int:
    """Run a command in a fork of this process; its streams go to the files `stdout` and `stderr`."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = 1
    try:
        words, _, given = command.partition(" < ")
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        for name, number, flags in ((given or "/dev/null", 0, os.O_RDONLY), ("stdout", 1, writing), ("stderr", 2, writing)):
            os.dup2(os.open(name, flags, 0o644), number)
        sys.argv = ["rnnsearch", *words.split()]
        from rnnsearch.cli import main

        main()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def digests(folder: Path, before: dict[Path, int]) -> dict[str, str]:
    """Of what a command has written."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or before.get(path) == path.stat().st_mtime_ns:
            continue
        if path.name.startswith(_NOT_COMPARED):
            continue
        content = _SECONDS.sub(b"", path.read_bytes()).replace(_PACKAGE.encode(), b"")  # where installed models lie
        found[str(path.relative_to(folder))] = hashlib.blake2b(content, digest_size=12).hexdigest()
    return found


def main() -> None:
    """Run the commands, and keep or compare their digests."""
    parser = Parser(__doc__)
    parser.add_argument("--keep", type=Path, metavar="FILE.json", help="write the digests to this file")
    parser.add_argument("--against", type=Path, metavar="FILE.json", help="compare the digests with those of this file")
    parser.add_argument("--only", metavar="WORD", help="run only what has this in its name, and what makes models and data")
    asked = parser.parse_args()
    earlier = json.loads(asked.against.read_text()) if asked.against else {}
    keep = asked.keep and asked.keep.resolve()
    os.environ |= {"COLUMNS": "120", "OMP_NUM_THREADS": "1"}
    for name in (*LIBRARIES, "rnnsearch.cli.commands", "rnnsearch.translation", "rnnsearch.training.session"):
        importlib.import_module(name)
    for name in ("rnnsearch.shards", "rnnsearch.jobs.shards"):  # its name before and now
        with suppress(ImportError):
            importlib.import_module(name).LINES = 16  # type: ignore[attr-defined]
    found: dict[str, dict[str, str]] = {}
    differs = False
    with TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        write_texts(folder)
        for step, command in steps().items():
            makes = step.startswith(("train", "prepare", "lexicon", "learn")) or step == "translate-n-best"
            if asked.only and asked.only not in step and not makes:
                continue
            before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
            status = run(command)
            written = digests(folder, before)
            found[step] = {"status": str(status), **written}
            if step.startswith("train"):
                del found[step]["stderr"]  # it tells the speed
            if asked.against and found[step] != earlier.get(step):
                differs = True
                expected = earlier.get(step, {})
                names = [key for key in {**expected, **found[step]} if found[step].get(key) != expected.get(key)]
                print(f"{step} differs: {', '.join(names)}\n    rnnsearch {command}", flush=True)
            for path in (folder / one for one in written):
                if not path.relative_to(folder).parts[0].startswith(KEPT):
                    path.unlink()
    if keep:
        keep.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found)} commands, {sum(map(len, found.values()))} digests" + (": not all the same" if differs else ""))
    raise SystemExit(differs)
