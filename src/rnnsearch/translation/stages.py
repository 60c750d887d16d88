"""The stages of jobs that use a translator (`rnnsearch.jobs`), on one machine or on a cluster.

Each stage holds a loaded model, which forked processes share.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from rnnsearch.data.word_alignments import Links, Symmetry, symmetrize, to_pharaoh
from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs import Done, Json, RowStage, Shard, Stage, digest_of
from rnnsearch.model_files import shared_files
from rnnsearch.text.tokenize import split_at_spaces
from rnnsearch.translation.formats import FORMATS, Format, pair_as_json, score_as_json
from rnnsearch.translation.glossary import NO_TERMS, Glossary
from rnnsearch.translation.lexicon import LinkCounter
from rnnsearch.translation.pronunciation import Pronouncer
from rnnsearch.translation.rescoring import NBest, Rescorer
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator

Line = tuple[str, str | None]
"""A line, and the prefix of its translation; None if no line has a prefix."""
Pair = tuple[str, str | None]
"""A line and its translation; None if the model is to translate the line."""


def model_digest(*folders: Path) -> str:
    """Return a digest of the files of these models, for the identity of a stage."""
    return digest_of(*(path for folder in folders for path in shared_files(folder)))


def with_prefixes(lines: Iterable[str], prefixes: Iterable[str] | None) -> Iterator[Line]:
    """Pair the lines with the prefixes, if there are any. Raises RnnsearchError if their numbers differ."""
    if prefixes is None:
        yield from ((line, None) for line in lines)
        return
    for number, (line, prefix) in enumerate(zip_longest(lines, prefixes)):
        if line is None:
            raise RnnsearchError("there are more prefixes than lines; give one for each, if empty")
        if prefix is None:
            raise RnnsearchError(f"{number} prefixes for {number + 1} lines or more; give one for each, if empty")
        yield line, prefix


def check_device(translator: Translator, jobs: int) -> None:
    """Raise RnnsearchError if several processes are to share a model that is on a GPU."""
    if jobs > 1 and translator.system.device != "cpu":
        raise RnnsearchError(f"jobs = {jobs}: the model is on a GPU, which one process uses best; leave --jobs out")


def ready_to_score(translator: Translator, jobs: int) -> None:
    """Check the device (`check_device`), and create the readers of given pairs before processes are forked."""
    check_device(translator, jobs)
    if jobs > 1:
        translator.score_words([["a"]], [["a"]])


@dataclass(frozen=True)
class Translate(RowStage[Line, list[Translation]]):
    """Translates lines. The note of a line: whether its translation is finished, and what replaced each `[UNK]`."""

    command: ClassVar[str] = "translate"
    translator: Translator
    models: Sequence[Path] = ()
    """The folders of the translator's models."""
    n: int = 1
    format: Format | None = "text"
    """The output format of translations; None if they are not written."""
    glossary: Glossary = NO_TERMS
    settings: Mapping[str, Any] = field(default_factory=dict)
    of_sentences: bool = False
    """Whether the lines are sentences, which are not cut again."""

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        return {
            "command": self.command,
            "models": model_digest(*self.models),
            "n": self.n,
            "format": self.format,
            "terms": [[list(source), target] for source, target in self.glossary.entries.items()],
            "split_sentences": not self.of_sentences and self.translator.splits(self.settings),
            "settings": dict(self.settings),
        }

    def warm_up(self, jobs: int) -> None:
        """See `Stage`; it also raises RnnsearchError for invalid settings."""
        check_device(self.translator, jobs)
        # An empty line is not searched, so that a single process does not wait for it.
        self.translator.n_best(["a" if jobs > 1 else ""], self.n, (), self.glossary, **self.settings)

    def __call__(self, shard: Shard[Line]) -> list[Done[list[Translation]]]:
        """See `Stage`."""
        lines = [line for line, _ in shard.rows]
        prefixes = [prefix for _, prefix in shard.rows if prefix is not None]
        settings = {**self.settings, **shard.settings}
        if self.of_sentences:
            n_best_lists = self.translator.n_best_of_sentences(lines, self.n, prefixes, self.glossary, settings)
        else:
            n_best_lists = self.translator.n_best(lines, self.n, prefixes, self.glossary, **settings)
        return [
            Done(
                self._written(line, n_best, number),
                [n_best[0].finished, [replacement.by for replacement in n_best[0].replacements]],
                n_best if number < shard.first + shard.whole else None,
            )
            for number, (line, n_best) in enumerate(zip(lines, n_best_lists, strict=True), shard.first)
        ]

    def _written(self, line: str, n_best: Sequence[Translation], number: int) -> str | None:
        """How the translations of a line are written; those of blank lines are no pairs."""
        if self.format is None:
            return None
        if self.format in FORMATS:
            return FORMATS[self.format](n_best, number, self.n > 1)
        from rnnsearch.formats.registry import WRITTEN

        source, target = self.languages
        pair = {source: line.strip(), target: n_best[0].text.strip()}
        return WRITTEN[self.format].unit(pair).removesuffix("\n") if all(pair.values()) else None

    @property
    def languages(self) -> tuple[str, str]:
        """The source and the target language."""
        data = self.translator.system.config.data
        return data.source_language, data.target_language

    def record_to_plain(self, record: list[Translation]) -> Json:
        """See `RowStage`."""
        return [one.to_plain() for one in record]

    def record_from_plain(self, plain: Json) -> list[Translation]:
        """See `RowStage`."""
        return [Translation.from_plain(one, self.translator.linker) for one in plain]


