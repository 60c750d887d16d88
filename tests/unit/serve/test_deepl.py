"""DeepL's protocol, as its clients send requests and read answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.glossaries import MOST_GLOSSARIES
from rnnsearch.serve.incoming import Limits
from rnnsearch.translation import Translator
from toy import toy_pairs

Serve = Callable[..., TestClient]
LINES = [source for source, _ in toy_pairs(3, seed=3)]
ONE = LINES[0]
FRENCH = toy_pairs(1, seed=3)[0][1]
GLOSSARY = {"name": "ours", "source_lang": "en", "target_lang": "FR", "entries": "dog\tloup", "entries_format": "tsv"}


@pytest.fixture
def translator(trained: Callable[..., Translator]) -> Translator:
    return Translator([trained("gated", "mlp").system])


def translate(client: TestClient, text: str | list[str], **how: object) -> list[dict[str, object]]:
    answer = client.post("/v2/translate", json={"text": text, "target_lang": "FR", **how})
    assert answer.status_code == 200, answer.text
    translations: list[dict[str, object]] = answer.json()["translations"]
    return translations


def refused(answer: object, status: int, *told: str) -> None:
    """One sentence, as DeepL's clients show it, with this status."""
    assert answer.status_code == status, answer.text  # type: ignore[attr-defined]
    body = answer.json()  # type: ignore[attr-defined]
    assert list(body) == ["message"]
    for part in told:
        assert part in body["message"]


def test_texts(client: TestClient, translator: Translator) -> None:
    expected = [
        {"detected_source_language": "EN", "text": found.text, "billed_characters": len(line)}
        for line, found in zip(LINES, translator.translate(LINES), strict=True)
    ]
    assert translate(client, LINES, source_lang="EN") == expected
    assert translate(client, LINES[0], source_lang="EN") == expected[:1]
    assert translate(client, []) == []
    refused(client.post("/v2/translate", json={"text": [], "target_lang": "v"}), 400, "to v is not translated here")
    refused(client.post("/v2/translate", json={"text": [], "target_lang": "FR", "source_lang": "v"}), 400, "v to fr is not")
    form = urlencode([("text", line) for line in LINES] + [("target_lang", "fr"), ("source_lang", "en")])
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/v2/translate", content=form, headers=headers).json()["translations"] == expected
    # The language is detected, and a text that is in the target language stays as it is.
    both = translate(client, [ONE, FRENCH], formality="default", preserve_formatting=True, context="", model_type="x")
    assert both == [expected[0], {"detected_source_language": "FR", "text": FRENCH, "billed_characters": len(FRENCH)}]


@pytest.mark.parametrize(("languages", "target"), [((("fr", "en"),), "EN-US"), ((("fr", "en-GB"),), "en-gb")])
def test_targets_with_a_region(serve: Serve, languages: tuple[tuple[str, str], ...], target: str) -> None:
    (found,) = translate(serve(languages=languages), ONE, source_lang="FR", target_lang=target)
    assert found["detected_source_language"] == "FR"


@pytest.mark.parametrize("split", ["0", 0])
def test_sentences_are_not_split(client: TestClient, translator: Translator, split: object) -> None:
    two = f"{ONE} {LINES[1]}"
    (found,) = translate(client, two, source_lang="EN", split_sentences=split)
    assert found["text"] == translator.translate(two).text
    for kept in ("1", 1, "nonewlines"):
        assert translate(client, two, source_lang="EN", split_sentences=kept) == translate(client, two, source_lang="EN")


