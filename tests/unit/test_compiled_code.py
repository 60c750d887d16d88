"""Compiled loops work where their code cannot be kept, and code that others can have written is not run."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rnnsearch.errors import RnnsearchWarning

numba = pytest.importorskip("numba")

from numba.core import caching  # noqa: E402

from rnnsearch import compiled_code  # noqa: E402

SOURCE = """
import numba
from rnnsearch.compiled_code import keep

def plain(x):
    return x + 1

f = keep(numba.njit(plain), plain)
"""


@pytest.fixture
def function(tmp_path: Path) -> Callable[[], Any]:
    """A new import of one source, as each start of a program makes it."""
    compiled_code._tell.cache_clear()
    place = tmp_path / "source"
    place.mkdir()
    path = place / "loops_of_a_test.py"
    path.write_text(SOURCE)

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("loops_of_a_test", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return load


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "source" / "__pycache__").glob("*.nb?"))


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the superuser, for whom there are no such places, sees it."""

    def refuse(self: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)


def test_code_is_kept_and_found(function: Callable[[], Any], tmp_path: Path) -> None:
    assert function()(1) == 2
    assert len(kept(tmp_path)) == 2
    again = function()
    assert again(1) == 2
    assert again.stats.cache_hits


def test_without_a_place_it_is_compiled_with_one_notice(
    function: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only(monkeypatch)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [function()(1), function()(1)] == [2, 2]
    assert [one.category for one in told] == [RnnsearchWarning]
    assert "NUMBA_CACHE_DIR" in str(told[0].message)
    assert "\n" not in str(told[0].message)
    assert not kept(tmp_path)


def test_what_lies_beside_the_source_is_read_where_nothing_can_be_written(
    function: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image may be built with it, by the superuser."""
    function()(1)
    read_only(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = function()
        assert found(1) == 2
    assert found.stats.cache_hits


@pytest.mark.parametrize("damage", ["cut", "text", "folder"])
def test_damaged_code_is_compiled_again(function: Callable[[], Any], tmp_path: Path, damage: str) -> None:
    function()(1)
    for path in kept(tmp_path):
        content = path.read_bytes()
        path.unlink()
        if damage == "folder":
            path.mkdir()
        else:
            path.write_bytes(content[:-20] if damage == "cut" else b"damaged")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RnnsearchWarning)
        assert function()(1) == 2


def test_code_that_others_may_have_written_is_not_run(
    function: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "cache"))
    function()(1)
    (folder,) = (tmp_path / "cache").iterdir()
    assert function()(1) == 2
    folder.chmod(0o777)
    monkeypatch.setattr("pickle.loads", lambda *_: pytest.fail("it was read"))
    with pytest.warns(RnnsearchWarning, match="alone"):
        assert function()(1) == 2


@pytest.mark.parametrize(
    ("modes", "safe"),
    [({"a/b": 0o755}, True), ({"a/b": 0o775}, True), ({"a/b": 0o777}, False), ({"a/b": 0o1777}, False),
     ({"a": 0o777}, False), ({"a": 0o1777}, True)],
)  # fmt: skip
def test_safe_places(tmp_path: Path, modes: dict[str, int], safe: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name, mode in modes.items():
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to("a/b")
    assert compiled_code.is_safe(tmp_path / "a" / "b", Path(__file__)) == safe
    assert compiled_code.is_safe(tmp_path / "link", Path(__file__)) == safe


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can make a folder of another owner")
@pytest.mark.parametrize("name", ["a", "a/b"])
def test_a_place_of_somebody_else_is_not_safe(tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    os.chown(tmp_path / name, 65534, 65534)
    assert not compiled_code.is_safe(tmp_path / "a" / "b", Path(__file__))
    (tmp_path / "source.py").touch()
    os.chown(tmp_path / "source.py", 65534, 65534)
    assert compiled_code.is_safe(tmp_path / "a" / "b", tmp_path / "source.py")
