"""Every setting of the system, once.

The dataclasses below are the source: TOML files, `--set section.key=value` on the command line, the presets and a
saved model's `config.json` are all read through them, so a setting has one name, one type and one description (the
docstring under the field).
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from rnnsearch import plugins, untrusted
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.presets import PRESETS, preset_for

_SETTINGS = ConfigDict(extra="forbid", allow_inf_nan=False)
# Upper limits far beyond any use, so that a mistyped number is refused before it exhausts the memory or never ends.
_LARGEST_SEED = 10**18
_LARGEST_COUNT = 10**9
_LARGEST_SIZE = 65_536
LARGEST_BEAM = 1000
"""The largest beam, and the largest number of translations of a sentence."""

Units = Literal["words", "characters", "codepoints", "symbols"]
"""The units that a line is a sequence of."""

Augmentations = Literal["capitals", "titles", "typos", "accents", "apostrophes", "endings", "joined", "names", "symbols"]
"""Ways to change training pairs."""

_MOST_SETTINGS = untrusted.MEGABYTE


def _known(kind: str) -> AfterValidator:
    """Return a validator that accepts the names of alignment models or cells, of the package and of plugins."""

    def check(name: str) -> str:
        if not plugins.known(kind, name):
            choices = ", ".join(f"'{choice}'" for choice in plugins.NAMES[kind])
            raise PydanticCustomError(
                "unknown",
                "Input should be one of {choices}, or a name that a plugin defines (rnnsearch --plugin FILE.py)",
                {"choices": choices},
            )
        return name

    return AfterValidator(check)


def _listed(value: object) -> object:
    """Split a list that is written as `one,other`, as on the command line."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _one_or_more(value: object) -> object:
    """Convert a string to a list of one."""
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True, config=_SETTINGS)
class DataConfig:
    """Settings of the text: how it is tokenised and cleaned, and which words the vocabularies contain."""

    source_language: str = "auto"
    """Language code of the source, for Moses tokenisation. `auto` takes it from the file (TMX) or its name (`train.en`). A
    region, as in `en-GB`, only says which variant is read from a file that has several."""
    target_language: str = "auto"
    """Language code of the target, for Moses tokenisation."""
    tokenizer: Literal["moses", "whitespace"] = "moses"
    """`moses` tokenises running text. `whitespace` is for text that is already tokenised."""
    source_units: Units = "words"
    """Units of the source: `words`; `characters` as a reader sees them (grapheme clusters); `codepoints`; or `symbols`,
    which are separated by spaces. Except for `words`, the text can be restored exactly from its units."""
    target_units: Units = "words"
    """Units of the target."""
    normalization: Literal["none", "NFC", "NFD", "NFKC", "NFKD"] = "NFC"
    """Unicode normal form of characters, code points and symbols; see `normalize_words` for words."""
    normalize_words: bool = True
    """Normalise the spelling of words for the model: apostrophes, quotation marks, dashes, ligatures, full-width letters and
    accents (NFC) become those that are most frequent in its vocabulary. Words that are copied keep their spelling."""
    protect: bool = False
    """Replace addresses, file names, placeholders, codes, emoji and quantities by one symbol each before the model reads
    them. The translation has them as they were written, and quantities in the format of the target language. Between English
    and French, names that the model has hardly seen are copied as well. Only for running text (`tokenizer = moses`)."""
    source_words: int = Field(default=30000, ge=1, le=_LARGEST_COUNT)
    """Size of the source vocabulary: the shortlist of the most frequent words (section 4.1 of the paper), or of other units.
    All others are `[UNK]`."""
    target_words: int = Field(default=30000, ge=1, le=_LARGEST_COUNT)
    """Size of the target vocabulary."""
    minimum_count: int = Field(default=1, ge=1, le=_LARGEST_COUNT)
    """Words or other units that occur less often than this in the training text are not in the vocabulary, whatever its
    size."""
    subwords: Literal["none", "bpe", "unigram"] = "none"
    """Split words into subwords, so that none is unknown: byte-pair encoding (Sennrich et al. 2016) or unigram (Kudo
    2018)."""
    subword_pieces: int = Field(default=8000, ge=50, le=1_000_000)
    """Number of different subwords, if `subwords` is set; the vocabularies then have no shortlists of words."""
    joint_subwords: bool = True
    """Learn the subwords of both languages together, so that names are split in the same way."""
    right_to_left: bool = False
    """Produce translations from right to left (R2L). Together, a model of each direction is better than two of the same
    direction (Liu et al. 2016)."""
    max_length: int = Field(default=50, ge=1, le=10_000)
    """Drop training pairs with more than this many words on either side (30 or 50 in the paper). With `subwords`, also drop
    pairs with more than twenty times as many letters."""
    max_length_ratio: float = Field(default=9.0, ge=1, le=10_000)
    """Drop training pairs whose lengths differ by more than this factor."""
    learn_links: bool = False
    """Learn the links of words from the training pairs themselves, as `rnnsearch align` does without a model, and guide the
    attention by them (`training.guided_alignment`)."""
    remove_duplicates: bool = True
    """Keep only the first of identical training pairs."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Random seed of the shuffle of the training pairs, which happens once."""

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The languages of source and target, with their regions if given; None for a language that is not given."""
        source, target = (None if one == "auto" else one for one in (self.source_language, self.target_language))
        return source, target

    @property
    def protects(self) -> bool:
        """Whether the model sees spans as symbols, which requires running text on both sides."""
        return self.protect and self.tokenizer == "moses" and (self.source_units, self.target_units) == ("words", "words")

    @property
    def source_name(self) -> str:
        """The name of the source for people: its language, or its units if the language is unknown."""
        return self.source_units if self.source_language == "auto" else self.source_language

    @property
    def target_name(self) -> str:
        """See `source_name`."""
        return self.target_units if self.target_language == "auto" else self.target_language


@dataclass(frozen=True, config=_SETTINGS)
class ModelConfig:
    """Settings of the model (appendix A of the paper)."""

    embedding_size: int = Field(default=620, ge=1, le=_LARGEST_SIZE)
    """m, the size of the word embeddings."""
    hidden_size: int = Field(default=1000, ge=1, le=_LARGEST_SIZE)
    """n, the number of hidden units of each recurrent network."""
    alignment_size: int = Field(default=1000, ge=1, le=_LARGEST_SIZE)
    """n', the number of hidden units of the alignment model."""
    maxout_size: int = Field(default=500, ge=1, le=_LARGEST_SIZE)
    """l, the number of maxout units of the readout."""
    alignment: Annotated[str, _known("alignment")] = "mlp"
    """The alignment model a: `mlp` is RNNsearch, and `none` is the baseline RNNencdec with one fixed context vector. The
    others are `dot` and `bilinear` (Luong et al. 2015), `location` (Chorowski et al. 2015) and `monotonic` (Graves 2013)."""
    encoder: Literal["auto", "forward", "bidirectional"] = "auto"
    """Read the source forward only, or in both directions. `auto` is `forward` for RNNencdec and `bidirectional`
    otherwise."""
    cell: Annotated[str, _known("cell")] = "gated"
    """The recurrent function f of encoder and decoder."""
    encoder_layers: int = Field(default=1, ge=1, le=64)
    """Number of recurrent layers of the encoder. Extra layers have residual connections (Wu et al. 2016)."""
    decoder_layers: int = Field(default=1, ge=1, le=64)
    """Number of recurrent layers of the decoder. Only the first computes the alignment."""
    layer_norm: bool = False
    """Layer normalisation of the annotations, the maxout layer, and the inputs of extra layers (Ba et al. 2016)."""
    tied_embedding: bool = False
    """Use one matrix for target embedding and softmax (Press & Wolf 2017). It requires `maxout_size` = `embedding_size`."""
    decoder_order: Literal["look-generate-update", "look-update-generate"] = "look-generate-update"
    """Predict a word before the state is updated (the authors' implementation) or afterwards (Eq. 4)."""

    @property
    def bidirectional(self) -> bool:
        """Whether the encoder reads in both directions."""
        return self.encoder == "bidirectional" or (self.encoder == "auto" and self.alignment != "none")


