"""Requests: the conversion of lines to queries of the search, and of the hypotheses to translations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rnnsearch.config import SearchConfig
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.search import Hypothesis, Query, Term, Terms, best_first
from rnnsearch.system import System
from rnnsearch.text import units_of
from rnnsearch.text.abbreviations import is_known
from rnnsearch.text.address import mixes_address
from rnnsearch.text.known_words import KnownWords
from rnnsearch.text.normalization import with_double_quotes
from rnnsearch.text.numbers import missing_numbers
from rnnsearch.text.patterns import Patterns
from rnnsearch.text.protected import ALL_SYMBOLS, SYMBOLS, Protected, further_words, with_enough_symbols
from rnnsearch.text.shorthand import spelled_out
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.text.units import Units
from rnnsearch.text.vocabulary import END, UNK, UNK_SYMBOL
from rnnsearch.translation.alignments import by_words, end_by_words
from rnnsearch.translation.glossary import MOST_UNITS, MOST_UNITS_EACH, NO_TERMS, Glossary, Match
from rnnsearch.translation.lexicon import Lexicon
from rnnsearch.translation.mbr import rank_by_mbr
from rnnsearch.translation.phrases import Phrases
from rnnsearch.translation.protection import Protection
from rnnsearch.translation.rare_words import RareWords, with_rare_words
from rnnsearch.translation.restoring import Seen, moved_terms, rows_of
from rnnsearch.translation.segments import split_line
from rnnsearch.translation.sentences import has_words
from rnnsearch.translation.translation import Linker, PlacedTerm, Replacement, Segment, Translation
from rnnsearch.translation.unknown_words import replace_unknown


@dataclass(frozen=True)
class Request:
    """A line to translate, and its queries: one for each of its segments."""

    n: int
    """The requested number of translations."""
    segments: list[list[str]]
    """The source words of each segment."""
    prefix: list[list[str]]
    """The given prefix of the translation of each segment, as words, with symbols in place of spans of the source."""
    matches: list[list[Match]]
    """The terms in each segment."""
    queries: list[Query]
    seen: list[Seen]
    """Each segment in the form that the model sees, if spans are protected."""
    copied: str | None = None
    """The line itself if it has no letters and is copied."""
    is_fixed: bool = False
    """Whether the prefixes are whole translations, from the model's list of phrases."""


def patterns_of(search: SearchConfig, protects: bool, lines: int = 1) -> Patterns:
    """Return the patterns of `search.protect`.

    Raises RnnsearchError for an invalid pattern, and if the model was trained without `data.protect`.
    """
    if search.protect and not protects:
        raise RnnsearchError(
            "search.protect: this model does not know the symbols that stand for spans; set data.protect in training"
        )
    return Patterns(search.protect, lines)


