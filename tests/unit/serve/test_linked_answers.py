"""The server links the words of a translation only where an answer needs links, and then by the alignment layer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import rnnsearch
from rnnsearch.memory import Memory
from rnnsearch.serve.app import make_app
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.search_processes import SearchProcesses
from rnnsearch.serve.server import Server
from rnnsearch.translation import Translation, Translator

TEXT = "I have a red car."
FIELDS = {"q": TEXT, "source": "en", "target": "fr"}
LONG = "She has never been to Paris, but her brother lives there."
DEEPL = {"source_lang": "EN", "target_lang": "FR"}
STREAM = {"accept": "text/event-stream"}


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The installed translator, which has an alignment layer."""
    return rnnsearch.load("en-fr")


@pytest.fixture(scope="module")
def client(translator: Translator) -> Iterator[TestClient]:
    """A client of a server that has this translator."""
    with SearchProcesses(partial(list, [translator]), {"beam": 3}, count=1) as search:
        server = Server(search, Limits())
        app = make_app(server)
        app.state.search, app.state.server = search, server
        with TestClient(app) as client:
            yield client


@pytest.fixture
def asked(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether links were needed, for each request to the search."""
    search, needed = client.app.state.search, []  # type: ignore[attr-defined]
    translations = search.translations

    def observed(*given: object) -> AsyncGenerator[list[Translation], None]:
        needed.append(given[-1])
        found: AsyncGenerator[list[Translation], None] = translations(*given)
        return found

    monkeypatch.setattr(search, "translations", observed)
    return needed


def translate(client: TestClient, headers: dict[str, str] | None = None, **fields: object) -> str:
    answer = client.post("/translate", json={**FIELDS, **fields}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize(
    ("path", "how", "needed"),
    [
        ("/translate", {}, False),
        ("/translate", {"q": [TEXT, ""], "alternatives": 2, "n_best": 2}, False),
        ("/translate", {"alignment": True}, True),
        ("/translate", {"format": "html", "q": f"<p>{TEXT}</p>"}, True),
        ("/translate", {"src": TEXT, "srcLang": "en", "tgtLang": "fr", "q": None}, True),  # MTUOC shows the alignment
        ("/translate", {"langpair": "en|fr"}, False),
        ("/v2/translate", {**DEEPL, "text": [TEXT]}, False),
        (
            "/v2/translate",
            {"text": [f"<b>{TEXT}</b>"], "source_lang": "EN", "target_lang": "FR", "tag_handling": "xml"},
            True,
        ),
    ],
)
def test_which_requests_need_links(
    client: TestClient, asked: list[bool], path: str, how: dict[str, object], needed: bool
) -> None:
    fields = {key: value for key, value in ({**FIELDS, **how} if path == "/translate" else how).items() if value is not None}
    assert client.post(path, json=fields).status_code == 200
    assert asked == [needed]


@pytest.mark.parametrize(("name", "content"), [("a.txt", TEXT), ("a.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{TEXT}\n")])
def test_files_of_text_need_none(client: TestClient, asked: list[bool], name: str, content: str) -> None:
    files = {"file": (name, content.encode())}
    assert client.post("/translate_file", data={"source": "en", "target": "fr"}, files=files).status_code == 200
    assert asked == [name != "a.txt"]  # a document may have tags


def test_links_are_those_of_the_alignment_layer(client: TestClient, translator: Translator) -> None:
    expected = translator.translate(LONG, beam=3)
    assert expected.link_probabilities is not None
    by_attention = rnnsearch.Translation(expected.text, expected.score, True, expected.segments)
    assert by_attention.links != expected.links  # so that the test sees the difference
    (sentence,) = json.loads(translate(client, q=LONG, alignment=True))["sentences"]
    assert {tuple(link) for link in sentence["links"]} == expected.links
    _, data = translate(client, STREAM, q=LONG).split("\n\n")[0].split("\n")
    assert {tuple(link) for link in json.loads(data.removeprefix("data: "))["links"]} == expected.links


def test_a_word_of_a_similar_segment_is_exchanged_in_plain_text(
    client: TestClient, asked: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path)
    memory.add(("en", "fr"), [("I have a blue car.", "Moi, j'ai une voiture bleue."), ("You had the red cars.", "Non.")])
    monkeypatch.setattr(client.app.state.server, "memory", memory)  # type: ignore[attr-defined]
    suggestions = json.loads(translate(client, alternatives=1))["suggestions"]
    assert [(one["origin"], one["text"]) for one in suggestions] == [
        ("machine", "J'ai une voiture rouge."),
        ("repaired", "Moi, j'ai une voiture rouge."),
    ]
    translate(client, q="You had the red cars, too.", alternatives=1)
    assert asked == [True, False]