@dataclass(frozen=True, config=_SETTINGS)
class TrainingConfig:
    """Settings of the training."""

    batch_size: int = Field(default=80, ge=1, le=100_000)
    """Number of sentence pairs in a minibatch."""
    accumulate: int = Field(default=1, ge=1, le=10_000)
    """Number of minibatches whose gradients are added for one update: large minibatches in the memory of small ones."""
    shards: int = Field(default=1, ge=1, le=65536)
    """Number of parts of a minibatch whose gradients are computed separately and added in a fixed order, by one process or
    at most as many as there are parts. The weights depend on it, but not on the number of processes."""
    reduction: Literal["exact", "fast"] = "exact"
    """How processes add their gradients. `exact`: the same bits for any number of processes. `fast`: one shard for each
    process, and sums that overlap with the computation (PyTorch's DistributedDataParallel)."""
    pool_batches: int = Field(default=20, ge=1, le=100_000)
    """Number of minibatches that are read and sorted by length together, so that minibatches contain little padding."""
    shuffle: Literal["once", "epoch"] = "once"
    """`once`: every epoch has the same order (the paper). `epoch`: pairs and minibatches are shuffled in each epoch."""
    initialization: Literal["paper", "glorot"] = "paper"
    """`paper`: orthogonal and N(0, 0.01²) (appendix B.1). `glorot`: orthogonal and uniform, scaled by fan-in and fan-out."""
    optimizer: Literal["adadelta", "adam"] = "adadelta"
    """Adadelta needs no choice of a learning rate. Adam is faster with a well-chosen learning rate."""
    adadelta_rho: float = Field(default=0.95, gt=0, lt=1)
    """Adadelta's decay rate ρ."""
    adadelta_epsilon: float = Field(default=1e-6, gt=0, le=1)
    """Adadelta's ε."""
    learning_rate: float = Field(default=1.0, gt=0, le=1000)
    """Learning rate: 1.0 with Adadelta, about 0.001 with Adam."""
    warmup_updates: int = Field(default=0, ge=0, le=_LARGEST_COUNT)
    """Number of updates over which the learning rate rises from zero."""
    decay: Literal["none", "plateau", "linear"] = "none"
    """`plateau` halves the learning rate after each validation without improvement. `linear` lowers it to zero at the
    end."""
    clip_norm: float = Field(default=1.0, ge=0, le=1e9)
    """Gradients with a larger L2 norm than this are scaled down to it (clipping). 0 is no limit."""
    loss_normalization: Literal["sum", "sentences", "tokens"] = "sum"
    """Divisor of the summed NLL of a minibatch. It determines how often the gradient is clipped."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout probability of embeddings, annotations, the decoder state in the readout, and the maxout layer."""
    word_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Probability of dropping the embeddings of whole words, on both sides (Gal & Ghahramani 2016)."""
    recurrent_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout probability of the recurrent matrices, one mask per sequence (DropConnect; Merity et al. 2018)."""
    consistency: float = Field(default=0.0, ge=0, le=1000)
    """Weight of the divergence between two passes over each pair with different dropout (R-Drop; Liang et al. 2021). An
    update takes twice as long. 0 is off; 5 is a common value."""
    label_smoothing: float = Field(default=0.0, ge=0, lt=1)
    """Probability mass that the training cost spreads evenly over the target vocabulary."""
    subword_sampling: float = Field(default=0.0, ge=0, lt=1)
    """Segment the training words anew in every minibatch (with `data.subwords`). With `bpe`, this is the probability of
    leaving out a merge (BPE-dropout). With `unigram`, it is the exponent of a segmentation's probability."""
    augment: Annotated[tuple[Augmentations, ...], BeforeValidator(_listed)] = ()
    """Kinds of random changes of training pairs, which make a model robust to informal text: `capitals` (all letters capital
    or small), `titles`, `typos`, missing `accents`, `apostrophes` and `endings` (final punctuation), two pairs `joined`,
    other `names` on both sides, and `symbols` of protected spans in place of words that both sides have."""
    guided_alignment: float = Field(default=0.1, ge=0, le=1000)
    """Weight of the cross-entropy of the alignment with given links (`--links`; Chen et al. 2016)."""
    weight_average: float = Field(default=0.0, ge=0, lt=1)
    """Decay per update of a moving average of the weights, which is validated and saved instead of the weights. 0 is off."""
    engine: Literal["auto", "reference", "fused", "cuda"] = "auto"
    """How the recurrences are computed: `fused` on a CPU, `cuda` on an NVIDIA GPU, or as plain PyTorch (`reference`)."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """Precision of the factors of matrix products. `bf16` is faster if the processor has instructions for it; a CPU without
    them uses `fp32`. Weights, sums and states stay float32."""
    max_updates: int = Field(default=500_000, ge=1, le=_LARGEST_COUNT)
    """Stop after this many updates."""
    max_epochs: int = Field(default=0, ge=0, le=_LARGEST_COUNT)
    """Stop after this many passes over the corpus. 0 is no limit."""
    max_minutes: float = Field(default=0.0, ge=0, le=_LARGEST_COUNT)
    """Stop after this many minutes of training. 0 is no limit."""
    validate_every: int = Field(default=1000, ge=1, le=_LARGEST_COUNT)
    """Number of updates between validations, which compute dev NLL and dev BLEU and save the best model."""
    validate_sentences: int = Field(default=1000, ge=1, le=_LARGEST_COUNT)
    """Number of pairs, at even intervals in the development set, on which dev BLEU is computed; dev NLL uses all pairs."""
    validate_on: Literal["bleu", "nll", "wer"] = "bleu"
    """The score on the development set that selects the best model. `wer` is for targets that are not words: the share of
    lines with an error, and among equal ones the symbol error rate."""
    patience: int = Field(default=10, ge=0, le=_LARGEST_COUNT)
    """Stop after this many validations without a better score. 0 never stops early."""
    checkpoint_every: int = Field(default=500, ge=1, le=_LARGEST_COUNT)
    """Number of updates between checkpoints, from which `--resume` continues."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Random seed of the initial weights, the order of each epoch, and dropout."""