class Requests:
    """Converts lines to requests for one model, and the resulting hypotheses to translations."""

    def __init__(self, system: System) -> None:
        self.vocabularies = system.vocabularies
        self.right_to_left = system.config.data.right_to_left
        self.aligns = system.aligns
        self.source, self.target = units_of(system.config.data)
        data = system.config.data
        self.protects = data.protects
        self.protection = Protection(data, self.vocabularies.source)
        self._languages = data.source_language, data.target_language
        self.of_running_text = data.source_units == "words" and data.tokenizer == "moses"
        """Whether the source is running text, which can consist of several sentences."""
        self.has_numbers = self.of_running_text and data.target_units == "words"
        """Whether the numbers of a source and its translation can be compared."""

    def of_lines(
        self,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str],
        search: SearchConfig,
        beam: int | None = None,
        glossary: Glossary = NO_TERMS,
    ) -> list[Request]:
        """Return the requests for the `n` best translations of each line; see `Translator.n_best`.

        `beam` overrides the width of the beam of `search`. `glossary` holds the tokenised terms. With
        `search.split_sentences`, a line without letters needs no search, unless it has a prefix or a term; lines are not cut
        into sentences here.
        """
        beam = n if search.temperature and not search.minimum_bayes_risk else max(beam or search.beam, n)
        patterns = patterns_of(search, self.protects, len(lines))
        read = [self._read(line, patterns, glossary) for line in lines]
        split_lines = [list(self._segments(words, further, search.max_segment)) for words, further in read]
        prefix_words = self._prefix_words(prefixes, split_lines)
        has_prefix = any(words for segments in prefix_words for words in segments)
        if has_prefix and self.right_to_left:
            raise RnnsearchError("a right-to-left model predicts the beginning last: it cannot continue a prefix")
        if has_prefix and search.vocabulary_selection:
            raise RnnsearchError(
                f"search.vocabulary_selection = {search.vocabulary_selection}: the words of a prefix need not be among "
                "the selected ones; set it to 0"
            )
        if glossary and search.temperature:
            raise RnnsearchError(
                f"search.temperature = {search.temperature:g}: terms are searched for, and cannot be sampled; set it to 0"
            )
        if glossary and search.vocabulary_selection:
            raise RnnsearchError(
                f"search.vocabulary_selection = {search.vocabulary_selection}: the words of a term need not be among "
                "the selected ones; set it to 0"
            )
        requests = [
            self._request(n, beam, segments, prefix, glossary, further, frozenset("/" if " / " in line else ""))
            for line, segments, prefix, (_, further) in zip(lines, split_lines, prefix_words, read, strict=True)
        ]
        if search.split_sentences and self.of_running_text:
            for place, (line, request) in enumerate(zip(lines, requests, strict=True)):
                if not (_has_words(line, request) or any(request.prefix) or any(request.matches)):
                    requests[place] = replace(request, queries=[], copied=line)
        return requests

    def _read(self, line: str, patterns: Patterns, glossary: Glossary) -> tuple[list[str], dict[str, Protected]]:
        """Return the words of a line, and those that only the line reveals to be spans; a blank line has no words."""
        if not line.strip():
            return [], {}
        if not self.protects:
            return self.source.tokenize(line), {}
        assert isinstance(self.source, Tokenizer)
        line = with_double_quotes(spelled_out(line, self._languages[0]))
        spans = self.protection.spans(line, patterns, glossary)
        return self.source.tokenize_around(line, spans), further_words(spans, self._languages[0])

    def _segments(self, words: list[str], further: Mapping[str, Protected], longest: int) -> Iterator[list[str]]:
        """Split the words of a line into segments that are not too long, and that have symbols for all their spans."""
        for segment in split_line(words, longest, self.vocabularies.source):
            if self.protects:
                yield from with_enough_symbols(segment, self._languages[0], further)
            else:
                yield segment

    def _request(
        self,
        n: int,
        beam: int,
        segments: list[list[str]],
        prefixes: list[list[str]],
        glossary: Glossary,
        further: Mapping[str, Protected],
        apart: frozenset[str],
    ) -> Request:
        """Return the request for the translation of these segments of a line; `further` and `apart` are as for `Seen`."""
        source, target = self.vocabularies
        queries, matches, seen, given = [], [], [], []
        for words, prefix in zip(segments, prefixes, strict=True):
            in_segment = self._without_prefixed(glossary.matches(words), prefix)
            if self.protects:
                seen.append(Seen.of(words, self._languages[0], self._cost, further, apart))
                prefix = seen[-1].with_symbols(prefix, self.target.tokenize, self._languages[1])
            read = seen[-1].seen if seen else words
            terms = self._terms(read, in_segment)
            if terms is not None:
                _check_cost(terms, source.encode(read), words)
            queries.append(Query(source.encode(read), beam, target.encode(prefix), terms))
            matches.append(in_segment)
            given.append(prefix)
        return Request(n, segments, given, matches, queries, seen)

    def _terms(self, read: Sequence[str], matches: Sequence[Match]) -> Terms | None:
        """Return the terms of these matches in the words that the model reads; None without matches."""
        if not matches:
            return None
        source, target = self.vocabularies
        starts, stops = _id_ranges(source.word_ids(read), len(read))
        terms = [Term(target.encode(match.target), starts[match.start], stops[match.stop - 1]) for match in matches]
        return Terms(terms, target.continues)

    def with_phrases(self, request: Request, phrases: Phrases) -> Request | None:
        """Return a request for the fixed translation of its sentence; None if it is not in the list.

        Only a sentence without spans, prefix and terms is looked up.
        """
        if request.copied is not None or any(request.prefix) or any(request.matches) or len(request.seen) != 1:
            return None
        (seen,), (query,) = request.seen, request.queries
        fixed = None if seen.places else phrases.get(seen.seen)
        if fixed is None:
            return None
        words = self.target.tokenize(fixed)
        forced = Query(query.words, 1, [*self.vocabularies.target.encode(words), END])
        return replace(request, prefix=[words], queries=[forced], is_fixed=True)

    def with_rare_words(self, request: Request, translation: Translation, rare_words: RareWords) -> Request | None:
        """Return a request that adds the rare words which this translation lacks to the terms; None if it lacks none."""
        if request.copied is not None or any(request.prefix) or not request.seen:
            return None
        queries, matches = [], []
        for seen, query, given, segment in zip(
            request.seen, request.queries, request.matches, translation.segments, strict=True
        ):
            missing = [
                match._replace(target=self.target.tokenize(" ".join(match.target)))
                for match in rare_words.missing(seen.seen, segment.tokens, given)
            ]
            terms = self._terms(seen.seen, [*given, *missing])
            if missing and terms is not None and terms.words > MOST_UNITS + MOST_UNITS_EACH * len(query.words):
                missing = []
            matches.append([*given, *missing])
            queries.append(Query(query.words, query.beam, query.prefix, terms if missing else query.terms))
        return replace(request, queries=queries, matches=matches) if matches != request.matches else None

    def _cost(self, word: str) -> float:
        """Return how unusual a source word is: by the number of its subwords or, if it is a single one, by its rank."""
        ids = self.vocabularies.source.encode([word])
        return ids[0] if len(ids) == 1 and ids[0] != UNK else len(ids) * len(self.vocabularies.source)

    def _without_prefixed(self, matches: list[Match], prefix: list[str]) -> list[Match]:
        """Remove the matches whose translation is in the prefix, but has unknown words, so that search would miss it."""
        vocabulary = self.vocabularies.target
        rest = list(vocabulary.seen(prefix))
        kept = []
        for match in matches:
            count, target = len(match.target), list(vocabulary.seen(match.target))
            places = [place for place in range(len(rest) - count + 1) if rest[place : place + count] == target]
            if places and UNK in vocabulary.encode(match.target):
                rest[places[0] : places[0] + count] = [""]
            else:
                kept.append(match)
        return kept

    def _prefix_words(self, prefixes: Sequence[str], split_lines: list[list[list[str]]]) -> list[list[list[str]]]:
        """Return the words of the prefixes of each line's segments; only the first segment can have a prefix."""
        if not prefixes:
            return [[[] for _ in segments] for segments in split_lines]
        if len(prefixes) != len(split_lines):
            raise RnnsearchError(f"{len(prefixes)} prefixes for {len(split_lines)} lines; give one for each, if empty")
        return [
            [self.target.tokenize(prefix) if place == 0 else [] for place in range(len(segments))]
            for segments, prefix in zip(split_lines, prefixes, strict=True)
        ]

    def translations(
        self,
        request: Request,
        search: SearchConfig,
        lexicon: Lexicon | None,
        linker: Linker | None,
        known: KnownWords | None = None,
    ) -> list[Translation]:
        """Return the translations of a line after the search for its queries, best first.

        `lexicon` is the lexicon for the replacement of `[UNK]`, if there is one and the settings need it. `linker` is the
        model's alignment layer, if it has one. `known` are the words that a translation may have, if there is a list and the
        settings need it.
        """
        if request.copied is not None:
            return [self._copied(request, request.copied, linker)]
        keeps = search.keep_numbers and self.has_numbers
        n_best_lists = [query.hypotheses for query in request.queries]
        if search.minimum_bayes_risk or not search.temperature:  # samples stay in the order in which they were drawn
            n_best_lists = [self._without_faults_first(request, number, keeps, known) for number in range(len(n_best_lists))]
        most = len(n_best_lists[0]) if n_best_lists and search.minimum_bayes_risk else request.n
        ranks = min(most, len(n_best_lists[0])) if len(n_best_lists) == 1 else 1
        translations = [
            self._translation(
                request, [hypotheses[rank] for hypotheses in n_best_lists], search.replace_unk, lexicon, linker
            )
            for rank in range(ranks)
        ]
        if keeps:
            translations = [self._with_missing(one) for one in translations]
        if search.minimum_bayes_risk:
            translations = best_first(rank_by_mbr(translations), lambda one: -len(one.missing))
        return translations[: request.n]

    def _without_faults_first(
        self, request: Request, number: int, keeps_numbers: bool, known: KnownWords | None
    ) -> list[Hypothesis]:
        """Move the hypotheses of a segment without faults to the front.

        These have all its numbers and each of its symbols once, no invented words, and do not mix *tu* and *vous*.
        """
        hypotheses = request.queries[number].hypotheses
        seen = request.seen[number] if request.seen else None
        words = seen.seen if seen else request.segments[number]
        source = self._ordinary(self.source, words)
        has_numbers = keeps_numbers and bool(missing_numbers(source, "", *self._languages))
        addresses = self.protection.is_on and self._languages[1] == "fr"
        if not (has_numbers or addresses or known) and not (seen and seen.places):
            return hypotheses

        def faults(hypothesis: Hypothesis) -> int:
            tokens = self.vocabularies.target.join(hypothesis.words)[0]
            count = seen.faults(tokens) if seen else 0
            if has_numbers:  # `[UNK]` may become a number
                missing = missing_numbers(source, self._ordinary(self.target, tokens), *self._languages)
                count += max(0, len(missing) - tokens.count(UNK_SYMBOL))
            if addresses:
                count += mixes_address(" ".join(tokens), "fr")
            if known:
                count += len(known.invented(words, tokens))
            return count

        if request.n == 1 and not any(map(faults, hypotheses[:1])):
            return hypotheses  # the others are not asked for
        return sorted(hypotheses, key=faults)

    @staticmethod
    def _ordinary(units: Units, words: Sequence[str]) -> str:
        """Return the text of these words without the symbols of spans."""
        return units.detokenize([word for word in words if word not in ALL_SYMBOLS])

    def _with_missing(self, translation: Translation) -> Translation:
        """Return the translation with the list of the numbers that it lacks."""
        source = self.source.detokenize(translation.source_tokens[:-1])
        return replace(translation, missing=missing_numbers(source, translation.text, *self._languages))

    def _copied(self, request: Request, line: str, linker: Linker | None) -> Translation:
        """Return the translation of a line without letters: the line itself, with each word aligned to itself."""
        segments: list[Segment] = []
        start = 0
        for words in request.segments or [[]]:
            alignment = np.eye(len(words), len(words) + 1, dtype=np.float32) if self.aligns else None
            segments.append(Segment(start, words, start, words, alignment, copied=True))
            start += len(words)
        return Translation(line, 0.0, True, segments, linker=linker)

    def _translation(
        self,
        request: Request,
        hypotheses: list[Hypothesis],
        replace_unk: bool,
        lexicon: Lexicon | None,
        linker: Linker | None,
    ) -> Translation:
        """Return the translation of a line that consists of one hypothesis for each of its segments."""
        segments: list[Segment] = []
        replacements: list[Replacement] = []
        terms: list[PlacedTerm] = []
        source_start = target_start = 0
        seen_segments: list[Seen] | list[None] = request.seen or [None] * len(request.segments)
        of_segments = zip(
            *(request.segments, seen_segments, request.prefix, request.matches, request.queries, hypotheses), strict=True
        )
        for source, seen, prefix, matches, query, hypothesis in of_segments:
            tokens, word_ids = self.vocabularies.target.join(hypothesis.words)
            # The words of a prefix keep their given spelling, even if the model does not know them.
            given = len(self.vocabularies.target.encode(prefix))
            if given and word_ids[given - 1] + 1 == len(prefix):
                tokens[: len(prefix)] = prefix
            placed: list[PlacedTerm] = []
            rare: dict[int, Match] = {}
            for number, first in hypothesis.terms:
                # The words of a term keep their given spelling, too.
                assert query.terms is not None
                match = matches[number]
                place = min(word_ids[first : first + len(query.terms.terms[number].words)])
                tokens[place : place + len(match.target)] = match.target
                if match.agreement is None:
                    start, stop = source_start + match.start, source_start + match.stop
                    placed.append(PlacedTerm(start, stop, place, place + len(match.target)))
                else:
                    rare[place] = match
            alignment, end_alignment = hypothesis.alignment, hypothesis.end_alignment
            source_word_ids = self.vocabularies.source.word_ids(seen.seen if seen else source)
            if alignment is not None:
                alignment = by_words(alignment, word_ids, source_word_ids)
            if end_alignment is not None:
                end_alignment = end_by_words(end_alignment, source_word_ids)
            if seen:
                read_from = _read_from(alignment, len(tokens), len(source))
                given_words = 0 if request.is_fixed else len(prefix)
                written = seen.restored(tokens, read_from, self._languages[1], given_words)
                written = with_rare_words(written, rare, source[0][:1].isupper(), self._languages[1])
                tokens = [one.word for one in written]
                alignment = None if alignment is None else rows_of(written, alignment)
                placed = moved_terms(placed, written)
            terms += [
                replace(one, target_start=target_start + one.target_start, target_stop=target_start + one.target_stop)
                for one in placed
            ]
            segment = Segment(source_start, source, target_start, tokens, alignment, end_alignment)
            if replace_unk:
                segment, replaced = replace_unknown(segment, lexicon, linker, self.vocabularies.source)
                replacements += replaced
            segments.append(segment)
            source_start += len(source)
            target_start += len(tokens)
        if not segments:
            nothing = np.zeros((0, 1), np.float32) if self.aligns else None
            segments.append(Segment(0, [], 0, [], nothing))
        return Translation(
            text=self._text([token for segment in segments for token in segment.tokens], request.seen),
            score=sum((hypothesis.score for hypothesis in hypotheses), 0.0),
            finished=all(hypothesis.finished for hypothesis in hypotheses),
            segments=segments,
            replacements=replacements,
            terms=sorted(terms, key=lambda term: term.target_start),
            linker=linker,
        )

    def _text(self, tokens: list[str], seen: list[Seen]) -> str:
        """Return the text of a translation, in which spans keep their original form."""
        if not seen:
            return self.target.detokenize(tokens)
        assert isinstance(self.target, Tokenizer)
        return self.target.detokenize(tokens, set[str]().union(*(one.kept for one in seen)))


