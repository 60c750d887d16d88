"""The notebook runs from its first cell to its last, and its answers are right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import rnnsearch

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "attention.ipynb"
CELLS: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
SHORT = {
    "PAIRS, UPDATES = 20_000, 900": "PAIRS, UPDATES = 500, 10",
    "valid=100, test=300": "valid=5, test=160",
    '"embedding_size": 64, "hidden_size": 128': '"embedding_size": 16, "hidden_size": 16',
}
"""What the short run has instead."""


def text_of(cell: dict[str, Any]) -> str:
    """What a cell says, without the commands of Jupyter."""
    return "".join(line for line in cell["source"] if not line.startswith("%"))


def answers() -> list[str]:
    blocks = (re.search(r"<details>.*?```python\n(.*?)```", text_of(cell), re.DOTALL) for cell in CELLS)
    return [block[1] for block in blocks if block]


def run(text: str, names: dict[str, Any]) -> None:
    exec(compile(text, NOTEBOOK.name, "exec"), names)


def test_it_is_committed_without_outputs() -> None:
    for cell in CELLS:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert cell["metadata"] == {}
    assert len({cell["id"] for cell in CELLS}) == len(CELLS)


def test_each_equation_agrees_and_each_answer_is_graded_as_right() -> None:
    names: dict[str, Any] = {}
    equations = [cell for cell in CELLS if cell["cell_type"] == "code" and re.search(r"^def \w+\(p?", text_of(cell))]
    tour = [text_of(cell) for cell in equations if "rnnsearch.check" in text_of(cell)]
    run("import numpy as np\nimport rnnsearch", names)
    shown: list[str] = []
    names["print"] = lambda report: shown.append(str(report))
    for text in tour:
        run(text, names)
    assert shown[:7] == [
        *("gated_unit agrees", "encoder agrees", "initial_state agrees", "energies agrees", "weights agrees"),
        *("context agrees", "readout agrees\ndistribution agrees"),
    ]
    assert "if the padding is not masked" in shown[7]
    assert "torch.nn.GRU" in shown[8]
    assert "exchanged" in shown[8]
    assert shown[9:] == [f"{name}: still to be written" for name in ("decoder_step", "log_probability", "clip")]
    assert len(answers()) == 5
    for text in answers():
        run(text, names)
        (name,) = re.findall(r"^def (\w+)", text, re.MULTILINE)
        assert rnnsearch.check(names[name], seed=31).agrees, name


@pytest.mark.parametrize(
    "short", [pytest.param(True, marks=pytest.mark.slow), pytest.param(False, marks=pytest.mark.nightly)]
)
def test_it_runs(short: bool, capsys: pytest.CaptureFixture[str]) -> None:
    matplotlib.use("Agg")
    names: dict[str, Any] = {}
    code = [text_of(cell) for cell in CELLS if cell["cell_type"] == "code"]
    assert all(whole in "".join(code) for whole in SHORT)
    for text in code:
        for whole, part in SHORT.items() if short else ():
            text = text.replace(whole, part)
        run(text, names)
    assert float(re.findall(r"largest difference of a weight: (.*)", capsys.readouterr().out)[0]) < 1e-4
    assert names["UPDATES"] == (10 if short else 900)
    if not short:
        fixed, search = (names["scores"][name].all.bleu for name in ("RNNencdec", "RNNsearch"))
        assert search > fixed
