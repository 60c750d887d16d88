"""Documents: what is no text stays byte for byte, and the translations are where readers of the format look for them."""

from __future__ import annotations

import io
import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import File
from rnnsearch.formats.parts import DocumentFile
from rnnsearch.formats.po import Po
from rnnsearch.formats.recognition import document_format_of, format_of, message_format_of
from rnnsearch.formats.registry import DOCUMENTS
from rnnsearch.formats.units import Head
from tests.translators import document, louder, same, translation

ONE_SIDE = [
    "android-en/strings.xml", "android-ro/strings.xml", "captions-en.vtt", "captions-fr.vtt", "mediawiki-en.json",
    "mediawiki-fr.json", "mixed-eol.srt", "mozilla-en.ftl", "mozilla-fr.ftl", "omegat-en.strings",
    "omegat-fr.strings", "resources.resx", "sintel-en.srt", "song-en.vtt", "song-fr.vtt",
]  # fmt: skip
BOTH_SIDES = {
    "af-pootle.po": 0, "everything.xliff20.xlf": 3, "focuswriter-fr.ts": 0, "fuzzy-previous-context.po": 0,
    "gnome-calculator-fr.po": 0, "gnome-calculator-help-fr.po": 0, "heavy-alttrans-en-es.utf8bom.xliff12.xlf": 8,
    "notes-en-fr.xliff20.xlf": 0, "odf-reference.xliff11.xlf": 4, "omegat-be.cp1251.po": 56, "python-docs-fuzzy-fr.po": 0,
    "reordered-codes.xliff20.xlf": 0, "studio-en-de.sdlxliff": 18, "studio-states-it-en.sdlxliff": 8,
    "symfony-security-fr.xliff12.xlf": 0,
}  # fmt: skip
"""The files with targets, and how many of these are filled."""


def opened(content: bytes) -> File:
    return io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]


def sides(content: bytes, path: Path) -> list[tuple[str, str]]:
    """The sources and targets that a reader finds, whatever is left out of training."""
    format_ = format_of(Head(path, content[: 1 << 15]))
    assert format_ is not None
    units = [unit for unit in format_.units(opened(content), path) if unit.left_out != "obsolete"]
    return [
        (unit.texts[n].line(True), unit.texts[n + 1].line(True) if n + 1 < len(unit.texts) else "")
        for unit in units
        for n in range(0, len(unit.texts), 2)
    ]


def messages(content: bytes, path: Path) -> list[tuple[str, str]]:
    format_ = message_format_of(Head(path, content[: 1 << 15]))
    assert format_ is not None
    return [(message.key, message.text.line(False)) for message in format_.messages(opened(content), path)]


def without_targets(content: bytes) -> str:
    """A file without its targets and what is said of them."""
    text = content.decode("latin-1").replace("\r\n", "\n")
    text = re.sub(r"\s*<(\w+:)?(target|translation|numerusform)\b[^>]*?(/>|>.*?</\2>)", "", text, flags=re.DOTALL)
    text = re.sub(r' (state|subState|approved|conf|origin|type)="[^"]*"', "", text)
    text = re.sub(r'\n?^msgstr(\[\d\])?.*(\n".*")*', "", text, flags=re.MULTILINE)
    return re.sub(r"^#, fuzzy\n|(?<=^#,) fuzzy,|\s*/(?=>)|\s+(?=</TS>)", "", text, flags=re.MULTILINE)


@pytest.fixture
def files(shared_data: Path) -> Path:
    folder = shared_data / "files"
    if not folder.is_dir():
        pytest.skip(f"no real documents to test on: {folder} is not there")
    return folder


@pytest.mark.parametrize("name", ONE_SIDE)
def test_a_real_file_with_one_side(files: Path, name: str) -> None:
    path = files / name
    content = path.read_bytes()
    assert same(content, path) == content
    loud = louder(content, path)
    assert loud != content
    before, after = messages(content, path), messages(loud, path)
    assert [key for key, _ in after] == [key for key, _ in before]
    for (_, text), (_, new) in zip(before, after, strict=True):
        assert "".join(new.split()).casefold() == "".join(text.split()).casefold()
    assert sum(new != text for (_, text), (_, new) in zip(before, after, strict=True)) > 0.8 * len(before)


