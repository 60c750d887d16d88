"""Files that are sent to the server, as LibreTranslate's page sends them, and their translations."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from rnnsearch.serve import files
from rnnsearch.serve.incoming import Limits
from rnnsearch.translation import Translator
from toy import toy_pairs

TEXT = toy_pairs(1, seed=3)[0][0]


@pytest.fixture
def machine(trained: Callable[..., Translator]) -> str:
    return Translator([trained("gated", "mlp").system]).translate(TEXT).text


def send(client: TestClient, name: str, content: bytes, **fields: str) -> Response:
    return client.post("/translate_file", data={"source": "en", "target": "fr", **fields}, files={"file": (name, content)})


def downloaded(client: TestClient, answer: Response) -> Response:
    assert answer.status_code == 200, answer.text
    found = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
    assert found.status_code == 200
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_keeps_its_lines(client: TestClient, machine: str, encoding: str) -> None:
    content = f"\r\n  {TEXT}\r\n\t\n{TEXT}".encode(encoding)
    found = downloaded(client, send(client, "C'est à moi.txt", content))
    assert found.content == f"\r\n  {machine}\r\n\t\n{machine}".encode()
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert found.headers["content-disposition"] == "attachment; filename*=UTF-8''C%27est%20%C3%A0%20moi_fr.txt"


@pytest.mark.parametrize("name", ["a.html", "../A.HTM"])
def test_a_document_keeps_its_markup_and_is_not_shown(client: TestClient, machine: str, name: str) -> None:
    found = downloaded(client, send(client, name, f"<p id=x>{TEXT}</p><script>1</script>".encode(), source="auto"))
    assert found.text == f"<p id=x>{machine}</p><script>1</script>"
    assert found.headers["content-disposition"].startswith("attachment; ")
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "/" not in found.headers["content-disposition"]


def test_json_and_the_settings(client: TestClient, machine: str) -> None:
    fields = {"file": TEXT, "filename": "a.txt", "source": "en", "target": "fr"}
    assert downloaded(client, client.post("/translate_file", json=fields)).text == machine
    settings = client.get("/frontend/settings").json()
    assert settings["filesTranslation"] is True
    assert settings["supportedFilesFormat"] == [".txt", ".html", ".htm"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.docx", b"PK\x03\x04", "'a.docx': give a file whose name ends in .txt, .html, .htm"),
        ("noname", b"x", "give a file whose name ends in"),
        ("a.txt", b"caf\xe9", "a.txt:1: not valid UTF-8"),
        ("a.txt", b"\xff\xfea", "a.txt:1: not valid UTF-16"),
    ],
)
def test_what_is_no_text_is_refused(client: TestClient, name: str, content: bytes, told: str) -> None:
    answer = send(client, name, content)
    assert answer.status_code == 400
    assert told in answer.json()["error"]


def test_other_files_and_missing_ones_are_refused(client: TestClient) -> None:
    fields = {"source": "en", "target": "fr"}
    answer = client.post("/translate_file", data=fields, files={"q": ("a.txt", b"x")})
    assert (answer.status_code, "it is a file" in answer.json()["error"]) == (400, True)
    assert client.post("/translate_file", data=fields).json()["error"].startswith("file: ")
    assert client.post("/translate", data=fields, files={"file": ("a.txt", b"x")}).status_code == 400
    answer = client.get("/download_file/00000000-0000-0000-0000-000000000000")
    assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_the_oldest_are_dropped(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 2)
    answers = [send(client, f"{number}.txt", b"1") for number in range(3)]
    assert client.get(urlsplit(answers[0].json()["translatedFileUrl"]).path).status_code == 404
    for answer in answers[1:]:
        downloaded(client, answer)


def test_a_file_has_the_limits_of_a_text(serve: Callable[..., TestClient]) -> None:
    client = serve(Limits(characters=50), keys=("key",))
    assert send(client, "a.txt", b"x" * 60, api_key="key").status_code == 413
    assert send(client, "a.txt", b"x" * 20_000, api_key="key").status_code == 413
    assert send(client, "a.txt", b"x").status_code == 403
