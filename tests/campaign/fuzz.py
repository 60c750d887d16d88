"""Commands with odd files, file names, outputs and settings, drawn at random."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

import forked
from campaign.trial import SMALL, Part, chance, complaint, names, partial, run, settings, world, writing
from rnnsearch.config import SECTIONS, describe

LONG = 100_000
NAMES: dict[str, bytes | str] = {
    "a missing file": "absent.en",
    "a name that is not UTF-8": b"caf\xe9.en",
    "a name that is too long": "n" * 300 + ".en",
    "a name as long as names may be": "n" * 252 + ".en",
    "a path that is too long": "x/" * 3000 + "x.en",
    "a name with a line feed": "two\nlines.en",
    "a name with markup": "[bold]x[nothing].en",
    "a name in another script": "текст 🙂.en",
    "an empty name": "",
    "a dash": "-",
    "a folder": "folder.en",
    "a loop of links": "loop.en",
    "a link to nothing": "dangling.en",
    "a pipe": "fifo.en",
    "/dev/null": "/dev/null",
    "/dev/zero": "/dev/zero",
    "/dev/urandom": "/dev/urandom",
    "/dev/full": "/dev/full",
    "a file of the system": "/proc/self/mem",
    "a place below a file": "test.en/below.en",
    "a place that nobody may write to": "/proc/x/y.en",
}
"""Odd file names; `Place.named` creates some of the files, most as copies of valid ones."""
WORD = "".join(chr(97 + i * 7919 % 26) for i in range(LONG))
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "blank lines": b"\n \n\t\n\r\n",
    "random bytes": Random(1).randbytes(50_000),
    "a byte order mark": b"\xef\xbb\xbfthe dog .\n" * 5,
    "carriage returns": b"the dog .\r\n" * 5,
    "only carriage returns": b"the dog .\r" * 5,
    "Latin-1": "le château .\n".encode("latin-1") * 5,
    "carriage returns and one line feed": b"the dog .\rthe cat .\n" * 5,
    "UTF-16": ("le château .\n" * 5).encode("utf-16"),
    "UTF-16 without a mark": ("le château .\n" * 5).encode("utf-16-le"),
    "UTF-32": ("le château .\n" * 5).encode("utf-32-be"),
    "an encoded surrogate": b"a \xed\xa0\x80 dog\n" * 5,
    "zero bytes": b"the \0 dog\0\n" * 5,
    "no last line feed": b"the dog .\n" * 4 + b"the cat",
    "a long word": WORD.encode() + b"\n",
    "long words": b"".join(WORD[i:].encode() + b" " + WORD.encode()[: i + 1] + b"\n" for i in range(5)),
    "a word of one letter": b"a" * LONG + b"\n",
    "a line of many words": b"the dog " * (LONG // 8) + b"\n",
    "a line of many different words": " ".join(map(str, range(LONG // 6))).encode() + b"\n",
    "endless full stops": b"." * LONG + b"\n",
    "endless hyphens": b"-" * LONG + b"\n",
    "endless hyphenation": b"a-" * (LONG // 2) + b"\n",
    "endless punctuation": b"!?,;" * (LONG // 4) + b"\n",
    "endless quotes": b"\"'" * (LONG // 2) + b"\n",
    "endless apostrophes": b"l'" * (LONG // 2) + b"\n",
    "endless abbreviations": b"a." * (LONG // 2) + b"\n",
    "endless spaces": b"the" + b" " * LONG + b"dog\n",
    "endless digits": b"1," * (LONG // 2) + b"\n",
    "endless accents": b"a" + "́".encode() * (LONG // 2) + b"\n",
    "endless Chinese": "中文".encode() * (LONG // 6) + b"\n",
    "endless pipes": b"|||" * (LONG // 3) + b"\n",
    "endless tabs": b"\t" * LONG + b"\n",
    "endless markup": b"<b>" * (LONG // 30) + b"x\n",
    "invisible letters": "​‮﻿­".encode() * 1000 + b"\n",
    "typographic marks": "It’s “so” – he «\u202fsaid\u202f» ‘no’ — 5′ − 1…, don`t, ﬁrst oﬃce\n".encode() * 5,
    "decomposed accents": "le cha\u0302teau de l’e\u0301te\u0301 A\u030a\u0323 x\u0302\u0323\n".encode() * 5,
    "full-width letters": "Ｔｈｅ　ｄｏｇ，１２．５％　［ＵＮＫ］　ﾊﾞ　ﾡￂ\n".encode() * 5,
    "endless marks": "’“ﬁ…–\u0301".encode() * (LONG // 60) + b"\n",  # each becomes several words to translate
    "endless unordered accents": b"a" + "\u0301\u0323".encode() * (LONG // 4) + b"\n",
    "unusual spaces": "10\xa0000 the\u2003dog\u3000a\u202f! \xa0 \u2009\n\xa0\n".encode() * 5,
    "tabs and bars": b"the\tdog ||| le\tchien\nthe dog\t|||\tle chien\n" * 5,
    "separators": "a\u2028b\u0085c\x0cd\x1ce\n".encode() * 5,
    "reserved words": "</s> [UNK] <unk> <s> ▁ ▁▁ ||| @-@ &amp; &#38;\n".encode() * 5,
    "huge numbers": b"0-0 99999999999999999999-1 1e999 -1--1\n" * 5,
    "many lines": b"a b\n" * 20_000,
    "paragraphs": "The dog sees. “A cat.” Mr. Man has 3.5 books…  He is old. 🙂 \tThe end!\n\n  \n".encode() * 5,
    "subtitles": b"1\r\n00:01:02,000 --> 00:01:04,000\r\n- The dog sees.\r\n- A cat!\r\n\r\n" * 5,
    "Markdown": "# The dog\n\n---\n- [ ] a cat\n|---|:--:|\n```\nthe  man\n```\n***\n🙂\n".encode() * 5,
    "many short sentences": b"The dog. " * (LONG // 50) + b"\n",
    "endless ellipses": "a… ".encode() * (LONG // 5) + b"\n",
    "endless brackets": b"(A. " * (LONG // 4) + b"\n",
    "endless pictures": "🙂 ".encode() * (LONG // 25) + b"\n",
}
SETTING_VALUES = (
    "0", "-1", "1", "2", "0.5", "1000", "1000000000", "9223372036854775808", "1e9", "1e308", "1e-300", "nan", "inf", "-inf",
    "", "x", "true", "none", "[1]", "[]", "é", "0x10", "1_000", "١",
)  # fmt: skip
NUMBERS = ("0", "-1", "1", "3", "50", "1000000000", "100000000000000000000", "x", "", "1.5")


@dataclass(frozen=True)
class Command:
    """A command line with slots such as `{source}` and `{model}`; an option `--x?` and its value may be left out."""

    line: str
    weight: float = 1.0


COMMANDS = (
    Command("translate --model {model} {source} --output? {file} --beam? {number} --n-best? {few} --page? {page} "
            "--terms? {terms} --prefix? {target} --format? {format} --set? {search}", 3),
    Command("translate --model {model} --html {html} --output? {file} --page? {page}"),
    Command("score --model {model} --source {source} --target {target} --format? {score-format}", 2),
    Command("align --model {model} --source {source} --target? {target} --plot? {folder} --page? {page} --gold? {gold}", 2),
    Command("evaluate --model {model} --source {source} --reference {target} --json? {file} --output? {file} "
            "--set? {search}", 2),
    Command("compare {target} {target} --reference {target}"),
    Command("rescore --model {model} --source {source} {n-best} --weight? {number}"),
    Command("examples --model {model} {examples} --output {page} --beam? {number}"),
    Command("lexicon --model {copy} --source {train-source} --target {train-target} --check-source? {source} "
            "--check-reference? {target}"),
    Command("average --model {model} --model {model} --output {folder}"),
    Command("export --model {model} --output {folder}"),
    Command("models {model}"),
    Command("presets {word}", 0.3),
    Command("prepare --source {train-source} --target {train-target} --output {folder} --hold-out? {number} "
            "--links? {links} --vocabulary-of? {model} --set? {data}", 3),
    Command("train --source {train-source} --target {train-target} --valid-source {source} --valid-target {target} "
            "--output {folder} --links? {links} --from? {model} --set? {setting} --set? {setting} {small}", 4),
    Command("train --data {prepared} --output {folder} --set? {training} {small}", 2),
    Command("select --source {train-source} --target {train-target} --in-domain-source {source} --in-domain-target {target} "
            "--output-source {file} --output-target {file} --pairs {few} --scores? {file} --seed? {number}", 2),
    Command("download builtin --output {folder}", 0.1),
    Command("demo --output {broken-folder} --pairs {hundred} --set? {setting} {small}", 0.3),
    Command("reproduce --scale files --source {train-source} --target {train-target} --valid-source {source} "
            "--valid-target {target} --test-source {source} --test-target {target} --output {broken-folder} "
            "--budget-hours 0.001 --system? {word}", 0.3),
)  # fmt: skip
GOOD = {
    "source": "test.en", "target": "test.fr", "train-source": "train.en", "train-target": "train.fr", "html": "page.html",
    "terms": "terms.tsv", "gold": "test.gold", "n-best": "n-best", "examples": "examples.tsv", "links": "train.links",
    "prepared": "prepared", "copy": "mlp", "file": "out.txt", "page": "out.html", "folder": "out", "few": "3",
    "number": "2", "hundred": "100", "word": "small", "broken-folder": "test.en",
}  # fmt: skip
INPUTS = ("source", "target", "train-source", "train-target", "html", "terms", "gold", "n-best", "examples", "links")
OUTPUTS = ("file", "page", "folder", "broken-folder")
SECTIONS_OF = {"search": ["search"], "data": ["data"], "training": ["training"], "setting": [*SECTIONS]}


class Place:
    """The folder of one command, with all valid files; methods add odd files."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder, self.random, self.pipes = folder, random, list[Path]()
        for path in world().iterdir():
            if path.is_dir():
                (folder / path.name).symlink_to(path)
            else:
                shutil.copy(path, folder / path.name)

    def odd_input(self, good: str) -> str | bytes:
        """Return an odd name, or the name of a file with odd contents or of a damaged copy of `good`."""
        random = self.random
        if chance(random, 0.35):
            return self.named(random.choice([*NAMES]), good)
        kind = random.choice([*CONTENTS, "cut short", "damaged gzip", "no gzip", "damaged xz", "gzip", "one endless line"])
        content = (self.folder / good).read_bytes() if (self.folder / good).is_file() else b"x\n"
        name = f"{kind.replace(' ', '-')}.en"
        if kind in CONTENTS:
            content = CONTENTS[kind]
        elif kind == "cut short":
            content = content[: random.randrange(len(content) + 1)]
        elif kind == "one endless line":
            name, content = name + ".gz", gzip.compress(b"a " * 30_000_000, 1)
        elif "gzip" in kind:
            name += ".gz"
            content = content if kind == "no gzip" else gzip.compress(content)[: -5 if kind == "damaged gzip" else None]
        else:
            name, content = name + ".xz", lzma.compress(content)[:-9]
        (self.folder / name).write_bytes(content)
        return name

    def named(self, kind: str, good: str = "") -> str | bytes:
        """Return an odd name, and create its file as a copy of `good`, as far as such a file can exist."""
        name = NAMES[kind]
        path = self.folder / os.fsdecode(name)
        if kind == "a folder":
            path.mkdir(exist_ok=True)
        elif kind == "a loop of links":
            path.is_symlink() or path.symlink_to(path.name)
        elif kind == "a link to nothing":
            path.is_symlink() or path.symlink_to("nowhere")
        elif kind == "a pipe":
            if not path.exists():
                os.mkfifo(path)
            self.pipes.append(path)
        elif good and kind.startswith("a name") and "too long" not in kind:
            original = self.folder / good
            (shutil.copytree if original.is_dir() else shutil.copy)(original, path) if not path.exists() else None
        return name

    def odd_output(self, folder: bool) -> str | bytes:
        """Return a name for an output to which nothing can be written, at which there is something, or that prints badly."""
        random = self.random
        kind = random.choice([*NAMES, "what is there"])
        if kind == "what is there":
            return random.choice(["test.en", "mlp", "prepared", ".", "..", "/"]) if not folder else "test.en"
        return self.named(kind)

    def odd_model(self) -> str | bytes:
        """Return an odd name for a model."""
        random = self.random
        kind = random.choice([*NAMES, "user/model", "en-fr", "test.en", ".", "valid name"])
        return self.named(kind, "mlp") if kind in NAMES else kind


