"""Training of an aligner: two hidden Markov models that learn by agreement, and two that learn independently.

One model generates the target words from the source words, the other generates the source words from the target words
(`hmm`). Both are trained together by expectation maximisation, first as IBM Model 1, then with jumps (Liang, Taskar and
Klein 2006). The expected count of a position pair (i, j) is the product of both posterior probabilities,

    p(a_j = i | e, f; forward) · p(b_i = j | e, f; backward)

so that a link counts only if both models support it. Models trained in this way miss links where one word corresponds to two
words of the other language. Therefore two further models learn the translation probabilities anew, independently of each
other, and with a lower probability of NULL. All four models are evidence for the probability of a link (`probability`).

`lexicon` holds the expected counts of word-type pairs. All sums are taken in the order of the text, so that the same text
always has the same links. Data that grows with the text is in files, from which a killed training continues after its last
complete step. In the shapes, C are the classes of words and W the widths of jumps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.ascending import Ascending
from rnnsearch.alignment.bitext import Block, PairLike, as_words, blocks_of
from rnnsearch.alignment.compiled import Counts, Parameters
from rnnsearch.alignment.hmm import NEAR
from rnnsearch.alignment.lexicon import Lexicon, Pseudocounts, Types
from rnnsearch.alignment.vocabulary import CLASSES, Words
from rnnsearch.atomic import atomic_write
from rnnsearch.jobs.processes import in_order
from rnnsearch.untrusted import Array, check_arrays, read_npz

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]

# These constants were chosen on two novels of `alibi`, aligned together with text of Europarl.
KINDS = ("agreeing", "independent")
Quality: TypeAlias = Literal["best", "fast"]
"""How much time a training takes: as much as lowers the error rate, or less."""
QUALITIES: tuple[Quality, ...] = get_args(Quality)
_STEPS: dict[Quality, dict[str, tuple[int, int]]] = {
    "best": {"agreeing": (4, 6), "independent": (4, 4)},
    "fast": {"agreeing": (2, 3), "independent": (2, 2)},
}
"""The numbers of EM steps of IBM Model 1, and of those with jumps, which follow.

Those of "fast" were chosen by `benchmarks/alignment/aligner_steps.py`.
"""
_LONG = 150_000
"""A text with fewer sentence pairs is learned in the steps of "best" by either quality.

