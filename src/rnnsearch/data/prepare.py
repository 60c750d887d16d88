"""Parallel text to a prepared folder: tokenised, cleaned, shuffled once, cut to two shortlists, packed.

The folder holds `train.arrow`, `source.vocab`, `target.vocab`, where words are segmented `source.subwords` and
`target.subwords`, where links were given `links.arrow`, where pairs were held out `held-out.source` and `held-out.target`,
and, written last, `prepare.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

import numpy as np

from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import DataConfig, from_dict
from rnnsearch.data.clean import Cleaner, CleaningReport
from rnnsearch.data.development import HELD_OUT, HeldOut, choose_held_out
from rnnsearch.data.pack import BLOCK_PAIRS, PackedCorpus, Positions, Sentences, write_packed
from rnnsearch.data.read import read_lines, read_pairs
from rnnsearch.data.word_alignments import parse_gold
from rnnsearch.data.word_encoder import WordEncoder, word_encoders
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import Tokenizer, Vocabularies, language_of, tokenize_pairs
from rnnsearch.text.vocabularies import FILES as VOCABULARY_FILES

Progress = Callable[[str, int], None]

_CORPUS = "train.arrow"
_LINKS = "links.arrow"
_INFO = "prepare.json"
_OPTIONAL = (*VOCABULARY_FILES, _LINKS, *HELD_OUT)
_FORMAT = 1
SUMS = "crc32"
"""The entry of `prepare.json` that has the CRC-32 of every other file, which finds a byte that has changed."""

_BLOCK_WORDS = 1 << 22
_PROGRESS_PAIRS = 1000


@dataclass(frozen=True)
class PreparedData:
    """A prepared folder, opened."""

    folder: Path
    vocabularies: Vocabularies
    corpus: PackedCorpus
    links: PackedCorpus | None
    """Word alignments, where some were given: for every pair, the source and the target words that are linked, by place."""
    info: dict[str, Any]
    """`prepare.json`: the settings, what was read and dropped, and how many words the shortlists cover."""
    source_language: str
    target_language: str

    @property
    def held_out(self) -> int:
        """The number of pairs held out for a development set; they are in `development_files`."""
        pairs: int = self.info.get("held_out", {}).get("pairs", 0)
        return pairs

    @property
    def development_files(self) -> tuple[Path, Path]:
        """The source and the target side of the pairs that were held out."""
        return self.folder / HELD_OUT[0], self.folder / HELD_OUT[1]

    def is_of(self, sources: Sequence[Path], targets: Sequence[Path], links: Sequence[Path] = ()) -> bool:
        """Whether it was prepared from these files, as far as their names and sizes tell."""
        files = self.info["source_files"], self.info["target_files"], self.info.get("link_files", [])
        return files == (_describe(sources), _describe(targets), _describe(links))

    def has_info(self, other: dict[str, Any]) -> bool:
        """Whether `other` is the `prepare.json` of this text; one of version 0.1 has no checksums."""
        if SUMS in other and SUMS in self.info:
            return other == self.info
        return {**other, SUMS: None} == {**self.info, SUMS: None}

    def summary(self) -> list[str]:
        """What was read and dropped, and what share of the running words each shortlist covers, for a reader."""
        lines = CleaningReport(**self.info["cleaning"]).lines()
        if self.held_out:
            lines.append(f"{self.held_out:>12,} held out, in {self.info['held_out']['lines']:,} lines")
        for side, language in (("source", self.source_language), ("target", self.target_language)):
            words = self.info[side]
            known = f"the shortlist of {words['vocabulary']:,} covers {words['coverage_percent']:.2f}%"
            if "pieces" in words:
                known = f"segmented into {words['pieces']:,} subwords, {words['vocabulary']:,} distinct"
            lines.append(f"{side} ({language}): {words['words']:,} words, {words['distinct_words']:,} distinct; {known}")
        if self.links is not None:
            lines.append(f"{self.info['links']:,} links of words")
        return lines


def prepare(
    sources: Sequence[Path],
    targets: Sequence[Path],
    folder: Path,
    config: DataConfig,
    *,
    links: Sequence[Path] = (),
    hold_out: int = 0,
    vocabularies: Vocabularies | None = None,
    progress: Progress | None = None,
    processes: int | None = None,
) -> PreparedData:
    """Prepare the text of `sources` and `targets`, translations line by line, into `folder`.

    `links`, if given, are as many files of word alignments (`0-0 1-2 …`, source–target, by the tokenised words). With
    `hold_out`, so many pairs are drawn by `data.seed` for a development set; neither they nor their repetitions are trained
    on. With `vocabularies`, those of a trained model, the text is written in them; else they are learned from it.
    The same text and settings give the same files, byte for byte. If it fails or is interrupted, `folder` is as
    it was before. `progress` is called now and then with the stage ("read", then "write") and the pairs done
    so far. `processes` tokenise (by default one a core).
    """
    sources, targets, folder = [*map(Path, sources)], [*map(Path, targets)], Path(folder)
    config = replace(
        config,
        source_language=_language("source", sources, config.source_language, config.tokenizer),
        target_language=_language("target", targets, config.target_language, config.tokenizer),
    )
    source_tokenizer = Tokenizer(config.tokenizer, config.source_language)
    target_tokenizer = Tokenizer(config.tokenizer, config.target_language)
    report = progress or (lambda stage, pairs: None)
    if links and len(links) != len(sources):
        raise RnnsearchError(f"{len(links)} files of links for {len(sources)} of text; give one for each, in the same order")
    with _staging(folder) as staging:
        cleaner, kept = Cleaner(config), bytearray()
        source_words, target_words = _Numbering(), _Numbering()
        held_out = None
        if hold_out:
            held_out = choose_held_out(sources, targets, hold_out, config, (source_tokenizer, target_tokenizer))
            for name, lines in zip(HELD_OUT, zip(*held_out.pairs, strict=True), strict=True):
                write_text(staging / name, "".join(f"{line}\n" for line in lines))
        pairs = tokenize_pairs(source_tokenizer, target_tokenizer, read_pairs(sources, targets), processes=processes)
        blocks = _number(pairs, held_out, cleaner, kept, source_words, target_words, report)
        numbered = staging / "numbered.arrow"
        no_limit = np.iinfo(np.int32).max
        write_packed(numbered, blocks, source_size=no_limit, target_size=no_limit)
        if not cleaner.report.kept:
            raise RnnsearchError(_nothing_left(sources, targets, cleaner, config))

        corpus = PackedCorpus.open(numbered)
        source, target = word_encoders(corpus, source_words, target_words, config, vocabularies)
        Vocabularies(source.vocabulary, target.vocabulary).save(staging)
        write_packed(
            staging / _CORPUS,
            _shuffle(corpus, source, target, config.seed, report),
            source_size=len(source.vocabulary),
            target_size=len(target.vocabulary),
        )
        found = 0
        if links:
            write_packed(
                staging / "in-order.arrow", _read_links(links, kept, corpus), source_size=no_limit, target_size=no_limit
            )
            in_order = PackedCorpus.open(staging / "in-order.arrow")
            found = int(in_order.lengths()[0].sum())
            blocks = in_order.in_blocks(_order(corpus, config.seed))
            write_packed(staging / _LINKS, blocks, source_size=no_limit, target_size=no_limit)
        info: dict[str, Any] = {
            "format": _FORMAT,
            "data": asdict(config),
            "source_files": _describe(sources),
            "target_files": _describe(targets),
            "link_files": _describe(links),
            "links": found,
            "cleaning": asdict(cleaner.report),
            "pairs": len(corpus),
            "source": source.info,
            "target": target.info,
        }
        info[SUMS] = {path.name: _checksum(path) for path in sorted(staging.iterdir()) if path.name in (_CORPUS, *_OPTIONAL)}
        if held_out:
            info["held_out"] = {"pairs": len(held_out.pairs), "lines": len(kept) - cleaner.report.read}
        write_json(staging / _INFO, info)
    return open_prepared(folder)


def open_prepared(folder: Path) -> PreparedData:
    """Open a folder that `prepare` wrote; RnnsearchError where a byte of it has changed since.

    All files are read once for that, some 2 GB a second where they are in memory.
    """
    folder = Path(folder)
    info = prepared_info(folder)
    corpus = PackedCorpus.open(folder / _CORPUS)
    try:
        languages = info["data"]["source_language"], info["data"]["target_language"]
        stated = info["pairs"], info["source"]["vocabulary"], info["target"]["vocabulary"]
        kind = info["data"].get("subwords", "none")
        right_to_left = info["data"].get("right_to_left", False)
        sums = dict(info.get(SUMS, {}))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RnnsearchError(f"{folder / _INFO}: damaged; prepare the data again") from None
    for name, stated_sum in sums.items():
        if name in (_CORPUS, *_OPTIONAL) and _checksum(folder / name) != stated_sum:
            raise RnnsearchError(f"{folder / name}: damaged: its checksum is not that in {_INFO}; prepare the data again")
    vocabularies = Vocabularies.load(folder, kind, right_to_left)
    found = (len(corpus), *map(len, vocabularies))
    if stated != found:
        raise RnnsearchError(
            f"{folder}: pairs and vocabulary sizes are {found}, but {_INFO} says {stated}: "
            "its files do not belong together; prepare the data again"
        )
    links = PackedCorpus.open(folder / _LINKS) if (folder / _LINKS).exists() else None
    if links is not None and len(links) != len(corpus):
        raise RnnsearchError(f"{folder / _LINKS}: of {len(links)} pairs, not {len(corpus)}; prepare the data again")
    return PreparedData(folder, vocabularies, corpus, links, info, *languages)


def prepared_info(folder: Path) -> dict[str, Any]:
    """The `prepare.json` of a folder that `prepare` wrote; none of its other files is read."""
    path = Path(folder) / _INFO
    if not path.is_file():
        raise RnnsearchError(f"{folder}: no prepared data here ({_INFO} is missing); run `rnnsearch prepare`")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
        from_dict({"data": info["data"]}, str(path))
        return dict(info)
    except (OSError, ValueError, KeyError, TypeError, RnnsearchError):
        raise RnnsearchError(f"{path}: damaged; prepare the data again") from None


def _checksum(path: Path) -> str:
    """The CRC-32 of a file, or nothing where there is none."""
    found = 0
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found = zlib.crc32(block, found)
    except OSError:
        return ""
    return f"{found:08x}"


def _language(side: Literal["source", "target"], files: Sequence[Path], setting: str, tokenizer: str) -> str:
    """The language code of one side: the setting, or what the file names tell."""
    if setting != "auto":
        return setting
    told = {language_of(path) for path in files}
    language = told.pop() if len(told) == 1 else None
    if language is None and tokenizer == "moses":
        names = ", ".join(path.name for path in files)
        raise RnnsearchError(
            f"cannot tell the language of the {side} from the file name ({names}); "
            f"say it, e.g. --set data.{side}_language={'en' if side == 'source' else 'fr'}"
        )
    return language or setting


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A temporary folder inside `folder`, whose files move there if the body succeeds; else nothing is left."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    staging = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".preparing-*"):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        staging = Path(mkdtemp(prefix=".preparing-", dir=folder))
        yield staging
        # From here until it is back, the folder counts as incomplete.
        (folder / _INFO).unlink(missing_ok=True)
        for name in _OPTIONAL:
            (folder / name).unlink(missing_ok=True)
        for name in (_CORPUS, *_OPTIONAL, _INFO):
            if (staging / name).exists():
                (staging / name).replace(folder / name)
    except OSError as error:
        raise RnnsearchError(f"cannot write to {folder}: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for place in made:
            try:
                place.rmdir()
            except OSError:  # not empty: it worked
                break


class _Numbering(dict[str, int]):
    """Words to numbers in the order in which they first appear."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Growing:
    """Sentences as they come in."""

    def __init__(self) -> None:
        self.ids, self.lengths = array("i"), array("i")

    def add(self, ids: Iterable[int]) -> None:
        before = len(self.ids)
        self.ids.extend(ids)
        self.lengths.append(len(self.ids) - before)

    def sentences(self) -> Sentences:
        return Sentences(np.array(self.ids, dtype=np.int32), np.array(self.lengths, dtype=np.int32))


