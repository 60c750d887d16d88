"""A server with a translation memory: corrections are stored, and used in all protocols."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from rnnsearch.errors import RnnsearchError
from rnnsearch.memory import Memory
from rnnsearch.serve import server as server_module
from rnnsearch.translation import ScoredPair, Translation, Translator
from toy import toy_pairs

PAIR = "en", "fr"
TEXT = toy_pairs(1, seed=3)[0][0]
OTHER = toy_pairs(1, seed=5)[0][0]
CORRECTION = "Le chat & le chien, c'est « fini »."
MARKED = CORRECTION.replace("&", "&amp;")


@pytest.fixture(autouse=True)
def memory(client: TestClient, tmp_path: Path) -> Memory:
    """A new memory of the server."""
    memory = Memory(tmp_path)
    client.app.state.server.memory = memory  # type: ignore[attr-defined]
    return memory


@pytest.fixture
def machine(trained: Callable[..., Translator]) -> str:
    return Translator([trained("gated", "mlp").system]).translate(TEXT).text


def translate(client: TestClient, **fields: object) -> dict[str, object]:
    answer = client.post("/translate", json={"q": TEXT, "source": "en", "target": "fr", **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def suggest(client: TestClient, **fields: str) -> None:
    asked = {"q": TEXT, "s": CORRECTION, "source": "en", "target": "fr", **fields}
    answer = client.post("/suggest", data=asked)
    assert (answer.status_code, answer.json()) == (200, {"success": True})


def test_a_correction_is_the_translation_from_then_on(client: TestClient, machine: str) -> None:
    assert client.get("/frontend/settings").json()["suggestions"] is True
    assert translate(client)["suggestions"] == [{"text": machine, "origin": "machine"}]
    suggest(client, source="auto")
    found = translate(client, q=[TEXT, OTHER])
    assert found["translatedText"][0] == CORRECTION  # type: ignore[index]
    assert [one["origin"] for (one,) in found["suggestions"]] == ["memory", "machine"]  # type: ignore[attr-defined]
    suggest(client, s="Autre chose.")
    assert translate(client)["translatedText"] == "Autre chose."


def test_all_protocols_use_it(client: TestClient) -> None:
    suggest(client)
    deepl = client.post("/v2/translate", json={"text": [TEXT], "target_lang": "FR", "source_lang": "EN"}).json()
    assert deepl["translations"][0]["text"] == CORRECTION
    xml = {"text": [f"<g>{TEXT}</g>"], "target_lang": "FR", "source_lang": "EN", "tag_handling": "xml"}
    assert client.post("/v2/translate", json=xml).json()["translations"][0]["text"] == f"<g>{MARKED}</g>"
    apertium = client.get("/translate", params={"langpair": "en|fr", "q": TEXT}).json()
    assert apertium["responseData"]["translatedText"] == CORRECTION
    mtuoc = client.post("/translate", json={"src": TEXT, "id": 1}).json()
    assert mtuoc["tgt"] == CORRECTION
    assert "0-" in mtuoc["alignment"]
    assert CORRECTION not in [other["tgt"] for other in mtuoc["alternate_translations"]]
    html = translate(client, q=f"<p><b>{TEXT}</b></p>", format="html")
    assert html["translatedText"] == f"<p><b>{MARKED}</b></p>"
    events = client.post(
        "/translate", json={"q": TEXT, "source": "en", "target": "fr"}, headers={"accept": "text/event-stream"}
    ).text
    assert CORRECTION in events
    assert events.endswith("event: done\ndata: {}\n\n")


def test_a_correction_is_aligned_with_its_sentence(client: TestClient) -> None:
    suggest(client)
    (sentence,) = translate(client, alignment=True)["sentences"]  # type: ignore[misc]
    assert sentence["text"] == CORRECTION
    assert len(sentence["weights"]) == len(sentence["tokens"]) > 0
    assert all(len(row) == len(sentence["source_tokens"]) for row in sentence["weights"])
    assert sentence["score"] < 0


def test_alternatives_come_from_the_memory_and_from_the_model(client: TestClient, memory: Memory, machine: str) -> None:
    similar = TEXT.replace(" .", " !").replace(" ?", " !")
    memory.add(PAIR, [(similar, "<Voisin>"), ("nothing like it", "rien")])
    found = translate(client, alternatives=3)
    assert found["translatedText"] == machine
    first, second, *others = found["suggestions"]  # type: ignore[misc]
    assert first == {"text": machine, "origin": "machine"}
    assert (second["source"], second["text"]) == (similar, "<Voisin>")
    assert second["origin"] == "memory"
    assert 90 < second["score"] < 100
    assert [one["text"] for one in (second, *others)] == found["alternatives"]
    assert all(one["origin"] == "machine" for one in others)
    assert translate(client, alternatives=1, format="html")["alternatives"] == ["&lt;Voisin&gt;"]
    suggest(client)
    found = translate(client, alternatives=9)
    assert [one["origin"] for one in found["suggestions"]][:3] == ["memory", "memory", "machine"]  # type: ignore[attr-defined]
    assert found["suggestions"][0] == {"text": CORRECTION, "origin": "memory", "score": 100.0}  # type: ignore[index]
    assert machine in found["alternatives"]  # type: ignore[operator]


def test_the_numbers_of_a_similar_segment_are_repaired(client: TestClient, memory: Memory) -> None:
    memory.add(PAIR, [("the man has 12 books .", "l'homme a 12 livres <b> .")])
    found = translate(client, q="the man has 34 books .", alternatives=1, format="html")
    (_, second) = found["suggestions"]  # type: ignore[misc]
    assert (second["origin"], second["text"]) == ("repaired", "l&#x27;homme a 34 livres &lt;b&gt; .")
    assert second["source"] == "the man has 12 books ."


def test_a_word_of_a_similar_segment_is_exchanged(
    client: TestClient, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segments that differ in one word are aligned with their translations, and these are repaired by the links."""

    def repaired(target: str, segment: ScoredPair, text: Translation) -> str | None:
        assert segment.tokens == target.split()
        assert text.source_tokens[:-1] == ["the", "man", "has", "big", "books", "."]
        return None if "noirs" in target else f"{target} !"

    monkeypatch.setattr(server_module, "repaired", repaired)
    old = ("the man has red books .", "the man has black books .", "the man has no big books .")
    memory.add(PAIR, zip(old, ("des livres rouges", "des livres noirs", "pas de livres"), strict=True))
    found = translate(client, q=["a", "the man has big books ."], alternatives=3)
    (_, suggestions) = found["suggestions"]  # type: ignore[misc]
    origins = {one["source"]: (one["origin"], one["text"]) for one in suggestions if "source" in one}
    assert origins == {
        old[0]: ("repaired", "des livres rouges !"),
        old[1]: ("memory", "des livres noirs"),
        old[2]: ("memory", "pas de livres"),
    }


