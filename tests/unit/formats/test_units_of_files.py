"""What formats make of units: languages, variants, inline tags, plural forms, states, and reasons to leave units out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pair_files import Pairs, read
from rnnsearch.data.read import languages_of_text, read_sources
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.languages import Languages, language_in_name, parse_languages


def tmx(path: Path, *units: dict[str, str] | str, srclang: str = "en-US") -> Path:
    """A memory of these units: texts by language, or XML."""
    body = ""
    for unit in units:
        if isinstance(unit, dict):
            unit = "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in unit.items())
        body += f"<tu>{unit}</tu>\n"
    path.write_text(f'<tmx version="1.4"><header srclang="{srclang}"/><body>{body}</body></tmx>', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("languages", "found"),
    [
        (("en", "fr"), [("color", "couleur"), ("day", "jour")]),
        (("en-GB", "fr"), [("colour", "couleur")]),
        (("EN_us", "fr-CA"), [("color", "coloris")]),
        (("fr", "en"), [("couleur", "color"), ("jour", "day")]),
        (("sr", None), None),
        (("sr", "en-US"), [("boja", "color")]),
    ],
)
def test_languages_of_a_file_with_many(tmp_path: Path, languages: Languages, found: Pairs | None) -> None:
    path = tmx(
        tmp_path / "m.tmx",
        {"en-US": "color", "en-GB": "colour", "fr": "couleur", "fr-CA": "coloris", "sr": "boja"},
        {"en-US": "day", "fr": "jour"},
    )
    if found is None:
        with pytest.raises(RnnsearchError, match=r"has 5 languages .*--languages"):
            read(path, languages)
    else:
        assert read(path, languages)[0] == found


def test_ambiguous_languages_are_named(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", {"en-US": "a", "fr": "b", "sr": "c"})
    with pytest.raises(RnnsearchError, match=r"m\.tmx: has 3 languages \(en-US, fr, sr\); .* --languages en-US,fr"):
        read(path)
    with pytest.raises(RnnsearchError, match="has en-US, fr, sr, and no de; "):
        read(path, ("de", "fr"))
    with pytest.raises(RnnsearchError, match="has only en; there is no second language"):
        read(tmx(tmp_path / "one.tmx", {"en": "a"}))


@pytest.mark.parametrize(("srclang", "languages"), [("de", ("de", "en")), ("EN", ("en", "de")), ("*all*", ("en", "de"))])
def test_the_header_says_the_direction(tmp_path: Path, srclang: str, languages: Languages) -> None:
    path = tmx(tmp_path / "m.tmx", {"en": "a", "de": "b"}, srclang=srclang)
    assert languages_of_text(path, path) == languages


def test_regions_alone_are_languages(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", {"en-US": "color", "en-GB": "colour"})
    assert read(path)[0] == [("color", "colour")]
    assert read(path, ("en-GB", "en-US"))[0] == [("colour", "color")]


def test_each_variant_is_a_pair_and_the_same_pair_counts_once(tmp_path: Path) -> None:
    variants = "".join(f'<tuv lang="fr"><seg>{text}</seg></tuv>' for text in ("un", "une", "un"))
    path = tmx(tmp_path / "m.tmx", f'<tuv lang="en-US"><seg>one</seg></tuv>{variants}')
    assert read(path)[0] == [("one", "un"), ("one", "une")]


INLINE = (
    '<tuv xml:lang="en-US"><seg>A <bpt i="1" x="5">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept> <hi>word</hi>,'
    "<ph>&lt;br/&gt;</ph>a\n  <it pos='begin'>&lt;i&gt;<sub>no text</sub></it>line</seg></tuv>"
    '<tuv xml:lang="fr"><seg><bpt i="9" x="5">&lt;b&gt;</bpt>Gras<ept i="9">&lt;/b&gt;</ept>, un <hi>mot</hi>,'
    "<ph>&lt;br/&gt;</ph>une <it pos='begin'>&lt;i&gt;</it>ligne</seg></tuv>"
)


def test_inline_tags_are_left_out_or_the_same_on_both_sides(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", INLINE)
    assert read(path)[0] == [("A bold word,a line", "Gras, un mot,une ligne")]
    assert read(path, tags=True)[0] == [
        ("A <g1>bold</g1> word,<x2/>a <x3/>line", "<g1>Gras</g1>, un mot,<x2/>une <x3/>ligne"),
    ]


def test_a_tag_between_two_words_is_a_space(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", {"en-US": "one<ph x='1'/>two un<bpt i='1'/>believ<ept i='1'/>able", "fr": "un"})
    assert read(path)[0] == [("one two unbelievable", "un")]


def test_units_that_are_left_out_are_counted_with_their_lines(tmp_path: Path) -> None:
    units: list[dict[str, str] | str] = [{"en-US": "a", "fr": "b"}]
    units += [{"en-US": "no French"}] * 7 + [{"en-US": "<ph/>", "fr": " \u00a0 "}, "<prop>nothing</prop>"]
    pairs, told = read(tmx(tmp_path / "m.tmx", *units))
    assert pairs == [("a", "b")]
    assert told.endswith(
        "m.tmx: 1 pair; 9 of 10 units left out: 7 without the target language (lines 2, 3, 4, 5, 6, …); "
        "2 without text (lines 9, 10)"
    )


def test_states_of_xliff(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    units = [
        '<trans-unit id="1"><source>one</source><target state="translated">un</target></trans-unit>',
        '<trans-unit id="2"><source>two</source><target state="new">two</target></trans-unit>',
        '<trans-unit id="3" translate="no"><source>three</source><target>three</target></trans-unit>',
        '<trans-unit id="4"><source>four</source><target/></trans-unit>',
        '<trans-unit id="5"><source>five</source><alt-trans><target>other</target></alt-trans></trans-unit>',
        '<trans-unit id="6"><source><g id="1">A</g><x id="2"/></source>'
        '<target><x id="2"/><g id="1">Un</g></target></trans-unit>',
    ]
    head = '<xliff version="1.2"><file source-language="en" target-language="fr"><body>'
    path.write_text(f"{head}\n" + "\n".join(units) + "</body></file></xliff>")
    pairs, told = read(path, tags=True)
    assert pairs == [("one", "un"), ("<g1>A</g1><x2/>", "<x2/><g1>Un</g1>")]
    for reason in (
        "2 without a translation (lines 5, 6)",
        "1 in the state new (line 3)",
        "1 marked as not to be translated",
    ):
        assert reason in told


PO = r"""# a comment
msgid ""
msgstr ""
"Language: pl_PL\n"
"X-Source-Language: de\n"

