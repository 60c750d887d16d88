"""Renders `docs/reference/newstest2014.md` and its figure from the rows that `newstest.py` recorded.

    python benchmarks/newstest_page.py
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from newstest import ROWS as TRAINED_FROM_NOTHING
from record import RESULTS

from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset, to_dict
from rnnsearch.experiments import paper
from rnnsearch.experiments.recipe import recipe
from rnnsearch.report.figures import SERIES, add_legend, new_figure, plain_axes, save_figure, start_at_zero

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference" / "newstest2014.md"
CURVES = DOCS / "images" / "newstest2014-curves.png"
SCORES = RESULTS / "blind" / "scores.json"
"""The scores that were taken elsewhere."""
ROWS = {
    "rnnencdec-50": "`rnnencdec-50`: the paper's baseline, small, by our recipe, 30,000 words",
    "rnnsearch-50": "`rnnsearch-50`: the paper's model, small, by our recipe, 30,000 words",
    "best": "`best`: RNNsearch by the preset `best`, subwords",
    "adapted": "`adapted`: `best`, then trained on the news of 2008 to 2011",
    "longer": "`longer`: the first translator of `train_box.py`, made from `best`, then trained on all pairs again",
    "selected": "`selected`: `longer`, then trained on that news and on the 8 million words of Europarl most like it",
    "selected-adapted": "`selected-adapted`: `selected`, then trained on the news alone",
    "selected-longer": "`selected-longer`: `selected`, then trained on the same text again",
    "selected-longer-adapted": "`selected-longer-adapted`: `selected-longer`, then trained on the news alone",
    "right-to-left": "`right-to-left`: the weights of `longer`, trained to write right to left on the text of `selected`",
    "mean": "`mean`, one model of averaged weights",
    "installed-1": "`installed-1`: the installed translator, then trained on the text of `selected`",
    "installed-1-adapted": "`installed-1-adapted`: `installed-1`, then trained on the news alone",
    "installed-1-mean": "`installed-1-mean`, one model of averaged weights",
    "installed-2": "`installed-2`: as `installed-1`, with the text in another order",
    "installed-2-adapted": "`installed-2-adapted`: `installed-2`, then trained on the news alone",
    "installed-2-mean": "`installed-2-mean`, one model of averaged weights",
    "installed-mean": "`installed-mean`, one model of averaged weights",
    "together": "`together`, an ensemble",
}
DEVELOPMENT = ("newstest2012", "newstest2013")
COMPARABLE_FROM = {"best": 8001}
"""The first update after which a row was validated on the same sentences as the others."""

HEAD = """# newstest2014

<!-- Written by benchmarks/newstest_page.py from benchmarks/results. Do not edit it; run the script. -->

The paper's task is English–French news: newstest2012 and newstest2013 are the development set, newstest2014 is the test set.
The paper asks whether a model that learns to align translates better than one that reads the sentence into a fixed vector.

## The answer

| system | recipe | newstest2014: BLEU | tokenised | chrF | printed in the paper |
|---|---|---:|---:|---:|---:|
{answer}

The scores on newstest2014 were taken elsewhere, once, by others who have its reference, for translations that had been
committed before; no choice was made by them ([record](../../benchmarks/results/blind/scores.json)). BLEU is that of
sacreBLEU, cased, with the tokenizer `13a`. *Tokenised* is BLEU on Moses tokens, which is nearest to the paper's figures.

- **The model that aligns is better**, by far: with the same layers, text and updates, RNNsearch-50 has {search} BLEU where
  RNNencdec-50 has {encdec}. Both had minutes of one CPU thread where the paper's systems had days of a GPU, so neither is
  near its counterpart.
