"""A browser, for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="no browser is driven: playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no browser is driven: there is no `chromium` on the PATH")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), "--disable-sync"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """`visit(url, **context)`: a page of the browser. At the end, it has complained of nothing and asked nobody else."""
    pages: list[tuple[Any, str, list[str], list[str]]] = []

    def start(url: str, **how: Any) -> Any:
        context = browser.new_context(**how)
        context.set_default_timeout(20_000)
        page = context.new_page()
        complaints: list[str] = []
        requests: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(url)
        pages.append((page, url, complaints, requests))
        return page

    yield start
    for page, url, complaints, requests in pages:
        page.context.close()
        # A refused request is told to the reader; the browser writes it into its console, too.
        assert [said for said in complaints if "the server responded with a status of" not in said] == []
        assert [asked for asked in requests if not asked.startswith((url, "data:", "blob:"))] == []
