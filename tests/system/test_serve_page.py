"""The page of `rnnsearch serve`, and the pages of reports, in a browser: what a reader sees and does."""

from __future__ import annotations

import json
import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnsearch.report.page import Sample, write_page
from served import Served
from toy import toy_pairs

pytestmark = pytest.mark.slow

# Short ones: with the small model of the tests, whether the translation of a long one ends depends on the processor.
SENTENCES = [source for source, _ in toy_pairs(20, seed=11) if len(source.split()) < 9]
ONE, TWO = SENTENCES[:2]
HOSTILE = "<img src=x onerror=alert(1)> & \"'</textarea><script>alert(2)</script>"


@pytest.fixture(scope="module")
def served(model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Served]:
    limits = "--max-characters", "5000", "--max-sentences", "200"
    server = Served(model_folder("mlp"), tmp_path_factory.mktemp("page") / "log", *limits)
    yield server
    server.process.kill()
    server.process.wait()
    assert "Traceback" not in server.log.read_text()


Open = Callable[..., Any]


def translated(page: Any, text: str) -> Any:
    """Types a text, and waits for its translation."""
    page.get_by_label("Text to translate").fill(text)
    return settled(page)


def settled(page: Any) -> Any:
    page.wait_for_selector("#translation:not(.stale):not([aria-busy=true]) .word")
    return page


