"""Sentence pairs with gold links: the test set of the built-in corpus, the five novels of alibi, and other languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from benchmarks.lib import built_in
from benchmarks.lib.texts import write_lines
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import GoldLinks, Links, Symmetry, parse_gold, read_gold, symmetrize
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.text.tokenize import Tokenizer

LONGEST = 60
"""Novels' sentences of more words are left out."""
DEVELOPED_ON = ("LaBarbeBleue", "LaDerniereClasse")
"""The novels on which settings are chosen; the others are the test."""
LANGUAGES = ("nl", "es", "de", "pt", "ru", "it", "zh", "ro", "ja")
"""Those of the folder `align`, each with English."""
Sentences = list[list[str]]


@dataclass(frozen=True)
class Aligned:
    """Sentence pairs, in words, and their gold links."""

    sources: Sentences
    targets: Sentences
    gold: list[GoldLinks]
    parts: dict[str, Sequence[int]] = field(default_factory=dict)
    """The numbers of the pairs in each part, by the name of the part."""

    def pairs(self) -> Iterator[tuple[list[str], list[str]]]:
        """Both sides of each pair."""
        return zip(self.sources, self.targets, strict=True)

    def lines(self) -> Iterator[list[str]]:
        """The sources, and the targets, as lines of words between spaces."""
        return ([" ".join(words) for words in side] for side in (self.sources, self.targets))

    def part(self, name: str) -> Aligned:
        """The pairs of a part."""
        return self.chosen(self.parts[name])

    def chosen(self, numbers: Sequence[int]) -> Aligned:
        """The pairs of these numbers."""
        sources, targets = ([side[n] for n in numbers] for side in (self.sources, self.targets))
        return Aligned(sources, targets, [self.gold[n] for n in numbers])

    def score(self, links: Sequence[Links]) -> dict[str, Any]:
        """The score of the links of all pairs."""
        return asdict(alignment_error_rate(links, self.gold))

    def scores(self, links: Sequence[Links]) -> dict[str, dict[str, Any]]:
        """The score of each part."""
        return {name: self.part(name).score([links[n] for n in numbers]) for name, numbers in self.parts.items()}


def tokenized(english: Path, french: Path) -> tuple[Sentences, Sentences]:
    """The words of two files of text."""
    first, second = (
        [*map(Tokenizer("moses", language).tokenize, read_lines(path))]
        for path, language in ((english, "en"), (french, "fr"))
    )
    return first, second


def built_in_test(corpus: Path) -> Aligned:
    """The test set of the built-in corpus."""
    gold = read_gold(corpus / "test.gold")
    return Aligned(*tokenized(*built_in.part(corpus, "test")), gold, {"test": range(len(gold))})


def novels(data: Path) -> Aligned:
    """The gold alignments of `DATA/alibi`: English as the source, French as the target.

    Its parts are the novels that were developed on, and the test, which are the others.
    """
    developed: list[int] = []
    test: list[int] = []
    found = Aligned([], [], [], {"developed on": developed, "test": test})
    for novel, english, french, links in _pairs(data / "alibi"):
        (developed if novel in DEVELOPED_ON else test).append(len(found.gold))
        found.sources.append(english.split())
        found.targets.append(french.split())
        found.gold.append(parse_gold(links, reverse=True))
    return found


def language_sets(folder: Path) -> dict[str, Aligned]:
    """The sentences `test` and `dev` of a language, which is the source; English is the target.

    Only those of `dev` have gold links, and not all languages have a `dev`.
    """
    sets = {}
    for name in ("test", "dev"):
        if (folder / f"{name}.en").exists():
            source, target = (
                [line.split() for line in read_lines(folder / f"{name}.{side}")] for side in (folder.name, "en")
            )
            gold = folder / f"{name}.gold"
            sets[name] = Aligned(source, target, read_gold(gold) if gold.exists() else [parse_gold("")] * len(source))
    return sets


def language_text(folder: Path, output: Path, lines: int | None = None) -> tuple[Path, Path]:
    """The two files in which a language is aligned: its `test` and `dev`, and its `train`; or so many lines of them."""
    name = f"{folder.name}-{lines}" if lines else folder.name
    text = output / f"{name}.source", output / f"{name}.target"
    for path, side in zip(text, (folder.name, "en"), strict=True):
        parts = [folder / f"test.{side}", folder / f"dev.{side}", folder / f"train.{side}.xz"]
        whole = chain.from_iterable(read_lines(part) for part in parts if part.exists())
        if not path.exists():
            write_lines(path, islice(whole, lines))
    return text


def both(forward: Sequence[Links], backward: Sequence[Links], way: Symmetry) -> list[Links]:
    """The links of two directions together."""
    return [symmetrize(one, other, way) for one, other in zip(forward, backward, strict=True)]


def _pairs(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """The novel, the English, the French and the links of each pair."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        french, english = (_numbered(place / f"{name}_sents.txt") for name in place.name.split("_"))
        for number, links in _numbered(place / f"ali_w2w_{place.name}.txt").items():
            if number in french and number in english and len(english[number].split()) <= LONGEST:
                yield place.name.split("_")[0], english[number], french[number], links


def _numbered(path: Path) -> dict[str, str]:
    lines = (line.removeprefix("\ufeff").partition("\t") for line in read_lines(path))
    return {number.strip(): rest for number, _, rest in lines}
