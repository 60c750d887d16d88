"""Documents as careless tools write them: what is text is translated, and everything else comes out byte for byte."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.parts import DocumentFile
from rnnsearch.formats.recognition import document_format_of
from rnnsearch.formats.registry import DOCUMENTS
from rnnsearch.formats.units import Head
from tests.translators import document, louder, same, translation


def kept(text: str, path: Path) -> dict[str, int]:
    """The numbers of texts that stay as they are, by the reason."""
    format_ = document_format_of(Head(path, text.encode()))
    assert format_ is not None
    return dict(DocumentFile(text.encode(), format_, path).kept)  # type: ignore[arg-type]


def loud(text: str, name: str, again: bool = False) -> str:
    assert same(text.encode(), Path(name), again) == text.encode() or name.endswith((".po", ".pot", ".xlf"))
    return louder(text.encode(), Path(name), again).decode()


def test_the_header_of_a_template_is_fuzzy_and_gets_its_encoding() -> None:
    head = '#, fuzzy\nmsgid ""\nmsgstr "Content-Type: text/plain; charset=CHARSET\\n"\n\n'
    assert loud(f'{head}msgid "a"\nmsgstr ""\n', "a.pot") == (
        f'{head.replace("CHARSET", "UTF-8")}#, fuzzy\nmsgid "a"\nmsgstr "A"\n'
    )


def test_the_form_for_one_thing_is_that_of_the_rule() -> None:
    rule = "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;"
    head = f'msgid ""\nmsgstr "Plural-Forms: {rule}\\n"\n\nmsgid "one"\nmsgid_plural "many"\n'
    forms = loud(head + "".join(f'msgstr[{number}] ""\n' for number in range(6)), "a.po")
    assert re.findall(r'msgstr\[\d\] "(.*)"', forms) == ["MANY", "ONE", "MANY", "MANY", "MANY", "MANY"]


KEPT = {
    "a.po": (
        'msgid "a"\nmsgstr "b"\n\n#, fuzzy\nmsgid "c"\nmsgstr "d"\n\nmsgid "e"\nmsgstr ""\n\n#~ msgid "f"\n#~ msgstr ""\n',
        {"translated already": 1, "fuzzy": 1, "obsolete": 1},
    ),
    "a.xlf": (
        '<xliff version="1.2"><file source-language="en"><trans-unit id="1" translate="no"><source>a</source></trans-unit>'
        '<trans-unit id="2"><source>b</source><target>c</target></trans-unit><trans-unit id="2"><source>d</source>'
        "</trans-unit></file></xliff>",
        {"marked as not to be translated": 1, "translated already": 1},
    ),
    "b.xlf": (
        '<xliff version="2.0" srcLang="en" trgLang="fr"><file><unit><segment><source>a</source><target>b</target></segment>'
        "<segment><source>c</source></segment></unit></file></xliff>",
        {"translated already": 1},
    ),
    "a.ts": (
        "<TS><context><message><source>a</source><translation>b</translation></message><message><source>c</source>"
        '<translation type="obsolete">d</translation></message></context></TS>',
        {"translated already": 1, "obsolete": 1},
    ),
    "strings.xml": (
        '<resources><string name="a" translatable="false">a</string><string name="b">b</string></resources>',
        {"marked as not to be translated": 1},
    ),
    "a.json": ('{"a": "{n, selectordinal, other {b}}", "c": "d", "e": 1}', {"with a choice between variants": 1}),
    "a.ftl": ("a = x { $n ->\n   *[other] b\n }\nc = d\n", {"with a choice between variants": 1}),
    "b.ftl": ("a = { $n ->\n   *[other]\n     b\n }\nc = d\n", {"with a choice between variants": 1}),
}


@pytest.mark.parametrize("name", KEPT)
def test_texts_that_stay_are_counted_by_reason(name: str) -> None:
    text, expected = KEPT[name]
    assert kept(text, Path(name)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<![CDATA[the <b>house</b> & it]]>", "<![CDATA[THE <b>HOUSE</b> & IT]]>"),
        (" <![CDATA[%s files]]>\n", " <![CDATA[%s FILES]]>\n"),
        ("a <![CDATA[& <i>b</i>]]> c", "A &amp; &lt;i&gt;B&lt;/i&gt; C"),
        ('&lt;a href="x"&gt;a &lt;b>b&lt;/b>&lt;/a&gt; x&lt;y', '&lt;a href="x"&gt;A &lt;b>B&lt;/b>&lt;/a&gt; X&lt;Y'),
        ("the <b>house</b>", "THE <b>HOUSE</b>"),
        ("a<!-- no text --> b<x id='1'/>", "A<!-- no text --> B<x id='1'/>"),
    ],
)
def test_sections_comments_and_elements_of_html_in_xml(text: str, expected: str) -> None:
    unit = f'<trans-unit id="1"><source>{text}</source></trans-unit>'
    xliff = f'<xliff version="1.2"><file source-language="en">{unit}</file></xliff>'
    target = re.search("<target [^>]*>(.*)</target>", loud(xliff, "a.xlf"), re.DOTALL)
    assert target is not None
    assert target[1] == expected
    resx = f'<root><resheader name="version"/><data name="a"><value>{text}</value></data></root>'
    assert loud(resx, "a.resx") == resx.replace(text, expected)


def test_the_variants_of_a_choice_of_fluent() -> None:
    text = (
        "a =\n  { $n ->\n    [one] one <b>file</b>\n   *[other] { $n } files\n  }\n    .b = { $x ->\n *[y] z \n }\nc = d\n"
    )
    assert loud(text, "a.ftl") == (
        "a =\n  { $n ->\n    [one] ONE <b>FILE</b>\n   *[other] { $n } FILES\n  }\n    .b = { $x ->\n *[y] Z \n }\nc = D\n"
    )


def test_the_end_of_a_section_in_a_translation() -> None:
    text = '<resources><string name="a"><![CDATA[a]]></string></resources>'
    new = document(text.encode(), Path("strings.xml")).joined([translation("a", lambda _: "x]]>y")])
    string = ElementTree.fromstring(new).find("string")
    assert string is not None
    assert string.text == "x]]>y"


def test_emoji_of_android_are_characters_for_the_model() -> None:
    text = '<resources><string name="a">well done \\ud83d\\ude00</string></resources>'
    assert document(text.encode(), Path("strings.xml")).sentences == ["well done", "😀"]
    assert "WELL DONE 😀" in loud(text, "strings.xml")


def test_strings_of_json() -> None:
    text = (
        '{"dialog": {"title": "sure?", "message": "delete {{count}} of {user.name}", "n": 3, "no": null,'
        ' "list": [["a", 1.50]]},'
        ' "about": {"message": "hello {0:N2} {when, date, short} $t(common.ok)", "description": "a note"},'
        ' "broken": "a \\ud83d"}'
    )
    expected = text.replace("sure?", "SURE?").replace("delete", "DELETE").replace(" of ", " OF ").replace('"a", 1', '"A", 1')
    expected = expected.replace("hello", "HELLO").replace("a \\ud83d", "A \ufffd")
    assert json.loads(loud(text, "a.json")) == json.loads(expected)
    assert "1.50" in loud(text, "a.json")


def test_a_no_break_space_stays_in_subtitles() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nwho is there\u00a0? it is the old man of the house\u00a0!\n"
    new = loud(text, "a.srt")
    assert "THERE\u00a0?" in new
    assert new.count("\u00a0") == 2


def test_the_number_of_a_cue_is_no_text_even_without_a_blank_line() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\na\n2\n00:00:02,000 --> 00:00:04,000\nb\n3\n"
    assert loud(text, "a.srt") == text.replace("a\n", "A\n").replace("b\n3", "B 3")


@pytest.mark.parametrize(
    "start",
    [
        "<!DOCTYPE html><meta charset='iso-8859-1'>",
        '<?xml version="1.0" encoding="iso-8859-1"?><html>'
        '<meta http-equiv="Content-Type" content="text/html; charset=latin1">',
        '<p><meta charset="windows-1252">',
    ],
)
def test_html_in_the_encoding_that_it_declares(start: str) -> None:
    content = f"{start}<p>the café, “so”</p>".encode("cp1252")
    assert same(content, Path("a.html")) == content
    whole = document(content, Path("a.html"))
    assert whole.sentences == ["the café, “so”"]
    assert whole.joined([translation("the café, “so”", lambda _: "é я")]) == f"{start}<p>é &#1103;</p>".encode("cp1252")


def test_html_in_utf_8_that_declares_something_else() -> None:
    content = "<html><meta charset='latin1'><p>the café</p>".encode()
    assert louder(content, Path("a.html")).decode() == "<html><meta charset='latin1'><p>THE CAFÉ</p>"


def test_markdown_of_github() -> None:
    text = "> [!NOTE]\n> the text (:tada:) of [x](y 'title')\n\n[!WARNING]\nmore :not emoji: here\n"
    expected = "> [!NOTE]\n> THE TEXT (:tada:) OF [X](y 'title')\n\n[!WARNING]\nMORE :NOT EMOJI: HERE\n"
    assert loud(text, "a.md") == expected


@pytest.mark.parametrize("kind", sorted(DOCUMENTS.keys() - {"docx"}))
def test_utf_16_without_a_mark_is_refused(kind: str) -> None:
    content = ("WEBVTT\n\n" + "a house and a garden\n" * 20).encode("utf-16-le")
    with pytest.raises(RnnsearchError, match="this is UTF-16LE, not UTF-8"):
        document(content, Path("file"), kind=kind)


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BOLD = "<w:rPr><w:b/></w:rPr>"


def run(text: str, form: str = "") -> str:
    return f'<w:r>{form}<w:t xml:space="preserve">{text}</w:t></w:r>'


def word(body: str) -> bytes:
    written = io.BytesIO()
    with ZipFile(written, "w") as zipped:
        zipped.writestr("word/document.xml", f'<w:d xmlns:w="{W}"><w:p>{body}</w:p></w:d>')
    return written.getvalue()


def in_word(body: str) -> str:
    """The paragraph of a Word document in capital letters."""
    content = word(body)
    assert same(content, Path("a.docx")) == content
    text = ZipFile(io.BytesIO(louder(content, Path("a.docx")))).read("word/document.xml").decode()
    ElementTree.fromstring(text)
    return text[text.index("<w:p>") + 5 : text.rindex("</w:p>")]


def test_text_boxes_are_translated_wherever_they_are_anchored() -> None:
    box = (
        "<w:r><mc xmlns='c'><w:drawing><w:txbxContent><w:p><w:pPr><w:x/></w:pPr>" + run("in a box") + "</w:p><w:tbl><w:p>"
        + run("cell") + "</w:p></w:tbl></w:txbxContent></w:drawing></mc></w:r>"
    )  # fmt: skip
    new = in_word(run("before") + box + run("after"))
    assert new == run("BEFORE") + box.replace("in a box", "IN A BOX").replace("cell", "CELL") + run("AFTER")
    assert in_word(box) == box.replace("in a box", "IN A BOX").replace("cell", "CELL")


@pytest.mark.parametrize("tag", ["ins", "moveTo", "hyperlink", "smartTag", "customXml"])
def test_elements_around_runs_may_contain_anything(tag: str) -> None:
    start, end = f'<w:{tag} w:id="1">', f"</w:{tag}>"
    new = in_word(start + run("one, ") + '<w:bookmarkStart w:id="2"/>' + run("two", BOLD) + end)
    assert new == f'{start}{run("ONE,")}{end}{run(" ")}{start}<w:bookmarkStart w:id="2"/>{end}{start}{run("TWO", BOLD)}{end}'
    assert in_word(f"{start}{start}{run('one')}{end}{end}") == f"{start}{start}{run('ONE')}{end}{end}"
    assert in_word(start + end + run("one")) == start + end + run("ONE")


def test_what_was_moved_away_or_is_a_field_stays() -> None:
    gone = f'<w:moveFrom w:id="1">{run("gone")}</w:moveFrom>'
    field = f'<w:hyperlink><w:r><w:fldChar w:fldCharType="begin"/></w:r>{run("12")}</w:hyperlink>'
    assert in_word(gone + run("here") + field) == gone + run("HERE") + field


def test_a_word_in_several_runs_is_one_word() -> None:
    def tracked(number: int) -> str:
        return f'<w:rPr><w:b/><w:rPrChange w:id="{number}"><w:rPr><w:i/></w:rPr></w:rPrChange></w:rPr>'

    body = run("hou", tracked(1)) + '<w:proofErr w:type="x"/>' + run("se", tracked(2))
    assert in_word(body) == run("HOUSE", tracked(1))
    assert in_word("<w:r><w:t>e</w:t><w:noBreakHyphen/><w:t>mail, co</w:t><w:softHyphen/><w:t>py</w:t></w:r>") == run(
        "E-MAIL, COPY"
    )


def test_a_no_break_space_stays_in_a_word_document() -> None:
    assert in_word(run("10\u00a0000 houses\u00a0!")) == run("10&#160;000 HOUSES&#160;!")


def test_what_is_no_package_at_all_is_named() -> None:
    with pytest.raises(RnnsearchError, match="this is a PDF"):
        document(b"%PDF-1.4", Path("a"), kind="docx")
    with pytest.raises(RnnsearchError, match="a damaged Word document"):
        document(b"text", Path("a"), kind="docx")
