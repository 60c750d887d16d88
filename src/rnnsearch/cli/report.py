"""`rnnsearch evaluate --report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnsearch.evaluation.segments import Segment, SegmentReport
    from rnnsearch.evaluation.system import Evaluation
    from rnnsearch.memory import Match
    from rnnsearch.translation import Translator

NEAREST = "nearest segment"
"""What the translation of the most similar segment of the memory is called."""
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
    others = _installed(translator, models, [source for source, _ in pairs])
    segments: list[Segment] = []
    for number, ((source, reference), own) in enumerate(zip(pairs, result.translations, strict=True)):
        match = None if matches is None else matches[number]
        nearest = {} if match is None else {NEAREST: match.target}
        segments.append(
            Segment(
                source,
                reference,
                {"model": own.text, **{name: texts[number] for name, texts in others.items()}, **nearest},
                confidence(own.score, len(own.tokens), len(own.missing)),
                len(translator.source_words(source)),
                None if match is None else match.score,
                terms_in(source, glossary),
            )
        )
    return report(segments)


def _installed(translator: Translator, models: Sequence[Path], sources: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The translations by the installed model for these languages, if there is one, and it is another one."""
    from rnnsearch.cli.bar import bar
    from rnnsearch.model_catalog import TRANSLATORS, default_model
    from rnnsearch.translation import load

    data = translator.system.config.data
    name = f"{data.source_language}-{data.target_language}"
    if name not in TRANSLATORS or [model.resolve() for model in models] == [default_model(name).resolve()]:
        return {}
    installed = load(default_model(name))
    found: list[str] = []
    with bar("the installed model", total=len(sources)) as advance:
        for first in range(0, len(sources), _AT_ONCE):
            lines = list(sources[first : first + _AT_ONCE])
            found += [one.text for one in installed.translate(lines, split_sentences=False)]
            advance(len(lines))
    return {"installed model": found}


def _nearest(translator: Translator, pairs: Sequence[tuple[str, str]], memory: Path) -> list[Match]:
    """The most similar segment of a memory for each source; the pairs of the test set do not count."""
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
