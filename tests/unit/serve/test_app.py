"""What the server answers: as its protocol says, and as `translate` would."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from rnnsearch.errors import RnnsearchError
from rnnsearch.search import Search
from rnnsearch.serve.incoming import MOST_BYTES, OWN_LIMITS, Limits
from rnnsearch.text import Vocabulary
from rnnsearch.translation import Translator
from toy import toy_pairs

Serve = Callable[..., TestClient]
LINES = [source for source, _ in toy_pairs(12, seed=3)]
ONE = LINES[0]


@pytest.fixture
def translator(trained: Callable[..., Translator]) -> Translator:
    return Translator([trained("gated", "mlp").system])


def post(client: TestClient, path: str = "/translate", **asked: object) -> dict[str, object]:
    answer = client.post(path, json={"target": "fr", "split_sentences": False, **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def refused(answer: object, status: int, *told: str) -> None:
    """One sentence, as JSON, with this status."""
    assert answer.status_code == status, answer.text  # type: ignore[attr-defined]
    body = answer.json()  # type: ignore[attr-defined]
    assert list(body) == ["error"]
    assert "Traceback" not in body["error"]
    for part in told:
        assert part in body["error"]


def test_a_text_and_a_list_of_texts(serve: Serve, translator: Translator) -> None:
    client = serve()
    texts = [found.text for found in translator.translate(LINES)]
    assert post(client, q=ONE, source="en") == {"translatedText": texts[0]}
    assert post(client, q=LINES, source="en") == {"translatedText": texts}
    assert post(client, q=[], source="en") == {"translatedText": []}
    assert post(client, q=" \n", source="en") == {"translatedText": " \n"}
    assert post(client, q=ONE, source="en", beam=3.0) == {"translatedText": translator.translate(ONE, beam=3).text}


@pytest.mark.parametrize(("source", "target"), [("EN", "FR"), ("en-US", "fr-CA"), ("en_GB", "fr_FR"), ("AUTO", "fr")])
def test_languages_in_other_letters_and_with_a_region(
    serve: Serve, translator: Translator, source: str, target: str
) -> None:
    answer = post(serve(), q=ONE, source=source, target=target)
    assert answer["translatedText"] == translator.translate(ONE).text


def test_lines_and_white_space_stay(serve: Serve, translator: Translator) -> None:
    texts = [found.text for found in translator.translate(LINES[:3])]
    asked, expected = "  {}\n\n\t{}\r\n{} \n".format(*LINES[:3]), "  {}\n\n\t{}\r\n{} \n".format(*texts)
    assert post(serve(), q=asked, source="en") == {"translatedText": expected}


def test_alternatives(serve: Serve, translator: Translator) -> None:
    client, (best, *others) = serve(), translator.n_best(ONE, 3)
    found = post(client, q=ONE, source="en", alternatives=2)
    assert found == {"translatedText": best.text, "alternatives": [other.text for other in others]}
    many = post(client, q=[ONE, ONE], source="en", alternatives=2)
    assert many["alternatives"] == [found["alternatives"]] * 2


def test_html(serve: Serve, translator: Translator) -> None:
    client, (best, other) = serve(), translator.n_best(ONE, 2)
    page = "<p class='a'><b>{}</b><br>\n<script>a < b</script></p>"
    found = post(client, q=page.format(ONE), source="en", format="html", alternatives=1, alignment=True)
    assert (found["translatedText"], found["alternatives"]) == (page.format(best.text), [page.format(other.text)])
    (sentence,) = found["sentences"]  # type: ignore[misc]
    assert (sentence["source"], sentence["text"]) == (ONE, best.text)
    many = post(client, q=[page.format(ONE), ONE, "<br>"], source="en", format="html")
    assert many["translatedText"] == [page.format(best.text), best.text, "<br>"]
    assert post(client, q="&lt;" + ONE, source="en", format="html")["translatedText"].count("<") == 0  # type: ignore[attr-defined]
    asked = {"q": page.format(ONE), "target": "fr", "format": "html"}
    refused(client.post("/translate", json=asked, headers={"accept": "text/event-stream"}), 400, "format", "stream")
    refused(serve(Limits(characters=40)).post("/translate", json=asked), 413, "characters")


def test_the_words_that_may_come_next(serve: Serve, translator: Translator) -> None:
    expected = translator.next_words(ONE, "le", 3)
    words = post(serve(), "/next-words", q=ONE, source="en", prefix="le", count=3)["words"]
    assert words == [{"word": one.word, "probability": round(one.probability, 6)} for one in expected]
    (end, *_) = post(serve(), "/next-words", q=ONE, source="en", prefix=translator.translate(ONE).text)["words"]  # type: ignore[misc]
    assert list(end) == ["probability"]
    for asked in ({"q": " "}, {"q": ONE, "count": 0}, {"q": [ONE]}, {"q": "the " * 500}):
        refused(serve().post("/next-words", json={"target": "fr", **asked}), 400)


def test_alignment_scores_and_confidence(serve: Serve, translator: Translator) -> None:
    expected = translator.n_best(ONE, 2, beam=7)
    (found,) = post(serve(), q=ONE, source="en", alignment=True, beam=7, n_best=2)["sentences"]  # type: ignore[misc]
    values = expected[0].to_dict()
    assert found["source"] == ONE
    for key in ("text", "tokens", "source_tokens", "score", "finished"):
        assert found[key] == values[key]
    assert (found["weights"], found["end_weights"]) == (values["alignment"], values["end_alignment"])
    assert {tuple(link) for link in found["links"]} == expected[0].links
    assert 0 < found["confidence"] <= 1
    assert [found["text"][start:end] for start, end in found["spans"]] == found["tokens"]
    assert [ONE[start:end] for start, end in found["source_spans"]] == found["source_tokens"][:-1]
    assert [one["text"] for one in found["n_best"]] == [expected[1].text]


def test_a_beginning_is_kept(serve: Serve, translator: Translator) -> None:
    expected = translator.translate(ONE, prefix="ce livre")
    assert post(serve(), q=ONE, source="en", prefix="ce livre") == {"translatedText": expected.text}
    refused(serve().post("/translate", json={"q": "a\nb", "target": "fr", "prefix": "un"}), 400, "prefix", "2 sentences")


def test_terms(serve: Serve, translator: Translator) -> None:
    word = ONE.split()[1]
    given = {word: "arbre", ONE: "chat"}
    for server_terms, terms in ((None, given), (given, {}), ({word: "homme"}, {word: "Zbigniew"})):
        expected = translator.translate(ONE, terms=terms or server_terms)
        client = serve(server_terms=server_terms)
        (found,) = post(client, q=ONE, source="en", alignment=True, terms=terms)["sentences"]
        assert found["text"] == expected.text
        places = [list(place.values()) for place in expected.to_dict()["terms"]]  # type: ignore[attr-defined]
        assert found["terms"] == places
        assert places
    for wrong in ({word: " "}, {word: 3}, {str(i): "x" for i in range(300)}, "word"):
        refused(serve().post("/translate", json={"q": ONE, "target": "fr", "terms": wrong}), 400)


@pytest.mark.parametrize("path", ["/score", "/align"])
def test_given_pairs(serve: Serve, translator: Translator, path: str) -> None:
    sources, targets = (list(side) for side in zip(*toy_pairs(3, seed=8), strict=True))
    pairs = post(serve(), path, q=sources, translation=targets)["pairs"]
    for found, expected in zip(pairs, translator.score(sources, targets), strict=True):  # type: ignore[call-overload]
        values = expected.to_dict()
        assert found["score"] == values["score"]
        assert found["word_scores"] == values["word_scores"]
        assert found["weights"] == values["alignment"]
        assert found["tokens"] == values["tokens"]
    alone = post(serve(), path, q=sources[0], translation=targets[0])
    assert alone["pairs"][0]["tokens"] == pairs[0]["tokens"]  # type: ignore[index]
    refused(serve().post(path, json={"q": ["a"], "translation": [], "target": "fr"}), 400, "1 sentences")


def test_forms_and_queries(serve: Serve, translator: Translator) -> None:
    client, text = serve(), translator.translate(ONE).text
    fields = {"q": ONE, "source": "en", "target": "fr"}
    assert client.post("/translate", data=fields).json() == {"translatedText": text}
    assert client.post("/translate", params=fields).json() == {"translatedText": text}
    several = client.post("/translate", data={**fields, "q": [ONE, ONE]})
    assert several.json() == {"translatedText": [text, text]}


def test_events(serve: Serve, translator: Translator) -> None:
    answer = serve().post(
        "/translate", json={"q": "\n".join(LINES), "target": "fr"}, headers={"accept": "text/event-stream"}
    )
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    events = [event.split("\n") for event in answer.text.strip().split("\n\n")]
    assert [event[0] for event in events] == ["event: sentence"] * len(LINES) + ["event: done"]
    found = [json.loads(event[1].removeprefix("data: "))["text"] for event in events[:-1]]
    assert found == [one.text for one in translator.translate(LINES)]


def test_what_there_is(serve: Serve) -> None:
    client = serve(keys=("secret",))
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["fr"]},
        {"code": "fr", "name": "French", "targets": []},
    ]
    settings = client.get("/frontend/settings").json()
    assert settings["keyRequired"] is True
    assert settings["language"]["target"] == {"code": "fr", "name": "French"}
    client.post("/translate", json={"q": ONE, "target": "fr", "api_key": "secret"})
    metrics = client.get("/metrics").text
    assert 'rnnsearch_requests_total{path="/translate",status="200"} 1.0' in metrics
    assert "rnnsearch_sentences_total 1.0" in metrics


def test_the_document_tells_what_this_server_asks_for(serve: Serve) -> None:
    with_keys, without = (serve(keys=keys).get("/openapi.json").json() for keys in (("secret",), ()))
    fields = without["components"]["schemas"]["TranslateRequest"]["properties"]
    assert (fields["source"]["anyOf"][0]["enum"], fields["target"]["enum"]) == (["auto", "en", "fr"], ["fr"])
    assert fields["prefix"]["anyOf"][0]["maxLength"] == Limits().characters
    for document, keys in ((with_keys, True), (without, False)):
        for kind in ("TranslateRequest", "DetectRequest"):
            assert ("api_key" in document["components"]["schemas"][kind]["required"]) is keys
        responses = document["paths"]["/translate"]["post"]["responses"]
        assert ("403" in responses) is keys
        assert "Retry-After" in responses["503"]["headers"]
        assert set(responses["200"]["content"]) == {"application/json", "text/event-stream"}


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"json": {"target": "fr"}}, 400, "q: Field required"),
        ({"json": {"q": 3, "target": "fr"}}, 400, "q"),
        ({"json": {"q": "a"}}, 400, "target"),
        ({"json": {"q": "a", "target": "de"}}, 400, "auto to de is not translated here, but en to fr"),
        ({"json": {"q": "a", "source": "de", "target": "de"}}, 400, "de to de"),
        ({"json": {"q": "a", "source": "fr", "target": "en"}}, 400, "fr to en"),
        ({"json": {"q": "a", "target": "fr", "beam": -1}}, 400, "beam"),
        ({"json": {"q": "a", "target": "fr", "beam": "3"}}, 400, "beam"),
        ({"json": {"q": "a", "target": "fr", "alignment": 1}}, 400, "alignment"),
        ({"json": {"q": "a", "target": "fr", "alternatives": 10**9}}, 400, "alternatives"),
        ({"json": {"q": "a", "target": "fr", "format": "docx"}}, 400, "format"),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400, "Invalid JSON"),
        ({"content": b'"\xff"', "headers": {"content-type": "application/json"}}, 400, "Invalid JSON"),
        ({"content": b"[" * 50_000, "headers": {"content-type": "application/json"}}, 400, "recursion"),
        ({"content": b'{"q":"\\ud800","target":"fr"}', "headers": {"content-type": "application/json"}}, 400, "Invalid"),
        ({"content": b"q=\xff", "headers": {"content-type": "application/x-www-form-urlencoded"}}, 400, "utf-8"),
        ({"content": b"&a" * 2000, "headers": {"content-type": "application/x-www-form-urlencoded"}}, 400, "fields"),
        ({"content": b"x", "headers": {"content-type": "text/xml"}}, 415, "text/xml"),
        ({"content": b""}, 400, "target"),
        ({"content": b"x" * 10**6}, 413, "longer than"),
    ],
)
def test_what_is_not_understood_is_told(client: TestClient, asked: dict[str, object], status: int, told: str) -> None:
    refused(client.post("/translate", **asked), status, told)  # type: ignore[arg-type]
    assert client.get("/health").status_code == 200


def test_other_addresses_and_methods(serve: Serve) -> None:
    refused(serve().get("/nothing"), 404)
    refused(serve().get("/translate"), 405)


def test_too_much(serve: Serve) -> None:
    limits = Limits(characters=100, sentences=3, queue=2)
    client = serve(limits)
    refused(client.post("/translate", json={"q": ["x" * 60, "x" * 60], "target": "fr"}), 413, "120 characters", "100")
    refused(client.post("/translate", json={"q": "x", "prefix": "x" * 100, "target": "fr"}), 413, "101 characters", "100")
    refused(client.post("/score", json={"q": "x" * 60, "translation": "x" * 60, "target": "fr"}), 413, "120 characters")
    refused(client.post("/translate", json={"q": "a\n" * 4, "target": "fr"}), 413, "4 sentences", "3")
    answer = client.post("/translate", json={"q": "a\n" * 3, "target": "fr"})
    refused(answer, 503, "waiting")
    assert int(answer.headers["retry-after"]) > 0
    assert client.post("/translate", json={"q": "a\n" * 2, "target": "fr"}).status_code == 200


def test_without_limits(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve(OWN_LIMITS)
    expected = post(client, q=LINES, source="en")["translatedText"]
    monkeypatch.setattr("rnnsearch.serve.server.AT_ONCE", 5)
    assert post(client, q=LINES, source="en")["translatedText"] == expected
    long = "\n" * Limits().characters + "\n".join(LINES[:2])
    assert post(client, q=long, source="en")["translatedText"].split() == " ".join(expected[:2]).split()  # type: ignore[attr-defined,index]
    assert client.get("/frontend/settings").json()["charLimit"] == -1
    assert "rnnsearch_sentences_under_way 0.0" in client.get("/metrics").text
    schemas = client.get("/spec").json()["components"]["schemas"]
    assert not any("maxLength" in one for one in schemas["TranslateRequest"]["properties"]["q"]["anyOf"])
    # What bounds the memory stays.
    refused(client.post("/translate", content=b"x" * (MOST_BYTES + 1)), 413, "10,000,000 bytes")
    many = {"q": "a\n" * 5000, "target": "fr", "source": "en", "n_best": 20, "alignment": True}
    refused(client.post("/translate", json=many), 413, "5,000 sentences, 20 translations", "50,000")


def test_sentences_that_wait_count(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a long text that the search does not have yet are under way, and leave it with the request."""
    slowly(monkeypatch)
    monkeypatch.setattr("rnnsearch.serve.server.AT_ONCE", 50)
    client = serve(Limits(None, None, 400, 2.0))
    with ThreadPoolExecutor(1) as other:
        coming = other.submit(client.post, "/translate", json={"q": "a\n" * 390, "target": "fr", "source": "en"})
        while "rnnsearch_sentences_under_way 0.0" in client.get("/metrics").text:
            assert not coming.done()
        refused(client.post("/translate", json={"q": "a\n" * 390, "target": "fr", "source": "en"}), 503, "waiting")
        refused(coming.result(), 503, "seconds")
    assert "rnnsearch_sentences_under_way 0.0" in client.get("/metrics").text


