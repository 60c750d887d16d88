"""The protocol of Apertium's web service, as the connectors of OmegaT and Weblate send requests and read answers."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote_plus

import pytest
from starlette.testclient import TestClient

from rnnsearch.serve.incoming import Limits
from rnnsearch.translation import Translator
from toy import toy_pairs

Serve = Callable[..., TestClient]
LINES = [source for source, _ in toy_pairs(3, seed=3)]
ONE = LINES[0]


@pytest.fixture
def expected(trained: Callable[..., Translator]) -> str:
    return Translator([trained("gated", "mlp").system]).translate(ONE).text


def text_of(answer: object) -> str:
    body = answer.json()  # type: ignore[attr-defined]
    assert answer.status_code == 200, body  # type: ignore[attr-defined]
    assert (body["responseStatus"], body["responseDetails"]) == (200, None)
    text: str = body["responseData"]["translatedText"]
    return text


def refused(answer: object, status: int, *told: str) -> None:
    """As the web service refuses."""
    assert answer.status_code == status, answer.text  # type: ignore[attr-defined]
    body = answer.json()  # type: ignore[attr-defined]
    assert (body["status"], body["code"], list(body)) == ("error", status, ["status", "code", "message", "explanation"])
    for part in told:
        assert part in body["explanation"]


@pytest.mark.parametrize("pair", ["en|fr", "eng|fra", "en_US|fr_FR", "EN|FR", "eng|fr"])
def test_omegat(client: TestClient, expected: str, pair: str) -> None:
    """OmegaT leaves the bar between the languages as it is, and sends an empty key."""
    answer = client.get(f"/translate?q={quote_plus(ONE)}&markUnknown=no&langpair={pair}&key=")
    assert text_of(answer) == expected


def test_weblate(client: TestClient, expected: str) -> None:
    pairs = client.get("/listPairs").json()["responseData"]
    assert pairs == [{"sourceLanguage": "eng", "targetLanguage": "fra"}]
    params = {"langpair": "eng|fra", "q": ONE, "markUnknown": "no"}
    assert text_of(client.get("/translate", params=params)) == expected
    assert text_of(client.post("/translate", data=params)) == expected
    short = client.get("/listPairs?include_deprecated_codes=1").json()["responseData"]
    assert short == [*pairs, {"sourceLanguage": "en", "targetLanguage": "fr"}]


def test_tags_and_formats(client: TestClient, expected: str) -> None:
    def translate(text: str, **how: str) -> str:
        return text_of(client.get("/translate", params={"langpair": "en|fr", "q": text, **how}))

    assert translate(f"3 < 5 & <f0>{ONE}</f0>").count("f0>") == 2
    assert translate(f"<a0>{ONE}</a0>") == f"<a0>{expected}</a0>"
    assert translate(f" {ONE}\n\n{ONE} ") == f" {expected}\n\n{expected} "
    assert translate(f"<p>{ONE}</p>&lt;", format="html") == f"<p>{expected}</p>&lt;"
    assert translate(ONE, format="txt") == expected


def test_identification_of_a_language(client: TestClient) -> None:
    shares = client.get("/identifyLang", params={"q": "Où est la gare ?"}).json()
    assert set(shares) == {"eng", "fra"}
    assert 0 <= shares["eng"] < 0.5 < shares["fra"] <= 1
    refused(client.get("/identifyLang"), 400, "q")


def test_refusals(serve: Serve) -> None:
    client = serve(Limits(characters=100), keys=("secret",))

    def get(**params: str) -> object:
        return client.get("/translate", params={"q": "a", "langpair": "en|fr", "key": "secret", **params})

    assert text_of(get())
    refused(get(key="other"), 403, "API key")
    for pair in ("en", "|fr", "en|", "", "x" * 30 + "|fr"):
        refused(get(langpair=pair), 400, "pair is invalid")
    refused(get(langpair="en|de"), 400, "not translated here")
    refused(get(langpair="x" * 60), 400, "langpair")
    refused(get(q="a" * 101), 413, "101 characters")
    refused(client.get("/translate?langpair=en|fr"), 400, "q: Field required")
    # Without a pair of languages, it is no request of this protocol.
    answer = client.get("/translate?q=a")
    assert (answer.status_code, list(answer.json()), answer.headers["allow"]) == (405, ["error"], "POST")


def test_a_get_that_says_its_missing_body_is_json_is_read(client: TestClient) -> None:
    """Clients that set the header once send it with every request."""
    query = {"langpair": "en|fr", "q": "the dog sleeps ."}
    answers = [
        client.get("/translate", params=query, headers=headers) for headers in ({}, {"content-type": "application/json"})
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
