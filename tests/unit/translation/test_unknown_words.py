"""What stands in the place of an unknown word, and that it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnsearch
from rnnsearch.data.word_alignments import linked_sources
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.vocabulary import UNK_SYMBOL
from rnnsearch.translation import FORMATS, Translator
from rnnsearch.translation.lexicon import Lexicon
from rnnsearch.translation.translation import Segment
from rnnsearch.translation.unknown_words import replace_unknown
from toy import toy_pairs

words = st.lists(st.sampled_from(["le", "Dupont", UNK_SYMBOL, "3,14"]), min_size=1, max_size=6)
LEXICON = Lexicon({"cat": [(UNK_SYMBOL, 0.6), ("chat", 0.4)]})


@given(source=words, target=words, seed=st.integers(0, 2**31))
def test_every_unknown_word_is_replaced_and_no_other(source: list[str], target: list[str], seed: int) -> None:
    alpha = np.random.default_rng(seed).dirichlet(np.ones(len(source) + 1), len(target)).astype(np.float32)
    found, replacements = replace_unknown(Segment(3, source, 5, target, alpha), None)
    for place, (before, after) in enumerate(zip(target, found.tokens, strict=True)):
        if before == UNK_SYMBOL:
            assert after == source[linked_sources(alpha)[place]]
        else:
            assert after == before
    assert [r.target - 5 for r in replacements] == [i for i, word in enumerate(target) if word == UNK_SYMBOL]
    assert all(source[r.source - 3] == r.source_word == r.word and r.by == "copy" for r in replacements)


def test_the_lexicon_comes_first() -> None:
    alpha = np.array([[0.1, 0.8, 0.1], [0.8, 0.1, 0.1]], np.float32)
    found, replacements = replace_unknown(Segment(0, ["Rex", "cat"], 0, [UNK_SYMBOL, UNK_SYMBOL], alpha), LEXICON)
    assert found.tokens == ["chat", "Rex"]
    assert [replacement.by for replacement in replacements] == ["lexicon", "copy"]


def test_a_trained_model_copies_names(trained: Callable[..., Translator]) -> None:
    """The toy language's names are outside its vocabularies, and are the same in both languages."""
    translator = trained("gated", "mlp")
    pairs = [(source, target) for source, target in toy_pairs(200, seed=11) if "Name" in source]
    plain = translator.translate([source for source, _ in pairs])
    translations = translator.translate([source for source, _ in pairs], replace_unk=True, forbid_unk=True)
    names = 0
    for (source, _), without, found in zip(pairs, plain, translations, strict=True):
        assert UNK_SYMBOL not in found.tokens
        assert len(found.replacements) == without.tokens.count(UNK_SYMBOL)
        assert found.score == pytest.approx(without.score, abs=1e-4)
        for replacement in found.replacements:
            assert found.tokens[replacement.target] == replacement.word == source.split()[replacement.source]
            names += replacement.word.startswith("Name")
    assert names > 10
    record = json.loads(FORMATS["json"]([next(t for t in translations if t.replacements)], 0, False))
    assert record["replacements"][0]["by"] == "copy"


def test_a_model_without_alignment_cannot(trained: Callable[..., Translator]) -> None:
    with pytest.raises(RnnsearchError, match="no alignment"):
        trained("gated", "none").translate("the dog", replace_unk=True)


def test_the_folders_lexicon_is_used(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    for file in model_folder("mlp").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    line = "Name1 sees Name2 ."
    Lexicon({word: [(f"Nom-{word}", 1.0)] for word in line.split()}).save(tmp_path)
    found = rnnsearch.load(tmp_path).translate(line, replace_unk=True)
    assert found.replacements
    assert all(replacement.by == "lexicon" and replacement.word.startswith("Nom") for replacement in found.replacements)
