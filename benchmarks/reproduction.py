"""Keeps the results of `rnnsearch reproduce`, and renders `docs/reference/results.md` from all results that were kept.

    rnnsearch reproduce --scale builtin --output FOLDER
    python benchmarks/reproduction.py [FOLDER]

Writes `results/reproduction-SCALE.json` (Tables 1 and 2, BLEU by length, the claims) and `docs/images/figure-2-SCALE.png`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from record import RESULTS, machine, write_result

from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset, to_dict
from rnnsearch.experiments import paper
from rnnsearch.experiments.experiment import BUDGET_HOURS
from rnnsearch.experiments.recipe import recipe

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference" / "results.md"
TITLES = {
    "builtin": "The built-in corpus",
    "multi30k": "Multi30k: image captions, English–French",
    "files": "Other text",
    "wmt14": "The paper's task at a small size, by our recipe, for six hours",
}
REMARKS = {
    "wmt14": (
        "This run shows that the pipeline works from text to report, and little more: it was tested on newstest2013, "
        "and six hours on one core, beside other programs, are less than a hundredth of the paper's time on a GPU. "
        "RNNsearch-50 had seen a ninth of its text when its time was over, and had not yet learned to align. Neither the "
        "sizes nor the recipe are the paper's."
    )
}
"""What is to be said of a scale beyond its introduction."""
INTRODUCTION = """# Results of the paper's experiments

<!-- Written by benchmarks/reproduction.py from benchmarks/results. Do not edit it; run the script. -->

Each table on this page comes from one run of `rnnsearch reproduce`. The name of a system contains the length limit of its
training sentences, in words; the system with a star was trained longer. BLEU is computed by sacreBLEU. *No UNK* is the score
on the sentences without unknown words, with `[UNK]` forbidden. The columns *paper* show the corresponding system in the
paper, which was tested on another text, newstest2014.

In these runs, the system with a star kept the count of validations without gain of the system that it continues, and was
bounded by 2.27 times its time; since then, it is counted anew, and bounded by 2.32 times its updates.

