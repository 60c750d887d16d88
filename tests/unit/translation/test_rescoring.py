"""N-best lists of another system: read, scored, sorted; what is wrong with one is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import Translator
from rnnsearch.translation.rescoring import Entry, Rescorer, n_best_lists, read_n_best
from rnnsearch.translation.scoring import LONGEST
from toy import toy_pairs

SOURCES = [source for source, _ in toy_pairs(45, seed=31)]


def rescore(translator: Translator, sources: list[str], entries: list[Entry], **how: Any) -> list[list[Entry]]:
    return list(Rescorer(translator, **how)(list(n_best_lists(sources, entries))))


entries_ = st.lists(
    st.builds(
        Entry,
        line=st.integers(0, 9),
        text=st.sampled_from(["le chien", "un chat .", ""]),
        features=st.sampled_from(["", "LM0= -3.2", "d= 1 2 LM0= -1"]),
        total=st.integers(-50, 50).map(float),
    ),
    max_size=20,
).map(lambda entries: sorted(entries, key=lambda entry: entry.line))


@given(entries=entries_)
def test_what_is_written_is_read(entries: list[Entry], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("n-best") / "list"
    path.write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
    assert list(read_n_best(path)) == entries


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_scores_and_order(trained: Callable[..., Translator], weight: float) -> None:
    translator = trained("gated", "mlp")
    lists = translator.n_best(SOURCES, 4)
    entries = [Entry(i, t.text, "LM0= 1", float(rank)) for i, found in enumerate(lists) for rank, t in enumerate(found)]
    found = rescore(translator, SOURCES, entries, weight=weight, tokenized=True)
    assert [sentence[0].line for sentence in found] == list(range(len(SOURCES)))
    for sentence, translations in zip(found, lists, strict=True):
        expected = {t.text: (t.score, float(rank)) for rank, t in enumerate(translations)}
        finished = {t.text: t.finished for t in translations}
        assert not weight or [entry.total for entry in sentence] == sorted((e.total for e in sentence), reverse=True)
        assert weight or [entry.text for entry in sentence] == [t.text for t in translations], "the order it was given in"
        for entry in sentence:
            score, total = expected[entry.text]
            assert entry.features.startswith("LM0= 1 RNNsearch0= ")
            rescored = float(entry.features.split()[-1])
            assert entry.total == pytest.approx(total + weight * rescored, abs=1e-2)
            if finished[entry.text]:
                assert rescored == pytest.approx(score, abs=1e-3)
            else:
                assert rescored < score, "the end symbol that the search did not come to"


def test_a_model_of_the_other_direction(trained: Callable[..., Translator]) -> None:
    translator = trained("gated", "mlp")
    entries = [Entry(i, text, "", 0.0) for i, text in enumerate(SOURCES[1:4])]  # the model's own source language
    targets = [translation.text for translation in translator.translate(SOURCES[1:4])]
    found = rescore(translator, targets, entries, weight=1.0, reverse=True, tokenized=True)
    expected = translator.score(SOURCES[1:4], targets, tokenized=True)
    assert [sentence[0].total for sentence in found] == [pair.score for pair in expected]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0 ||| a ||| -1", "x ||| a ||| -1"], "list:2: 'x"),
        (["0 ||| a ||| f= 1 ||| high"], "list:1: .*is not"),
        (["no list"], "list:1"),
        (["1 ||| a ||| -1", "0 ||| b ||| -1"], "list:2: source line 0 after 1"),
    ],
)
def test_what_is_no_list(tmp_path: Path, lines: list[str], message: str) -> None:
    path = tmp_path / "list"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(RnnsearchError, match=message):
        list(read_n_best(path))


def test_a_list_of_another_text(trained: Callable[..., Translator]) -> None:
    with pytest.raises(RnnsearchError, match="has source line 45, but there are 45"):
        rescore(trained("gated", "mlp"), SOURCES, [Entry(45, "a", "", 0.0)])


def test_what_is_too_long_is_told_by_its_line_in_the_list(trained: Callable[..., Translator]) -> None:
    entries = [Entry(i, "le chien", "", 0.0) for i in range(44) for _ in range(2)]
    entries.append(Entry(44, "un " * (LONGEST + 1), "", 0.0))
    with pytest.raises(RnnsearchError, match="line 89: "):
        rescore(trained("gated", "mlp"), SOURCES, entries, tokenized=True)
