"""The preparation of parallel text: tokenise, clean, shuffle once, encode with two vocabularies, pack (see `prepared`)."""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

import numpy as np

from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import DataConfig
from rnnsearch.data.clean import CleaningReport, fingerprint, reason_to_drop
from rnnsearch.data.development import HELD_OUT, HeldOut, choose_held_out, choose_neighbours
from rnnsearch.data.lines import read_lines
from rnnsearch.data.pack import BLOCK_PAIRS, Ids, PackedCorpus, Positions, Sentences, write_packed
from rnnsearch.data.prepared import (
    CORPUS,
    FORMAT,
    INFO,
    LINKS,
    OPTIONAL,
    SUMS,
    PreparedData,
    describe,
    file_checksum,
    open_prepared,
)
from rnnsearch.data.read import kind_of, languages_of_text, read_pairs
from rnnsearch.data.repetitions import Fingerprints
from rnnsearch.data.word_alignments import Links, parse_gold
from rnnsearch.data.word_encoder import WordEncoder, word_encoders
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.languages import primary
from rnnsearch.jobs import JobCheckpoint, Json, Shard, Stage, Workers, cut, default_jobs, numbered
from rnnsearch.text import Units, Vocabularies, units_of
from rnnsearch.text.protected import pair_as_symbols

Progress = Callable[[str, int], None]
"""A function that is called with the stage and the number of pairs done so far."""
Pair = tuple[Sequence[str], Sequence[str]]
"""The source words and the target words of a pair."""

_FEW = 4000
"""Fewer pairs than this are tokenised in one process, which takes less time than starting others."""


def prepare(
    sources: Sequence[Path],
    targets: Sequence[Path],
    folder: Path,
    config: DataConfig,
    *,
    links: Sequence[Path] = (),
    hold_out: int | None = 0,
    vocabularies: Vocabularies | None = None,
    progress: Progress | None = None,
    processes: int | None = None,
    aligner: Callable[[Iterable[Pair]], Iterable[Links]] | None = None,
) -> PreparedData:
    """Prepare the parallel text of `sources` and `targets`, whose lines are translations of each other, into `folder`.

    `links` are optional files of word alignments, one for each source file, with links such as `0-0 1-2` of source to target
    positions of the tokenised words. `hold_out` is the number of pairs to draw, with the seed
    `data.seed`, for a development set, or None to choose them by `choose_neighbours`; neither they nor their repetitions are
    trained on. With `vocabularies`, such as those of a trained model, the text is encoded with them; otherwise they are
    learned from the text. `aligner` computes the links of all pairs, for `data.learn_links`.

    The same text and settings give the same files, byte for byte. If the call fails or is interrupted, `folder` is as it was
    before; the text that is already tokenised stays in `FOLDER.parts`, and the same call continues from there.

    `progress` is called now and then with the stage ("read", then "write") and the number of pairs done so far. `processes`
    is the number of processes that tokenise and clean; the default is one for each core, at most sixteen, and one if the
    system cannot fork.
    """
    sources, targets, folder = [*map(Path, sources)], [*map(Path, targets)], Path(folder)
    read_as = with_languages(config, sources, targets)
    config = without_regions(read_as)
    units = units_of(config)
    report = progress or (lambda stage, pairs: None)
    if links and len(links) != len(sources):
        raise RnnsearchError(f"{len(links)} files of links for {len(sources)} of text; give one for each, in the same order")
    processes = processes or default_jobs()
    held_out = None
    if hold_out is None:
        held_out = choose_neighbours(sources, targets, read_as, units)
    elif hold_out:
        held_out = choose_held_out(sources, targets, hold_out, read_as, units)
    run = {"command": "prepare", "data": asdict(config), "held_out": held_out and held_out.pairs}
    with JobCheckpoint(folder, run) as finished, _staging(folder) as staging:
        if held_out:
            for name, lines in zip(HELD_OUT, zip(*held_out.pairs, strict=True), strict=True):
                write_text(staging / name, "".join(f"{line}\n" for line in lines))
        numbering = _Numbering(config, staging, report)
        work = _Tokenizing(*units, config, held_out)
        unsorted = staging / "numbered.arrow"
        no_limit = np.iinfo(np.int32).max
        pairs = read_pairs(sources, targets, read_as.languages, config.protects)
        head = list(islice(pairs, _FEW))
        with Workers(work, processes if len(head) == _FEW else 1) as running:
            blocks = numbering.blocks(running.results(numbered(cut(chain(head, pairs))), finished))
            write_packed(unsorted, blocks, source_size=no_limit, target_size=no_limit)
        rows, cleaned = numbering.rows(), numbering.report
        if not cleaned.kept:
            finished.clear()
            raise RnnsearchError(_nothing_left(sources, targets, cleaned, config))

        corpus = PackedCorpus.open(unsorted)
        source, target = word_encoders(corpus, rows, numbering.source, numbering.target, config, vocabularies)
        Vocabularies(source.vocabulary, target.vocabulary).save(staging)
        order = np.random.Generator(np.random.PCG64(config.seed)).permutation(len(rows))
        write_packed(
            staging / CORPUS,
            _encoded(corpus, rows[order], source, target, report),
            source_size=len(source.vocabulary),
            target_size=len(target.vocabulary),
        )
        link_count = 0
        if links or (aligner and config.learn_links):
            blocks = _blocks_of_links(
                _read_links(links, numbering.kept, corpus.lengths(rows))
                if links or not aligner
                else map(sorted, aligner(_pairs_of_words(corpus, rows, list(numbering.source), list(numbering.target))))
            )
            write_packed(staging / "in-order.arrow", blocks, source_size=no_limit, target_size=no_limit)
            in_order = PackedCorpus.open(staging / "in-order.arrow")
            link_count = int(in_order.lengths()[0].sum())
            blocks = in_order.in_blocks(order)
            write_packed(staging / LINKS, blocks, source_size=no_limit, target_size=no_limit)
        info: dict[str, Any] = {
            "format": FORMAT,
            "data": asdict(config),
            "source_files": describe(sources),
            "target_files": describe(targets),
            "link_files": describe(links),
            "links": link_count,
            "cleaning": asdict(cleaned),
            "pairs": len(rows),
            "source": source.info,
            "target": target.info,
        }
        written = (path for path in sorted(staging.iterdir()) if path.name in (CORPUS, *OPTIONAL))
        info[SUMS] = {path.name: file_checksum(path) for path in written}
        if held_out:
            info["held_out"] = {"pairs": len(held_out.pairs), "lines": len(numbering.kept) - cleaned.read}
        write_json(staging / INFO, info)
    return open_prepared(folder)


