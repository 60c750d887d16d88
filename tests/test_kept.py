"""What is kept is made once, by its content."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import kept as module
from kept import kept

made: list[tuple[object, ...]] = []


def make_something(folder: Path, *arguments: object) -> None:
    made.append(arguments)
    (folder / "file").write_text(repr(arguments))
    if arguments == ("broken",):
        raise ArithmeticError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made.clear()
    monkeypatch.setattr(module, "FOLDER", tmp_path / "kept")
    return tmp_path / "kept"


def test_once_for_each_content(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: kept(make_something, 1), range(4)))
    assert len(found) == 1
    assert (found.pop() / "file").read_text() == "(1,)"
    assert kept(make_something, 2) != kept(make_something, 1)
    assert made == [(1,), (2,)]
    monkeypatch.setattr(module, "_code", lambda: "changed")
    kept(make_something, 1)
    assert made == [(1,), (2,), (1,)]


def test_what_was_not_finished_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            kept(make_something, "broken")
    assert made == [("broken",)] * 2


def test_what_nobody_asks_for_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = kept(make_something, "old"), kept(make_something, "new")
    monkeypatch.setattr(module, "DAYS", 1e9)
    kept(make_something, "third")
    assert old.exists()
    assert new.exists()
    monkeypatch.setattr(module, "DAYS", -1)
    last = kept(make_something, "last")
    assert not old.exists()
    assert last.exists()
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [last.name]
