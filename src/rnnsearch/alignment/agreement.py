"""How an aligner learns from the text that it aligns: hidden Markov models that agree, and two that do not have to.

One model generates the target words from the source words, the other the source words from the target words (`hmm`). Both
are trained together by expectation maximisation, as IBM Model 1 at first, then with jumps (Liang, Taskar and Klein 2006).
What is expected of a cell (i, j) is the product of both posterior probabilities,

    p(a_j = i | e, f; forward) · p(b_i = j | e, f; backward)

so that only links count of which both are convinced. These models miss what is one word in one language and two in the
other. Therefore two models learn the words anew, each by itself and more reluctant to leave a word without a link. All four
are evidence for the probability of a link (`probability`).

The expected links of types are in `lexicon`. All sums are taken in the order of the text, so that the same text has the same
links. Everything that grows with the text is in files, and after every step they are all that is needed to go on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.bitext import Block, GivenPair, as_words, blocks_of
from rnnsearch.alignment.compiled import Counts, Parameters
from rnnsearch.alignment.lexicon import Lexicon, Types
from rnnsearch.alignment.vocabulary import CLASSES, Words
from rnnsearch.atomic import atomic_write
from rnnsearch.untrusted import Array, check_arrays, read_npz

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]

# Chosen on two of the novels of `alibi`, aligned together with text of Europarl.
MODEL_1_STEPS = 4
_STEPS = {"agreeing": 6, "independent": 4}
"""Those with jumps, which follow."""
_P_0 = {"agreeing": 0.05, "independent": 0.01}
_NULL_PRIOR = 10.0
"""So many words are added to those of no other word, by their frequency."""
_NEAR = 7
"""Jumps of more words than this have one probability."""
_JUMP_PRIOR = 100.0
"""So many jumps are added to those of a class, as all classes jump."""
JUMPS_SHAPE = CLASSES + 1, 2 * _NEAR + 3
"""Of the jumps that are kept: classes × widths, of which the outermost stand for all that are further."""


class Corpus:
    """A text that is learned from, in files."""

    def __init__(self, lines: Iterable[GivenPair], folder: Path | None = None) -> None:
        """Reads the words of each pair, and writes into `folder`, by default a temporary one."""
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="rnnsearch-")  # removed when this object is
            folder = Path(self._temporary.name)
        self.folder = folder
        read = Words(), Words()
        counts = [np.empty(0, np.int64), np.empty(0, np.int64)]
        self._paths: list[Path] = []
        for block in blocks_of(map(as_words, lines), *read):
            self._paths.append(folder / f"block-{len(self._paths):05}.npz")
            block.save(self._paths[-1])
            for side, ids in enumerate((block.text.source_ids, block.text.target_ids)):
                here = np.bincount(ids, minlength=len(read[side]))
                here[: len(counts[side])] += counts[side]
                counts[side] = here
        (source, source_numbers), (target, target_numbers) = (
            side.by_stem(count) for side, count in zip(read, counts, strict=True)
        )
        self.words = source, target
        self.lines = self.pairs = self.cells = self.longest = 0
        for path in self._paths:
            block = Block.load(path).numbered(source_numbers, target_numbers).indexed(source, target)
            block.save(path)
            self.lines += block.lines
            self.pairs += len(block.line)
            self.cells += len(block.text.cells)
            self.longest = max(self.longest, block.longest)
        self.types = Types(folder, self._paths, self.words)

    def blocks(self) -> Iterator[Block]:
        """All blocks, in order."""
        return map(Block.load, self._paths)

    def numbered_blocks(self) -> Iterator[tuple[Block, NDArray[np.int64]]]:
        """All blocks with the numbers of their types among those of the text."""
        return ((Block.load(path), self.types.of(path)) for path in self._paths)


@dataclass(frozen=True)
class Models:
    """The parameters of both directions, that which generates the target and that which generates the source."""

    lexicon: Lexicon
    nulls: tuple[Doubles, Doubles]
    """The expected occurrences of each target, and of each source word that is of no other word."""
    jumps: tuple[Floats, Floats]
    """c of each class, see `_jumps`."""
    p_0: float

    def parameters(self, block: Block, words: tuple[Words, Words], alike: Floats) -> Parameters:
        """Those for a block of known and new words, whose types are `alike`."""
        t = self.lexicon.probabilities(block, words, alike)
        return _parameters(t, words, self.nulls, self.jumps, self.p_0, block.longest)


@dataclass(frozen=True)
class _State:
    """What a step of training has found, besides the links of types."""

    step: int
    nulls: tuple[Doubles, Doubles]
    jumps: tuple[Floats, Floats]
    log_likelihoods: Doubles
    """Of both directions before each step: steps × 2."""

    def save(self, path: Path) -> None:
        pairs = {f"{name}_{side}": getattr(self, name)[side] for name in ("nulls", "jumps") for side in (0, 1)}
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.savez(file, step=np.array(self.step), log_likelihoods=self.log_likelihoods, **pairs)

    @classmethod
    def load(cls, path: Path, corpus: Corpus) -> _State:
        """What `save` has written. Raises ValueError where that is no state of learning from this text."""
        arrays = read_npz(path)
        steps_so_far = len(arrays.get("log_likelihoods", ()))
        expected = {"step": Array("int64", (), 1, steps()), "log_likelihoods": Array("float64", (steps_so_far, 2))}
        for side in (0, 1):
            expected[f"nulls_{side}"] = Array("float64", (len(corpus.words[1 - side]),), 0)
            expected[f"jumps_{side}"] = Array("float32", JUMPS_SHAPE, 0, 1)
        check_arrays(arrays, expected)
        nulls, jumps = ((arrays[f"{name}_0"], arrays[f"{name}_1"]) for name in ("nulls", "jumps"))
        return cls(int(arrays["step"]), nulls, jumps, arrays["log_likelihoods"])


def train(corpus: Corpus, advance: Callable[[int], None] = lambda pairs: None) -> tuple[Models, Models, Doubles]:
    """Learn to align a text: the models that agree, those that do not have to, and both log-likelihoods before each step.

    `advance` is told how many more pairs a step has seen. (Likelihoods may fall: agreement constrains the expectations.)
    A training that was killed goes on after its last whole step, given the same corpus in the same folder.
    """
    widths = np.arange(-_reach(corpus.longest), _reach(corpus.longest) + 1)
    jumps = _jumps(np.repeat(np.exp(-np.abs(widths - 1) / 3.0)[None] + 1e-4, CLASSES + 1, axis=0), 0)
    nulls = np.zeros(len(corpus.words[1])), np.zeros(len(corpus.words[0]))
    state = _State(0, nulls, (jumps, jumps), np.empty((0, 2)))
    models = []
    for name in ("agreeing", "independent"):
        state = _phase(corpus, name, _State(0, nulls, state.jumps, state.log_likelihoods), advance)
        models.append(Models(corpus.types.lexicon(_links(corpus, name, state.step)), state.nulls, state.jumps, _P_0[name]))
    return models[0], models[1], state.log_likelihoods


def steps() -> int:
    """The steps of a training, each of which sees all pairs."""
    return sum(MODEL_1_STEPS + after for after in _STEPS.values())


def _phase(corpus: Corpus, name: str, state: _State, advance: Callable[[int], None]) -> _State:
    """The steps of one kind, from a state of step 0; t is learned anew, and from the last step's links afterwards."""
    kept = corpus.folder / f"{name}.part"  # as `shards.Kept` calls what a run goes on from
    try:
        state = _State.load(kept, corpus)
        corpus.types.learn(_links(corpus, name, state.step))
        advance(corpus.pairs * state.step)
    except (OSError, ValueError):  # there is none, or the disk has damaged it
        corpus.types.begin()
    for step in range(state.step + 1, MODEL_1_STEPS + _STEPS[name] + 1):
        links = _links(corpus, name, step, new=True)  # those of the step before remain, until this one's are whole
        state = _step(corpus, state, links, step <= MODEL_1_STEPS, name, advance)
        links.flush()
        state.save(kept)
        corpus.types.learn(links)
    return state


