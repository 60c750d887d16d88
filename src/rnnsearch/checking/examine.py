"""Runs a student's file, compares its results with the paper's, and looks for the mistake that explains a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from rnnsearch.checking.deviations import OF_EQUATION, READS_PADDING, UNIT, described, together
from rnnsearch.checking.equations import EQUATIONS, Case, Equation, Results, compute, draw_case, prepared
from rnnsearch.checking.paper import KEEPS_STATE, Array
from rnnsearch.checking.report import Finding, Report
from rnnsearch.checking.run import Failure, call, run

_TOLERANCES = {4: 1e-4, 2: 1e-1}
"""The tolerance for rounding in floating-point types smaller than float64, by their size in bytes."""

_NOT_FINITE = {
    "weights": ": are all words masked? The mask is true at words, and false at padding",
    "log_probability": ": is it the logarithm of 0?",
}
"""What gives nan or an infinite number, by the equation."""

Implementation = Path | str | Callable[..., Any] | Sequence[Callable[..., Any]]
"""An implementation to check: a Python file, a function, or several functions."""


def check(given: Implementation, seed: int = 1, timeout: float = 60.0) -> Report:
    """Compare the functions in a Python file, or functions of this process, with the equations of the paper.

    A file runs in a process of its own with a time limit of `timeout` seconds. If this process ends inside a function,
    another process continues with the next function. Weights and inputs are drawn with `seed`. Functions that the file
    lacks are skipped; `rnnsearch check --template numpy` prints a file with all of them.

    Functions are called in this process, as a notebook needs it: with NumPy arrays, and without a limit of time.

    Raises RnnsearchError if the file cannot be imported or has none of the functions, or a function has another name.
    """
    case = draw_case(seed)
    if isinstance(given, Path | str):
        return Report(str(given), seed, Examiner(case).examine(run(Path(given), case, timeout)))
    functions = [given] if callable(given) else list(given)
    name = ", ".join(function.__name__ for function in functions)
    return Report(name, seed, Examiner(case).examine(call(functions, case)))


class Examiner:
    """Compares results with those of the paper for one case, and caches the paper's results and the explanations."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._computed: dict[tuple[str, frozenset[str]], Results] = {}
        self._found: dict[str, frozenset[str]] = {}
        self._unexplained: set[str] = set()
        """The equations that do not agree, for no reason that was found."""
        self._rounding = 1e-4
        """Smaller differences come from rounding, in the types that the equations so far were computed in."""

    def examine(self, outcomes: Mapping[str, Results | Failure]) -> list[Finding]:
        """Return a finding for each equation, from the outcomes of the student's functions."""
        findings = []
        for equation in EQUATIONS:
            finding = self._finding(equation, outcomes.get(equation.name, Failure("", absent=True)))
            if finding.outcome in ("differs", "fails") and not finding.deviations:
                self._unexplained.add(equation.name)
                parts = [name for name in equation.builds_on if name in self._unexplained]
                if parts and not finding.advice:
                    finding = replace(finding, advice=f"it builds on {' and '.join(parts)}: mend that first")
            findings.append(finding)
        return findings

    def _finding(self, equation: Equation, outcome: Results | Failure) -> Finding:
        finding = Finding(equation.name, equation.formula, equation.place, "differs")
        if isinstance(outcome, Failure):
            if outcome.absent:
                return replace(finding, outcome="not there")
            return replace(finding, outcome="fails", where=outcome.error, lines=outcome.lines)
        paper = self.paper(equation, frozenset())
        refusal, results = self._usable(equation, outcome, paper)
        if refusal:
            finding = replace(finding, where=refusal, deviations=self.explain(equation, results) if results else [])
            return finding if finding.deviations else replace(finding, advice=_advice_on_refusal(equation, results, paper))
        self._rounding = max([self._rounding, *(_TOLERANCES.get(_bytes(given), 0.0) for given in results.values())])
        if _agree(equation, results, paper):
            self._found[equation.name] = frozenset()
            return replace(finding, outcome="agrees")
        where, difference = _begins(equation, results, paper)
        finding = replace(finding, where=where, difference=difference)
        if difference < self._rounding:
            return replace(finding, advice="the difference is that of rounding: compute in float64 throughout")
        finding = replace(finding, deviations=self.explain(equation, results))
        if finding.deviations:
            self._found[equation.name] = finding.deviations[0]
            return finding
        advice = _advice(equation, results, paper) or self._without_padding(equation, results)
        return replace(finding, advice=advice)

    def _without_padding(self, equation: Equation, results: Results) -> str:
        """Return an explanation of the sentences that have no padding, if there is one."""
        if equation.name not in ("encoder", "initial_state", "weights", "decoder_step"):
            return ""
        full = self.case["mask"].all(1)
        there = {name: array[full] for name, array in results.items()}
        for deviations in (frozenset[str](), *(frozenset({name}) for name in OF_EQUATION[equation.name])):
            paper = self.paper(equation, deviations)
            if _agree(equation, there, {name: array[full] for name, array in paper.items()}):
                equal = "your output equals the paper's"
                if deviations:
                    equal = f"{equal} if {' and '.join(map(described, deviations))}"
                return f"in the sentence without padding, {equal}: is the padding read, too?"
        return ""

    def explain(self, equation: Equation, results: Results) -> list[frozenset[str]]:
        """Return the sets of deviations with which the paper's equation has these results.

        The sets that explain other equations are tried first, then single deviations, then pairs of them, then the first
        sets with one more deviation. If several sets are returned, the results cannot tell them apart. Where a part of the
        equation has not been explained, there are no pairs: they take long, and the equation has probably the same mistake.
        """
        names = OF_EQUATION[equation.name]
        known = self._known(names)
        if equation.name == "gradients":  # each candidate costs a forward pass for each weight
            known += [each for each in (self._found.get("loss"),) if each]
        singles = [frozenset({name}) for name in names]
        pairs = [frozenset(pair) for pair in combinations(names, 2) if together(*pair)]
        more = [each | single for each in known for single in singles]
        several = [] if self._unexplained.intersection(equation.builds_on) else [pairs, more]
        for candidates in (*([each] for each in known), singles, *several):
            matches = [each for each in candidates if self._gives(equation, each, results)]
            if matches:
                return matches
        return []

    def _gives(self, equation: Equation, deviations: frozenset[str], results: Results) -> bool:
        """Return whether the paper's equation with these deviations has these results, whatever is annotated at padding."""
        if _agree(equation, results, self.paper(equation, deviations)):
            return True
        sentences = equation.name in ("log_probability", "loss", "gradients")
        if not (sentences and deviations & READS_PADDING):
            return False
        return _agree(equation, results, self.paper(equation, deviations | {KEEPS_STATE}))

    def _known(self, names: list[str]) -> list[frozenset[str]]:
        """Return the deviations that explain other equations, once for all gated units and once for those of one side."""
        everywhere, sided = set(), set()
        for equation, deviations in self._found.items():
            side = {"gated_unit": "decoder", "decoder_step": "decoder", "encoder": "encoder"}.get(equation)
            for deviation in deviations:
                everywhere.add(deviation)
                sided.add(f"{deviation}@{side}" if deviation in UNIT and side else deviation)
        return [each for each in (frozenset(everywhere & set(names)), frozenset(sided & set(names))) if each]

    def paper(self, equation: Equation, deviations: frozenset[str]) -> Results:
        """Return the results of the paper's equation for this case, with these deviations."""
        key = equation.name, deviations
        if key not in self._computed:
            with np.errstate(all="ignore"):
                self._computed[key] = compute(equation, self.case, deviations)
        return self._computed[key]

    def _usable(self, equation: Equation, outcome: Results, paper: Results) -> tuple[str | None, Results]:
        """Return the reason why results cannot be compared, or None, and the results under the paper's names."""
        if equation.results:
            theirs = [""] if len(equation.results) == 1 else [str(number) for number in range(len(equation.results))]
            if set(outcome) != set(theirs):
                given = "one array" if set(outcome) == {""} else f"{len(outcome)} results"
                return f"returns {given}; expected: {equation.returns}", {}
            outcome = dict(zip(equation.results, (outcome[name] for name in theirs), strict=True))
        elif missing := sorted(set(paper) - set(outcome) - {"b_a"}):
            return f"the result has no {', '.join(missing[:5])}; expected: {equation.returns}", {}
        results: Results = {}
        refusal = None
        for name, expected in paper.items():
            shape = self.case[f"p/{name}"].shape if equation.name == "gradients" else expected.shape
            array: Array = outcome[name] if name in outcome else np.zeros(shape)
            if array.size == 1 and not shape:
                array = array.reshape(())
            of = f"{name} " if name else ""
            if array.shape != shape:
                refusal = refusal or f"{of}has the shape {array.shape} instead of {shape}; expected: {equation.returns}"
                if equation.name == "gradients":
                    return refusal, {}
                array = _turned(array, shape)
            elif not np.isfinite(array).all():
                place = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
                at = f" at the indices {place}" if place else ""
                return f"{of}has {array[tuple(place)]}{at}{_NOT_FINITE.get(equation.name, '')}", {}
            results[name] = array
        fits = all(results[name].shape == expected.shape for name, expected in paper.items())
        return refusal, prepared(equation, self.case, results) if fits or not refusal else results


