"""The program that runs a student's file: `python -P student.py FILE INPUTS.npz OUTPUTS NAME=ARGUMENT,…`.

It is a process of its own, which imports nothing of rnnsearch. For each function NAME, it writes OUTPUTS/NAME.npz with the
results, or OUTPUTS/NAME.json with what went wrong. It writes OUTPUTS/imported when the file has been imported.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np


def main(file: str, inputs: str, outputs: str, *functions: str) -> None:
    """Run the functions of the file, one after the other."""
    os.dup2(2, 1)  # what the file prints goes to standard error
    path, out = Path(file), Path(outputs)
    sys.path.append(str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None  # noqa: PT018
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    except BaseException as error:
        (out / "imported.json").write_text(json.dumps(_described(error, path)), encoding="utf-8")
        return
    (out / "imported").touch()
    for function in functions:
        name, _, arguments = function.partition("=")
        try:
            results = results_of(module, name, arguments.split(","), inputs, sys.modules.get("torch"))
        except BaseException as error:
            (out / f"{name}.json").write_text(json.dumps(_described(error, path)), encoding="utf-8")
        else:
            with (out / f"{name}.part").open("wb") as part:
                np.savez(part, **results)
            (out / f"{name}.part").rename(out / f"{name}.npz")


class Absent(Exception):
    """The file lacks a function."""


def results_of(module: Any, name: str, arguments: list[str], inputs: str, torch: Any = None) -> dict[str, Any]:
    """Return the results of one function by their names: '' for a single one, numbers for several, or those of a dict.

    Arguments are arrays, or tensors if the module `torch` is given. The function is called twice; what it prints the second
    time is dropped. Raises ValueError if the second results are others.
    """
    results = _results_of(module, name, arguments, inputs, torch)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        again = _results_of(module, name, arguments, inputs, torch)
    if results.keys() != again.keys() or not all(_near(results[key], again[key]) for key in results):
        raise ValueError(
            "two calls with the same arguments give different results: is there dropout (switch it off), "
            "or a weight that is drawn at random instead of taken from p, or something kept from the call before?"
        )
    return results


def _near(one: Any, other: Any) -> bool:
    """Whether two arrays differ by no more than the rounding of another order of summation."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-2 if one.itemsize < 4 else 1e-5, equal_nan=True)


def _results_of(module: Any, name: str, arguments: list[str], inputs: str, torch: Any) -> dict[str, Any]:
    """Return the results of one call."""
    function: Any = getattr(module, name, None)
    derived = function is None and name == "gradients" and torch is not None and hasattr(module, "loss")
    if derived:
        function = module.loss
    if function is None:
        raise Absent
    given: dict[str, Any] = {}
    for key, array in np.load(inputs).items():  # read again for each function, which may change its arguments in place
        value: Any = array if torch is None else torch.from_numpy(array)
        if key == "limit":
            value = float(array)
        group, _, inner = key.partition("/")
        if inner:
            given.setdefault(group, {})[inner] = value
        else:
            given[key] = value
    if derived:
        for weight in given["p"].values():
            weight.requires_grad_()
    if inspect.isclass(function):  # a module that keeps its weights
        create: Any = function
        function, arguments = create(given["p"]), [argument for argument in arguments if argument != "p"]
    result = function(*(given[argument] for argument in arguments))
    if derived:
        if getattr(result, "grad_fn", None) is None:
            raise ValueError("the loss is not connected to the weights: detach(), item() and no_grad() cut it off")
        result.sum().backward()
        result = {key: torch.zeros_like(w) if w.grad is None else w.grad for key, w in given["p"].items()}
    if isinstance(result, dict):
        return {str(key): _array(value) for key, value in result.items()}
    if isinstance(result, list):
        result = [_array(one) for one in result]
        result = tuple(result) if len({one.shape for one in result}) > 1 else np.asarray(result)
    if isinstance(result, tuple):
        return {str(number): _array(value) for number, value in enumerate(result)}
    return {"": _array(result)}


def _array(value: Any) -> Any:
    if value is None:
        raise ValueError("the result is None: is a `return` missing?")
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.asarray([_array(one) for one in value] if isinstance(value, list) else value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"the result is no array of numbers, but {type(value).__name__} of type {array.dtype}")
    return array


def _described(error: BaseException, file: Path) -> dict[str, Any]:
    """Return the message of an exception, the lines of the student's own files that led to it, and a package it lacked."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent == file.parent]
    lines = [f"{Path(frame.filename).name}:{frame.lineno}: {frame.line}" for frame in own]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines.append(f"{file.name}:{error.lineno}: {(error.text or '').strip()}")
    absent = isinstance(error, (Absent, NotImplementedError))
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return {"absent": absent, "error": f"{type(error).__name__}: {error}", "lines": lines, "package": package}


if __name__ == "__main__":
    main(*sys.argv[1:])
