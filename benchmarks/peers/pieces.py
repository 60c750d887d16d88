"""Text in subwords, for toolkits that learn none themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.lib.texts import write_lines
from rnnsearch.config import DataConfig
from rnnsearch.data.lines import read_lines
from rnnsearch.data.prepare import prepare
from rnnsearch.text import Tokenizer
from rnnsearch.text.subwords import Subwords, join

Pairs = Sequence[tuple[str, str]]


def write_pieces(folder: Path, texts: Mapping[str, Pairs], languages: Sequence[str], data: DataConfig) -> list[str]:
    """Write each text, as `NAME.LANGUAGE`, in the subwords that are learned from the text `train`; return the subwords."""
    plain = [folder / f"plain.{language}" for language in languages]
    for side, path in enumerate(plain):
        write_lines(path, (pair[side] for pair in texts["train"]))
    prepare(plain[:1], plain[1:], folder / "prepared", data)
    for side, language in enumerate(languages):
        tokenizer = Tokenizer("moses", language)
        subwords = Subwords.load(folder / "prepared" / f"{('source', 'target')[side]}.subwords", "bpe")
        for name, pairs in texts.items():
            words = (tokenizer.tokenize(pair[side]) for pair in pairs)
            lines = (" ".join(piece for word in of_line for piece in subwords.segment(word)) for of_line in words)
            write_lines(folder / f"{name}.{language}", lines)
    return list(subwords.inventory)


def without_pieces(file: Path, language: str) -> list[str]:
    """The lines of a file in subwords, put together as ours are."""
    tokenizer = Tokenizer("moses", language)
    return [tokenizer.detokenize(join(line.split())[0]) for line in read_lines(file)]