def _bytes(array: Array) -> int:
    """Return the size of a floating-point number of the array, or 0 for other types."""
    return array.dtype.itemsize if array.dtype.kind == "f" else 0


def _tolerance(equation: Equation, given: Array, expected: Array) -> Array:
    allowed = max(equation.tolerance, _TOLERANCES.get(_bytes(given), 0.0))
    return allowed * np.maximum(1, np.abs(expected))


def _agree(equation: Equation, results: Results, paper: Results) -> bool:
    return all(
        results[name].shape == expected.shape
        and bool((np.abs(results[name] - expected) <= _tolerance(equation, results[name], expected)).all())
        for name, expected in paper.items()
    )


def _begins(equation: Equation, results: Results, paper: Results) -> tuple[str, float]:
    """Return the first position where the results differ, and the largest difference."""
    largest = max(float(np.abs(results[name] - expected).max()) for name, expected in paper.items())
    for name, expected in paper.items():
        apart = np.abs(results[name] - expected) > _tolerance(equation, results[name], expected)
        if apart.any():
            place = tuple(int(i) for i in np.argwhere(apart)[0])
            axes = equation.axes if len(equation.axes) == len(place) else tuple("axis" for _ in place)
            at = ", ".join(f"{axis} {i}" for axis, i in zip(axes, place, strict=True))
            kind = "the derivative of " if equation.name == "gradients" else ""
            of = f"{kind}{name}{', ' if at else ''}" if name else ""
            values = f"{float(results[name][place]):.6g} instead of {float(expected[place]):.6g}"
            return f"begins at {of}{at}: {values}" if of or at else values, largest
    raise AssertionError("results that agree have no beginning of a difference")


def _turned(array: Array, shape: tuple[int, ...]) -> Array:
    """Return the array with this shape, if only its axes are in another order or some have length 1; else, unchanged."""
    squeezed = array.squeeze()
    if squeezed.ndim == len(shape) and sorted(squeezed.shape) == sorted(shape):
        return next(
            turned for axes in permutations(range(len(shape))) if (turned := squeezed.transpose(axes)).shape == shape
        )
    return array


def _advice_on_refusal(equation: Equation, results: Results, paper: Results) -> str:
    """Return what to do about results that cannot be compared as they are."""
    if results and all(results[name].shape == expected.shape for name, expected in paper.items()):
        agrees = ", and the numbers agree" if _agree(equation, results, paper) else ""
        return f"only the order of the axes is another one, or there are axes of length 1{agrees}"
    return ""


def _advice(equation: Equation, results: Results, paper: Results) -> str:
    """Return the possible causes of a difference that no deviation explains."""
    if equation.name == "gradients":
        silent = [name for name, expected in paper.items() if results[name] == 0 and expected != 0]
        if silent:
            return f"no gradient reaches {', '.join(silent)}: is a tensor detached?"
    return ""
