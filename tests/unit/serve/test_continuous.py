"""One search for many callers."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Search
from rnnsearch.serve.continuous import ContinuousTranslator, SearchFailed
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.alignments import Alignment
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from toy import toy_pairs

LONG = 128

Trained = Callable[..., Translator]
LINES = [source for source, _ in toy_pairs(40, seed=3)]


@pytest.fixture(scope="module")
def translator(trained: Trained) -> Translator:
    return Translator([trained("gated", "mlp").system])


@pytest.fixture
def engine(translator: Translator) -> ContinuousTranslator:
    return ContinuousTranslator(translator, batch_sentences=3)


def finish(engine: ContinuousTranslator) -> dict[tuple[int, int], list[Translation] | SearchFailed]:
    """What is told of every caller's lines until nothing is left to do."""
    found = {}
    while engine.busy:
        for one in engine.step():
            assert (one.caller, one.place) not in found
            found[one.caller, one.place] = one.translations
    return found


def as_values(translations: list[Translation] | SearchFailed) -> list[dict[str, object]]:
    assert not isinstance(translations, SearchFailed)
    return [one.to_dict() for one in translations]


@given(
    asked=st.lists(
        st.tuples(
            st.integers(0, 5),  # the number of lines
            st.integers(1, 3),  # n
            st.none() | st.integers(1, 5),  # the beam
            st.integers(0, 12),  # the step at which it comes
            st.none() | st.integers(0, 25),  # the step at which it is cancelled, if it is
        ),
        max_size=5,
    ),
    seed=st.integers(0, 3),
)
def test_callers_get_what_they_would_get_alone(
    translator: Translator, asked: list[tuple[int, int, int | None, int, int | None]], seed: int
) -> None:
    engine = ContinuousTranslator(translator, batch_sentences=3)
    long = " ".join(LINES)[: 20 * LONG]
    lines = [random.Random(seed + number).choices([*LINES, "", long], k=one[0]) for number, one in enumerate(asked)]
    found = {}
    for step in range(26):
        for number, (_, n, beam, comes, leaves) in enumerate(asked):
            if comes == step:
                engine.add(number, lines[number], n, (), beam)
            if leaves == step:
                engine.cancel(number)
        for one in engine.step() if engine.busy else ():
            leaves = asked[one.caller][4]
            assert leaves is None or step < leaves or leaves < asked[one.caller][3]
            found[one.caller, one.place] = one.translations
    found |= finish(engine)
    for number, (_, n, beam, comes, leaves) in enumerate(asked):
        if leaves is not None and leaves >= comes:
            continue
        alone = translator.n_best(lines[number], n, **({} if beam is None else {"beam": beam}))
        assert [as_values(found[number, place]) for place in range(len(lines[number]))] == [
            [one.to_dict() for one in translations] for translations in alone
        ]
    kept = engine._callers, engine._turns, engine._lines, engine._waiting, engine._found
    assert not any(kept)


def test_words_are_linked_only_for_callers_that_need_links(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = []

    def linker(source: list[str], target: list[str]) -> Alignment:
        linked.append(target)
        return np.ones((len(target), len(source)), np.float32)

    monkeypatch.setattr(Translator, "linker", property(lambda _: linker))
    engine = ContinuousTranslator(translator, batch_sentences=3)
    engine.warm_up()
    engine.add(1, LINES[:4], 1, links=False)
    engine.add(2, LINES[:4], 2)
    found = finish(engine)
    for place in range(4):
        (without,), (with_links, _) = (pickle.loads(pickle.dumps(found[caller, place])) for caller in (1, 2))
        assert without.text == with_links.text
        assert without.link_probabilities is None
        assert with_links.link_probabilities.all()
    assert len(linked) == 8  # the two best translations of each line of the second caller


def test_a_sentence_that_has_no_room_waits(translator: Translator) -> None:
    settings = {"batch_sentences": 4, "max_segment": 10 * LONG}
    engine = ContinuousTranslator(translator, **settings)
    long = " ".join(LINES)
    assert len(long.split()) > LONG
    lines = [*LINES[:3], long, *LINES[3:6]]
    engine.add(1, lines, 1)
    found = finish(engine)
    for place, expected in enumerate(translator.n_best(lines, 1, **settings)):
        assert as_values(found[1, place]) == as_values(expected)


def test_a_document_does_not_hold_up_a_sentence(engine: ContinuousTranslator) -> None:
    engine.add(1, LINES * 5, 1)
    engine.add(2, LINES[:1], 1)
    told = list(finish(engine))
    assert told.index((2, 0)) < 10


def test_who_goes_away_frees_the_slots(engine: ContinuousTranslator, translator: Translator) -> None:
    engine.add(1, LINES * 20, 1)
    while not engine.step():
        pass
    engine.cancel(1)
    engine.cancel(1)
    engine.add(2, LINES[:2], 1)
    steps = 0
    while engine.busy:
        assert not any(one.caller == 1 for one in engine.step())
        steps += 1
    assert steps < 100


def test_a_failure_is_told_and_the_next_is_served(
    engine: ContinuousTranslator, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(search: Search) -> list[object]:
        raise MemoryError("no memory")

    engine.add(1, LINES, 1)
    with monkeypatch.context() as patched:
        patched.setattr(Search, "step", broken)
        told = engine.step()
        assert {one.caller for one in told} == {1}
        assert all(isinstance(one.translations, SearchFailed) for one in told)
    assert not engine.busy
    engine.add(2, LINES[:2], 1)
    found = finish(engine)
    for place, expected in enumerate(translator.n_best(LINES[:2], 1)):
        assert as_values(found[2, place]) == as_values(expected)


def test_what_cannot_be_searched_for_is_refused_at_once(engine: ContinuousTranslator) -> None:
    with pytest.raises(RnnsearchError, match="2 prefixes for 1 lines"):
        engine.add(1, LINES[:1], 1, ["a", "b"])
    assert not engine.busy


def test_two_directions_are_refused(trained: Trained) -> None:
    one = trained("gated", "mlp")
    with pytest.raises(RnnsearchError, match="cannot be served"):
        ContinuousTranslator(BidirectionalTranslator([one, one]))
