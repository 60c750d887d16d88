"""Renders `docs/reference/quality.md`: the quality of translations and alignments, and the effect of each choice.

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

<!-- Written by benchmarks/quality.py from benchmarks/results. Do not edit it; run the script. -->

This page shows what the scripts in [benchmarks](../../benchmarks/README.md) measured. BLEU is computed by sacreBLEU on
cased, detokenised text with the tokenizer `13a`. The column *lower-cased, tokenised* is BLEU on lower-cased Moses tokens,
which most papers on Multi30k report. All settings were chosen on `val`, never on a test set, and of every training those
weights were kept that had the best BLEU on `val`; so figures on `val` are development figures.

RNNsearch and RNNencdec are the paper's models. No row was trained by the paper's recipe: the preset names ours, and
[Recipes](paper-settings.md#recipes) has the differences. The rows of Multi30k are the work of
[`multi30k.py`](../../benchmarks/multi30k.py), as in `python benchmarks/multi30k.py --data DATA --output RUNS --preset best`.
"""

BLIND = """\
## Multi30k 2017

The captions of two other test sets were translated by systems of the first table, and scored elsewhere, once, by others who
have the references; no choice was made by these scores ([record](../../benchmarks/results/blind/scores.json)). Cased BLEU:
"""
BLIND_SYSTEMS = {
    "best": "RNNsearch, best, seed 1",
    "rnnsearch-best-and-1-more": "RNNsearch, best, with a right-to-left model",
    "rnnsearch-best-diversified-and-2-more": "RNNsearch, best-diversified, with two more",
}

HOURS = """\
- **Hours** are the wall-clock time of training one model. An **ensemble** consists of models trained with different seeds.
- **small-again** is a second training of the preset `small`, on another kind of processor.
- **best-diversified** is the preset `best` with [synthetic data](../how-to/train-on-your-text.md#add-synthetic-data): the
  original text, its source side with the translations of a model, and its target side with the translations of a model of
  the opposite direction. The time of the translating models is not included in the hours. A single model is slightly better
  than `best`, and better by more than one point into German. An ensemble of such models gains less, because they were
  trained on the same translations and are similar to each other.
- **With this one** and **with these** denote a model of that kind together with the models of the rows above it. Those were
  trained on the original text, and the one with `data.right_to_left=true` is a [right-to-left
  model](../how-to/search.md#left-to-right-and-right-to-left-models). Other programs ran during their trainings, which
  increased their hours.
- **The Transformer of JoeyNMT** was trained for as long as the first `best`, on one thread as well. At the end its
  validation loss was still falling. Its settings are those of Wu et al. (ACL 2021), with smaller minibatches, a lower
  learning rate and less warm-up, chosen by rule of thumb for this short time. Unlike ours, they were not tuned on `val`. For
  a text-only Transformer of the same size on this text, Wu et al. report 61.8 (French) and 41.0 (German), lower-cased and
  tokenised.
"""

ABLATION = """\
Each row is the preset `best` with one change, trained for {epochs} epochs on one thread ({settings}), over which the
learning rate falls to zero. The preset itself trains for {preset} epochs. Regularisation gains more the longer a model is
trained, and may lose in so few epochs. The row *another seed* shows how far two trainings with the same settings differ.
*NLL* is per subword, so it compares only trainings with the same subwords.
"""

UNKNOWN = """\
A model with a shortlist produces `[UNK]` for words outside of it. `[UNK]` can be left, forbidden, or replaced by the aligned
source word or by the lexicon's translation of that word. A replacement is *correct* if it is the word that the gold links of
the reference give for the same source word. If the reference has no such word, the replacement is counted as wrong.
"""

SELECTION = """\
Vocabulary selection keeps a number of frequent words, and the words that the model's attention aligned with the words of the
sentence in the training text. The table shows BLEU on Multi30k English–French, `val` ({sentences:,} sentences), for a model
with a vocabulary of {vocabulary:,} words, and the share of translations that differ from exact search.
"""

LENGTHS = """\
These are the scores of the table above by the number of words in the source sentence, and on the sentences without unknown
words, with `[UNK]` forbidden (*No UNK*). Models with subwords have no unknown words.
"""

DEMONSTRATION = """\
`rnnsearch demo` was run on three kinds of processor, which round differently. It takes about five minutes on two cores,
including the installation.

| measure, on held-out sentences | lowest | highest |
| --- | ---: | ---: |
| BLEU | 82.7 | 84.2 |
| alignment error rate | 0.07 | 0.17 |
"""

LANGUAGES = {"fr": "English–French", "de": "English–German"}


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    sections = (multi30k, blind, lengths, ablation, selection, unknown_words, alignment, demonstration)
    return "\n".join([HEAD, *(part for section in sections for part in section())])