@pytest.mark.parametrize("name", BOTH_SIDES)
def test_a_real_file_with_both_sides(files: Path, name: str) -> None:
    """Filling in the sources themselves changes nothing but targets, and doing it again changes nothing at all."""
    path = files / name
    content = path.read_bytes()
    assert len(document(content, path).sentences) >= BOTH_SIDES[name]
    once = same(content, path)
    assert (once == content) == (not BOTH_SIDES[name])
    filled = same(content, path, again=True)
    assert same(filled, path, again=True) == filled
    assert without_targets(filled) == without_targets(content)
    before, after = sides(content, path), sides(filled, path)
    assert [source for source, _ in before] == [source for source, _ in after]
    alone = [text.replace(b"\r\n", b"").count(b"\n") for text in (content, filled)]
    assert b"\r\n" not in content or alone[0] == alone[1]
    with_words = [pair for pair in after if re.sub("<[^>]*>", "", pair[0]).strip() and pair[1]]
    assert all(source == target for source, target in with_words if path.suffix != ".ts")
    kept = [pair for pair, new in zip(before, sides(once, path), strict=True) if pair == new]
    assert len(kept) >= sum(bool(target) for _, target in before)


def test_all_kinds_are_tried_on_real_files(files: Path) -> None:
    found = set()
    for path in files.rglob("*"):
        if path.is_file() and path.suffix != ".md":
            format_ = document_format_of(Head(path, path.read_bytes()[: 1 << 15]))
            found |= {name for name, one in DOCUMENTS.items() if one is format_}
            assert (format_ is not None) == (str(path.relative_to(files)) in {*ONE_SIDE, *BOTH_SIDES})
    assert found == DOCUMENTS.keys() - {"markdown", "html", "docx"}


