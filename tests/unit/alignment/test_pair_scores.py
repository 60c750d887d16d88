"""Scores of sentence pairs, beside the definition as plain loops."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.alignment import Aligner, Corpus, Priors
from rnnsearch.alignment.bitext import LONGEST
from rnnsearch.alignment.scores import DirectedLinks, scores

Line = tuple[list[str], list[str]]


def by_definition(lines: list[Line], links: list[dict[int, int]], priors: Priors) -> list[float]:
    """The forward scores of lines; `links` has the source position of each linked target position."""
    n = Counter({event: float(count) for event, count in priors.lexicon.items()})
    jumps = Counter({width: float(count) for width, count in priors.forward_jumps.items()})
    fertility = Counter({(word, min(phi, 7)): float(count) for (word, phi), count in priors.forward_fertility.items()})
    for (e, f), a in zip(lines, links, strict=True):
        if not e or not f:
            continue
        n.update((e[i], f[j]) for j, i in a.items())
        path = [-1, *(a[j] for j in sorted(a)), len(e)]
        jumps.update(after - before for before, after in pairwise(path) if a)
        fertility.update((word, min(7, list(a.values()).count(i))) for i, word in enumerate(e))
    vocabulary = {word for _, f in lines for word in f}
    all_jumps = sum(jumps.values()) + 0.5 * 100
    result = []
    for (e, f), a in zip(lines, links, strict=True):
        total = 0.0
        for j, word in enumerate(f if e else []):
            before = max((k for k in a if k < j), default=None)
            after = min((k for k in a if k > j), default=None)
            of_words = []
            for i, source in enumerate(e):
                own = j in a and e[a[j]] == source
                of_source = sum(count for (other, _), count in n.items() if other == source)
                p = (n[source, word] - own + 0.001) / (of_source - own + 0.001 * (len(vocabulary) + 1))
                p *= (jumps[i - (-1 if before is None else a[before])] + 0.5) / all_jumps
                p *= (jumps[(len(e) if after is None else a[after]) - i] + 0.5) / all_jumps
                phi = sum(a[k] == i for k in a if k != j)
                p *= 1e-10 if phi >= 6 else (fertility[source, phi + 1] + 0.5) / (fertility[source, phi] + 0.5)
                of_words.append(p)
            total += math.log(max(of_words))
        result.append(-total / len(f) if f else 0.0)
    return result


def _lines(draw: st.DrawFn) -> tuple[list[Line], list[dict[int, int]], list[dict[int, int]]]:
    words = st.lists(st.sampled_from("abc"), max_size=9)
    lines = draw(st.lists(st.tuples(words, words), min_size=1, max_size=5))
    links = []
    for side in (0, 1):
        links.append(
            [
                draw(st.dictionaries(st.integers(0, len(line[1 - side]) - 1), st.integers(0, len(line[side]) - 1)))
                if all(line)
                else {}
                for line in lines
            ]
        )
    return lines, links[0], links[1]


@given(st.composite(_lines)(), st.booleans())
def test_the_definition(drawn: tuple[list[Line], list[dict[int, int]], list[dict[int, int]]], with_priors: bool) -> None:
    lines, forward, reverse = drawn
    directed: list[DirectedLinks] = [
        ([(i, j) for j, i in of_target.items()], list(of_source.items()))
        for of_target, of_source in zip(forward, reverse, strict=True)
    ]
    priors, turned = Priors.empty(), Priors.empty()
    if with_priors:
        priors = Priors.of_links(["a b c"], ["b b a a a a a a a"], ["0-0 1-1 2-2 " + "0-3 " * 6], ["0-8 1-1"])
        turned = Priors(
            Counter({(target, source): count for (source, target), count in priors.lexicon.items()}),  # type: ignore[arg-type]
            *(priors[n] for n in (2, 1, 4, 3)),  # type: ignore[arg-type]
        )
    found = list(scores(Corpus(lines), directed, priors))
    assert [score for score, _ in found] == pytest.approx(by_definition(lines, forward, priors))
    back = [(target, source) for source, target in lines]
    assert [score for _, score in found] == pytest.approx(by_definition(back, reverse, turned))


def test_a_long_line_has_the_score_of_its_pieces() -> None:
    line = ["a", "b"] * LONGEST, ["x", "y"] * LONGEST
    (long,) = scores(Corpus([line]), [([(k, k) for k in range(2 * LONGEST)],) * 2])
    pieces = scores(Corpus([(line[0][:LONGEST], line[1][:LONGEST])] * 2), [([(k, k) for k in range(LONGEST)],) * 2] * 2)
    assert list(pieces) == [pytest.approx(long)] * 2


def test_pairs_that_do_not_belong_together_have_higher_scores() -> None:
    generator = random.Random(5)
    vocabulary = [(f"{letter}e", f"{letter}f") for letter in "bcdfghjklmnpqrst"]
    pairs = []
    for _ in range(200):
        words = generator.sample(vocabulary, 5)
        pairs.append((" ".join(e for e, _ in words), " ".join(f for _, f in words)))
    targets = [target for _, target in pairs]
    shuffled = [*targets[1:20], targets[0], *targets[20:]]
    corpus = Corpus(zip((source for source, _ in pairs), shuffled, strict=True))
    links = [line.one_to_many() for line in Aligner.learn(corpus).align(corpus)]
    sums = [sum(of_line) for of_line in scores(corpus, links)]
    assert min(sums[:20]) > max(sums[20:])
