"""How large is the page of `rnnsearch explain`, and how long does a browser load it?

    python benchmarks speed/step_page [--model MODEL] [--rounds 5]

The installed translator, or another, writes the page of a sentence. Chromium (`chromium` on the PATH, driven by Playwright)
opens the file, anew in each round, in a window as wide as that of a computer and in one of a telephone. The record has the
median of the seconds from the beginning of the navigation to the end of the `load` event, after which the page is drawn.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.lib.command import Parser, run
from benchmarks.lib.record import machine, sized, write_speed

SENTENCE = "The little girl is reading."
WIDTHS = {"computer": 1280, "telephone": 360}
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> None:
    """Write the page, open it, record."""
    parser = Parser(__doc__, "model?", rounds=sized(5, 1))
    arguments = parser.parse_args()
    named = () if arguments.model is None else ("--model", arguments.model)
    with TemporaryDirectory() as folder:
        page = Path(folder) / "steps.html"
        began = perf_counter()
        run("explain", SENTENCE, *named, "--page", page)
        written = perf_counter() - began
        loaded = {kind: load_seconds(page, width, arguments.rounds) for kind, width in WIDTHS.items()}
        write_speed(
            "speed/step_page",
            machine=machine(),
            sentence=SENTENCE,
            megabytes=round(page.stat().st_size / 1e6, 2),
            written_seconds=round(written, 2),
            loaded_seconds=loaded,
        )
    print(f"{SENTENCE} written in {written:.1f} s; loaded in {loaded}")


def load_seconds(page: Path, width: int, rounds: int) -> float:
    """The median of the seconds in which a new window of this width loads a page."""
    from playwright.sync_api import sync_playwright

    seconds: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(rounds + 1):  # the first is slow, because the browser has just started
            window = browser.new_page(viewport={"width": width, "height": 800})
            window.goto(page.as_uri(), wait_until="load")
            window.wait_for_function(f"{LOADED} > 0")
            seconds.append(window.evaluate(LOADED) / 1000)
            window.close()
        browser.close()
    median: float = statistics.median(seconds[1:])
    return round(median, 3)


if __name__ == "__main__":
    main()
