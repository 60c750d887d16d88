"""Every setting of the system, once.

The dataclasses below are the source: TOML files, `--set section.key=value` on the command line, the presets and a
saved model's `config.json` are all read through them, so a setting has one name, one type and one description (the
docstring under the field).
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rnnsearch.errors import RnnsearchError
from rnnsearch.presets import PRESETS

_SETTINGS = ConfigDict(extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)
_LARGEST_SEED = 10**18

CONFIG = "config.json"
"""The file of a model's folder that holds its settings."""


@dataclass(frozen=True, config=_SETTINGS)
class DataConfig:
    """The text: how it is tokenised, cleaned, and cut down to a shortlist."""

    source_language: str = "auto"
    """Language code of the source, for Moses tokenisation; `auto` reads it off the file name (`train.en`)."""
    target_language: str = "auto"
    """Language code of the target, likewise."""
    tokenizer: Literal["moses", "whitespace"] = "moses"
    """`moses` for running text; `whitespace` for text that is already tokenised."""
    source_words: int = Field(default=30000, ge=1)
    """The source shortlist: this many of the most frequent words; all others are `[UNK]` (section 3.2 of the paper)."""
    target_words: int = Field(default=30000, ge=1)
    """The target shortlist, likewise."""
    minimum_count: int = Field(default=1, ge=1)
    """A word seen less often than this in training stays outside the shortlist, whatever its size."""
    subwords: Literal["none", "bpe", "unigram"] = "none"
    """Cut words into pieces, so that none is unknown: byte-pair encoding (Sennrich et al. 2016) or unigram (Kudo 2018)."""
    subword_pieces: int = Field(default=8000, ge=50)
    """How many different pieces, with `subwords`; the shortlists then play no part."""
    joint_subwords: bool = True
    """Learn the pieces of both languages together, so that names are cut alike."""
    right_to_left: bool = False
    """Write translations from their last word to their first. A model that does, and one that does not, are better together
    than two of a kind (Liu et al. 2016)."""
    max_length: int = Field(default=50, ge=1)
    """Training pairs longer than this many words on either side are dropped (30 or 50 in the paper). With `subwords`, so are
    those with more than twenty letters for each of these words."""
    max_length_ratio: float = Field(default=9.0, ge=1)
    """Training pairs whose sides differ in length by more than this factor are dropped."""
    remove_duplicates: bool = True
    """Keep only the first of identical training pairs."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Seed of the one shuffle of the training pairs."""


@dataclass(frozen=True, config=_SETTINGS)
class ModelConfig:
    """The model: Appendix A of the paper."""

    embedding_size: int = Field(default=620, ge=1)
    """m, the word embedding."""
    hidden_size: int = Field(default=1000, ge=1)
    """n, the hidden units of each recurrent network."""
    alignment_size: int = Field(default=1000, ge=1)
    """n', the hidden units of the alignment model."""
    maxout_size: int = Field(default=500, ge=1)
    """l, the maxout units of the readout."""
    alignment: Literal["mlp", "none"] = "mlp"
    """The alignment model a: `mlp` is RNNsearch; `none` is the baseline RNNencdec, one fixed context vector."""
    cell: Literal["gated", "lstm", "tanh"] = "gated"
    """The recurrent function f of encoder and decoder."""
    encoder_layers: int = Field(default=1, ge=1)
    """Recurrent layers of the encoder. A further one reads those below and adds to them (residual; Wu et al. 2016)."""
    decoder_layers: int = Field(default=1, ge=1)
    """Recurrent layers of the decoder, likewise. The first alone looks at the source and decides the alignment."""
    layer_norm: bool = False
    """Normalise the annotations, the maxout layer, and what further layers read (Ba et al. 2016): training is steadier."""
    tied_embedding: bool = False
    """One matrix for the target embedding and the softmax (Press & Wolf 2017); `maxout_size` then is `embedding_size`."""
    decoder_order: Literal["look-generate-update", "look-update-generate"] = "look-generate-update"
    """Whether a word is predicted before the state is updated (the authors' implementation) or after (Eq. 4)."""


