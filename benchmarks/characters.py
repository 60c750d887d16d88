"""Renders `docs/reference/characters.md`: error rates of pronunciations and of inflected forms, and the speed.

    python benchmarks/characters.py
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from quality import read, table
from record import SPEED

from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "characters.md"
PAIRS_OF_LOW = 800
"""The number of training words of a language of `low`."""

HEAD = """# Pronunciation and inflection

<!-- Written by benchmarks/characters.py from benchmarks/results. Do not edit it; run the script. -->

This page shows what models of letters, trained by the preset `characters`, reach: the [guide](../how-to/pronounce.md) says
how to train one. The word error rate (WER) is the share of words that are not right in every symbol. The symbol error rate
(SER) is the edit distance for every symbol of the references. Intervals are 95% intervals by bootstrap resampling of the
words. Minutes are wall-clock minutes of one thread, beside other programs that used the same cores: a machine that does
nothing else needs fewer.
"""

SIGMORPHON = """\
## SIGMORPHON 2021

Task 1 of the shared task has pronunciations from Wiktionary, by way of WikiPron, in 21 languages: *low* are ten of 800
training words each, *medium* ten of 8,000, and *high* is English with 33,344. The preset is the same for all languages.
What it sets was chosen on development sets, and so are the weights of each model, so the rates on other words are slightly
higher. The pronunciations of the test words are in [results/g2p](../../benchmarks/results/g2p/single/high-eng_us.txt).
They were scored elsewhere, once, by others who have the references: a WER of {medium[wer]:.2f} on *medium* (the baseline:
{medium[baseline]:.2f}) and of {low[wer]:.2f} on *low* ({low[baseline]:.2f}). Which of the systems below this was is not
recorded; no choice was made by it ([record](../../benchmarks/results/blind/scores.json)).

The baseline is that of the shared task, an ensemble (Ashby et al. 2021). WER, mean of the languages of a level:
"""

SYSTEMS = {
    "single": "one model",
    "ensemble": "several together",
    "multilingual": "one model, from all languages",
    "multilingual-ensemble": "several together, from all languages",
}
HEADS = {
    "single": ("one model: WER", "interval", "SER", "minutes"),
    "ensemble": ("together: WER",),
    "multilingual": ("from all: WER", "interval", "SER", "minutes"),
    "multilingual-ensemble": ("from all, together: WER",),
}
"""What is shown of each system in the table of languages."""
MULTILINGUAL = """\
The models *from all languages* were trained further from one that had learned the words of all languages of *low* and
*medium*, each with the name of its language as a feature, in {minutes:.0f} minutes. The baseline has learned the words of
one language only.
"""

LANGUAGES = """\
### By language

WER and SER are on the development sets, of 100 words (low), 1,000 (medium) and 4,168 (high).
"""

PHONES_ALONE = """\
### Length and accent

Many words of some languages of *medium* differ from their references only in vowel length and pitch accent, which their
spelling does not show. WER with these marks, and without them on both sides:
"""

TRIED = """\
### Other settings

Each row is one training of each of {languages}, the languages of *low* with the most errors. The rates are those of
their {lines} words together, on which two trainings with different seeds can differ by some points. NLL is per word. The
preset has {updates:,} updates with {batch} words in a minibatch, and a dropout of {dropout}.
"""

DISTILLED = """\
### One model from several