def _has_words(line: str, request: Request) -> bool:
    """Return whether a line has anything to translate besides the spans that are kept verbatim."""
    words = [word for seen in request.seen for word in seen.seen if word not in SYMBOLS["verbatim"]]
    ordinary = any(word in ALL_SYMBOLS or any(map(str.isalpha, word)) for word in words)
    ordinary |= any(span.is_abbreviation and is_known(span.text) for seen in request.seen for span in seen.further.values())
    return has_words(line) and (ordinary or not request.seen)


def _read_from(alignment: NDArray[np.float32] | None, words: int, source_words: int) -> list[int]:
    """Return the number of the source word that each word is aligned to; without an alignment, the same position."""
    if alignment is None:
        return [min(place * source_words // max(1, words), source_words) for place in range(words)]
    return [int(source) for source in alignment.argmax(1)]


def _check_cost(terms: Terms, ids: Sequence[int], words: Sequence[str]) -> None:
    """Raise RnnsearchError if the terms of a segment would make its search many times slower."""
    limit = MOST_UNITS + MOST_UNITS_EACH * len(ids)
    if terms.words > limit:
        raise RnnsearchError(
            f"{shown(' '.join(words))}: the translations of its {len(terms.terms)} terms have {terms.words:,} words or "
            f"subwords, and the limit is {limit:,} for a text of {len(ids):,}; give fewer or shorter terms"
        )


def _id_ranges(word_ids: Sequence[int], words: int) -> tuple[list[int], list[int]]:
    """Return for each word the position of its first id, and the position after its last id."""
    starts, stops = [0] * words, [0] * words
    for position, word in reversed(list(enumerate(word_ids))):
        starts[word] = position
        stops[word] = max(stops[word], position + 1)
    return starts, stops