def with_languages(config: DataConfig, sources: Sequence[Path], targets: Sequence[Path]) -> DataConfig:
    """Return the settings with the languages of both sides: as they are set, or as the files or their names say.

    Raises RnnsearchError if Moses tokenisation needs a language and nothing says it, or if the files differ.
    """
    languages = config.languages
    if None not in languages:
        return config
    stated: tuple[set[str | None], set[str | None]] = set(), set()
    for source, target in zip(sources, targets, strict=False):
        of_file = languages_of_text(source, target, languages)
        for side in (0, 1):
            stated[side].add(of_file[side])
        if source == target and not any(languages):
            languages = of_file  # the other files are read in the same direction
    return replace(
        config,
        source_language=_language("source", stated[0], sources, targets, config),
        target_language=_language("target", stated[1], targets, sources, config),
    )


def without_regions(config: DataConfig) -> DataConfig:
    """Return the settings with language codes that say no region, as they are saved with a model."""
    source, target = (one if one == "auto" else primary(one) for one in (config.source_language, config.target_language))
    return replace(config, source_language=source, target_language=target)


def _language(
    side: Literal["source", "target"],
    stated: set[str | None],
    files: Sequence[Path],
    others: Sequence[Path],
    config: DataConfig,
) -> str:
    """Return the language code of one side: the setting or, if that is `auto`, the one that the files state."""
    setting: str = getattr(config, f"{side}_language")
    if setting != "auto":
        return setting
    language = stated.pop() if len(stated) == 1 else None
    if language is None and config.tokenizer == "moses" and getattr(config, f"{side}_units") == "words":
        both = next((path for path, other in zip(files, others, strict=False) if path == other), None)
        if both is not None and stated <= {None}:
            raise RnnsearchError(
                f"{both}: {kind_of(both)} that does not name its languages; say the source and the target, e.g. "
                "--languages en,fr"
            )
        names = ", ".join(path.name for path in files)
        raise RnnsearchError(
            f"cannot tell the language of the {side} from the file name ({names}); "
            f"say it, e.g. --set data.{side}_language={'en' if side == 'source' else 'fr'}"
        )
    return language or setting


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A context with a temporary folder inside `folder`; if the body succeeds, its files move to `folder`.

    Otherwise the temporary folder is deleted, and so are folders that were created here. Raises RnnsearchError if the folder
    cannot be written.
    """
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    staging = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".preparing-*"):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        staging = Path(mkdtemp(prefix=".preparing-", dir=folder))
        yield staging
        # The folder counts as incomplete until its INFO file exists again, which moves last.
        (folder / INFO).unlink(missing_ok=True)
        for name in OPTIONAL:
            (folder / name).unlink(missing_ok=True)
        for name in (CORPUS, *OPTIONAL, INFO):
            if (staging / name).exists():
                (staging / name).replace(folder / name)
    except OSError as error:
        raise RnnsearchError(f"cannot write to {folder}: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for path in created:
            try:
                path.rmdir()
            except OSError:  # not empty, because the body has succeeded
                break


class _Growing:
    """Sentences of word ids, to which more can be added."""

    def __init__(self) -> None:
        self.ids, self.lengths = array("i"), array("i")

    def add(self, ids: Iterable[int]) -> None:
        before = len(self.ids)
        self.ids.extend(ids)
        self.lengths.append(len(self.ids) - before)

    def sentences(self) -> Sentences:
        return Sentences(np.array(self.ids, dtype=np.int32), np.array(self.lengths, dtype=np.int32))


class _Words(dict[str, int]):
    """A mapping from words to numbers, which are given in the order in which the words are first looked up."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass(frozen=True)
