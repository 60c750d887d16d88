"""The page of the server: what is sent, with which headers, and that an installed package has it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import rnnsearch

Serve = Callable[..., TestClient]
PACKAGE = Path(rnnsearch.__file__).parent
OWN = [path.name for path in (PACKAGE / "serve" / "page").iterdir()]
SHARED = ["base.css", "alignment.css", "alignment.js"]
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@pytest.mark.parametrize("name", ["", *(f"page/{name}" for name in [*OWN, *SHARED])])
def test_files_come_with_their_type_and_a_strict_policy(client: TestClient, name: str) -> None:
    answer = client.get(f"/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == TYPES[name.rpartition(".")[2] or "html"]
    policy = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data: blob:",
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["page", "page/", "page/x.js", "page/../app.py", "page/%2e%2e/app.py", "page/..%2fapp.py"])
def test_nothing_else_is_sent(client: TestClient, path: str) -> None:
    answer = client.get(f"/{path}")
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]


def test_requests_for_the_page_are_counted_by_their_kind(serve: Serve) -> None:
    client = serve()
    for path in ("/page/page.js", "/page/page.css", "/page/nothing.js"):
        client.get(path)
    assert 'rnnsearch_requests_total{path="/page/{name}",status="200"} 2.0' in client.get("/metrics").text


def test_every_file_that_is_named_is_there(serve: Serve) -> None:
    client = serve()
    files = {name: client.get(f"/page/{name}").text for name in [*OWN, *SHARED]}
    named = {path.removeprefix("page/") for path in re.findall(r'(?:href|src)="([^"]*)"', client.get("/").text)}
    for text in files.values():
        named |= {path.removeprefix("./") for path in re.findall(r'from "([^"]*)"', text)}
    assert named == {*files} - {"index.html"}
    # Addresses outside the server are namespaces, which nobody fetches.
    assert {found for text in files.values() for found in re.findall(r"https?://[^\"' ]*", text)} == {
        "http://www.w3.org/2000/svg"
    }


def test_a_wheel_has_the_files() -> None:
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["rnnsearch"]
    packaged = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    assert {path for path in PACKAGE.rglob("*.*") if path.suffix in (".html", ".css", ".js", ".svg", ".j2")} <= packaged
