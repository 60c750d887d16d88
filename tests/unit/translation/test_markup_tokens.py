"""A parser finds the same elements, attributes and comments in a document and in its translation."""

from __future__ import annotations

import time
from random import Random

import html5lib
import pytest

import soup
from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import Translation
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.markup.tokens import attributes, tokens
from rnnsearch.translation.translation import Segment


@pytest.mark.parametrize("attributes", [False, True])
def test_soup(attributes: bool) -> None:
    complaints = [soup.complaint(soup.document(Random(seed)), Random(seed), attributes) for seed in range(400)]
    assert [complaint for complaint in complaints if complaint] == []


INERT = [
    "Hello <!-- a> <img src=x onerror=alert(1)>",
    "Hello <b\0<img src=x onerror=alert(1)>",
    'Hello <a b="> <img src=x onerror=alert(1)>',
    "Hello <a b='> <img src=x onerror=alert(1)>",
    "Hello <!x <img src=x onerror=alert(1)",
    "Hello <title>The man <img src=x onerror=alert(1)>",
    "Hello <plaintext> The man <img src=x onerror=alert(1)> </plaintext> <img src=x>",
    "Hello <xmp> The man <img src=x onerror=alert(1)>",
    "Hello <svg><![CDATA[ The man <img src=x onerror=alert(1)> ",
    "Hello <svg><desc><b></svg> The <![CDATA[ man > ]]> <img src=x> <a>Hello</a>",
    "Hello <noscript><a title='</noscript><img src=x onerror=alert(1)>'>The man",
    "Hello <select><xmp></select>The man <img alt='</xmp> The man'>",
    "Hello <script><!-- <script> </script> The man <img src=x> --></script> The man",
    "Hello <!-- a --!> The <b>man</b> <!--> The <!---> man",
]


@pytest.mark.parametrize("document", INERT)
def test_inert_text_stays_inert(document: str) -> None:
    for seed in range(5):
        assert soup.complaint(document, Random(seed)) is None


@pytest.mark.parametrize(
    "document",
    [
        # What is opened again in what follows, or ends what is open, depends on the order.
        "<a><b></p>x <a>y</a> z",
        "<p><a><b></p><p>The man <a>sings</a> .",
        "<a><table><td></a></table><p><b></p>The man <a>sings</a> .",
        "<b><b><b><b><p></b></b></b></b>The <b>man</b>",
        "<table>The man <b>sings</b> <tr> and <i>sings</i></table>",
        "<svg><g></svg> The <a>man</a> <svg><desc><b></desc></svg> The <a>man</a> <b>sings</b>",
        "<a>" + "<div>" * 9 + "</a>" + "</div>" * 9 + "<p><b></p>The man <a>sings</a>",
        "<!-- c --> The man",
        "The man <!-- c -->",
        "</3>&lt;The man<!-- c -->sings&nbsp;",
        "<b/>The <i/>man</i> sings",
        "The <code><b></code> man </b> sings",
        "<frameset>The man<frame>",
    ],
)
def test_elements_that_are_not_well_nested_stay_in_their_place(document: str) -> None:
    for seed in range(20):
        assert soup.complaint(document, Random(seed)) is None