def until(page: Any, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, page.locator("body").text_content()
        page.wait_for_timeout(20)


def words(page: Any) -> Any:
    return page.locator("#translation .word:not(.end)")


def shown(page: Any) -> str:
    return str(page.locator("#translation").text_content())


def weights(found: Any) -> list[float]:
    values: list[float] = found.evaluate_all("all => all.map(word => Number(word.style.getPropertyValue('--weight') || 0))")
    return values


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.textContent"))


def ask(served: Served, page: Any, path: str, **asked: object) -> Any:
    answer = page.request.post(served.url + path, data={"source": "en", "target": "fr", **asked})
    assert answer.ok, answer.text()
    return answer.json()


def test_what_is_typed_is_translated_once_it_rests(served: Served, visit: Open) -> None:
    page = visit(served.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("translate") else None)
    page.get_by_label("Text to translate").press_sequentially(ONE, delay=5)
    settled(page)
    assert shown(page) == served.translate(ONE)
    assert len(asked) < len(ONE) / 5
    page.get_by_label("Text to translate").fill("")
    until(page, lambda: shown(page) == "")


def test_an_answer_to_an_older_text_is_given_up(served: Served, visit: Open) -> None:
    page = visit(served.url)
    held: list[Any] = []
    page.route("**/translate", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/translate"):
        page.get_by_label("Text to translate").fill(ONE)
    with page.expect_event("requestfailed") as failed:
        translated(page, TWO)
    assert failed.value.post_data_json["q"] == ONE
    assert shown(page) == served.translate(TWO)


def test_words_of_either_side_light_their_counterparts_by_weight(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), f"{TWO}\n{ONE}")
    sentence = ask(served, page, "translate", q=ONE, alignment=True, split_sentences=False)["sentences"][0]
    rows, first = np.array(sentence["weights"]), len(TWO.split())
    source, target = page.locator("#mirror .word"), page.locator(".sentence >> nth=1 >> .word")
    for i in range(0, len(sentence["tokens"]), 4):
        target.nth(i).hover()
        assert weights(source)[first:] == pytest.approx(rows[i, :-1], abs=0.001)
        assert not any(weights(source)[:first])
    assert f"“{sentence['tokens'][i]}” attends to" in page.locator("#reading").text_content()
    columns = np.vstack([rows, sentence["end_weights"]])
    for j in range(0, len(sentence["source_tokens"]) - 1, 4):
        box = source.nth(first + j).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert weights(target) == pytest.approx(columns[:, j], abs=0.001)
    page.mouse.move(1, 1)
    assert not any(weights(target))
    # The word in which the caret stands is lit, too.
    page.get_by_label("Text to translate").evaluate(f"field => field.setSelectionRange({len(TWO) + 2}, {len(TWO) + 2})")
    page.get_by_label("Text to translate").focus()
    until(page, lambda: "is attended to by" in page.locator("#reading").text_content())
    assert weights(target) == pytest.approx(columns[:, 0], abs=0.001)


def test_another_word_is_chosen_and_the_rest_is_translated_anew(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), f"{TWO}\n{ONE}")
    before = shown(page)
    kept, sentence = before.split("\n")
    place = 2
    prefix = " ".join(sentence.split()[:place]) + " "
    possible = ask(served, page, "next-words", q=ONE, prefix=prefix)["words"]
    page.locator(".sentence >> nth=1 >> .word").nth(place).click()
    options = page.locator("#menu").get_by_role("option")
    options.first.wait_for()
    assert options.count() == len(possible) == 8
    assert options.first.locator("bdi").text_content() == possible[0]["word"]
    assert page.locator("[role=option][aria-selected=true] bdi").text_content() == sentence.split()[place]
    other = next(one["word"] for one in possible if one.get("word") not in (None, sentence.split()[place]))
    options.filter(has_text=re.compile(rf"^{re.escape(other)}\d")).click()
    until(page, lambda: shown(page) != before)
    assert shown(page) == kept + "\n" + str(served.translate(ONE, prefix=prefix + other))
    assert focused(page) == other
    page.get_by_role("button", name="Undo").click()
    assert shown(page) == before
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_everything_by_keyboard(served: Served, visit: Open) -> None:
    page = visit(served.url)
    page.get_by_label("Text to translate").focus()
    page.keyboard.type(ONE)
    before = shown(settled(page))
    page.keyboard.press("Tab")
    assert focused(page) == before.split()[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == before.split()[1]
    assert any(weights(page.locator("#mirror .word")))
    page.keyboard.press("Enter")
    page.locator("#menu").get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert page.locator("#menu").is_hidden()
    assert focused(page) == before.split()[1]
    page.keyboard.press("Enter")
    page.locator("#menu").get_by_role("option").first.wait_for()
    page.keyboard.type("maison")
    page.keyboard.press("Enter")
    until(page, lambda: words(page).nth(1).text_content() == "maison")
    assert shown(page) == served.translate(ONE, prefix=before.split()[0] + " maison")
    assert focused(page) == "maison"
    page.keyboard.press("Control+z")
    assert shown(page) == before
    page.get_by_label("Text to translate").focus()
    page.keyboard.type(" .")
    page.keyboard.press("Control+z")  # is the field's own there
    assert page.get_by_label("Text to translate").input_value().startswith(ONE[:-1])


def test_a_translation_can_end_and_go_on(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), ONE)
    before = shown(page)
    page.locator("#translation .end").click()
    page.get_by_label("Another word").fill("et")
    page.get_by_label("Another word").press("Enter")
    until(page, lambda: len(shown(page)) > len(before))
    assert shown(page).startswith(f"{before} et")
    page.route("**/next-words", lambda route: route.fulfill(json={"words": [{"probability": 0.5}]}))
    words(page).nth(2).click()
    page.locator("#menu").get_by_role("option", name="end of the sentence").click()
    until(page, lambda: words(page).count() == 2)
    assert shown(page) == " ".join(before.split()[:2])
    assert sum(weights(page.locator("#mirror .word"))) > 0  # it has an alignment again


def test_other_translations_mark_what_differs_and_can_be_used(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), ONE)
    before = shown(page)
    page.get_by_text("Other translations").click()
    first = page.locator("#others li").first
    first.wait_for()
    (best,) = ask(served, page, "translate", q=ONE, n_best=6, alignment=True, split_sentences=False)["sentences"]
    texts = [one["text"] for one in [best, *best["n_best"]] if one["text"] != before]
    assert page.locator("#others li > :first-child").all_text_contents() == texts[:5]
    marked = first.locator("mark").all_text_contents()
    assert marked or len(texts[0]) < len(shown(page))
    assert set(marked) <= set(texts[0].split())
    first.get_by_role("button").click()
    assert shown(page) == texts[0]
    page.get_by_role("button", name="Undo").click()
    assert shown(page) == before


