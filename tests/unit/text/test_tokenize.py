"""Moses tokenisation and back."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from rnnsearch.errors import RnnsearchError
from rnnsearch.text import Tokenizer, language_of
from rnnsearch.text.tokenize import _ranges, is_invisible

DATA = Path(os.environ.get("RNNSEARCH_DATA", Path(__file__).parents[4] / "shared" / "data"))

ENGLISH, FRENCH = Tokenizer("moses", "en"), Tokenizer("moses", "fr")
WHITESPACE = Tokenizer("whitespace", "en")


@pytest.mark.parametrize(
    ("tokenizer", "line", "words"),
    [
        (FRENCH, "L'homme qu'il voit.", "L' homme qu' il voit ."),
        (FRENCH, "Un coup d’œil, aujourd’hui", "Un coup d’ œil , aujourd’ hui"),
        (FRENCH, "est-ce que «lui» ?", "est-ce que « lui » ?"),
        (ENGLISH, "I don't; he’s Mr. X.", "I don 't ; he ’s Mr. X."),
        (ENGLISH, "A & B <i> [1] | 'a'.", "A & B < i > [ 1 ] | ' a ' ."),
        (ENGLISH, "Well-known CASE", "Well-known CASE"),
        (WHITESPACE, " l' homme\t, ", "l' homme ,"),
        (WHITESPACE, "10\xa0000 a\u2028b\x85\u3000 c\r", "10\xa0000 a\u2028b\x85\u3000 c"),
    ],
)
def test_tokenize(tokenizer: Tokenizer, line: str, words: str) -> None:
    assert tokenizer.tokenize(line) == words.split(" ")


@pytest.mark.parametrize(
    ("tokenizer", "line"),
    [
        (FRENCH, "L'homme qu'il voit aujourd'hui, est-ce que « lui » ?"),
        (FRENCH, "L’homme qu’il voit d’un œil"),
        (ENGLISH, "I don't say “hello”, it’s ‘quoted’. [UNK] & more"),
        (ENGLISH, 'He said "no" (twice), for $5.'),
        (WHITESPACE, "l' homme , et"),
    ],
)
def test_detokenize_gives_the_line_back(tokenizer: Tokenizer, line: str) -> None:
    assert tokenizer.detokenize(tokenizer.tokenize(line)) == line


def test_runs_of_marks_have_no_spaces() -> None:
    words = ["Quoi", "?", "!", "Non", "!", "!", "!", "`a ! ! b`"]
    assert Tokenizer("moses", "fr", protect=True).detokenize(words) == "Quoi ?! Non !!! `a ! ! b`"


def test_slashes_have_spaces_if_they_are_kept_so() -> None:
    tokenizer = Tokenizer("moses", "fr", protect=True)
    assert tokenizer.detokenize(["il", "et", "/", "ou", "elle"]) == "il et/ou elle"
    assert tokenizer.detokenize(["rouge", "/", "noir"], {"/"}) == "rouge / noir"


def test_detokenize_of_nothing_is_empty() -> None:
    assert FRENCH.detokenize([]) == ""
    assert WHITESPACE.detokenize([]) == ""


@pytest.mark.parametrize("language", ["en", "fr"])
def test_real_sentences_come_back(language: str) -> None:
    path = DATA / "multi30k" / f"val.{language}.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    tokenizer = Tokenizer("moses", language)
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = [" ".join(line.split()) for line in file]
    same = sum(tokenizer.detokenize(tokenizer.tokenize(line)) == line for line in lines)
    assert same >= 0.995 * len(lines)


@given(st.text(st.characters(), max_size=60) | st.text("a.’'” \x00\x1c\x85\xa0\u2028\u200b\ufeff", max_size=12))
@pytest.mark.parametrize("tokenizer", [ENGLISH, FRENCH, Tokenizer("moses", "de"), WHITESPACE])
def test_no_text_gives_an_empty_word_or_white_space_in_one(tokenizer: Tokenizer, line: str) -> None:
    words = tokenizer.tokenize(line)
    spaces = " \t\r\n" if tokenizer is WHITESPACE else "".join(filter(str.isspace, line))
    assert all(word and not set(spaces) & set(word) for word in words)
    tokenizer.detokenize(words)


@given(st.text("aé.,'5 \u4e2d", max_size=20) | st.text(max_size=40))
@pytest.mark.parametrize("language", ["en", "fr", "de"])
def test_words_are_those_of_sacremoses(language: str, line: str) -> None:
    line = "".join(letter for letter in line if not is_invisible(letter) and letter != "’")
    assert Tokenizer("moses", language).tokenize(line) == MosesTokenizer(language).tokenize(line, escape=False)


@given(st.text(st.characters(min_codepoint=0x80), min_size=1), st.integers(0x80, 0x10F000), st.integers(1, 9))
def test_ranges_match_the_letters_and_no_others(letters: str, first: int, count: int) -> None:
    letters = "".join(letter for letter in letters + "".join(map(chr, range(first, first + count))) if letter.isprintable())
    others = "".join({chr(ord(letter) + step) for letter in letters for step in (-1, 1)} - set(letters))
    if letters:
        pattern = re.compile(f"[{_ranges(letters)}]")
        assert pattern.sub("", letters + others) == others


def test_threads_that_import_sacremoses_at_once_leave_re_as_it_was() -> None:
    program = """
