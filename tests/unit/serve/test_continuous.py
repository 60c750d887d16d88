"""One search for many callers."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Search
from rnnsearch.serve.continuous import POSITIONS, Caller, ContinuousTranslator
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from toy import toy_pairs

Trained = Callable[..., Translator]
LINES = [source for source, _ in toy_pairs(40, seed=3)]


@pytest.fixture
def translator(trained: Trained) -> Translator:
    return Translator(trained("gated", "mlp").system)


@pytest.fixture
def engine(translator: Translator) -> Iterator[ContinuousTranslator]:
    engine = ContinuousTranslator(translator, batch_sentences=3)
    yield engine
    engine.close()


def ask(engine: ContinuousTranslator, lines: list[str], n: int = 1, **how: object) -> list[list[Translation]]:
    search = engine.translator.search_settings({**vars_of(engine.settings), **how})
    futures = engine.submit(engine.translator.requests(lines, n, (), search))
    return [engine.translator.translations(future.result(60), search) for future in futures]


def vars_of(settings: object) -> dict[str, object]:
    return {key: value for key, value in vars(settings).items() if not key.startswith("_")}


def as_values(found: list[list[Translation]]) -> list[list[dict[str, object]]]:
    return [[one.to_dict() for one in translations] for translations in found]


def test_callers_get_what_they_would_get_alone(engine: ContinuousTranslator, translator: Translator) -> None:
    long = " ".join(LINES[:60])[: 20 * POSITIONS]
    asked: list[tuple[list[str], int, dict[str, object]]] = [
        (random.Random(seed).sample(LINES, 7) + ["", long][: seed % 3], 1 + seed % 3, {"beam": 1 + seed % 5})
        for seed in range(8)
    ]
    found: dict[int, list[list[Translation]]] = {}

    def caller(number: int) -> None:
        lines, n, how = asked[number]
        found[number] = ask(engine, lines, n, **how)

    threads = [threading.Thread(target=caller, args=[number]) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (lines, n, how) in enumerate(asked):
        assert as_values(found[number]) == as_values(translator.n_best(lines, n, **how))
    assert engine.waiting == engine.searching == 0


def test_a_sentence_that_has_no_room_gets_a_search_of_its_own(trained: Trained) -> None:
    translator = Translator(trained("gated", "mlp").system)
    engine = ContinuousTranslator(translator, batch_sentences=4, max_segment=10 * POSITIONS)
    long = " ".join(LINES * 4)
    assert len(long.split()) > POSITIONS
    lines = [*LINES[:3], long, *LINES[3:6]]
    assert as_values(ask(engine, lines)) == as_values(
        translator.n_best(lines, 1, batch_sentences=4, max_segment=10 * POSITIONS)
    )
    engine.close()


def test_a_document_does_not_hold_up_a_sentence(engine: ContinuousTranslator, translator: Translator) -> None:
    search = engine.settings
    document = engine.submit(translator.requests(LINES * 5, 1, (), search))
    engine.submit(translator.requests(LINES[:1], 1, (), search))[0].result(60)
    assert not document[-1].done()
    document[-1].result(60)


def test_who_goes_away_frees_the_slots(engine: ContinuousTranslator, translator: Translator) -> None:
    caller = Caller()
    futures = engine.submit(translator.requests(LINES * 20, 1, (), engine.settings), caller)
    futures[0].result(60)
    engine.cancel(caller)
    with pytest.raises(CancelledError):
        futures[-1].result(60)
    assert as_values(ask(engine, LINES[:2])) == as_values(translator.n_best(LINES[:2], 1))
    deadline = time.monotonic() + 60
    while engine.searching and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (engine.waiting, engine.searching) == (0, 0)


def test_a_failure_is_told_and_the_next_is_served(
    engine: ContinuousTranslator, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(search: Search) -> list[object]:
        raise MemoryError("no memory")

    expected = translator.n_best(LINES[:2], 1)
    monkeypatch.setattr(Search, "step", broken)
    with pytest.raises(MemoryError, match="no memory"):
        ask(engine, LINES[:1])
    monkeypatch.undo()
    assert as_values(ask(engine, LINES[:2])) == as_values(expected)


def test_closing_finishes_what_was_accepted(translator: Translator) -> None:
    engine = ContinuousTranslator(translator)
    futures = engine.submit(translator.requests(LINES, 1, (), engine.settings))
    engine.close()
    assert all(future.done() for future in futures)
    with pytest.raises(RnnsearchError, match="shutting down"):
        engine.submit([])


def test_two_directions_are_refused(trained: Trained) -> None:
    one = trained("gated", "mlp")
    with pytest.raises(RnnsearchError, match="cannot be served"):
        ContinuousTranslator(BidirectionalTranslator([one, one]))