@dataclass(frozen=True, config=_SETTINGS)
class TrainingConfig:
    """How the model is trained."""

    batch_size: int = Field(default=80, ge=1)
    """Sentence pairs in a minibatch."""
    accumulate: int = Field(default=1, ge=1)
    """Minibatches whose gradients are added up for one update: large minibatches in the memory of small ones."""
    pool_batches: int = Field(default=20, ge=1)
    """Minibatches that are read, sorted by length and cut together, so that little of a minibatch is padding."""
    shuffle: Literal["once", "epoch"] = "once"
    """`once`: every epoch sees the same order (the paper); `epoch`: pairs and batches are shuffled anew each epoch."""
    initialization: Literal["paper", "glorot"] = "paper"
    """`paper`: orthogonal, and N(0, 0.01²) (appendix B.1); `glorot`: orthogonal, and uniform scaled by fan-in and -out."""
    optimizer: Literal["adadelta", "adam"] = "adadelta"
    """Adadelta has no learning rate to choose; Adam is faster where the rate is well chosen."""
    adadelta_rho: float = Field(default=0.95, gt=0, lt=1)
    """Adadelta's decay rate ρ."""
    adadelta_epsilon: float = Field(default=1e-6, gt=0)
    """Adadelta's ε."""
    learning_rate: float = Field(default=1.0, gt=0)
    """Step size: 1.0 with Adadelta, about 0.001 with Adam."""
    warmup_updates: int = Field(default=0, ge=0)
    """Updates over which the learning rate rises from zero."""
    decay: Literal["none", "plateau", "linear"] = "none"
    """`plateau` halves the rate whenever a validation is no better; `linear` lowers it to zero at `max_updates`."""
    clip_norm: float = Field(default=1.0, ge=0)
    """The gradient's L2 norm is clipped to this; 0 never clips."""
    loss_normalization: Literal["sum", "sentences", "tokens"] = "sum"
    """What the summed word NLLs of a minibatch are divided by; it decides how often the gradient is clipped."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout on embeddings, annotations, the decoder's state in the readout, and the maxout layer."""
    word_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Whole words left out of what is read, on both sides, so that none is relied on alone (Gal & Ghahramani 2016)."""
    recurrent_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout on the recurrent matrices, one mask for whole sequences (DropConnect; Merity et al. 2018)."""
    consistency: float = Field(default=0.0, ge=0)
    """Weight of how much two readings of each pair, with different dropout, disagree on its words. Both are trained on, and
    an update takes twice as long (R-Drop; Liang et al. 2021). 0 is off; 5 is usual."""
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Probability mass spread evenly over the target vocabulary in the training cost."""
    subword_sampling: float = Field(default=0.0, ge=0, lt=1)
    """Cut the training words anew in every minibatch (`data.subwords`), so that rare ones are seen in many spellings. With
    `bpe`, the probability that a merge is left out (BPE-dropout); with `unigram`, the power of a cut's probability."""
    guided_alignment: float = Field(default=0.1, ge=0)
    """Weight of the alignment's cross-entropy against given links (`--links`; Chen et al. 2016). Without links: nothing."""
    weight_average: float = Field(default=0.0, ge=0, lt=1)
    """Decay of a moving average of the weights, an update; the average is what is validated and saved. 0 takes none."""
    engine: Literal["auto", "reference", "fused", "cuda"] = "auto"
    """What runs the recurrences: `fused` on a CPU and `cuda` on an NVIDIA GPU; `reference` is what both are checked by."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """What the factors of matrix products are rounded to; `bf16` is faster where the processor has instructions for it.
    Weights, sums and states stay float32."""
    max_updates: int = Field(default=500_000, ge=1)
    """Stop after this many updates."""
    max_epochs: int = Field(default=0, ge=0)
    """Stop after this many passes over the corpus; 0 is no limit."""
    max_minutes: float = Field(default=0.0, ge=0)
    """Stop after this many minutes of training; 0 is no limit."""
    validate_every: int = Field(default=1000, ge=1)
    """Updates between validations: dev NLL, dev BLEU, and the best model kept."""
    validate_sentences: int = Field(default=1000, ge=1)
    """Dev BLEU is taken on the first this many pairs of the development set; dev NLL on all of them."""
    validate_on: Literal["bleu", "nll"] = "bleu"
    """The development score that decides which model is the best."""
    patience: int = Field(default=10, ge=0)
    """Stop after this many validations without a better score; 0 never stops early."""
    checkpoint_every: int = Field(default=500, ge=1)
    """Updates between checkpoints, from which `--resume` goes on."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Seed of the initial weights, the epochs' order, and dropout."""


@dataclass(frozen=True, config=_SETTINGS)
class SearchConfig:
    """How a translation is searched for."""

    beam: int = Field(default=5, ge=1)
    """Hypotheses kept for a sentence."""
    length_normalization: float = Field(default=1.0, ge=0, le=100)
    """Finished hypotheses are ranked by log p / length^this; 0 ranks by plain log-probability, as the paper does."""
    coverage: float = Field(default=0.0, ge=0)
    """Finished hypotheses lose this times −log of what each source word was read, up to 1 (Wu et al. 2016); 0 is off."""
    diversity: float = Field(default=0.0, ge=0)
    """The second-best word after a hypothesis competes with this less log-probability, the third with twice as much, and so
    on, so that the beam holds more different translations (Li et al. 2016)."""
    temperature: float = Field(default=0.0, ge=0)
    """Above 0, words are drawn at random with probabilities proportional to p^(1/temperature), in place of a search."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Seed of what is drawn. A sentence's draws depend on nothing else."""
    forbid_unk: bool = False
    """Never write `[UNK]`."""
    replace_unk: bool = False
    """Write for each `[UNK]` the lexicon's translation of the source word it was read from, or else that word itself. It
    overrules `forbid_unk`."""
    minimum_length_ratio: float = Field(default=0.0, ge=0)
    """A translation has at least this many times the source's length, its end symbol counted (the authors' code: 0.5)."""
    maximum_length_ratio: float = Field(default=3.0, gt=0, le=1000)
    """The search for a translation stops at this many times the source's length, both end symbols counted."""
    minimum_bayes_risk: bool = False
    """Of the translations in the beam, prefer the one that is most like all of them, the probable ones above all (expected
    chrF), to the most probable one."""
    batch_sentences: int = Field(default=32, ge=1)
    """Sentences searched side by side. The translations do not depend on it."""
    precision: Literal["fp32", "int8"] = "fp32"
    """`int8` rounds the weights to 8 bits, on a CPU: faster, a quarter of the memory, and nearly the same translations."""
    shortlist: int = Field(default=0, ge=0)
    """Choose among this many most frequent words and the lexicon's candidates, not the whole vocabulary; 0 is off."""
    shortlist_candidates: int = Field(default=20, ge=1)
    """With a shortlist: the lexicon's most probable translations of each source word, so many."""
    max_segment: int = Field(default=100, ge=1)
    """A line of more words than this is translated in pieces, cut after punctuation where there is some."""