@dataclass(frozen=True, config=_SETTINGS)
class SearchConfig:
    """Settings of the search for a translation."""

    beam: int = Field(default=5, ge=1, le=LARGEST_BEAM)
    """Number of hypotheses kept for each sentence."""
    length_normalization: float = Field(default=1.0, ge=0, le=100)
    """Exponent of the length by which log p is divided to rank finished hypotheses. 0 ranks by log p (the authors' code)."""
    coverage: float = Field(default=0.0, ge=0, le=1000)
    """Weight of the coverage penalty, −log of each source word's total attention, at most 1 (Wu et al. 2016). 0 is off."""
    diversity: float = Field(default=0.0, ge=0, le=1000)
    """Penalty on the log-probability of the second-best continuation of a hypothesis; the third-best has twice this penalty,
    and so on. The translations in the beam are then more diverse (Li et al. 2016)."""
    temperature: float = Field(default=0.0, ge=0, le=1000)
    """If greater than 0, words are sampled with probabilities proportional to p^(1/temperature) instead of beam search."""
    seed: int = Field(default=1, ge=0, le=_LARGEST_SEED)
    """Random seed of sampling. The sample for a sentence depends only on the sentence and the seed."""
    forbid_unk: bool = False
    """Never produce `[UNK]`."""
    forbid_repetition: bool = False
    """Never repeat the same three words, or subwords, more than three times, nor the same five more than twice, unless the
    source repeats some as often."""
    keep_numbers: bool = False
    """Prefer, among the translations in the beam, those that have every number of the source, in figures or in words.
    Only for running text (`data.tokenizer = moses`)."""
    known_words_first: bool = True
    """Prefer, among the translations in the beam, those without invented words, which are neither in the source nor in the
    list `target.words` of the model's folder. Most models have no such list."""
    phrases: bool = True
    """Replace the translation of a sentence by the one of the list in the model's folder (`phrases.tsv`), if it is there.
    Most models have no such list."""
    rare_words: bool = True
    """Search a sentence again if its translation lacks rare words of the list in the model's folder (`rare-words.tsv`), with
    these as terms. Most models have no such list."""
    protect: Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], BeforeValidator(_one_or_more)] = Field(
        default=(), max_length=100
    )
    """Regular expressions of further spans to keep as they are written, for models with `data.protect`."""
    replace_unk: bool = False
    """Replace each `[UNK]` by the lexicon's translation of the aligned source word, or by that word itself. It takes
    precedence over `forbid_unk`."""
    minimum_length_ratio: float = Field(default=0.0, ge=0, le=100)
    """Minimum number of words of a translation relative to the length of the source with its end symbol, rounded down (the
    authors' code: 0.5)."""
    maximum_length_ratio: float = Field(default=3.0, gt=0, le=100)
    """Maximum length of a translation relative to the source, including both end symbols."""
    minimum_bayes_risk: bool = False
    """Choose the hypothesis in the beam with the greatest expected chrF instead of the most probable one."""
    batch_sentences: int = Field(default=32, ge=1, le=10_000)
    """Number of sentences in a batch of the search. The translations do not depend on it."""
    precision: Literal["fp32", "int8"] = "fp32"
    """`int8` rounds the weights to 8 bits, on a CPU. It is faster, needs a quarter of the memory and changes few
    translations."""
    vocabulary_selection: int = Field(default=0, ge=0, le=_LARGEST_COUNT)
    """Search only among this many frequent words and the lexicon's translations. 0 is off."""
    selection_candidates: int = Field(default=20, ge=1, le=_LARGEST_COUNT)
    """Vocabulary selection: the number of translations that the lexicon adds for each source word."""
    max_segment: int = Field(default=100, ge=1, le=5000)
    """A line with more words than this is translated in segments, split after punctuation if possible."""
    split_sentences: bool = True
    """Translate each sentence of a line by itself, with the white space between them as it is, and leave alone what has no
    letters. For models of words with the Moses tokeniser."""


