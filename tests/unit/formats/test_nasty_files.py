"""Files of pairs as careless tools write them: nothing is lost, nothing is paired wrongly, and every refusal says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair_files import read
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import languages_of_text, read_sources
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.languages import Languages
from rnnsearch.formats.units import without_surrogates


def refusal(path: Path, *more: str) -> str:
    with pytest.raises(RnnsearchError) as refused:
        read(path, *more)
    told = str(refused.value)
    assert "\n" not in told
    assert str(path) in told
    return told


def unit(**texts: str) -> str:
    variants = (f'<tuv xml:lang="{tag.replace("_", "-")}"><seg>{text}</seg></tuv>' for tag, text in texts.items())
    return f"<tu>{''.join(variants)}</tu>"


def tmx(path: Path, *units: str, srclang: str = "en", start: str = "") -> Path:
    body = "\n".join(units)
    path.write_text(f'{start}<tmx version="1.4"><header srclang="{srclang}"/><body>{body}</body></tmx>', encoding="utf-8")
    return path


def test_the_source_language_of_a_memory_is_that_of_its_header_in_any_region(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", unit(fr_CA="seul"), unit(fr_CA="maison", en_US="house"), srclang="en")
    assert languages_of_text(path, path) == ("en", "fr")
    pairs, told = read(path)
    assert pairs == [("house", "maison")]
    assert "1 without the source language (line 1)" in told


def test_a_unit_in_one_language_does_not_say_the_direction(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", unit(fr="seul"), unit(en="house", fr="maison"), srclang="*all*")
    assert languages_of_text(path, path) == ("en", "fr")


@pytest.mark.parametrize("languages", [("en-US", "en-GB"), ("en-AU", "en-GB"), ("en-GB", "en")])
def test_a_text_is_never_a_pair_with_itself(tmp_path: Path, languages: Languages) -> None:
    path = tmx(tmp_path / "m.tmx", unit(en_US="color", fr="couleur"))
    with pytest.raises(RnnsearchError, match=r"m\.tmx: has en-US, fr, and no "):
        read(path, languages)


def test_one_region_and_all_others(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", unit(en_GB="colour", en_US="color"), unit(en_GB="alone", fr="seul"))
    assert read(path, ("en", "en-GB"))[0] == [("color", "colour")]


def test_regions_of_a_language_with_three_letters(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", unit(en="house", fur="cjase"), unit(en="day", fur_IT="dì"))
    assert read(path, ("en", "fur"))[0] == [("house", "cjase"), ("day", "dì")]


@pytest.mark.parametrize("text", ["A <b>bold</b> word", "A <span><b>bold</b></span> word", "A <b>bold</b> word<br/>"])
def test_elements_that_a_format_does_not_have_keep_their_text(tmp_path: Path, text: str) -> None:
    memory = tmx(tmp_path / "m.tmx", unit(en=text, fr="mot"))
    xliff = tmp_path / "m.xlf"
    pair = f"<source>{text}</source><target>mot</target>"
    xliff.write_text(
        '<xliff version="1.2"><file source-language="en" target-language="fr">'
        f"<trans-unit>{pair}</trans-unit></file></xliff>"
    )
    second = tmp_path / "m2.xlf"
    second.write_text(
        f'<xliff version="2.0" srcLang="en" trgLang="fr"><file><unit><segment>{pair}</segment></unit></file></xliff>'
    )
    for path in (memory, xliff, second):
        assert read(path)[0] == [("A bold word", "mot")]
        assert read(path, tags=True)[0][0][0].startswith("A <g1>")


@pytest.mark.parametrize("declared", ["utf8", "UTF8", "utf_8", "UTF-8"])
def test_misspelt_utf_8_is_utf_8(tmp_path: Path, declared: str) -> None:
    path = tmx(tmp_path / "m.tmx", unit(en="coffee", fr="café"), start=f'<?xml version="1.0" encoding="{declared}"?>')
    assert read(path)[0] == [("coffee", "café")]


def test_a_target_that_is_not_divided_belongs_to_the_whole_source(tmp_path: Path) -> None:
    path = tmp_path / "m.xlf"
    marks = '<mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two.</mrk>'
    text = f"<trans-unit><source>One. Two.</source><seg-source>{marks}</seg-source><target>Un. Deux.</target></trans-unit>"
    path.write_text(f'<xliff version="1.2"><file source-language="en" target-language="fr">{text}</file></xliff>')
    assert read(path)[0] == [("One. Two.", "Un. Deux.")]


RULES = {
    "ja": ("nplurals=1; plural=0;", [("files", "0")]),
    "fr": ("nplurals=2; plural=(n > 1);", [("file", "0"), ("files", "1")]),
    "lv": ("nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);", [("file", "0"), ("files", "1")]),
    "sl": (
        "nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);",
        [("file", "1"), ("files", "0")],
    ),
    "ga": ("nplurals=5; plural=n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4;", [("file", "0"), ("files", "4")]),
    "ar": (
        "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;",
        [("file", "1"), ("files", "5")],
    ),
    "template": ("nplurals=INTEGER; plural=EXPRESSION;", [("file", "0"), ("files", "1")]),
    "hostile": ("nplurals=2; plural=n/0;", [("file", "0"), ("files", "1")]),
    "endless": ("nplurals=2; plural=" + "(" * 900 + ";", [("file", "0"), ("files", "1")]),
    "none": ("", [("file", "0"), ("files", "1")]),
}


@pytest.mark.parametrize("language", RULES)
def test_plural_forms_of_po_follow_the_rule_of_the_header(tmp_path: Path, language: str) -> None:
    rule, expected = RULES[language]
    count = int(rule[9]) if rule[9:10].isdigit() else 2
    header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: {rule}\\n"\n'
    forms = "".join(f'msgstr[{number}] "{number}"\n' for number in range(count))
    path = tmp_path / "x.po"
    path.write_text(f'{header if rule else ""}\nmsgid "file"\nmsgid_plural "files"\n{forms}')
    assert read(path)[0] == expected


def test_a_number_of_a_form_with_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text(f'msgid "a"\nmsgid_plural "b"\nmsgstr[{"9" * 5000}] "c"\n')
    assert "x.po:3: not PO" in refusal(path)


def test_variants_of_languages_in_po(tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text('msgid ""\nmsgstr "Language: sr@latin\\n"\n\nmsgid "a"\nmsgstr "b"\n')
    assert languages_of_text(path, path) == ("en", "sr")
    assert read(path, ("en", "sr"))[0] == [("a", "b")]


def test_surrogates_of_escapes_are_characters(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"en": "a \\ud83d\\ude00", "fr": "b \\ud83d"}\n')
    assert read(path)[0] == [("a 😀", "b \ufffd")]
    paths = [tmp_path / f"values-{language}" / "strings.xml" for language in ("en", "fr")]
    for one in paths:
        one.parent.mkdir()
        one.write_text('<resources><string name="a">a \\ud83d\\ude00 \\ude00</string></resources>')
    assert read(paths[0], other=paths[1])[0] == [("a 😀 \ufffd",) * 2]


@given(st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=20))
def test_any_text_can_be_encoded_without_its_surrogates(text: str) -> None:
    new = without_surrogates(text)
    assert new.encode().decode() == new
    assert new == text or any("\ud800" <= letter <= "\udfff" for letter in text)


FILES = {
    "t.csv": "en,fr\nhouse,maison\n",
    "t.tsv": "en\tfr\nhouse\tmaison\n",
    "t.jsonl": '{"en": "house", "fr": "maison"}\n',
    "t.po": 'msgid "house"\nmsgstr "maison"\n',
    "t.txt": "house\tmaison\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_without_a_mark_is_refused_and_with_one_read(tmp_path: Path, name: str, order: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name].encode(f"utf-16-{order}"))
    assert f"this is UTF-16{order.upper()}, not UTF-8; convert it" in refusal(path)
    mark = b"\xff\xfe" if order == "le" else b"\xfe\xff"
    path.write_bytes(mark + FILES[name].encode(f"utf-16-{order}"))
    if name != "t.txt":
        assert read(path)[0] == [("house", "maison")]


@pytest.mark.parametrize("name", FILES)
def test_latin_1_is_refused_with_the_line_and_the_command(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name].replace("maison", "manière").encode("latin-1"))
    told = refusal(path)
    assert "not valid UTF-8 (byte 0xe8" in told
    assert "iconv -f" in told


def test_marks_in_the_middle_of_joined_files(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\ufeff".join(["", FILES["t.jsonl"], FILES["t.jsonl"]]), encoding="utf-8")
    assert read(path)[0] == [("house", "maison")] * 2


@pytest.mark.parametrize(
    ("name", "start", "told"),
    [
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "an encrypted document, or one of an old Office"),
        ("a.pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "this is a PDF; save the document"),
        ("a.rtf", b"{\\rtf1\\ansi text}", "this is RTF; save it as .docx"),
        ("a.odt", b"PK\x03\x04\0\0", "a document of another kind; save it as .docx or HTML"),
        ("a.zip", b"PK\x03\x04\0\0", "this is compressed"),
    ],
)
def test_documents_that_are_not_read_are_named(tmp_path: Path, name: str, start: bytes, told: str) -> None:
    path = tmp_path / name
    path.write_bytes(start)
    assert told in refusal(path)
    for reader in (read_sources, read_lines):
        with pytest.raises(RnnsearchError, match=told):
            list(reader(path))


CUES = {
    "numbered": "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:02,000 --> 00:00:04,500\n{}\n",
    "without numbers": "00:00:01,000 --> 00:00:02,000\n{}\n\n00:00:02,000 --> 00:00:04,500\n{}\n",
    "without blank lines": "1\n00:00:01,000 --> 00:00:02,000\n{}\n2\n00:00:02,000 --> 00:00:04,500\n{}\n",
    "with positions": "1\n00:00:01,000 --> 00:00:02,000 X1:1 X2:9\n{}\n\n2\n00:00:02,000-->00:00:04,500\n{}\n",
    "without fractions": "1\n00:00:01 --> 00:00:02\n{}\n\n2\n00:00:02 --> 00:00:04.5\n{}\n",
    "WebVTT": "WEBVTT - Title\n\nSTYLE\n::cue {{ color: red }}\n\nNOTE\nno cue\n\nid\n00:01.000 --> 00:02.000 line:0\n{}\n\n"
    "00:02.000 --> 00:04.500\n{}\n",
}


@pytest.mark.parametrize("kind", CUES)
@pytest.mark.parametrize("other", ["numbered", "WebVTT"])
def test_subtitles_of_many_kinds(tmp_path: Path, kind: str, other: str) -> None:
    english, french = tmp_path / "a.en", tmp_path / "a.fr"
    english.write_text("\ufeff" + CUES[kind].format("House.", "Old\nman."), encoding="utf-8")
    french.write_text(CUES[other].format("Maison.", "Vieil\nhomme."), encoding="utf-8")
    assert read(english, other=french)[0] == [("House.", "Maison."), ("Old man.", "Vieil homme.")]


def test_times_with_thousands_of_digits_are_no_times(tmp_path: Path) -> None:
    paths = [tmp_path / "a.srt", tmp_path / "b.srt"]
    for path in paths:
        path.write_text(CUES["numbered"].format("a", "b").replace("00:00:02,000 -->", f"{'9' * 5000}:00:02,000 -->"))
    assert read(paths[0], other=paths[1])[0] == [("a", "a")]


def test_messages_of_json_with_a_choice_are_left_out(tmp_path: Path) -> None:
    paths = [tmp_path / "en.json", tmp_path / "fr.json"]
    for path, word in zip(paths, ("files", "fichiers"), strict=True):
        path.write_text(
            json.dumps({"a": f"{{n,plural,other{{# {word}}}}}", "b": f"{{n}} {word}", "c": f"{{n, number}} {word}"})
        )
    pairs, told = read(paths[0], other=paths[1])
    assert pairs == [("{n} files", "{n} fichiers"), ("{n, number} files", "{n, number} fichiers")]
    assert "1 of 3 units left out: 1 with a choice between variants (message 1)" in told


def test_an_object_with_a_message_beside_other_messages_is_no_description(tmp_path: Path) -> None:
    paths = [tmp_path / "en.json", tmp_path / "fr.json"]
    for path, end in zip(paths, ("", "e"), strict=True):
        dialog = {"title": f"t{end}", "message": f"m{end}", "ok": f"o{end}"}
        extension = {"message": f"n{end}", "description": "about it", "placeholders": {"x": {"content": "$1"}}}
        path.write_text(json.dumps({"dialog": dialog, "name": extension}))
    assert read(paths[0], other=paths[1])[0] == [("t", "te"), ("m", "me"), ("o", "oe"), ("n", "ne")]


def test_references_of_android_are_no_texts(tmp_path: Path) -> None:
    paths = [tmp_path / "en.xml", tmp_path / "fr.xml"]
    for path in paths:
        path.write_text(
            '<resources><string name="a">@string/app_name</string><string-array name="b"><item>?attr/text</item>'
            '<item>\\@ home</item></string-array><string name="c">text</string></resources>'
        )
    pairs, told = read(paths[0], other=paths[1])
    assert pairs == [("@ home", "@ home"), ("text", "text")]
    assert "2 a reference to another string (line 1)" in told


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.jsonl", FILES["t.jsonl"], ["house"]),
        ("t.csv", FILES["t.csv"], ["house"]),
        ("t.tsv", FILES["t.tsv"], ["house"]),
        ("t.csv", "house,maison\n", ["house,maison"]),
        ("t.txt", "English, French\nhouse, garden\n", ["English, French", "house, garden"]),
        ("t.txt", FILES["t.jsonl"], [FILES["t.jsonl"].strip()]),
    ],
)
def test_sources_of_records_that_name_their_languages(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    """`translate` reads the sources of a file that cannot be plain text, and lines of any other."""
    path = tmp_path / name
    path.write_text(text)
    assert list(read_sources(path)) == expected


def test_a_file_of_records_is_no_side(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(FILES["t.jsonl"])
    (tmp_path / "t.fr").write_text("maison\n")
    with pytest.raises(RnnsearchError, match="JSON Lines has both sides of pairs; name it alone"):
        read(tmp_path / "t.jsonl", other=tmp_path / "t.fr")
