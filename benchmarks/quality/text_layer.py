"""What `search.forbid_repetition` and `search.keep_numbers` change: BLEU on development sets, by the installed translators.

    python benchmarks/quality/text_layer.py --data DATA --tatoeba RUNS/box/text

DATA has `wmt/newstest2013.en.gz` and `.fr.gz`, and RUNS/box/text the held-out sets of Tatoeba that `tools/train_box.py` has
written. Of the given translations themselves it counts those that `forbid_repetition` would not let through. The results are
written to `benchmarks/results/quality/text_layer.json`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import rnnsearch
from benchmarks.lib.record import sized, write_result
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.search.repetition import breaks_limits

VARIANTS: dict[str, dict[str, Any]] = {
    "neither": {"forbid_repetition": False, "keep_numbers": False},
    "forbid_repetition": {"forbid_repetition": True, "keep_numbers": False},
    "both": {"forbid_repetition": True, "keep_numbers": True},
}


def lines_of(path: Path) -> list[str]:
    """The lines of a file, which may be compressed."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return text.decode().splitlines()[: sized(1_000_000, 4)]


def main() -> None:
    """Translate, score, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with wmt/ in it")
    parser.add_argument("--tatoeba", type=Path, required=True, help="a folder with tatoeba-dev.en and .fr")
    arguments = parser.parse_args()
    sets = {
        "tatoeba-dev": [lines_of(arguments.tatoeba / f"tatoeba-dev.{language}") for language in ("en", "fr")],
        "newstest2013": [lines_of(arguments.data / f"wmt/newstest2013.{language}.gz") for language in ("en", "fr")],
    }
    found: dict[str, Any] = {}
    for name in ("en-fr", "fr-en"):
        translator = rnnsearch.load(name)
        source, target = translator.system.vocabularies
        for set_name, both in sets.items():
            lines, references = both if name == "en-fr" else both[::-1]
            row: dict[str, Any] = {"sentences": len(lines)}
            pairs = [
                (source.encode(translator.source_words(line)), target.encode(translator.target_words(reference)))
                for line, reference in zip(lines, references, strict=True)
            ]
            row["references that forbid_repetition would not let through"] = sum(breaks_limits(*pair) for pair in pairs)
            before: list[str] = []
            for variant, settings in VARIANTS.items():
                translations = translator.translate(lines, split_sentences=False, **settings)
                texts = [one.text for one in translations]
                score = corpus_score(texts, references)
                row[variant] = {"BLEU": round(score.bleu, 2), "chrF": round(score.chrf, 2)}
                row[variant] |= {"cut off at the length limit": sum(not one.finished for one in translations)}
                if before:
                    changed = [(x, y) for x, y in zip(before, texts, strict=True) if x != y]
                    row[variant] |= {"other translations": len(changed), "examples": changed[:5]}
                if variant == "both":
                    row[variant] |= {"with a missing number": sum(bool(one.missing) for one in translations)}
                before, row["signature"] = texts, score.bleu_signature
            found[f"{name}, {set_name}"] = row
            print(json.dumps({f"{name}, {set_name}": row}, indent=2, ensure_ascii=False), flush=True)
    write_result("quality/text_layer", **found)


if __name__ == "__main__":
    main()
