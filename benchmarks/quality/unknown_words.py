"""The effect of replacing `[UNK]`: BLEU with and without, the number of replaced words, and the share of correct ones.

A model with a shortlist writes `[UNK]` for words that it does not know. There are four policies: keep it, forbid it, copy
the source word that it is linked to, or write the translation of that word by the lexicon. On Multi30k English–French, with
shortlists of 5,000 words, BLEU on `val` is measured; on the built-in corpus, with 500 words, also the share of correct
words: those that the reference has, by its gold links, for the same source word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, run, text_options
from benchmarks.lib.command import settings as settings_of
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.lib.texts import sides
from benchmarks.quality.multi30k import train, train_command
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import GoldLinks, read_gold
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.translation import Translation, Translator, load
from rnnsearch.translation.lexicon import LEXICON

WORDS = {"built-in": 500, "multi30k": 5000}
"""The length of both shortlists."""


def main() -> None:
    """Train, translate in every way, record."""
    arguments = Parser(__doc__, "output", "data?", "set", "resume").parse_args()

    on, folder = machine(), arguments.output / "unknown-words"
    corpus = built_in.corpus(folder / "corpus", tested=sized(1000, 20))
    command = built_in.train_command(corpus, folder / "built-in", *shortlist("built-in", arguments.set))
    training, test = (built_in.part(corpus, name) for name in ("train", "test"))
    found = {"built-in": measured(command, training, test, arguments.resume)}
    if arguments.data:
        words = ["data.subwords=none", *arguments.set]
        command = [*train_command(arguments.data, folder / "multi30k", "best"), *shortlist("multi30k", words)]
        training, test = (sides(arguments.data, f"multi30k/{name}") for name in ("train", "val"))
        found["multi30k"] = measured(command, training, test, arguments.resume)
    write_result("quality/unknown_words", machine=on, words=WORDS, settings=arguments.set, found=found)
    for name, of_corpus in found.items():
        for way, row in of_corpus.items():
            print(name, way, row)


def shortlist(name: str, more: list[str]) -> list[object]:
    """The options of a training with a short shortlist."""
    return settings_of([f"data.source_words={WORDS[name]}", f"data.target_words={WORDS[name]}", *more])


def measured(
    command: Sequence[object], training: tuple[Path, Path], test: tuple[Path, Path], resume: bool
) -> dict[str, dict[str, Any]]:
    """Train, and translate the test set in every way."""
    model = Path(str(command[command.index("--output") + 1]))
    train(command, model, resume)
    sources, references = (list(read_lines(path)) for path in test)
    gold_file = test[0].with_name("test.gold")
    gold = read_gold(gold_file) if gold_file.exists() else None
    (model / LEXICON).unlink(missing_ok=True)
    ways: dict[str, dict[str, Any]] = {
        "[UNK] left": {"forbid_unk": False},
        "[UNK] forbidden": {"forbid_unk": True},
        "source word copied": {"replace_unk": True},
        "lexicon": {"replace_unk": True},
    }
    found = {}
    for way, settings in ways.items():
        if way == "lexicon":
            run("lexicon", "--model", model, *text_options(*training))
        translator = load(model)
        translations = translator.translate(sources, split_sentences=False, **settings)
        score = corpus_score([translation.text for translation in translations], references)
        found[way] = {
            "bleu": round(score.bleu, 2),
            "signature": score.bleu_signature,
            "written_by": dict(Counter(r.by for translation in translations for r in translation.replacements)),
            **({"right": right(translator, translations, references, gold)} if gold else {}),
        }
    return found


def right(
    translator: Translator, translations: list[Translation], references: list[str], gold: list[GoldLinks]
) -> dict[str, int]:
    """How many words put for `[UNK]` are those that the reference has for the same source word, by how they were found."""
    found: Counter[str] = Counter()
    for translation, reference, links in zip(translations, references, gold, strict=True):
        words = translator.target_words(reference)
        for replacement in translation.replacements:
            expected = {words[target] for source, target in links.possible if source == replacement.source}
            found[replacement.by] += replacement.word in expected
    return dict(found)
