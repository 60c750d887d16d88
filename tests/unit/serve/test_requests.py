"""Requests as they come in: their encodings, what is left out, and what is nothing of the kind."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from rnnsearch.serve.forms import FORM, MOST_FIELDS, MULTIPART, fields_of
from rnnsearch.serve.incoming import prefers_events
from toy import toy_pairs

Serve = Callable[..., TestClient]
ONE = toy_pairs(1, seed=3)[0][0]
TOLD = {"q": ONE, "source": "en", "target": "fr"}
texts = st.text(st.characters(codec="utf-8"), max_size=20)
names = st.text(st.characters(codec="utf-8", exclude_characters='"\\', exclude_categories=("Cc",)), min_size=1, max_size=8)
some_bytes = st.binary(max_size=60)


def part(name: str, value: str | bytes, more: str = "") -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return f'--xx\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + value + b"\r\n"


def multipart(*parts: bytes, end: bytes = b"--xx--\r\n") -> dict[str, object]:
    return {"content": b"".join(parts) + end, "headers": {"content-type": "multipart/form-data; boundary=xx"}}


@given(st.lists(st.tuples(names, texts), max_size=5))
def test_a_multipart_form_has_the_fields_that_were_put_in(fields: list[tuple[str, str]]) -> None:
    body = b"".join(part(name, value) for name, value in fields) + b"--xx--\r\n"
    assert fields_of(MULTIPART, {"boundary": "xx"}, body) == fields


@given(some_bytes | some_bytes.map(lambda some: part("q", some) + some), st.sampled_from((FORM, MULTIPART)))
def test_any_bytes_are_a_form_or_refused(body: bytes, kind: str) -> None:
    with contextlib.suppress(ValueError):
        fields = fields_of(kind, {"boundary": "xx"}, body)
        assert all(isinstance(text, str) for field in fields for text in field)


@pytest.mark.parametrize(
    ("charset", "q"), [("UTF-8", b"\xc3\xa9t\xc3\xa9"), ("iso-8859-1", b"\xe9t\xe9"), ("windows-1252", b"\xe9t\xe9")]
)
def test_charsets_of_forms(charset: str, q: bytes) -> None:
    escaped = "".join(f"%{byte:02x}" for byte in q).encode()
    for body in (b"q=" + q, b"q=" + escaped):
        assert fields_of(FORM, {"charset": charset}, body) == [("q", "été")]
    assert fields_of(MULTIPART, {"boundary": "xx", "charset": charset}, part("q", q) + b"--xx--") == [("q", "été")]
    with pytest.raises(HTTPException, match="UTF-8"):
        fields_of(FORM, {"charset": "unicode_escape"}, b"q=a")


def test_lists_and_texts_in_every_encoding(client: TestClient) -> None:
    answer = client.post("/translate", json=TOLD).json()
    text = answer["translatedText"]
    twice = multipart(part("q", ONE), part("target", "fr"), part("q", ONE), part("source", "en"))
    in_json = json.dumps({**TOLD, "q": [ONE, ONE]}).encode()
    for how in (
        {"data": {**TOLD, "q": [ONE, ONE]}},
        twice,
        {"json": {**TOLD, "q": [ONE, ONE]}},
        {"content": in_json, "headers": {"content-type": "Application/JSON; charset=UTF-8"}},
        {"content": b"\xef\xbb\xbf" + in_json, "headers": {"content-type": "a/b+json"}},
    ):
        assert client.post("/translate", **how).json() == {"translatedText": [text, text]}, how  # type: ignore[arg-type]
    # Of any other key, the first counts; the query string goes before the body.
    both = client.post("/translate?target=fr&api_key=x", data={**TOLD, "target": "zz", "api_key": "y"})
    assert both.json() == answer


@pytest.mark.parametrize("nothing", [None, ""])
@pytest.mark.parametrize(
    ("path", "keys", "more"),
    [
        ("/translate", ("source", "api_key", "format", "alternatives", "alignment", "n_best", "beam", "prefix", "terms",
                        "protect", "split_sentences"), {}),
        ("/detect", ("api_key",), {}),
        ("/score", ("source", "api_key"), {"translation": "le chien"}),
        ("/next-words", ("source", "api_key", "prefix", "count"), {}),
    ],
)  # fmt: skip
def test_optional_keys_that_are_null_or_empty(
    client: TestClient, path: str, keys: tuple[str, ...], more: dict[str, str], nothing: str | None
) -> None:
    asked = {"q": ONE, "target": "fr", **more}
    expected = client.post(path, json=asked)
    assert expected.status_code == 200, expected.text
    assert client.post(path, json={**asked, **dict.fromkeys(keys, nothing)}).json() == expected.json()
    schema = client.get("/spec").json()["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert {key for key in keys if key != "terms"} == set(schema["properties"]) - {"q", "target", "translation"}
    if nothing == "":
        empty = dict.fromkeys(keys, "")
        assert client.post(path, data={**asked, **empty}).json() == expected.json()
        parts = [part(name, value) for name, value in {**asked, **empty}.items()]
        assert client.post(path, **multipart(*parts)).json() == expected.json()  # type: ignore[arg-type]


JSON = {"content-type": "application/json"}
WRONG = {
    "a null text": {"json": {"q": None, "target": "fr"}},
    "no target": {"json": {"q": "a", "target": ""}},
    "a null in a list": {"json": {"q": ["a", None], "target": "fr"}},
    "a list of lists": {"json": {"q": [["a"]], "target": "fr"}},
    "a boolean number": {"json": {**TOLD, "alternatives": True}},
    "a number as text": {"json": {**TOLD, "alternatives": "3"}},
    "a number as a boolean": {"json": {**TOLD, "alignment": 1}},
    "a fraction": {"json": {**TOLD, "n_best": 1.5}},
    "a number for a text": {"json": {**TOLD, "format": 1}},
    "a key that is no text": {"json": {**TOLD, "api_key": 7}},
    "NaN": {"content": b'{"q":"a","target":"fr","beam":NaN}', "headers": JSON},
    "infinity": {"content": b'{"q":"a","target":"fr","beam":1e999}', "headers": JSON},
    "an endless number": {"content": b'{"q":"a","target":"fr","beam":' + b"9" * 5000 + b"}", "headers": JSON},
    "an enormous number": {"content": b'{"q":"a","target":"fr","beam":' + b"9" * 300 + b"}", "headers": JSON},
    "nesting": {"content": b'{"q":' * 5000, "headers": JSON},
    "a nested key": {"content": b'{"q":"a","target":"fr","x":' + b"[" * 5000, "headers": JSON},
    "a list": {"json": [TOLD]},
    "a text": {"json": "q"},
    "nothing": {"content": b"", "headers": JSON},
    "a lone surrogate": {"content": b'{"q":"\\ud800","target":"fr"}', "headers": JSON},
    "invalid UTF-8": {"content": b'{"q":"\xff","target":"fr"}', "headers": JSON},
    "an encoded surrogate": {"content": b'{"q":"\xed\xa0\x80","target":"fr"}', "headers": JSON},
    "invalid UTF-8 in a form": {"data": "q=%FF&target=fr", "headers": {"content-type": FORM}},
    "a surrogate in a form": {"data": "q=%ED%A0%80&target=fr", "headers": {"content-type": FORM}},
    "a form with a number": {"data": {**TOLD, "alternatives": "1e3"}},
    "a form with many fields": {"data": "q=a&" * 1001, "headers": {"content-type": FORM}},
    "a multipart form with invalid UTF-8": multipart(part("q", b"\xff"), part("target", "fr")),
    "a multipart form with a file": multipart(part("q", "a", '; filename="a.txt"'), part("target", "fr")),
    "a multipart form without a name": multipart(b"--xx\r\nContent-Type: text/plain\r\n\r\na\r\n"),
    "a multipart form without an end": multipart(part("q", "a"), part("target", "fr"), end=b""),
    "no multipart form": multipart(b"q=a&target=fr"),
    "a multipart form with many fields": multipart(part("q", "") * (MOST_FIELDS + 1)),
    "a multipart form with long headers": multipart(b"--xx\r\n" + b"A" * 20_000 + b": b\r\n\r\n\r\n"),
    "a multipart form without a boundary": {"content": b"--xx--", "headers": {"content-type": "multipart/form-data"}},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_understood_is_one_line(client: TestClient, name: str) -> None:
    how: dict[str, object] = dict(WRONG[name])  # type: ignore[call-overload]
    if isinstance(how.get("data"), str):
        how["content"] = how.pop("data")
    answer = client.post("/translate", **how)  # type: ignore[arg-type]
    assert answer.status_code == 400, answer.text
    told = answer.json()["error"]
    assert list(answer.json()) == ["error"]
    assert told
    assert "\n" not in told
    assert len(told) < 500


@pytest.mark.parametrize("query", ["q=%FF&target=fr", "q=%ED%A0%80&target=fr", "&a" * 2000])
def test_a_query_string_that_is_not_understood(client: TestClient, query: str) -> None:
    answer = client.post(f"/translate?{query}")
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_a_body_of_another_kind(client: TestClient) -> None:
    for kind in ("text/xml", "text/plain", "application/octet-stream", "multipart/mixed; boundary=x", "x" * 5000):
        answer = client.post("/translate", content=b"q=a", headers={"content-type": kind})
        assert answer.status_code == 415
        assert len(answer.json()["error"]) < 300
    answer = client.post("/translate", content=b"{}", headers={"content-type": "application/json; charset=x"})
    assert (answer.status_code, "UTF-8" in answer.json()["error"]) == (415, True)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("text/event-stream", True),
        ("TEXT/Event-Stream; charset=utf-8", True),
        ("text/event-stream, */*", True),
        ("text/event-stream, application/json", True),
        ("application/json;q=0.5, text/event-stream", True),
        ("text/event-stream;q=0.5", True),
        ("text/event-stream;q=0.1, application/json;q=0", True),
        ("", False),
        ("*/*", False),
        ("text/*", False),
        ("text/html", False),
        ("application/json, text/event-stream", False),
        ("*/*, text/event-stream", False),
        ("application/*, text/event-stream", False),
        ("application/json, text/plain, */*, text/event-stream", False),
        ("text/event-stream;q=0.5, application/json", False),
        ("text/event-stream;q=0.9, */*", False),
        ("text/event-stream;q=0", False),
        ("text/event-stream;q=nan", False),
        ("text/event-stream;q=2, application/json", False),
        ("text/html, image/gif, *; q=.2, */*; q=.2", False),
        (",;,q=1;", False),
    ],
)
def test_a_stream_only_where_it_is_preferred(accept: str, expected: bool) -> None:
    assert prefers_events(accept) is expected


def test_the_client_decides_between_json_and_events(client: TestClient) -> None:
    for accept, kind in (
        ("application/json, text/event-stream", "application/json"),
        ("text/event-stream, */*", "text/event-stream; charset=utf-8"),
    ):
        answer = client.post("/translate", json=TOLD, headers={"accept": accept})
        assert answer.headers["content-type"] == kind
    # A header may be given several times.
    headers = [("accept", "application/json"), ("accept", "text/event-stream")]
    assert client.post("/translate", json=TOLD, headers=headers).headers["content-type"] == "application/json"  # type: ignore[arg-type]


def test_patterns_of_spans_to_keep(client: TestClient) -> None:
    """The model does not know the symbols of spans, and says so; a broken pattern, and too many, are refused."""
    asked = {"q": ONE, "source": "en", "target": "fr"}
    for more, told in (
        ({"protect": ["dog"]}, "set data.protect in training"),
        ({"protect": "dog"}, "set data.protect in training"),
        ({"protect": ["("] * 21}, "protect: "),
    ):
        answer = client.post("/translate", json={**asked, **more})
        assert answer.status_code == 400, answer.text
        assert told in answer.json()["error"]
    assert client.post("/translate", data={**asked, "protect": ["dog", "cat"]}).status_code == 400
