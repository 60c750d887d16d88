"""Draws the pictures of the server's page, `docs/images/serve-*.png`, with Playwright and Chromium.

python docs/make_screenshots.py --model rnnsearch-demo/model
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
SENTENCE = "The children who live here often play in the garden."
SENTENCES = "We opened the window because it was hot. Now the birds are singing. My sister has a small white cat."
MOST_BYTES = 150_000


@contextmanager
def served(model: str) -> Iterator[str]:
    """The address of a server of the model."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-m", "rnnsearch", "serve", "--model", model, "--port", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(url + "health", timeout=5).close()
                    break
                except OSError:
                    if server.poll() is not None:
                        sys.exit(f"rnnsearch serve --model {model} ended with status {server.returncode}")
                    time.sleep(0.1)
            yield url
        finally:
            server.terminate()
            server.wait()


class Camera:
    """Opens the page anew for each picture."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser, self._url = browser, url

    @contextmanager
    def picture(self, name: str, text: str, width: int = 1000, height: int = 620, dark: bool = False) -> Iterator[Page]:
        """The page with the translation of `text`; afterwards, it is drawn."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=1.5,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(self._url)
        page.get_by_label("Text to translate").fill(text)
        page.wait_for_selector("#translation:not(.stale) .word")
        yield page
        path = IMAGES / f"serve-{name}.png"
        page.screenshot(path=path, animations="disabled")
        context.close()
        size = path.stat().st_size
        print(f"{path} ({size:,} bytes)")
        if size > MOST_BYTES:
            sys.exit(f"{path} has more than {MOST_BYTES:,} bytes")


def main() -> None:
    """Start the server, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    asked = parser.parse_args()
    with served(asked.model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=asked.chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
        )
        draw(Camera(browser, url))
        browser.close()


def draw(camera: Camera) -> None:
    """All pictures."""
    with camera.picture("light", SENTENCES) as page:
        page.locator("#translation .word", has_text="oiseaux").hover()
    with camera.picture("hover", SENTENCE) as page:
        page.locator("#translation .word", has_text="souvent").hover()
    with camera.picture("alternatives", SENTENCE) as page:
        page.locator("#translation .word", has_text="souvent").click()
        page.wait_for_selector("#menu [role=option]")
    with camera.picture("heat-map", SENTENCE, height=940) as page:
        page.get_by_text("Alignment", exact=True).click()
    with camera.picture("others", SENTENCE, height=780) as page:
        page.get_by_text("Other translations").click()
        page.wait_for_selector("#others li")
    with camera.picture("phone", SENTENCES, width=390, height=844) as page:
        page.locator("#translation .word", has_text="fenêtre").hover()
    with camera.picture("dark", SENTENCES, dark=True) as page:
        page.locator("#translation .word", has_text="oiseaux").hover()


if __name__ == "__main__":
    main()
