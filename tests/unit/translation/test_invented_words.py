"""Invented words: translations without them are preferred."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import rnnsearch
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_catalog import default_model
from rnnsearch.text.known_words import WRITTEN_WORDS, KnownWords
from rnnsearch.translation import Translator

SOURCE = "He walked to the old harbour with his younger brother."


def words(text: str) -> list[str]:
    return re.findall(r"\w{3,}", text.lower())


def with_words(folder: Path, text: str | None) -> Translator:
    """Return the installed translator, which knows the words of this text or, without a text, has no list."""
    shutil.copytree(default_model("en-fr"), folder)
    (folder / WRITTEN_WORDS).unlink()
    if text is not None:
        (folder / WRITTEN_WORDS).write_bytes(bytes(KnownWords.of(words(text))))
    return rnnsearch.load(folder)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("il est obstiné", "he is obstinated", ["obstinated"]),
        ("il est obstiné", "he is stubborn", []),
        ("le zworl", "the zworl poems", []),  # copied; in the plural
        ("ZWORL", "zworl", []),
        ("Le Zworl", "Grizworl", []),  # perhaps a name
        ("bien connu", "well-knowned", ["knowned"]),
        ("bien connu", "well-known", []),
        ("à 5 km", "to 5 km", []),  # short
        ("", "zworl zworl", ["zworl", "zworl"]),
    ],
)
def test_what_is_invented(source: str, target: str, expected: list[str]) -> None:
    known = KnownWords.of(["he", "is", "the", "stubborn", "well", "known", "poem"])
    assert known.invented(source.split(), target.split()) == expected


def test_translations_without_invented_words_come_first(tmp_path: Path) -> None:
    without = [one.text for one in with_words(tmp_path / "without", None).n_best(SOURCE, 5)]
    for number, text in enumerate(without[1:], 1):
        translator = with_words(tmp_path / str(number), text)
        texts = [one.text for one in translator.n_best(SOURCE, 5)]
        assert sorted(texts) == sorted(without)
        assert set(words(texts[0])) <= set(words(text))
        assert [one.text for one in translator.n_best(SOURCE, 5, known_words_first=False)] == without


def test_an_empty_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / WRITTEN_WORDS).write_bytes(b"")
    with pytest.raises(RnnsearchError, match=r"target\.words: the file is empty"):
        KnownWords.load(tmp_path)