#. note
#: a.c:1
msgctxt "menu"
msgid "Datei"
msgstr "Plik"
msgctxt "other"
msgid "Datei"
msgstr ""
"Pl"
"ik\n"
"drugi"

#, fuzzy, c-format
#| msgid "vorher"
msgid "unsicher"
msgstr "niepewny"

#, c-format
msgid "%d Datei"
msgid_plural "%d Dateien"
msgstr[0] "%d plik"
msgstr[1] "%d pliki"
msgstr[2] "%d plików"

msgid "offen"
msgstr ""

#~ msgid "alt"
#~ msgstr "stary"
"""


def test_po(tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text(PO)
    pairs, told = read(path)
    assert languages_of_text(path, path) == ("de", "pl")
    assert pairs == [
        ("Datei", "Plik"),
        ("Datei", "Plik drugi"),
        ("%d Datei", "%d plik"),
        ("%d Dateien", "%d plików"),
    ]
    assert "4 pairs; 3 of 6 units left out" in told
    assert all(
        reason in told for reason in ("1 fuzzy (line 21)", "1 without a translation (line 31)", "1 obsolete (line 34)")
    )
    path.write_text(PO + '\nmsgid "open\n')
    with pytest.raises(RnnsearchError, match=r"x\.po:37: not PO: .*msgfmt -c"):
        read(path)


def test_a_table_whose_cells_only_begin_with_quotation_marks_is_plain(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text('"One", he said.\t"Un", dit-il.\n"Two"\t"Deux"\nto\tà\n')
    assert read(path)[0] == [('"One", he said.', '"Un", dit-il.'), ('"Two"', '"Deux"'), ("to", "à")]


@pytest.mark.parametrize(
    "header", ["id,en,fr", "source,target,id", "English;French", "en\tfr", "text_en|text_fr", "nothing"]
)
def test_columns_of_tables(tmp_path: Path, header: str) -> None:
    path = tmp_path / "table.csv"
    separator = next((mark for mark in ";\t|" if mark in header), ",")
    first, second = ('"a, b; c"', '"d ""e"""')
    row = separator.join(["7", first, second] if header.startswith("id") else [first, second, "7"])
    path.write_text(f"{header}\n" * (header != "nothing") + f"{row}\n{row.replace('a', 'g')}\n")
    assert read(path)[0] == [("a, b; c", 'd "e"'), ("g, b; c", 'd "e"')]


def test_rows_with_too_few_cells_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"c\nd",e\nalone\nf,g\n')
    pairs, told = read(path)
    assert pairs == [("a", "b"), ("c d", "e"), ("f", "g")]
    assert "1 of 4 units left out: 1 with too few cells (line 4)" in told