import re, threading
from rnnsearch.text.tokenize import _sacremoses
before = re.compile
threads = [threading.Thread(target=_sacremoses) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert re.compile is before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
def test_words_of_letters_of_all_scripts_are_those_of_sacremoses_as_others_import_it() -> None:
    """In a process of its own: here, sacremoses was imported before `Tokenizer` asked for it."""
    program = """
import sys
{imports}
for letter in map(chr, range(0x80, sys.maxunicode, 31)):
    if letter.isprintable() and letter != "’":
        line = f"{{letter}}-{{letter}},5{{letter}}'a'{{letter}}"
        print(*{words})
"""
    ours = program.format(
        imports="from rnnsearch.text import Tokenizer\nmoses = Tokenizer('moses', 'fr')",
        words="moses.tokenize(line)",
    )
    theirs = program.format(
        imports="from sacremoses import MosesTokenizer\nmoses = MosesTokenizer('fr')",
        words="moses.tokenize(line, escape=False)",
    )
    found = [
        subprocess.run([sys.executable, "-X", "utf8", "-c", program], capture_output=True, check=True).stdout
        for program in (ours, theirs)
    ]
    assert found[0] == found[1]
    assert found[0].count(b"\n") > 1_000


def test_characters_that_nobody_sees_are_no_words() -> None:
    assert ENGLISH.tokenize("\ufeffco\xadoperate\x00 \x07 a\u200bb c\xa0d\u2028e\x85f\x7f") == [
        "cooperate", "a", "b", "c", "d", "e", "f"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "word",
    [
        "word, ",
        "l’homme ",
        *(pytest.param(word, marks=pytest.mark.slow) for word in ("e.g. ", "a'... ", "Mr. X said 'a.b.' ")),
    ],
)
def test_a_line_of_a_hundred_thousand_words_takes_seconds(word: str) -> None:
    """Not hours, as what looks at all words for each of them would: so the limit can be far from any machine's time."""
    start = time.process_time()
    FRENCH.detokenize(FRENCH.tokenize(word * 100_000))
    assert time.process_time() - start < 120


@pytest.mark.parametrize("language", ["auto", "english", "EN", ""])
def test_moses_needs_a_language_code(language: str) -> None:
    with pytest.raises(RnnsearchError, match="is no language code"):
        Tokenizer("moses", language)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("train.en.gz", "en"),
        ("some/x.fr.xz", "fr"),
        ("test.de", "de"),
        ("train.txt", None),
        ("train.py", None),
        ("train.gz", None),
        ("en", None),
        ("-", None),
        ("a.en/train", None),
    ],
)
def test_language_of(name: str, language: str | None) -> None:
    assert language_of(name) == language