@dataclass(frozen=True)
class Align(RowStage[Pair, Translation | ScoredPair]):
    """Aligns pairs, or translates lines and aligns these. The note of a pair: its links."""

    command: ClassVar[str] = "align"
    translator: Translator
    reverse: Translator | None = None
    models: Sequence[Path] = ()
    symmetry: Symmetry = "grow-diag"
    tokenized: bool = False
    as_json: bool = False

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        how = {"symmetrize": self.symmetry, "tokenized": self.tokenized, "json": self.as_json}
        return {"command": self.command, "models": model_digest(*self.models), **how}

    def warm_up(self, jobs: int) -> None:
        """See `Stage`."""
        ready_to_score(self.translator, jobs)

    def __call__(self, shard: Shard[Pair]) -> list[Done[Translation | ScoredPair]]:
        """See `Stage`. Either all rows of a shard have a target, or none has one."""
        sources, targets = [source for source, _ in shard.rows], [target for _, target in shard.rows if target is not None]
        how: dict[str, Any] = {"tokenized": self.tokenized, "first_line": shard.first + 1}
        pairs: list[Translation | ScoredPair] = []
        if targets:
            pairs += self.translator.score(sources, targets, **how)
        else:
            pairs += self.translator.translate(sources)
        links = [_there(pair.links) for pair in pairs]
        if self.reverse is not None and targets:
            turned = self.reverse.score(targets, sources, **how)
            links = [
                symmetrize(ours, frozenset((s, t) for t, s in _there(theirs.links)), self.symmetry)
                for ours, theirs in zip(links, turned, strict=True)
            ]
        return [
            Done(
                pair_as_json(pair, number) if self.as_json else to_pharaoh(of_pair),
                sorted(of_pair),
                pair if number < shard.first + shard.whole else None,
            )
            for number, pair, of_pair in zip(itertools.count(shard.first), pairs, links, strict=False)
        ]

    def record_to_plain(self, record: Translation | ScoredPair) -> Json:
        """See `RowStage`."""
        return record.to_plain()

    def record_from_plain(self, plain: Json) -> Translation | ScoredPair:
        """See `RowStage`."""
        if "word_scores" in plain:
            return ScoredPair.from_plain(plain)
        return Translation.from_plain(plain, self.translator.linker)


