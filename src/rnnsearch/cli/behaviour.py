"""`rnnsearch evaluate --behaviour`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def try_behaviour(model: Sequence[Path], json: Path | None, page: Path | None, settings: Mapping[str, Any]) -> None:
    """Translate the behaviour suite of the model's languages; print what share of each capability is right.

    The counts and the lines that failed are written to `json`, and a page of them to `page`.
    """
    from rich.table import Table

    from rnnsearch.atomic import write_json
    from rnnsearch.cli.bar import bar
    from rnnsearch.evaluation.behaviour import read_suite, summary
    from rnnsearch.evaluation.behaviour.suite import to_dict
    from rnnsearch.terminal import Terminal
    from rnnsearch.translation import load

    translator = load(*model)
    data = translator.system.config.data
    suite = read_suite(data.source_language, data.target_language)
    translations: list[str] = []
    with bar("translating", total=len(suite.lines)) as advance:
        for first in range(0, len(suite.lines), 64):
            lines = [line.text for line in suite.lines[first : first + 64]]
            translations += [one.text for one in translator.translate(lines, **settings)]
            advance(len(lines))
    tried = suite.tried(translations)
    counts = to_dict(tried)
    names = " ".join(map(str, model))
    if json is not None:
        write_json(json, {"model": names, "pair": "-".join(suite.languages), "settings": dict(settings), **counts})
    if page is not None:
        from rnnsearch.report.behaviour import write_behaviour_page

        share = f"{counts['passed']:,} of {counts['of']:,} lines are right."
        introduction = f"{translator.kind}, {data.source_name} → {data.target_name}: {names}. {share}"
        write_behaviour_page(page, "Behaviour", introduction, tried)
    table = Table("capability", "right", "lines", "%")
    for one in summary(tried):
        table.add_row(one.name, str(one.passed), str(one.of), f"{100 * one.passed / one.of:.0f}")
    table.add_section()
    table.add_row("all", str(counts["passed"]), str(counts["of"]), f"{100 * counts['passed'] / counts['of']:.1f}")
    Terminal().print(table)