def _links(corpus: Corpus, name: str, step: int, new: bool = False) -> Any:
    return corpus.types.counts(f"{name}-{step % 2}", new)


def _step(corpus: Corpus, state: _State, links: Any, uniform: bool, name: str, advance: Callable[[int], None]) -> _State:
    """One step over the text: fills `links`, which are zero, with those that are expected of all types."""
    words = corpus.words
    nulls = np.zeros(len(words[1])), np.zeros(len(words[0]))
    shape = len(state.jumps[0]), 2 * _reach(corpus.longest) + 1
    jumps, log_likelihood = (np.zeros(shape), np.zeros(shape)), np.zeros(2)
    for block, types in corpus.numbered_blocks():
        parameters = _parameters(corpus.types.t[types], words, state.nulls, state.jumps, _P_0[name], corpus.longest)
        counts = Counts(np.zeros((len(types), 2)), *nulls, *jumps, log_likelihood)
        compiled.expectations(block.text, parameters._replace(uniform=uniform), counts, name == "agreeing")
        links[types] += counts.types
        advance(len(block.line))
    found = state.jumps if uniform else (_jumps(jumps[0], _JUMP_PRIOR), _jumps(jumps[1], _JUMP_PRIOR))
    return _State(state.step + 1, nulls, found, np.append(state.log_likelihoods, [log_likelihood], axis=0))


def _reach(longest: int) -> int:
    """The greatest width of a jump, L, for sentences of so many words."""
    return longest + _NEAR + 1


def _parameters(
    t: Floats,
    words: tuple[Words, Words],
    nulls: tuple[Doubles, Doubles],
    jumps: tuple[Floats, Floats],
    p_0: float,
    longest: int,
) -> Parameters:
    shares = [np.maximum(side.frequencies, 1) / max(1, side.frequencies.sum()) for side in words[::-1]]
    found = [
        (np.append(null, np.zeros(len(share) - len(null))) + _NULL_PRIOR * share) / (null.sum() + _NULL_PRIOR)
        for null, share in zip(nulls, shares, strict=True)
    ]
    target_null, source_null = (null.astype(np.float32) for null in found)
    widths = np.clip(np.arange(-_reach(longest), _reach(longest) + 1), -_NEAR - 1, _NEAR + 1) + _NEAR + 1
    target_jump, source_jump = (np.take(jump, widths, axis=1) for jump in jumps)
    classes = words[0].classes, words[1].classes
    return Parameters(t, target_null, source_null, target_jump, source_jump, *classes, np.float32(p_0), False)


def _jumps(counts_CW: Doubles, prior: float) -> Floats:
    """c of each class, from the expected numbers of its jumps and so many as all classes jump.

    The widths of what is returned are from −_NEAR − 1 to _NEAR + 1; the outermost stand for all that are further.
    """
    widths = np.arange(counts_CW.shape[1]) - counts_CW.shape[1] // 2
    far = np.abs(widths) > _NEAR

    def distribution(counts: Doubles) -> Doubles:
        counts = np.where(far, counts[:, far].mean(1, keepdims=True), counts)
        counts += 1e-6 * counts.sum(1, keepdims=True) + 1e-30
        return np.asarray(counts / counts.sum(1, keepdims=True))

    found = distribution(counts_CW + prior * distribution(counts_CW.sum(0, keepdims=True)))
    return found[:, np.abs(widths) <= _NEAR + 1].astype(np.float32)