@dataclass(frozen=True)
class Score(RowStage[tuple[str, str], ScoredPair]):
    """Scores given pairs. The note of a pair: its log-probability and the number of its words, with the end symbol."""

    command: ClassVar[str] = "score"
    translator: Translator
    models: Sequence[Path] = ()
    tokenized: bool = False
    as_json: bool = False

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        how = {"tokenized": self.tokenized, "json": self.as_json}
        return {"command": self.command, "models": model_digest(*self.models), **how}

    def warm_up(self, jobs: int) -> None:
        """See `Stage`."""
        ready_to_score(self.translator, jobs)

    def __call__(self, shard: Shard[tuple[str, str]]) -> list[Done[ScoredPair]]:
        """See `Stage`."""
        if self.tokenized:
            sources, targets = ([split_at_spaces(row[side]) for row in shard.rows] for side in (0, 1))
        else:
            sources = [self.translator.source_words(source) for source, _ in shard.rows]
            targets = [self.translator.target_words(target) for _, target in shard.rows]
        pairs = self.translator.score_words(sources, targets, with_alignment=False, first_line=shard.first + 1)
        return [
            Done(
                score_as_json(pair, number) if self.as_json else f"{pair.score:.6f}",
                [pair.score, len(pair.tokens) + 1],
                pair if number < shard.first + shard.whole else None,
            )
            for number, pair in enumerate(pairs, shard.first)
        ]

    def record_to_plain(self, record: ScoredPair) -> Json:
        """See `RowStage`."""
        return record.to_plain()

    def record_from_plain(self, plain: Json) -> ScoredPair:
        """See `RowStage`."""
        return ScoredPair.from_plain(plain)


@dataclass(frozen=True)
class Rescore(RowStage[NBest, None]):
    """Rescores the n-best lists of sentences, a row for each."""

    command: ClassVar[str] = "rescore"
    rescorer: Rescorer
    models: Sequence[Path] = ()
    best: bool = False
    """Whether only the best translation is written, as text."""

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        how = {**vars(self.rescorer), "translator": None}
        return {"command": self.command, "models": model_digest(*self.models), "best": self.best, **how}

    def warm_up(self, jobs: int) -> None:
        """See `Stage`."""
        ready_to_score(self.rescorer.translator, jobs)

    def __call__(self, shard: Shard[NBest]) -> list[Done[None]]:
        """See `Stage`."""
        n_best_lists = self.rescorer(shard.rows)
        return [Done(n_best[0].text if self.best else "\n".join(map(str, n_best))) for n_best in n_best_lists]


@dataclass(frozen=True)
class Pronounce(RowStage[str, None]):
    """Pronounces the words of lines. The note of a line holds the letters that the model cannot read."""

    command: ClassVar[str] = "pronounce"
    pronouncer: Pronouncer
    models: Sequence[Path] = ()
    n: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        how = {"n": self.n, "settings": dict(self.settings)}
        return {"command": self.command, "models": model_digest(*self.models), **how}

    def warm_up(self, jobs: int) -> None:
        """See `Stage`."""
        check_device(self.pronouncer.translator, jobs)
        if jobs > 1:
            self.pronouncer.n_best(["a"], self.n, **self.settings)

    def __call__(self, shard: Shard[str]) -> list[Done[None]]:
        """See `Stage`."""
        words = [self.pronouncer.words(line) for line in shard.rows]
        pronunciations = iter(self.pronouncer.n_best([word for each in words for word in each], self.n, **self.settings))
        done: list[Done[None]] = []
        for of_line in words:
            rows = [(word, one) for word in of_line for one in next(pronunciations)]
            scores = [f"\t{one.score:.4f}" if self.n > 1 else "" for _, one in rows]
            written = "\n".join(f"{word}\t{one.text}{score}" for (word, one), score in zip(rows, scores, strict=True))
            unread = dict.fromkeys(letter for word in of_line for letter in self.pronouncer.unreadable(word))
            done.append(Done(written, list(unread)))
        return done


@dataclass(frozen=True)
class CountLinks(Stage[tuple[str, str], dict[str, Any]]):
    """Counts the links between the words of the pairs of a shard, as `LinkCounter` does."""

    command: ClassVar[str] = "lexicon"
    translator: Translator
    models: Sequence[Path] = ()

    def identity(self) -> dict[str, Json]:
        """See `Stage`."""
        return {"command": self.command, "models": model_digest(*self.models)}

    def warm_up(self, jobs: int) -> None:
        """See `Stage`."""
        ready_to_score(self.translator, jobs)

    def __call__(self, shard: Shard[tuple[str, str]]) -> dict[str, Any]:
        """Return the number of pairs, and for each source word the number of its links to each target word."""
        counter = LinkCounter(self.translator.system, self.translator.scorers[0])
        counter.add(
            [self.translator.source_words(source) for source, _ in shard.rows],
            [self.translator.target_words(target) for _, target in shard.rows],
        )
        return {"pairs": len(shard.rows), "counts": counter.counts}


def _there(links: Links | None) -> Links:
    assert links is not None
    return links