def arguments(place: Place) -> list[str | bytes]:
    """Return the words of a command, a few of which are odd."""
    random = place.random
    command = random.choices(COMMANDS, [command.weight for command in COMMANDS])[0]
    words, filled = command.line.split(), list[str | bytes]()
    slots = [number for number, word in enumerate(words) if word.startswith("{") and word != "{small}"]
    odd = set(random.sample(slots, min(len(slots), random.choice((0, 1, 1, 1, 2, 3)))))
    twin = place.odd_input("train.en") if chance(random, 0.3) else None
    skip = False
    for number, word in enumerate(words):
        if skip:
            skip = False
        elif word.endswith("?"):
            skip = number + 1 not in odd and chance(random, 0.6)
            filled += [] if skip else [word[:-1]]
        elif word == "{small}":
            filled += settings(SMALL | ({"data.tokenizer": "moses"} if chance(random, 0.5) else {}))
        elif word.startswith("{"):
            filled.append(_fill(place, word[1:-1], number in odd, twin))
        else:
            filled.append(word)
    if "{small}" in words and filled.count("--set") > len(SMALL):  # the odd setting is moved to the end, where it wins
        first = filled.index("--set")
        rest = filled[first : first + 2]
        filled = [*filled[:first], *filled[first + 2 :], *rest]
    return filled


