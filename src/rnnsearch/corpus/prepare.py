"""Parallel text to a prepared folder: tokenised, cleaned, shuffled once, cut to two shortlists, packed.

The folder holds `train.arrow`, `source.vocab`, `target.vocab` and, written last, `prepare.json`.
"""

from __future__ import annotations

import json
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

import numpy as np

from rnnsearch.config import DataConfig
from rnnsearch.corpus.clean import Cleaner, CleaningReport
from rnnsearch.corpus.pack import Ids, PackedCorpus, Positions, Sentences, write_packed
from rnnsearch.corpus.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.files import write_json
from rnnsearch.text import UNK, Tokenizer, Vocabulary, language_of, tokenize_pairs

Progress = Callable[[str, int], None]

_CORPUS, _SOURCE_VOCABULARY, _TARGET_VOCABULARY = "train.arrow", "source.vocab", "target.vocab"
_INFO = "prepare.json"
_FORMAT = 1

_BLOCK_PAIRS = 16384
_BLOCK_WORDS = 1 << 22
_PROGRESS_PAIRS = 1000


@dataclass(frozen=True)
class PreparedData:
    """A prepared folder, opened."""

    folder: Path
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    corpus: PackedCorpus
    info: dict[str, Any]
    """`prepare.json`: the settings, what was read and dropped, and how many words the shortlists cover."""
    source_language: str
    target_language: str

    def is_of(self, sources: Sequence[Path], targets: Sequence[Path]) -> bool:
        """Whether it was prepared from these files, as far as their names and sizes tell."""
        return (self.info["source_files"], self.info["target_files"]) == (_describe(sources), _describe(targets))

    def summary(self) -> list[str]:
        """What was read and dropped, and what share of the running words each shortlist covers, for a reader."""
        lines = CleaningReport(**self.info["cleaning"]).lines()
        for side, language in (("source", self.source_language), ("target", self.target_language)):
            words = self.info[side]
            lines.append(
                f"{side} ({language}): {words['words']:,} words, {words['distinct_words']:,} distinct; the shortlist of "
                f"{words['vocabulary']:,} covers {words['coverage_percent']:.2f}%"
            )
        return lines


