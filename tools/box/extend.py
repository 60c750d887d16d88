"""A trained model with the symbols of protected spans in its vocabularies, and digits that are subwords one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from sentencepiece import sentencepiece_model_pb2

from rnnsearch.model.rnnsearch import RNNsearch
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights
from rnnsearch.system import System
from rnnsearch.text import Subwords, Vocabularies, Vocabulary
from rnnsearch.text.protected import ALL_SYMBOLS
from rnnsearch.text.subwords import BEGIN, SubwordKind

_ROWS = ("encoder.E", "decoder.E", "readout.W_o", "readout.b_w")
"""The parameters that have a row for each word."""


def extended(system: System) -> System:
    """Return the system with further words, whose embeddings are the mean of all others with noise that tells them apart.

    It keeps duplicates when it is trained further, since everyday phrases are in the text several times. A system that has
    the words is returned as it is.
    """
    if system.config.data.protect:
        return system
    data = replace(system.config.data, protect=True, remove_duplicates=False)
    assert data.subwords != "none"
    vocabularies = Vocabularies(*(_extended(vocabulary, data.subwords) for vocabulary in system.vocabularies))
    model = RNNsearch(system.config.model, *map(len, vocabularies))
    old, generator = dict(system.model.named_parameters()), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            before = old[name]
            if name in _ROWS:
                count = len(parameter) - len(before)
                noise = 0.3 * before.std() * torch.randn((count, *before.shape[1:]), generator=generator)
                parameter.copy_(torch.cat([before, before.mean(0, keepdim=True) + noise]))
            else:
                parameter.copy_(before)
    return System(replace(system.config, data=data), vocabularies, model.eval())


def _extended(vocabulary: Vocabulary, kind: SubwordKind) -> Vocabulary:
    assert vocabulary.subwords is not None
    proto = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    proto.ParseFromString(vocabulary.subwords.model)
    symbols = [BEGIN + symbol for symbol in sorted(ALL_SYMBOLS)]
    for piece in proto.pieces:
        if len(piece.piece) > 1 and any(map(str.isdecimal, piece.piece)):
            piece.type = proto.SentencePiece.UNUSED
    known = {piece.piece for piece in proto.pieces}
    for digit in map(str, range(10)):
        assert digit in known, f"no subword for the digit {digit}"
    for symbol in symbols:
        proto.pieces.add(piece=symbol, score=0.0, type=proto.SentencePiece.USER_DEFINED)
    subwords = Subwords(proto.SerializeToString(), kind)
    words = [word for word in vocabulary.words[2:] if word not in symbols]
    return Vocabulary([*words, *symbols], subwords, vocabulary.right_to_left)


def extend(folder: Path, output: Path) -> Path:
    """Write the extended model of a folder."""
    if not (output / WEIGHTS).exists():
        output.mkdir(parents=True, exist_ok=True)
        system = extended(load_system(folder))
        save_settings(output, system)
        save_weights(output / WEIGHTS, system)
    return output
