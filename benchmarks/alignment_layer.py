"""What the alignment layer gains: the alignment error rate of a translator's attention and of its alignment layer.

    python benchmarks/alignment_layer.py --data DATA --output RUNS --model MODEL

A copy of MODEL, an English–French translator, learns an alignment layer from 30,000 pairs of Europarl, whose links are found
by `rnnsearch align`, and from nothing else. The novels of `DATA/alibi` are then aligned by attention, by attention as it is
read one word later, when the word itself is known (Shift-Att of Chen et al. 2020), and by the layer. What was chosen, was
chosen on the two novels DEVELOPED_ON of `aligners.py`; the other three are the test.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aligners import novel_parts
from alignment_error import novels
from record import machine, write_result

from rnnsearch.atomic import write_text
from rnnsearch.config import ALIGNMENT_LAYER, SHARED
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import Links, hard_alignment
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.translation import ScoredPair, load

PAIRS = 30_000


def main() -> None:
    """Learn, align, score, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with alibi/ and europarl/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the text and the copy of the model go")
    parser.add_argument("--model", type=Path, required=True, help="a translator, English to French")
    arguments = parser.parse_args()

    on, folder = machine(), arguments.output / "alignment-layer"
    copy = folder / "model"
    seconds = learned(arguments.data, arguments.model, copy)
    test, parts = novels(arguments.data / "alibi"), novel_parts(arguments.data / "alibi")
    lines = ([" ".join(words) for words in side] for side in (test.sources, test.targets))
    pairs = load(copy).score(*lines, tokenized=True)
    ways = {
        "attention": [hard_alignment(_there(pair)) for pair in pairs],
        "attention, one word later": [later(pair) for pair in pairs],
        "alignment layer": [pair.links or frozenset() for pair in pairs],
    }
    found: dict[str, Any] = {}
    for way, links in ways.items():
        found[way] = {}
        for part, numbers in parts.items():
            score = alignment_error_rate([links[n] for n in numbers], [test.gold[n] for n in numbers])
            found[way][part] = {"aer": score.aer, "precision": score.precision, "recall": score.recall}
        print(way, *(f"{part} {score['aer']:.4f}" for part, score in found[way].items()))
    training = json.loads((copy / "training.json").read_text()) if (copy / "training.json").exists() else {}
    model = {key: training.get(key) for key in ("parameters", "updates", "training_pairs", "hours")}
    megabytes = (copy / ALIGNMENT_LAYER).stat().st_size / 1e6
    write_result("alignment-layer", machine=on, pairs=PAIRS, model=model, megabytes=megabytes, seconds=seconds, found=found)


def learned(data: Path, model: Path, copy: Path) -> float:
    """Copy the model, and teach it to align; the seconds that took, the links of the text included."""
    kept = copy.with_name("seconds.json")
    if not kept.exists():
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        for path in (path for pattern in SHARED for path in model.glob(pattern) if path.name != ALIGNMENT_LAYER):
            shutil.copy(path, copy)
        text = copy.with_name("text.en"), copy.with_name("text.fr")
        for path, language in zip(text, ("en", "fr"), strict=True):
            parts = [data / "europarl" / f"europarl-part{part}.{language}.xz" for part in (0, 1)]
            lines = [line for part in parts for line in read_lines(part)]
            chosen = np.sort(np.random.default_rng(2).choice(len(lines), PAIRS, replace=False))
            write_text(path, "".join(f"{lines[n]}\n" for n in chosen))
        began = time.monotonic()
        command = ["learn-links", "--model", copy, "--source", text[0], "--target", text[1]]
        subprocess.run([sys.executable, "-m", "rnnsearch", *map(str, command)], check=True)
        write_text(kept, json.dumps(time.monotonic() - began))
    return float(json.loads(kept.read_text()))


def later(pair: ScoredPair) -> Links:
    """The links of attention where each word is linked by the weights of the step after it."""
    assert pair.end_alignment is not None
    return hard_alignment(np.concatenate([_there(pair)[1:], pair.end_alignment[np.newaxis]]))


def _there(pair: ScoredPair) -> Any:
    assert pair.alignment is not None
    return pair.alignment


if __name__ == "__main__":
    main()