PO = r"""msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#. about it
#, c-format
msgid "cannot open %s\n"
msgstr ""

#| msgid "one hous"
msgid "one house"
msgid_plural ""
"%d houses and many more words than a line of such a file has room for, as "
"they are wrapped"
msgstr[0] ""
msgstr[1] ""

#, fuzzy
msgid "old"
msgstr "vieux"

msgctxt "menu"
msgid "open"
msgstr "ouvrir"

#~ msgid "gone"
#~ msgstr ""
"""
PO_LOUD = r"""msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#. about it
#, fuzzy, c-format
msgid "cannot open %s\n"
msgstr "CANNOT OPEN %s\n"

#, fuzzy
#| msgid "one hous"
msgid "one house"
msgid_plural ""
"%d houses and many more words than a line of such a file has room for, as "
"they are wrapped"
msgstr[0] "ONE HOUSE"
msgstr[1] ""
"%d HOUSES AND MANY MORE WORDS THAN A LINE OF SUCH A FILE HAS ROOM FOR, AS "
"THEY ARE WRAPPED"

#, fuzzy
msgid "old"
msgstr "vieux"

msgctxt "menu"
msgid "open"
msgstr "ouvrir"

#~ msgid "gone"
#~ msgstr ""
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_po(end: str) -> None:
    path = Path("a.po")
    content, expected = (text.replace("\n", end).encode() for text in (PO, PO_LOUD))
    assert louder(content, path) == expected
    assert louder(expected, path) == expected
    again = louder(content, path, again=True).decode()
    assert f'#, fuzzy{end}msgctxt "menu"{end}msgid "open"{end}msgstr "OPEN"' in again
    assert f'msgid "old"{end}msgstr "OLD"' in again
    assert again.endswith(f'#~ msgid "gone"{end}#~ msgstr ""{end}')


def test_po_of_a_language_with_one_plural_form_and_a_template() -> None:
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=CHARSET\\n"\n\n'
    loud = louder(f'{head}msgid "one"\nmsgid_plural "many"\nmsgstr[0] ""\n'.encode(), Path("a.pot")).decode()
    assert "charset=UTF-8" in loud
    assert loud.endswith('msgstr[0] "MANY"\n')


def test_a_character_that_the_encoding_lacks_is_told() -> None:
    content = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=iso-8859-2\\n"\n\nmsgid "a"\nmsgstr ""\n'
    whole = document(content, Path("a.po"))
    with pytest.raises(RnnsearchError, match=r"^a\.po: its encoding iso-8859-2 has no 'я'.*convert the file to UTF-8$"):
        whole.joined([translation("a", lambda text: "я")])
    xml = '<?xml version="1.0" encoding="iso-8859-2"?><resources><string name="a">á</string></resources>'
    android = document(xml.encode("iso-8859-2"), Path("strings.xml"))
    assert android.joined([translation("á", lambda text: "я")]).endswith(b'"a">&#1103;</string></resources>')


XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"
target-language="fr"><body>
  <trans-unit id="1" approved="yes">
    <source>the <g id="1">red</g> house<x id="2"/> &amp; %d</source>
  </trans-unit>
  <trans-unit id="2"><source>a</source><target state='new'/></trans-unit>
  <trans-unit id="3" translate="no"><source>b</source></trans-unit>
  <trans-unit id="4"><source>c</source><target>C'est</target></trans-unit>
  <trans-unit id="5"><source>a <bpt id="1">&lt;b></bpt>d<ept id="1">&lt;/b></ept></source></trans-unit>
  <trans-unit id="6"><source>e</source><target state="new">e</target></trans-unit>
</body></file></xliff>"""
STATE = 'state="needs-review-translation" state-qualifier="mt-suggestion"'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_xliff_1(encoding: str) -> None:
    loud = louder(XLIFF.encode(encoding), Path("a.xlf"))
    expected = XLIFF.replace('approved="yes"', 'approved="no"')
    for before, after in [
        (
            " &amp; %d</source>",
            f' &amp; %d</source>\n    <target {STATE}>THE <g id="1">RED</g> HOUSE<x id="2"/> &amp; %d</target>',
        ),
        ("<target state='new'/>", f"<target {STATE}>A</target>"),
        ("</ept></source>", f'</ept></source><target {STATE}>A <bpt id="1">&lt;b></bpt>D<ept id="1">&lt;/b></ept></target>'),
        ('<target state="new">e', f"<target {STATE}>E"),
    ]:
        assert before in expected
        expected = expected.replace(before, after)
    assert loud == expected.encode(encoding)


def test_xliff_2() -> None:
    text = (
        '<x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="fr"><x:file id="f">'
        '<x:unit id="u"><x:segment state="initial"><x:source>a <x:pc id="1">b</x:pc><x:ph id="2"/></x:source></x:segment>'
        '<x:ignorable><x:source> </x:source></x:ignorable><x:segment state="final"><x:source>c</x:source><x:target>C!'
        "</x:target></x:segment></x:unit></x:file></x:xliff>"
    )
    target = '<x:target>A <x:pc id="1">B</x:pc><x:ph id="2"/></x:target>'
    expected = text.replace('"initial"', '"translated"').replace('2"/></x:source>', f'2"/></x:source>{target}')
    assert louder(text.encode(), Path("a.xlf")).decode() == expected


def test_segments_of_trados_studio() -> None:
    text = (
        '<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" version="1.2"><file source-language="en">'
        '<trans-unit id="1"><source>A b. C. D.</source><seg-source><mrk mtype="seg" mid="1"><g id="7">A</g> b.</mrk> '
        '<mrk mtype="seg" mid="2">C.</mrk> <mrk mtype="seg" mid="3">D.</mrk></seg-source><target>'
        '<mrk mtype="seg" mid="1" /> <mrk mtype="seg" mid="2">X.</mrk> <mrk mtype="seg" mid="3" /></target>'
        '<sdl:seg-defs><sdl:seg id="1" /><sdl:seg id="2" conf="Translated" />'
        '<sdl:seg id="3" locked="true" /></sdl:seg-defs></trans-unit></file></xliff>'
    )
    filled = '<target><mrk mtype="seg" mid="1"><g id="7">A</g> B.</mrk>'
    expected = text.replace('<target><mrk mtype="seg" mid="1" />', filled)
    expected = expected.replace('<sdl:seg id="1" />', '<sdl:seg id="1" conf="Draft" origin="mt" />')
    assert louder(text.encode(), Path("a.sdlxliff")).decode() == expected