def prepare(
    sources: Sequence[Path],
    targets: Sequence[Path],
    folder: Path,
    config: DataConfig,
    *,
    progress: Progress | None = None,
    processes: int | None = None,
) -> PreparedData:
    """Prepare the text of `sources` and `targets`, translations line by line, into `folder`.

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
    with _staging(folder) as staging:
        cleaner = Cleaner(config)
        source_words, target_words = _Numbering(), _Numbering()
        lines = read_pairs(sources, targets)
        pairs = tokenize_pairs(source_tokenizer, target_tokenizer, lines, processes=processes)
        blocks = _number(pairs, cleaner, source_words, target_words, report)
        numbered = staging / "numbered.arrow"
        no_limit = np.iinfo(np.int32).max
        write_packed(numbered, blocks, source_size=no_limit, target_size=no_limit)
        if not cleaner.report.kept:
            raise RnnsearchError(_nothing_left(sources, targets, cleaner, config))

        corpus = PackedCorpus.open(numbered)
        source, target = _shortlists(corpus, source_words, target_words, config)
        source.vocabulary.save(staging / _SOURCE_VOCABULARY)
        target.vocabulary.save(staging / _TARGET_VOCABULARY)
        write_packed(
            staging / _CORPUS,
            _shuffle(corpus, source.ids, target.ids, config.seed, report),
            source_size=len(source.vocabulary),
            target_size=len(target.vocabulary),
        )
        info = {
            "format": _FORMAT,
            "data": asdict(config),
            "source_files": _describe(sources),
            "target_files": _describe(targets),
            "cleaning": asdict(cleaner.report),
            "pairs": len(corpus),
            "source": source.info,
            "target": target.info,
        }
        write_json(staging / _INFO, info)
    return open_prepared(folder)


def open_prepared(folder: Path) -> PreparedData:
    """Open a folder that `prepare` wrote."""
    folder = Path(folder)
    if not (folder / _INFO).is_file():
        raise RnnsearchError(f"{folder}: no prepared data here ({_INFO} is missing); run `rnnsearch prepare`")
    corpus = PackedCorpus.open(folder / _CORPUS)
    source = Vocabulary.load(folder / _SOURCE_VOCABULARY)
    target = Vocabulary.load(folder / _TARGET_VOCABULARY)
    try:
        info = json.loads((folder / _INFO).read_text(encoding="utf-8"))
        languages = info["data"]["source_language"], info["data"]["target_language"]
        stated = info["pairs"], info["source"]["vocabulary"], info["target"]["vocabulary"]
    except (OSError, ValueError, KeyError, TypeError):
        raise RnnsearchError(f"{folder / _INFO}: damaged; prepare the data again") from None
    found = len(corpus), len(source), len(target)
    if stated != found:
        raise RnnsearchError(
            f"{folder}: pairs and vocabulary sizes are {found}, but {_INFO} says {stated}: "
            "its files do not belong together; prepare the data again"
        )
    return PreparedData(folder, source, target, corpus, info, *languages)


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
        for name in (_CORPUS, _SOURCE_VOCABULARY, _TARGET_VOCABULARY, _INFO):
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
    cleaner: Cleaner,
    source_words: _Numbering,
    target_words: _Numbering,
    report: Progress,
) -> Iterator[tuple[Sentences, Sentences]]:
    """The pairs that the cleaner keeps, in blocks, with the numbers of their words."""
    source, target = _Growing(), _Growing()
    for count, (source_sentence, target_sentence) in enumerate(pairs, 1):
        if cleaner.keep(source_sentence, target_sentence):
            source.add(map(source_words.__getitem__, source_sentence))
            target.add(map(target_words.__getitem__, target_sentence))
            if len(source.lengths) == _BLOCK_PAIRS or max(len(source.ids), len(target.ids)) > _BLOCK_WORDS:
                yield source.sentences(), target.sentences()
                source, target = _Growing(), _Growing()
        if count % _PROGRESS_PAIRS == 0:
            report("read", count)
    report("read", cleaner.report.read)
    if source.lengths:
        yield source.sentences(), target.sentences()


@dataclass(frozen=True)
class _Shortlist:
    vocabulary: Vocabulary
    ids: Ids
    """The id of every word by its number."""
    info: dict[str, Any]


def _shortlists(
    corpus: PackedCorpus, source_words: _Numbering, target_words: _Numbering, config: DataConfig
) -> tuple[_Shortlist, _Shortlist]:
    counts = [np.zeros(len(words), dtype=np.int64) for words in (source_words, target_words)]
    for pairs in _slices(np.arange(len(corpus))):
        for count, sentences in zip(counts, corpus.take(pairs), strict=True):
            numbers, times = np.unique(sentences.ids, return_counts=True)
            count[numbers] += times
    return (
        _shortlist(source_words, counts[0], config.source_words, config.minimum_count),
        _shortlist(target_words, counts[1], config.target_words, config.minimum_count),
    )


def _shortlist(words: _Numbering, counts: Positions, size: int, minimum_count: int) -> _Shortlist:
    vocabulary = Vocabulary.from_counts(dict(zip(words, counts.tolist(), strict=True)), size, minimum_count)
    ids = np.array(vocabulary.encode(list(words)), dtype=np.int32)
    running, known = int(counts.sum()), int(counts[ids != UNK].sum())
    info = {
        "words": running,
        "distinct_words": len(words),
        "vocabulary": len(vocabulary),
        "coverage_percent": round(100 * known / running, 3),
    }
    return _Shortlist(vocabulary, ids, info)


def _shuffle(
    corpus: PackedCorpus, source_ids: Ids, target_ids: Ids, seed: int, report: Progress
) -> Iterator[tuple[Sentences, Sentences]]:
    """The numbered pairs in the order that every training reads them in, with their words' ids."""
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(corpus))
    written = 0
    for pairs in _slices(order):
        source, target = corpus.take(pairs)
        yield (
            Sentences(source_ids[source.ids], source.lengths),
            Sentences(target_ids[target.ids], target.lengths),
        )
        written += len(pairs)
        report("write", written)


def _slices(pairs: Positions) -> Iterator[Positions]:
    for start in range(0, len(pairs), _BLOCK_PAIRS):
        yield pairs[start : start + _BLOCK_PAIRS]


def _describe(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [{"name": path.name, "bytes": path.stat().st_size if path.is_file() else None} for path in files]


def _nothing_left(sources: Sequence[Path], targets: Sequence[Path], cleaner: Cleaner, config: DataConfig) -> str:
    names = ", ".join(f"{source}/{target}" for source, target in zip(sources, targets, strict=True))
    report = cleaner.report
    return (
        f"{names}: no pair is left to train on: of {report.read} read, {report.empty} have an empty side, "
        f"{report.too_long} have more than {config.max_length} words (data.max_length), "
        f"{report.ratio} differ too much in length (data.max_length_ratio), {report.duplicate} are repeated"
    )