@dataclass(frozen=True, config=_SETTINGS)
class Config:
    """All settings of one system."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


SECTIONS: dict[str, type] = {"data": DataConfig, "model": ModelConfig, "training": TrainingConfig, "search": SearchConfig}

RENAMED: dict[str, dict[str, str]] = {
    "search": {"shortlist": "vocabulary_selection", "shortlist_candidates": "selection_candidates"},
}
"""The names of settings in version 0.1, which are still read, and their present names."""


def from_preset(name: str, overrides: Mapping[str, Mapping[str, Any]] | None = None, pairs: int | None = None) -> Config:
    """Return the settings of a preset, with `overrides` (section → key → value) in place of its own.

    The settings of the preset `characters` depend on the number of training pairs.
    """
    if name not in PRESETS:
        raise RnnsearchError(f"there is no preset {name!r}; the presets are {', '.join(PRESETS)}")
    return from_dict(merge(preset_for(name, pairs), overrides or {}))


def from_dict(values: Mapping[str, Any], place: str = "") -> Config:
    """Return the settings in nested mappings, with defaults for missing ones; error messages begin with `place`."""
    config = _each_checked(values, place)
    model, data = config.model, config.data
    if data.subwords != "none" and (data.source_units, data.target_units) != ("words", "words"):
        raise RnnsearchError(
            f"{_at(place)}data.subwords = {data.subwords}: only words have subwords; set it to none, or the units of "
            "source and target to words"
        )
    if config.training.validate_on == "wer" and data.target_units == "words":
        raise RnnsearchError(
            f"{_at(place)}training.validate_on = wer: WER is near 100% for word targets and cannot rank models; set it to "
            "bleu or nll, or data.target_units to characters or symbols"
        )
    if model.tied_embedding and model.maxout_size != model.embedding_size:
        raise RnnsearchError(
            f"{_at(place)}model.tied_embedding needs model.maxout_size ({model.maxout_size}) to be model.embedding_size "
            f"({model.embedding_size})"
        )
    if model.alignment == "none" and model.bidirectional:
        raise RnnsearchError(
            f"{_at(place)}model.encoder = bidirectional: an RNNencdec (model.alignment = none) reads forward only; use auto"
        )
    return config


def _each_checked(values: Mapping[str, Any], place: str) -> Config:
    """Return the settings after a check of each one by itself; whether they are compatible is not checked."""
    sections = {
        section: present_keys(section, keys) if isinstance(keys, Mapping) else keys for section, keys in dict(values).items()
    }
    try:
        return TypeAdapter(Config).validate_python(sections)
    except ValidationError as error:
        raise RnnsearchError(f"{_at(place)}{_explain(error.errors()[0])}") from None


def present_keys(section: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a section under their present names; `values` may have the names of version 0.1."""
    renamed = RENAMED.get(section, {})
    return {renamed.get(key, key): value for key, value in values.items()}


