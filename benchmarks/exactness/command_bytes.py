"""Compare what every command writes with what it wrote before, byte for byte.

    python benchmarks/exactness/command_bytes.py --keep FILE.json
    python benchmarks/exactness/command_bytes.py --against FILE.json [--only WORD]

The commands run with their main options on a small part of the built-in corpus, with the installed models and with tiny ones
that are trained for a few updates. `--keep` writes a digest of each output: of standard output and standard error, and of
every file. `--against` prints what differs from such a file, and then the exit status is 1. Each command is forked from this
process, which has imported the libraries. Numbers of seconds are left out of the comparison, and shards
are small, so that a text has several.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

LIBRARIES = ("torch", "torch._dynamo", "numba", "pyarrow", "safetensors.torch", "sacremoses", "sentencepiece", "sacrebleu")
TINY = (
    "--set model.embedding_size=12 --set model.hidden_size=16 --set model.alignment_size=8 --set model.maxout_size=8 "
    "--set training.batch_size=20 --set training.max_updates=12 --set training.validate_every=6 "
    "--set training.validate_sentences=10 --set data.source_words=300 --set data.target_words=300"
)
HTML = (
    "<!DOCTYPE html><title>The old house</title><p>The <b>old woman</b> sees <i>the red book</i>. She reads it.</p>"
    '<ul><li>12:30<li><a href="x" title="A book">the book &amp; the cat</a></ul><script>let a = 1</script>\n'
) * 3
RUNNING = (
    "The man sleeps. The woman reads the book, and the cat sees her!\n\n  12:45  \n- [ ] The dog is small. Is it?\n"
    "Mr. Smith sold 3,000 books on 12 May.\nzyxwv qwxzv the house\n* * *\n" + "the dog sees the cat and " * 30 + "sleeps .\n"
)

PREPARE = "prepare --source corpus/train.en --target corpus/train.fr"
TRAIN = "train --data data --valid-source corpus/valid.en --valid-target corpus/valid.fr"
PAIRS = "--source corpus/test.en --target corpus/test.fr"

STEPS: dict[str, str] = {
    "presets": "presets",
    "models": "models",
    "prepare": f"{PREPARE} --output data --set data.source_words=300 --set data.target_words=300 --jobs 1",
    "prepare-jobs": f"{PREPARE} --output data2 --set data.subwords=bpe --set data.subword_pieces=200 --hold-out 10 --jobs 2",
    "prepare-links": f"{PREPARE} --output data3 --links corpus/train.gold --set data.source_words=100",
    "train": f"{TRAIN} --output tiny {TINY}",
    "train-other": f"{TRAIN} --output tiny-other {TINY} --set training.seed=2",
    "train-encdec": f"{TRAIN} --output tiny-encdec {TINY} --set model.alignment=none",
    "train-r2l": f"train --source corpus/train.en --target corpus/train.fr --valid-source corpus/valid.en "
    f"--valid-target corpus/valid.fr --output tiny-r2l {TINY} --set data.right_to_left=true",
    "train-reverse": f"train --source corpus/train.fr --target corpus/train.en --hold-out 20 --output tiny-back {TINY}",
    "train-from": f"{TRAIN} --from tiny --output tiny-tuned --set training.max_updates=4 --set training.validate_every=2",
    "train-ensemble": f"{TRAIN} --output tiny-three {TINY} --models 2",
    "prepare-of": f"{PREPARE} --output data4 --vocabulary-of tiny",
    "average": "average -m tiny -m tiny-tuned --output averaged",
    "export": "export -m tiny --output small",
    "export-fp32": "export -m en-fr --output copy --precision fp32",
    "export-onnx": "export -m tiny --onnx graphs",
    "models-folder": "models .",
    "translate": "translate corpus/test.en",
    "translate-fr": "translate corpus/test.fr --output out",
    "translate-running": "translate running.en",
    "translate-json": "translate running.en --format json --jobs 2",
    "translate-n-best": "translate corpus/test.en --n-best 3 --beam 4 --output n-best",
    "translate-n-best-json": "translate running.en --n-best 2 --format json",
    "translate-pharaoh": "translate -m tiny corpus/test.en --format pharaoh --n-best 2",
    "translate-unk": "translate -m tiny corpus/test.en --replace-unk --format json",
    "translate-forbid": "translate -m tiny corpus/test.en --forbid-unk",
    "translate-prefix": "translate -m tiny corpus/test.en --prefix prefix --terms terms.tsv --format json",
    "translate-terms": "translate running.en --terms terms.tsv --jobs 2 --output out",
    "translate-html": "translate document.en.html --html --attributes",
    "translate-html-jobs": "translate document.en.html --html --page page.html --output out.html --jobs 2",
    "translate-page": "translate running.en --page page.html --n-best 2",
    "translate-paper": "translate -m tiny corpus/test.en --paper",
    "translate-ensemble": "translate -m tiny -m tiny-other corpus/test.en --format json --jobs 2",
    "translate-members": "translate -m tiny-three corpus/test.en",
    "translate-both": "translate -m tiny -m tiny-r2l corpus/test.en --format json --n-best 2",
    "translate-encdec": "translate -m tiny-encdec corpus/test.en --format json",
    "translate-mbr": "translate -m tiny corpus/test.en --set search.minimum_bayes_risk=true --n-best 2",
    "translate-sampled": "translate -m tiny corpus/test.en --set search.temperature=1 --n-best 2",
    "translate-segments": "translate running.en --no-split-sentences --set search.max_segment=20 --format json",
    "translate-input": "translate < corpus/test.en",
    "translate-no-file": "translate missing",
    "translate-pharaoh-none": "translate -m tiny-encdec corpus/test.en --format pharaoh",
    "score": f"score -m en-fr {PAIRS}",
    "score-json": f"score -m tiny -m tiny-other {PAIRS} --format json",
    "score-both": f"score -m tiny -m tiny-r2l {PAIRS} --tokenized",
    "rescore": "rescore -m tiny --source corpus/test.en n-best",
    "rescore-weight": "rescore -m tiny --source corpus/test.en n-best --weight 0.5 --best",
    "rescore-reverse": "rescore -m tiny-back --source corpus/test.en n-best --reverse --name back --tokenized",
    "evaluate": "evaluate -m tiny --source corpus/test.en --reference corpus/test.fr --json scores.json --output out",
    "evaluate-jobs": "evaluate -m en-fr --source corpus/test.en --reference corpus/test.fr --jobs 2",
    "evaluate-phones": "evaluate -m en-ipa --tsv words.tsv --beam 3",
    "compare": "compare --reference corpus/test.fr corpus/test.fr corpus/test.en",
    "examples": "examples table.tsv --output page.html --plot plots",
    "align": f"align {PAIRS} --gold corpus/test.gold --output out",
    "align-json": f"align {PAIRS} --format json --save aligner --symmetrize grow-diag-final-and",
    "align-kept": "align --model aligner --pairs joined --tokenized",
    "align-model": f"align -m en-fr {PAIRS} --page page.html --jobs 2",
    "align-model-json": f"align -m en-fr {PAIRS} --format json --gold corpus/test.gold --tokenized --plot plots --plots 2",
    "align-model-own": "align -m tiny --source corpus/test.en --output out",
    "align-reverse": f"align -m tiny {PAIRS} --reverse-model tiny-back --symmetrize union --jobs 2",
    "align-refused": f"align {PAIRS} --page page.html",
    "align-encdec": f"align -m tiny-encdec {PAIRS}",
    "lexicon": f"lexicon -m tiny {PAIRS} --check-source corpus/valid.en --check-reference corpus/valid.fr --jobs 2",
    "translate-selected": "translate -m tiny corpus/test.en --set search.vocabulary_selection=50 --replace-unk",
    "learn-links": f"learn-links -m tiny {PAIRS} --links corpus/test.gold",
    "learn-links-learned": f"learn-links -m tiny-other {PAIRS} --pairs 20",
    "translate-linked": "translate -m tiny corpus/test.en --format json --replace-unk --jobs 2",
    "align-linked": f"align -m tiny {PAIRS} --format json",
    "project": "project --source marked.conll --target marked.fr --links marked.links",
    "project-html": "project --source marked.html --target marked.fr --format html --links marked.links --output out",
    "pronounce": "pronounce Hello world, naïve 中 it's",
    "pronounce-file": "pronounce --file running.en --n-best 3 --output out",
    "select": "select --source corpus/train.en --target corpus/train.fr --in-domain-source corpus/test.en "
    "--in-domain-target corpus/test.fr --output-source out.en --output-target out.fr --scores scores --pairs 50 --jobs 2",
    "select-one-side": "select --source corpus/train.en --target corpus/train.fr --in-domain-target corpus/test.fr "
    "--output-source out.en --output-target out.fr --words 300 --method moore-lewis --side target",
}  # fmt: skip
"""Commands in order: later ones use the models that earlier ones made. `< FILE` is standard input."""
KEPT = ("data", "tiny", "averaged", "small", "copy", "aligner", "n-best", "corpus")
"""What stays for later commands: beginnings of names. The rest of what a command writes is removed after it."""
_SECONDS = re.compile(
    rb"(?m:^)[a-z ]+: [^\n]{0,200} lines/s[^\n]*\n|[\d.]+ s, [\d.]+ sentences/s|"
    rb"\"?(seconds|hours|(target_)?words_per_second)\"?: ?[\d.,]+"
)
_NOT_COMPARED = ("training.json", "README.md", "last.safetensors", "events.out", "log.jsonl", "training.log")
"""Files that hold times."""


_PACKAGE = str(Path(importlib.import_module("rnnsearch").__file__ or "").parent)


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
        for step, command in STEPS.items():
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