def test_segments_without_anything_between_them() -> None:
    """The target has them in another order than the source."""
    source = "".join(f'<mrk mtype="seg" mid="{number}">word{number}</mrk>' for number in range(9))
    target = "".join(f'<mrk mtype="seg" mid="{number}"/>' for number in reversed(range(9)))
    text = (
        '<xliff version="1.2"><file source-language="en"><trans-unit id="1"><source>a</source>'
        f"<seg-source>{source}</seg-source><target>b{target}</target></trans-unit></file></xliff>"
    )
    expected = "".join(f'<mrk mtype="seg" mid="{number}">WORD{number}</mrk>' for number in reversed(range(9)))
    assert f">b{expected}</target>" in louder(text.encode(), Path("a.xlf")).decode()


def test_qt() -> None:
    text = (
        '<TS language="fr"><context><message><source>open %1</source><translation type="unfinished"></translation></message>'
        '<message numerus="yes"><source>%n house(s)</source><translation type="unfinished"><numerusform></numerusform>'
        '<numerusform/></translation></message><message><source>gone</source><translation type="vanished"/></message>'
        "<message><source>a</source><translation>b</translation></message></context></TS>"
    )
    expected = text.replace('"></translation>', '">OPEN %1</translation>').replace(
        "<numerusform/>", "<numerusform></numerusform>"
    )
    expected = expected.replace("<numerusform>", "<numerusform>%n HOUSE(S)")
    assert louder(text.encode(), Path("a.ts")).decode() == expected


def test_android() -> None:
    text = (
        "<resources>\n<!-- it's --><string name='a'>it\\'s <b>%1$s</b>\\nnew\n   line</string>"
        '<string name="b">"  two \\"spaces\\""</string><string name="c">@string/a</string>'
        '<string name="d"><![CDATA[<i>x</i> & y]]>'
        '</string><string name="e">\\@ me <xliff:g id="n" xmlns:xliff="u">%d</xliff:g></string>'
        '<string name="f" translatable="false">f</string><plurals name="p"><item quantity="one">one</item></plurals>'
        "</resources>"
    )
    expected = text.replace("it\\'s <b>%1$s</b>\\nnew\n   line", "IT\\'S <b>%1$s</b>\\nNEW LINE")
    expected = expected.replace('"  two \\"spaces\\""', '"  TWO \\"SPACES\\""').replace("<i>x</i> & y", "<i>X</i> & Y")
    expected = expected.replace("\\@ me", "\\@ ME").replace(">one<", ">ONE<")
    assert louder(text.encode(), Path("strings.xml")).decode() == expected


def test_subtitles_have_lines_that_are_short_and_even() -> None:
    times = "1\r\n00:00:01,000 --> 00:00:02,000\r\n"
    words = "the old house by the river\r\nis sleeping, {\\an8}and so <i>is</i> the dog"
    loud = louder(
        f"{times}{words}\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n- no\r\n- yes".encode(), Path("a.srt")
    ).decode()
    first, second = loud.split("\r\n\r\n")
    assert first.startswith(times)
    lines = first.removeprefix(times).split("\r\n")
    assert len(lines) == 2
    assert all(len(re.sub(r"<[^>]*>|\{[^}]*\}", "", line)) <= 42 for line in lines)
    assert "<i>IS</i>" in first
    assert "{\\an8}" in first
    assert second.endswith("- NO\r\n- YES")


