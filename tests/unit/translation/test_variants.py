"""Messages of ICU with variants, each of which is translated as a whole sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation.markup import Variants, read_text
from rnnsearch.translation.sentences import as_passage
from tests.translators import louder, translation


def read(message: str) -> Variants:
    return Variants(message, lambda text: as_passage(text, "en"))


def loud(message: str) -> str:
    of = read(message)
    return of.joined([translation(sentence, str.upper) for sentence in of.sentences])


@pytest.mark.parametrize(
    ("message", "sentences", "expected"),
    [
        (
            "You have {n, plural, =0 {no mail} one {# mail} other {# mails}}!",
            ["You have no mail!", "You have 1 mail!", "You have 37 mails!"],
            "{n, plural, =0 {YOU HAVE NO MAIL!} one {YOU HAVE # MAIL!} other {YOU HAVE # MAILS!}}",
        ),
        (
            "{who, select, male {He} other {They}} added {n,plural,other{# files}} to {m, plural, other {# folders}}.",
            ["He added 37 files to 42 folders.", "They added 37 files to 42 folders."],
            "{who, select, male {{n,plural,other {{m, plural, other {HE ADDED {n, number} FILES TO # FOLDERS.}}}}} "
            "other {{n,plural,other {{m, plural, other {THEY ADDED {n, number} FILES TO # FOLDERS.}}}}}}",
        ),
        (
            "It''s {n, plural, one {a day} other {# days}}. Hurry up!",
            ["It's a day.", "Hurry up!", "It's 37 days.", "Hurry up!"],
            "{n, plural, one {IT''S A DAY. HURRY UP!} other {IT''S # DAYS. HURRY UP!}}",
        ),
        ("In 37 days: {n, plural, other {# of}}", ["In 37 days: 42 of"], "{n, plural, other {IN 37 DAYS: # OF}}"),
    ],
)
def test_each_variant_is_a_sentence(message: str, sentences: list[str], expected: str) -> None:
    assert read(message).sentences == sentences
    assert loud(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        "{n, plural, one {a",
        "{n, plural, one {a} other {b}",
        "{n, plural, one {a} !}",
        "{n, plural, other {'{'}}",
        pytest.param("{n, plural, other {a}} " * 20_000, id="many choices"),
        pytest.param("{n, plural, other {" * 20_000 + "}}" * 20_000, id="many choices within each other"),
        "{a, select, " + "".join(f"x{n} {{{{b, select, y {{c}} z {{d}}}}}} " for n in range(30)) + "}",
    ],
)
def test_a_message_that_is_not_well_formed_stays(message: str) -> None:
    assert read(message).sentences == []
    assert loud(message) == message


@given(st.text("{}#,'abn pluraselcto=1 ", max_size=60))
def test_any_text_is_read_and_written(text: str) -> None:
    message = "{n, plural, one {" + text + "} other {# b}}"
    of = read(message)
    written = of.joined([translation(sentence, str) for sentence in of.sentences])
    assert written.count("{") - written.count("}") == message.count("{") - message.count("}")


def test_an_apostrophe_before_a_brace_begins_no_quotation() -> None:
    of = read("{n, plural, other {of # by {who}}}")
    written = of.joined(
        [translation(sentence, lambda text: text.replace("of ", "d'").replace("by ", "l'")) for sentence in of.sentences]
    )
    assert written == "{n, plural, other {d''# l''{who}}}"


def test_variants_in_text_and_in_documents() -> None:
    message = "A {n, plural, one {# cat} other {# cats}}."
    assert read_text(f"Hello.\n{message}\n", "en").sentences == ["Hello.", "A 1 cat.", "A 37 cats."]
    written = louder(
        f'{{"key": "{message}", "b": "{{n, plural,\\n one {{%s of {{a}}}}\\n other {{b}}}}"}}'.encode(), Path("a.json")
    )
    assert re.findall(': "(.*?)"', written.decode()) == [
        "{n, plural, one {A # CAT.} other {A # CATS.}}",
        "{n, plural,\\n one {%s OF {a}} other {B}}",
    ]
