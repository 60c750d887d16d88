"""The effect of given terms: BLEU and seconds with and without, and the share of the terms that are in the translations.

For each sentence, one to three source words are drawn at random, each with the words of the reference that it is linked to;
these are the terms of this sentence. The model itself links the words: each word of the reference to the source word that
it paid most attention to. Drawn are source words of four letters or more that occur once in their sentence, and whose
counterparts are adjacent, one of them with four letters or more. As the terms are taken from the reference, BLEU should
rise; terms that are linked or placed wrongly lower it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, undisturbed, write_result
from rnnsearch.data.lines import read_lines
from rnnsearch.data.word_alignments import hard_alignment
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.search import search_all
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation import ScoredPair, Translation, Translator, load

MOST = 3
"""The largest number of terms of a sentence."""
SHORTEST = 4
"""The letters of the shortest source word that is drawn."""


def main() -> None:
    """Draw the terms, translate without and with them, record."""
    parser = Parser(__doc__, "model", "source", beam=5, seed=1)
    parser.add_argument("--reference", type=Path, required=True, help="its translation, which the terms are taken from")
    arguments = parser.parse_args()

    on, translator, random = machine(), load(arguments.model), Random(arguments.seed)
    sources, references = (list(read_lines(path)) for path in (arguments.source, arguments.reference))
    data = translator.system.config.data
    target = Tokenizer(data.tokenizer, data.target_language)
    terms = [drawn(pair, target, random) for pair in translator.score(sources, references)]
    nothing: list[dict[str, str]] = [{} for _ in sources]
    translate(translator, sources[:50], terms[:50], arguments.beam)  # so that compiled loops are loaded
    rows = {}
    for name, given in (("without terms", nothing), ("with terms", terms)):
        timed = undisturbed(partial(translate, translator, sources, given, arguments.beam))
        translations, seconds = timed.found
        score = corpus_score([translation.text for translation in translations], references)
        finished = [i for i, translation in enumerate(translations) if translation.finished]
        rows[name] = {
            "bleu": round(score.bleu, 2),
            "signature": score.bleu_signature,
            "seconds": round(seconds, 2),
            "finished": len(finished),
            "terms": sum(len(terms[i]) for i in finished),
            "present": sum(
                has(translations[i].tokens, target.tokenize(term)) for i in finished for term in terms[i].values()
            ),
            **timed.load(),
        }
        print(f"{name}: {rows[name]}", flush=True)
    found = {"beam": arguments.beam, "seed": arguments.seed, "sentences": len(sources), "rows": rows}
    write_result("quality/terms", machine=on, model=repr(translator), **found)


def drawn(pair: ScoredPair, target: Tokenizer, random: Random) -> dict[str, str]:
    """One to three source words at random, fewer where there are no more, and their counterparts in the reference."""
    if pair.alignment is None:
        return {}
    counterparts: dict[int, list[int]] = {}
    for source_place, target_place in sorted(hard_alignment(pair.alignment)):
        counterparts.setdefault(source_place, []).append(target_place)
    words = pair.source_tokens[:-1]
    folded = [word.casefold() for word in words]
    possible = [
        place
        for place, targets in counterparts.items()
        if place < len(words)
        and words[place].isalpha()
        and len(words[place]) >= SHORTEST
        and folded.count(folded[place]) == 1
        and targets == list(range(targets[0], targets[-1] + 1))
        and any(len(pair.tokens[i]) >= SHORTEST for i in targets)
    ]
    chosen = random.sample(possible, min(len(possible), random.randint(1, MOST)))
    return {words[place]: target.detokenize([pair.tokens[i] for i in counterparts[place]]) for place in chosen}


def translate(
    translator: Translator, lines: Sequence[str], terms: Sequence[dict[str, str]], beam: int
) -> tuple[list[Translation], float]:
    """The translations of all lines, each with its own terms, and the seconds that the search took."""
    search = translator.search_settings({"beam": beam, "split_sentences": False})
    backend = translator.backend(search)
    glossaries = [translator.glossary(of_line) for of_line in terms]
    began = time.perf_counter()
    requests = [
        translator.requests([line], 1, (), search, glossary=glossary)[0]
        for line, glossary in zip(lines, glossaries, strict=True)
    ]
    search_all(backend, [query for request in requests for query in request.queries], search)
    translations = [translator.translations(request, search)[0] for request in requests]
    return translations, time.perf_counter() - began


def has(tokens: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words are among the tokens, one after the other."""
    return any(list(tokens[i : i + len(words)]) == list(words) for i in range(len(tokens) - len(words) + 1))