def multi30k() -> Iterable[str]:
    """The systems, by language."""
    for language, name in LANGUAGES.items():
        rows = list(systems(language))
        if rows:
            yield f"## Multi30k {name}, `test_2016_flickr`\n"
            heads = ("system", "BLEU, `val`", "BLEU", "lower-cased, tokenised", "parameters", "hours", "processor")
            yield table(heads, rows)
    yield HOURS


def blind() -> Iterable[str]:
    """The scores that were taken elsewhere."""
    found = read("blind/scores")["multi30k"]
    yield BLIND
    heads = ("system", *(f"`{test}`" for test in found))
    yield table(heads, ((name, *(f"{of[key]:.2f}" for of in found.values())) for key, name in BLIND_SYSTEMS.items()))


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
    return f"{alone}, {' '.join(differ)}" if differ else f"{alone}, subwords of {preset}"


def bleus(evaluation: dict[str, Any]) -> tuple[str, str, str]:
    """BLEU on `val`, and both kinds of it on the test set."""
    tokenised = evaluation["test_2016_flickr"].get("lower-cased, tokenised")
    cased = (f"{evaluation[test]['all']['bleu']:.2f}" for test in ("val", "test_2016_flickr"))
    return (*cased, f"{tokenised['bleu']:.2f}" if tokenised else "–")  # type: ignore[return-value]


def lengths() -> Iterable[str]:
    """BLEU by the length of the source, and without unknown words."""
    rows = []
    for record, name in (
        ("rnnsearch-best-diversified-and-2-more", "three RNNsearch models, one with synthetic data, one right-to-left"),
        ("rnnsearch-best", "three RNNsearch models, best"),
        ("rnnsearch-best", "RNNsearch, best, seed 1"),
        ("rnnsearch-small", "RNNsearch, small"),
        ("rnnencdec-small", "RNNencdec, small"),
    ):
        found = read(f"multi30k-{record}")
        if found:
            several = name.startswith("three")
            scores = (found["ensemble"] if several else found["evaluation"])["test_2016_flickr"]
            has_unknown = scores["no_unk"]["sentences"] < scores["all"]["sentences"]
            no_unk = f"{scores['no_unk']['bleu']:.1f}" if has_unknown else "–"
            by_length = (f"{part['bleu']:.1f}" for part in scores["by_length"][:3])
            rows.append((name, f"{scores['all']['bleu']:.1f}", no_unk, *by_length))
    if rows:
        yield "## BLEU by sentence length: Multi30k English–French, `test_2016_flickr`\n"
        yield LENGTHS
        yield table(("system", "BLEU", "No UNK", "1–10 words", "11–20", "21–30"), rows)


def demonstration() -> Iterable[str]:
    """The scores of `rnnsearch demo`."""
    yield "## The demonstration on the built-in corpus\n"
    yield DEMONSTRATION


def ablation() -> Iterable[str]:
    """The effect of each choice."""
    record = read("ablation")
    if record:
        rows = record["rows"]
        base = rows["best"]["bleu"]["beam 5"]
        yield "## Ablation: Multi30k English–French, `val`\n"
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
        yield "Other ways to search with the model of the first row:\n"
        searches = rows["best"]["bleu"].items()
        found = ((name, f"{bleu:.2f}", f"{bleu - base:+.2f}") for name, bleu in searches)
        yield table(("search", "BLEU", "difference"), found)


def selection() -> Iterable[str]:
    """What vocabulary selection costs."""
    record = read("vocabulary-selection")
    if record:
        yield "## Vocabulary selection and 8-bit weights\n"
        yield SELECTION.format(**record)
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
    """The effect of replacing `[UNK]`."""
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
            yield table(("`[UNK]`", "BLEU", "replacements", "correct"), rows)


def alignment() -> Iterable[str]:
    """Alignment error rates."""
    record = read("alignment-error")
    names = {"built-in": "the built-in corpus", "novels": "five novels (alibi), with a model trained on Multi30k"}
    if record:
        yield "## Alignment error rate\n"
        yield "Lower is better. *Intersection* and *grow-diag* combine two models, one for each direction.\n"
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
    layer = read("alignment-layer")
    if layer:
        how_to = "../how-to/align-and-score.md#teach-a-translator-to-align"
        yield f"On the same novels, with the installed translator and its [alignment layer]({how_to}):\n"
        parts = list(next(iter(layer["found"].values())))
        yield table(
            ("links", *(f"AER, {part}" for part in parts)),
            ((way, *(f"{scores[part]['aer']:.3f}" for part in parts)) for way, scores in layer["found"].items()),
        )
        yield "The design was chosen on two of the novels; the other three are the test. *One word later* reads each word's"
        yield "links from the attention weights of the next step, when the word is known (Chen et al. 2020)."
        errors = layer["reliability"]["test"]
        drawn, cells = (f"{errors[kind]['expected_calibration_error']:.3f}" for kind in ("drawn links", "all cells"))
        yield f"The probabilities of the alignment layer have an expected calibration error of {drawn} on the links that it"
        yield f"draws in the test novels, and of {cells} on all pairs of words to which it gives 0.01 or more.\n"


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
