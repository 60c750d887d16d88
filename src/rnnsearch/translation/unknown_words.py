"""Replacement of `[UNK]` in translations (Luong et al. 2015; Jean et al. 2015).

The alignment links each `[UNK]` to a source word; an alignment layer, if the model has one, chooses the most probable word.
The `[UNK]` is replaced by the translation of that word in the lexicon. If there is none, the source word itself is copied,
which is right for names, numbers and words that both languages share.
"""

from __future__ import annotations

from dataclasses import replace

from rnnsearch.data.word_alignments import linked_sources
from rnnsearch.text.vocabulary import UNK_SYMBOL, Vocabulary
from rnnsearch.translation.lexicon import Lexicon
from rnnsearch.translation.translation import Linker, Replacement, Segment


def replace_unknown(
    segment: Segment, lexicon: Lexicon | None, linker: Linker | None = None, vocabulary: Vocabulary | None = None
) -> tuple[Segment, list[Replacement]]:
    """Return the segment with every `[UNK]` replaced, and the replacements; a segment without source words does not change.

    The lexicon contains source words as the source `vocabulary` normalises them; copies have the original spelling.
    """
    if segment.alignment is None or not segment.source_tokens:
        return segment, []
    if UNK_SYMBOL not in segment.tokens:
        return segment, []
    if linker is None:
        sources = linked_sources(segment.alignment)
    else:
        sources = linker(segment.source_tokens, segment.tokens).argmax(1)
    seen = vocabulary.seen(segment.source_tokens) if vocabulary else segment.source_tokens
    tokens, replacements = list(segment.tokens), []
    for place, token in enumerate(segment.tokens):
        if token == UNK_SYMBOL:
            read = int(sources[place])
            source_word = segment.source_tokens[read]
            translated = lexicon.best(seen[read]) if lexicon else None
            tokens[place] = translated or source_word
            replacements.append(
                Replacement(
                    segment.target_start + place,
                    segment.source_start + read,
                    source_word,
                    tokens[place],
                    "lexicon" if translated else "copy",
                )
            )
    return replace(segment, tokens=tokens), replacements
