"""The translator, which translates lines of text with a trained model or an ensemble."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from rnnsearch.config import LARGEST_BEAM, SearchConfig, from_dict, present_keys
from rnnsearch.errors import RnnsearchError, RnnsearchWarning, shown
from rnnsearch.graphs.network import Precision
from rnnsearch.search import Backend, EnsembleBackend, OnnxBackend, PairScorer, VocabularySelection, next_words, search_all
from rnnsearch.search.vocabulary_selection import LexicalSelection
from rnnsearch.system import System
from rnnsearch.text.known_words import KnownWords
from rnnsearch.text.patterns import Patterns
from rnnsearch.text.tokenize import split_at_spaces
from rnnsearch.text.vocabulary import END
from rnnsearch.translation.alignments import Alignment
from rnnsearch.translation.glossary import NO_TERMS, Glossary, TermsLike
from rnnsearch.translation.lexicon import LEXICON, Lexicon
from rnnsearch.translation.lines import arriving, as_lines, checked
from rnnsearch.translation.marks import has_marks
from rnnsearch.translation.phrases import Phrases, fixed_first
from rnnsearch.translation.rare_words import RareWords, better
from rnnsearch.translation.request import Request, Requests
from rnnsearch.translation.scoring import ScoredPair, score_pairs, scorer_of
from rnnsearch.translation.sentences import Passage, as_line, as_passage, has_words
from rnnsearch.translation.translation import Linker, Translation

if TYPE_CHECKING:  # imported for texts with markup only
    from rnnsearch.translation.markup import MarkedText


class NextWord(NamedTuple):
    """A candidate for the next word of a translation."""

    word: str | None
    """The word; None for the end of the translation."""
    probability: float


class Translator:
    """A trained model that is ready to translate; `rnnsearch.load` creates it.

    A translation depends only on its line and on the search settings: not on the other lines, on their order, or on how many
    lines are searched together.
    """

    def __init__(self, systems: Sequence[System], folder: Path | None = None) -> None:
        """Several systems form an ensemble: the probability and the alignment of each word are means over all models.

        `folder` is the folder of the first one, from which the lexicon is read when it is first needed.
        """
        self.systems = list(systems)
        self.folder = folder
        self._backends: dict[tuple[object, ...], Backend] = {}
        self._requests = Requests(self.system)

    @property
    def system(self) -> System:
        """The first system; all systems have the same settings and vocabularies."""
        return self.systems[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments for pickling, which contain the models; lists of words are still read from the folder."""
        folder = None if self.folder is None else self.folder.absolute()
        return type(self), (self.systems, folder)

    def __repr__(self) -> str:
        """Return the languages, the kind and size of the model, its device and its folder."""
        system, data = self.system, self.system.config.data
        parts = [
            f"{data.source_name} → {data.target_name}",
            self.kind,
            f"{system.parameters:,} parameters",
            f"vocabularies of {len(system.vocabularies.source):,} and {len(system.vocabularies.target):,}",
            f"on {system.device}",
        ]
        if self.folder is not None:
            parts.append(f"from {str(self.folder)!r}")
        return f"<{type(self).__name__}: {', '.join(parts)}>"

    @property
    def kind(self) -> str:
        """The kind of the model, such as `RNNsearch` or `ensemble of 3 RNNsearch`."""
        kind = "RNNsearch" if self.system.aligns else "RNNencdec"
        return f"ensemble of {len(self.systems)} {kind}" if len(self.systems) > 1 else kind

    @overload
    def translate(self, lines: str, *, prefix: str = "", terms: TermsLike = None, **settings: object) -> Translation: ...
    @overload
    def translate(
        self, lines: list[str] | tuple[str, ...], *, prefix: Sequence[str] = (), terms: TermsLike = None, **settings: object
    ) -> list[Translation]: ...
    def translate(
        self,
        lines: str | list[str] | tuple[str, ...],
        *,
        prefix: str | Sequence[str] = "",
        terms: TermsLike = None,
        **settings: object,
    ) -> Translation | list[Translation]:
        """Return the best translation of a line, or of each line of a list.

        `settings` are settings of `SearchConfig` (`beam=12`, `forbid_unk=True`, …) that override the model's. The
        translation begins with the `prefix`, if there is one; a list of lines needs a list of prefixes. `terms` maps source
        terms to their translations, as in {"house": "demeure"}: if a line contains a source term, its translation contains
        the given translation of the term.
        """
        if isinstance(lines, str):
            return self.n_best(lines, 1, prefix, terms, **settings)[0]
        return [translations[0] for translations in self.n_best(lines, 1, prefix, terms, **settings)]

    def translate_html(self, document: str, *, attributes: bool = False, terms: TermsLike = None, **settings: object) -> str:
        """Return the translation of an HTML document, or of a part of one, with its markup.

        The sentences of the text are translated, and each element encloses the translations of its own words. Tags, comments
        and scripts do not change. With `attributes`, the attributes `alt`, `aria-label`, `placeholder` and `title` are
        translated as well. `terms` and `settings` are those of `translate`. Raises RnnsearchError for a character reference
        of thousands of digits.
        """
        from rnnsearch.translation.markup import Markup

        if not isinstance(document, str):
            raise RnnsearchError(f"translate_html: document = {shown(document)}; give a string")
        split = self.search_settings(settings).split_sentences
        markup = Markup(document, self.system.config.data.source_language, split, attributes=attributes)
        n_best_lists = self.n_best_of_sentences(markup.sentences, 1, (), self.glossary(terms), settings)
        return markup.joined([translations[0] for translations in n_best_lists])

    @overload
    def n_best(
        self, lines: str, n: int, prefixes: str | Sequence[str] = "", terms: TermsLike = None, **settings: object
    ) -> list[Translation]: ...
    @overload
    def n_best(
        self,
        lines: list[str] | tuple[str, ...],
        n: int,
        prefixes: str | Sequence[str] = (),
        terms: TermsLike = None,
        **settings: object,
    ) -> list[list[Translation]]: ...
    def n_best(
        self,
        lines: str | list[str] | tuple[str, ...],
        n: int,
        prefixes: str | Sequence[str] = (),
        terms: TermsLike = None,
        **settings: object,
    ) -> list[Translation] | list[list[Translation]]:
        """Return the translations of a line, or of each line of a list, best first.

        There are at most `n`, and at most as many as the beam finished. The beam is at least `n` wide. With a temperature,
        `n` translations are sampled; with minimum Bayes risk, `beam` are sampled and `n` of them chosen.

        With `search.split_sentences`, a line is cut into sentences: its second translation consists of the second-best ones
        of its sentences, and so on, and the white space between sentences is kept. There is only one translation of a line
        without letters, and of a line with a sentence that is so long that it is translated in segments.

        If there are `prefixes`, one for each line, the translations begin with them; a prefix that is longer than a sentence
        prevents the cut after it. `terms` are as for `translate`.
        """
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= LARGEST_BEAM:
            raise RnnsearchError(f"n_best: n = {n!r}; give the number of translations, from 1 to {LARGEST_BEAM:,}")
        if isinstance(lines, str):
            prefix = [prefixes] if isinstance(prefixes, str) else as_lines(prefixes, "prefixes")
            return self._n_best([lines], n, prefix, self.glossary(terms), settings)[0]
        if isinstance(prefixes, str):
            if prefixes:
                raise RnnsearchError(f"prefix {prefixes!r}: a list of lines has a list of prefixes, one for each line")
            prefixes = ()
        return self._n_best(as_lines(lines, "lines"), n, as_lines(prefixes, "prefixes"), self.glossary(terms), settings)

    def _n_best(
        self, lines: list[str], n: int, prefixes: Sequence[str], glossary: Glossary, settings: dict[str, object]
    ) -> list[list[Translation]]:
        if not self.splits(settings):
            return self.n_best_of_sentences(lines, n, prefixes, glossary, settings)
        if prefixes and len(prefixes) != len(lines):
            raise RnnsearchError(f"{len(prefixes)} prefixes for {len(lines)} lines; give one for each, if empty")
        patterns = Patterns(self.search_settings(settings).protect, len(lines))
        pairs = zip_longest(lines, prefixes, fillvalue="")
        passages = [self._as_sentences(line, prefix, patterns) for line, prefix in pairs]
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        first_only: list[str] = []  # the prefix of a line is that of its first sentence
        for passage, prefix in zip(passages, prefixes, strict=bool(prefixes)):
            first_only += [prefix, *[""] * (len(passage.sentences) - 1)]
        rest = iter(self.n_best_of_sentences(sentences, n, first_only, glossary, settings))
        return [passage.n_best(list(islice(rest, len(passage.sentences)))) for passage in passages]

    def _as_sentences(self, line: str, prefix: str, patterns: Patterns) -> Passage | MarkedText:
        """Return the sentences of a line, or the whole line if the prefix covers more than the first sentence.

        A line with a prefix keeps its marks.
        """
        data = self.system.config.data
        if has_marks(line) and not prefix:
            from rnnsearch.translation.markup import MarkedText

            return MarkedText(line, data.source_language)
        passage = as_line(line, data.source_language)
        if len(passage.sentences) > 1:
            passage = passage.uncut([(span.start, span.stop) for span in self._requests.protection.spans(line, patterns)])
        if prefix and (len(as_passage(prefix, data.target_language).sentences) > 1 or not has_words(passage.sentences[0])):
            return as_line(line, data.source_language, split=False)
        return passage

    def n_best_of_sentences(
        self, sentences: Sequence[str], n: int, prefixes: Sequence[str], glossary: Glossary, settings: Mapping[str, object]
    ) -> list[list[Translation]]:
        """Return the result of `n_best` for sentences, or for lines that are not to be cut into sentences."""
        search = self.search_settings(settings)
        requests = self.requests(sentences, n, prefixes, search, glossary=glossary)
        search_all(self.backend(search), [query for request in requests for query in request.queries], search)
        n_best_lists = [self.translations(request, search) for request in requests]
        again = {
            place: second
            for place, pair in enumerate(zip(requests, n_best_lists, strict=True))
            if (second := self.second_request(*pair, search))
        }
        search_all(self.backend(search), [query for request in again.values() for query in request.queries], search)
        for place, request in again.items():
            n_best_lists[place] = self.of_both(request, n_best_lists[place], self.translations(request, search))
        return n_best_lists

    def second_request(self, request: Request, found: list[Translation], search: SearchConfig) -> Request | None:
        """Return a request for another search, after which `of_both` chooses the translations; mostly None.

        It is for the fixed translation of a sentence (`rnnsearch.translation.phrases`) or for the rare words that the best
        translation lacks (`rnnsearch.translation.rare_words`). There is none for samples, with a prefix, or with vocabulary
        selection.
        """
        if search.temperature or search.vocabulary_selection or not found:
            return None
        second = None
        if search.phrases and not search.minimum_bayes_risk and self.phrases is not None:
            second = self._requests.with_phrases(request, self.phrases)
        if second is None and search.rare_words and self.rare_words is not None:
            second = self._requests.with_rare_words(request, found[0], self.rare_words)
        return second

    @staticmethod
    def of_both(second: Request, before: list[Translation], after: list[Translation]) -> list[Translation]:
        """Return the translations of a line with a `second` request, given those before and after its search."""
        return fixed_first(before, after, second.n) if second.is_fixed else better(before, after)

    def requests(
        self,
        lines: Sequence[str],
        n: int,
        prefixes: Sequence[str],
        search: SearchConfig,
        beam: int | None = None,
        glossary: Glossary = NO_TERMS,
    ) -> list[Request]:
        """Return the search requests for the `n` best translations of each line; lines are not cut into sentences.

        See `Requests.of_lines`.
        """
        return self._requests.of_lines(lines, n, prefixes, search, beam, glossary)

    def translations(self, request: Request, search: SearchConfig) -> list[Translation]:
        """Return the translations of a line after the search for its queries, best first."""
        lexicon = self.lexicon if search.replace_unk and self.has_lexicon else None
        known = self.known_words if search.known_words_first else None
        return self._requests.translations(request, search, lexicon, self.linker, known)

    @property
    def linker(self) -> Linker | None:
        """The alignment layer, which links the words of a source and of its translation; None if the model has none."""
        return self._link if self.system.has_alignment_layer else None

    def _link(self, source: list[str], target: list[str]) -> Alignment:
        if not source or not target:
            return np.zeros((len(target), len(source)), np.float32)
        pair = score_pairs([self.system], [source], [target], scorers=self.scorers[:1])[0]
        probabilities = pair.link_probabilities
        assert probabilities is not None
        return probabilities

    def stream(
        self,
        lines: Iterable[str],
        n: int = 1,
        prefixes: Iterable[str] | None = None,
        terms: TermsLike = None,
        **settings: object,
    ) -> Iterator[list[Translation]]:
        """Yield the result of `n_best` for each line of a stream of any length, with as many `prefixes`, if there are any.

        All lines that have arrived, up to a thousand, are translated together: a file is translated in large groups, and a
        person who types a line gets its translation at once.
        """
        self.search_settings(settings)
        for name, given in (("lines", lines), ("prefixes", prefixes)):
            if isinstance(given, str | bytes) or not isinstance(given, Iterable | None):
                raise RnnsearchError(f"stream: {name} = {shown(given)}; give lines, as a list or an open file has them")
        return self._stream(lines, n, prefixes, self.glossary(terms), settings)

    def _stream(
        self, lines: Iterable[str], n: int, prefixes: Iterable[str] | None, glossary: Glossary, settings: dict[str, object]
    ) -> Iterator[list[Translation]]:
        given = None if prefixes is None else iter(prefixes)
        for group in arriving(checked(lines)):
            group_prefixes = () if given is None else list(islice(given, len(group)))
            yield from self.n_best(group, n, group_prefixes, glossary, **settings)
        if given is not None and next(given, None) is not None:
            raise RnnsearchError("there are more prefixes than lines; give one for each, if empty")

    @overload
    def score(self, sources: str, targets: str, *, tokenized: bool = False, first_line: int = 1) -> ScoredPair: ...
    @overload
    def score(
        self,
        sources: list[str] | tuple[str, ...],
        targets: list[str] | tuple[str, ...],
        *,
        tokenized: bool = False,
        first_line: int = 1,
    ) -> list[ScoredPair]: ...
    def score(
        self,
        sources: str | list[str] | tuple[str, ...],
        targets: str | list[str] | tuple[str, ...],
        *,
        tokenized: bool = False,
        first_line: int = 1,
    ) -> ScoredPair | list[ScoredPair]:
        """Return the log-probability and the alignment of a given line and its translation, or of each pair of a list.

        In `tokenized` lines, spaces separate the words. Errors count lines from `first_line`.
        """
        if isinstance(sources, str) and isinstance(targets, str):
            return self.score([sources], [targets], tokenized=tokenized, first_line=first_line)[0]
        sources, targets = as_lines(sources, "sources"), as_lines(targets, "targets")
        source_words = [split_at_spaces(line) if tokenized else self.source_words(line) for line in sources]
        target_words = [split_at_spaces(line) if tokenized else self.target_words(line) for line in targets]
        return self.score_words(source_words, target_words, first_line=first_line)

    def score_words(
        self,
        sources: Sequence[list[str]],
        targets: Sequence[list[str]],
        *,
        with_alignment: bool = True,
        first_line: int = 1,
    ) -> list[ScoredPair]:
        """Return the result of `score` for tokenised pairs."""
        return score_pairs(self.systems, sources, targets, with_alignment, first_line, self.scorers)

    def next_words(self, line: str, prefix: str = "", count: int = 8, **settings: object) -> list[NextWord]:
        """Return the most probable words after `prefix`, the beginning of a translation of `line`, with their probabilities.

        For a model of subwords, each of the `count` most probable subwords is completed to a word by its most probable
        continuation; words that result twice are returned once. Raises RnnsearchError for a line that is longer than
        `search.max_segment`, and for a right-to-left model.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise RnnsearchError(f"next_words: count = {count!r}; give the number of words, 1 or more")
        for name, given in (("line", line), ("prefix", prefix)):
            if not isinstance(given, str):
                raise RnnsearchError(f"next_words: {name} = {shown(given)}; give a string")
        search = replace(self.search_settings(settings), vocabulary_selection=0, split_sentences=False)
        request = self.requests([line], 1, [prefix], search)[0]
        if len(request.queries) != 1:
            reason = f"is longer than search.max_segment = {search.max_segment}" if request.queries else "has no words"
            raise RnnsearchError(f"next_words: the line {reason}; give one sentence")
        if self.system.config.data.right_to_left:
            raise RnnsearchError("a right-to-left model predicts the beginning last: it cannot continue a prefix")
        query, vocabulary = request.queries[0], self.system.vocabularies.target
        words = next_words(self.backend(search), query.words, query.prefix, count, search.forbid_unk, vocabulary.continues)
        probabilities: dict[str | None, float] = {}
        for ids, probability in words:
            word = None if ids == [END] else "".join(vocabulary.join(ids)[0])
            probabilities[word] = probabilities.get(word, 0.0) + probability
        return sorted((NextWord(*pair) for pair in probabilities.items()), key=lambda one: -one.probability)

    def source_words(self, line: str) -> list[str]:
        """Return the words of a source line."""
        return self._requests.source.tokenize(line)

    def target_words(self, line: str) -> list[str]:
        """Return the words of a target line."""
        return self._requests.target.tokenize(line)

    def glossary(self, terms: TermsLike) -> Glossary:
        """Tokenise source terms and their translations for repeated use. Raises RnnsearchError if they are invalid."""
        if terms is None:
            return NO_TERMS
        return terms if isinstance(terms, Glossary) else Glossary.tokenized(terms, self.source_words, self.target_words)

    def search_settings(self, settings: Mapping[str, object]) -> SearchConfig:
        """Return the settings of a search: those of the model, overridden by `settings`."""
        own = {key: value for key, value in vars(self.system.config.search).items() if not key.startswith("_")}
        search = from_dict({"search": {**own, **present_keys("search", settings)}}).search
        if search.coverage and not self.system.aligns:
            raise RnnsearchError("search.coverage: an RNNencdec computes no alignment, so it has no coverage; set it to 0")
        if not search.replace_unk:
            return search
        if not self.system.aligns:
            raise RnnsearchError("search.replace_unk: an RNNencdec computes no alignment; set it to false")
        return replace(search, forbid_unk=False)

    def splits(self, settings: Mapping[str, object]) -> bool:
        """Return whether these settings cut lines into sentences, which is done for running text only."""
        return self.search_settings(settings).split_sentences and self._requests.of_running_text

    @cached_property
    def lexicon(self) -> Lexicon:
        """Return the model's lexicon. Raises RnnsearchError if it has none."""
        if self.folder is None:
            raise RnnsearchError("the lexicon is read from the model's folder, and this model has no folder")
        return Lexicon.load(self.folder)

    @property
    def has_lexicon(self) -> bool:
        """Return whether the model's folder contains a lexicon."""
        return self.folder is not None and (self.folder / LEXICON).exists()

    @cached_property
    def phrases(self) -> Phrases | None:
        """The list of phrases in the model's folder, if there is one. Raises RnnsearchError if it cannot be read."""
        return None if self.folder is None else Phrases.load(self.folder)

    @cached_property
    def rare_words(self) -> RareWords | None:
        """The list of rare words in the model's folder, if there is one. Raises RnnsearchError if it cannot be read."""
        return None if self.folder is None else RareWords.load(self.folder)

    @cached_property
    def known_words(self) -> KnownWords | None:
        """The words of translations, if the model's folder has them. Raises RnnsearchError if they cannot be read."""
        return None if self.folder is None else KnownWords.load(self.folder)

    @cached_property
    def scorers(self) -> list[PairScorer]:
        """Return the scorers of given pairs, one for each system."""
        return [scorer_of(system) for system in self.systems]

    def backend(self, search: SearchConfig) -> Backend:
        """Return the backend for a search with these settings; it is created once."""
        key = (search.precision, search.vocabulary_selection, search.vocabulary_selection and search.selection_candidates)
        if key not in self._backends:
            selection: VocabularySelection | None = None
            if search.vocabulary_selection:
                selection = LexicalSelection(
                    self.lexicon.translations,
                    self.system.vocabularies,
                    frequent=search.vocabulary_selection,
                    candidates=search.selection_candidates,
                )
            backends = [self._backend_of(system, search.precision, selection) for system in self.systems]
            self._backends[key] = backends[0] if len(backends) == 1 else EnsembleBackend(backends)
        return self._backends[key]

    @staticmethod
    def _backend_of(system: System, precision: Precision, selection: VocabularySelection | None) -> Backend:
        """Return the backend of a model: ONNX Runtime, or PyTorch if it is on a GPU or needs a plugin."""
        if system.runs_as_graphs:
            backend = OnnxBackend(system.config.model, system.weights, precision, selection)
            backend.step("best")  # build the graph before processes are forked, and not in each of them
            return backend
        from rnnsearch.search.plain import PlainBackend

        if precision == "int8":
            reason = "the model needs a plugin" if system.device == "cpu" else "the model is on a GPU"
            message = f"search.precision = int8: {reason}, so the search uses float32"
            warnings.warn(message, RnnsearchWarning, stacklevel=7)
        return PlainBackend(system.model, selection)