It takes minutes, and fewer steps would cost more errors than in a long text.
"""
_P_0 = {"agreeing": 0.05, "independent": 0.01}
"""The probability that a word is NULL-aligned."""
_NULL_PRIOR = 10.0
"""The pseudo-count of NULL-aligned words, which is divided among all words by their frequency."""
_JUMP_PRIOR = 100.0
"""The pseudo-count of the jumps of a class, which are distributed like the jumps of all classes."""
JUMPS_SHAPE = CLASSES + 1, 2 * NEAR + 3
"""The shape of the stored jump probabilities, classes × widths; the outermost widths stand for all longer jumps."""


class Corpus:
    """The text from which an aligner learns, in files."""

    def __init__(
        self, lines: Iterable[PairLike], folder: Path | None = None, known: tuple[Words, Words] | None = None
    ) -> None:
        """Read the words of each pair, and write files into `folder`, by default a temporary one.

        `known` are the words of an aligner whose training continues on this text.
        """
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="rnnsearch-")  # removed when this object is
            folder = Path(self._temporary.name)
        self.folder = folder
        # The first pass numbers the words in the order of their occurrence and counts them.
        # The numbering continues that of the known words, and their frequencies are added to those of the text.
        self.known = known
        read = (Words(), Words()) if known is None else (known[0].copy(), known[1].copy())
        counts = [side.frequencies for side in read]
        self._paths: list[Path] = []  # of the files of the blocks, in order
        for block in blocks_of(map(as_words, lines), *read):
            # A block is written twice: here with provisional numbers, and below with those in the order of the stems.
            self._paths.append(folder / f"block-{len(self._paths):05}.npz")
            block.save(self._paths[-1])
            for side, ids in enumerate((block.text.source_ids, block.text.target_ids)):
                here = np.bincount(ids, minlength=len(read[side]))
                here[: len(counts[side])] += counts[side]
                counts[side] = here
        # The second pass renumbers the words by stem, and indexes the word-type pairs of each block.
        (source, source_numbers), (target, target_numbers) = (
            side.by_stem(count) for side, count in zip(read, counts, strict=True)
        )
        self.words = source, target
        self.numbers = source_numbers[: read[0].known], target_numbers[: read[1].known]
        """The number of each known word among all words of the text."""

        def indexed(path: Path) -> tuple[Ascending, Block]:
            """Return a block, and the file of its word-type pairs."""
            block = Block.load(path).numbered(source_numbers, target_numbers).indexed(source, target)
            block.save(path)
            keys = Ascending(path.with_suffix(".keys"), np.uint16)
            keys.append(np.sort(block.type_source.astype(np.int64) * len(target) + block.type_target))
            return keys, block

        self.lines = self.pairs = self.cells = self.longest = 0
        keys = []
        for of_block, block in in_order(indexed, self._paths):
            keys.append(of_block)
            self.lines += block.lines
            self.pairs += len(block.line)
            self.cells += len(block.text.cells)
            self.longest = max(self.longest, block.longest)
        self.block_count = len(self._paths)
        self.types = Types(folder, keys, self.words)

    def block(self, number: int) -> tuple[Block, NDArray[np.int64]]:
        """Return a block, and the numbers of its word-type pairs."""
        types = self.types.of(number)
        return self.types.of_block(Block.load(self._paths[number]), types), types

    def blocks(self) -> Iterator[Block]:
        """Return all blocks, in order."""
        return (self.block(number)[0] for number in range(self.block_count))


@dataclass(frozen=True)
class Models:
    """The parameters of both directions: the one that generates the target, then the one that generates the source."""

    lexicon: Lexicon
    nulls: tuple[Doubles, Doubles]
    """The expected number of NULL-aligned occurrences of each target word, and of each source word."""
    jumps: tuple[Floats, Floats]
    """The jump probabilities c of each class, as `_jumps` returns them."""
    p_0: float
    """The probability that a word is NULL-aligned."""

    def parameters(self, block: Block, words: tuple[Words, Words], alike: Floats) -> Parameters:
        """Return the parameters for a block of known and new words; `alike` is the similarity of its word-type pairs."""
        t = self.lexicon.probabilities(block, words, alike)
        return _parameters(t, words, self.nulls, self.jumps, self.p_0, block.longest)


@dataclass(frozen=True)
class _State:
    """The state of a training after a step, apart from t and the expected counts of word-type pairs."""

    step: int
    nulls: tuple[Doubles, Doubles]
    jumps: tuple[Floats, Floats]
    log_likelihoods: Doubles
    """The log-likelihoods of both directions before each step: steps × 2."""
    learned: bool = True
    """Whether t was computed from the counts of the step."""
    lexicon: Lexicon | None = None
    """After the last step, which needs t no more."""

    def save(self, path: Path) -> None:
        """Write the state into a file, whole or not at all."""
        arrays: dict[str, Any] = {} if self.lexicon is None else dict(self.lexicon.arrays())
        arrays |= {f"{name}_{side}": getattr(self, name)[side] for name in ("nulls", "jumps") for side in (0, 1)}
        arrays |= {"step": np.array(self.step), "learned": np.array(self.learned), "log_likelihoods": self.log_likelihoods}
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path, corpus: Corpus, last: int) -> _State:
        """Read what `save` has written. Raises ValueError if it is not the state of a training on this text."""
        arrays = read_npz(path)
        steps_so_far = len(arrays.get("log_likelihoods", ()))
        expected = {"step": Array("int64", (), 1, last), "log_likelihoods": Array("float64", (steps_so_far, 2))}
        expected["learned"] = Array("bool", ())
        for side in (0, 1):
            expected[f"nulls_{side}"] = Array("float64", (len(corpus.words[1 - side]),), 0)
            expected[f"jumps_{side}"] = Array("float32", JUMPS_SHAPE, 0, 1)
        if arrays.get("step") == last:
            expected |= Lexicon.expected(len(arrays.get("keys", ())), corpus.words)
        check_arrays(arrays, expected)
        nulls, jumps = ((arrays[f"{name}_0"], arrays[f"{name}_1"]) for name in ("nulls", "jumps"))
        lexicon = Lexicon.of_arrays(arrays, corpus.words) if "keys" in arrays else None
        return cls(int(arrays["step"]), nulls, jumps, arrays["log_likelihoods"], bool(arrays["learned"]), lexicon)


def train(
    corpus: Corpus,
    advance: Callable[[int], None] = lambda pairs: None,
    known: Mapping[str, Pseudocounts] = MappingProxyType({}),
    quality: Quality = "best",
) -> tuple[Models, Models, Doubles]:
    """Train the agreeing models and the independent models; return both, and the log-likelihoods before each step.

    `advance` is called with the number of further pairs that a step has processed. Likelihoods may fall, because agreement
    constrains the expectations. `known` are pseudo-counts of both kinds of models, `agreeing` and `independent`. A training
    that was killed continues after its last complete step, if corpus, folder and pseudo-counts are the same.
    """
    # Initial jumps: most probable to the next word, and exponentially less so to words further away.
    widths = np.arange(-reach(corpus.longest), reach(corpus.longest) + 1)
    jumps = _jumps(np.repeat(np.exp(-np.abs(widths - 1) / 3.0)[None] + 1e-4, CLASSES + 1, axis=0), 0)
    state = _State(0, (np.empty(0), np.empty(0)), (jumps, jumps), np.empty((0, 2)))
    if known:
        state = replace(state, jumps=_jumps_of_both(known["agreeing"].jumps))
    models = []
    # The independent models start from the jumps of the agreeing ones, and learn t and the NULL-aligned words anew.
    for name in KINDS:
        before = known.get(name)
        nulls = (np.zeros(len(corpus.words[1])), np.zeros(len(corpus.words[0]))) if before is None else before.nulls
        state = replace(state, step=0, nulls=nulls, learned=True, lexicon=None)
        state, lexicon = _phase(corpus, name, state, _steps(quality, corpus.pairs)[name], advance, before)
        models.append(Models(lexicon, state.nulls, state.jumps, _P_0[name]))
    corpus.types.end()
    return models[0], models[1], state.log_likelihoods


def steps(quality: Quality, pairs: int) -> int:
    """Return the number of steps of a training on so many sentence pairs, each of which processes all of them."""
    return sum(map(sum, _steps(quality, pairs).values()))


def _steps(quality: Quality, pairs: int) -> dict[str, tuple[int, int]]:
    """Return the numbers of steps of both kinds of models for a text of so many sentence pairs."""
    return _STEPS[quality if pairs >= _LONG else "best"]


def _phase(
    corpus: Corpus,
    name: str,
    state: _State,
    numbers: tuple[int, int],
    advance: Callable[[int], None],
    known: Pseudocounts | None,
) -> tuple[_State, Lexicon]:
    """Run all steps of the agreeing or the independent models, from the state of step 0, with t learned anew.

    The state is written when the counts of a step are complete, and again when t was computed from them: a killed training
    goes on with the M-step in the first case, and with the next E-step in the second. The counts of all steps are in the
    same file, and so is t.
    """
    checkpoint, last = _checkpoint(corpus, name), sum(numbers)
    try:
        state = _State.load(checkpoint, corpus, last)
        if state.lexicon is None:
            corpus.types.go_on()
        advance(corpus.pairs * state.step)
    except (OSError, ValueError):  # there is no checkpoint, or the disk has damaged it
        # From here on, t and the counts are no more those of later states.
        for later in KINDS[KINDS.index(name) :]:
            _checkpoint(corpus, later).unlink(missing_ok=True)
        corpus.types.begin(known)
    while state.lexicon is None:
        if not state.learned:
            corpus.types.learn(known)
            state = replace(state, learned=True)
            state.save(checkpoint)
        state = _step(corpus, state, state.step < numbers[0], name, advance, known)
        if state.step == last:
            state = replace(state, lexicon=corpus.types.lexicon(known))
        else:
            corpus.types.counts.flush()
        state.save(checkpoint)
    return state, state.lexicon


def _checkpoint(corpus: Corpus, name: str) -> Path:
    return corpus.folder / f"{name}.part"  # the ending of all files from which a killed run goes on


def _step(
    corpus: Corpus,
    state: _State,
    uniform: bool,
    name: str,
    advance: Callable[[int], None],
    known: Pseudocounts | None,
) -> _State:
    """Run the E-step over the text, into the counts of all word-type pairs, and the M-step of all parameters but t."""
    shape = len(state.jumps[0]), 2 * reach(corpus.longest) + 1

    def nothing(types: int) -> Counts:
        """Return counts of zero for this number of word-type pairs."""
        source, target = (np.zeros(len(side)) for side in corpus.words)
        return Counts(np.zeros((types, 2), np.float32), target, source, np.zeros(shape), np.zeros(shape), np.zeros(2))

    def expected(number: int) -> tuple[int, NDArray[np.int64], Counts]:
        """Return the number of pairs of a block, its word-type pairs, and its expected counts (the E-step)."""
        block, types = corpus.block(number)
        parameters = _parameters(
            corpus.types.t_of(types), corpus.words, state.nulls, state.jumps, _P_0[name], corpus.longest
        )
        counts = nothing(len(types))
        compiled.expectations(block.text, parameters._replace(uniform=uniform), counts, name == "agreeing")
        return len(block.line), types, counts

    # Pseudo-counts of NULL-aligned words and of jumps come first; those of links are added when t is computed.
    sums = nothing(0)
    if known is not None:
        for counts_before, before in zip(sums[1:5], (*known.nulls, *known.jumps), strict=True):
            counts_before += before
    # Blocks are computed side by side, and their counts are added in the order of the text.
    links = corpus.types.counts
    links[:] = 0
    for pairs, types, counts in in_order(expected, range(corpus.block_count)):
        links[types] += counts.types
        advance(pairs)
        for total, of_block in zip(sums[1:], counts[1:], strict=True):
            total += of_block
    _, *nulls, target_jumps, source_jumps, log_likelihoods = sums
    # The M-step of the jumps; IBM Model 1 has none.
    learned = state.jumps if uniform else _jumps_of_both((target_jumps, source_jumps))
    likelihoods = np.append(state.log_likelihoods, [log_likelihoods], axis=0)
    return _State(state.step + 1, (nulls[0], nulls[1]), learned, likelihoods, learned=False)


def reach(longest: int) -> int:
    """Return the greatest width L of a jump, for sentences of at most `longest` words."""
    return longest + NEAR + 1


def _parameters(
    t: Floats,
    words: tuple[Words, Words],
    nulls: tuple[Doubles, Doubles],
    jumps: tuple[Floats, Floats],
    p_0: float,
    longest: int,
) -> Parameters:
    """Return the parameters of both directions: t unchanged, and n(f), c and the classes for all words of `words`."""
    # n(f): the expected counts of NULL-aligned words, smoothed by the frequencies of all words.
    shares = [np.maximum(side.frequencies, 1) / max(1, side.frequencies.sum()) for side in words[::-1]]
    smoothed = [
        (np.append(null, np.zeros(len(share) - len(null))) + _NULL_PRIOR * share) / (null.sum() + _NULL_PRIOR)
        for null, share in zip(nulls, shares, strict=True)
    ]
    target_null, source_null = (null.astype(np.float32) for null in smoothed)
    # c for all widths from −L to L: the stored outermost widths stand for all longer jumps.
    widths = np.clip(np.arange(-reach(longest), reach(longest) + 1), -NEAR - 1, NEAR + 1) + NEAR + 1
    target_jump, source_jump = (np.take(jump, widths, axis=1) for jump in jumps)
    classes = words[0].classes, words[1].classes
    return Parameters(t, target_null, source_null, target_jump, source_jump, *classes, np.float32(p_0), False)


def _jumps_of_both(counts: tuple[Doubles, Doubles]) -> tuple[Floats, Floats]:
    """Return the jump probabilities of both directions."""
    return _jumps(counts[0], _JUMP_PRIOR), _jumps(counts[1], _JUMP_PRIOR)


def _jumps(counts_CW: Doubles, prior: float) -> Floats:
    """Return the jump probabilities c of each class, from the expected numbers of its jumps.

    A pseudo-count of `prior` jumps is added, distributed like the jumps of all classes. The widths are from −NEAR − 1 to
    NEAR + 1; the outermost stand for all longer jumps.
    """
    widths = np.arange(counts_CW.shape[1]) - counts_CW.shape[1] // 2
    far = np.abs(widths) > NEAR

    def distribution(counts: Doubles) -> Doubles:
        """Normalise counts by class, after all long jumps have received their mean, and all widths a small count."""
        counts = np.where(far, counts[:, far].mean(1, keepdims=True), counts)
        counts += 1e-6 * counts.sum(1, keepdims=True) + 1e-30
        return np.asarray(counts / counts.sum(1, keepdims=True))

    c_CW = distribution(counts_CW + prior * distribution(counts_CW.sum(0, keepdims=True)))
    return c_CW[:, np.abs(widths) <= NEAR + 1].astype(np.float32)