None of these runs has the paper's recipe: each section says in what its recipe differs, and how the run is started. [The
paper, its authors' code, and rnnsearch](paper-settings.md) compares all settings.
"""


CLAIMS = (
    ("RNNsearch is above RNNencdec at each length limit", "5.1, Table 1", "BLEU, paired bootstrap resampling"),
    ("RNNsearch-30 is even above RNNencdec-50", "5.1, Table 1", "BLEU, paired bootstrap resampling"),
    (
        "RNNencdec-50 falls with the length of the sentence, RNNsearch-50 does not",
        "5.1, Figure 2",
        "a tenth of the BLEU lost from the middle bin to the longest",
    ),
    ("Trained longer, RNNsearch-50* is better still", "Table 1", "BLEU, paired bootstrap resampling"),
    ("The annotations focus on the words around", "3.2", "their change, near and far, when a word is replaced"),
    (
        "Without unknown words, RNNsearch-50* is as good as the phrase-based Moses",
        "5.1, Table 1",
        "No UNK: the 95% interval of the difference lies above −1 BLEU",
    ),
    (
        "RNNsearch-50 does not deteriorate even with sentences of 50 words and more",
        "5.1, Figure 2",
        "less than a tenth of the BLEU of middle lengths lost",
    ),
    (
        "Adjectives and nouns are aligned in reversed order",
        "5.2.1, Figure 3",
        "pairs that gold links have in reversed order: attention to just these words",
    ),
    ("The soft alignment lets an article look at its noun", "5.2.1", "weight on the words after the most attended one"),
    ("Source and target may differ in length", "5.2.1", "correlation of the length ratios of translation and reference"),
)
"""The claims, in the order in which a reproduction tests them: the claim, its place in the paper, and the test."""
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be said"}


def main() -> None:
    """Keep one reproduction if there is one, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the --output of a finished `rnnsearch reproduce`")
    folder = parser.parse_args().folder
    if folder is not None:
        keep(folder)
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def keep(folder: Path) -> None:
    """Record the results and the figure of one reproduction."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    kept = ("name", "paper", "all", "no_unk", "by_length", "training", "aer", "unfinished")
    write_result(
        f"reproduction-{results['scale']}",
        machine=machine(),
        introduction=results["introduction"],
        command=results["commands"][0],
        settings=results["settings"],
        systems=[{key: system[key] for key in kept} for system in results["systems"]],
        paper=results["paper"],
        comparison=results["comparison"],
        claims=results["claims"],
    )
    shutil.copy(folder / "figures" / "figure-2.png", DOCS / "images" / f"figure-2-{results['scale']}.png")


def page() -> str:
    """The whole page, as Markdown."""
    paths = {scale: RESULTS / f"reproduction-{scale}.json" for scale in TITLES}
    found = {scale: json.loads(path.read_text(encoding="utf-8")) for scale, path in paths.items() if path.exists()}
    return "\n".join([INTRODUCTION, claims(found), *(section(scale, TITLES[scale], found[scale]) for scale in found)])


def claims(found: dict[str, Any]) -> str:
    """The claims, and the verdict of each scale."""
    lines = ["## The claims", "", _line("claim", "in the paper", "test", *found), "|---|---|---|" + "---|" * len(found)]
    for number, claim in enumerate(CLAIMS):
        verdicts = (
            VERDICTS[record["claims"][number]["held"]] if number < len(record["claims"]) else "not tested"
            for record in found.values()
        )
        lines.append(_line(*claim, *verdicts).replace("*", "\\*"))
    return "\n".join(lines) + (
        "\n\nThe scores and intervals of each verdict are below. The later claims are tested since these runs; `rnnsearch "
        "reproduce`\ntests all of them. Moses is tested where its translations are given, and reversed order where the test "
        "set has gold links.\n"
    )


def section(scale: str, title: str, found: dict[str, Any]) -> str:
    """One scale: its table, its claims, its figure."""
    lines = [f"## {title}", "", found["introduction"], ""]
    label = recipe(found["settings"]["config"])
    if label not in found["introduction"]:
        lines += [label, ""]
    lines += ["```text", command(found), "```", ""]
    if scale in REMARKS:
        lines += [REMARKS[scale], ""]
    heads = ("system", "BLEU, all", "BLEU, No UNK", "updates", "hours", "AER", "paper, all", "paper, No UNK")
    lines += [f"| {' | '.join(heads)} |", "|---|" + "---:|" * 7]
    for system in found["systems"]:
        paper = found["paper"].get(system["paper"])
        training, aer = system["training"], system["aer"]
        cells = [
            system["name"],
            _two(system["all"]["bleu"]),
            _two(system["no_unk"] and system["no_unk"]["bleu"]),
            f"{training['updates']:,}" if training else "",
            _two(training and training["hours"]),
            _two(aer and aer["aer"]),
            _two(paper and paper["all"]),
            _two(paper and paper["no_unk"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    for claim in found["claims"]:
        lines.append(f"- **{claim['statement']}**: {VERDICTS[claim['held']]}.")
        lines += (f"    - {figure}" for figure in claim["figures"])
    lines += ["", f"![BLEU by sentence length](../images/figure-2-{scale}.png)", ""]
    return "\n".join(lines)


def command(found: dict[str, Any]) -> str:
    """The command of a run: as it was recorded, or made of the settings of the run where none was."""
    if "command" in found:
        return str(found["command"])
    settings = found["settings"]
    text = settings["text"]
    words = [f"rnnsearch reproduce --scale {settings['scale']} --output FOLDER"]
    for option in ("source", "target", "valid_source", "valid_target", "test_source", "test_target"):
        words += [f"--{option.replace('_', '-')} {name}" for name in _names(text.get(option))]
    if "words" in text:
        words += [f"--words {text['words']}"]
        words += [f"--in-domain-{side} {_names(text[f'in_domain_{side}'])[0]}" for side in ("source", "target")]
    words += [f"--system {system['name']}=FILE" for system in found["systems"] if not system["training"]]
    hours = settings["minutes"] * (3 + paper.LONGER) / 60
    if round(hours, 1) != BUDGET_HOURS[settings["scale"]]:
        words += [f"--budget-hours {hours:.1f}"]
    if settings["scale"] == "wmt14":  # the other scales have settings of their own, which were not changed
        words += [f"--set {one}" for one in changed(settings["config"])]
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > 115:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return " \\\n".join(lines)


def changed(config: dict[str, Any]) -> list[str]:
    """The settings that differ from the preset `paper`, but for those that `reproduce` sets itself."""
    of_paper = to_dict(from_preset("paper"))
    return [
        f"{section}.{key}={value}"
        for section, values in config.items()
        for key, value in values.items()
        if f"{section}.{key}" != "training.max_updates" and of_paper[section].get(key, value) != value
    ]


def _names(files: Any) -> list[str]:
    """The names of the files of one side, which are recorded as pairs of name and size."""
    if files is None:
        return []
    return [name for name, _ in files] if isinstance(files[0], list) else [files[0]]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
