"""Does one model learn from several what they say of words that no dictionary has?

RUNS is the output of `g2p.py`, with the ensemble of this language. It pronounces the most frequent words of TEXT that are
not in its dictionary, and one model of the size of its members learns from what it says beside the dictionary
(sequence-level distillation, Kim & Rush 2016). Recorded are the error rates on the development set, and the words per second
of processor time, of the first member, of the ensemble and of the new model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.characters.models import scored, train, training_of
from benchmarks.lib.command import Parser, run
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import write_lines
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_table
from rnnsearch.model_folder import load_members
from rnnsearch.translation import Translator

SETTINGS = ("model.hidden_size=192", "training.max_updates=4800", "training.validate_every=600")
"""The size of a model of some thousand words, and twice its updates."""


def words_of(texts: Sequence[Path], known: set[str], count: int) -> list[str]:
    """The most frequent words, in lower case and of letters alone, that are not known."""
    found: Counter[str] = Counter()
    for text in texts:
        for line in read_lines(text):
            found.update(re.findall(r"\b[^\W\d_]+\b", line))
    return [word for word, _ in found.most_common() if word.islower() and word not in known][:count]


def translators(folder: Path) -> dict[str, Translator]:
    """The first model of a folder, and all of them where there are several."""
    first, *others = load_members(folder)
    one = Translator([first], folder)
    return {"one": one, f"{1 + len(others)} together": Translator([first, *others], folder)} if others else {"one": one}


def main() -> None:
    """Pronounce, train, score, record."""
    parser = Parser(__doc__, "data", language="fre", words=sized(20_000, 20))
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="text of the language")
    asked = parser.parse_args()

    on, name = machine(), f"medium-{asked.language}"
    tables = {part: asked.data / "g2p" / "medium" / f"{asked.language}_{part}.tsv" for part in ("train", "dev")}
    test = asked.data / "blind" / "g2p" / f"{name}_test.gr"
    words, taught, model = (asked.runs / f"{name}-{part}" for part in ("more.words", "taught.tsv", "distilled"))
    if not taught.exists():
        known = {word for table in tables.values() for word, _ in read_table(table)} | set(read_lines(test))
        chosen = words_of(asked.text, known, asked.words)
        write_lines(words, chosen)
        phones = taught.with_suffix(".phones")
        run("translate", "--model", asked.runs / name, words, "--output", phones, threads=1)
        pairs = zip(chosen, read_lines(phones), strict=True)
        write_lines(taught, (f"{word}\t{found}" for word, found in pairs))
    train(model, [tables["train"], taught], tables["dev"], SETTINGS)
    torch.set_num_threads(1)
    systems = {**translators(asked.runs / name), "distilled": translators(model)["one"]}
    found = {system: scored(translator, tables["dev"])[0] for system, translator in systems.items()}
    for system, one in found.items():
        print(f"{system:12} WER {one['wer']:5.1f}  SER {one['ser']:5.1f}  {one['words_per_second']:6,} words/s")
    training = training_of(model)
    write_result(
        "characters/distillation",
        machine=on,
        language=asked.language,
        words=sum(1 for _ in read_lines(taught)),
        updates=training["updates"],
        minutes=training["minutes"],
        found=found,
    )