- **None of these rows was trained by the paper's recipe**, and all are smaller: the first two have layers of 320 units, and
  were trained on 16 million words where the paper's had 348 million. [Recipes](paper-settings.md#recipes) and the
  [settings below](#settings-of-the-first-two-rows) list what differs.
- **A small model of subwords comes near**: `mean`, of 9.4 million parameters, has {mean} tokenised BLEU where the paper's
  RNNsearch-50, of 80 million, has 26.75. It was trained for hours on one CPU thread, on 948 thousand pairs of Europarl, 162
  thousand of Tatoeba and ten thousand of news, by methods that are newer than the paper.
- Moses, the phrase-based system of the paper, also used 418 million words of French for its language model.

The translations of newstest2014 are in [`results/newstest2014`](../../benchmarks/results/newstest2014/best.fr), one line for
each sentence. To score one of them:

    sacrebleu -t wmt14 -l en-fr -i benchmarks/results/newstest2014/best.fr

Another test set, newsdiscusstest2015, was translated by `mean` and scored in the same way: {discuss} BLEU.

"""
LONG_TABLE = """
## All rows

These systems were trained on half of Europarl, 948,271 pairs, by [`newstest.py`](../../benchmarks/newstest.py), on one
thread of two CPU cores, beside other programs; so the hours are rough. The models of subwords also read 161,968 pairs of
Tatoeba, and those whose row says so, news of 2008 to 2011. The command of a row is

    python benchmarks/newstest.py --data DATA --output RUNS --row rnnsearch-50

with its name, and with `--beside RUNS/box/text/tatoeba-train` where Tatoeba is read.

The columns newstest2012 and newstest2013 are development figures: of every training, those weights were kept that had the
best BLEU on a part of these texts, and settings were chosen by them. They are higher than figures on other text would be.
BLEU there has the signature `{signature}`; the first
*tokenised* is on the Moses tokens of newstest2013.

"""
SETTINGS = """
## Settings of the first two rows

{recipe}

"""
FIGURE = """
![BLEU on the development set against hours of training](../images/newstest2014-curves.png)

*BLEU of greedy search on a thousand sentences of the development set, drawn evenly from both texts, while the models were
trained. The line of `best` begins late because its first 8,000 updates were validated on other sentences.*
"""
LONGER = """
`longer` did not reach `best`: the model that it went on from was trained on Tatoeba last, and what it lost of the language
of Europarl and the news, so many updates did not bring back.
"""
SELECTED = """
What the text is about seems to matter more than how much of it is read. `selected` went on from `longer` for about as many
updates, on the third of Europarl that is most like the news of 2008 to 2011 and on that news, with a dropout of 0.1: {gains}
BLEU more. How much of this is due to more updates, to the selection, to the news or to dropout was not measured. As many
updates again, on the same text, brought {again} (`selected-longer`).
"""
MEAN = """
The mean of the weights of a model and of its adapted copy, `mean`, keeps most of what adaptation brought on newstest2012,
and is better than either on newstest2013, in the time that one model takes.
"""
TOGETHER = """
Two models that went on from the same translator, on the same text in two orders, are too much alike to help each other: the
mean of all their weights, `installed-mean`, has {mean}, and the ensemble of both, `together`, has {together}, in twice the
time. Both stay behind `mean`, which had read the selected text twice.
"""
UNKNOWN = """
## Unknown words

RNNencdec-50 and RNNsearch-50 have the same layers, smaller than the paper's, the same text, 16 million words selected from
Europarl by the news of 2008 to 2011, and the same number of updates. Their shortlists of 30,000 words leave words out, for
which they write `[UNK]`. Search can forbid it, or replace it by the source word that the model looked at, or by that word's
entry in a lexicon (see [Rare words](../how-to/rare-words.md)).

"""
LONG_SENTENCES = """
## The paper's own sentences

The paper prints four sentences with their alignments (Figure 3), and three long ones with a reference and the translations
of RNNenc-50, RNNsearch-50 and Google Translate (section 5.2.2, Table 3). All are sentences of newstest2014. They are not
part of this repository. Typed from the paper into tables, as [`rnnsearch examples`](commands.md#examples) reads them, they
are shown beside the translations of the installed model, or of another one, with a heat map of each:

```text
rnnsearch examples figure-3.tsv --paper --output figure-3.html --plot figure-3
rnnsearch examples table-3.tsv --paper --output table-3.html --plot table-3 --model MODEL
```

**Figure 3 (a)** is the example of section 5.2.1: *European Economic Area*, whose words RNNsearch-50 reads from the last to
the first. The installed model does the same:

![The alignment of “the European Economic Area” by the installed model](../images/figure-3-phrase.png)

**Table 3.** The three sentences are lines 939, 120 and 2443 of newstest2014. This is what `mean`, the best on the
development sets, makes of them, in the same lines of `mean.fr`, beside what the paper prints for RNNenc-50:

- **Line 939**, on doctors' privileges. After some thirty words, RNNenc-50 leaves the source and speaks of the patient's
  health. Ours keeps every part to the end: both places, both purposes, and the status of a health worker in a hospital. It
  is wooden where it has an infinitive, and French a noun, for the admission.
- **Line 120**, on digital platforms. RNNenc-50 neither closes the quotation nor says who speaks, and its platforms become
  readers. Ours closes the quotation, says who speaks, and has the platforms and their growing importance. But it makes a
  whole of the series, and for the audiences it puts an invented word, *endiences*, together from subwords.
- **Line 2443**, on a video. Both have all parts. RNNenc-50 has a motivation where lawyers have a motive, which ours gets
  right; but in ours the video is a void, *vide*.

So the observation of the paper holds here: one fixed vector loses the end of a long sentence, and attention does not. It is
plainer still in `rnnencdec-50`, which was trained for minutes where the paper's system was for days: after the first few
words, its translations of these lines share hardly anything with the source.
"""
COSTS = """
## Time and memory

Each command used one thread, beside other programs. The first row prepares Europarl and Tatoeba, 1,110,239 pairs. Where a
training was stopped and went on, the minutes are those of all its parts, and the memory is that of the last.

"""
COMMANDS = {
    "prepared-bpe-60": "preparing all pairs, with subwords",
    "prepared-16m": "preparing 16 million selected words",
    **{name: f"training `{name}`" for name in ROWS},
}


def main() -> None:
    """Write the page and the figure."""
    draw_curves(recorded())
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def recorded() -> dict[str, Any]:
    """The records of the rows that there are."""
    paths = {name: RESULTS / "newstest2014" / f"{name}.json" for name in ROWS}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}


def page() -> str:
    """The page, as Markdown."""
    rows, scores = recorded(), json.loads(SCORES.read_text(encoding="utf-8"))
    on_test = scores["newstest2014"]
    signature = next(iter(rows.values()))["scores"]["as it is"]["newstest2013"]["all"]["bleu_signature"]
    whole_words = {name: row["scores"] for name, row in rows.items() if len(row["scores"]) > 1}
    text = HEAD.format(
        answer="\n".join(answer(on_test)),
        search=_figure(on_test["rnnsearch-50"]["as it is"]["bleu"]),
        encdec=_figure(on_test["rnnencdec-50"]["as it is"]["bleu"]),
        mean=_figure(on_test["mean"]["as it is"]["tokenised"]),
        discuss=_figure(scores["newsdiscusstest2015"]["mean"]),
    )
    text += LONG_SENTENCES + LONG_TABLE.format(signature=signature) + "\n".join(table(rows, on_test)) + "\n" + FIGURE
    text += LONGER
    text += SELECTED.format(
        gains=gains(rows["longer"], rows["selected"]), again=gains(rows["selected"], rows["selected-longer"])
    )
    text += MEAN + TOGETHER.format(mean=bleu_of(rows["installed-mean"]), together=bleu_of(rows["together"]))
    kinds = list(max(whole_words.values(), key=len))
    heads = [f"{test}: {kind}" for test in ("newstest2013", "newstest2014") for kind in kinds]
    lines = [_line(("", *heads)), "|---|" + "---:|" * len(heads)]
    for name, found in whole_words.items():
        on_dev = (f"{found[kind]['newstest2013']['all']['bleu']:.2f}" if kind in found else "" for kind in kinds)
        lines.append(_line((name, *on_dev, *(_figure(on_test[name].get(kind, {}).get("bleu")) for kind in kinds))))
    text += UNKNOWN + "\n".join(lines) + "\n"
    return text + SETTINGS.format(recipe=textwrap.fill(recipe_of("rnnsearch-50"), 125)) + costs(rows)


def answer(on_test: dict[str, Any]) -> list[str]:
    """The rows that answer the paper's question, beside the paper's."""
    ours = [
        ("RNNencdec-50", "rnnencdec-50", "as it is", "ours, small", "RNNencdec-50"),
        ("RNNsearch-50", "rnnsearch-50", "as it is", "ours, small", "RNNsearch-50"),
        ("RNNsearch-50, `[UNK]` replaced", "rnnsearch-50", "replace-unk", "ours, small", ""),
        ("RNNsearch of subwords, `best`", "best", "as it is", "ours, preset `best`", ""),
        ("RNNsearch of subwords, `mean`", "mean", "as it is", "ours, trained further and averaged", ""),
    ]
    lines = []
    for title, name, kind, label, counterpart in ours:
        found = on_test[name][kind]
        figures = (_figure(found["bleu"]), _figure(found["tokenised"]), f"{found['chrf']:.1f}")
        lines.append(_line((title, label, *figures, f"{paper.ROWS[counterpart].all:.2f}" if counterpart else "")))
    for name in ("RNNsearch-50*", "Moses"):
        lines.append(_line((f"the paper's {name}".replace("*", "\\*"), "", "", "", "", f"{paper.ROWS[name].all:.2f}")))
    return lines


def table(rows: dict[str, Any], on_test: dict[str, Any]) -> list[str]:
    """All rows: how they were trained, their development figures, and their scores on newstest2014."""
    ours = ("system", "parameters", "updates", "million words read", "hours", "starts", *DEVELOPMENT, "tokenised")
    heads = (*ours, "newstest2014", "tokenised", "chrF")
    lines = [_line(heads), "|---|" + "---:|" * (len(heads) - 1)]
    for name, row in rows.items():
        training, scores = row.get("training"), row["scores"]["as it is"]
        read = ["", "", "", "", ""]
        if training:
            read = [
                f"{training['parameters'] / 1e6:.1f} M",
                f"{training['updates']:,}",
                f"{training['target_words_per_second'] * training['hours'] * 3600 / 1e6:.0f}",
                f"{training['hours']:.1f}",
                str(row["starts"]),
            ]
        bleu = [f"{scores[test]['all']['bleu']:.2f}" for test in DEVELOPMENT]
        title = ROWS[name]
        if row.get("from"):
            title += f" (before it: {', '.join(f'{bleu:.2f}' for bleu in row['from'].values())})"
        if "members" in row:
            title += f": {', '.join(f'`{member}`' for member in row['members'])}"
        found = on_test[name]["as it is"]
        blind = (_figure(found["bleu"]), _figure(found["tokenised"]), f"{found['chrf']:.1f}" if "chrf" in found else "")
        lines.append(_line((title, *read, *bleu, f"{scores['newstest2013']['tokenized_bleu']:.2f}", *blind)))
    return lines


def recipe_of(name: str) -> str:
    """How the settings of a row that was trained from nothing differ from the paper's."""
    row = TRAINED_FROM_NOTHING[name]
    overrides: dict[str, dict[str, Any]] = {}
    for key, value in row.settings.items():
        section, _, field = key.partition(".")
        overrides.setdefault(section, {})[field] = value
    return recipe(to_dict(from_preset(row.preset, overrides)))


def bleu_of(row: dict[str, Any]) -> str:
    """The BLEU of a row on each development set."""
    found = row["scores"]["as it is"]
    return " and ".join(f"{found[test]['all']['bleu']:.2f}" for test in DEVELOPMENT)


def gains(before: dict[str, Any], after: dict[str, Any]) -> str:
    """How much more BLEU a row has on each development set."""
    then, now = (row["scores"]["as it is"] for row in (before, after))
    return " and ".join(f"{now[test]['all']['bleu'] - then[test]['all']['bleu']:.1f}" for test in DEVELOPMENT)


def costs(rows: dict[str, Any]) -> str:
    """What the commands cost, as far as the records tell."""
    found: dict[str, Any] = {}
    for row in rows.values():
        found |= row.get("costs") or {}
    table = [_line(("", "minutes", "peak memory")), "|---|---:|---:|"]
    for name, command in COMMANDS.items():
        if name in found:
            training = rows[name]["training"] if name in rows else {"hours": found[name]["seconds"] / 3600}
            table.append(_line((command, f"{training['hours'] * 60:.0f}", f"{found[name]['peak_megabytes']:,} MB")))
    return COSTS + "\n".join(table) + "\n" if found else ""


def draw_curves(rows: dict[str, Any]) -> None:
    """BLEU on the development set against hours, a line for each system that was trained from nothing."""
    figure = new_figure(6.4, 3.6)
    axes = figure.add_subplot()
    anew = {name: row["training"] for name, row in rows.items() if name in TRAINED_FROM_NOTHING}
    for (name, training), colour in zip(anew.items(), SERIES, strict=False):
        first = COMPARABLE_FROM.get(name, 0)
        points = [(one["hours"], one["valid_bleu"]) for one in training["validations"] if one["update"] >= first]
        axes.plot(*zip(*(points if first else [(0.0, 0.0), *points]), strict=True), color=colour, label=name)
    plain_axes(axes, "hours", "BLEU")
    start_at_zero(axes)
    add_legend(axes)
    save_figure(figure, CURVES)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