class _Tokenizing(Stage[tuple[str, str], Json]):
    """Tokenises and cleans the pairs of a shard, and numbers the words of the pairs that no rule drops.

    The result is JSON: `dropped` is, for each pair, the rule that drops it, "held_out", or None; the other entries hold the
    fingerprints and the words of the pairs that are not dropped.
    """

    source: Units
    target: Units
    config: DataConfig
    held_out: HeldOut | None

    def __call__(self, shard: Shard[tuple[str, str]]) -> Json:
        words, sides = (_Words(), _Words()), (_Growing(), _Growing())
        dropped: list[str | None] = []
        fingerprints = []
        for source, target in shard.rows:
            pair = self.source.tokenize(source), self.target.tokenize(target)
            is_held_out = self.held_out is not None and pair in self.held_out
            if self.config.protects:
                pair = pair_as_symbols(*pair, (self.config.source_language, self.config.target_language))
            reason = "held_out" if is_held_out else reason_to_drop(self.config, *pair)
            dropped.append(reason)
            if reason is None:
                fingerprints.append(fingerprint(*pair))
                for numbers, side, sentence in zip(words, sides, pair, strict=True):
                    side.add(map(numbers.__getitem__, sentence))
        return {
            "dropped": dropped,
            "fingerprints": fingerprints,
            "words": [list(numbers) for numbers in words],
            "ids": [side.ids.tolist() for side in sides],
            "lengths": [side.lengths.tolist() for side in sides],
        }


class _Numbering:
    """Joins the results of `_Tokenizing`: numbers the words of the whole text, and determines which pairs are repeated."""

    def __init__(self, config: DataConfig, staging: Path, report: Progress) -> None:
        self.source, self.target = _Words(), _Words()
        self.report = CleaningReport()
        self.kept = bytearray()
        """For each pair of the text, 1 if it is kept and 0 if it is dropped; `rows` sets it to 0 for repeated pairs."""
        self._fingerprints = Fingerprints(staging / "fingerprints")
        self._config, self._progress = config, report

    def blocks(self, shards: Iterable[Json]) -> Iterator[tuple[Sentences, Sentences]]:
        """Yield blocks of the pairs that no rule drops, including repeated ones, with numbers for words."""
        with self._fingerprints:
            for shard in shards:
                for reason in shard["dropped"]:
                    self.kept.append(reason is None)
                    if reason != "held_out":
                        self.report.count("read")
                        self.report.count(reason or "kept")
                self._progress("read", len(self.kept))
                if shard["fingerprints"]:
                    self._fingerprints.add(np.array(shard["fingerprints"], dtype=np.uint64))
                    source, target = (
                        Sentences(
                            np.array([numbers[word] for word in words], dtype=np.int32)[np.array(ids)],
                            np.array(lengths, dtype=np.int32),
                        )
                        for numbers, words, ids, lengths in zip(
                            (self.source, self.target), shard["words"], shard["ids"], shard["lengths"], strict=True
                        )
                    )
                    yield source, target
        self._progress("read", len(self.kept))

    def rows(self) -> Positions:
        """Return the rows of `blocks` that are kept: all, or with `remove_duplicates` only the first of repeated pairs."""
        if not self._config.remove_duplicates:
            return np.arange(self.report.kept)
        first = self._fingerprints.first()
        kept = np.frombuffer(self.kept, dtype=np.uint8)
        kept[np.flatnonzero(kept)] = first
        self.report.duplicate = int(len(first) - first.sum())
        self.report.kept -= self.report.duplicate
        return np.flatnonzero(first)


