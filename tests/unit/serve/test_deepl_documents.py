"""Documents in DeepL's protocol; `tests/system/test_serve.py` sends them with its own client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from rnnsearch.errors import RnnsearchError
from rnnsearch.serve import files
from rnnsearch.serve.files import Recent
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.server import Server
from rnnsearch.translation import Translator
from toy import toy_pairs

TEXT = toy_pairs(1, seed=3)[0][0]
MISSING = "00000000-0000-0000-0000-000000000000"


def send(client: TestClient, name: str, content: bytes, **fields: str) -> Response:
    form = {"source_lang": "EN", "target_lang": "FR", **fields}
    return client.post("/v2/document", data=form, files={"file": (name, content)})


def sent(client: TestClient, name: str, content: bytes, **fields: str) -> tuple[str, dict[str, str]]:
    """The path of a document that has been sent, and its key."""
    answer = send(client, name, content, **fields)
    assert answer.status_code == 200, answer.text
    return f"/v2/document/{answer.json()['document_id']}", {"document_key": answer.json()["document_key"]}


def ended(client: TestClient, path: str, key: dict[str, str]) -> dict[str, object]:
    """The state of a document that is no longer being translated."""
    until = time.monotonic() + 20
    while (state := client.post(path, json=key).json())["status"] == "translating" and time.monotonic() < until:
        time.sleep(0.01)
    found: dict[str, object] = state
    return found


def test_a_document_is_sent_asked_for_and_fetched(client: TestClient, trained: Callable[..., Translator]) -> None:
    machine = Translator([trained("gated", "mlp").system]).translate(TEXT).text
    before = client.get("/v2/usage").json()["character_count"]
    for name, form in (("a.md", "# {}\n\n```\n{{}}\n```\n"), ("a.txt", "\r\n{}\r\n"), ("a.html", "<p id=a>{}</p>")):
        path, key = sent(client, name, form.format(TEXT).encode(), output_format=name[2:].upper())
        state = ended(client, path, key)
        assert state == {"document_id": path[-36:], "status": "done", "billed_characters": state["billed_characters"]}
        found = client.post(f"{path}/result", json=key)
        assert (found.status_code, found.content) == (200, form.format(machine).encode())
        assert found.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert "default-src 'none'" in found.headers["content-security-policy"]
    assert client.get("/v2/usage").json()["character_count"] > before + 3 * len(TEXT)


def test_the_terms_of_a_glossary(client: TestClient) -> None:
    glossary = {"name": "ours", "source_lang": "en", "target_lang": "fr", "entries": "dog\tloup", "entries_format": "tsv"}
    number = client.post("/v2/glossaries", json=glossary).json()["glossary_id"]
    path, key = sent(client, "a.txt", b"the big dog sleeps", glossary_id=number)
    assert ended(client, path, key)["status"] == "done"
    assert "loup" in client.post(f"{path}/result", json=key).text
    answer = send(client, "a.txt", b"the dog", glossary_id=MISSING)
    assert (answer.status_code, list(answer.json())) == (404, ["message"])


def test_what_is_refused(client: TestClient) -> None:
    for name, content, told, fields in (
        ("a.pdf", b"%PDF-1.5", "'a.pdf': give a file whose name ends in", {}),
        ("a.docx", b"PK\x03\x04", "a.docx: a damaged Word document", {}),
        ("a.txt", b"a", "output_format: 'docx' is not the format of 'a.txt'", {"output_format": "docx"}),
        ("a.txt", b"a", "en to DE is not translated here", {"target_lang": "DE"}),
    ):
        answer = send(client, name, content, **fields)
        assert (answer.status_code, list(answer.json())) == (400, ["message"])
        assert told in answer.json()["message"]
    path, key = sent(client, "a.txt", TEXT.encode())
    for wrong_path, wrong_key in ((path, {"document_key": "0" * 64}), (f"/v2/document/{MISSING}", key)):
        for end in ("", "/result"):
            answer = client.post(wrong_path + end, json=wrong_key)
            assert (answer.status_code, list(answer.json())) == (404, ["message"])
    assert client.post(path).json()["message"].startswith("document_key: ")


def test_before_it_is_translated_and_where_it_fails(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(self: Server, request: object, task: object) -> None:
        raise RnnsearchError("the encoding of the document has no ’")

    async def waits(self: Server, request: object, task: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(Server, "answer", waits)
    path, key = sent(client, "a.txt", TEXT.encode())
    assert client.post(path, json=key).json()["status"] == "translating"
    early = client.post(f"{path}/result", json=key)
    assert (early.status_code, early.headers["retry-after"]) == (503, "2")
    monkeypatch.setattr(Server, "answer", fails)
    path, key = sent(client, "a.txt", TEXT.encode())
    state = ended(client, path, key)
    assert (state["status"], state["error_message"]) == ("error", "the encoding of the document has no ’")
    assert client.post(f"{path}/result", json=key).json() == {"message": "the encoding of the document has no ’"}


def test_the_limits_of_a_text_and_a_key(serve: Callable[..., TestClient]) -> None:
    client = serve(Limits(characters=50), keys=("key",))
    assert send(client, "a.txt", b"x" * 60, auth_key="key").status_code == 413
    assert send(client, "a.txt", b"x").status_code == 403


def test_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 2)
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    kept = Recent[str](len)
    numbers = [kept.add(text) for text in ("a", "b", "c")]
    assert [kept.get(number) for number in numbers] == [None, "b", "c"]
    assert kept.get(kept.add("0123456789")) == "0123456789"
    assert kept.get(numbers[2]) is None
