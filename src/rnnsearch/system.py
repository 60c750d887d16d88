"""A system: a model with its settings and vocabularies.

A system translates without PyTorch; its model in PyTorch is made when it is first needed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rnnsearch import plugins
from rnnsearch.config import Config, DataConfig, ModelConfig, from_dict, to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.graphs.shapes import Shapes, shapes_of_package
from rnnsearch.graphs.weights import Arrays, Weights
from rnnsearch.text import Vocabularies
from rnnsearch.text.protected import pair_as_symbols

if TYPE_CHECKING:  # translation needs no PyTorch
    from rnnsearch.model import AlignmentLayer, RNNsearch

TRAINING_COPIES = 4
"""The number of copies of the weights in memory during training: the weights, their gradient, and two averages of each."""
_UNITS = ("source_units", "target_units", "normalization", "normalize_words", "protect")
_OF_WORDS = ("source_language", "target_language", "tokenizer", "subwords", "right_to_left", *_UNITS)
"""The settings `data.*` on which a translation depends."""


class System:
    """A model with its settings and vocabularies.

    Its weights are arrays, as a file has them, or those of a PyTorch model, which may be trained. A PyTorch model is made of
    arrays when it is first needed.
    """

    def __init__(
        self,
        config: Config,
        vocabularies: Vocabularies,
        model: RNNsearch | Weights,
        alignment_layer: AlignmentLayer | Weights | None = None,
        device: str = "cpu",
    ) -> None:
        """`device` is where a PyTorch model is made. The alignment layer links words better than the model's attention."""
        self.config, self.vocabularies, self._device = config, vocabularies, device
        self._weights = {"model": model, "alignment_layer": alignment_layer}
        for name, part in self._weights.items():
            if part is not None and not isinstance(part, Weights):
                self.__dict__[name] = part

    @property
    def aligns(self) -> bool:
        """Whether the model has an alignment: RNNsearch has one, RNNencdec has none."""
        return self.config.model.alignment != "none"

    @property
    def has_alignment_layer(self) -> bool:
        """Whether there is a layer that links words."""
        return self._weights["alignment_layer"] is not None

    @property
    def parameters(self) -> int:
        """The number of parameters of the model."""
        return sum(math.prod(shape) for shape in model_shapes(self.config.model, *map(len, self.vocabularies)).values())

    @property
    def device(self) -> str:
        """Where PyTorch computes with the model."""
        return str(next(self.model.parameters()).device) if "model" in self.__dict__ else self._device

    @property
    def runs_as_graphs(self) -> bool:
        """Whether ONNX Runtime computes with the model: it is on a CPU, and needs no plugin."""
        return self.device == "cpu" and not plugins.needed(self.config.model.alignment, self.config.model.cell)

    @property
    def weights(self) -> Weights:
        """The weights of the model as they are now."""
        return self._arrays("model")

    @property
    def alignment_layer_weights(self) -> Weights:
        """The weights of the alignment layer as they are now."""
        return self._arrays("alignment_layer")

    def _arrays(self, name: str) -> Weights:
        part = self._weights[name]
        if name in self.__dict__:
            tensors = self.__dict__[name].named_parameters()
            return Weights({key: tensor.detach().cpu().numpy() for key, tensor in tensors})
        assert isinstance(part, Weights)
        return part

    @cached_property
    def model(self) -> RNNsearch:
        """The model in PyTorch."""
        from rnnsearch.model import RNNsearch, with_weights

        model = RNNsearch(self.config.model, *map(len, self.vocabularies))
        return with_weights(model, self._arrays("model").__getitem__).to(self._device).eval()

    @cached_property
    def alignment_layer(self) -> AlignmentLayer | None:
        """The alignment layer as a PyTorch module; None if the model has none."""
        from rnnsearch.model import AlignmentLayer, with_weights

        if not self.has_alignment_layer:
            return None
        layer = AlignmentLayer(self.model)
        return with_weights(layer, self._arrays("alignment_layer").__getitem__).to(self._device).eval()

    def fingerprint(self) -> str:
        """Return a hash of everything on which a translation depends except the weights; default settings are left out."""
        sections = {"model": vars(self.config.model), "data": {key: getattr(self.config.data, key) for key in _OF_WORDS}}
        usual = {"model": vars(ModelConfig()), "data": vars(DataConfig())}
        digest = hashlib.sha256()
        for section, values in sections.items():
            own = {key: value for key, value in values.items() if not key.startswith("_")}
            changed = {key: value for key, value in own.items() if value != usual[section][key]}
            digest.update(json.dumps(changed, sort_keys=True).encode())
        for vocabulary in self.vocabularies:
            digest.update("\n".join(vocabulary.words).encode("utf-8", "surrogatepass"))
            digest.update(vocabulary.subwords.model if vocabulary.subwords else b"\0")
        return digest.hexdigest()

    def changed(self, config: Config, vocabularies: Vocabularies | None = None) -> System:
        """Return the same weights with other settings, or other vocabularies of the same sizes."""
        model, layer = (self.__dict__.get(name, part) for name, part in self._weights.items())
        assert model is not None
        return System(config, vocabularies or self.vocabularies, model, layer, self._device)

    def seen(self, source: Sequence[str], target: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a pair as the model sees them, with symbols for protected spans that both sides have."""
        data = self.config.data
        if not data.protects:
            return source, target
        return pair_as_symbols(source, target, (data.source_language, data.target_language))

    def __reduce__(self) -> tuple[Callable[..., System], tuple[Any, ...]]:
        """Return settings, vocabularies and weights for pickling, so that another process needs no folder."""
        arrays = [self.weights.arrays, self.alignment_layer_weights.arrays if self.has_alignment_layer else None]
        return _unpickled, (to_dict(self.config), self.vocabularies, *arrays, self.device)


def _unpickled(
    settings: dict[str, Any], vocabularies: Vocabularies, weights: Arrays, layer_weights: Arrays | None, device: str
) -> System:
    """Return the system that `System.__reduce__` has pickled."""
    if device != "cpu":
        from rnnsearch.devices import default_device

        device = str(default_device())
    layer = None if layer_weights is None else Weights(layer_weights)
    return System(from_dict(settings), vocabularies, Weights(weights), layer, device)


def model_shapes(config: ModelConfig, source_words: int, target_words: int) -> Shapes:
    """Return the names and the shapes of a model's parameters; for a model with a plugin, those of its classes."""
    if not plugins.needed(config.alignment, config.cell):
        return shapes_of_package(config, source_words, target_words)
    from rnnsearch.model import parameter_shapes

    return parameter_shapes(config, source_words, target_words)


def new_system(config: Config, vocabularies: Vocabularies) -> System:
    """Return a system with newly initialised weights. Raises RnnsearchError if it is too large to train on this computer."""
    from rnnsearch.model import RNNsearch

    check_memory(config.model, len(vocabularies.source), len(vocabularies.target), TRAINING_COPIES)
    model = RNNsearch(config.model, *map(len, vocabularies))
    model.initialize(config.training.initialization, config.training.seed)
    return System(config, vocabularies, model)


def check_memory(config: ModelConfig, source_words: int, target_words: int, copies: int = 1) -> None:
    """Raise RnnsearchError if `copies` copies of a model with these vocabularies do not fit into this computer's memory."""
    parameters = sum(math.prod(shape) for shape in model_shapes(config, source_words, target_words).values())
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # this system does not report its memory
        return
    needed = 4 * parameters * copies
    if needed > there:
        raise RnnsearchError(
            f"the model has {parameters / 1e6:,.0f} million parameters and takes {needed / 1e9:,.0f} GB; this computer has "
            f"{there / 1e9:,.0f} GB of memory: give it smaller sizes or fewer layers (model.*), or smaller vocabularies"
        )
