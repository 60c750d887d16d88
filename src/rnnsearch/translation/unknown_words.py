"""Replacement of `[UNK]` in translations (Luong et al. 2015; Jean et al. 2015).

The alignment links each `[UNK]` to a source word, the most probable one where the model has an alignment layer. It is
replaced by that word's translation if the lexicon has one, and by the source word itself if it has none, which is right for
names, numbers and words that both languages share.
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
    """The segment with every `[UNK]` replaced, and the replacements; a segment without source words stays as it is.

    The lexicon has source words as the `vocabulary` of the source normalises them; copies are spelt as they were given.
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
            found = lexicon.best(seen[read]) if lexicon else None
            tokens[place] = found or source_word
            replacements.append(
                Replacement(
                    segment.target_start + place,
                    segment.source_start + read,
                    source_word,
                    tokens[place],
                    "lexicon" if found else "copy",
                )
            )
    return replace(segment, tokens=tokens), replacements
