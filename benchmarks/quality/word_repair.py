"""How often a segment of a memory is repaired rightly by exchanging one word (`rnnsearch.translation.repair`).

The memory is the training text. Each segment in it that differs from an earlier one in exactly one word is translated by the
repair of that one's translation, and the reference is its own translation, which the repair does not see. Told are: how many
are repaired at all; in how many of these the new word is in the reference, and the old one is not, so that the exchange is
right; and chrF of the repaired translations, of the unrepaired ones and of the model's on the same segments. A person has
translated each segment by itself, so that words besides the exchanged one differ from the reference as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.quality.small_data import texts
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation import load, repair

Pair = tuple[str, str]


def main() -> None:
    """Repair the segments, compare them with their references, and record."""
    parser = Parser(__doc__, "model", "data", count=sized(200, 10))
    parser.add_argument("--text", default="multi30k", choices=("multi30k", "europarl"))
    arguments = parser.parse_args()
    on, translator = machine(), load(arguments.model)
    data = translator.system.config.data
    training, _ = texts(arguments.data, arguments.text, data.source_language, data.target_language)
    Random(1).shuffle(training)
    cases = list(islice(neighbours(training), arguments.count))
    segments, new = [old for old, _ in cases], [pair for _, pair in cases]
    scored = translator.score([source for source, _ in segments], [target for _, target in segments])
    translations = translator.translate([source for source, _ in new])
    tokenizer = Tokenizer(data.tokenizer, data.target_language)
    rows: list[tuple[str, str, str, str]] = []
    right = 0
    for (_, target), pair, translated, (_, reference) in zip(segments, scored, translations, new, strict=True):
        repaired = repair.repaired(target, pair, translated)
        if repaired is not None:
            before, after, expected = (set(tokenizer.tokenize(one.casefold())) for one in (target, repaired, reference))
            exchanged = after - before <= expected and not (before - after) & expected
            right += exchanged
            rows.append((repaired, target, translated.text, reference))
            print(f"{'right' if exchanged else 'WRONG'}: {target} → {repaired} | {reference}")
    found: dict[str, object] = {"text": arguments.text, "segments": len(cases), "repaired": len(rows), "right": right}
    if rows:
        for place, name in enumerate(("repaired", "unrepaired", "model")):
            found[f"chrf_{name}"] = round(corpus_score([row[place] for row in rows], [row[3] for row in rows]).chrf, 1)
    print(found)
    write_result("quality/word_repair", machine=on, model=repr(translator), **found)


def neighbours(pairs: list[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Yield segments, each after an earlier one that differs in one word and is similar enough."""
    from rapidfuzz import fuzz

    seen: dict[tuple[str, ...], Pair] = {}
    for pair in pairs:
        words = pair[0].split()
        masked = [(*words[:place], "", *words[place + 1 :]) for place in range(len(words))]
        for one in masked:
            other = seen.get(one)
            if other and repair.may_be_repaired(other[0], pair[0]) and fuzz.ratio(other[0], pair[0]) >= repair.LEAST_SCORE:
                yield other, pair
                break
        seen.update(dict.fromkeys(masked, pair))