The {together} models of `{language}` pronounced {words:,} other words of running text, and one model of their size learned
these beside the training words ([distillation](../how-to/pronounce.md#several-models-together)), in {minutes:.0f} minutes.
WER and SER are on the development set; the words per second are by the processor time of one thread, on an {cpu} with
{instructions}.
"""

INFLECTION = """\
## Inflection

The table of forms is made by the rules of grammar: six persons of four tenses of {verbs[train]} regular French verbs. Of the
{lines} forms of {verbs[test]} verbs that are not in the training table, **{wer:.1f}%** are wrong (interval
{low:.1f}–{high:.1f}), and {ser:.1f}% of their letters. The training of {updates:,} updates took {minutes:.1f}
minutes; the model has {parameters:.1f} million parameters.
"""

BESIDE = """\
## Beside g2p-en

[g2p-en](https://github.com/Kyubyong/g2p) {version} looks English words up in CMUdict, and pronounces those that it does
not find by a recurrent network of its own, greedily and one after the other. This network, with its dictionary left out,
and models of this package pronounced the same {words:,} words of CMUdict. WER and SER are against the first pronunciation
of each word, with stress marks. Speeds are by the processor time of one thread, each table in one run. Ours are by beam
search where *greedy* is not said.
"""

TRAINED = """\
### A model that was trained on CMUdict

It was trained on the other words of CMUdict by the preset `characters`, and has {parameters:.1f} million parameters. The
network of g2p-en was trained on CMUdict, too, and has seen most of these words. Measured on an {cpu} with {instructions}.
"""

NOT_TRAINED = """\
### The installed `{model}`

It has {parameters:.1f} million parameters and writes IPA. It has not learned the phones of CMUdict, so it has no error rates
here; the table of English above has them. Measured on an {cpu} with {instructions}.
"""

MANY_WORDS = """\
## Many words

Words per second of `rnnsearch translate --model {model}` for {words:,} words, by wall-clock time with the start of the
program included, in one process of one thread and in two (`--jobs 2`). The pronunciations are the same.
"""

ONE_WORD = """\
`rnnsearch pronounce` answers one word {seconds:.1f} s after the start of the program, on an {cpu} with {instructions}.
"""


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    sections = (
        pronunciations(),
        phones_alone(read("g2p-single"), read("g2p-ensemble")),
        distilled(read("distillation")),
        tried(read("characters-ablation")),
        inflection(read("inflection")),
        many_words([json.loads(path.read_text()) for path in sorted(SPEED.glob("*/many-words.json"))]),
        beside_g2p_en([record for name in ("cmudict", "en-ipa") if (record := read(f"pronouncers-{name}"))]),
    )
    return "\n".join([HEAD, *(part for section in sections for part in section)])


def pronunciations() -> Iterable[str]:
    """The error rates of SIGMORPHON 2021."""
    records = {system: read(f"g2p-{system}") for system in SYSTEMS}
    systems = {system: record["levels"] for system, record in records.items() if record}
    if not systems:
        return
    published = records["single"]["published"]
    yield SIGMORPHON.format(**read("blind/scores")["sigmorphon-2021"])
    ours = (of_system(system, levels, published) for system, levels in systems.items())
    dev, test = zip(*published.values(), strict=True)
    theirs = [(f"the baseline, {part}", *(f"{wer:.2f}" for wer in of)) for part, of in (("dev", dev), ("test", test))]
    yield table(("WER", *published), [*ours, *theirs])
    if "multilingual" in systems:
        yield MULTILINGUAL.format(minutes=records["multilingual"]["shared"]["minutes"])
    yield LANGUAGES
    heads = ("language", "parameters", *(head for system in systems for head in HEADS[system]))
    yield table(heads, (row for level in published for row in of_languages(level, systems)))


def of_system(system: str, levels: Mapping[str, Any], published: Iterable[str]) -> Iterable[str]:
    """The means of a system over the languages of each level."""
    counts = {level["languages"][0]["models"] for level in levels.values()}
    yield SYSTEMS[system] + (f" ({max(counts)})" if max(counts) > 1 else "")
    for level in published:
        yield f"{mean(levels[level], 'wer'):.2f}" if level in levels else "–"


def of_languages(level: str, systems: Mapping[str, Mapping[str, Any]]) -> Iterable[list[str]]:
    """The rows of the languages of a level."""
    by_system = {
        system: {row["language"]: row for row in levels[level]["languages"]} if level in levels else {}
        for system, levels in systems.items()
    }
    for language, row in by_system["single"].items():
        cells = [f"{level} `{language}`", f"{row['parameters'] / 1e6:.2f} M"]
        for system, found in by_system.items():
            cells += rates(found.get(language))[: len(HEADS[system])]
        yield cells


def rates(row: dict[str, Any] | None) -> list[str]:
    """The error rates and the minutes of a language."""
    if row is None:
        return ["–"] * 4
    low, high = row["wer_interval"]
    minutes = f"{row['minutes']:.1f}" if "minutes" in row else ""
    return [f"{row['wer']:.1f}", f"{low:.1f}–{high:.1f}", f"{row['ser']:.1f}", minutes]


def mean(level: dict[str, Any], key: str) -> float:
    """The mean of the languages of a level."""
    values = [row[key] for row in level["languages"]]
    return float(sum(values) / len(values))


def phones_alone(*records: dict[str, Any]) -> Iterable[str]:
    """The error rates of `medium` where vowel length and pitch accent do not count."""
    levels = [record["levels"]["medium"] for record in records if record]
    if not levels:
        return
    yield PHONES_ALONE
    keys = ("wer", "wer_without_length_and_accent")
    by_language = zip(*(level["languages"] for level in levels), strict=True)
    rows = [(of[0]["language"], *(f"{row[key]:.1f}" for row in of for key in keys)) for of in by_language]
    means = ("mean of all", *(f"{mean(level, key):.2f}" for level in levels for key in keys))
    yield table(("language", "one model", "without", "together", "without"), [*rows, means])


def tried(record: dict[str, Any]) -> Iterable[str]:
    """The error rates with other settings than those of the preset."""
    if not record:
        return
    training = from_preset("characters", pairs=PAIRS_OF_LOW).training
    yield TRIED.format(
        languages=", ".join(f"`{language}`" for language in record["languages"]),
        lines=record["rows"][0]["lines"],
        updates=training.max_updates,
        batch=training.batch_size,
        dropout=training.dropout,
    )
    heads = ("settings", "WER", "interval", "SER", "minutes", "NLL")
    yield table(heads, ([settings_of(row), *rates(row), f"{row['dev_nll']:.2f}"] for row in record["rows"]))


def settings_of(row: dict[str, Any]) -> str:
    """What a row changes."""
    return "<br>".join(f"`{setting}`" for setting in row["settings"]) or "the preset"


def distilled(record: dict[str, Any]) -> Iterable[str]:
    """One model, several together, and the one that learned from them."""
    if record:
        together = next(system.split()[0] for system in record["found"] if system.endswith("together"))
        yield DISTILLED.format(together=together, **record["machine"], **record)
        rows = ((system, *rates(one)[:3], f"{one['words_per_second']:,}") for system, one in record["found"].items())
        yield table(("", "WER", "interval", "SER", "words/s"), rows)


def inflection(record: dict[str, Any]) -> Iterable[str]:
    """The forms of unseen verbs."""
    if record:
        low, high = record["wer_interval"]
        yield INFLECTION.format(**{**record, "parameters": record["parameters"] / 1e6}, low=low, high=high)


def many_words(records: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Words a second of the command, and the time of one word."""
    if not records:
        return
    yield MANY_WORDS.format(**records[0])
    rows = []
    for record in records:
        speeds = {(one["precision"], one["beam"], one["jobs"]): one["words_per_second"] for one in record["found"]}
        for precision, beam in dict.fromkeys(way[:2] for way in speeds):
            one, two = (f"{speeds[precision, beam, jobs]:,}" for jobs in (1, 2))
            rows.append((record["machine"]["instructions"], f"{precision}, {beam}", one, two))
    yield table(("processor", "search", "one process", "two processes"), rows)
    for record in records:
        yield ONE_WORD.format(seconds=statistics.median(record["one_word_seconds"]), **record["machine"])


def beside_g2p_en(records: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Words a second, and error rates, of g2p-en and of our models."""
    if not records:
        return
    yield BESIDE.format(**records[0])
    for record in records:
        found = record["found"]
        intro = TRAINED if all("wer" in one for one in found.values()) else NOT_TRAINED
        yield intro.format(**record["machine"], **{**record, "parameters": record["parameters"] / 1e6})
        rows = (
            (name, f"{one['words_per_second']:,}", *rates(one if "wer" in one else None)[:3]) for name, one in found.items()
        )
        yield table(("system", "words/s", "WER", "interval", "SER"), rows)


if __name__ == "__main__":
    main()
