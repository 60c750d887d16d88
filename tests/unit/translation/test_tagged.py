"""XML, and plain text with the tags of translation tools: every tag is in the translation, around the same words."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Tagged, has_tags
from rnnsearch.translation.translation import Segment


def backwards(sentence: str) -> Translation:
    """A translation into the same words in capital letters, in reverse order, each read from its own."""
    words = sentence.split()
    order = range(len(words) - 1, -1, -1)
    alignment = np.eye(len(words) + 1, dtype=np.float32)[np.array(order, np.int64)]
    target = [words[place].upper() for place in order]
    return Translation(" ".join(target), 0.0, True, [Segment(0, words, 0, target, alignment)])


def translated(text: str, xml: bool = True, ignored: Sequence[str] = (), splitting: Sequence[str] = ()) -> str:
    tagged = Tagged(text, "en", xml=xml, ignored=ignored, splitting=splitting)
    return tagged.joined([backwards(sentence) for sentence in tagged.sentences])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the <g id="1">red</g> house', 'HOUSE <g id="1">RED</g> THE'),
        ("<p>a <b0>b <x1/>c</b0></p>", "<p><b0>C B <x1/></b0>A</p>"),
        ('press <x id="0"></x> now', 'NOW PRESS <x id="0"></x>'),
        ("a &lt; b &amp; <ü>c</ü>", "<ü>C</ü> &amp; B &lt; A"),
        ("a <![CDATA[ <i> ]]> b <!-- <b> --> c", "C B <!-- <b> --> A <![CDATA[ <i> ]]>"),
        ("<doc>\n <t>a b</t>\n<u>c</u></doc>", "<doc>\n <t>B A</t>\n<u>C</u></doc>"),
        ("<doc><t>a b</t> <u>c</u></doc>", "<doc><u>C</u> <t>B A</t></doc>"),
        ("", ""),
        (" <a/> ", " <a/> "),
    ],
)
def test_xml(text: str, expected: str) -> None:
    assert translated(text) == expected


def test_elements_that_stay_and_elements_that_split() -> None:
    assert translated("a <n>b <i>c</i></n> d", ignored=["n"]) == "D <n>b <i>c</i></n> A"
    assert translated("<n>a b</n>", ignored=["n"]) == "<n>a b</n>"
    assert translated("<t>a b</t><u>c d</u>", splitting=["t", "u"]) == "<t>B A</t><u>D C</u>"


def test_plain_text_with_tags() -> None:
    assert translated("a <tg1>b &amp; c</tg1> < 3 <tg2/> d", xml=False) == "D 3 <tg2/> < <tg1>C &AMP; B</tg1> A"
    assert translated("x <a0>y", xml=False) == "Y X <a0>"
    assert [has_tags(text) for text in ("a < b > c", "a<b", "<3 x>", "a <b>", "<x1/>", "</x>")] == [False] * 3 + [True] * 3


names = st.sampled_from(["g", "x", "bpt", "p", "b", "td", "ns:a", "é"])
words = st.text(st.sampled_from("ab é.<>&'\"\u00a0"), max_size=12)
NAMESPACE = "xmlns:ns='x'"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A well-formed document."""
    from xml.sax.saxutils import escape

    def content(depth: int) -> str:
        parts = [escape(draw(words))]
        for _ in range(draw(st.integers(0, 3)) if depth < 4 else 0):
            name = draw(names)
            number = draw(st.integers(0, 9))
            inner = content(depth + 1)
            parts.append(f'<{name} id="{number}">{inner}</{name}>' if draw(st.booleans()) else f"<{name} id='{number}'/>")
            parts.append(escape(draw(words)))
        return "".join(parts)

    return f"<r {NAMESPACE}>{content(0)}</r>"


@given(documents())
def test_a_parser_finds_the_same_elements(document: str) -> None:
    before, after = (ElementTree.fromstring(text) for text in (document, translated(document)))

    def elements(root: ElementTree.Element) -> list[tuple[str, str | None]]:
        return sorted((element.tag, element.get("id", "")) for element in root.iter())

    def letters(root: ElementTree.Element) -> list[str]:
        return sorted("".join(root.itertext()).casefold().replace("\u2060", ""))

    assert elements(after) == elements(before)
    assert [letter for letter in letters(after) if not letter.isspace()] == [
        letter for letter in letters(before) if not letter.isspace()
    ]


@given(st.text(st.sampled_from("<>/!?-[]ab c=\"'&;#1\u00e9\n"), max_size=40), st.booleans())
def test_no_tag_is_lost_or_added_whatever_the_text(text: str, xml: bool) -> None:
    found = translated(text, xml=xml)
    tag = re.compile(r"""</?[^\W\d][\w.:-]*(?:[\s/](?:[^<>"']|"[^"<]*"|'[^'<]*')*)?>""")
    tags, rest = tag.findall, tag.sub("", text)
    # Single signs among the words may come together as the order of the words changes.
    if "<!" not in text and "<?" not in text and not ("<" in rest and ">" in rest):
        assert sorted(map(str.casefold, tags(found))) == sorted(map(str.casefold, tags(text)))


@pytest.mark.parametrize("part", ["<!--", "<![CDATA[", "<?", "<!", "<a ", "<a '", "<a>", "</a>", "<a/>", "<", "&", "<a><b>"])
def test_long_texts_take_linear_time(part: str) -> None:
    start = time.process_time()
    Tagged(part * (50_000 // len(part)), "en")
    assert time.process_time() - start < 3
