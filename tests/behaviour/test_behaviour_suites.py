"""The behaviour suites: what their lines are, which translations are right, and what is written of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.behaviour import Line, Suite, read_suite, suite, summary
from rnnsearch.evaluation.behaviour.rules import RULES
from rnnsearch.evaluation.behaviour.suite import to_dict
from rnnsearch.report.behaviour import write_behaviour_page

PAIRS = [("en", "fr"), ("fr", "en")]
COMMON = {
    *("protected spans", "placeholders", "emoji", "numbers", "times", "dates", "prices", "percent", "units", "names"),
    *("capitals", "punctuation", "quotes", "negation", "questions", "imperatives", "tu or vous", "loops", "single words"),
    *("two sentences", "marks of lists", "typing errors"),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_suites(pair: tuple[str, str]) -> None:
    lines = read_suite(*pair).lines
    assert {line.capability for line in lines} > COMMON
    assert len(lines) == len({line.text for line in lines}) > 350
    assert lines == read_suite(*pair).lines
    assert lines != read_suite(*pair, seed=2).lines
    assert {rule for line in lines for rule in line.rules} <= {*RULES}
    for line in lines:
        assert not suite._SLOT.search(line.text.replace("<x/>", "")), line
        assert line.keeps or line.has or line.lacks or line.rules or line.capability == "loops", line
        for kept in line.keeps:
            assert line.text.count(kept) == 1, line
    assert set(RULES) == {rule for pair in PAIRS for line in read_suite(*pair).lines for rule in line.rules}


def test_a_pair_without_a_suite() -> None:
    with pytest.raises(RnnsearchError, match="no behaviour suite from en to de; there are suites for en-fr, fr-en"):
        read_suite("en", "de")


@pytest.mark.parametrize(
    ("line", "good", "bad"),
    [
        (Line("", "Write to a@b.org.", keeps=("a@b.org",)), "Écris à a@b.org.", "Écris à a@ b.org."),
        (Line("", "Write to a@b.org.", keeps=("a@b.org",)), "Écris à a@b.org.", "a@b.org, a@b.org"),
        (Line("", "See you on Monday.", has=("lundi",)), "À lundi !", "À lundis !"),
        (Line("", "I have a dog.", lacks=("ne|pas",)), "Nous avons un chien.", "Je n'ai pas de chien."),
        (Line("", "It is 5:30 p.m.", rules=("numbers",)), "Il est 17 h 30.", "Il est 17 h."),
        (Line("", "STOP NOW", rules=("capitals",)), "ARRÊTEZ MAINTENANT", "ARRÊTEZ maintenant"),
        (Line("", "I said NO.", rules=("no capitals",)), "J'ai dit NON.", "J'AI DIT NON."),
        (Line("", "Not now", rules=("final mark",)), "Pas maintenant", "Pas maintenant."),
        (Line("", "“Why?”", rules=("final mark",)), "« Pourquoi ? »", "« Pourquoi »"),
        (Line("", "Why? He: no.", rules=("spaces",)), "Pourquoi\u00a0? Lui : non.", "Pourquoi? Lui : non."),
        (Line("", "Why? He: no.", rules=("spaces",)), "Pourquoi ?! Lui : non.", "Pourquoi ? Lui: non."),
        (Line("", '"Yes" is short.', rules=("quotes",)), "« Oui » est court.", "Oui est court."),
        (Line("", "“Yes” is short.", rules=("quotes",)), "« Oui » est court.", '"Oui" est court.'),
        (Line("", "You have your hat.", rules=("one address",)), "Tu as ton chapeau.", "Tu as votre chapeau."),
        (Line("", "It rains. Go!", rules=("sentences",)), "Il pleut. Va !", "Il pleut."),
        (Line("", "- Milk", rules=("begins",)), "- Lait", "Lait"),
        (Line("", "no, no"), "non, non", "non, non, non, non, non, non"),
        (Line("", "a"), "un", " "),
        (Line("", "a"), "un", "[UNK]"),
    ],
)
def test_rules(line: Line, good: str, bad: str) -> None:
    assert line.wrong(good, ("en", "fr")) == []
    assert len(line.wrong(bad, ("en", "fr"))) == 1


def test_counts_by_capability_and_the_page(tmp_path: Path) -> None:
    lines = [Line("one", "<b>", keeps=("<b>",)), Line("two", "c", has=("d",)), Line("one", "e")]
    tried = Suite(("en", "fr"), lines).tried(["<b>", "c", ""])
    assert [(one.name, one.passed, one.of) for one in summary(tried)] == [("one", 1, 2), ("two", 0, 1)]
    values = to_dict(tried)
    assert (values["passed"], values["of"], [one["line"] for one in values["failed"]]) == (1, 3, ["c", "e"])
    write_behaviour_page(tmp_path / "page.html", "Behaviour", "A <model>.", tried)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "lacks “d”" in page
    assert "is empty" in page
    assert "<model>" not in page