def test_a_cell_that_is_not_closed_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('"a","b"\n"c","d\n')
    with pytest.raises(RnnsearchError, match=r"table\.csv:2: not a table with quotation marks"):
        read(path)


ENGLISH_FTL = """# comment
-brand = Fox
hello = Hello, { $user }!
    How are
    you?
    .title = Title
one-of = { $n ->
    [one] One
   *[other] Many
}
alone = Alone
"""
FRENCH_FTL = """hello = Bonjour { $user } !
    .title = Titre
one-of = x
-brand = Renard
"""


def test_fluent(tmp_path: Path) -> None:
    english, french = tmp_path / "en.ftl", tmp_path / "fr.ftl"
    english.write_text(ENGLISH_FTL)
    french.write_text(FRENCH_FTL)
    pairs, told = read(english, other=french)
    assert pairs == [("Fox", "Renard"), ("Hello, {$user}! How are you?", "Bonjour {$user} !"), ("Title", "Titre")]
    assert "with a choice between variants (line 7)" in told
    assert "not in fr.ftl (line 11)" in told


def test_quantities_of_android_belong_together(tmp_path: Path) -> None:
    paths = []
    for language, quantities in (("en", "one other"), ("ro", "one few other")):
        path = tmp_path / f"values-{language}" / "strings.xml"
        path.parent.mkdir()
        items = "".join(f'<item quantity="{one}">%d {one} {language}</item>' for one in quantities.split())
        fixed = '<string name="n" translatable="false">N</string>'
        text = f'<string name="s">It\\\'s <b>{language}</b> <xliff:g id="x">%s</xliff:g></string>'
        path.write_text(f'<resources xmlns:xliff="u">{text}{fixed}<plurals name="p">{items}</plurals></resources>')
        paths.append(path)
    pairs, told = read(paths[0], other=paths[1])
    assert pairs == [("It's en %s", "It's ro %s"), ("%d one en", "%d one ro"), ("%d other en", "%d other ro")]
    assert "marked as not to be translated" in told
    assert read(paths[0], other=paths[1], tags=True)[0][0] == ("It's <g1>en</g1> %s", "It's <g1>ro</g1> %s")


def test_files_of_two_kinds_are_refused(tmp_path: Path) -> None:
    english, french, text = tmp_path / "en.json", tmp_path / "fr.strings", tmp_path / "fr.txt"
    english.write_text('{"a": "b"}')
    french.write_text('"a" = "c";')
    text.write_text("c\n")
    with pytest.raises(RnnsearchError, match="JSON, but the other side is of Apple strings"):
        read(english, other=french)
    with pytest.raises(RnnsearchError, match="JSON, but the other side is of another kind"):
        read(english, other=text)
    with pytest.raises(RnnsearchError, match="TMX has both sides of pairs; name it alone"):
        read(tmx(tmp_path / "m.tmx", {"en": "a", "fr": "b"}), other=text)


def test_sources_of_a_memory_are_lines(tmp_path: Path) -> None:
    path = tmx(tmp_path / "m.tmx", {"en-US": "a\n b", "fr": "c"}, {"en-US": "d", "fr": "e"})
    assert list(read_sources(path)) == ["a b", "d"]
    (tmp_path / "t.csv").write_text("a,b\n")
    assert list(read_sources(tmp_path / "t.csv")) == ["a,b"], "a line may have commas"


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("app_fr.json", "fr"),
        ("fr.json", "fr"),
        ("pt-BR.po", "pt"),
        ("values-fr/strings.xml", "fr"),
        ("values-pt-rBR/strings.xml", "pt"),
        ("values-b+sr+Latn/strings.xml", "sr"),
        ("values-b+es+419/strings.xml", "es"),
        ("app_zh_Hans_CN.arb", "zh"),
        ("sr@latin.po", "sr"),
        ("en.lproj/Localizable.strings", "en"),
        ("focuswriter_fr.ts.gz", "fr"),
        ("messages.po", None),
        ("values/strings.xml", None),
        ("pootle.po", None),
    ],
)
def test_languages_in_names(name: str, language: str | None) -> None:
    assert language_in_name(Path("somewhere") / name) == language


@pytest.mark.parametrize("given", ["en", "en-fr", "en,fr,de", "en,", "e,fr", "en,français"])
def test_languages_that_are_no_two_tags_are_refused(given: str) -> None:
    with pytest.raises(RnnsearchError, match=f"--languages {given}: give source and target"):
        parse_languages(given)
    assert parse_languages("en, pt_BR") == ("en", "pt_BR")
