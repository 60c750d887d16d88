"""The page that shows whether a model is good enough for a translator's work."""

from __future__ import annotations

import os

from rnnsearch.evaluation.segments import FINE, SHARE_FINE, SegmentReport
from rnnsearch.report.document import write_document


def write_segment_page(path: str | os.PathLike[str], title: str, introduction: str, report: SegmentReport) -> None:
    """Write the page to `path`, whole or not at all."""
    write_document(
        path,
        "segments.html.j2",
        title=title,
        introduction=f"{introduction}\n\n{_summary(report)}",
        report=report,
        fine=FINE,
        share=100 * SHARE_FINE,
    )


def _summary(report: SegmentReport) -> str:
    """Return a summary of the numbers in a few sentences."""
    own, *others = report.systems
    shares = {name: f"{quality.unedited:.0f}%" for name, quality in report.all.quality.items()}
    told = (
        f"Of {report.all.segments:,} segments, {shares[own]} need no edit: the translation is the reference, word by word."
    )
    if others:
        told += f" With the {' and the '.join(f'{name}, it is {shares[name]}' for name in others)}."
    if report.threshold is None:
        return f"{told} There is no confidence from which on {100 * SHARE_FINE:.0f}% of the segments are fine."
    of_all = 100 * report.above / report.all.segments
    return (
        f"{told} From a confidence of {report.threshold:.2f} on, {100 * SHARE_FINE:.0f}% of the segments are fine: "
        f"these are {of_all:.0f}% of them."
    )
