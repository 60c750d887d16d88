"""What the Python interface takes: a line or a list of lines, and one clear line for anything else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.system import System, new_system
from rnnsearch.text import Vocabularies
from rnnsearch.text.vocabulary import Vocabulary
from rnnsearch.translation import Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from toy import SOURCE_WORDS, TARGET_WORDS, toy_config

Trained = Callable[..., Translator]
LINE, OTHER = "the big dog sees a red cat .", "a man has a book ."
TARGET = "le chien grand voit un chat rouge ."


@pytest.fixture(scope="module", params=["one", "ensemble", "both directions"])
def translator(request: pytest.FixtureRequest, trained: Trained) -> Translator:
    one: Translator = trained("gated", "mlp")
    if request.param == "ensemble":
        return Translator([one.system, one.system])
    if request.param == "both directions":
        return BidirectionalTranslator([one, Translator([right_to_left_system()])])
    return one


def right_to_left_system() -> System:
    config = toy_config(data={"right_to_left": True}, search={"maximum_length_ratio": 2.0})
    return new_system(config, Vocabularies(Vocabulary(SOURCE_WORDS), Vocabulary(TARGET_WORDS, right_to_left=True)))


def test_a_line_has_a_list_of_translations(translator: Translator) -> None:
    alone, (of_list, other) = translator.n_best(LINE, 3), translator.n_best([LINE, OTHER], 3)
    assert [one.to_dict() for one in alone] == [one.to_dict() for one in of_list]
    assert 1 <= len(alone) <= 3
    assert other[0].source_tokens == [*OTHER.split(), "</s>"]
    assert [one.text for one in translator.n_best((LINE,), 3)[0]] == [one.text for one in alone]


def test_a_pair_of_lines_has_one_score(translator: Translator) -> None:
    pair, (of_list, _) = translator.score(LINE, TARGET), translator.score([LINE, OTHER], [TARGET, TARGET])
    assert pair.tokens == TARGET.split()
    assert pair.source_tokens == [*LINE.split(), "</s>"]
    assert pair.score == pytest.approx(of_list.score, abs=1e-4)


def test_both_directions_together_continue_no_prefix(trained: Trained) -> None:
    """A word that may come next is one of a single search, and each direction has its own."""
    both = BidirectionalTranslator([trained("gated", "mlp"), Translator([right_to_left_system()])])
    with pytest.raises(RnnsearchError, match="models of one direction"):
        both.next_words(LINE, "le")


def test_a_prefix_for_one_line(trained: Trained) -> None:
    translator = trained("gated", "mlp")
    for prefix in ("un", ["un"]):
        assert all(one.tokens[0] == "un" for one in translator.n_best(LINE, 3, prefix))
    with pytest.raises(RnnsearchError, match="a list of lines has a list of prefixes"):
        translator.n_best([LINE], 3, "un")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda t: t.translate(3), "lines = 3; give a string, or a list of strings"),
        (lambda t: t.translate(None), "lines = None"),
        (lambda t: t.translate(b"the dog"), "lines = b'the dog'"),
        (lambda t: t.translate(Path("in.en")), "in.en"),
        (lambda t: t.translate([LINE, 3]), r"lines\[1\] = 3; every line is a string"),
        (lambda t: t.translate([LINE, float("nan")]), r"lines\[1\] = nan"),
        (lambda t: t.translate([3] * 1000), r"lines\[0\] = 3"),
        (lambda t: t.translate([[LINE] * 99]), "…"),
        (lambda t: t.translate(LINE, prefix=3), "prefixes = 3"),
        (lambda t: t.n_best(3, 2), "lines = 3"),
        (lambda t: t.n_best(LINE, "3"), "n = '3'; give the number of translations"),
        (lambda t: t.n_best(LINE, 0), "n = 0"),
        (lambda t: t.n_best(LINE, 2.0), "n = 2.0"),
        (lambda t: t.score(LINE, [TARGET]), "sources = 'the big dog"),
        (lambda t: t.score([LINE], TARGET), "targets = 'le chien"),
        (lambda t: t.score([LINE], [None]), r"targets\[0\] = None"),
        (lambda t: t.stream(LINE), "lines = 'the big dog"),
        (lambda t: t.stream(3), "lines = 3"),
        (lambda t: t.stream([LINE], prefixes="un"), "prefixes = 'un'"),
        (lambda t: list(t.stream([LINE, 3])), "a line is 3; every line is a string"),
    ],
)
def test_what_is_no_line_is_refused_in_one_line(translator: Translator, call: Callable[[Any], object], told: str) -> None:
    with pytest.raises(RnnsearchError, match=told) as raised:
        call(translator)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 200


def test_a_wrong_setting_names_itself_once(translator: Translator) -> None:
    with pytest.raises(RnnsearchError) as raised:
        translator.translate(LINE, beam="many")
    assert str(raised.value).startswith("search.beam = 'many': ")
    with pytest.raises(RnnsearchError, match=r"^search\.beem: not a setting .*did you mean search\.beam"):
        translator.translate(LINE, beem=3)
