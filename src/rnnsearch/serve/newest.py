"""The choice of the newest version of each model, also of versions that `rnnsearch adapt` makes while the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.model_files import read_model_config
from rnnsearch.model_versions import Versions
from rnnsearch.serve.continuous import SearchFailed
from rnnsearch.serve.search_processes import SearchProcesses

log = logging.getLogger("rnnsearch.serve")

EVERY = 1.0
"""The time in seconds between two checks of the folders."""


def newest(models: Sequence[Path], memory: Path | None) -> list[Path]:
    """Return for each model the folder of the version that is in use now.

    A model may be a link to it. If `rnnsearch adapt` has made a version of the model in the folder of the memory, it is this
    version. Raises RnnsearchError where there is no model.
    """
    if memory is None:
        return [model.resolve() for model in models]
    folders = []
    for model in models:
        data = read_model_config(model).data
        folders.append(Versions(memory, f"{data.source_language}-{data.target_language}").version_of(model))
    return folders


async def keep_newest(search: SearchProcesses, served: Sequence[Path], find: Callable[[], Sequence[Path]]) -> None:
    """Load models, without end, as soon as `find` returns other folders than those in `served`.

    A model that cannot be loaded is told in the log, and the one before stays in use.
    """
    served = list(served)
    told = ""
    while True:
        await asyncio.sleep(EVERY)
        try:
            found = await asyncio.to_thread(find)
        except (RnnsearchError, OSError) as error:
            if str(error) != told:
                log.error("%s; the models stay as they are", error)
            told = str(error)
            continue
        told = ""
        for number, folder in enumerate(found):
            if folder == served[number]:
                continue
            served[number] = folder  # what cannot be loaded is not tried again
            try:
                await search.renew(number, folder)
                log.info("from now on %s", search.models[number].description)
            except (RnnsearchError, SearchFailed) as error:
                log.error("%s; the version before stays in use", error)
