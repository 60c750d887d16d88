"""A running server takes the newest version of a model."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import Memory
from rnnsearch.model_versions import RECORD, Versions
from rnnsearch.serve import newest as newest_module
from rnnsearch.serve.newest import keep_newest, newest
from rnnsearch.serve.search_processes import SearchProcesses, load_each
from rnnsearch.translation import load
from toy import toy_pairs

LINES = [source for source, _ in toy_pairs(30, seed=5)]


def install(model: Path, memory: Path, other: Path) -> Path:
    """Make `other` the version of a model in the folder of a memory."""
    versions = Versions(memory, "en-fr")
    work = memory / "models" / "en-fr" / "work"
    shutil.copytree(other, work)
    return versions.install(work, {"base": str(model.resolve())}).resolve()


def test_the_version_of_a_model_is_that_of_the_memory(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    model, other = model_folder("mlp"), model_folder("none")
    link = tmp_path / "link"
    link.symlink_to(model)
    assert newest([link], None) == newest([link], tmp_path) == [model.resolve()]
    Memory(tmp_path)
    version = install(model, tmp_path, other)
    assert newest([link, model], tmp_path) == [version, version]
    assert newest([other, tmp_path / "en-fr"], tmp_path) == [other.resolve(), version]
    (tmp_path / "en-fr" / RECORD).write_text(json.dumps({"base": "/another/model"}))
    assert newest([model], tmp_path) == [model.resolve()]
    with pytest.raises(RnnsearchError, match="no model here"):
        newest([tmp_path / "none"], tmp_path)


async def translated(search: SearchProcesses, lines: Sequence[str]) -> list[str]:
    return [best.text async for best, *_ in search.translations(0, lines, 1)]


def test_lines_under_way_stay_with_the_version_before(
    model_folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(newest_module, "EVERY", 0.01)
    folders = model_folder("mlp"), model_folder("none")
    expected = [[one.text for one in load(folder).translate(LINES)] for folder in folders]
    assert expected[0] != expected[1]
    link = tmp_path / "link"
    link.symlink_to(folders[0])

    async def use(folder: Path) -> None:
        link.unlink()
        link.symlink_to(folder)
        for _ in range(3000):
            if str(folder) in caplog.text or "there is no" in caplog.text:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(caplog.text)

    async def run() -> None:
        search.attach()
        keeping = asyncio.create_task(keep_newest(search, newest([link], None), partial(newest, [link], None)))
        try:
            under_way = search.translations(0, LINES, 1)
            first = await anext(under_way)
            taking = asyncio.create_task(use(folders[1]))
            rest = [best.text async for best, *_ in under_way]
            assert [first[0].text, *rest] == expected[0]
            await taking
            assert await translated(search, LINES) == expected[1]
            caplog.clear()
            (tmp_path / "empty").mkdir()
            await use(tmp_path / "empty")
            assert "the version before stays in use" in caplog.text
            assert await translated(search, LINES) == expected[1]
            caplog.clear()
            await use(folders[0])
            assert await translated(search, LINES) == expected[0]
            search.models[0] = replace(search.models[0], target_language="de")
            with pytest.raises(RnnsearchError, match="it translates en into fr"):
                await search.renew(0, folders[1])
            assert await translated(search, LINES) == expected[0]
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping
            search.detach()

    caplog.set_level("INFO")
    with SearchProcesses(partial(load_each, [link]), {"batch_sentences": 4}, None, 2) as search:
        asyncio.run(run())
