"""The words of a translated document are those of the translation of its text, in order, each once."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation import load
from rnnsearch.translation.markup import Markup
from soup import Invented, invented, text_of

ENGLISH = (
    "Good morning! How are you today?", "I don't know where my keys are.", "Thank you very much for your help.",
    "The train leaves at half past seven.", "Would you like a cup of coffee or tea?", "It's raining again, isn't it?",
    "My sister lives in a small house near the sea.", "We haven't seen each other for two years.",
    "Please close the door when you leave.", "What time is it? It is nearly midnight.",
    "She said that she would call me tomorrow.",
    "The children are playing in the garden.", "I have to buy bread, milk and eggs.", "That was the best film of the year!",
    "Could you tell me where the station is?", "He has been working here since 2015.",
    "There are too many people on the bus.",
    "If you are tired, go to bed.", "The old man's dog sleeps all day.", "Let's meet in front of the museum at 10:30.",
)  # fmt: skip
FRENCH = (
    "Bonjour, comment allez-vous aujourd'hui ?", "Je ne sais pas où sont mes clés.", "Merci beaucoup pour votre aide !",
    "Qu'est-ce que tu veux manger ce soir ?", "L'homme qui habite ici s'appelle Jean.", "Il n'y a plus de pain à la maison.",
    "Nous irons au cinéma s'il pleut demain.", "C'est l'anniversaire de ma sœur aujourd'hui.",
    "Le train part à sept heures et demie.",
    "J'ai acheté du lait, des œufs et du beurre.",
)  # fmt: skip
TEMPLATES = (
    "<p>{} {}</p>",
    "<p><b>{}</b> {}</p>",
    "{} <a href='/'>{}</a>",
    "<td>{}<!-- c --> <em>{}</em><img src=a>",
    "<i>{} <b>{}</b></i>",
)


JOINER = "&#8288;"
"""What stands where a text was, and no word of the translation is."""
LOOSE = (
    "<p>The old <b>man sings</p>",
    "<p><i>The <b>old</i> man</b> sings.</p>",
    "<p>The <span>old <i>man</span> sings.",
    "The</b> old man</i> sings.",
    "<td>The <a href=a>old <a href=b>man</a> sings</a>.</td>",
    "<p>The <b>old<br>man</b> sings</p>",
    "<p><b>The old</b></b> man <i>sings</p><p>The <b>old</b> man",
)


def words_of(document: str) -> list[str]:
    return text_of(document).split()


@pytest.mark.parametrize(("model", "sentences"), [("en-fr", ENGLISH), ("fr-en", FRENCH)])
def test_everyday_sentences(model: str, sentences: Sequence[str]) -> None:
    translator = load(model)
    for number, sentence in enumerate(sentences):
        words = sentence.split()
        cut = number % len(words)
        parts = (html.escape(" ".join(part)) for part in (words[:cut], words[cut:]))
        markup = Markup(TEMPLATES[number % len(TEMPLATES)].format(*parts), model[:2])
        translations = translator.translate(markup.sentences)
        expected = [word for translation in translations for word in translation.text.split()]
        assert words_of(markup.joined(translations)) == expected, sentence


@pytest.mark.parametrize("document", LOOSE)
def test_tags_that_are_not_paired_do_not_end_a_sentence(document: str) -> None:
    markup = Markup(document, "en")
    sentences = re.sub("<(?:br|/?p|/?td)>", "\n", document)
    assert markup.sentences == [each for each in re.sub("<.*?>", "", sentences).split("\n") if each]
    shuffled = random.Random(document)
    for _ in range(20):
        translations = [invented(shuffled, sentence) for sentence in markup.sentences]
        found = markup.joined(translations)
        assert "".join(words_of(found.replace(JOINER, ""))) == "".join("".join(one.text.split()) for one in translations)
        tags = re.compile("<[^<> ]+(?: href=.)?>")
        assert tags.findall(found) == tags.findall(document)


@pytest.mark.parametrize(
    ("document", "words", "links", "expected"),
    [
        ("<p>the old <b>man sings</p>", "X Y Z", [(0, 0), (2, 1), (3, 2)], "<p>X <b>Y Z</p>"),
        ("the old <b>man sings", "X Y Z", [(2, 0), (0, 1), (3, 2)], "X Y <b>Z"),
        ("the old <b>man</i> sings", "X Y", [(0, 0), (2, 1)], "X <b>Y</i>" + JOINER),
        ("the old <b> <i>man</b> sings", "X Y Z", [(0, 0), (2, 1), (3, 2)], "X<b> <i>Y</b> Z"),
        ("the <b>old <a>man</a> sings</i> .", "A B C .", [(0, 0), (2, 1), (3, 2), (4, 3)], "A <b><a>B</a> C</i> ."),
    ],
)  # fmt: skip
def test_words_beside_a_tag_that_is_not_paired(
    document: str, words: str, links: Sequence[tuple[int, int]], expected: str
) -> None:
    markup = Markup(document, "en", split=False)
    assert markup.joined([one_to_one(markup.sentences[0], words, *links)]) == expected


def test_a_greeting() -> None:
    translator = load("en-fr")
    expected = " ".join(translation.text for translation in translator.translate(["Good morning!", "How are you today?"]))
    assert (
        translator.translate_html("<p>Good morning! How are you today?</p>")
        == f"<p>{html.escape(expected, quote=False)}</p>"
    )


texts = st.lists(st.sampled_from(["man", "sings.", "a&amp;b", "old", "The", "l'eau", "!"]), min_size=1, max_size=4).map(
    " ".join
)
empty = st.sampled_from(["<img src=a>", "<wbr>", "<!-- c -->", "<i></i>", "<i> </i>", "<sup>1</sup>", "<b><img></b>"])
inline = st.recursive(
    texts | empty,
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format, st.sampled_from(["b", "i", "u"]), st.lists(inner, max_size=3).map(" ".join)
    ),
    max_leaves=10,
)
# A link within a link is not HTML: a parser ends the first one where the second begins, and moves text.
linked = inline | inline.map("<a>{}</a>".format)
documents = st.lists(st.lists(linked, max_size=5).map(" ".join).map("<p>{}</p>".format), max_size=3).map(" ".join)


@given(documents, st.randoms(use_true_random=False))
def test_words_with_any_links_and_markup(document: str, draw: Random) -> None:
    markup = Markup(document.replace("<sup>1</sup>", "<sup></sup>"), "en")
    translations = [invented(draw, sentence) for sentence in markup.sentences]
    expected = [word for translation in translations for word in translation.text.split()]
    letters = [word for word in words_of(markup.joined(translations).replace(JOINER, "")) if word != "!"]
    assert letters == [word for word in expected if word != "!"]


def one_to_one(sentence: str, translation: str, *links: tuple[int, int]) -> Invented:
    return Invented(translation, translation.split(), [*sentence.split(), ""], frozenset(links))


def test_a_word_of_several_links_is_in_the_element_of_most_of_them() -> None:
    translation = one_to_one("a b c", "A B", (0, 0), (1, 0), (2, 0), (2, 1))
    assert Markup("<b>a b</b> c", "en").joined([translation]) == "<b>A</b> B"
    assert Markup("<b>a</b> b c", "en").joined([translation]) == "<b></b>A B"
    assert Markup("a <b>b c</b>", "en").joined([translation]) == "<b>A B</b>"


def test_a_word_without_links_is_read_from_the_same_word() -> None:
    markup = Markup("call <code>f</code> now", "en")
    assert markup.joined([one_to_one("call f now", "X f Y", (0, 0), (2, 2))]) == "X <code>f</code> Y"


@pytest.mark.parametrize(
    ("document", "words", "links", "expected"),
    [
        # Nothing was read from it: it has the spaces of the document.
        ("Run <code>ls</code> now", "X Y", [(0, 0), (2, 1)], "X <code>ls</code> Y"),
        ("now run <code>ls</code>", "X Y", [(0, 0), (1, 1)], "X Y <code>ls</code>"),
        ("<code>ls</code> runs now", "X Y", [(1, 0), (2, 1)], "<code>ls</code> X Y"),
        ("Run <img src=a> now", "X Y", [(0, 0), (1, 1)], "X <img src=a> Y"),
        ("the<wbr> <!-- c --> man", "X Y", [(0, 0), (1, 1)], "X<wbr> <!-- c --> Y"),
        ("a <b></b> c (<code>b</code>)", "X Y", [(0, 0), (1, 1)], "X <b></b> Y <code>b</code>"),
        ("use <code>f</code>, not g", "X Y", [(0, 0), (2, 1)], "X <code>f</code> Y"),
        # It stands where it was copied, and the rest of the word stays.
        ("the <code>x</code>-axis", "les x-axis", [(0, 0), (1, 1)], "les <code>x</code>-axis"),
        ("type <kbd>C</kbd>.", "tapez C.", [(0, 0), (1, 1)], "tapez <kbd>C</kbd>."),
        ("type <kbd>x</kbd> now", "tapez luxe Y", [(0, 0), (1, 1), (2, 2)], "tapez <kbd>x</kbd> Y"),
    ],
)  # fmt: skip
def test_spaces_beside_an_element(document: str, words: str, links: Sequence[tuple[int, int]], expected: str) -> None:
    markup = Markup(document, "en", split=False)
    assert markup.joined([one_to_one(markup.sentences[0], words, *links)]) == expected


def test_a_word_is_not_cut_by_what_is_empty() -> None:
    markup = Markup("the <img> man sings", "en")
    translation = Invented(
        "l'homme chante", ["l'", "homme", "chante"], ["the", "man", "sings", ""], frozenset({(0, 0), (1, 1), (2, 2)})
    )
    assert markup.joined([translation]) == "l'homme <img> chante"


def test_other_words_within_a_verbatim_element_stay() -> None:
    markup = Markup("<code>a b c</code> d", "en")
    assert markup.joined([one_to_one("a b c d", "A D B C", (0, 0), (3, 1), (1, 2), (2, 3))]) == "<code>a b c</code> D  "
