"""The translation of a document has the markup of the document."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.markup import Markup
from rnnsearch.translation.markup.pieces import MOST_NESTED, MOST_SEAMS
from rnnsearch.translation.markup.stretch import INVISIBLE
from rnnsearch.translation.translation import Segment
from toy import toy_pairs


def translated(sentence: str, words: Sequence[str], sources: Sequence[int] | None) -> Translation:
    """A translation into these words, each read from one source word; without an alignment, where there are no `sources`."""
    source_words = sentence.split()
    alignment = None
    if sources is not None:
        alignment = np.eye(len(source_words) + 1, dtype=np.float32)[np.array(sources, np.int64)]
    return Translation(" ".join(words), 0.0, True, [Segment(0, source_words, 0, list(words), alignment)])


def unchanged(sentence: str) -> Translation:
    words = sentence.split()
    return translated(sentence, words, range(len(words)))


def joined(document: str, *translations: tuple[str, str]) -> str:
    """The document with these translations, each with the number of the source word of every word, such as `0 2 1`."""
    markup = Markup(document, "en")
    return markup.joined(
        [
            translated(sentence, words.split(), [int(number) for number in sources.split()])
            for sentence, (words, sources) in zip(markup.sentences, translations, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("document", "words", "sources", "expected"),
    [
        ("<p>the <b>red</b> house</p>", "la maison rouge", "0 2 1", "<p>la maison <b>rouge</b></p>"),
        ("the <a x='>'>red <i>house</i></a> .", "la maison rouge .", "0 2 1 3", "la <a x='>'><i>maison</i> rouge</a> ."),
        # What was read from elsewhere is outside; of scattered words, the element has as many as stand together.
        ("I do <b>not</b> know", "je ne sais pas", "0 2 3 2", "je <b>ne sais pas</b>"),
        ("<b>a b c</b> d e f", "A D E F B C", "0 3 4 5 1 2", "A D E F <b>B C</b>"),
        ("<b>a</b> <i>b</i> c", "A B A C", "0 1 0 2", "A <i>B</i> <b>A</b> C"),
        ("<b>a <i>b</i></b> c d e", "A C D E B B", "0 2 3 4 1 1", "A C D E <b><i>B B</i></b>"),
        # Nothing was read from it: it stays, empty.
        ("the <b>very</b> old man", "le vieil homme", "0 2 3", "le <b></b>vieil homme"),
        ("one <img src=a> two<wbr> <!-- > --> three", "1 2 3", "0 1 2", "1 <img src=a> 2<wbr> <!-- > --> 3"),
        ("call <code>f(&amp;x)</code> now", "appelez x maintenant", "0 1 2", "appelez <code>f(&amp;x)</code> maintenant"),
        ("call <code>f</code> .", "appelez X .", "0 1 1", "appelez <code>f</code> ."),
        ("x<sup>2</sup> <b>a</b><sup id='>'><a>[1]</a></sup> <sup>b</sup>", "B A X", "2 1 0",
         "<sup>B</sup> <b>A</b><sup id='>'><a>[1]</a></sup> X<sup>2</sup>"),
        ("<i translate=no>Big <b>M</b></i> sings", "M chante", "1 2", "<i translate=no>Big <b>M</b></i> chante"),
        ("AT&amp;T &lt;b> &nbsp;x", "x AT&T <b>", "2 0 1", "x AT&amp;T &lt;b&gt;"),
        ("a <B>b</B\n> <br translate=no>", "B A", "1 0", "<B>B</B\n> A <br translate=no>"),
        ("a<sup>é</sup> b<sup>&#160;<code>1</code></sup>", "B AÉ", "1 0", "B<sup>&#160;<code>1</code></sup> AÉ<sup></sup>"),
        (" \n <p>\n\t<b>\n one\n two</b>\r\n</p>", "1 2", "0 1", " \n <p>\n\t\n <b>1 2</b>\r\n</p>"),
    ],
)  # fmt: skip
def test_an_element_is_around_what_was_read_from_it(document: str, words: str, sources: str, expected: str) -> None:
    assert joined(document, (words, sources)) == expected


def test_what_is_translated() -> None:
    document = """<!DOCTYPE html><html><head><title>The house</title><style>b > i {}</style><script>x = "<p>No</p>" </script>
        </head><body title="no"><!-- <p>no</p> --><p>One <b>man.</b> Two
        men!<br>Three&nbsp;men</p><pre>no <b>no</b></pre><svg><svg>no</svg><text>no</text></svg><textarea>&lt;i</textarea>
        <ul><li>a<li>b &amp; c</ul><div translate="no">no<div>no</div>no</div><p><code>no</code> 12 %</p>
        &#99999999999999; x < 6"""
    sentences = ["The house", "One man.", "Two         men!", "Three\xa0men", "a", "b & c", "\ufffd x < 6"]
    markup = Markup(document, "en")
    assert markup.sentences == sentences
    expected = document.replace("&nbsp;", " ").replace("&#99999999999999; x < 6", "\ufffd x &lt; 6")
    assert markup.joined([unchanged(sentence) for sentence in sentences]).split() == expected.split()


