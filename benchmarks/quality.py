"""Renders `docs/reference/quality.md`: what the translations and alignments are worth, and what each choice adds.

    python benchmarks/quality.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from record import RESULTS

from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset, to_dict

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "quality.md"

HEAD = """# Quality

<!-- Written by benchmarks/quality.py from benchmarks/results: run it again when they change. -->

What the scripts in [benchmarks](../../benchmarks/README.md) recorded. BLEU is sacreBLEU's: cased, detokenised, `13a`;
*lower-cased, tokenised* is BLEU of Moses tokens in lower case, the figure that most papers on Multi30k print. Settings were
chosen on `val`, never on a test set.
"""

HOURS = """\
*Hours* are those of one model's training, by the clock; an *ensemble* has as many models as it says, from as many seeds. Wu
et al. (ACL 2021) print 61.8 (French) and 41.0 (German), lower-cased and tokenised, for a text-only Transformer on this text.
JoeyNMT's, of the same size, had the hours and the one thread that the first `best` had: when they were over, its validation
loss was still falling. Its settings are those of Wu et al. but for smaller minibatches, a lower rate and less warm-up, by
rule of thumb for so few hours; unlike ours, they were not tuned on `val`.

*best-diversified* is the preset `best` on [three versions of the
text](../how-to/train-on-your-text.md#more-text-out-of-your-text): itself, its source side with translations by a model, and
its target side with translations by a model of the other direction. The models that translated are not in its hours. Alone
it is a little better, into German by more than a point; several, which have learned from the same translations, are too much
alike to help each other as much. *With this one*, or *these*, is a model of its kind together with those in the rows above,
which have learned from the text alone, one of them writing [from right to
left](../how-to/search.md#left-to-right-and-right-to-left). They were trained beside other programs, and their hours show it.
"""

ABLATION = """\
The preset `best` with one thing changed, each trained for {epochs} epochs in all, over which the rate falls to zero, on one
thread ({settings}). The preset itself trains for {preset}; what keeps a model from learning its text by heart is worth more
the longer it is trained, and may cost in so few. *Another seed* says how far two trainings of the same are apart. *NLL* is
that of a piece: it compares trainings on the same pieces.
"""

UNKNOWN = """\
A model with a shortlist writes `[UNK]` for what is not on it. It is left, forbidden, or replaced: by the source word that it
was read from, or by what the lexicon has for that word, if it has it. A word is *right* if it is the one that the reference
has for the same source word, by the gold links; where the reference has none for it, it is wrong.
"""

SHORTLISTS = """\
A shortlist of so many frequent words, and those that the model's attention has linked to the words of the sentence: BLEU on
Multi30k English–French, `val`, {sentences:,} sentences, of a model with a vocabulary of {vocabulary:,} words, and how many
translations are not those of exact search.
"""

LANGUAGES = {"fr": "English–French", "de": "English–German"}


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    sections = (multi30k, ablation, shortlists, unknown_words, alignment)
    return "\n".join([HEAD, *(part for section in sections for part in section())])


def multi30k() -> Iterable[str]:
    """The systems, by language."""
    for language, name in LANGUAGES.items():
        rows = list(systems(language))
        if rows:
            yield f"## Multi30k {name}, `test_2016_flickr`\n"
            yield table(("system", "BLEU, `val`", "BLEU", "lower-cased, tokenised", "parameters", "hours", "on"), rows)
    yield HOURS


def systems(language: str) -> Iterable[tuple[object, ...]]:
    """A row for every record of a system that translates into this language."""
    for path in sorted(RESULTS.glob("multi30k-*.json"), key=lambda path: path.stem):
        record, named = read(path.stem), re.fullmatch(r"multi30k-(rnn\w+)-(.+?)(-de)?(-and-\d+-more)?", path.stem)
        assert named is not None
        if bool(named[3]) != (language == "de"):
            continue
        model, preset = named[1].replace("rnn", "RNN"), named[2]
        name = f"{model}, {preset}"
        runs, where = [record, *record.get("others", [])], record["machine"]["cpu"]
        members = [run for run in runs if "member" in run]
        for seed, run in enumerate(members or runs, 1):
            training = run["training"]
            numbers = (f"{training['parameters'] / 1e6:.1f} M", f"{training['hours']:.1f}", where)
            label = f"{name}, seed {seed}" if len(runs) > 1 else name
            if members:  # the others have a record of their own
                label = f"{model}, {member_of(preset, run['member'])}"
            yield (label, *bleus(run["evaluation"]), *numbers)
        if "ensemble" in record:
            together = ("with this one" if len(members) == 1 else "with these") if members else f"ensemble of {len(runs)}"
            yield (f"**{name}, {together}**", *bleus(record["ensemble"]), "", "", where)
    for path in sorted(RESULTS.glob("joeynmt-transformer-*.json")):
        record, size = read(path.stem), path.stem.removeprefix("joeynmt-transformer-")
        if size.endswith("-de") == (language == "de"):
            name = f"Transformer, {size.removesuffix('-de')} (JoeyNMT {record['version']})"
            yield (name, *bleus(record["evaluation"]), "", f"{record['hours']:.1f}", record["machine"]["cpu"])


def member_of(preset: str, settings: str) -> str:
    """A model that translates together with one of `preset`: how it differs from its own preset."""
    alone = preset.split("-")[0]
    own = to_dict(from_preset(alone))
    differ = []
    for setting in settings.split():
        key, value = setting.split("=")
        section, _, field = key.partition(".")
        if str(own[section][field]).lower() != value:
            differ.append(f"`{setting}`")
    return f"{alone}, {' '.join(differ)}" if differ else f"{alone}, pieces of {preset}"


def bleus(evaluation: dict[str, Any]) -> tuple[str, str, str]:
    """BLEU on `val`, and both kinds of it on the test set."""
    tokenised = evaluation["test_2016_flickr"].get("lower-cased, tokenised")
    cased = (f"{evaluation[test]['all']['bleu']:.2f}" for test in ("val", "test_2016_flickr"))
    return (*cased, f"{tokenised['bleu']:.2f}" if tokenised else "–")  # type: ignore[return-value]


def ablation() -> Iterable[str]:
    """What each choice is worth."""
    record = read("ablation")
    if record:
        rows = record["rows"]
        base = rows["best"]["bleu"]["beam 5"]
        yield "## What each choice is worth: Multi30k English–French, `val`\n"
        shared = ", ".join(f"`{setting}`" for setting in record["settings"])
        preset = from_preset("best").training.max_epochs
        yield ABLATION.format(epochs=record["epochs"], settings=shared, preset=preset)
        yield table(
            ("training", "settings", "BLEU", "difference", "NLL", "parameters"),
            (
                (
                    *(name, " ".join(f"`{setting}`" for setting in row["settings"]), f"{row['bleu']['beam 5']:.2f}"),
                    "" if name == "best" else f"{row['bleu']['beam 5'] - base:+.2f}",
                    *(f"{row['dev_nll_per_word']:.3f}", f"{row['parameters'] / 1e6:.1f} M"),
                )
                for name, row in rows.items()
            ),
        )
        yield "The first row's model, searched otherwise:\n"
        searches = rows["best"]["bleu"].items()
        found = ((name, f"{bleu:.2f}", f"{bleu - base:+.2f}") for name, bleu in searches)
        yield table(("search", "BLEU", "difference"), found)


def shortlists() -> Iterable[str]:
    """What a shortlist costs."""
    record = read("shortlists")
    if record:
        yield "## Shortlists and 8-bit weights\n"
        yield SHORTLISTS.format(**record)
        rows = {(row["words"], row["precision"]): row for row in record["rows"]}
        exact = rows[None, "fp32"]["bleu"]

        def cells(row: dict[str, Any]) -> tuple[str, str]:
            return f"{row['bleu']:.2f} ({row['bleu'] - exact:+.2f})", f"{row['differ'] / record['sentences']:.1%}"

        yield table(
            ("frequent words", "BLEU, fp32", "changed", "BLEU, int8", "changed"),
            (
                (f"{words:,}" if words else "all", *cells(rows[words, "fp32"]), *cells(rows[words, "int8"]))
                for words in dict.fromkeys(words for words, _ in rows)
            ),
        )


def unknown_words() -> Iterable[str]:
    """What replacing `[UNK]` is worth."""
    record = read("unknown-words")
    names = {"built-in": "the built-in corpus", "multi30k": "Multi30k English–French, `val`"}
    named = {"lexicon": "from the lexicon", "copy": "copied"}
    if record:
        yield "## Unknown words\n"
        yield UNKNOWN
        for corpus, ways in record["found"].items():
            rows = []
            for way, row in ways.items():
                written, right = row["written_by"], row.get("right")
                replaced = ", ".join(f"{count:,} {named[by]}" for by, count in written.items())
                judged = ", ".join(f"{right[by]:,}" for by in written) if right else ""
                rows.append((way, f"{row['bleu']:.2f}", replaced or "–", judged or "–"))
            yield f"On {names[corpus]}, with shortlists of {record['words'][corpus]:,} words:\n"
            yield table(("`[UNK]`", "BLEU", "words written for it", "of them right"), rows)


def alignment() -> Iterable[str]:
    """Alignment error rates."""
    record = read("alignment-error")
    names = {"built-in": "the built-in corpus", "novels": "five novels (alibi), with a model of Multi30k"}
    if record:
        yield "## Alignment error rate\n"
        yield "Lower is better. *Intersection* and *grow-diag* are of two models, one a direction.\n"
        for corpus, found in record["found"].items():
            yield f"On {names[corpus]}, {found['pairs']:,} sentence pairs:\n"
            yield table(
                ("aligner", "AER", "precision", "recall"),
                (
                    (name, *(f"{score[key]:.3f}" for key in ("aer", "precision", "recall")))
                    for name, score in found.items()
                    if name != "pairs"
                ),
            )


def read(name: str) -> dict[str, Any]:
    """A record; empty if there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table(heads: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; all columns but the first are aligned to the right."""
    heads = list(heads)
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


if __name__ == "__main__":
    main()
