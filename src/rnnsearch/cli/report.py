"""`rnnsearch evaluate --report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnsearch.evaluation.segments import Segment, SegmentReport
    from rnnsearch.evaluation.system import Evaluation
    from rnnsearch.memory import Match
    from rnnsearch.translation import Translation, Translator

NEAREST = "nearest segment"
"""The name of the system that returns the translation of the most similar segment of the memory."""
_AT_ONCE = 64


def report_of(
    translator: Translator,
    models: Sequence[Path],
    pairs: Sequence[tuple[str, str]],
    result: Evaluation,
    memory: Path | None,
    terms: Path | None,
) -> SegmentReport:
    """Compare the translations of a model, by kinds of segments, with those of the installed model and of a memory."""
    from rnnsearch.evaluation.segments import Segment, report, terms_in
    from rnnsearch.translation.confidence import confidence
    from rnnsearch.translation.glossary import read_terms

    glossary = {} if terms is None else read_terms(terms)
    matches = None if memory is None else _nearest(translator, pairs, memory)
    sources = [source for source, _ in pairs]
    own = _translated(translator, sources, "segments with tags", result.translations)
    others = _installed(translator, models, sources)
    segments: list[Segment] = []
    for number, ((source, reference), translation) in enumerate(zip(pairs, result.translations, strict=True)):
        match = None if matches is None else matches[number]
        nearest = {} if match is None else {NEAREST: match.target}
        segments.append(
            Segment(
                source,
                reference,
                {"model": own[number], **{name: texts[number] for name, texts in others.items()}, **nearest},
                confidence(translation.score, len(translation.tokens), len(translation.missing)),
                len(translator.source_words(source)),
                None if match is None else match.score,
                terms_in(source, glossary),
            )
        )
    return report(segments)


def _installed(translator: Translator, models: Sequence[Path], sources: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the translations of the installed model for these languages, if there is one and it differs from this model."""
    from rnnsearch.model_catalog import TRANSLATORS, default_model
    from rnnsearch.translation import load

    data = translator.system.config.data
    name = f"{data.source_language}-{data.target_language}"
    if name not in TRANSLATORS or [model.resolve() for model in models] == [default_model(name).resolve()]:
        return {}
    return {"installed model": _translated(load(default_model(name)), sources, "the installed model")}


def _translated(
    translator: Translator, sources: Sequence[str], what: str, known: Sequence[Translation] | None = None
) -> list[str]:
    """Translate segments as the server does for translation tools: tags are placed by the links of words.

    `known` may contain the translations of the segments without tags.
    """
    from rnnsearch.cli.bar import bar
    from rnnsearch.translation.markup import Tagged, has_tags
    from rnnsearch.translation.sentences import as_passage

    language = translator.system.config.data.source_language
    found = [""] * len(sources) if known is None else [one.text for one in known]
    todo = [number for number, source in enumerate(sources) if known is None or has_tags(source)]
    with bar(what, total=len(todo)) as advance:
        for first in range(0, len(todo), _AT_ONCE):
            numbers = todo[first : first + _AT_ONCE]
            lines = [sources[number] for number in numbers]
            read = [
                Tagged(one, language, False, xml=False) if has_tags(one) else as_passage(one, language, False)
                for one in lines
            ]
            sentences = [sentence for each in read for sentence in each.sentences]
            translations = iter(translator.translate(sentences, split_sentences=False))
            for number, each in zip(numbers, read, strict=True):
                found[number] = each.joined(list(islice(translations, len(each.sentences))))
            advance(len(numbers))
    return found


def _nearest(translator: Translator, pairs: Sequence[tuple[str, str]], memory: Path) -> list[Match]:
    """Return the most similar segment of a memory for each source, other than the pairs of the test set."""
    from rnnsearch.data.read import read_pairs
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.evaluation.nearest import nearest
    from rnnsearch.memory import Memory

    data = translator.system.config.data
    if memory.is_dir():
        found = Memory(memory, create=False).since((data.source_language, data.target_language))
        segments = [(source, target) for _, source, target in found]
    else:
        segments = list(read_pairs([memory], [memory], data.languages, data.protects))
    tested = set(pairs)
    segments = [pair for pair in segments if pair not in tested]
    if not segments:
        raise RnnsearchError(f"{memory}: no segment from {data.source_name} to {data.target_name} but those of the test set")
    return nearest([source for source, _ in pairs], segments)