def test_markup(client: TestClient, translator: Translator) -> None:
    text = translator.translate(ONE).text
    for tags in ("<g id='1'>{}</g>", "<a0>{}</a0>", "<r>\n <x/>{}</r>"):
        assert translate(client, tags.format(ONE), source_lang="EN", tag_handling="xml")[0]["text"] == tags.format(text)
    page = "<p>{}</p><script>a < b</script>"
    assert translate(client, page.format(ONE), source_lang="EN", tag_handling="html")[0]["text"] == page.format(text)
    ignored = {"tag_handling": "xml", "ignore_tags": ["x"]}
    assert translate(client, f"<x>{ONE}</x>", source_lang="EN", **ignored)[0]["text"] == f"<x>{ONE}</x>"
    form = {"text": f"<x>{ONE}</x>", "target_lang": "FR", "tag_handling": "xml", "ignore_tags": "y,x"}
    assert client.post("/v2/translate", data=form).json()["translations"][0]["text"] == f"<x>{ONE}</x>"


def test_languages(serve: Serve) -> None:
    client = serve(languages=(("en", "fr"), ("fr", "en"), ("pt", "qx")))
    sources = [{"language": "EN", "name": "English"}, {"language": "FR", "name": "French"}]
    assert client.get("/v2/languages").json()[:2] == sources
    assert client.get("/v2/languages?type=source").json()[:2] == sources
    targets = client.get("/v2/languages?type=target").json()
    assert [target["language"] for target in targets] == ["FR", "EN-GB", "EN-US", "QX"]
    assert all(target["supports_formality"] is False for target in targets)
    refused(client.get("/v2/languages?type=both"), 400, "type")


def test_glossaries(serve: Serve) -> None:
    client = serve(languages=(("en", "fr"), ("fr", "en")))
    text = "the big dog sleeps"
    assert client.get("/v2/glossary-language-pairs").json()["supported_languages"] == [
        {"source_lang": "en", "target_lang": "fr"},
        {"source_lang": "fr", "target_lang": "en"},
    ]
    created = client.post("/v2/glossaries", json=GLOSSARY)
    assert created.status_code == 201
    made = created.json()
    datetime.strptime(made["creation_time"], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert {**made, "glossary_id": "", "creation_time": ""} == {
        "glossary_id": "", "name": "ours", "ready": True, "source_lang": "en", "target_lang": "fr", "creation_time": "",
        "entry_count": 1,
    }  # fmt: skip
    place = f"/v2/glossaries/{made['glossary_id']}"
    assert client.get(place).json() == made
    assert client.get("/v2/glossaries").json() == {"glossaries": [made]}
    entries = client.get(f"{place}/entries")
    assert (entries.text, entries.headers["content-type"]) == ("dog\tloup", "text/tab-separated-values; charset=utf-8")
    with_it = {"source_lang": "EN", "glossary_id": made["glossary_id"]}
    assert "loup" in str(translate(client, text, **with_it)[0]["text"])
    assert "loup" not in str(translate(client, text, source_lang="EN")[0]["text"])
    for wrong, told in (({"source_lang": None}, "source_lang"), ({"source_lang": "FR", "target_lang": "EN-GB"}, "en to fr")):
        asked = {"text": text, "target_lang": "FR", **with_it, **wrong}
        refused(client.post("/v2/translate", json=asked), 400, told)
    deleted = client.delete(place)
    assert (deleted.status_code, deleted.content) == (204, b"")
    for answer in (client.get(place), client.delete(place), client.get(f"{place}/entries")):
        refused(answer, 404, "no glossary")
    refused(client.post("/v2/translate", json={"text": text, "target_lang": "FR", **with_it}), 404, "no glossary")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"entries": ""}, "entries: there is none"),
        ({"entries": "dog"}, "line 1, ['dog']"),
        ({"entries": "a\tb\n\ndog\t \n"}, "line 3"),
        ({"entries": "a\tb\tc"}, "line 1"),
        ({"entries": "a\tb\na\tc"}, "line 2: 'a' has another translation"),
        ({"entries": f"a\t{'b' * 201}"}, "200 characters"),
        ({"entries": f'"{"a" * 140_000}', "entries_format": "csv"}, "entries: field larger"),
        ({"entries": "a\0,b", "entries_format": "xlsx"}, "entries_format"),
        ({"target_lang": "de"}, "en to de is not translated here"),
        ({"name": ""}, "name"),
        ({"entries": "a\tb\n" * 300_000}, "1,000,000 bytes"),
    ],
)
def test_glossaries_that_are_refused(client: TestClient, change: dict[str, str], told: str) -> None:
    answer = client.post("/v2/glossaries", json={**GLOSSARY, **change})
    refused(answer, 413 if "bytes" in told else 400, told)


