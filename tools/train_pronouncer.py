"""Train the model that is installed with the package to pronounce English, on the words of SIGMORPHON 2021.

    python tools/train_pronouncer.py --data DATA --output RUNS/en-ipa [--from RUNS/high-eng_us]

The training is that of `benchmarks/characters/g2p.py --levels high`: the preset `characters` on
`DATA/g2p/high/eng_us_train.tsv`, which is part of WikiPron. With `--from`, the model of that benchmark is taken. Its int8
copy becomes the model that is installed with the package, with a card that has its error rate on the development set. A
stopped training goes on with the same command.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import rnnsearch
from rnnsearch.atomic import write_json, write_text
from rnnsearch.data.read import read_table
from rnnsearch.evaluation.error_rates import ErrorRates, error_rates
from rnnsearch.model_catalog import BOX, PRONOUNCER
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import load_system, save_settings, save_weights

CARD = """---
library_name: rnnsearch
language:
- en
license: cc-by-sa-3.0
---

# English words to IPA

This model writes the pronunciation of an English word, in broad transcription, as a series of phones of the International
Phonetic Alphabet. It is an RNNsearch (Bahdanau, Cho & Bengio, *Neural Machine Translation by Jointly Learning to Align and
Translate*, ICLR 2015) that reads letters, trained with rnnsearch by its preset `characters`.

    rnnsearch pronounce bahdanau

| | |
|---|---|
| training words | {words:,} |
| updates | {record[updates]:,}; the weights are those of update {record[best_update]:,} |
| parameters | {record[parameters]:,}, stored as int8 |
| WER by beam search, development set of {rates.lines:,} words | {rates.wer:.1f}%, 95% interval {low:.1f} to {high:.1f} |
| SER, the same | {rates.ser:.1f}% |

WER is the share of words that differ from the dictionary in at least one phone, and SER the edit distance for every phone of
the dictionary. The weights were chosen by the WER of greedy search on the development set, which is that of `training.json`,
so the WER on other words is slightly higher.

## Limits

- About four words in ten differ from the dictionary, most often in an unstressed vowel, such as ə or ɪ. The dictionary was
  written by many people, who do not all transcribe alike, and it has many names and loanwords, whose sounds do not follow
  from their letters.
- It has no stress marks, and one pronunciation for each spelling: `read`, `lead` and `wind` have two.
- It knows the letters from a to z. Abbreviations and numbers are not expanded.
- Words are pronounced as in the United States.

## Data and licence

The weights were learned from the English words of SIGMORPHON 2021, task 1 (Ashby et al., *Results of the Second SIGMORPHON
Shared Task on Multilingual Grapheme-to-Phoneme Conversion*, 2021). They come from WikiPron (Lee et al., *Massively
Multilingual Pronunciation Modeling with WikiPron*, LREC 2020), which takes them from Wiktionary. The words and their
pronunciations were written by the contributors of Wiktionary, and are under the licence CC BY-SA 3.0
(https://creativecommons.org/licenses/by-sa/3.0/). The words themselves are not part of this folder. The model is under the
same licence.
"""


def main() -> None:
    """Train the model, or go on with it, and put it into the box."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with g2p/high/ in it")
    parser.add_argument("--output", type=Path, help="where the model is trained")
    parser.add_argument("--from", dest="trained", type=Path, help="a model that is trained already")
    arguments = parser.parse_args()
    train, dev = (arguments.data / "g2p" / "high" / f"eng_us_{part}.tsv" for part in ("train", "dev"))
    model: Path | None = arguments.trained or arguments.output
    if model is None:
        parser.error("give --output or --from")
    if not (model / "training.json").exists():
        command = [sys.executable, "-m", "rnnsearch", "train", "--preset", "characters", "--resume"]
        command += ["--tsv", str(train), "--valid-tsv", str(dev), "--output", str(model)]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    record = json.loads((model / "training.json").read_text())
    install(model, record)
    rates = rates_of(BOX / PRONOUNCER, dev)
    low, high = rates.wer_interval
    card = CARD.format(words=record["training_pairs"], record=record, rates=rates, low=low, high=high)
    write_text(BOX / PRONOUNCER / "README.md", card)
    size = sum(path.stat().st_size for path in (BOX / PRONOUNCER).iterdir())
    print(f"{BOX / PRONOUNCER}: WER {rates.wer:.2f}%, SER {rates.ser:.2f}%, {size / 1e6:.1f} MB")


def install(model: Path, record: dict[str, Any]) -> None:
    """Write the int8 copy of a model, with the names of its languages, into the box."""
    system = load_system(model)
    data = replace(system.config.data, source_language="en", target_language="ipa")
    system = system.changed(replace(system.config, data=data))
    save_settings(BOX / PRONOUNCER, system)
    write_json(BOX / PRONOUNCER / "training.json", record)
    save_weights(BOX / PRONOUNCER / WEIGHTS, system, "int8")


def rates_of(model: Path, table: Path) -> ErrorRates:
    """The error rates of a model on the words of a table."""
    translator = rnnsearch.load(model)
    pairs = list(read_table(table))
    found = translator.translate([word for word, _ in pairs])
    return error_rates([one.tokens for one in found], [translator.target_words(phones) for _, phones in pairs])


if __name__ == "__main__":
    main()
