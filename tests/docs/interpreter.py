"""A Python for one page's snippets: reads a block a line of JSON, runs it, and answers with what went wrong, or nothing.

Presets are tiny in it. Its argument is TINY, as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback

from rnnsearch.presets import PRESETS


def make_short(tiny: dict[str, dict[str, int]]) -> None:
    """Have trainings be short, whatever a snippet asks for."""
    for name, preset in PRESETS.items():
        PRESETS[name] = {section: {**preset.get(section, {}), **tiny.get(section, {})} for section in {**preset, **tiny}}


def main() -> None:
    """Run blocks until there are no more."""
    make_short(json.loads(sys.argv[1]))
    answers, sys.stdout = sys.stdout, sys.stderr
    names: dict[str, object] = {"__name__": "__main__"}
    for request in sys.stdin:
        place, line, text = json.loads(request)
        error = ""
        try:
            # The line numbers of a traceback are those of the page.
            exec(compile("\n" * line + text, place, "exec"), names)
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps(error), file=answers, flush=True)