MARKDOWN = """---
title: "stays"
---
A *first* line with `code here` and
a [link](https://example.org/a_b "t") that goes on, &amp; \\*more\\*.
==========

> - [x] a task\\
>   on two lines
> - ![picture](a.png) <br> text

| a | `b\\|c` |
|---|:-:|
| one \\| two | |

~~~python
print("stays")
~~~

    code = stays

<div>
in <b>HTML</b>
</div>

[ref]: https://example.org/stays
See [ref] and [this text][ref].[^1]

[^1]: a note with $x_1 + y$
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_markdown(end: str) -> None:
    content = MARKDOWN.replace("\n", end).encode()
    assert same(content, Path("a.md")) == content
    loud = louder(content, Path("a.md")).decode()
    assert re.findall("(?m)^.*stays.*$", loud) == re.findall("(?m)^.*stays.*$", content.decode())
    for kept in (
        "`code here`",
        "](https://example.org/a_b",
        "&amp; \\*MORE\\*",
        "[ref]",
        "$x_1 + y$",
        "`b\\|c`",
        "<br>",
        "<b>HTML</b>",
    ):
        assert kept in loud, kept
    for text in ("A *FIRST* LINE", "- [x] A TASK\\", "![PICTURE](a.png)", "| ONE \\| TWO | |", "[THIS TEXT][ref].[^1]"):
        assert text in loud, text
    assert loud.count("\n") == loud.count(end)


def skeleton(text: str) -> str:
    """What Markdown means, without white space and case."""
    rendered = MarkdownIt("commonmark").enable("table").render(text)
    return re.sub(r"\s+", "", rendered).casefold()


def test_the_structure_of_our_own_pages_stays() -> None:
    root = Path(__file__).parents[3]
    for path in [root / "README.md", root / "docs/reference/commands.md", root / "docs/how-to/terms.md"]:
        content = path.read_bytes()
        loud = louder(content, path)
        assert loud != content
        assert skeleton(loud.decode()) == skeleton(content.decode()), path


WORDS = st.sampled_from(
    ["red", "house", "L'été", 'a "b"', "back\\slash", "%s", "{name}", "a&b", "1 < 2", "x\ty", "café,", "né."]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
PARAGRAPHS = st.lists(TEXTS, min_size=1, max_size=3).map("\n".join)


def alike(new: str, old: str) -> bool:
    return "".join(new.split()).casefold() == "".join(old.split()).casefold()


@given(st.dictionaries(st.sampled_from("abcdef"), PARAGRAPHS, min_size=1), st.booleans())
def test_strings_of_json_are_read_as_they_were_meant(strings: dict[str, str], ascii_only: bool) -> None:
    written = {
        **strings,
        "list": [[*strings.values()], {"n": 1.50, "deep": {"message": "m", "description": "d"}}],
        "@about": "a",
    }
    content = json.dumps(written, ensure_ascii=ascii_only, indent="\t").encode()
    assert same(content, Path("a.json")) == content
    loud = json.loads(louder(content, Path("a.json")))
    assert loud.keys() == written.keys()
    assert all(alike(loud[key], strings[key]) and loud[key].count("\n") == strings[key].count("\n") for key in strings)
    assert all(map(alike, loud["list"][0], strings.values()))
    assert loud["list"][1] == {"n": 1.50, "deep": {"message": "M", "description": "d"}}
    assert loud["@about"] == "a"


@given(st.lists(PARAGRAPHS.map(str.strip), min_size=1, unique=True))
def test_messages_of_po_are_read_as_they_were_meant(texts: list[str]) -> None:
    content = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    content += "".join(f'\nmsgid {json.dumps(text, ensure_ascii=False)}\nmsgstr ""\n' for text in texts)
    for change, expected in ((same, str.__eq__), (louder, alike)):
        filled = change(content.encode(), Path("a.po"))
        units = list(Po().units(opened(filled), Path("a.po")))
        assert [unit.texts[0].text for unit in units] == texts
        assert all(expected(unit.texts[1].text, unit.texts[0].text) for unit in units)
        assert all(unit.texts[1].text.count("\n") == unit.texts[0].text.count("\n") for unit in units)
        assert all(unit.left_out == "fuzzy" for unit in units)


@given(PARAGRAPHS)
def test_apple_strings_are_read_as_they_were_meant(text: str) -> None:
    content = f'/* a */\n"key" = {json.dumps(text, ensure_ascii=False)}; // b\n'.encode()
    assert same(content, Path("a.strings")) == content
    (key, new), *_ = messages(louder(content, Path("a.strings")), Path("a.strings"))
    assert key == "key"
    assert alike(new, text)


def test_fluent_keeps_what_is_replaced_and_terms() -> None:
    path = Path("a.ftl")
    text = (
        "-brand = Fire\nhello =\n    Hello *you*,\n    it is { $n }\n\n    .title = A <a { $url }>link</a> of { -brand }\r\n"
        'many = { $n ->\n  [one] x\n *[other] y\n}\n# note = x\nlast = 1 {"lit"} end'
    )
    expected = (
        "-brand = Fire\nhello =\n    HELLO *YOU*, IT IS { $n }\n\n    .title = A <a { $url }>LINK</a> OF { -brand }\r\n"
        'many = { $n ->\n  [one] X\n *[other] Y\n}\n# note = x\nlast = 1 {"lit"} END'
    )
    assert louder(text.encode(), path).decode() == expected
    whole = document(b"a =\n    word\nb = word\n", path)
    new = whole.joined([translation("word", lambda _, mark=mark: f"{mark} }} x") for mark in "*["]).decode()
    assert new == 'a =\n    {"*"} {"}"} x\nb = [ {"}"} x\n'


@given(st.text(alphabet='ab =-.{}$\n\r*[]<>"', max_size=60))
def test_any_fluent_is_translated_into_itself(text: str) -> None:
    content = f"x = y{text}".encode()
    assert same(content, Path("a.ftl")) == content


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(sorted(DOCUMENTS)))
def test_anything_is_translated_into_itself_or_refused_in_a_line(content: bytes, kind: str) -> None:
    try:
        whole = document(content, Path("a"), kind=kind)
    except RnnsearchError as error:
        refusal = str(error)
    else:
        refusal = ""
        new = whole.joined([translation(sentence, str) for sentence in whole.sentences])
        assert kind in ("po", "xliff", "qt") or new == content
    assert "\n" not in refusal


@given(st.text(alphabet="ab \n`*_[]()<>|#-!\\$&;:1.~=>\t", max_size=80))
def test_any_markdown_is_translated_into_itself(text: str) -> None:
    content = f"x{text}".encode()
    assert same(content, Path("a.md")) == content


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "bomb": ("xliff", f"<?xml version='1.0'?>{BOMB}<xliff/>".encode(), "a declaration of an entity"),
    "deep": ("android", b"<resources><string>" + b"<b>" * 300, "more than 100 elements"),
    "cut": ("qt", b"<TS><context><message><source>a</source>", "not well-formed"),
    "json": ("json-messages", b'{"a": "b"', "not JSON"),
    "nested": ("json-messages", b"[" * 100_000, "nested too deep"),
    "strings": ("strings", b'"a" = "b"', "not an entry"),
    "po": ("po", b'msgid "a"\nmsgstr ""\nnonsense\n', "not PO"),
    "bytes": ("subtitles", b"1\n00:00:01,000 --> 00:00:02,000\n\xff\n", "not valid UTF-8"),
    "encoding": ("resx", b"<?xml version='1.0' encoding='x-none'?><root/>", "encoding"),
    "surrogates": (
        "android",
        b"<?xml version='1.0' encoding='utf-7'?><resources><string>+2AA-</string></resources>",
        "utf-7",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_refused_in_a_line(name: str) -> None:
    kind, content, reason = HOSTILE[name]
    with pytest.raises(RnnsearchError) as refusal:
        document(content, Path("file"), kind=kind)
    assert reason in str(refusal.value)
    assert str(refusal.value).startswith("file")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "part", ["*a", "`", "[", "[a](", "<a ", "**_", "![[", "$a", "\\", "&#", "| ", "> ", "- ", "\n    a\n"]
)
def test_markdown_takes_linear_time(part: str) -> None:
    start = time.perf_counter()
    document((part * (20_000 // len(part))).encode(), Path("a.md"))
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("part", ["{", "%(", "<", "</", "<i>", "{\\", "a "])
def test_subtitles_take_linear_time(part: str) -> None:
    content = b"1\n00:00:01,000 --> 00:00:02,000\na " + part.encode() * (60_000 // len(part))
    start = time.perf_counter()
    whole = DocumentFile(content, DOCUMENTS["subtitles"], Path("a.srt"))
    whole.joined([slot.text.upper() for slot in whole.slots])
    assert time.perf_counter() - start < 5