# Python 3.11 cannot parse a source in two threads at once.
_KEYS = {section: [*describe(section)] for section in {name for names in SECTIONS_OF.values() for name in names}}


def _fill(place: Place, slot: str, odd: bool, twin: str | bytes | None) -> str | bytes:
    """Return the word for a slot; `twin` is the text for all texts of a command, if it is not None."""
    random = place.random
    if slot in SECTIONS_OF:
        section = random.choice(SECTIONS_OF[slot])
        key = random.choice(_KEYS[section])
        return f"{section}.{key}={random.choice(SETTING_VALUES)}"
    if slot == "model":
        return place.odd_model() if odd else random.choice(("mlp", "mlp", "none", "bpe", "bpe"))
    if slot == "prepared" and odd:
        return place.odd_model()
    if slot in ("format", "score-format"):
        return random.choice(("text", "json", "pharaoh", "x") if slot == "format" else ("text", "json", "x"))
    if slot in INPUTS and twin is not None and slot not in ("examples", "html"):
        return twin
    if not odd:
        return GOOD[slot]
    if slot in INPUTS:
        return place.odd_input(GOOD[slot])
    if slot in OUTPUTS:
        return place.odd_output(slot.endswith("folder"))
    if slot == "copy":
        return place.odd_model()
    return random.choice(NUMBERS)