ids = st.integers(0, 9).map(str)
texts = st.lists(st.sampled_from(["man", "Sings.", "a&b", "x<y", "old", "\n", "é", "]]>x", "x'\""]), min_size=1, max_size=4)


def _element(names: Sequence[str]) -> Callable[[st.SearchStrategy[str]], st.SearchStrategy[str]]:
    return lambda inner: st.builds(
        "<{0} id='#'>{1}</{0}>".format, st.sampled_from(names), st.lists(inner, max_size=4).map(" ".join)
    )


words = texts.map(lambda found: html.escape(" ".join(found)))
empty = st.sampled_from(["<img id='#' alt='a>b'/>", "<br id='#'/>", "<!-- a > b -->", "<i id='#'></i>"])
verbatim = st.sampled_from(
    ["<code id='#'>f <b>g</b> &lt;</code>", "<svg id='#'><svg/> &gt;</svg>", "<b id='#' translate='no'>x</b>"]
)
within = st.recursive(words | words | empty, _element(["b", "i", "a"]), max_leaves=12)
running = st.lists(within, max_size=5).map(" ".join)
documents = st.recursive(running, _element(["p", "div", "b"]), max_leaves=6).map("<p id='#'>{}</p>".format)
documents_with_verbatim = st.lists(documents | verbatim, max_size=4).map(" ".join).map("<p id='#'>{}</p>".format)


def numbered(document: str) -> str:
    """The document with an id of its own for each element."""
    parts = document.split("'#'")
    return "".join(f"{part}'{number}'" for number, part in enumerate(parts[:-1])) + parts[-1]


def shape(document: str) -> dict[str | None, tuple[str, str | None, str]]:
    """The tag, the parent and the other attribute of each element."""
    tree = ElementTree.fromstring(document)
    return {
        child.get("id"): (child.tag, parent.get("id"), child.get("alt", ""))
        for parent in tree.iter()
        for child in parent
        if child.get("id")
    }


def letters(document: str) -> str:
    return "".join("".join(ElementTree.fromstring(document).itertext()).split())


@st.composite
def random_translation(draw: st.DrawFn, sentence: str) -> Translation:
    count = len(sentence.split())
    sources = draw(st.lists(st.integers(0, count - 1), max_size=8))
    target = [draw(st.sampled_from(["A", "b<", "&amp;", "É", "]]>", "."])) for _ in sources]
    return translated(sentence, target, draw(st.sampled_from([sources, None])))


@given(documents.map(numbered), st.data())
def test_well_formed_documents_stay_so(document: str, data: st.DataObject) -> None:
    markup = Markup(document, "en", split=data.draw(st.booleans()))
    translations = [data.draw(random_translation(sentence)) for sentence in markup.sentences]
    found = markup.joined(translations)
    assert shape(found) == shape(document)
    found_letters = letters(found).replace(INVISIBLE, "")
    assert found_letters == "".join("".join(translation.text.split()) for translation in translations)
    assert Counter(re.findall("<!--.*?-->", found)) == Counter(re.findall("<!--.*?-->", document))


@given(documents_with_verbatim.map(numbered), st.data())
def test_what_is_not_translated_stays_as_it_is(document: str, data: st.DataObject) -> None:
    markup = Markup(document, "en")
    found = markup.joined([data.draw(random_translation(sentence)) for sentence in markup.sentences])
    assert shape(found) == shape(document)
    for piece in re.findall(r"<code.*?</code>|<svg.*?</svg>|<b id='\d+' translate.*?</b>", document):
        assert piece in found


@given(documents_with_verbatim.map(numbered))
def test_a_document_that_is_translated_by_itself_comes_back(document: str) -> None:
    markup = Markup(document, "en")
    found = markup.joined([unchanged(sentence) for sentence in markup.sentences])
    assert letters(found) == letters(document)
    assert shape(found) == shape(document)


soup = st.sampled_from(
    ["<b>", "</b>", "<i x='>'>", "</i>", "<p>", "</p>", "<br>", "<code>", "</code>", "<!-- b -->", "<b/>", "<script>"]
)


