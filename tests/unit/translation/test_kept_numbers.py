"""A translation with all numbers of its source goes first; what is missing is told wherever a translation is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import rnnsearch
from rnnsearch.config import SearchConfig, from_preset
from rnnsearch.report.page import SentencePage
from rnnsearch.search import Hypothesis
from rnnsearch.serve.protocol import aligned
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.confidence import confidence
from rnnsearch.translation.translation import joined_line

LINE = "There are thirty-six people."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return rnnsearch.load("en-fr")


def found_of(translator: Translator, line: str, texts: list[str], search: SearchConfig, n: int = 1) -> list[Translation]:
    """The translations where search has found these, the best first."""
    (request,) = translator.requests([line], n, [], search)
    encode = translator.system.vocabularies.target.encode
    request.queries[0].hypotheses = [
        Hypothesis(encode(translator.target_words(text)), -float(rank), True, None) for rank, text in enumerate(texts, 1)
    ]
    return translator.translations(request, search)


def test_a_translation_with_all_numbers_goes_first(translator: Translator) -> None:
    on = translator.search_settings({"keep_numbers": True})
    texts = ["Il y a des gens.", "Il y a 36 personnes.", "Il y a trente-six personnes."]
    assert [one.text for one in found_of(translator, LINE, texts, on, 3)] == [texts[1], texts[2], texts[0]]
    assert [list(one.missing) for one in found_of(translator, LINE, texts, on, 3)] == [[], [], ["thirty-six"]]
    by_risk = replace(on, minimum_bayes_risk=True)
    assert found_of(translator, LINE, [texts[0], texts[0], texts[0], texts[1]], by_risk)[0].text == texts[1]


def test_nothing_is_moved_where_it_is_not_asked_for(translator: Translator) -> None:
    texts = ["Il y a des gens.", "Il y a 36 personnes."]
    for settings in ({"keep_numbers": False}, {"temperature": 1.0}):
        search = translator.search_settings({"keep_numbers": True, **settings})
        assert [one.text for one in found_of(translator, LINE, texts, search, 2)] == texts
    assert not from_preset("paper").search.keep_numbers
    assert not from_preset("paper").search.forbid_repetition
    assert not found_of(translator, LINE, texts, translator.search_settings({"keep_numbers": False}))[0].missing


def test_what_is_missing_is_told(translator: Translator, tmp_path: Path) -> None:
    search = translator.search_settings({"keep_numbers": True})
    (lacking,) = found_of(translator, LINE, ["Il y a des gens."], search)
    assert lacking.to_dict()["missing"] == ["thirty-six"]
    sentence = json.loads(aligned(LINE, [lacking]).model_dump_json())
    assert sentence["missing"] == ["thirty-six"]
    assert sentence["confidence"] == pytest.approx(confidence(lacking.score, len(lacking.tokens)) / 2, abs=1e-4)
    page = SentencePage()
    page.add(lacking)
    page.write(tmp_path / "page.html", "Translations", translator)
    assert "Missing numbers" in (tmp_path / "page.html").read_text()
    (complete,) = found_of(translator, LINE, ["Il y a 36 personnes."], search)
    assert "missing" not in complete.to_dict()
    assert aligned(LINE, [complete]).missing is None


def test_a_line_tells_what_its_sentences_lack_also_from_another_process(translator: Translator) -> None:
    search = translator.search_settings({"keep_numbers": True})
    one, other = (found_of(translator, line, ["Rien."], search)[0] for line in (LINE, "I am ninety-seven years old."))
    both = joined_line("Rien. Rien.", [one, other])
    assert both.missing == ["thirty-six", "ninety-seven"]
    assert Translation.from_plain(both.to_plain(), translator.linker).missing == ["thirty-six", "ninety-seven"]
