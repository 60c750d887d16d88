"""A toy language pair and tiny models, for the tests that train for real.

The source says `the big dog sees a red cat .`; the target says every word by another one, and puts adjectives after
nouns. Names come from a list so long that a shortlist leaves most of them out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from rnnsearch.config import Config, ModelConfig, SearchConfig, from_dict
from rnnsearch.data.batches import Batch, make_batch
from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.graphs.network import Precision
from rnnsearch.graphs.weights import Weights
from rnnsearch.model import RNNsearch
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import save_settings, save_weights
from rnnsearch.search import Backend, Hypothesis, OnnxBackend, Query, VocabularySelection, search_all
from rnnsearch.system import System, new_system
from rnnsearch.text import Vocabularies, Vocabulary
from rnnsearch.training.checkpoint import Progress
from rnnsearch.training.trainer import Trainer
from rnnsearch.training.validation import DevelopmentSet

CELLS = ("gated", "lstm", "tanh")
ALIGNMENTS = ("mlp", "none")
ORDERS = ("look-generate-update", "look-update-generate")

DEEPER: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 3, "layer_norm": True}
"""What a model may have that the paper's has not."""
models_more = st.sampled_from(({}, DEEPER))


def onnx_backend(
    model: RNNsearch, precision: Precision = "fp32", selection: VocabularySelection | None = None
) -> OnnxBackend:
    """The model, as it is now, in ONNX Runtime."""
    weights = Weights({name: parameter.detach().numpy() for name, parameter in model.named_parameters()})
    return OnnxBackend(model.config, weights, precision, selection)


def beam_search(
    backend: Backend,
    sentences: Sequence[Sequence[int]],
    config: SearchConfig,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each sentence, best first; with `prefixes`, they begin with these words."""
    queries = [Query(*one) for one in zip(sentences, repeat(config.beam), prefixes or repeat(()), strict=False)]
    search_all(backend, queries, config)
    return [query.hypotheses for query in queries]


DETERMINERS = {"the": "le", "a": "un", "this": "ce"}
ADJECTIVES = {"big": "grand", "red": "rouge", "old": "vieux", "quick": "rapide"}
NOUNS = {"dog": "chien", "cat": "chat", "man": "homme", "house": "maison", "tree": "arbre", "book": "livre"}
VERBS = {"sees": "voit", "has": "a", "likes": "aime", "finds": "trouve"}
OTHERS = {"and": "et", "with": "avec", ".": ".", "?": "?"}
SOURCE_WORDS = [*DETERMINERS, *ADJECTIVES, *NOUNS, *VERBS, *OTHERS]
TARGET_WORDS = sorted({word for words in (DETERMINERS, ADJECTIVES, NOUNS, VERBS, OTHERS) for word in words.values()})


def toy_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Sentences of 4 to about 20 words, and their translations."""
    random = Random(seed)
    pairs = []
    for _ in range(count):
        source: list[str] = []
        target: list[str] = []
        for clause in range(random.choice((1, 1, 1, 2, 3))):
            if clause:
                link = random.choice(("and", "with"))
                source.append(link)
                target.append(OTHERS[link])
            for part in range(2):
                if random.random() < 0.1:
                    name = f"Name{random.randrange(1000)}"
                    source.append(name)
                    target.append(name)
                else:
                    determiner, noun = random.choice(list(DETERMINERS)), random.choice(list(NOUNS))
                    adjectives = random.sample(list(ADJECTIVES), random.choice((0, 0, 1)))
                    source += [determiner, *adjectives, noun]
                    target += [DETERMINERS[determiner], NOUNS[noun], *(ADJECTIVES[word] for word in adjectives)]
                if not part:
                    verb = random.choice(list(VERBS))
                    source.append(verb)
                    target.append(VERBS[verb])
        end = random.choice((".", ".", "?"))
        pairs.append((" ".join([*source, end]), " ".join([*target, end])))
    return pairs


def write_pairs(folder: Path, name: str, count: int, seed: int) -> tuple[Path, Path]:
    """`name.en` and `name.fr` in `folder`."""
    pairs = toy_pairs(count, seed)
    paths = folder / f"{name}.en", folder / f"{name}.fr"
    folder.mkdir(parents=True, exist_ok=True)
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(line + "\n" for line in side), encoding="utf-8")
    return paths


def toy_config(**sections: dict[str, Any]) -> Config:
    """Tiny sizes, Adam, no noise, whitespace tokens; `sections` on top."""
    base: dict[str, dict[str, Any]] = {
        "data": {"tokenizer": "whitespace", "source_language": "en", "target_language": "fr"},
        "model": {"embedding_size": 12, "hidden_size": 16, "alignment_size": 8, "maxout_size": 8},
        "training": {
            "batch_size": 16,
            "initialization": "glorot",
            "optimizer": "adam",
            "learning_rate": 0.01,
            "loss_normalization": "tokens",
            "validate_sentences": 8,
        },
    }
    names = {*base, *sections}
    return from_dict({name: {**base.get(name, {}), **sections.get(name, {})} for name in names})


