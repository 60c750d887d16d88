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

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference" / "results.md"
TITLES = {
    "builtin": "The built-in corpus",
    "multi30k": "Multi30k: image captions, English–French",
    "files": "Other text",
    "wmt14": "The paper's task, for six hours",
}
REMARKS = {
    "wmt14": (
        "This run shows that the pipeline works from text to report, and little more: it was tested on newstest2013, "
        "and six hours on one core, beside other programs, are less than a hundredth of the paper's time on a GPU. "
        "RNNsearch-50 had seen a ninth of its text when its time was over, and had not yet learned to align."
    )
}
"""What is to be said of a scale beyond its introduction."""
INTRODUCTION = """# Results of the paper's experiments

<!-- Written by benchmarks/reproduction.py from benchmarks/results. Do not edit it; run the script. -->

Each table on this page comes from one run of `rnnsearch reproduce`. The name of a system contains the length limit of its
training sentences, in words; the system with a star was trained longer. BLEU is computed by sacreBLEU. *No UNK* is the score
on the sentences without unknown words, with `[UNK]` forbidden. The columns *paper* show the corresponding system in the
paper, which was tested on another text, newstest2014.
"""


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
        settings=results["settings"],
        systems=[{key: system[key] for key in kept} for system in results["systems"]],
        paper=results["paper"],
        comparison=results["comparison"],
        claims=results["claims"],
    )
    shutil.copy(folder / "figures" / "figure-2.png", DOCS / "images" / f"figure-2-{results['scale']}.png")


def page() -> str:
    """The whole page, as Markdown."""
    sections = [INTRODUCTION]
    for scale, title in TITLES.items():
        path = RESULTS / f"reproduction-{scale}.json"
        if path.exists():
            sections.append(section(scale, title, json.loads(path.read_text(encoding="utf-8"))))
    return "\n".join(sections)


def section(scale: str, title: str, found: dict[str, Any]) -> str:
    """One scale: its table, its claims, its figure."""
    lines = [f"## {title}", "", found["introduction"], ""]
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
        verdict = {True: "holds", False: "does not hold", None: "cannot be said"}[claim["held"]]
        lines += [f"- **{claim['statement']}**: {verdict}.", *(f"    - {figure}" for figure in claim["figures"])]
    lines += ["", f"![BLEU by sentence length](../images/figure-2-{scale}.png)", ""]
    return "\n".join(lines)


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
