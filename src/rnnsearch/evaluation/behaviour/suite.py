"""Suites of lines that are generated from templates, and the check of their translations."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import regex

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.behaviour.rules import RULES, always, word_pattern

FOLDER = Path(__file__).parent
DRAWS = 4
"""The number of lines that are generated from a template with slots."""
_SLOT = regex.compile(r"<(\w+)>")


@dataclass(frozen=True)
class Line:
    """A line to translate, and the requirements of its translation."""

    capability: str
    text: str
    keeps: tuple[str, ...] = ()
    """Strings that the translation must contain exactly once."""
    has: tuple[str, ...] = ()
    """Patterns of words that the translation must contain."""
    lacks: tuple[str, ...] = ()
    """Patterns of words that the translation must not contain."""
    rules: tuple[str, ...] = ()

    def wrong(self, translation: str, languages: tuple[str, str]) -> list[str]:
        """Return the faults of a translation; none if it is right."""
        faults = always(self.text, translation, languages)
        faults += [f"does not have “{kept}” once" for kept in self.keeps if translation.count(kept) != 1]
        faults += [f"lacks “{words}”" for words in self.has if not word_pattern(words).search(translation)]
        faults += [f"has “{words}”" for words in self.lacks if word_pattern(words).search(translation)]
        faults += [RULES[name](self.text, translation, languages) for name in self.rules]
        return [fault for fault in faults if fault]


@dataclass(frozen=True)
class Tried:
    """A line with its translation, and the faults of the translation."""

    capability: str
    line: str
    translation: str
    wrong: list[str]


@dataclass(frozen=True)
class Capability:
    """The number of lines of a capability that were translated correctly."""

    name: str
    passed: int
    of: int


@dataclass(frozen=True)
class Suite:
    """The lines of a pair of languages."""

    languages: tuple[str, str]
    lines: list[Line]

    def tried(self, translations: Sequence[str]) -> list[Tried]:
        """Return the result for the translations of the lines."""
        pairs = zip(self.lines, translations, strict=True)
        return [Tried(line.capability, line.text, text, line.wrong(text, self.languages)) for line, text in pairs]


def summary(tried: Iterable[Tried]) -> list[Capability]:
    """Return the counts of each capability, in the order of the suite."""
    counts: dict[str, tuple[int, int]] = {}
    for one in tried:
        passed, of = counts.get(one.capability, (0, 0))
        counts[one.capability] = passed + (not one.wrong), of + 1
    return [Capability(name, *count) for name, count in counts.items()]


def to_dict(tried: Sequence[Tried]) -> dict[str, Any]:
    """Return the counts and the failed lines as JSON values."""
    return {
        "passed": sum(not one.wrong for one in tried),
        "of": len(tried),
        "capabilities": [asdict(capability) for capability in summary(tried)],
        "failed": [asdict(one) for one in tried if one.wrong],
    }


def read_suite(source_language: str, target_language: str, seed: int = 1) -> Suite:
    """Return the suite of a pair of languages, with randomly filled slots. Raises RnnsearchError if there is none."""
    path = FOLDER / f"{source_language}-{target_language}.toml"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.toml")))
        raise RnnsearchError(
            f"there is no behaviour suite from {source_language} to {target_language}; there are suites for {known}"
        )
    with path.open("rb") as file:
        content = tomllib.load(file)
    lines: dict[str, Line] = {}
    for capability, tests in content["capabilities"].items():
        for test in tests:
            templates = test["lines"]
            for template in templates:
                pattern = templates[template] if isinstance(templates, dict) else ""
                for line in _filled(capability, template, pattern, test, content["lists"], seed):
                    lines.setdefault(line.text, line)
    return Suite((source_language, target_language), list(lines.values()))


def _filled(
    capability: str, template: str, pattern: str, test: dict[str, Any], lists: dict[str, Any], seed: int
) -> list[Line]:
    """Return the lines of a template; a template without slots is one line.

    If a template has a pattern, the translations must match it. If a slot is filled from a table of words and patterns, the
    translation must match the pattern of the word.
    """
    chosen = random.Random(f"{seed} {template}")
    slots = _SLOT.findall(template)
    lines = []
    for _ in range(DRAWS if slots else 1):
        keeps = list(test.get("keeps", ()))
        has = [*test.get("has", ()), *([pattern] if pattern else [])]
        line = template
        used: set[str] = set()
        for slot in slots:
            entries = lists[slot]
            entry = chosen.choice([one for one in entries if one not in used])
            used.add(entry)
            line = line.replace(f"<{slot}>", entry, 1)
            if isinstance(entries, dict):
                has.append(entries[entry])
            elif slot in test.get("slots", ()):
                keeps.append(entry)
        lines.append(
            Line(capability, line, tuple(keeps), tuple(has), tuple(test.get("lacks", ())), tuple(test.get("rules", ())))
        )
    return lines