def test_the_alignment_is_a_table_and_a_picture(served: Served, visit: Open, tmp_path: Path) -> None:
    page = translated(visit(served.url), ONE)
    sentence = ask(served, page, "translate", q=ONE, alignment=True, split_sentences=False)["sentences"][0]
    page.get_by_text("Alignment", exact=True).click()
    table = page.get_by_role("table")
    assert "for each target word (row)" in table.locator("caption").text_content()
    rows = table.locator("tbody tr")
    assert rows.locator("th").all_text_contents() == [*sentence["tokens"], "(end)"]
    assert table.locator("thead th").all_text_contents() == [*ONE.split(), "(end)"]
    cells = rows.first.locator("td").all_text_contents()
    assert [float(cell or 0) for cell in cells] == pytest.approx([100 * weight for weight in sentence["weights"][0]], abs=1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").click()
    download.value.save_as(tmp_path / "picture.svg")
    picture = ElementTree.parse(tmp_path / "picture.svg").getroot()
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [*ONE.split(), "(end)", *sentence["tokens"], "(end)"]
    cells = (len(sentence["tokens"]) + 1) * (len(ONE.split()) + 1)
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) == 1 + cells


def test_a_confidence_explains_itself(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), f"{ONE}\n{TWO}")
    sentences = ask(served, page, "translate", q=f"{ONE}\n{TWO}", alignment=True, split_sentences=False)["sentences"]
    for i, sentence in enumerate(sentences):
        page.locator(f".sentence >> nth={i} >> .word").first.focus()
        told = page.locator("#confidence").text_content()
        assert f"{sentence['confidence']:.0%}" in told
        assert "not whether it is right" in told
        assert f"Sentence {i + 1} of 2" in page.locator(".which").text_content()


def test_copies(served: Served, visit: Open) -> None:
    page = translated(visit(served.url, permissions=["clipboard-read", "clipboard-write"]), f"{ONE}\n\n{TWO}\n")
    page.get_by_role("button", name="Copy text").click()
    expected = served.translate(f"{ONE}\n\n{TWO}\n")
    assert page.evaluate("navigator.clipboard.readText()") == expected
    page.get_by_role("button", name="Copy JSON").click()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["translatedText"] == expected
    assert [sentence["source"] for sentence in copied["sentences"]] == [ONE, TWO]


def test_an_example_is_one_click(served: Served, visit: Open) -> None:
    page = visit(served.url)
    example = page.locator("#examples button").first
    text = example.text_content()
    example.click()
    settled(page)
    assert page.get_by_label("Text to translate").input_value() == text
    assert shown(page) == served.translate(text)
    assert page.locator("#examples").is_hidden()


@pytest.mark.parametrize("text", [f"{ONE} {TWO}\n{ONE}", "x" * 300, " ".join(["dog"] * 40)])
def test_a_phone_is_wide_enough(served: Served, visit: Open, text: str) -> None:
    page = translated(visit(served.url, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True), text)
    page.get_by_text("Alignment", exact=True).tap()
    page.locator("#heat table").wait_for(state="attached")
    words(page).last.tap()
    page.locator("#menu").get_by_role("option").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    box = page.locator("#menu").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    # The words of the mirror lie exactly behind those of the field, which has their height.
    heights = page.evaluate("['mirror', 'text'].map(id => document.getElementById(id).scrollHeight)")
    assert heights[0] == heights[1]


