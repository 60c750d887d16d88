"""The variants of `benchmarks/quality/six_attentions.py` compute what their names say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.quality import six_attentions
from rnnsearch import plugins
from rnnsearch.checking.equations import draw_case, group
from rnnsearch.checking.paper import Paper
from rnnsearch.model.attention import ATTENTIONS
from rnnsearch.model.cells import CELLS, Cell
from rnnsearch.model.source import Source


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    patch = pytest.MonkeyPatch()
    patch.setenv(plugins.VARIABLE, "")  # so that it is put back afterwards
    plugins.load_files([Path(six_attentions.__file__).with_name("attention_variants.py")])
    patch.undo()


CASE = draw_case(3)
P = group(CASE, "p")


def cell_of(name: str) -> Cell:
    cell = CELLS[name](5, 6, 12).double()
    state = {f"{M}{gate and '_' + gate}": torch.from_numpy(P[f"{M}{gate}_dec"]) for M in "WUC" for gate in ("", "z", "r")}
    cell.load_state_dict({**state, "b": torch.from_numpy(P["b_dec"])})
    return cell


def stepped(cell: Cell) -> np.ndarray:
    s, word, c = (torch.from_numpy(CASE[name]) for name in ("s", "word", "c"))
    with torch.inference_mode():
        return cell.step(cell.recurrent_weights(), s, cell.project_input(word) + cell.project_context(c)).numpy()


@pytest.mark.parametrize(
    ("name", "deviations"), [("gated", frozenset()), ("reset-after", frozenset({"reset-after-product"}))]
)
def test_units(name: str, deviations: frozenset[str]) -> None:
    expected = Paper(P, deviations).gated_unit(CASE["s"], CASE["word"], CASE["c"])
    np.testing.assert_allclose(stepped(cell_of(name)), expected, atol=1e-12)


def test_the_context_does_not_reach_the_context_free_unit() -> None:
    expected = Paper(P).gated_unit(CASE["s"], CASE["word"], 0 * CASE["c"])
    cell = cell_of("context-free")
    np.testing.assert_allclose(stepped(cell), expected, atol=1e-12)
    cell.project_context(torch.from_numpy(CASE["c"])).sum().backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in cell.parameters())


def source() -> Source:
    h, mask = torch.from_numpy(CASE["h"]), torch.from_numpy(CASE["mask"])
    return Source(h, mask, h[:, 0, 6:])


def test_relu() -> None:
    attention = ATTENTIONS["additive-relu"](6, 12, 7).double()
    attention.load_state_dict({name: torch.from_numpy(P[name]) for name in ("W_a", "U_a", "v_a")})
    given = source()
    with torch.inference_mode():
        given.keys_BSA = attention.keys(given.annotations_BSC)
        alpha = attention.step(torch.from_numpy(CASE["s"])[:, None], given, None).alpha_BKS
    assert alpha is not None
    paper = Paper(P, frozenset({"energy-relu"}))
    expected = paper.weights(paper.energies(CASE["s"], CASE["h"]), CASE["mask"])
    np.testing.assert_allclose(alpha[:, 0].numpy(), expected, atol=1e-12)


def test_positions_ignore_what_the_encoder_has_read() -> None:
    attention = ATTENTIONS["positions"](6, 12, 7).double()
    torch.nn.init.normal_(attention.W_p, generator=torch.Generator().manual_seed(1))
    s, given = torch.from_numpy(CASE["s"])[:, None], source()
    with torch.inference_mode():
        one = attention.step(s, given, None).alpha_BKS
        given.annotations_BSC = given.annotations_BSC.flip(1)
        other = attention.step(s, given, None).alpha_BKS
        assert one is not None
        assert torch.equal(one, other)
        assert (one.sum(-1) - 1).abs().max() < 1e-12
        long = Source(torch.zeros(3, 140, 12).double(), torch.ones(3, 140, dtype=torch.bool), given.summary_BN)
        beyond = attention.step(s, long, None).alpha_BKS
    assert beyond is not None
    assert beyond.shape == (3, 1, 140)
    assert not beyond[..., 128:].any()


def test_intervals() -> None:
    row = {"bleu": 20.0, "alignment": {"aer": 0.5}, "parameters": 5, "cpu_hours": 0.5}
    bins = [{"low": 0, "high": 10, "bleu": 30.0}, {"low": 10, "high": None, "bleu": None}]
    rows = [{**row, "bleu": bleu, "by_length": bins} for bleu in (20.0, 22.0, 24.0)]
    found = six_attentions.summary(rows)
    assert found["bleu"]["mean"] == 22
    assert found["bleu"]["half"] == pytest.approx(4.303 * 2 / 3**0.5)  # Student's t with two degrees of freedom
    assert found["aer"]["half"] == 0
    assert [one["bleu"]["mean"] for one in found["by_length"]] == [30]
    single = six_attentions.summary([{**rows[0], "alignment": None}])
    assert single["bleu"]["half"] is None
    assert single["aer"] is None