def test_a_glossary_of_many_terms(client: TestClient) -> None:
    """It may be longer than a text; only the terms that occur are used, whatever the case and the white space."""
    entries = "\n".join(f"word {number}, chat {number}, en, fr" for number in range(9000)) + '\n"big  DOG",loup\n'
    made = client.post("/v2/glossaries", json={**GLOSSARY, "entries": entries, "entries_format": "csv"}).json()
    assert made["entry_count"] == 9001
    for text in ("the big dog sleeps", "the Big Dog sleeps"):
        (found,) = translate(client, text, source_lang="EN", glossary_id=made["glossary_id"])
        assert "loup" in str(found["text"])
    for _ in range(MOST_GLOSSARIES):
        answer = client.post("/v2/glossaries", json=GLOSSARY)
        if answer.status_code != 201:
            break
    refused(answer, 400, f"{MOST_GLOSSARIES} glossaries")


def test_usage(serve: Serve) -> None:
    client = serve()
    translate(client, [ONE, ONE], source_lang="EN")
    usage = client.get("/v2/usage").json()
    assert usage["character_count"] == 2 * len(ONE) < usage["character_limit"]


def test_keys(serve: Serve) -> None:
    client = serve(keys=("secret",))
    good = {"authorization": "DeepL-Auth-Key secret"}
    asked = {"text": ONE, "target_lang": "FR"}
    paths = ("/v2/languages", "/v2/usage", "/v2/glossaries", "/v2/glossary-language-pairs")
    for headers in ({}, {"authorization": "DeepL-Auth-Key other"}, {"authorization": "Bearer secret"}):
        refused(client.post("/v2/translate", json=asked, headers=headers), 403, "API key")
        for path in paths:
            refused(client.get(path, headers=headers), 403, "API key")
        refused(client.post("/v2/glossaries", json=GLOSSARY, headers=headers), 403, "API key")
    for path in paths:
        assert client.get(path, headers=good).status_code == 200
    assert client.post("/v2/translate", json=asked, headers=good).status_code == 200
    assert client.post("/v2/translate", data={**asked, "auth_key": "secret"}).status_code == 200
    # The header is as good with the other protocols.
    assert client.post("/translate", json={"q": ONE, "target": "fr"}, headers=good).status_code == 200


def test_failures_have_the_form_that_clients_read(serve: Serve) -> None:
    client = serve(Limits(characters=100, queue=2))
    refused(client.post("/v2/translate", json={"text": ONE}), 400, "target_lang: Field required")
    refused(client.post("/v2/translate", json={"target_lang": "FR"}), 400, "text: Field required")
    refused(client.post("/v2/translate", json={"text": [1], "target_lang": "FR"}), 400, "text")
    refused(client.post("/v2/translate", json={"text": ONE, "target_lang": "DE"}), 400, "en to fr")
    refused(client.post("/v2/translate", json={"text": ONE, "target_lang": "x" * 21}), 400, "target_lang")
    refused(client.post("/v2/translate", json={"text": ONE, "target_lang": "FR", "tag_handling": "pdf"}), 400)
    refused(client.post("/v2/translate", content=b"{", headers={"content-type": "application/json"}), 400, "Invalid JSON")
    refused(client.post("/v2/translate", json={"text": ["x" * 60] * 2, "target_lang": "FR"}), 413, "120 characters")
    answer = client.post("/v2/translate", json={"text": ["a"] * 3, "target_lang": "FR"})
    refused(answer, 503, "waiting")
    assert answer.headers["retry-after"]
