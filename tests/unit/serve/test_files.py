"""Files that are sent to the server, as LibreTranslate's page sends them, and their translations."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from documents import documents
from rnnsearch.formats import recognition, registry
from rnnsearch.formats.recognition import document_format_of
from rnnsearch.formats.units import Head
from rnnsearch.memory import Memory
from rnnsearch.serve import files
from rnnsearch.serve.incoming import Limits
from rnnsearch.translation import Translator
from toy import toy_pairs

TEXT = toy_pairs(1, seed=3)[0][0]
DOCUMENTS = documents(TEXT)


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


def test_a_page_keeps_its_encoding(client: TestClient, machine: str) -> None:
    page = f'<meta charset="windows-1252"><p title="Caf\xe9">{TEXT}</p>'
    found = downloaded(client, send(client, "a.html", page.encode("windows-1252")))
    expected = page.replace(TEXT, machine).encode("windows-1252", "xmlcharrefreplace")
    assert html.unescape(found.content.decode("windows-1252")) == html.unescape(expected.decode("windows-1252"))
    assert "charset" not in found.headers["content-type"]


def test_json_and_the_settings(client: TestClient, machine: str) -> None:
    fields = {"file": TEXT, "filename": "a.txt", "source": "en", "target": "fr"}
    assert downloaded(client, client.post("/translate_file", json=fields)).text == machine
    settings = client.get("/frontend/settings").json()
    assert settings["filesTranslation"] is True
    endings = settings["supportedFilesFormat"]
    assert len(endings) == len(set(endings))
    assert {".txt", ".html", ".docx", ".po", ".xlf", ".md", ".srt"} < set(endings)


def test_there_is_a_document_of_each_format() -> None:
    found = {document_format_of(Head(Path(name), content.encode())) for name, content in DOCUMENTS.items()}
    assert found == {format_ for name, format_ in registry.DOCUMENTS.items() if name not in ("html", "docx")}
    assert all(Path(name).suffix in recognition.ENDINGS for name in DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_each_format_comes_out_as_one(client: TestClient, machine: str, name: str) -> None:
    found = downloaded(client, send(client, name, DOCUMENTS[name].encode()))
    assert machine in html.unescape(found.text)
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].endswith(f"{Path(name).stem}_fr{Path(name).suffix}")


def test_a_word_document_and_its_encodings(client: TestClient, machine: str) -> None:
    found = downloaded(client, send(client, "a.docx", word(TEXT), source="auto"))
    with ZipFile(io.BytesIO(found.content)) as package:
        assert machine in html.unescape(package.read("word/document.xml").decode())
    utf_16 = b"\xff\xfe" + DOCUMENTS["a.xlf"].encode("utf-16-le")
    found = downloaded(client, send(client, "a.xlf", utf_16))
    assert found.content.startswith(b"\xff\xfe")
    assert machine in html.unescape(found.content.decode("utf-16"))


def test_a_document_in_the_target_language_stays(client: TestClient) -> None:
    content = b"# C'est la vie de tous les jours, n'est-ce pas ?\n"
    assert downloaded(client, send(client, "a.md", content, source="fr")).content == content


def test_a_memory_is_used_in_documents(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(tmp_path)
    memory.add(("en", "fr"), [(TEXT, "Une correction & plus.")])
    monkeypatch.setattr(client.app.state.server, "memory", memory)  # type: ignore[attr-defined]
    assert "Une correction &amp; plus." in downloaded(client, send(client, "a.ts", DOCUMENTS["a.ts"].encode())).text


def test_a_bomb_is_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_TEXT", 3000)
    for name, content in (("a.docx", word("x" * 4000)), ("a.md", b"x" * 4000)):
        answer = send(client, name, content)
        assert (answer.status_code, "more than 3,000 bytes of text" in answer.json()["error"]) == (400, True)


def word(text: str) -> bytes:
    written = io.BytesIO()
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with ZipFile(written, "w", ZIP_DEFLATED) as package:
        body = f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
        package.writestr("word/document.xml", f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>')
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.docx", b"PK\x03\x04", "a.docx: a damaged Word document"),
        ("a.xlf", b"<xliff><file><trans-unit>", "a.xlf"),
        ("a.pdf", b"%PDF-1.5", "'a.pdf': give a file whose name ends in .txt, .html, .htm, .po"),
        ("a.md", b"caf\xe9", "a.md:1: not valid UTF-8"),
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