def test_a_text_of_several_sentences_is_looked_up_whole_and_by_its_sentences(client: TestClient) -> None:
    both = "Please open it. The dog sleeps."
    suggest(client, q="The dog sleeps.", s="Un.")
    assert str(translate(client, q=both)["translatedText"]).endswith(" Un.")
    assert translate(client, q=both)["suggestions"][0]["origin"] == "machine"  # type: ignore[index]
    suggest(client, q=both, s="Tout à la fois.")
    assert translate(client, q=both)["translatedText"] == "Tout à la fois."
    suggest(client, q=f"{both}\n\n{TEXT}\n", s="Une ligne.\r\nL'autre.")
    assert translate(client, q=f"{both}\n{TEXT}")["translatedText"] == "Une ligne.\nL'autre."


def test_a_given_prefix_goes_before_the_memory(client: TestClient) -> None:
    suggest(client)
    assert str(translate(client, prefix="un chat")["translatedText"]).startswith("un chat")


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"s": "a\nb"}, 400, "1 lines in q, and 2 in s"),
        ({"q": " ", "s": " "}, 400, "0 lines"),
        ({"q": "x" * 2001}, 413, "2,000 characters"),
        ({"target": "de"}, 400, "en to de"),
        ({"source": "fr"}, 400, "fr to fr"),
    ],
)
def test_what_is_no_correction_is_refused(
    client: TestClient, memory: Memory, fields: dict[str, str], status: int, told: str
) -> None:
    answer = client.post("/suggest", json={"q": TEXT, "s": CORRECTION, "source": "en", "target": "fr", **fields})
    assert answer.status_code == status
    assert told in answer.json()["error"]
    assert memory.counts() == {}


def test_a_full_disk_is_told(client: TestClient, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise RnnsearchError("memory.sqlite: database or disk is full")

    monkeypatch.setattr(memory, "add", full)
    answer = client.post("/suggest", json={"q": TEXT, "s": CORRECTION, "source": "en", "target": "fr"})
    assert (answer.status_code, answer.json()) == (507, {"error": "memory.sqlite: database or disk is full"})


def test_odd_corrections_are_given_back(client: TestClient) -> None:
    for text in ("…", "\u200b", "<b>", "\x00", "🦉", "a " * 999, "٣", "2\u00a0%"):
        suggest(client, s=text)
        assert translate(client)["translatedText"] == text.strip()
        assert translate(client, format="html", q=f"<i>{TEXT}</i>")["translatedText"]
