"""The text that every contestant of the speed benchmarks reads, and the sizes of their models.

Europarl, tokenised once; words outside the vocabulary are written `[UNK]`, so that all of them see the same ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.lib.record import sized
from benchmarks.lib.texts import beginning, sides, write_lines
from rnnsearch.config import Config, DataConfig, from_preset
from rnnsearch.data.pack import Ids, PackedCorpus, Sentences, write_packed
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import PreparedData, open_prepared
from rnnsearch.system import System, new_system
from rnnsearch.text import Vocabularies
from rnnsearch.text.vocabulary import UNK, Vocabulary

LINES = sized(200_000, 2000)
"""Of Europarl: enough for 30,000 words on either side."""
BATCH = 80
"""Sentence pairs in a training minibatch."""
SIDE_BY_SIDE = 25
"""Sentences that are translated together."""


@dataclass(frozen=True)
class Size:
    """A model's sizes: m, n (and n', for the peers have no other), l, and the shortlist of either side."""

    embedding: int
    hidden: int
    maxout: int
    words: int

    def config(self, training: Mapping[str, object] | None = None) -> Config:
        """Our settings: the paper's, at this size."""
        return from_preset(
            "paper",
            {
                "data": {"tokenizer": "whitespace"},
                "model": {
                    "embedding_size": self.embedding,
                    "hidden_size": self.hidden,
                    "alignment_size": self.hidden,
                    "maxout_size": self.maxout,
                },
                "training": dict(training or {}),
            },
        )


SIZES = {"full": Size(620, 1000, 500, 30_000), "small": Size(300, 500, 250, 10_000), "tiny": Size(24, 32, 16, 2_000)}
"""`full` is the paper's; `tiny` is for trying the scripts out."""


def prepared_text(data: Path, output: Path) -> PreparedData:
    """Europarl, prepared in `output` by the first benchmark that needs it."""
    folder = output / "europarl"
    if not (folder / "prepared").exists():
        english, french = (beginning(side, LINES, folder / side.stem) for side in sides(data, "europarl/europarl-part0"))
        config = DataConfig(source_words=SIZES["full"].words, target_words=SIZES["full"].words)
        prepare([english], [french], folder / "prepared", config)
    return open_prepared(folder / "prepared")


def write_training_text(prepared: PreparedData, size: Size, pairs: int, folder: Path) -> None:
    """The first pairs of the text for every contestant: `train.arrow` for us, lines of words for the peers; vocabularies.

    The lines are also in `sorted.en` and `sorted.fr`, in the order of their lengths.
    """
    vocabularies = _vocabularies(prepared, size)
    source, target = prepared.corpus.take(np.arange(pairs))
    known = [_known(side, vocabulary) for side, vocabulary in zip((source, target), vocabularies, strict=True)]
    sizes = {"source_size": len(vocabularies[0]), "target_size": len(vocabularies[1])}
    write_packed(folder / "train.arrow", [(known[0], known[1])], **sizes)
    names = ("source.vocab", "target.vocab")
    order = np.lexsort((target.lengths, source.lengths))
    for language, name, side, vocabulary in zip(("en", "fr"), names, known, vocabularies, strict=True):
        lines = _lines(side, vocabulary)
        write_lines(folder / f"sorted.{language}", (lines[number] for number in order))
        write_lines(folder / f"train.{language}", lines)
        write_lines(folder / f"dev.{language}", lines[:2])
        vocabulary.save(folder / name)
        words = vocabulary.words[2:]
        write_lines(folder / f"onmt.{language}.vocab", words)
        write_lines(folder / f"joey.{language}.vocab", ("<unk>", "<pad>", "<s>", "</s>", *words))


def sentences_to_translate(prepared: PreparedData, size: Size, sentences: int) -> list[list[str]]:
    """Real sentences that are not trained on, in groups of `SIDE_BY_SIDE` of one length, so that padding plays no part.

    The groups' lengths are spread as those of the text are.
    """
    vocabulary, _ = _vocabularies(prepared, size)
    first = len(prepared.corpus) // 2
    lengths, _ = prepared.corpus.lengths(np.arange(first, len(prepared.corpus)))
    groups = sentences // SIDE_BY_SIDE
    wanted = np.quantile(lengths, (np.arange(groups) + 0.5) / groups, method="nearest")
    of_length: dict[int, list[int]] = defaultdict(list)
    for number, length in enumerate(lengths.tolist(), first):
        of_length[length].append(number)
    chosen = []
    for length in wanted.tolist():
        numbers, of_length[length] = of_length[length][:SIDE_BY_SIDE], of_length[length][SIDE_BY_SIDE:]
        source, _ = prepared.corpus.take(np.array(numbers))
        chosen.append(_lines(_known(source, vocabulary), vocabulary))
    return chosen


def text_system(folder: Path, config: Config) -> tuple[System, PackedCorpus]:
    """A new system of ours for a folder that `write_training_text` wrote, and its corpus."""
    vocabularies = Vocabularies.load(folder, config.data)
    return new_system(config, vocabularies), PackedCorpus.open(folder / "train.arrow")


def uniform_system(folder: Path, config: Config, words: int, vocabulary: int, pairs: int) -> tuple[System, PackedCorpus]:
    """A new system, and a corpus in `folder` of random sentences that have all the same number of words."""
    names = Vocabulary([f"w{number}" for number in range(vocabulary)])
    ids = np.random.default_rng(1).integers(2, vocabulary + 2, (2, pairs * words), dtype=np.int32)
    source, target = (Sentences(side, np.full(pairs, words, dtype=np.int32)) for side in ids)
    write_packed(folder / "train.arrow", [(source, target)], source_size=len(names), target_size=len(names))
    return new_system(config, Vocabularies(names, names)), PackedCorpus.open(folder / "train.arrow")


def _vocabularies(prepared: PreparedData, size: Size) -> tuple[Vocabulary, Vocabulary]:
    """The most frequent words; a word's id is the same in a shorter list."""
    source, target = (
        Vocabulary(vocabulary.words[2 : size.words + 2])
        for vocabulary in (prepared.vocabularies.source, prepared.vocabularies.target)
    )
    return source, target


def _known(side: Sentences, vocabulary: Vocabulary) -> Sentences:
    known: Ids = np.where(side.ids < len(vocabulary), side.ids, np.int32(UNK))
    return Sentences(known, side.lengths)


def _lines(sentences: Sentences, vocabulary: Vocabulary) -> list[str]:
    ends = np.cumsum(sentences.lengths)
    return [" ".join(vocabulary.decode(ids.tolist())) for ids in np.split(sentences.ids, ends[:-1])]
