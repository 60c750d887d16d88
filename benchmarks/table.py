"""Renders `docs/reference/speed.md`: a table of the speed benchmarks for each processor.

    python benchmarks/table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from peers import PEERS
from record import BACKGROUND, SPEED

from rnnsearch.atomic import write_text

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "speed.md"
ORDER = ("training-speed", "engine-roofline", "data-loading", "translation-speed", "decoding")

INTRODUCTION = """# Speed

<!-- Written by benchmarks/table.py from benchmarks/results/speed. Do not edit it; run the script. -->

This page shows what the scripts in [benchmarks](../../benchmarks/README.md) measured. In every row, all toolkits were
measured in turn in one run, with the same text, sizes, number of threads and PyTorch version. Numbers are medians over
rounds. For translation, where each round has its own sentences, they are the total number of sentences divided by the total
time. A measurement during which other programs used more than {limit} of a core was discarded. The column *busy* is the
largest load during any measurement that was kept.

| size | embedding | hidden | alignment | maxout | vocabulary |
| --- | ---: | ---: | ---: | ---: | ---: |
| full (the paper's) | 620 | 1,000 | 1,000 | 500 | 30,000 |
| small | 300 | 500 | 500 | 250 | 10,000 |

The models of the other toolkits have these sizes but compute another function. They project the hidden state directly to the
vocabulary, without a maxout layer, and the bidirectional encoders of OpenNMT-py and eole divide the hidden size between
their directions.

- **Training** compares whole updates of each toolkit's own training program, in target words a second: reading the
  minibatch, cost, gradient, clipping and Adadelta. All train on the same pairs of at most 50 words from Europarl, twice,
  and the second time counts. Each cuts them into minibatches of similar lengths in its own way; JoeyNMT does not do so,
  and is given the pairs in the order of their lengths if that suits it better. Target words include end symbols but no
  padding. In the bf16 rows, the number of another toolkit is the better of its fp32 and, if it supports it on a CPU, its
  bf16 speed.
- Rows of training that name no **size of minibatches** are of an earlier kind, which favours rnnsearch: JoeyNMT had the
  pairs in no order, in which it is a third slower than in the order of their lengths, and the first updates counted, in
  which programs compile and take memory.
- **Translation** measures the time from words to words, without loading the model. The models are almost untrained, so
  each toolkit is made to produce exactly as many words as the source has, with a full beam to the end.
- **Products alone** repeats only the matrix products of a training step, or of a search with random words, many times
  each. Small operands stay in the cache, so a program that computes everything else as well cannot reach 100%.

"""

SCALING = """\
The figure shows how the time of an update and of a translation grows with sentence length, batch size, vocabulary and beam,
at the small size. The dashed lines are proportional growth.

![Growth of the time with the sizes](../images/growth-small.png)
"""


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())
    print(f"wrote {PAGE}")


def page() -> str:
    """The whole page, as Markdown."""
    heads = ["what", "unit", "rnnsearch", *(f"{peer.package} {peer.version}" for peer in PEERS.values())]
    heads += ["relative to the fastest other", "busy", "date"]
    lines = []
    for processor in sorted(SPEED.iterdir()):
        paths = [path for name in ORDER for path in sorted(processor.glob(f"{name}-*.json"), key=_short_first)]
        results = [json.loads(path.read_text()) for path in paths if "-tiny" not in path.name]
        if results:
            lines += [f"## {_machine(results[0])}", "", _line(heads), _line(["---"] * len(heads))]
            lines += [_line(_cells(row, result)) for result in results for row in result["rows"]]
            lines += [""]
    picture = "\n## Scaling\n\n" + SCALING
    introduction = INTRODUCTION.format(limit=BACKGROUND)
    grown = (PAGE.parent.parent / "images" / "growth-small.png").exists()
    return introduction + "\n".join(lines) + (picture if grown else "")


def _short_first(path: Path) -> tuple[int, str]:
    return len(path.name), path.name


def _cells(row: dict[str, Any], result: dict[str, Any]) -> list[str]:
    peers = row["peers"]
    return [
        row["what"],
        row["unit"],
        f"**{row['ours']:,}**",
        *(f"{peers[peer]:,}" if peer in peers else "–" for peer in PEERS),
        f"{row['ours'] / max(peers.values()):.1f}×" if peers else "–",
        str(max(_loads(result), default="–")),
        result["machine"]["date"][:10],
    ]


def _machine(result: dict[str, Any]) -> str:
    on = result["machine"]
    return f"{on['cpu']} with {on['instructions']}, {result['threads']} threads, PyTorch {on['torch'].split('+')[0]}"


def _loads(value: Any) -> list[float]:
    """The loads beside all runs in a result."""
    if isinstance(value, list):
        return [load for item in value for load in _loads(item)]
    if isinstance(value, dict):
        own = value.get("background_during")
        return ([] if own is None else [own]) + [load for item in value.values() for load in _loads(item)]
    return []


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