@given(st.lists(soup | st.sampled_from(["a", " ", "The man. ", "&lt;", "<", "\n"]), max_size=30), st.data())
def test_no_tag_is_lost_in_tag_soup(pieces: list[str], data: st.DataObject) -> None:
    document = "".join(pieces)
    markup = Markup(document, "en")
    found = markup.joined([data.draw(random_translation(sentence)) for sentence in markup.sentences])
    tags = re.compile("<!--.*?-->|<(?:/|[a-z])(?:'>'|[^>])*>")
    assert Counter(tags.findall(found)) == Counter(tags.findall(document))


@given(st.text(st.sampled_from("<>/!-=\"'& abscript[CDAT]?;#x9\n"), max_size=60))
def test_any_text_is_a_document(document: str) -> None:
    try:
        markup = Markup(document, "en")
    except RnnsearchError:
        assert "&#" in document
    else:
        markup.joined([unchanged(sentence) for sentence in markup.sentences])


@pytest.mark.parametrize("piece", ["<", "<b>", "<b>x ", "</b>", "&#", "<script>", "<div>", "<code>", "<b>x</b> ", "<sup>1"])
def test_much_of_a_kind(piece: str) -> None:
    document = piece * 5_000
    markup = Markup(document, "en", split=False)
    found = markup.joined([translated(sentence, sentence.split(), None) for sentence in markup.sentences])
    assert html.unescape(found).split() == html.unescape(document).split()


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<!", "<?", "<a b=", "<a b='", "</a ", "<![CDATA[", "<svg><![CDATA[", "<b\0 <", '<a b="> <img '],
)
def test_markup_without_an_end(piece: str) -> None:
    markup = Markup("The man. " + piece * 500, "en")
    assert markup.joined([unchanged(sentence) for sentence in markup.sentences]).startswith("The man. ")


@pytest.mark.parametrize(
    "document",
    [
        "<p>&quot;1&quot; &gt; 0&nbsp;</p>",
        "1 <?x y?> <![CDATA[x>]]> <!x>",
        "<pre>&quot;a&quot; &lt;</PRE ><STYLE>a > b &amp;</STYLE>",
        "<svg><style>a > b",
        "<code>a<br>&lt;</b>",
        "<iframe>a</iframe><noembed>b</noembed><xmp><b></xmp><textarea>c</textarea>",
        "<script><!-- <script> </script> a --></script><plaintext>a</plaintext>",
    ],
)
def test_what_is_not_translated_stays_byte_for_byte(document: str) -> None:
    markup = Markup(document, "en")
    assert (markup.sentences, markup.joined([])) == ([], document)


def test_names_keep_their_case() -> None:
    document = "<DIV><svg><linearGradient></linearGradient></svg> <B>12</B></DIV>"
    assert Markup(document, "en").joined([]) == document


def test_tags_that_are_not_paired_stay_between_the_same_words() -> None:
    document = "one <b>two<br>three</b> four <i>five</i>"
    assert Markup(document, "en").sentences == ["one two", "three four five"]
    document = "one <b><i>two</b></i> three </b> <i>four</i>"
    assert Markup(document, "en").sentences == ["one two three  four"]
    many = "a <b>" * (MOST_SEAMS + 1) + "a"
    assert [len(sentence.split()) for sentence in Markup(many, "en").sentences] == [MOST_SEAMS + 1, 1]


def test_a_number_that_is_no_character() -> None:
    with pytest.raises(RnnsearchError, match=r"cannot be parsed: .*; write &lt; and &amp;"):
        Markup("a &#" + "9" * 10_000, "en")


def test_deep_elements_stay_in_their_place() -> None:
    deep = MOST_NESTED + 5
    document = "a <b>" * deep + "x" + "</b>" * deep
    markup = Markup(document, "en")
    assert markup.joined([unchanged(sentence) for sentence in markup.sentences]) == document


def test_a_model_translates_html(trained: Callable[..., Translator]) -> None:
    translator = trained("gated", "mlp")
    sources = [source for source, _ in toy_pairs(3, seed=3)]
    texts = [html.escape(found.text) for found in translator.translate(sources, beam=3)]
    document = "<h1 class=a>{}</h1>\n<p>{}</p><script>a < b</script><ul><li><b>{}</b></ul>"
    assert translator.translate_html(document.format(*sources), beam=3) == document.format(*texts)
    assert translator.translate_html("") == ""
    assert trained("gated", "none").translate_html(f"<p><b>{sources[0]}</b></p>").startswith("<p><b>")
    with pytest.raises(RnnsearchError, match="document = 3; give a string"):
        translator.translate_html(3)  # type: ignore[arg-type]
