"""Renders `docs/reference/speed.md`: one table of what the speed benchmarks found.

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

Measured by the scripts in [benchmarks](../../benchmarks/README.md), and rendered from what they recorded by
`benchmarks/table.py`. In every row the contestants took turns in one run: the same text, sizes, threads and PyTorch.
Figures are medians of the rounds, but for translation, whose rounds have sentences of their own: there they are
all sentences by all seconds. A run beside which other programs kept more than {limit} of a core busy was thrown away; *busy*
is the most that any run that counts had beside it.

`full` is the paper's size (embedding 620, hidden and alignment 1000, maxout 500, 30,000 words), `small` is 300, 500,
250 and 10,000. The peers' models have these sizes but are not the same function: they project the hidden state
straight to the vocabulary where ours has a maxout layer, and the bidirectional encoders of OpenNMT-py and eole divide
the hidden size between their directions.

- **Training** is a whole update as each toolkit does it: reading the minibatch, cost, gradient, clipping, Adadelta.
  80 pairs of at most 50 words of Europarl; all see the same pairs once. Target words are counted with end symbols and
  without padding. In the bf16 row a peer has the better of its fp32 and, where it trains so on a CPU, its bf16.
- **Translation** is from words to words, the model being loaded. The models are all but untrained, so each is made to
  write exactly as many words as the source has, with the whole beam alive to the end.
- **Products alone** are the very matrix products of the training step, or of the search (of random words), run again by
  themselves, each many times: what fits stays in the cache, so nothing that computes them all gets as far as 100%.

"""


def main() -> None:
    """Write the page."""
    heads = ["what", "unit", "rnnsearch", *(f"{peer.package} {peer.version}" for peer in PEERS.values())]
    heads += ["against the best peer", "busy", "measured"]
    lines = []
    for processor in sorted(SPEED.iterdir()):
        paths = [path for name in ORDER for path in sorted(processor.glob(f"{name}-*.json"), key=_short_first)]
        results = [json.loads(path.read_text()) for path in paths if "-tiny" not in path.name]
        if results:
            lines += [f"## {_machine(results[0])}", "", _line(heads), _line(["---"] * len(heads))]
            lines += [_line(_cells(row, result)) for result in results for row in result["rows"]]
            lines += [""]
    picture = "\nHow the cost grows (dashed: in proportion), at the small size:\n\n![growth](../images/growth-small.png)\n"
    introduction = INTRODUCTION.format(limit=BACKGROUND)
    grown = (PAGE.parent.parent / "images" / "growth-small.png").exists()
    write_text(PAGE, introduction + "\n".join(lines) + (picture if grown else ""))
    print(f"wrote {PAGE}")


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
    return f"{on['cpu']}, {result['threads']} threads, PyTorch {on['torch'].split('+')[0]}"


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