@pytest.mark.parametrize("piece", [
    "<b>x ", "<a>x ", "<p>x", "<svg>", "<math>", "<noscript>x", "<select>x", "<sup>1", "<code>", "<title>",
    "<!-- x -->", "<b x=",
    "&#x;", "<script>", "<script><!--", "<a x='y'>x</a> <img> ", "x", "</", "<svg></svg>x", "<b a=1 a=2/>", "a<b>",
    "<i translate=no>",
])  # fmt: skip
def test_floods_take_linear_time(piece: str) -> None:
    seconds = []
    for count in (500, 5_000):
        began = time.process_time()
        document = piece * (count // 10 if "x" in piece else count)
        markup = Markup(document, "en", split=False, attributes=True)
        markup.joined([soup.Invented("X", ["X"], ["x", ""], None) for _ in markup.sentences])
        seconds.append(time.process_time() - began)
    assert seconds[1] < 40 * max(seconds[0], 0.05)


def test_tokens_are_those_of_a_parser() -> None:
    for seed in range(300):
        document = soup.document(Random(seed))
        read = tokens(document)
        assert "".join(token.raw for token in read) == document
        if all(token.certain for token in read):
            names = [token.name for token in read if token.name and token.kind != "end"]
            parser = html5lib.HTMLParser()
            found = [token for token in _tokens(parser, document) if token]
            assert [name.translate(_LOWER) for name in names] == found


_LOWER = {0: 0xFFFD}


def _tokens(parser: html5lib.HTMLParser, document: str) -> list[str]:
    """The names of the start tags that the parser's own tokeniser gives while it parses."""
    found: list[str] = []
    normal = parser.mainLoop

    def watched() -> None:
        given = parser.tokenizer.__class__.__iter__

        class Watched(parser.tokenizer.__class__):  # type: ignore[misc, name-defined]
            def __iter__(self):  # type: ignore[no-untyped-def]
                for token in given(self):
                    if token["type"] in (3, 5):
                        found.append(token["name"])
                    yield token

        parser.tokenizer.__class__ = Watched
        normal()

    parser.mainLoop = watched
    parser.parse(document)
    return found


def test_attributes() -> None:
    tag = "<img ALT=a x = 'b>' y z=\"\" alt=c w=d/>"
    assert [(one.name, one.value, tag[one.start : one.stop]) for one in attributes(tag)] == [
        ("alt", "a", "a"), ("x", "b>", "'b>'"), ("w", "d/", "d/"),
    ]  # fmt: skip
    assert attributes("<b/c=d>")[0].value == "d"


def _shouted(sentence: str) -> Translation:
    words = sentence.upper().split()
    return Translation(" ".join(words), 0.0, True, [Segment(0, sentence.split(), 0, words, None)])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("<p title='The man'>x</p>", '<p title="THE MAN">X</p>'),
        ("<img  src=a ALT=man\n>", '<img  src=a ALT="MAN"\n>'),
        ("a <img alt=man alt=other id='a'> b", 'A <img alt="MAN" alt=other id=\'a\'> B'),
        ("<i placeholder='a &lt; \"b\"&nbsp;&amp; c' x=x></i>", '<i placeholder="A &lt; &quot;B&quot; &amp; C" x=x></i>'),
        ("<textarea placeholder=x>y</textarea>", '<textarea placeholder="X">y</textarea>'),
        ("<svg aria-label=x><a title=y></a></svg>", '<svg aria-label="X"><a title=y></a></svg>'),
        ("<b title=''>1</b><b alt>2</b><b title='12 %'>", "<b title=''>1</b><b alt>2</b><b title='12 %'>"),
        ("<p translate=no title=x><i title=y></i></p>", "<p translate=no title=x><i title=y></i></p>"),
        ("<p title=\"Don't! Go.\">", "<p title=\"DON'T! GO.\">"),
        ("<!-- <p title=x> --><script>'<p title=x>'</script>", "<!-- <p title=x> --><script>'<p title=x>'</script>"),
        ("<a title=x href=\"/\">y <b aria-label=z>c</b></a>", '<a title="X" href="/">Y <b aria-label="Z">C</b></a>'),
    ],
)  # fmt: skip
def test_attributes_are_translated(document: str, expected: str) -> None:
    markup = Markup(document, "en", attributes=True)
    assert markup.joined([_shouted(sentence) for sentence in markup.sentences]) == expected
    plain = Markup(document, "en")
    texts = [token.raw for token in tokens(plain.joined([_shouted(one) for one in plain.sentences])) if token.kind == "text"]
    assert texts == [token.raw for token in tokens(expected) if token.kind == "text"]


def test_an_attribute_that_is_no_text() -> None:
    with pytest.raises(RnnsearchError, match="cannot be parsed"):
        Markup("<p title='a &#" + "9" * 10_000 + "'>", "en", attributes=True)