def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each step of a search slow."""
    step = Search.step

    def slow(search: Search) -> object:
        time.sleep(0.2)
        return step(search)

    monkeypatch.setattr(Search, "step", slow)


ORIGIN = "https://example.org"


def test_too_long(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch)
    client = serve(Limits(seconds=0.5), origins=(ORIGIN,))
    asked = {"json": {"q": "\n".join(LINES), "target": "fr"}, "headers": {"origin": ORIGIN}}
    answer = client.post("/translate", **asked)  # type: ignore[arg-type]
    refused(answer, 503, "more than 0.5 seconds")
    assert "retry-after" in answer.headers
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "rnnsearch_sentences_under_way 0.0" in client.get("/metrics").text


def test_a_stream_that_takes_too_long_ends_with_an_error(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch)
    answer = serve(Limits(seconds=1.5)).post(
        "/translate", json={"q": "\n".join(LINES * 5), "target": "fr"}, headers={"accept": "text/event-stream"}
    )
    assert answer.status_code == 200
    last = answer.text.split("\n\n")[-2].split("\n")
    assert last[0] == "event: error"
    assert "more than 1.5 seconds" in json.loads(last[1].removeprefix("data: "))["error"]
    assert "event: done" not in answer.text


def test_keys(serve: Serve) -> None:
    client = serve(keys=("first", "clé"))
    for key in ("", "wrong", "firs"):
        refused(client.post("/translate", json={"q": ONE, "target": "fr", "api_key": key}), 403, "API key")
    for key in ("first", "clé"):
        assert client.post("/translate", json={"q": ONE, "target": "fr", "api_key": key}).status_code == 200


def test_other_sites(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"json": {"q": ONE, "target": "fr"}, "headers": {"origin": ORIGIN}}
    assert "access-control-allow-origin" not in serve().post("/translate", **asked).headers  # type: ignore[arg-type]
    client = serve(Limits(queue=1, characters=100), keys=("k",), origins=(ORIGIN,))
    good = {"q": ONE, "target": "fr", "api_key": "k"}
    for status, method, path, how in (
        (200, "POST", "/translate", {"json": good}),
        (200, "GET", "/", {}),
        (400, "POST", "/translate", {"content": b"{", "headers": {"content-type": "application/json"}}),
        (403, "POST", "/translate", {"json": {**good, "api_key": "x"}}),
        (403, "POST", "/suggest", {}),
        (404, "GET", "/nothing", {}),
        (405, "GET", "/translate", {}),
        (413, "POST", "/translate", {"json": {**good, "q": "x" * 200}}),
        (413, "POST", "/translate", {"content": b"x" * 10**5}),
        (415, "POST", "/translate", {"content": b"x", "headers": {"content-type": "text/xml"}}),
        (503, "POST", "/translate", {"json": {**good, "q": "a\nb"}}),
    ):
        headers = {**how.get("headers", {}), "origin": ORIGIN}  # type: ignore[attr-defined]
        answer = client.request(method, path, **{**how, "headers": headers})  # type: ignore[arg-type]
        assert answer.status_code == status, answer.text
        assert answer.headers["access-control-allow-origin"] == ORIGIN
    monkeypatch.setattr(client.app.state.search, "translations", None)  # type: ignore[attr-defined]
    answer = client.post("/translate", json=good, headers={"origin": ORIGIN})
    refused(answer, 500, "failed")
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    asks = {"origin": ORIGIN, "access-control-request-method": "POST", "access-control-request-headers": "content-type,x-a"}
    preflight = client.options("/translate", headers=asks)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, ORIGIN)


def test_texts_are_not_in_the_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "rnnsearch.serve")
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # the client
    serve().post("/translate", params={"q": ONE, "target": "fr"})
    assert "POST /translate 200" in caplog.text
    assert ONE not in caplog.text.replace("+", " ").replace("%20", " ")
    serve(log_text=True).post("/translate", json={"q": ONE, "target": "fr"})
    assert ONE in caplog.text


def test_a_failure_is_one_sentence(serve: Serve, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    step, encode, expected = Search.step, Vocabulary.encode, translator.translate(LINES[1]).text

    def broken(search: Search) -> object:
        raise MemoryError("a secret of the inside")

    def encode_and_break(vocabulary: Vocabulary, words: list[str]) -> list[int]:
        if words in (LINES[0].split(), LINES[1].split()):
            monkeypatch.setattr(Search, "step", broken if words == LINES[0].split() else step)
        return encode(vocabulary, words)

    monkeypatch.setattr(Vocabulary, "encode", encode_and_break)
    client = serve()
    answer = client.post("/translate", json={"q": LINES[0], "target": "fr"})
    refused(answer, 500, "failed")
    assert "secret" not in answer.text
    assert post(client, q=LINES[1], source="en") == {"translatedText": expected}


def test_a_search_process_that_dies(serve: Serve) -> None:
    client = serve()
    found = client.get("/metrics").text
    assert "rnnsearch_search_1_process_resident_memory_bytes" in found
    search = client.app.state.search  # type: ignore[attr-defined]
    stopped = threading.Event()
    search.when_lost = stopped.set
    os.kill(search.pids[1], signal.SIGKILL)
    assert stopped.wait(30)
    refused(client.post("/translate", json={"q": ONE, "target": "fr"}), 500, "failed")
    assert search.lost
    refused(client.get("/health"), 500, "failed")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("cannot cache function 'f':\nno locator available")])
def test_a_model_that_cannot_translate_is_not_served(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, error: Exception, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(search: Search) -> object:
        raise error

    monkeypatch.setattr(Search, "step", broken)
    with pytest.raises(RnnsearchError, match=f"cannot translate here: {type(error).__name__}") as told:
        serve()
    assert "\n" not in str(told.value)
    assert "Traceback" not in capfd.readouterr().err


def test_terms_that_take_too_long_are_refused(serve: Serve, translator: Translator) -> None:
    words = ONE.split()
    given = dict.fromkeys(words, "livre " * 15)
    client = serve()
    refused(client.post("/translate", json={"q": [ONE] * 20, "target": "fr", "terms": given}), 400, "limit is")
    few = {words[1]: "livre " * 15}
    assert post(client, q=ONE, source="en", terms=few) == {"translatedText": translator.translate(ONE, terms=few).text}
    assert post(client, q=ONE, source="en") == {"translatedText": translator.translate(ONE).text}
