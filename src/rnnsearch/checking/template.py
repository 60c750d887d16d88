"""The file that a student begins with."""

from __future__ import annotations

from rnnsearch.checking.equations import ARGUMENTS, EQUATIONS, WEIGHTS


def template(framework: str) -> str:
    """Return a file with an empty function for each equation, with the shapes of its arguments."""
    tensors = "tensors of PyTorch (float64)" if framework == "torch" else "NumPy arrays (float64)"
    lines = [
        '"""The model of Bahdanau, Cho and Bengio (2015), for `rnnsearch check`.', "",
        f"Arguments and results are {tensors}. B sentences are a minibatch, padded on the right. A function that raises",
        "NotImplementedError, or that is not there, is left out. A function may also be a class, such as a torch.nn.Module,",
        "that is created with p and called with the other arguments.", "",
        "The weights p:",
        *(f"    {name}: {text}" for name, text in WEIGHTS.items()), '"""', "",
        "import torch" if framework == "torch" else "import numpy as np", "",
    ]  # fmt: skip
    for equation in EQUATIONS:
        if equation.name == "gradients" and framework == "torch":
            lines += ["", "# gradients: PyTorch derives them from the loss."]
            continue
        lines += ["", f"def {equation.name}({', '.join(equation.arguments)}):", f'    """{equation.formula}', ""]
        lines += [f"    {name}: {ARGUMENTS[name]}" for name in equation.arguments if name != "p"]
        lines += [f"    Returns {equation.returns}", '    """', "    raise NotImplementedError", ""]
    return "\n".join(lines)