def toy_vocabularies() -> Vocabularies:
    """All words of the toy language but its names."""
    return Vocabularies(Vocabulary(SOURCE_WORDS), Vocabulary(TARGET_WORDS))


def toy_system(config: Config) -> System:
    """A system for the toy language, not trained."""
    return new_system(config, toy_vocabularies())


def pack(path: Path, pairs: list[tuple[str, str]]) -> PackedCorpus:
    """The pairs as a packed corpus of the toy vocabularies' ids."""
    sides = []
    for vocabulary, lines in zip(toy_vocabularies(), zip(*pairs, strict=True), strict=True):
        ids = [vocabulary.encode(line.split()) for line in lines]
        lengths = np.array([len(sentence) for sentence in ids], dtype=np.int32)
        sides.append(Sentences(np.array([word for sentence in ids for word in sentence], dtype=np.int32), lengths))
    source_size, target_size = (len(vocabulary) for vocabulary in toy_vocabularies())
    write_packed(path, [(sides[0], sides[1])], source_size=source_size, target_size=target_size)
    return PackedCorpus.open(path)


class Recorder:
    """A listener that remembers everything."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.rows: list[dict[str, Any]] = []
        self.best: list[bool] = []
        self.notices: list[str] = []

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        self.losses.append(nll_per_word)

    def validated(self, row: dict[str, Any], best: bool) -> None:
        self.rows.append(row)
        self.best.append(best)

    def notice(self, text: str) -> None:
        self.notices.append(text)


def toy_trainer(folder: Path, config: Config, pairs: int = 100, links: PackedCorpus | None = None) -> Trainer:
    """A trainer of a fresh system on `pairs` toy pairs, in `folder`, guided by their `links` if there are some."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = pack(folder / "train.arrow", toy_pairs(pairs, seed=1))
    valid = toy_pairs(12, seed=2)
    development = DevelopmentSet([source for source, _ in valid], [target for _, target in valid])
    return Trainer(toy_system(config), corpus, development, folder, links)


def trainer_of(folder: Path, pairs: int = 100, model: dict[str, Any] | None = None, **training: object) -> Trainer:
    """A trainer of a fresh system, with these settings."""
    return toy_trainer(folder, toy_config(training=training, model=model or {}), pairs=pairs)


def timeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Validations without their times, which no two trainings share."""
    return [{key: value for key, value in row.items() if key != "hours"} for row in rows]


def weights_of(trainer: Trainer) -> dict[str, torch.Tensor]:
    """The weights as they are now."""
    return {name: parameter.detach().clone() for name, parameter in trainer.system.model.named_parameters()}


class StopAt(Recorder):
    """Asks the trainer to stop after some update, or at a validation."""

    def __init__(self, trainer: Trainer, update: int = 0, validation: int = 0) -> None:
        super().__init__()
        self.trainer, self.update, self.validation = trainer, update, validation

    def updated(self, progress: Progress, nll_per_word: float, words: int) -> None:
        super().updated(progress, nll_per_word, words)
        self.trainer.stop_requested |= progress.update == self.update

    def validated(self, row: dict[str, Any], best: bool) -> None:
        super().validated(row, best)
        self.trainer.stop_requested |= len(self.rows) == self.validation


def make_trained(folder: Path, cell: str, alignment: str, order: str) -> None:
    """The folder of a model that has learned something of the toy language, in a few seconds."""
    config = toy_config(
        model={"cell": cell, "alignment": alignment, "decoder_order": order, "hidden_size": 32, "embedding_size": 16},
        training={"max_updates": 300, "validate_every": 10_000, "checkpoint_every": 10_000, "batch_size": 32},
        search={"maximum_length_ratio": 2.0},
    )
    with tempfile.TemporaryDirectory() as place:
        trainer = toy_trainer(Path(place), config, pairs=600)
        trainer.run(Recorder())
    save_settings(folder, trainer.system)
    save_weights(folder / WEIGHTS, trainer.system)


def random_model(config: ModelConfig, source_words: int, target_words: int, seed: int, scale: float = 0.5) -> RNNsearch:
    """A float64 model in which every parameter, biases too, is N(0, scale²)."""
    model = RNNsearch(config, source_words, target_words).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, scale, generator=generator)
    return model


def tensors(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """What `RNNsearch.forward` takes."""
    arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
    one, two, three, four = (torch.from_numpy(array) for array in arrays)
    return one, two, three, four


def random_pairs(
    seed: int, lengths: list[tuple[int, int]], source_words: int, target_words: int
) -> list[tuple[list[int], list[int]]]:
    """Word ids without end symbols, of the given numbers of words."""
    random = Random(seed)
    return [
        ([random.randrange(1, source_words) for _ in range(S)], [random.randrange(1, target_words) for _ in range(T)])
        for S, T in lengths
    ]


def batch_of(pairs: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, ...]:
    """A padded batch of such pairs."""
    return tensors(make_batch(pairs))
