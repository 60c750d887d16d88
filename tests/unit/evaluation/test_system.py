"""What `evaluate` asks the search for."""

from __future__ import annotations

import pytest

from rnnsearch.config import SearchConfig
from rnnsearch.evaluation.system import evaluate
from rnnsearch.translation import Translation, Translator
from toy import toy_config, toy_system


@pytest.mark.parametrize("replace_unk", [True, False])
def test_no_unk_is_taken_with_unk_forbidden(replace_unk: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator([toy_system(toy_config(search={"replace_unk": replace_unk}))])
    translate, asked = Translator.translate, list[SearchConfig]()

    def watched(self: Translator, lines: list[str], **settings: object) -> list[Translation]:
        asked.append(self.search_settings(settings))
        return translate(self, lines, **settings)

    monkeypatch.setattr(Translator, "translate", watched)
    found = evaluate(translator, ["the dog sees a cat .", "Name1 sees a cat ."], ["le chien voit un chat .", "un chat ."])
    assert found.no_unk is not None
    assert [(search.forbid_unk, search.replace_unk) for search in asked] == [(False, replace_unk), (True, False)]
