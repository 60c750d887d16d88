"""A text that was cut into sentences is whole again, and is cut where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation import Translation
from rnnsearch.translation.sentences import as_line, as_passage, has_words

texts = st.text(st.sampled_from('ab.!? \n\t\r\u2028\u00a0“”"«»AÉ1…)(🙂#-'), max_size=60) | st.text(max_size=40)


@given(texts, st.booleans())
def test_no_letter_is_lost(text: str, split: bool) -> None:
    for passage in (as_passage(text, "en", split), as_line(text, "fr", split)):
        assert passage.joined([Translation(sentence, 0.0, True, []) for sentence in passage.sentences]) == text
        assert all(sentence == sentence.strip() for sentence in passage.sentences)
        assert all(passage.sentences) or len(passage.sentences) == 1


def test_sentences_and_lines() -> None:
    text = " Dr. Smith went home. He slept!\n\nIt rained."
    assert as_passage(text, "en").sentences == ["Dr. Smith went home.", "He slept!", "It rained."]
    assert as_passage(text, "en", split=False).sentences == ["Dr. Smith went home. He slept!", "It rained."]


@pytest.mark.parametrize(
    "line",
    [
        "Mr. Brown met Mrs. Green and Dr. Jones at 5 p.m. on Monday.|They talked.",
        "Prices rose by 3.5 percent.|Version 2.0.1 is out.|It costs 3,50.",
        "J. R. R. Tolkien wrote it.|C. S. Lewis and John F. Kennedy read it.|So do I.|He left.",
        "“Where are you?” she asked.|“At home.”|He closed the door.",
        '"It is late.|We must go with Mr. Smith," he said.|Then he left.',
        "Wait... what?|I don't know...|Maybe.|Well… perhaps.",
        "He left (at last.)|(It was late.)|We slept.",
        "See www.example.com.|Mail a.b@c.org or http://x.org/a.html?b=1.|Use .NET, main.py and node.js.|Done.",
        "He lives in the U.S.|She works for the U.S. Army.|They like apples, pears, etc.|I don't.",
        "See vol. 2, No. 5 and pp. 5-7.|It takes approx. 10 min. by bus.|No.|I won't.",
        "Open Mon.-Fri. 9-5, Sat. 10:00-2 p.m.|We saw the sun.|3 dogs barked.",
        "Hello world.|This has no space.",
        "1.|Buy milk.|2.|Buy bread.",
        "🙂|Hello.|🎉|How are you|🙂",
        "- [ ]|Buy milk.|Then go.",
        "- [x]|Buy milk.",
        "##|The end",
        "*|Buy milk.|Then go.",
        "> >|Buy milk.",
        "-|Yes.|-|No.",
        "a)|Buy milk.",
        "(2)|Buy milk.",
        "1)|Open it.|2)|Close it.",
        ">|Hello there.|How are you?",
        "• 2.1.|Introduction",
        "IV.|The end",
        "1.5 million people came.|-5 degrees is cold.|3 apples are left.|A. Smith ate one.",
        "[00:12.00]|She sings.",
        "I have 5 * 3 and (1) more - or so.",
    ],
)
def test_english(line: str) -> None:
    assert as_passage(_written(line), "en").sentences == [part.strip() for part in line.split("|")]


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("{1}{50}She sings.", ["{1}{50}", "She sings."]),
        ("[00:12]She sings.", ["[00:12]", "She sings."]),
        (r"{\an8}She sings.", [r"{\an8}", "She sings."]),
        ("| name | 5 men |", ["|", "name", "|", "5 men", "|"]),
        ("  |a|\n", ["|", "a", "|"]),
        ("Yes/No", ["Yes", "/", "No"]),
        ("Yes / No?", ["Yes", "/", "No?"]),
        ("Home | About us | À propos", ["Home", "|", "About us", "|", "À propos"]),
        ("I/O error, and/or S/M", ["I/O error, and/or S/M"]),
        ("[OK] [Cancel all]", ["[", "OK", "] [", "Cancel all", "]"]),
        ("[Required]", ["[", "Required", "]"]),
        ("(It rains. He sleeps.)", ["(", "It rains.", "He sleeps.", ")"]),
        ("-- Select --", ["--", "Select", "--"]),
        ("=== The end ===", ["===", "The end", "==="]),
        ("Sign in / Register", ["Sign in", "/", "Register"]),
        ("AC/DC", ["AC/DC"]),
        ("and/or", ["and/or"]),
        ("P.S. It rains.", ["P.S.", "It rains."]),
        ("**It rains. He sleeps.**", ["**", "It rains.", "He sleeps.", "**"]),
        ("_The end_", ["_", "The end", "_"]),
        ("the _end_ of_it", ["the _end_ of_it"]),
        ("a | b", ["a | b"]),
        ("Go to File > Save As...", ["Go to File", ">", "Save As..."]),
        ("Settings → Privacy -> Cookies", ["Settings", "→", "Privacy", "->", "Cookies"]),
        ("A > B", ["A > B"]),
        ("It has x > 5 or y", ["It has x > 5 or y"]),
        ("OMG!!! I can't believe it", ["OMG!!!", "I can't believe it"]),
        ("who is it?? no idea", ["who is it??", "no idea"]),
        ("So funny 😂 See you soon", ["So funny", "😂", "See you soon"]),
        ("I ❤️ Paris in spring", ["I ❤️ Paris in spring"]),
        ("Miss you 💕 call me when you can", ["Miss you", "💕", "call me when you can"]),
        ("thanks, 😊 see you", ["thanks,", "😊", "see you"]),
        ("ok 👍🏽 bye", ["ok", "👍🏽", "bye"]),
        ("I ❤️ this place", ["I ❤️ this place"]),
        ("Add 2 tbsp. oil and 1 oz. salt", ["Add 2 tbsp. oil and 1 oz. salt"]),
        ("I want 🍕 for dinner", ["I want 🍕 for dinner"]),
        ("Step 1: Open the app. Step 2: Wait.", ["Step 1:", "Open the app.", "Step 2:", "Wait."]),
        ("Chapter 4: A dog", ["Chapter 4:", "A dog"]),
        ("Bus 5: at noon", ["Bus 5: at noon"]),
        ("Come at 4 p.m. EST. It is late.", ["Come at 4 p.m. EST.", "It is late."]),
        ("Q: What is it?", ["Q:", "What is it?"]),
    ],
)
def test_marks_that_touch_a_sentence(line: str, sentences: list[str]) -> None:
    assert as_passage(line, "en").sentences == sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "00:01:02,000 --> 00:01:04,000", "00:01.000 --> 00:04.000 align:start line:0", "WEBVTT", "- [x]", "a)", "> *",
        "```python", "http://example.com/a?b=c", "www.example.com", "first.last@mail.example.com", "42 %", "🙂", "",
    ],
)  # fmt: skip
def test_what_has_no_words(sentence: str) -> None:
    assert not has_words(sentence)


@pytest.mark.parametrize("sentence", ["a", "See http://example.com.", "A --> B", "me @ home", "x) y", "It is 5 a.m."])
def test_what_has_words(sentence: str) -> None:
    assert has_words(sentence)


@pytest.mark.parametrize(
    "line",
    [
        "M. Dupont et MM. Durand ont vu Mme. Petit, Mlle. Martin et le Dr. Leroy.|Ils ont parlé.",
        "J.-P. Sartre l'a écrit.|C. Dupont et le président G. Pompidou l'ont lu.|La S.N.C.F. aussi.|L'O.N.U. non.",
        "Il aime les fruits, p. ex. les pommes, c.-à-d. tout.|Elle non.",
        "Des pommes, des poires, etc.|Elles sont bonnes.",
        "« Où es-tu ? » demanda-t-elle.|« À la maison. »|Il entra.",
        "« Il est tard.|Partons. »|Puis il est parti.",
        "Attends… quoi ?|Je ne sais pas…|Peut-être.",
        "Il habite au bd. Voltaire et à St. Denis.|Elle part à 11 h. 30.|Voir p. 5.",
        "(Il était tard.)|Nous dormions.",
        "Il est né en 1950 av. J.-C.|C'est vieux.",
        "Comment allez-vous ?|Bien !|Et vous ?",
        "— |Bonjour.|— |À demain !",
        "☐ 1. |Acheter du pain.|c) |Le vin",
    ],
)
def test_french(line: str) -> None:
    assert as_passage(_written(line), "fr").sentences == [part.strip() for part in line.split("|")]


def _written(line: str) -> str:
    return line.replace("world.|", "world.").replace("|", " ")


@pytest.mark.parametrize("text", ["1.", "a)", "(b)", "IV.", "- 2)", "5 %", "🙂", "> a)"])
def test_marks_of_lists_are_nothing_to_translate(text: str) -> None:
    assert not has_words(text)


@pytest.mark.parametrize("text", ["a", "I", "a) b", "(no)", "Mix."])
def test_words_are(text: str) -> None:
    assert has_words(text)


ENDLESS = [
    "a", "a.", "A.", "ab.cd", "a… ", "(A… ", "etc. A ", "🙂", "🙂 ", "# ", ". . ", "Mr. ", "- [x] ", "{1}{2}", "|a", "|",
    "**a", "* ", "a@", "a.b@a-", "[1:", "```",
]  # fmt: skip


@pytest.mark.parametrize("text", ENDLESS, ids=ascii)
def test_long_lines_take_no_longer_than_their_length(text: str) -> None:
    line = text * (60_000 // len(text))
    assert "".join([sentence + space for sentence, space in _pairs(line)]).strip() == line.strip()


def _pairs(line: str) -> list[tuple[str, str]]:
    passage = as_passage(line, "en")
    return list(zip(passage.sentences, passage.spaces, strict=True))


def test_a_long_list_is_cut_after_every_fourth_item() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    passage = as_passage(f"{', '.join(words)}.", "en")
    assert passage.sentences == ["one, two, three, four", ",", "five, six, seven, eight", ",", "nine, ten."]
    assert as_passage(", ".join(words[:8]), "en").sentences == [", ".join(words[:8])]
    clauses = ", ".join(f"I saw the {word} of them" for word in words)
    assert as_passage(clauses, "en").sentences == [clauses]


@pytest.mark.parametrize("lead", ["// ", "/* ", "/// ", "# ", "- ", "> "])
def test_a_mark_before_a_sentence_is_no_part_of_it(lead: str) -> None:
    assert as_passage(f"{lead}Mend this.", "en").sentences[-1] == "Mend this."