def _number(
    pairs: Iterable[tuple[list[str], list[str]]],
    held_out: HeldOut | None,
    cleaner: Cleaner,
    kept: bytearray,
    source_words: _Numbering,
    target_words: _Numbering,
    report: Progress,
) -> Iterator[tuple[Sentences, Sentences]]:
    """The pairs that the cleaner keeps, in blocks, by the numbers of their words; `kept` gets a 1 for each, 0 for others.

    Pairs that are held out are not even shown to the cleaner.
    """
    source, target = _Growing(), _Growing()
    for count, (source_sentence, target_sentence) in enumerate(pairs, 1):
        is_held_out = held_out is not None and (source_sentence, target_sentence) in held_out
        kept.append(not is_held_out and cleaner.keep(source_sentence, target_sentence))
        if kept[-1]:
            source.add(map(source_words.__getitem__, source_sentence))
            target.add(map(target_words.__getitem__, target_sentence))
            if len(source.lengths) == BLOCK_PAIRS or max(len(source.ids), len(target.ids)) > _BLOCK_WORDS:
                yield source.sentences(), target.sentences()
                source, target = _Growing(), _Growing()
        if count % _PROGRESS_PAIRS == 0:
            report("read", count)
    report("read", len(kept))
    if source.lengths:
        yield source.sentences(), target.sentences()