def to_dict(config: Config) -> dict[str, dict[str, Any]]:
    """Return all settings as nested JSON values, with lists for tuples, as in `config.json`."""
    return {
        section: {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
        for section, settings in asdict(config).items()
    }


def merge(base: Mapping[str, Mapping[str, Any]], top: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Merge two sets of settings; the values in `top` take precedence."""
    return {section: {**base.get(section, {}), **top.get(section, {})} for section in {**base, **top}}


def read_toml(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read the settings in a TOML file, and check each by itself; their compatibility is checked after merging.

    Raises RnnsearchError if the file cannot be read, is not TOML, or has an unknown setting or an invalid value.
    """
    import tomllib

    try:
        with Path(path).open("rb") as file:  # it may be a pipe, because the user names this file
            content = file.read(_MOST_SETTINGS + 1)
        if len(content) > _MOST_SETTINGS:
            raise RnnsearchError(f"{path}: more than {_MOST_SETTINGS:,} bytes; is this a file of settings?")
        values = tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise RnnsearchError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise RnnsearchError(f"{path}: not TOML: nested too deep") from None
    except ValueError as error:  # a number with too many digits raises ValueError instead of TOMLDecodeError
        raise RnnsearchError(f"{path}: not TOML: {error}") from None
    _each_checked(values, str(path))
    return {section: present_keys(section, keys) for section, keys in values.items()}


def read_json(path: str | Path) -> Config:
    """Read the settings in a model's `config.json`. Raises RnnsearchError if it is missing or damaged."""
    try:
        values = untrusted.read_json(Path(path), _MOST_SETTINGS)
    except OSError as error:
        raise RnnsearchError(f"{path}: {error.strerror}") from None
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise RnnsearchError(f"{path}: not a config.json that rnnsearch has written")
    return from_dict(values, str(path))


def parse_assignments(assignments: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Parse `section.key=value` from the command line to nested settings, whose values `from_dict` checks.

    Raises RnnsearchError for an unknown setting.
    """
    values: dict[str, dict[str, Any]] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        section, _, key = name.strip().partition(".")
        key = RENAMED.get(section, {}).get(key, key)
        if not equals or section not in SECTIONS or key not in _keys(section):
            raise RnnsearchError(f"--set {assignment}: {_suggest(name)}")
        values.setdefault(section, {})[key] = value.strip()
    return values


def describe(section: str) -> dict[str, str]:
    """Return the keys of a section with their descriptions, the docstrings under the fields.

    They are read from the source code: Pydantic would read them, too (`use_attribute_docstrings`), but at every start.
    """
    (definition,) = ast.parse(inspect.getsource(SECTIONS[section])).body
    assert isinstance(definition, ast.ClassDef)
    descriptions = {}
    for setting, text in pairwise(definition.body):
        if isinstance(setting, ast.AnnAssign) and isinstance(text, ast.Expr):
            descriptions[ast.unparse(setting.target)] = inspect.cleandoc(ast.literal_eval(text.value))
    return descriptions


def _keys(section: str) -> list[str]:
    return [one.name for one in fields(SECTIONS[section])]


def _at(place: str) -> str:
    return f"{place}: " if place else ""


def _suggest(name: str) -> str:
    known = [f"{section}.{key}" for section in SECTIONS for key in _keys(section)]
    same_key = [full for full in known if full.split(".")[1] == name.split(".")[-1]]
    close = same_key or difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]}=…?" if close else ""
    return f"not a setting (they read section.key=value; `rnnsearch presets --settings` lists them){hint}"


def _explain(error: Any) -> str:
    name = ".".join(part if len(part) <= 60 else f"{part[:59]}…" for part in map(str, error["loc"]))
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"{name}: {_suggest(name)}"
    return f"{name} = {shown(error['input'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"
