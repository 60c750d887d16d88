"""The protocol of MTUOC, as its plugins for OmegaT and Trados send requests and read answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from rnnsearch.translation import Translator
from toy import toy_pairs

Serve = Callable[..., TestClient]
LINES = [source for source, _ in toy_pairs(3, seed=3)]
ONE = LINES[0]
FRENCH = toy_pairs(1, seed=3)[0][1]
UUID = "0b5c4d0e-6a52-4d4e-8a5c-111111111111"


@pytest.fixture
def translator(trained: Callable[..., Translator]) -> Translator:
    return Translator([trained("gated", "mlp").system])


def translate(client: TestClient, **asked: object) -> dict[str, object]:
    answer = client.post("/translate", json=asked)
    assert answer.status_code == 200, answer.text
    body: dict[str, object] = answer.json()
    return body


def test_omegat(client: TestClient, translator: Translator) -> None:
    best, *others_there = translator.n_best(ONE, 5)
    body = translate(client, src=ONE, id=UUID)
    assert (body["id"], body["src"], body["tgt"]) == (UUID, ONE, best.text)
    assert (body["src_tokens"], body["tgt_tokens"]) == (" ".join(best.source_tokens[:-1]), " ".join(best.tokens))
    assert best.links is not None
    assert body["alignment"] == " ".join(f"{source}-{target}" for source, target in sorted(best.links))
    others = [other["tgt"] for other in body["alternate_translations"]]  # type: ignore[attr-defined]
    assert others == [other.text for other in others_there if other.text]
    assert best.text not in others


def test_positions_count_through_all_sentences(client: TestClient) -> None:
    body = translate(client, src=f"{ONE}\n{LINES[1]}", id=7)
    first, second = (translate(client, src=line, id=7) for line in (ONE, LINES[1]))
    assert body["id"] == 7
    source, target = (len(str(first[side]).split()) for side in ("src_tokens", "tgt_tokens"))
    links = [tuple(map(int, link.split("-"))) for link in str(second["alignment"]).split()]
    moved = [f"{left + source}-{right + target}" for left, right in links]
    assert str(body["alignment"]).split() == [*str(first["alignment"]).split(), *moved]


def test_trados(serve: Serve, translator: Translator) -> None:
    """Trados names its languages, and its tags are in the text."""
    client = serve(languages=(("en", "fr"), ("fr", "en")))
    asked = {"id": UUID, "src": f"<tg1>{ONE}</tg1><tg2/>", "srcLang": "en-US", "tgtLang": "fr-FR"}
    assert translate(client, **asked)["tgt"] == f"<tg1>{translator.translate(ONE).text}</tg1><tg2/>"
    # Without languages, that of the text is detected.
    assert translate(client, src=FRENCH, id=1)["tgt"] != FRENCH
    answer = client.post("/translate", json={"src": ONE, "tgtLang": "de"})
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


def test_refusals(serve: Serve) -> None:
    client = serve(keys=("secret",))
    for asked, status in (
        ({"src": ONE}, 403), ({"src": [ONE], "api_key": "secret"}, 400), ({"src": ONE, "id": [], "api_key": "secret"}, 400),
        ({"src": "a" * 5001, "api_key": "secret"}, 413),
    ):  # fmt: skip
        answer = client.post("/translate", json=asked)
        assert (answer.status_code, list(answer.json())) == (status, ["error"]), asked
    assert translate(client, src=ONE, api_key="secret")["tgt"]