def attempt(seed: int, number: int) -> tuple[str, str | None]:
    """Run a random command; return its line, and what was wrong with its end."""
    random, usual = Random(f"{seed} {number}"), {*settings(SMALL)} - {"--set"}
    with tempfile.TemporaryDirectory(prefix="campaign-") as place, ExitStack() as stack:
        folder = Path(place) / "here"
        folder.mkdir()
        built = Place(folder, random)
        words = arguments(built)
        if "lexicon" in words or "copy" in words:  # it writes into the folder of its model
            (folder / "mlp").unlink()
            shutil.copytree(world() / "mlp", folder / "mlp")
        for pipe in {*built.pipes}:
            stack.enter_context(writing(pipe, folder / "test.en"))
        before = names(folder)
        ended = run(words, folder)
        failure = complaint(ended) or partial(folder)
        # Shards that were finished before an invalid line remain beside the output, for the next run on the corrected file.
        new = {name for name in names(folder) - before if b".parts" not in name}
        if failure is None and ended.status == 2 and new:
            failure = f"refuses, and leaves {sorted(new)[:3]}; {ended.err[-300:]!r}"
    return f"{number}: {' '.join(repr(word)[:80] for word in words if word not in usual)}", failure


def fuzz(seed: int, numbers: Sequence[int]) -> Part:
    """Run the random commands with these numbers."""
    part = Part()
    world(), forked.server()  # before there are threads
    with ThreadPoolExecutor(2) as threads:
        for name, failure in threads.map(lambda number: attempt(seed, number), numbers):
            part.attempt(name, failure)
    return part
