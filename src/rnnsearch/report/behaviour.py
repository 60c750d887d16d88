"""The page of a behaviour suite: counts by capability, and the lines that failed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rnnsearch.evaluation.behaviour import Tried, summary
from rnnsearch.report.document import write_document


def write_behaviour_page(path: str | os.PathLike[str], title: str, introduction: str, tried: Sequence[Tried]) -> None:
    """Write the page to `path`, whole or not at all."""
    write_document(
        path,
        "behaviour.html.j2",
        title=title,
        introduction=introduction,
        capabilities=[
            (one, [each for each in tried if each.wrong and each.capability == one.name]) for one in summary(tried)
        ],
    )