def _read_links(files: Sequence[Path], kept: bytearray, corpus: PackedCorpus) -> Iterator[tuple[Sentences, Sentences]]:
    """The links of the pairs that were kept, in blocks: their source words' places, and their target words'."""
    source_lengths, target_lengths = corpus.lengths()
    ends = _Growing(), _Growing()
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
            for side in (0, 1):
                ends[side].add(link[side] for link in links)
            pair += 1
            if len(ends[0].lengths) == BLOCK_PAIRS:
                yield ends[0].sentences(), ends[1].sentences()
                ends = _Growing(), _Growing()
    if read < len(kept):
        raise RnnsearchError(f"{files[-1]}: only {read} lines of links for {len(kept)} pairs of text")
    if ends[0].lengths:
        yield ends[0].sentences(), ends[1].sentences()


def _shuffle(
    corpus: PackedCorpus, source: WordEncoder, target: WordEncoder, seed: int, report: Progress
) -> Iterator[tuple[Sentences, Sentences]]:
    """The numbered pairs in the order that every training reads them in, with their words' ids."""
    written = 0
    for sources, targets in corpus.in_blocks(_order(corpus, seed)):
        yield source.encode(sources), target.encode(targets)
        written += len(sources.lengths)
        report("write", written)


def _order(corpus: PackedCorpus, seed: int) -> Positions:
    return np.random.Generator(np.random.PCG64(seed)).permutation(len(corpus))


def _describe(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [{"name": _written(path.name), "bytes": path.stat().st_size if path.is_file() else None} for path in files]


def _written(name: str) -> str:
    """A file's name as text, which it need not be."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _nothing_left(sources: Sequence[Path], targets: Sequence[Path], cleaner: Cleaner, config: DataConfig) -> str:
    names = ", ".join(f"{source}/{target}" for source, target in zip(sources, targets, strict=True))
    report = cleaner.report
    return (
        f"{names}: no pair is left to train on: of {report.read} read, {report.empty} have an empty side, "
        f"{report.too_long} have more than {config.max_length} words (data.max_length), "
        f"{report.ratio} differ too much in length (data.max_length_ratio), {report.duplicate} are repeated"
    )
