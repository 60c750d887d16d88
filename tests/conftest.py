"""What all tests share: no deadlines, the real text where there is some, and models that are trained once."""

from __future__ import annotations

import os

# Models of sixteen units gain nothing from a second thread, and the threads of all processes of tests, and of the programs
# that these start, would mostly wait for each other. The variable is read when PyTorch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The command line sets this one; so it is the same before and after a test has run a command in this process.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kept import kept
from toy import ORDERS, make_trained

# How long an example takes says nothing about whether it is right. `make test` uses the quick profile.
for name, examples in (("thorough", 50), ("quick", 5)):
    settings.register_profile(name, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples)
settings.load_profile("thorough")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under the quick profile, a property that sets its own number of examples runs with a third of them."""
    if settings.default.max_examples == settings.get_profile("thorough").max_examples:
        return
    properties = {item.function for item in items if isinstance(item, pytest.Function)}
    for function in properties:
        own = getattr(function, "_hypothesis_internal_use_settings", settings.default)
        if own.max_examples != settings.default.max_examples:
            function._hypothesis_internal_use_settings = settings(own, max_examples=max(2, own.max_examples // 3))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real parallel text: `$RNNSEARCH_DATA`, or `../shared/data` beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RNNSEARCH_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real text to test on: {folder} is not there; RNNSEARCH_DATA names another folder")
    return folder


@pytest.fixture(scope="session")
def trained() -> Callable[..., object]:
    """`trained(cell, alignment, order)`: a translator of the toy language."""
    import rnnsearch
    from rnnsearch.translation import Translator

    @cache
    def translator(cell: str = "gated", alignment: str = "mlp", order: str = ORDERS[0]) -> Translator:
        return rnnsearch.load(kept(make_trained, cell, alignment, order))

    return translator


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`model_folder("mlp")` or `("none")`: a trained model's folder. Not to be written to."""

    @cache
    def folder(alignment: str = "mlp") -> Path:
        path = tmp_path_factory.mktemp("model") / alignment
        return Path(shutil.copytree(kept(make_trained, "gated", alignment, ORDERS[0]), path))

    return folder
