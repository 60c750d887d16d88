"""The page of `rnnsearch explain` in a browser: what a reader sees and does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rnnsearch
from rnnsearch.report.steps import write_steps
from rnnsearch.translation.explanation import Explanation, explain

pytestmark = pytest.mark.slow

Open = Callable[..., Any]
LINE = "the big dog sees a red cat ."


@pytest.fixture
def explained(model_folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], tuple[str, Explanation]]:
    """`explained("mlp")`: the address of a page, and what it shows."""

    def write(alignment: str) -> tuple[str, Explanation]:
        explanation = explain(rnnsearch.load(model_folder(alignment)), LINE)
        write_steps(tmp_path / "steps.html", explanation)
        return (tmp_path / "steps.html").as_uri(), explanation

    return write


def place(page: Any) -> str:
    return str(page.locator("#place").text_content()).split(":")[0]


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_forward_and_back(explained: Callable[..., Any], visit: Open, alignment: str) -> None:
    address, explanation = explained(alignment)
    page, count = visit(address), len(explanation.steps)
    assert place(page) == f"Step 1 of {count}"
    assert page.get_by_role("button", name="Back").is_disabled()
    page.get_by_role("button", name="Forward").click()
    page.keyboard.press("ArrowRight")
    assert place(page) == f"Step 3 of {count}"
    page.keyboard.press("ArrowLeft")
    assert place(page) == f"Step 2 of {count}"
    page.locator(".translation .word").last.press("Enter")
    assert place(page) == f"Step {count} of {count}"
    assert page.get_by_role("button", name="Forward").is_disabled()
    assert page.url.endswith(f"#{count}")
    state = page.locator("[data-vector=next]")
    state.get_by_text("Numbers", exact=True).click()
    shown = [float(number) for number in state.locator("pre:not(:empty)").text_content().split()]
    assert shown == pytest.approx(list(explanation.steps[-1].new_state), abs=6e-5)


def test_what_if_the_attention_were_another(explained: Callable[..., Any], visit: Open) -> None:
    address, explanation = explained("mlp")
    page = visit(address)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert place(page).startswith("Step 3")
    step = explanation.steps[2]
    for name, change, at in (("Switch off “dog”", "off", 2), ("Attend to “the” alone", "only", 0)):
        expected = next(one for one in step.what_ifs if (one.change, one.at) == (change, at))
        page.get_by_role("button", name=name).click()
        assert expected.text in page.locator("#outcome [role=status]").text_content()
        assert page.locator("#best th").first.text_content() == explanation.vocabularies.target.words[expected.best[0][0]]
        assert page.evaluate("document.activeElement.ariaPressed") == "true"
    shares = page.locator("#words .share").evaluate_all(
        "all => all.map(cell => Number(cell.style.getPropertyValue('--weight')))"
    )
    assert shares == [1, *[0] * (len(explanation.source) - 1)]
    page.keyboard.press("Escape")
    assert page.locator("#outcome").is_hidden()
    page.get_by_role("button", name="Write “").first.click()
    other = next(one for one in step.what_ifs if one.change == "word")
    assert other.text in page.locator("#outcome [role=status]").text_content()
    page.get_by_role("button", name="Undo").click()
    assert page.locator("#outcome").is_hidden()


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_a_phone_shows_it_in_its_width(explained: Callable[..., Any], visit: Open, alignment: str) -> None:
    address, _ = explained(alignment)
    page = visit(address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="off" if alignment == "mlp" else "leave out").first.tap()
    assert page.locator("#outcome").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_control_and_picture_has_a_name(explained: Callable[..., Any], visit: Open) -> None:
    address, _ = explained("mlp")
    page = visit(address)
    nameless = (
        """all => all.filter(one => !(one.ariaLabel || one.textContent || one.labels?.length)).map(one => one.outerHTML)"""
    )
    assert page.locator("button, select, canvas, [role=region], [role=button]").evaluate_all(nameless) == []
    assert page.locator("canvas").evaluate_all("all => all.filter(one => !one.ariaLabel).length") == 0
    assert page.locator("[role=status]").count() == 2
