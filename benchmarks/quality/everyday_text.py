"""Everyday text through the installed translators, written in ways that must not change what it says.

120 everyday sentences as HTML paragraphs, with the words of their plain translations; 20 English contractions with each of
the apostrophes that people type; paragraphs of several sentences, of which none may be lost. The page
`docs/reference/mended-faults.md` cites the counts.
"""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

import rnnsearch
from benchmarks.lib.record import sized, write_result
from rnnsearch.text.normalization import plain
from rnnsearch.translation.sentences import as_passage

ROOT = Path(__file__).resolve().parents[2]
CONTRACTIONS = (
    "I haven't met her.",
    "She isn't at home.",
    "We don't like it.",
    "They won't come.",
    "He can't swim.",
    "You shouldn't go.",
    "It doesn't work.",
    "I didn't say that.",
    "We aren't tired.",
    "They weren't here.",
    "He wouldn't listen.",
    "I'm cold.",
    "You're right.",
    "We're late.",
    "They're asleep.",
    "I'll help you.",
    "She'll call you.",
    "I've lost my hat.",
    "He'd like some tea.",
    "That's my sister's car.",
)
APOSTROPHES = "’‘ʼ′＇`"
PARAGRAPH_SENTENCES = 4


def sentences() -> list[list[str]]:
    """The everyday sentences of both languages, of two words and more."""
    with (ROOT / "tools" / "box" / "everyday" / "interface.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [row for row in rows if len(row[0].split()) >= 2]


def words(text: str) -> list[str]:
    """The words of a text, without markup."""
    return re.findall(r"\w+", html.unescape(re.sub(r"<[^>]*>", " ", text)))


def main() -> None:
    """Count, print and write."""
    rows = sentences()
    english, french = rnnsearch.load("en-fr"), rnnsearch.load("fr-en")
    found: dict[str, list[int]] = {}
    for name, translator, side in (("en-fr", english, 0), ("fr-en", french, 1)):
        lines = [row[side] for row in rows[: sized(120, 4)]]
        plain_texts = [one.text for one in translator.translate(lines)]
        pages = [translator.translate_html(f"<p>{html.escape(line)}</p>") for line in lines]
        same = sum(words(page) == words(text) for page, text in zip(pages, plain_texts, strict=True))
        found[f"{name}: sentences as HTML paragraphs with the words of their plain translations"] = [same, len(lines)]
        complete = [row[side] for row in rows if row[side][-1] in ".!?"]
        starts = range(0, sized(10, 1) * PARAGRAPH_SENTENCES, PARAGRAPH_SENTENCES)
        groups = [complete[n : n + PARAGRAPH_SENTENCES] for n in starts]
        target = name[-2:]
        alone = [[one.text for one in translator.translate(group)] for group in groups]
        joined = [translator.translate(" ".join(group)).text for group in groups]
        kept = sum(text == " ".join(each) for text, each in zip(joined, alone, strict=True))
        found[f"{name}: paragraphs of {PARAGRAPH_SENTENCES} sentences, each translated as it is alone"] = [kept, len(groups)]
        assert all(as_passage(text, target).sentences for text in joined)
    contractions = CONTRACTIONS[: sized(None, 2)]
    with_straight = [one.text for one in english.translate(list(contractions))]
    alike = [
        all(english.translate(line.replace("'", mark)).text == text for mark in APOSTROPHES)
        for line, text in zip(contractions, with_straight, strict=True)
    ]
    found[f"en-fr: contractions translated alike with ' and each of {' '.join(APOSTROPHES)}"] = [sum(alike), len(alike)]
    assert all(plain(line) == line for line in contractions)
    for name, (count, of) in found.items():
        print(f"{count:4} of {of:4}  {name}")
    write_result("quality/everyday_text", **found)
