"""Real files, written by many tools: every pair is read, and what is left out is told with its reason."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from rnnsearch.data.read import languages_of_text, read_pairs
from rnnsearch.errors import RnnsearchError, RnnsearchWarning

BOTH_SIDES = {
    "trados7-en-fr.utf16le.tmx": ("en", "fr", 11, ""),
    "trados8-en-fr.utf16le.tmx": ("en", "fr", 4, ""),
    "compkit-inline-en-frca.utf16le.tmx": ("en", "fr", 7, ""),
    "compkit-entities.utf16be.tmx": ("en", "en", 3, ""),
    "compkit-notes-sub-en-fr.utf8bom.tmx": ("en", "fr", 1, ""),
    "olifant-en-fr.utf8bom.tmx": ("en", "fr", 9, ""),
    "paragraphs-en-de.tmx": ("en", "de", 7, ""),
    "omegat-fr-engb-level2.tmx": ("fr", "en", 29, ""),
    "omegat-en-fr-level2.tmx": ("en", "fr", 46, ""),
    "omegat-en-fr-tmx11.tmx": ("en", "fr", 56, ""),
    "translate-toolkit-en-ca.tmx": ("en", "ca", 259, ""),
    "heavy-alttrans-en-es.utf8bom.xliff12.xlf": ("en", "es", 90, "8 without a translation"),
    "reordered-codes.xliff20.xlf": ("en", "fr", 2, "7 without text"),
    "notes-en-fr.xliff20.xlf": ("en", "fr", 2, ""),
    "everything.xliff20.xlf": ("en", "fr", 2, "3 without a translation (lines 35, 40, 45)"),
    "symfony-security-fr.xliff12.xlf": ("en", "fr", 19, ""),
    "studio-en-de.sdlxliff": ("en", "de", 1, "22 marked as not to be translated"),
    "studio-states-it-en.sdlxliff": ("it", "en", 7, "8 without a translation"),
    "gnome-calculator-fr.po": ("en", "fr", 788, "194 of 980 units left out: 194 obsolete"),
    "gnome-calculator-help-fr.po": ("en", "fr", 399, "22 obsolete"),
    "python-docs-fuzzy-fr.po": ("en", "fr", 107, "20 fuzzy (lines 24, 66, 73, 80, 87, …); 19 obsolete"),
    "omegat-be.cp1251.po": ("en", None, 885, "52 fuzzy"),
    "af-pootle.po": ("en", None, 292, "53 obsolete"),
    "focuswriter-fr.ts": ("en", "fr", 435, ""),
    "sample.tbx": ("en", "hu", 1, ""),
    "magento-fr_FR.csv": (None, None, 380, ""),
}
"""The languages, the number of pairs, and a part of what is told of the units that are left out.

The plural forms of a message of gettext are two pairs.
"""
ONE_SIDE = {
    "captions-en.vtt": ("captions-fr.vtt", "en", "fr", 15),
    "song-en.vtt": ("song-fr.vtt", "en", "fr", 55),
    "mediawiki-en.json": ("mediawiki-fr.json", "en", "fr", 474),
    "android-en/strings.xml": ("android-ro/strings.xml", "en", "ro", 153),
    "mozilla-en.ftl": ("mozilla-fr.ftl", "en", "fr", 103),
    "omegat-en.strings": ("omegat-fr.strings", "en", "fr", 7),
}
REFUSED = {
    "four-languages.tmx": "has 4 languages (en-US, en-GB, fr, sr); say which are the source and the target",
    "odf-reference.xliff11.xlf": "no pairs; 4 of 4 units left out: 4 without a translation",
    "fuzzy-previous-context.po": "no pairs; 2 of 2 units left out: 2 fuzzy (lines 15, 22)",
    "sintel-en.srt": "subtitles of one language",
    "mixed-eol.srt": "subtitles of one language",
    "resources.resx": "ResX of one language",
}


@pytest.fixture
def files(shared_data: Path) -> Path:
    folder = shared_data / "files"
    if not folder.is_dir():
        pytest.skip(f"no real memories to test on: {folder} is not there")
    return folder


def read(source: Path, target: Path) -> tuple[list[tuple[str, str]], str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RnnsearchWarning)
        pairs = list(read_pairs([source], [target]))
    return pairs, "".join(str(one.message) for one in told)


@pytest.mark.parametrize("name", BOTH_SIDES)
def test_files_with_both_sides(files: Path, name: str) -> None:
    source, target, count, reason = BOTH_SIDES[name]
    assert languages_of_text(files / name, files / name) == (source, target)
    pairs, told = read(files / name, files / name)
    assert len(pairs) == count
    assert all(side.strip() and "\n" not in side and "\t" not in side for pair in pairs for side in pair)
    assert reason in told
    assert bool(reason) == bool(told)


@pytest.mark.parametrize("name", ONE_SIDE)
def test_two_files_with_a_side_each(files: Path, name: str) -> None:
    other, source, target, count = ONE_SIDE[name]
    assert languages_of_text(files / name, files / other) == (source, target)
    pairs, _ = read(files / name, files / other)
    assert len(pairs) == count


@pytest.mark.parametrize("name", REFUSED)
def test_files_without_pairs(files: Path, name: str) -> None:
    with pytest.raises(RnnsearchError) as refusal:
        read(files / name, files / name)
    assert REFUSED[name] in str(refusal.value)


def test_every_file_is_tried(files: Path) -> None:
    names = {str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()} - {"README.md"}
    tried = {*BOTH_SIDES, *ONE_SIDE, *REFUSED, *(other for other, *_ in ONE_SIDE.values())}
    assert names <= tried, "say what is in a new file"