def test_colours_follow_the_reader(served: Served, visit: Open) -> None:
    grounds, inks = [], []
    for scheme in ("light", "dark"):
        page = visit(served.url, color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        inks.append(page.evaluate("getComputedStyle(document.body).color"))
    brightness = [sum(map(int, re.findall(r"\d+", colour))) for colour in (*grounds, *inks)]
    assert brightness[0] > 700 > 150 > brightness[1]
    assert brightness[2] < 150 < 600 < brightness[3]


def test_hostile_text_stays_text(served: Served, visit: Open) -> None:
    page = translated(visit(served.url), f"{HOSTILE}\n{ONE}")
    served_html = f"<b>{HOSTILE}</b>"
    page.route("**/next-words", lambda route: route.fulfill(json={"words": [{"word": served_html, "probability": 0.9}]}))
    words(page).nth(1).click()
    page.locator("#menu").get_by_role("option").first.wait_for()
    assert page.locator("#menu").get_by_role("option").first.locator("bdi").text_content() == served_html
    page.locator("#menu").get_by_role("option").first.click()
    settled(page)
    until(page, lambda: "<b><img" in shown(page))
    page.get_by_text("Alignment", exact=True).click()
    page.get_by_text("Other translations").click()
    page.locator("#others .content > *:not(.quiet)").first.wait_for()
    assert page.locator("main img, main b, main script").count() == 0
    page.route("**/translate", lambda route: route.fulfill(status=400, json={"error": HOSTILE}))
    page.get_by_label("Text to translate").fill("dog")
    until(page, lambda: "<img" in page.locator("#notice").text_content())
    assert page.locator("main img").count() == 0


def test_letters_beyond_the_basic_plane_are_one_character(served: Served, visit: Open) -> None:
    text = "the 𝒹𝑜𝑔 😀 sees a cat ."
    page = translated(visit(served.url), text)
    assert page.locator("#mirror .word").all_text_contents() == text.split()
    assert words(page).all_text_contents() == shown(page).split()


def test_languages_are_chosen(served: Served, visit: Open) -> None:
    page = visit(served.url)
    known = {"en": "English", "de": "German", "fr": "French"}
    targets = {"en": ["fr", "de"], "de": ["fr"], "fr": []}
    languages = [{"code": code, "name": name, "targets": targets[code]} for code, name in known.items()]
    page.route("**/languages", lambda route: route.fulfill(json=languages))
    page.reload()
    translated(page, ONE)
    source, target = page.get_by_label("Translate from"), page.get_by_label("Translate into")
    assert (source.input_value(), target.input_value()) == ("en", "fr")
    with page.expect_request("**/translate") as asked:
        target.select_option("German")
    assert (asked.value.post_data_json["source"], asked.value.post_data_json["target"]) == ("en", "de")
    page.get_by_text("En to de is not translated here").wait_for()
    with page.expect_request("**/translate") as asked:
        source.select_option("German")
    assert (asked.value.post_data_json["source"], asked.value.post_data_json["target"]) == ("de", "fr")
    assert target.is_disabled()  # there is only one


def test_the_languages_change_places(served: Served, visit: Open) -> None:
    page = visit(served.url)
    turn = page.get_by_role("button", name="Translate the other way")
    translated(page, ONE)
    assert turn.is_hidden()  # the server translates one way alone
    languages = [{"code": "en", "name": "English", "targets": ["fr"]}, {"code": "fr", "name": "French", "targets": ["en"]}]
    page.route("**/languages", lambda route: route.fulfill(json=languages))
    page.reload()
    translated(page, ONE)
    translation = shown(page)
    with page.expect_request("**/translate") as asked:
        turn.click()
    body = asked.value.post_data_json
    assert (body["source"], body["target"], body["q"]) == ("fr", "en", translation)
    page.get_by_text("Fr to en is not translated here").wait_for()
    page.get_by_label("Text to translate").fill(TWO)  # which is not translated yet, so it stays
    with page.expect_request("**/translate") as asked:
        turn.click()
    body = asked.value.post_data_json
    assert (body["source"], body["target"], body["q"]) == ("en", "fr", TWO)


def test_what_the_server_refuses_is_told_in_its_sentence(served: Served, visit: Open) -> None:
    page = visit(served.url)
    page.get_by_label("Text to translate").fill("dog " * 2000)
    page.get_by_text("The text has 8,000 characters, and the limit is 5,000.").wait_for()
    translated(page, ONE)
    assert page.locator("#notice").text_content() == ""
    page.get_by_label("Text to translate").fill("dog\n" * 300)
    page.get_by_text("300 sentences, and the limit is 200.").wait_for()


def test_a_busy_server_is_asked_again_when_it_says(served: Served, visit: Open) -> None:
    page = visit(served.url)
    answers = [{"status": 503, "headers": {"Retry-After": "1"}, "json": {"error": "too many sentences"}}]
    page.route("**/translate", lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
    translated(page, ONE)
    assert shown(page) == served.translate(ONE)
    assert page.locator("#notice").text_content() == ""


def test_without_javascript_it_says_so(served: Served, visit: Open) -> None:
    page = visit(served.url, java_script_enabled=False)
    assert page.locator("noscript p").is_visible()
    assert page.locator("main").is_hidden()


def test_keys_and_models_without_alignment(model_folder: Callable[[str], Path], tmp_path: Path, visit: Open) -> None:
    (tmp_path / "keys").write_text("open sesame\n")
    server = Served(model_folder("none"), tmp_path / "log", "--keys", str(tmp_path / "keys"))
    try:
        page = visit(server.url)
        page.get_by_label("Text to translate").fill(ONE)
        page.get_by_text("asks for an API key").wait_for()
        page.get_by_label("API key").fill("wrong")
        page.get_by_text("The API key is missing or not one of this server's.").wait_for()
        page.get_by_label("API key").fill("open sesame")
        settled(page)
        assert page.evaluate("localStorage.length + document.cookie.length") == 0
        page.get_by_text("Alignment", exact=True).click()
        page.get_by_text("it has no alignment").wait_for()
        words(page).first.click()
        page.locator("#menu").get_by_role("option").first.wait_for()
    finally:
        server.process.kill()
        server.process.wait()


def test_a_page_of_a_report(visit: Open, tmp_path: Path) -> None:
    sample = Sample(
        ["the", "red", "cat", "</s>"],
        ["le", "chat", "rouge"],
        np.array([[0.9, 0.1, 0, 0], [0, 0.25, 0.75, 0], [0, 0.6, 0.3, 0.1]]),
        "the red cat",
        "le chat rouge",
    )
    write_page(tmp_path / "page.html", title="A title", introduction="", samples=[sample, sample])
    page = visit((tmp_path / "page.html").as_uri(), reduced_motion="reduce")
    second = page.locator(".sample").nth(1)
    source, target = second.locator(".source .word"), second.locator(".translation .word")
    target.nth(1).hover()
    assert weights(source) == [0, 0.25, 0.75, 0]
    source.nth(1).hover()
    assert weights(target) == [0.1, 0.25, 0.6]
    assert second.get_by_role("status").text_content() == "“red” is attended to by “rouge” 60%, “chat” 25%, “le” 10%"
    source.first.focus()
    for key, name in (("Right", "red"), ("Down", "rouge"), ("Left", "chat"), ("Up", "cat"), ("Left", "red")):
        page.keyboard.press(f"Arrow{key}")
        assert focused(page) == name
    page.locator(".sample").first.locator(".translation .word").first.hover()
    assert not any(weights(target))
    second.get_by_text("The whole alignment").click()
    table = second.get_by_role("table")
    table.wait_for()
    assert table.locator("thead th").all_text_contents() == ["the", "red", "cat", "(end)"]
    assert table.locator("tbody tr >> nth=1 >> td").all_text_contents() == ["", "25", "75", ""]
    second.get_by_role("button", name="Read along").click()
    until(page, lambda: "rouge" in second.get_by_role("status").text_content())