@dataclass(frozen=True, config=_SETTINGS)
class Config:
    """All settings of one system."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


SECTIONS: dict[str, type] = {"data": DataConfig, "model": ModelConfig, "training": TrainingConfig, "search": SearchConfig}


def from_preset(name: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> Config:
    """The settings of a preset, with `overrides` (section → key → value) on top."""
    if name not in PRESETS:
        raise RnnsearchError(f"there is no preset {name!r}; the presets are {', '.join(PRESETS)}")
    return from_dict(merge(PRESETS[name], overrides or {}))


def from_dict(values: Mapping[str, Any], place: str = "") -> Config:
    """Settings from nested mappings; what is not there has its default. Errors begin with `place`, if there is one."""
    config = _each_checked(values, place)
    model = config.model
    if model.tied_embedding and model.maxout_size != model.embedding_size:
        raise RnnsearchError(
            f"{_at(place)}model.tied_embedding needs model.maxout_size ({model.maxout_size}) to be model.embedding_size "
            f"({model.embedding_size})"
        )
    return config


def _each_checked(values: Mapping[str, Any], place: str) -> Config:
    """Settings of which each has been checked by itself, and none beside others."""
    try:
        return TypeAdapter(Config).validate_python(dict(values))
    except ValidationError as error:
        raise RnnsearchError(f"{_at(place)}{_explain(error.errors()[0])}") from None


def to_dict(config: Config) -> dict[str, dict[str, Any]]:
    """All settings as nested plain values: what `config.json` holds."""
    return asdict(config)


def merge(base: Mapping[str, Mapping[str, Any]], top: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Two sets of settings as one; where both have a key, `top` wins."""
    return {section: {**base.get(section, {}), **top.get(section, {})} for section in {**base, **top}}


def read_toml(path: str | Path) -> dict[str, dict[str, Any]]:
    """The settings in a TOML file, each of them checked; whether they go together is for those that they are merged with."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RnnsearchError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RnnsearchError(f"{path}: not TOML: {error}") from None
    _each_checked(values, str(path))
    return values


def read_json(path: str | Path) -> Config:
    """The settings in a model's `config.json`."""
    try:
        return from_dict(json.loads(Path(path).read_text(encoding="utf-8")), str(path))
    except OSError as error:
        raise RnnsearchError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise RnnsearchError(f"{path}: not a config.json that rnnsearch has written") from None


def read_model_config(folder: str | Path) -> Config:
    """The settings of the model in a folder; RnnsearchError where there is none."""
    path = Path(folder) / CONFIG
    if not path.exists():
        raise RnnsearchError(f"{folder}: no model here (there is no {CONFIG}); give the --output folder of a training")
    return read_json(path)


def parse_assignments(assignments: Iterable[str]) -> dict[str, dict[str, Any]]:
    """`section.key=value` from the command line, as nested settings; values are checked by `from_dict`."""
    values: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        section, _, key = name.strip().partition(".")
        if not equals or section not in SECTIONS or key not in describe(section):
            raise RnnsearchError(f"--set {assignment}: {_suggest(name)}")
        values.setdefault(section, {})[key] = value.strip()
    return values


def describe(section: str) -> dict[str, str]:
    """The keys of a section, each with its description."""
    fields = SECTIONS[section].__pydantic_fields__  # type: ignore[attr-defined]
    return {key: str(info.description) for key, info in fields.items()}


def _at(place: str) -> str:
    return f"{place}: " if place else ""


def _suggest(name: str) -> str:
    known = [f"{section}.{key}" for section in SECTIONS for key in describe(section)]
    same_key = [full for full in known if full.split(".")[1] == name.split(".")[-1]]
    close = same_key or difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]}=…?" if close else ""
    return f"not a setting (they read section.key=value; `rnnsearch presets --settings` lists them){hint}"


def _explain(error: Any) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{name}: {_suggest(name)}"
    return f"{name} = {error['input']!r}: {error['msg'][:1].lower()}{error['msg'][1:]}"
