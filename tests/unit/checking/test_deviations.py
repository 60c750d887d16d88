"""Every deviation of the catalogue, made in NumPy and in PyTorch, is found and named, alone and with each other one."""

from __future__ import annotations

from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np
import numpy_student
import pytest
import torch
import torch_student

from rnnsearch.checking.deviations import CATALOGUE, LOSS, OF_EQUATION, described, together
from rnnsearch.checking.equations import EQUATIONS, compute, draw_case, group, prepared
from rnnsearch.checking.examine import Examiner

CASE = draw_case(3)
EXAMINER = Examiner(CASE)
"""One for all tests, so that what the reference computes is computed once."""
BY_NAME = {equation.name: equation for equation in EQUATIONS}


@pytest.fixture(params=[numpy_student, torch_student], ids=["numpy", "torch"])
def student(request: pytest.FixtureRequest) -> Any:
    module: ModuleType = request.param
    yield module
    module.MISTAKES = set()


def results(student: Any, name: str, mistakes: set[str]) -> Any:
    """What a function of the student gives with these mistakes, as `Examiner.explain` takes it."""
    student.MISTAKES = mistakes
    equation = BY_NAME[name]
    convert = np.array if student is numpy_student else torch.tensor
    given: dict[str, Any] = {key: convert(value) for key, value in CASE.items() if "/" not in key}
    given |= {of: {key: convert(value) for key, value in group(CASE, of).items()} for of in ("p", "g")}
    given["limit"] = float(CASE["limit"])
    found = getattr(student, name)(*(given[argument] for argument in equation.arguments))
    if not isinstance(found, dict):
        found = dict(zip(equation.results, found if isinstance(found, tuple) else (found,), strict=True))
    found = {key: np.asarray(value) for key, value in found.items()}
    return prepared(equation, CASE, found)


def same(name: str, one: frozenset[str], other: frozenset[str]) -> bool:
    ours, theirs = (EXAMINER.paper(BY_NAME[name], each) for each in (one, other))
    return all(ours[key].shape == theirs[key].shape and np.allclose(ours[key], theirs[key], 0, 1e-9) for key in ours)


def plain(name: str) -> list[str]:
    return [deviation for deviation in OF_EQUATION[name] if "@" not in deviation]


FUNCTIONS = [name for name in BY_NAME if name != "gradients"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_student_without_mistakes_agrees(student: Any, name: str) -> None:
    ours = compute(BY_NAME[name], CASE, frozenset())
    theirs = results(student, name, set())
    for key in ours:
        np.testing.assert_allclose(theirs[key], ours[key], rtol=0, atol=BY_NAME[name].tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_mistake_is_named(student: Any, name: str) -> None:
    for deviation in plain(name):
        found = EXAMINER.explain(BY_NAME[name], results(student, name, {deviation}))
        assert {deviation} in found, (found, deviation)
        assert all(same(name, each, frozenset({deviation})) for each in found), (found, deviation)


PARTS = [
    pytest.param(
        module, part, id=f"{framework}-{part}", marks=[] if (framework, part) == ("numpy", 0) else [pytest.mark.slow]
    )
    for framework, module in (("numpy", numpy_student), ("torch", torch_student))
    for part in range(4)
]


@pytest.mark.parametrize(("student", "part"), PARTS, indirect=["student"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_mistakes_are_named(student: Any, name: str, part: int) -> None:
    """Where one mistake gives the same as the two, the other has no effect, and the one is named.

    A part is every fourth pair.
    """
    pairs = [frozenset(pair) for pair in combinations(plain(name), 2) if together(*pair)]
    if name == "loss":  # the others are those of log_probability
        pairs = [pair for pair in pairs if pair & LOSS.keys()]
    for pair in pairs[part::4]:
        found = EXAMINER.explain(BY_NAME[name], results(student, name, set(pair)))
        one_has_no_effect = any(same(name, frozenset({deviation}), pair) for deviation in pair)
        assert pair in found or (one_has_no_effect and found), (found, pair)
        assert all(same(name, each, pair) for each in found), (found, pair)


def test_every_deviation_belongs_to_an_equation() -> None:
    assert {name.partition("@")[0] for names in OF_EQUATION.values() for name in names} == set(CATALOGUE)
    assert described("gates-exchanged@encoder").endswith("in the encoder alone")
