"""`rnnsearch check`: the process that runs a student's file, the findings about it, and the command."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

import rnnsearch
from rnnsearch.checking import Finding, Report, template
from rnnsearch.checking.equations import ARGUMENTS, EQUATIONS, draw_case
from rnnsearch.cli.commands import application
from rnnsearch.extras import EXTRAS

HERE = Path(__file__).parent
CONTEXT = "def context(alpha, h):\n    return (alpha[..., None] * h).sum(1)\n"


def student(folder: Path, framework: str, *mistakes: str) -> Path:
    text = (HERE / f"{framework}_student.py").read_text(encoding="utf-8")
    file = folder / "my_model.py"
    file.write_text(text.replace("MISTAKES = set()", f"MISTAKES = {set(mistakes) or 'set()'}"), encoding="utf-8")
    return file


def outcomes(report: Report) -> dict[str, str]:
    return {finding.equation: finding.outcome for finding in report.findings}


def written(folder: Path, text: str) -> Path:
    (folder / "my_model.py").write_text(text, encoding="utf-8")
    return folder / "my_model.py"


@pytest.mark.parametrize("framework", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
def test_a_model_without_mistakes_agrees(tmp_path: Path, framework: str) -> None:
    report = rnnsearch.check(student(tmp_path, framework), seed=11)
    assert report.agrees
    there = {equation.name for equation in EQUATIONS} - ({"gradients"} if framework == "numpy" else set())
    assert {name for name, outcome in outcomes(report).items() if outcome == "agrees"} == there


@pytest.mark.parametrize("framework", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
def test_mistakes_of_several_equations_are_named_in_each(tmp_path: Path, framework: str) -> None:
    """Three mistakes explain the whole sentence, since two of them are known from the equations before it."""
    mistakes = {"reset-after-product", "energy-relu", "maxout-halves"}
    report = rnnsearch.check(student(tmp_path, framework, *mistakes))
    found = {finding.equation: finding.deviations for finding in report.findings}
    assert report.first is not None
    assert report.first.equation == "gated_unit"
    assert found["gated_unit"] == [{"reset-after-product"}]
    assert found["energies"] == [{"energy-relu"}]
    assert found["readout"] == [{"maxout-halves"}]
    for name in ("decoder_step", "log_probability", "loss", *(["gradients"] if framework == "torch" else [])):
        assert found[name] == [mistakes], name
    assert found["context"] == []


@pytest.mark.slow
def test_a_mistake_of_the_encoder_alone_is_named(tmp_path: Path) -> None:
    text = student(tmp_path, "torch").read_text(encoding="utf-8")
    changed = text.replace('wrong("reset-after-product")', 'side != "dec"')
    report = rnnsearch.check(written(tmp_path, changed))
    found = {finding.equation: finding for finding in report.findings}
    assert found["gated_unit"].outcome == "agrees"
    assert found["encoder"].deviations == [{"reset-after-product"}]
    assert found["log_probability"].deviations == [{"reset-after-product@encoder"}]
    assert "torch.nn.GRU" in found["log_probability"].explanation


@pytest.mark.slow
def test_a_detached_tensor_is_named(tmp_path: Path) -> None:
    text = student(tmp_path, "torch").read_text(encoding="utf-8")
    text = text.replace('v.matmul(p["v_a"])', 'v.matmul(p["v_a"].detach())')
    report = rnnsearch.check(written(tmp_path, text))
    (finding,) = [finding for finding in report.findings if finding.outcome != "agrees"]
    assert finding.equation == "gradients"
    assert "v_a" in finding.where
    assert finding.advice == "no gradient reaches v_a: is a tensor detached?"


def test_gradients_written_by_hand_are_compared(tmp_path: Path) -> None:
    definition = "def gradients(p, x, mask, y, y_mask):\n    return "
    report = rnnsearch.check(written(tmp_path, definition + "{k: 0 * p[k] for k in p}\n"))
    assert outcomes(report)["gradients"] == "differs"
    report = rnnsearch.check(written(tmp_path, definition + "{'W_a': p['W_a']}\n"))
    (finding,) = [finding for finding in report.findings if finding.outcome == "differs"]
    assert "has no C_dec" in finding.where


def test_the_message_names_the_place_and_the_values(tmp_path: Path) -> None:
    text = "def context(alpha, h):\n    c = (alpha[..., None] * h).sum(1)\n    c[1, 4] += 0.5\n    return c\n"
    (finding,) = [f for f in rnnsearch.check(written(tmp_path, text)).findings if f.equation == "context"]
    case = draw_case(1)
    right = (case["alpha"][1] @ case["h"][1])[4]
    assert finding.where == f"begins at sentence 1, unit 4: {right + 0.5:.6g} instead of {right:.6g}"
    assert finding.verdict == "differs by 0.5"
    assert finding.explanation == ""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("    return None", "the result is None: is a `return` missing?"),
        ("    return alpha", "has the shape (3, 8) instead of (3, 12); expected: (B, 2n)"),
        ("    return h.sum(1) * float('nan')", "has nan at the indices [0, 0]"),
        ("    return alpha, h", "returns 2 results; expected: (B, 2n)"),
        ("    return ['a']", "the result is no array of numbers"),
        ("    return alpha @ h[0, 0]", "ValueError"),
        ("    raise SystemExit(0)", "SystemExit: 0"),
        ("    import os; os._exit(7)", "the process ended with status 7, in this function"),
    ],
)
def test_a_function_that_fails_does_not_stop_the_others(tmp_path: Path, body: str, told: str) -> None:
    text = f"import numpy as np\n\ndef context(alpha, h):\n{body}\n\ndef clip(g, limit):\n    return g\n"
    findings = {finding.equation: finding for finding in rnnsearch.check(written(tmp_path, text)).findings}
    assert told in findings["context"].where
    assert findings["clip"].outcome == "differs"
    if told == "ValueError":
        assert findings["context"].lines == ["my_model.py:4: return alpha @ h[0, 0]"]


def test_a_function_that_takes_too_long_does_not_stop_the_others(tmp_path: Path) -> None:
    text = f"def energies(p, s, h):\n    while True:\n        pass\n\n{CONTEXT}"
    report = rnnsearch.check(written(tmp_path, text), timeout=3)
    assert outcomes(report)["context"] == "agrees"
    (finding,) = [finding for finding in report.findings if finding.outcome == "fails"]
    assert finding.where == "the process took more than 3 seconds, in this function"


def test_a_function_cannot_change_the_inputs_of_others(tmp_path: Path) -> None:
    text = f"def energies(p, s, h):\n    h[:] = 0\n    return s\n\n{CONTEXT}"
    assert outcomes(rnnsearch.check(written(tmp_path, text)))["context"] == "agrees"


@pytest.mark.slow
def test_classes_get_the_weights_first(tmp_path: Path) -> None:
    text = (
        "import torch\n\nclass distribution(torch.nn.Module):\n    def __init__(self, p):\n        super().__init__()\n"
        "        self.p = p\n    def forward(self, t):\n"
        "        return (t @ self.p['W_o'].T + self.p['b_w']).softmax(1)\n"
    )
    assert rnnsearch.check(written(tmp_path, text)).agrees


def test_results_in_float32_are_compared_with_its_precision(tmp_path: Path) -> None:
    text = "import numpy as np\n" + CONTEXT.replace(".sum(1)", ".sum(1).astype(np.float32)")
    assert rnnsearch.check(written(tmp_path, text)).agrees
    (finding,) = [
        finding
        for finding in rnnsearch.check(written(tmp_path, text.replace("float32)", "float32).astype(float)"))).findings
        if finding.outcome == "differs"
    ]
    assert finding.advice == "the difference is that of rounding: compute in float64 throughout"


def test_the_seed_changes_weights_and_inputs() -> None:
    one, same, other = draw_case(1), draw_case(1), draw_case(2)
    assert all((one[key] == same[key]).all() for key in one)
    assert not np.allclose(one["p/W_a"], other["p/W_a"])
    assert not np.allclose(one["h"], other["h"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import nothing_of_this_name\n", "my_model.py:1: import nothing_of_this_name: ModuleNotFoundError"),
        ("x = 1\ndef f(:\n", "my_model.py:2: def f(:: SyntaxError"),
        ("x = 1\n", "has none of the functions gated_unit, encoder"),
        ("import os\nos._exit(3)\n", "the process ended with status 3 while the file was imported"),
    ],
)
def test_an_unusable_file_ends_with_status_2(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(rnnsearch.RnnsearchError) as error:
        rnnsearch.check(written(tmp_path, text))
    assert told in str(error.value)


def test_a_package_of_an_extra_that_is_missing_is_named_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRAS, "nothing_of_this_name", "train")
    (tmp_path / "my_model.py").write_text("import nothing_of_this_name.nn\n")
    told = r"needs the package nothing_of_this_name, which is not installed: pip install 'rnnsearch\[train\]'"
    with pytest.raises(rnnsearch.RnnsearchError, match=told):
        rnnsearch.check(tmp_path / "my_model.py")


def test_the_command(tmp_path: Path) -> None:
    junit = tmp_path / "result.xml"
    file = written(tmp_path, f"print('noise')\n\n{CONTEXT}")
    result = CliRunner().invoke(application(), ["check", str(file), "--json", "--junit", str(junit)])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["agrees"] is True
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("13", "0", "12")
    file.write_text(CONTEXT.replace("(alpha[..., None] * h).sum(1)", "h.mean(1)"), encoding="utf-8")
    result = CliRunner().invoke(application(), ["check", str(file), "--junit", str(junit)])
    assert result.exit_code == 1
    assert re.search(r"│ context +│ 3\.1 +│ differs by ", result.stdout)
    assert "your output equals the paper's if the context is the mean of all annotations" in result.stdout
    failure = ElementTree.parse(junit).getroot().find("testcase[@name='context']/failure")
    assert failure is not None
    assert "mean of all annotations" in (failure.text or "")


@pytest.mark.parametrize("framework", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
def test_the_template_runs_and_says_that_nothing_is_there(tmp_path: Path, framework: str) -> None:
    result = CliRunner().invoke(application(), ["check", "--template", framework])
    file = written(tmp_path, result.stdout)
    functions = {node.name: node for node in ast.parse(template(framework)).body if isinstance(node, ast.FunctionDef)}
    for name, function in functions.items():
        for argument in function.args.args:
            assert argument.arg in ARGUMENTS, (name, argument.arg)
    result = CliRunner().invoke(application(), ["check", str(file)])
    assert result.exit_code == 1
    assert result.stdout.count("not there") == len(EQUATIONS)


def test_a_check_of_numpy_imports_no_pytorch(tmp_path: Path) -> None:
    file = written(tmp_path, CONTEXT)
    code = f"import sys, rnnsearch; assert rnnsearch.check({str(file)!r}).agrees; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_of_a_notebook() -> None:
    def context(alpha: np.ndarray, h: np.ndarray) -> np.ndarray:
        return np.einsum("bj,bjc->bc", alpha, h)

    def energies(p: dict[str, np.ndarray], s: np.ndarray, h: np.ndarray) -> np.ndarray:
        return np.maximum(s[:, None] @ p["W_a"].T + h @ p["U_a"].T, 0) @ p["v_a"]

    def weights(e: np.ndarray, mask: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    assert rnnsearch.check(context).agrees
    assert str(rnnsearch.check(context)) == "context agrees"
    report = rnnsearch.check([energies, weights, context], seed=5)
    assert {name: outcome for name, outcome in outcomes(report).items() if outcome != "not there"} == {
        "energies": "differs",
        "context": "agrees",
    }
    assert "if relu stands for tanh in the energies" in str(report)
    assert str(rnnsearch.check(weights)) == "weights: still to be written"


def test_functions_that_cannot_be_checked() -> None:
    def attention() -> None: ...

    def context(alpha: np.ndarray, h: np.ndarray) -> np.ndarray:
        raise ValueError("mine")

    with pytest.raises(rnnsearch.RnnsearchError, match="attention is the name of no equation; the names are gated_unit"):
        rnnsearch.check(attention)
    with pytest.raises(ValueError, match="mine"):
        rnnsearch.check(context)


def of(report: Report, name: str) -> Finding:
    (finding,) = [finding for finding in report.findings if finding.equation == name]
    return finding


def test_an_equation_that_builds_on_another_is_told_so(tmp_path: Path) -> None:
    """The energies are wrong in a way that no deviation describes, so the search in what uses them is left out."""
    text = (HERE / "numpy_student.py").read_text(encoding="utf-8")
    report = rnnsearch.check(written(tmp_path, text.replace('q, k = p["W_a"] @ s[b]', 'q, k = p["W_a"] @ -s[b]')))
    assert of(report, "energies").explanation == ""
    assert of(report, "decoder_step").explanation == "it builds on energies: mend that first"
    assert of(report, "log_probability").explanation == "it builds on decoder_step: mend that first"
    assert of(report, "loss").explanation == "it builds on log_probability: mend that first"


def test_what_an_encoder_annotates_at_padding_hides_no_mistake(tmp_path: Path) -> None:
    """Annotations of padding are arbitrary, and matter together with a mistake that reads them."""
    text = student(tmp_path, "numpy", "mask-after-softmax").read_text(encoding="utf-8")
    assert text.count("    return np.hstack([back, there]") == 1
    text = text.replace("    return np.hstack([back", "    there[length:] = there[length - 1]\n    return np.hstack([back")
    report = rnnsearch.check(written(tmp_path, text))
    assert of(report, "encoder").outcome == "agrees"
    assert of(report, "log_probability").deviations == [{"mask-after-softmax"}]
    assert of(report, "loss").deviations == [{"mask-after-softmax"}]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (".sum(1).T", "only the order of the axes is another one, or there are axes of length 1, and the numbers agree"),
        (".sum(1, keepdims=True)", "there are axes of length 1, and the numbers agree"),
        (".sum(1)[::-1].T", "only the order of the axes is another one, or there are axes of length 1"),
    ],
)
def test_axes_in_another_order_are_told(tmp_path: Path, body: str, told: str) -> None:
    finding = of(rnnsearch.check(written(tmp_path, CONTEXT.replace(".sum(1)", body))), "context")
    assert "instead of (3, 12); expected: (B, 2n)" in finding.where
    assert finding.explanation.endswith(told)


def test_a_mistake_at_padding_is_told(tmp_path: Path) -> None:
    text = "import numpy as np\n\ndef initial_state(p, h, mask):\n    return np.tanh(h[:, -1, :6] @ p['W_s'].T + p['b_s'])\n"
    assert of(rnnsearch.check(written(tmp_path, text)), "initial_state").explanation == (
        "in the sentence without padding, your output equals the paper's if s_0 is computed from the last forward state, "
        "h→_Tx: is the padding read, too?"
    )


def test_a_mask_that_leaves_nothing_is_told(tmp_path: Path) -> None:
    text = (
        "import numpy as np\n\ndef weights(e, mask):\n    e = np.exp(np.where(mask, -np.inf, e))\n"
        "    return e / e.sum(1, keepdims=True)\n"
    )
    where = of(rnnsearch.check(written(tmp_path, text)), "weights").where
    assert where == "has nan at the indices [1, 0]: are all words masked? The mask is true at words, and false at padding"


def test_chance_is_told(tmp_path: Path) -> None:
    text = "import numpy as np\n\n" + CONTEXT.replace(".sum(1)", ".sum(1) * (np.random.random(12) < 0.8)")
    finding = of(rnnsearch.check(written(tmp_path, text)), "context")
    assert finding.outcome == "fails"
    assert "two calls with the same arguments give different results: is there dropout" in finding.where


def test_a_function_is_called_twice_and_prints_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = CONTEXT.replace("    return", "    print('here')\n    return")
    assert rnnsearch.check(written(tmp_path, text)).agrees
    assert capfd.readouterr().err.count("here") == 1


def test_lists_are_taken_as_arrays_or_as_several_results(tmp_path: Path) -> None:
    text = student(tmp_path, "numpy").read_text(encoding="utf-8")
    for result in ("step(p, s, c_previous, previous, word, h, mask)[:2]", 'np.einsum("bj,bjk->bk", alpha, h)'):
        assert text.count(f"    return {result}\n") == 1
        text = text.replace(f"    return {result}\n", f"    return [*{result}]\n")
    report = rnnsearch.check(written(tmp_path, text))
    assert of(report, "decoder_step").outcome == "agrees"
    assert of(report, "context").outcome == "agrees"
    ragged = rnnsearch.check(written(tmp_path, "def context(alpha, h):\n    return [[1.0], [1.0, 2.0]]\n"))
    assert of(ragged, "context").where == "returns 2 results; expected: (B, 2n)"


def test_rounding_in_a_part_is_not_taken_for_a_mistake_of_the_whole(tmp_path: Path) -> None:
    text = (HERE / "numpy_student.py").read_text(encoding="utf-8")
    coarse = text.replace('return np.log(q) if wrong("distribution-in-logarithms") else q', "return q.astype(np.float16)")
    assert coarse != text
    report = rnnsearch.check(written(tmp_path, coarse))
    assert of(report, "distribution").outcome == "agrees"
    assert of(report, "log_probability").explanation == "the difference is that of rounding: compute in float64 throughout"
