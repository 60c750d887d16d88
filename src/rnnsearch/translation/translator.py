"""From lines of text to translations."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
import torch

from rnnsearch.config import SearchConfig, from_dict
from rnnsearch.corpus.batches import make_batch
from rnnsearch.folder import System
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation.batching import by_length
from rnnsearch.translation.scoring import ScoredPair, score_pairs
from rnnsearch.translation.search import Hypothesis, beam_search
from rnnsearch.translation.translation import Segment, Translation, split_line


class Translator:
    """A trained model, ready to translate; made by `rnnsearch.load`.

    A translation depends on its line and on the search settings, and on nothing else: not on the other lines, their
    order, or how many are searched side by side.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        data = system.config.data
        self._source = Tokenizer(data.tokenizer, data.source_language)
        self._target = Tokenizer(data.tokenizer, data.target_language)

    @overload
    def translate(self, lines: str, **settings: object) -> Translation: ...
    @overload
    def translate(self, lines: list[str] | tuple[str, ...], **settings: object) -> list[Translation]: ...
    def translate(self, lines: str | list[str] | tuple[str, ...], **settings: object) -> Translation | list[Translation]:
        """The best translation of a line, or of each of several lines.

        `settings` are those of `SearchConfig` (`beam=12`, `forbid_unk=True`, …) where they differ from the model's.
        """
        if isinstance(lines, str):
            return self.n_best([lines], 1, **settings)[0][0]
        return [translations[0] for translations in self.n_best(lines, 1, **settings)]

    def n_best(self, lines: Sequence[str], n: int, **settings: object) -> list[list[Translation]]:
        """For each line its translations, best first: at most `n`, and at most as many as the beam finished.

        The beam is at least `n` wide. A blank line, and a line so long that it is cut into segments, has one.
        """
        search = self._search(settings)
        search = replace(search, beam=max(search.beam, n))
        pieces_of_line = [split_line(self.source_words(line), search.max_segment) for line in lines]
        pieces = [piece for pieces in pieces_of_line for piece in pieces]
        found: list[list[Hypothesis]] = [[] for _ in pieces]
        encoded = [self.system.source_vocabulary.encode(piece) for piece in pieces]
        device = next(self.system.model.parameters()).device
        for indices in by_length([len(ids) + 1 for ids in encoded], search.batch_sentences):
            batch = make_batch([(encoded[i], []) for i in indices])
            x_BS = torch.from_numpy(batch.source_BS).to(device)
            lengths_B = torch.from_numpy(batch.source_lengths_B).to(device)
            for i, hypotheses in zip(indices, beam_search(self.system.model, x_BS, lengths_B, search), strict=True):
                found[i] = hypotheses
        results, first = [], 0
        for pieces in pieces_of_line:
            of_line = found[first : first + len(pieces)]
            ranks = min(n, len(of_line[0])) if len(pieces) == 1 else 1
            results.append(
                [self._translation(pieces, [hypotheses[rank] for hypotheses in of_line]) for rank in range(ranks)]
            )
            first += len(pieces)
        return results

    def stream(self, lines: Iterable[str], n: int = 1, **settings: object) -> Iterator[list[Translation]]:
        """`n_best` for a stream of lines of any length, in order.

        Takes what has arrived, up to a thousand lines, at a time: a file is translated in large groups, and a person
        who types a line gets its translation at once.
        """
        self._search(settings)
        for group in _arriving(lines, 1000):
            yield from self.n_best(group, n, **settings)

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[ScoredPair]:
        """The log-probability and the alignment of given pairs of lines."""
        return score_pairs(
            self.system, [self.source_words(line) for line in sources], [self.target_words(line) for line in targets]
        )

    def source_words(self, line: str) -> list[str]:
        """The words of a source line."""
        return self._source.tokenize(line)

    def target_words(self, line: str) -> list[str]:
        """The words of a target line."""
        return self._target.tokenize(line)

    def _search(self, settings: dict[str, object]) -> SearchConfig:
        own = {key: value for key, value in vars(self.system.config.search).items() if not key.startswith("_")}
        return from_dict({"search": {**own, **settings}}, "search").search

    def _translation(self, pieces: list[list[str]], hypotheses: list[Hypothesis]) -> Translation:
        segments: list[Segment] = []
        source_start = target_start = 0
        for piece, hypothesis in zip(pieces, hypotheses, strict=True):
            tokens = self.system.target_vocabulary.decode(hypothesis.words)
            segments.append(Segment(source_start, piece, target_start, tokens, hypothesis.alignment))
            source_start += len(piece)
            target_start += len(tokens)
        if not segments:
            nothing = np.zeros((0, 1), np.float32) if self.system.model.aligns else None
            segments.append(Segment(0, [], 0, [], nothing))
        return Translation(
            text=self._target.detokenize([token for segment in segments for token in segment.tokens]),
            score=sum((hypothesis.score for hypothesis in hypotheses), 0.0),
            finished=all(hypothesis.finished for hypothesis in hypotheses),
            segments=segments,
        )


def _arriving(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Lines in groups of at most `most`: whatever is there when the last group is done, but at least one."""
    arrived: queue.Queue[str | BaseException | None] = queue.Queue(maxsize=2 * most)

    def read() -> None:
        try:
            for line in lines:
                arrived.put(line)
            arrived.put(None)
        except BaseException as error:  # whatever it is, it belongs to the reader of the stream
            arrived.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        group = []
        item = arrived.get()
        while isinstance(item, str):
            group.append(item)
            if len(group) == most:
                break
            try:
                # A file's lines come faster than this; a person's do not.
                item = arrived.get(timeout=0.02)
            except queue.Empty:
                break
        if group:
            yield group
        if isinstance(item, BaseException):
            raise item
        if item is None:
            return
