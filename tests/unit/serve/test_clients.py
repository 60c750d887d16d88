"""Requests as the clients of LibreTranslate send them, byte by byte, from their sources."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from rnnsearch.translation import Translator
from toy import toy_pairs

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "reference" / "server.md"
TEXT, FRENCH = toy_pairs(1, seed=3)[0]
"""A sentence, and one in the other language. In the requests, `{q}` is the sentence, and `{+q}` that of a form."""
JSON, FORM = "Content-Type: application/json", "Content-Type: application/x-www-form-urlencoded"
BOUNDARY = "------------------------d74496d66958873e"


def multipart(**fields: str) -> str:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    return "".join(parts) + f"--{BOUNDARY}--\r\n"


def request(line: str, *header: str, body: str = "") -> str:
    return "\r\n".join([f"{line} HTTP/1.1", "Host: localhost:5000", *header, "", body])


MULTIPART = f"Content-Type: multipart/form-data; boundary={BOUNDARY}"
CLIENTS = [
    ("curl -d", request("POST /translate", "Accept: */*", FORM, body="q={+q}&source=en&target=fr")),
    ("curl -F", request("POST /translate", "Accept: */*", MULTIPART, body=multipart(q="{q}", source="en", target="fr"))),
    (
        "jefs42/libretranslate (PHP, Nextcloud)",
        request(
            "POST /translate", "Accept: */*", MULTIPART,
            body=multipart(q="{q}", format="html", source="en", target="fr", api_key=""),
        ),
    ),
    (
        "LibreTranslate.Net (C#)",
        request("POST /translate", FORM, body="q={+q}&source=en&target=fr&format=&api_key="),
    ),
    (
        "libretranslate-ts (TypeScript)",
        request(
            "POST /translate", "Accept: application/json", JSON,
            body='{"q":"{q}","source":"en","target":"fr","format":"text","api_key":null}',
        ),
    ),
    (
        "LibreTranslate's page (JavaScript)",
        request(
            "POST /translate", "Accept: */*", "Origin: http://localhost:5000",
            "Content-Type: multipart/form-data; boundary=----WebKitFormBoundaryx",
            body=multipart(q="{q}", source="auto", target="fr", format="text", alternatives="3", api_key="").replace(
                BOUNDARY, "----WebKitFormBoundaryx"
            ),
        ),
    ),
    (
        "LibreTranslate's documentation (fetch)",
        request(
            "POST /translate", "Accept: */*", JSON,
            body='{"q":"{q}","source":"auto","target":"fr","format":"text","alternatives":3,"api_key":""}',
        ),
    ),
    ("libretranslatepy (Python)", request("POST /translate", FORM, body="q={+q}&source=en&target=fr")),
    (
        "deep-translator (Python)",
        request(
            "POST /translate?q={+q}&source=en&target=fr&format=text&api_key=none", "Accept: */*", "Content-Length: 0"
        ),
    ),
    (
        "Mastodon (Ruby)",
        request(
            "POST /translate", JSON,
            body='{"q":["{q}"],"source":"en","target":"fr","format":"html","api_key":null}',
        ),
    ),
    (
        "libretranslate-java (Java)",
        request(
            "POST /translate", "accept: application/json", FORM,
            body="q={+q}&source=en&api_key=unknown&target=fr&format=text",
        ),
    ),
    ("libretranslate-rs (Rust)", request("POST /translate", JSON, body='{"q":"{q}","source":"en","target":"fr"}')),
    ("SnakeSel/libretranslate (Go)", request("POST /translate", FORM, body="q={+q}&source=en&target=fr")),
    (
        "libretranslateR (R)",
        request("POST /translate", JSON, body='{"q":"{q}","source":"auto","target":"fr","format":"text","api_key":""}'),
    ),
]  # fmt: skip
OTHERS = [
    ("SnakeSel/libretranslate (Go)", request("POST /detect", FORM, body="q={+fr}"), ["fr"]),
    (
        "libretranslate-ts (TypeScript)",
        request("POST /detect", JSON, body='{"q":"{fr}","format":"text","api_key":null}'),
        ["fr"],
    ),
    (
        "jefs42/libretranslate (PHP, Nextcloud)",
        request("POST /detect?q={+fr}&api_key=", MULTIPART, body=f"--{BOUNDARY}--\r\n"),
        ["fr"],
    ),
    ("aiolibretranslate (Python)", request("POST /languages", JSON, "Content-Length: 0"), ["en", "fr"]),
]


def send(client: TestClient, raw: str) -> object:
    """What the server answers to a request, once its texts are filled in."""
    from urllib.parse import quote_plus

    for place, text in (("{q}", TEXT), ("{fr}", FRENCH), ("{+q}", quote_plus(TEXT)), ("{+fr}", quote_plus(FRENCH))):
        raw = raw.replace(place, text)
    header, _, body = raw.partition("\r\n\r\n")
    (method, path, _), *lines = (line.split(" ", 2) if " HTTP/" in line else line for line in header.split("\r\n"))
    fields = dict(line.split(": ", 1) for line in lines)  # type: ignore[misc,arg-type]
    answer = client.request(method, path, headers=fields, content=body.encode())
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


@pytest.mark.parametrize(("name", "raw"), CLIENTS, ids=[name for name, _ in CLIENTS])
def test_translations(client: TestClient, trained: object, name: str, raw: str) -> None:
    expected = Translator([trained("gated", "mlp").system]).translate(TEXT).text  # type: ignore[operator]
    found = send(client, raw)
    assert isinstance(found, dict)
    many = '"q":[' in raw
    assert found["translatedText"] == ([expected] if many else expected)
    if "auto" in raw:
        assert found["detectedLanguage"]["language"] == "en"
        assert 50 < found["detectedLanguage"]["confidence"] <= 100


@pytest.mark.parametrize(("name", "raw", "expected"), OTHERS, ids=[name for name, _, _ in OTHERS])
def test_other_requests(client: TestClient, name: str, raw: str, expected: list[str]) -> None:
    found = send(client, raw)
    assert [one.get("code") or one["language"] for one in found] == expected  # type: ignore[attr-defined]


def test_the_documentation_names_them() -> None:
    told = DOCUMENTATION.read_text(encoding="utf-8")
    for name, *_ in [*CLIENTS, *OTHERS]:
        assert re.sub(r" \(.*", "", name) in told, name


def test_what_they_ask_first(client: TestClient) -> None:
    settings = client.get("/frontend/settings").json()
    assert set(settings) == {
        "apiKeys", "charLimit", "filesTranslation", "frontendTimeout", "keyRequired", "language", "suggestions",
        "supportedFilesFormat",
    }  # fmt: skip
    assert client.get("/spec").json() == client.get("/openapi.json").json()
    answer = client.post("/suggest", data={"q": "a", "s": "b", "source": "en", "target": "fr"})
    assert answer.status_code == 403
    assert list(answer.json()) == ["error"]
    for path in ("/detect", "/translate", "/suggest"):
        answer = client.get(path)
        assert (answer.status_code, list(answer.json())) == (405, ["error"])
        assert answer.headers["allow"] == "POST"
    json.dumps(settings)
