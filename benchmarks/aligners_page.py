"""Renders `docs/reference/aligners.md` from what `aligners.py` and `aligner_ablation.py` have recorded.

python benchmarks/aligners_page.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quality import read, table

from rnnsearch.atomic import write_text
from rnnsearch.data.word_alignments import parse_gold

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "aligners.md"
NAMES = {"rnnsearch": "rnnsearch align", "eflomal": "eflomal", "fast_align": "fast_align"}
TESTS = {"novels": "Novels", "all-europarl": "Novels, with all of Europarl", "built-in": "Built-in corpus"}
TEXTS = {
    "novels": """\
The test set is three short novels with hand-made links, from the corpus alibi; two others are those on which settings were
chosen and weights were learned. All five are aligned together with 100,000 pairs of Europarl, a text of another kind.
""",
    "all-europarl": """\
The same novels are aligned together with all 948,271 pairs of Europarl.
""",
    "built-in": """\
The test set of the built-in corpus is aligned together with its 60,000 training pairs. Its links are those of the grammar
that generated it. A part of the weights was learned from training sentences of this corpus.
""",
}

HEAD = """# Word aligners

<!-- Written by benchmarks/aligners_page.py from benchmarks/results. Do not edit it; run the script. -->

This page compares `rnnsearch align` [without a model](../how-to/align-and-score.md#align-without-a-model) with two other
aligners that learn from the text which they align: eflomal (Östling and Tiedemann 2016) and fast_align (Dyer, Chahuneau and
Smith 2013). All three are given the same text, English and French, and never the links of a test sentence.
[`aligners.py`](../../benchmarks/aligners.py) runs and scores them. How the links are learned is described in
[Word alignment without a model](../explanation/word-alignment.md).

The measure is the alignment error rate (AER) of Och and Ney (2003); lower is better. eflomal and fast_align draw links in
two directions, which are combined in the ways of [Align and score](../how-to/align-and-score.md#combine-both-directions).
The package that fast_align was run from returns one combination only. `rnnsearch align` draws the links that it finds more
probable than a half (*probability*); its other rows combine the two agreeing models as the other aligners are combined.
The weights of this probability were learned from the links of other sentences, by which its settings were chosen too. The
other aligners have seen no links. eflomal runs with its defaults, and fast_align with the options that its authors advise.

Of each other aligner, the way with the lowest AER *on the test set* is compared with *probability*, which is to its
advantage. p is the probability of a difference as large as theirs if both were equally good (paired bootstrap resampling of
the sentences, 10,000 times).

The links of {pairs} sentences of the Hansards, of which the hand-made links were not at hand, are in
[`rnnsearch.links`](../../benchmarks/results/blind/hansards/rnnsearch.links) and in files beside it for the other two. They
were scored elsewhere, once, by others who have the hand-made links, and no choice was made by that
([record](../../benchmarks/results/blind/scores.json)): AER {rnnsearch:.4f} for `rnnsearch align`, {eflomal:.4f} for eflomal
and {fast_align:.4f} for fast_align.
"""

COST = """\
Each aligner used one thread, beside other programs. Processor seconds are those of learning and writing the links of the
whole text, both directions included; those of different processors cannot be compared. `rnnsearch align` also wrote the
aligner that it keeps. Peak memory includes pages of files that are mapped into memory, which the system may take back.
"""

RELIABILITY = """\
A link has a probability (`--format json`). The table shows what share of the drawn links of a given probability the
annotators drew, too; links that they marked as only possible are left out. The expected calibration error is the mean
difference between the probability and this share over the bins, weighted by the number of links. *All cells* are all pairs
of words to which any of the models gives a probability of more than 0.01, in ten bins.
"""

MODELS = """\
The novels again: the links of one model by itself, those that both directions agree on, and those of the network.
[`aligner_ablation.py`](../../benchmarks/aligner_ablation.py) computes these tables.
"""

EVIDENCE = """\
On the first {lines:,} pairs of the same text, an aligner learned with stems and spelling, and without one of them. The
network is the same in all rows.
"""

EXAMPLES = """\
These are the first sentences of the built-in test set on which `rnnsearch align` and eflomal ({way}) differ. Only
links that one of them drew and the other did not are listed. A link is *right* if the grammar has it, *possible* if the
grammar leaves it open, and otherwise wrong.
"""


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The page, as Markdown."""
    record = read("aligners")
    sections = [HEAD.format(**read("blind/scores")["hansards"])]
    sections += (line for name in TESTS for line in scores(name, record["found"].get(name)))
    sections += [*costs(record), *reliability(record["found"]), *ablation(), *examples(record["found"]["built-in"])]
    return "\n".join(sections)


def scores(name: str, found: Mapping[str, Any] | None) -> Iterable[str]:
    """The scores of a test set, and how sure their difference is."""
    if not found:
        return
    yield f"## {TESTS[name]}\n"
    yield TEXTS[name]
    parts = list(found["pairs"])
    heads = ["aligner", *(f"AER, {part} ({found['pairs'][part]} pairs)" for part in parts), "precision", "recall"]
    rows = []
    for aligner, ways in found["scores"].items():
        for way, of in ways.items():
            test = of["test"]
            aer = (f"{of[part]['aer']:.4f}" for part in parts)
            rows.append((f"{NAMES[aligner]}, {way}", *aer, f"{test['precision']:.3f}", f"{test['recall']:.3f}"))
    yield table(heads, rows)
    missing = [NAMES[aligner] for aligner in NAMES if aligner not in found["scores"]]
    if missing:
        yield f"Left out, for its time: {', '.join(missing)}.\n"
    if "developed on" in parts:
        yield "Precision and recall are those of the test novels.\n"
    best = found["best"]["test"]
    ours = found["scores"]["rnnsearch"]["probability"]["test"]["aer"]
    rows = []
    for aligner, other in best.items():
        theirs = found["scores"][aligner][other["way"]]["test"]["aer"]
        rows.append((f"{NAMES[aligner]}, {other['way']}", f"{theirs:.4f}", f"{ours - theirs:+.4f}", f"{other['p']:.4f}"))
    yield table(("compared with", "its AER", "difference", "p"), rows)


def costs(record: Mapping[str, Any]) -> Iterable[str]:
    """Time and memory."""
    yield "## Time and memory\n"
    yield COST
    kinds = ("processor", "pairs_per_second", "megabytes")
    names = {"novels": "novels and Europarl", "all-europarl": "novels and all of Europarl", "built-in": "built-in corpus"}
    yield table(
        ("text", "processor", "pairs", "aligner", "processor seconds", "pairs per processor second", "peak memory in MB"),
        [
            (names[name], _processor(of), f"{cost['pairs']:,}", NAMES[aligner], *(f"{cost[kind]:,.0f}" for kind in kinds))
            for name, of in record["found"].items()
            for aligner, cost in of["cost"].items()
        ],
    )


def _processor(of: Mapping[str, Any]) -> str:
    return f"{of['machine']['cpu']}, {of['machine']['instructions']}"


def reliability(found: Mapping[str, Any]) -> Iterable[str]:
    """What the probabilities mean."""
    yield "## Reliability of the probabilities\n"
    yield RELIABILITY
    tests = {name: of["reliability"]["test"] for name, of in found.items()}
    rows = []
    for name, of in tests.items():
        for one in of["drawn links"]["bins"]:
            share = (f"{one['probability']:.3f}", f"{one['linked']:.3f}")
            rows.append((TESTS[name], f"{one['from']:.1f} to {one['to']:.1f}", f"{one['cells']:,}", *share))
    yield table(("test set", "probability", "links", "mean probability", "share of links that are right"), rows)
    errors = [
        (TESTS[name], *(f"{of[which]['expected_calibration_error']:.3f}" for which in ("drawn links", "all cells")))
        for name, of in tests.items()
    ]
    yield table(("expected calibration error", "drawn links", "all cells"), errors)


def ablation() -> Iterable[str]:
    """What each part contributes."""
    record = read("aligner-ablation")
    if not record:
        return
    yield "## What each part contributes\n"
    yield MODELS
    yield _parts("links", record["models"])
    yield EVIDENCE.format(lines=record["lines"])
    yield _parts(f"{record['lines']:,} pairs", record["evidence"])


def _parts(head: str, found: Mapping[str, Any]) -> str:
    heads = (head, "AER, developed on", "AER, test", "precision", "recall")
    rows = []
    for name, of in found.items():
        test = of["test"]
        rates = f"{test['precision']:.3f}", f"{test['recall']:.3f}"
        rows.append((name, f"{of['developed on']['aer']:.4f}", f"{test['aer']:.4f}", *rates))
    return table(heads, rows)


def examples(found: Mapping[str, Any]) -> Iterable[str]:
    """Sentences of the built-in corpus whose links differ."""
    yield "## Side by side\n"
    yield EXAMPLES.format(way=found["best"]["test"]["eflomal"]["way"])
    for example in found["shown"]:
        source, target = example["source"].split(), example["target"].split()
        links = {name: parse_gold(example[name]).sure for name in ("rnnsearch", "eflomal", "gold", "possible")}
        rows = []
        for link in sorted(links["rnnsearch"] ^ links["eflomal"]):
            right = "right" if link in links["gold"] else "possible" if link in links["possible"] else "wrong"
            drawn = [right if link in links[name] else "" for name in ("rnnsearch", "eflomal")]
            rows.append((f"{source[link[0]]} – {target[link[1]]}", *drawn))
        yield f"{example['source']}\\\n{example['target']}\n"
        yield table(("link", NAMES["rnnsearch"], NAMES["eflomal"]), rows)


if __name__ == "__main__":
    main()
