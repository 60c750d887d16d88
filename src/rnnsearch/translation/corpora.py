"""Corpora of any size: what is done with each shard of them, in one process or in many (`rnnsearch.shards`).

Each class here is the work on a shard. It holds a loaded model, which the processes share where they are forked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rnnsearch.config import shared_files
from rnnsearch.data.word_alignments import Links, Symmetry, symmetrize, to_pharaoh
from rnnsearch.errors import RnnsearchError
from rnnsearch.shards import Kept, Plain, Work, Workers, cut, digest_of
from rnnsearch.translation.formats import FORMATS, pair_as_json
from rnnsearch.translation.glossary import NO_TERMS, Glossary
from rnnsearch.translation.lexicon import LinkCounter
from rnnsearch.translation.scoring import ScoredPair
from rnnsearch.translation.translation import PlacedTerm, Replacement, Segment, Translation
from rnnsearch.translation.translator import Translator

Format = Literal["text", "json", "pharaoh"]


def model_digest(*folders: Path) -> str:
    """A digest of the files of these models, as a run names them."""
    return digest_of(*(path for folder in folders for path in shared_files(folder)))


def in_processes(work: Work, translator: Translator, jobs: int) -> Workers:
    """So many processes that do the work with a model; RnnsearchError where they cannot share it."""
    device = next(translator.system.model.parameters()).device
    if jobs > 1 and device.type != "cpu":
        raise RnnsearchError(f"jobs = {jobs}: the model is on a GPU, which one process uses best; leave --jobs out")
    return Workers(work, jobs)


@dataclass(frozen=True)
class TranslateLines:
    """Translates the lines of a shard. Its result has what is written for each line, and counts.

    With `whole`, so many of the translations are in the result themselves, see `translations_of`.
    """

    translator: Translator
    n: int = 1
    format: Format = "text"
    glossary: Glossary = NO_TERMS
    of_sentences: bool = False
    """Whether the lines are sentences, which are not cut again."""

    def shards(
        self,
        groups: Iterable[list[str]],
        prefixes: Iterable[str] | None = None,
        whole: int = 0,
        settings: Mapping[str, object] | None = None,
    ) -> Iterator[Plain]:
        """The shards of these groups of lines; `whole` of the translations are wanted themselves, the first ones."""
        given, first = None if prefixes is None else iter(prefixes), 0
        for lines in groups:
            shard = {"first": first, "lines": lines, "whole": max(0, min(len(lines), whole - first))}
            if given is not None:
                shard["prefixes"] = list(islice(given, len(lines)))
            yield {**shard, "settings": dict(settings or {})}
            first += len(lines)
        if given is not None and next(given, None) is not None:
            raise RnnsearchError("there are more prefixes than lines; give one for each, if empty")

    def warm_up(self, settings: Mapping[str, object]) -> None:
        """Make the model ready for such a search, once for all processes that are forked from this one.

        Raises RnnsearchError for settings that will not do.
        """
        self.translator.n_best(["a"], self.n, (), self.glossary, **settings)

    def __call__(self, shard: Plain) -> Plain:
        prefixes, settings = shard.get("prefixes", ()), shard["settings"]
        if self.of_sentences:
            found = self.translator.n_best_of_sentences(shard["lines"], self.n, prefixes, self.glossary, settings)
        else:
            found = self.translator.n_best(shard["lines"], self.n, prefixes, self.glossary, **settings)
        write = FORMATS[self.format]
        return {
            "written": [write(each, number, self.n > 1) for number, each in enumerate(found, shard["first"])],
            "unfinished": sum(not each[0].finished for each in found),
            "replaced": Counter(replacement.by for each in found for replacement in each[0].replacements),
            "whole": [[_plain(translation) for translation in each] for each in found[: shard["whole"]]],
        }


def translations_of(result: Plain, translator: Translator) -> list[list[Translation]]:
    """The translations in a result of `TranslateLines` with this translator: the same, to the last bit, as were found."""
    return [[_translation(plain, translator) for plain in each] for each in result["whole"]]


def translate_all(
    processes: Workers,
    work: TranslateLines,
    lines: Sequence[str],
    settings: Mapping[str, object],
    kept: Kept | None = None,
) -> Iterator[list[Translation]]:
    """The best translation of each of these lines, by `processes` that do this `work`; a list for each shard."""
    shards = work.shards(cut(lines), whole=len(lines), settings=settings)
    for result in processes.results(shards, kept):
        yield [best for best, *_ in translations_of(result, work.translator)]


def translation_run(work: TranslateLines, models: Iterable[Path], settings: Mapping[str, object]) -> dict[str, Plain]:
    """What the translations depend on beside the lines, for `Kept`."""
    return {
        "command": "translate",
        "models": model_digest(*models),
        "n": work.n,
        "format": work.format,
        "terms": [[list(source), target] for source, target in work.glossary.entries.items()],
        "split_sentences": not work.of_sentences and work.translator.splits(settings),
        "settings": dict(settings),
    }


@dataclass(frozen=True)
class AlignPairs:
    """Aligns the pairs of a shard, or translates its lines and aligns these. Its result has what is written for each pair.

    With `whole`, so many of the pairs are in the result themselves, see `pairs_of`.
    """

    translator: Translator
    reverse: Translator | None = None
    symmetry: Symmetry = "grow-diag"
    tokenized: bool = False
    as_json: bool = False

    def shards(self, pairs: Iterable[list[tuple[str, str | None]]], whole: int = 0) -> Iterator[Plain]:
        """The shards of these groups of pairs, whose targets are all there or all missing."""
        first = 0
        for group in pairs:
            sources, targets = [source for source, _ in group], [target for _, target in group if target is not None]
            most = max(0, min(len(group), whole - first))
            yield {"first": first, "sources": sources, "targets": targets or None, "whole": most}
            first += len(group)

    def __call__(self, shard: Plain) -> Plain:
        first, sources, targets = shard["first"], shard["sources"], shard["targets"]
        pairs: Sequence[ScoredPair | Translation]
        if targets is None:
            pairs = self.translator.translate(sources)
        else:
            pairs = self.translator.score(sources, targets, tokenized=self.tokenized, first_line=first + 1)
        links = [_there(pair.links) for pair in pairs]
        if self.reverse is not None and targets is not None:
            turned = self.reverse.score(targets, sources, tokenized=self.tokenized, first_line=first + 1)
            links = [
                symmetrize(ours, frozenset((s, t) for t, s in _there(theirs.links)), self.symmetry)
                for ours, theirs in zip(links, turned, strict=True)
            ]
        written = (
            [pair_as_json(pair, number) for number, pair in enumerate(pairs, first)]
            if self.as_json
            else [to_pharaoh(each) for each in links]
        )
        return {
            "written": written,
            "links": [sorted(each) for each in links],
            "whole": [_plain(pair) for pair in pairs[: shard["whole"]]],
        }


def pairs_of(result: Plain, translator: Translator) -> list[Translation | ScoredPair]:
    """The pairs in a result of `AlignPairs` with this translator."""
    return [_pair(plain) if "word_scores" in plain else _translation(plain, translator) for plain in result["whole"]]


@dataclass(frozen=True)
class CountLinks:
    """Counts the links between the words of the pairs of a shard, as `LinkCounter` does."""

    translator: Translator

    def shards(self, pairs: Iterable[list[tuple[str, str]]]) -> Iterator[Plain]:
        """The shards of these groups of pairs."""
        for group in pairs:
            yield {"sources": [source for source, _ in group], "targets": [target for _, target in group]}

    def __call__(self, shard: Plain) -> Plain:
        counter = LinkCounter(self.translator.system)
        counter.add(
            [self.translator.source_words(line) for line in shard["sources"]],
            [self.translator.target_words(line) for line in shard["targets"]],
        )
        return {"pairs": len(shard["sources"]), "counts": counter.counts}


# As plain values ------------------------------------------------------------------------------------------------------


_ALIGNMENTS = ("alignment", "end_alignment")


def _plain(one: Translation | ScoredPair) -> Plain:
    if isinstance(one, ScoredPair):
        return {**vars(one), **{name: _rows(getattr(one, name)) for name in ("link_probabilities", *_ALIGNMENTS)}}
    segments = [
        {**vars(segment), **{name: _rows(getattr(segment, name)) for name in _ALIGNMENTS}} for segment in one.segments
    ]
    return {
        "text": one.text,
        "score": one.score,
        "finished": one.finished,
        "segments": segments,
        "replacements": [asdict(replacement) for replacement in one.replacements],
        "terms": [asdict(term) for term in one.terms],
        "missing": list(one.missing),
    }


def _translation(plain: Plain, translator: Translator) -> Translation:
    return Translation(
        **{
            **plain,
            "segments": [Segment(**_with_arrays(segment, "source_tokens", 1)) for segment in plain["segments"]],
            "replacements": [Replacement(**replacement) for replacement in plain["replacements"]],
            "terms": [PlacedTerm(**term) for term in plain["terms"]],
            "linker": translator.linker,
        }
    )


def _pair(plain: Plain) -> ScoredPair:
    links = plain["link_probabilities"]
    if links is not None:
        links = np.array(links, np.float32).reshape(-1, len(plain["source_tokens"]) - 1)
    return ScoredPair(**_with_arrays(plain, "source_tokens", 0) | {"link_probabilities": links})


def _with_arrays(plain: dict[str, Any], source: str, ends: int) -> dict[str, Any]:
    """The same values, with arrays of float32 for their alignments; `ends` columns are not among the source tokens."""
    columns = len(plain[source]) + ends
    arrays = {
        name: None if plain[name] is None else np.array(plain[name], np.float32)
        for name in _ALIGNMENTS
    }
    if arrays["alignment"] is not None:
        arrays["alignment"] = arrays["alignment"].reshape(-1, columns)
    return {**plain, **arrays}


def _rows(alignment: Any) -> Plain:
    return None if alignment is None else alignment.tolist()


def _there(links: Links | None) -> Links:
    assert links is not None
    return links