def _pairs_of_words(
    corpus: PackedCorpus, rows: Positions, source_words: Sequence[str], target_words: Sequence[str]
) -> Iterator[Pair]:
    """Yield the words of these rows of a corpus of word numbers."""
    for sides in corpus.in_blocks(rows):
        sources, targets = (np.split(side.ids, np.cumsum(side.lengths)[:-1]) for side in sides)
        for source, target in zip(sources, targets, strict=True):
            yield [source_words[number] for number in source], [target_words[number] for number in target]


def _blocks_of_links(lines: Iterable[Sequence[tuple[int, int]]]) -> Iterator[tuple[Sentences, Sentences]]:
    """Yield the links of pairs in blocks: the positions of their source words, and those of their target words."""
    ends = _Growing(), _Growing()
    for links in lines:
        for side in (0, 1):
            ends[side].add(link[side] for link in links)
        if len(ends[0].lengths) == BLOCK_PAIRS:
            yield ends[0].sentences(), ends[1].sentences()
            ends = _Growing(), _Growing()
    if ends[0].lengths:
        yield ends[0].sentences(), ends[1].sentences()


def _read_links(files: Sequence[Path], kept: bytearray, words: tuple[Ids, Ids]) -> Iterator[list[tuple[int, int]]]:
    """Yield the links of the pairs that are kept, from one line of the files for each pair of the text.

    `words` holds the numbers of source and target words of the pairs that are kept. Raises RnnsearchError, with file and
    line, for a link to a word that does not exist, and for a wrong number of lines.
    """
    source_lengths, target_lengths = words
    read = pair = 0
    for file in files:
        for number, line in enumerate(read_lines(file), 1):
            if read == len(kept):
                raise RnnsearchError(f"{file}:{number}: a line of links too many: the text has {len(kept)} pairs")
            read += 1
            if not kept[read - 1]:
                continue
            try:
                links = sorted(parse_gold(line).possible)
            except RnnsearchError as error:
                raise RnnsearchError(f"{file}:{number}: {error}") from None
            lengths = int(source_lengths[pair]), int(target_lengths[pair])
            for source, target in links:
                if source >= lengths[0] or target >= lengths[1]:
                    raise RnnsearchError(
                        f"{file}:{number}: a link {source}-{target}, but the tokenised pair has {lengths[0]} and "
                        f"{lengths[1]} words; links count words from 0, source first"
                    )
            yield links
            pair += 1
    if read < len(kept):
        raise RnnsearchError(f"{files[-1]}: only {read} lines of links for {len(kept)} pairs of text")


def _encoded(
    corpus: PackedCorpus, rows: Positions, source: WordEncoder, target: WordEncoder, report: Progress
) -> Iterator[tuple[Sentences, Sentences]]:
    """Yield these rows of a corpus of word numbers, in this order, with the word numbers replaced by ids."""
    written = 0
    for sources, targets in corpus.in_blocks(rows):
        yield source.encode(sources), target.encode(targets)
        written += len(sources.lengths)
        report("write", written)


def _nothing_left(sources: Sequence[Path], targets: Sequence[Path], report: CleaningReport, config: DataConfig) -> str:
    """Return the message for a text of which the rules drop all pairs."""
    names = ", ".join(f"{source}/{target}" for source, target in zip(sources, targets, strict=True))
    return (
        f"{names}: no pair is left to train on: of {report.read} read, {report.empty} have an empty side, "
        f"{report.too_long} have more than {config.max_length} words (data.max_length), "
        f"{report.ratio} differ too much in length (data.max_length_ratio), {report.duplicate} are repeated"
    )
