"""Translating with an installed model imports neither PyTorch nor anything else that only training needs."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from rnnsearch.cli import main
sys.argv = ["rnnsearch", "translate", "--model", "en-fr", "--set", "search.precision={precision}"]
try:
    main()
except SystemExit as end:
    assert not end.code
heavy = {{"torch", "numba", "pyarrow", "matplotlib", "tensorboard", "sacrebleu", "triton"}}
print(sorted(heavy & set(sys.modules)))
"""


def translated(precision: str) -> list[str]:
    command = [sys.executable, "-c", CODE.format(precision=precision)]
    done = subprocess.run(command, input="The house is small.\n", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_translation_imports_nothing_of_training() -> None:
    for precision in ("fp32", "int8"):
        assert translated(precision) == ["La maison est petite.", "[]"]
