"""Odd requests, drawn at random, to the server's application in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any
from urllib.parse import quote_plus

from starlette.testclient import TestClient

from campaign.fuzz import CONTENTS
from campaign.trial import Part, chance, world
from rnnsearch.memory import Memory
from rnnsearch.serve.app import make_app
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.search_processes import SearchProcesses, load_each
from rnnsearch.serve.server import Server

PATHS = ("/translate",) * 5 + (
    *("/detect", "/score", "/next-words", "/languages", "/spec", "/nothing", "/listPairs", "/identifyLang"),
    *("/suggest", "/translate_file", "/download_file/x"),
    *("/v2/translate", "/v2/glossaries", "/v2/glossaries/x", "/v2/languages"),
)
GOOD: dict[str, Any] = {
    "q": "the big dog sees a red cat .", "source": "en", "target": "fr", "format": "text", "alternatives": 2, "api_key": "",
    "alignment": True, "n_best": 2, "beam": 3, "prefix": "", "terms": {"dog": "loup"}, "split_sentences": True,
    "translation": "le grand chien", "count": 3, "text": ["the <x>big</x> dog"], "target_lang": "FR", "source_lang": "EN",
    "tag_handling": "xml", "ignore_tags": ["x"], "name": "ours", "entries": "dog\tloup",
    "s": "le grand chien", "file": "the <b>big</b> dog", "filename": "a.html",
}  # fmt: skip
OTHERS = ({"langpair": "en|fr"}, {"src": "the <x/> dog", "id": 1})
"""Fields of other protocols."""
PIECES = (
    "the", "dog", ".", "?", "Où est", "la gare", "\n", "\u2028", "\0", "\ud800", "🙂", "é", "<b>", "</b>", "<!--", "&",
    "|||", "[UNK]", "",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, "", " ", True, False, 0, 1, -1, 1.0, 1.5, 10**30, -(10**30), 1e308, float("nan"), float("inf"), "1", "1e3", "true",
    "auto", "fr", "en", "FR", "zz", "html", "text", [], [None], [[]], {}, {"a": {}}, {"": ""}, {"dog": ""}, {"dog": 1},
    {"dog": "x" * 201}, {"dog": "le " * 60, "cat": "le " * 60}, "x" * 300, "q" * 6000, "\ud800", "\0",
)  # fmt: skip
TYPES = (
    "application/json", "application/json; charset=utf-8", "application/json; charset=utf-16", "APPLICATION/JSON",
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=latin1", "multipart/form-data",
    "multipart/form-data; boundary=xx", 'multipart/form-data; boundary="xx"', "text/plain", "", ";", "a/b+json",
    "multipart/form-data; boundary=" + "x" * 300, "application/json; charset=unicode_escape", "é",
)  # fmt: skip
ACCEPTED = ("*/*", "application/json", "text/event-stream", "text/event-stream;q=0.5, */*", "q=;,;", "", "text/*", "é")
STATUSES = (200, 201, 204, 400, 403, 404, 405, 408, 413, 415, 503)


def requests(seed: int, numbers: Sequence[int]) -> Part:
    """Send odd requests. Each must be answered with an expected status, and a refusal with one line."""
    part = Part()
    make = partial(load_each, [world() / "mlp"])
    with SearchProcesses(make, {"batch_sentences": 4}, None, 1) as search:
        limits = Limits(characters=5000, sentences=50)
        app = make_app(Server(search, limits, memory=Memory(world() / "memory")), ["https://example.org"])
        with TestClient(app, raise_server_exceptions=False) as client:
            for number in numbers:
                random = Random(f"{seed} {number}")
                request = drawn(random)
                part.attempt(f"{number}: {request}"[:500], wrong(client, request))
            part.attempt("a good request at the end", wrong(client, {"url": "/translate", "json": GOOD}, (200,)))
    return part


def drawn(random: Random) -> dict[str, Any]:
    """Return a valid request in which a few keys, and possibly the encoding and some bytes, are odd."""
    keys = random.sample([*GOOD], random.randrange(len(GOOD))) if chance(random, 0.5) else [*GOOD]
    fields = {key: GOOD[key] for key in {"q": 0, "target": 0, **dict.fromkeys(keys)}}
    if chance(random, 0.2):
        fields |= random.choice(OTHERS)
    for key in random.sample([*fields], random.choice((0, 1, 1, 2))):
        fields[key] = random.choice(VALUES)
    if chance(random, 0.4):
        fields["q"] = "".join(random.choices(PIECES, k=random.randrange(40)))
    if chance(random, 0.1):
        fields["q"] = [fields["q"]] * random.randrange(5)
    kind, body = random.choice(((TYPES[0], in_json), (TYPES[4], in_form), (TYPES[7], in_parts)))
    content = body(fields)
    if chance(random, 0.2):
        kind = random.choice(TYPES)
    if chance(random, 0.2):
        content = broken(random, content)
    headers = {"content-type": kind.encode(), "accept": random.choice(ACCEPTED).encode(), "origin": b"https://example.org"}
    query = f"?{in_form(fields).decode()[:2000]}" if chance(random, 0.1) else ""
    method = random.choice(("GET", "PUT", "OPTIONS", "HEAD")) if chance(random, 0.05) else "POST"
    return {"method": method, "url": random.choice(PATHS) + query, "content": content, "headers": headers}


def in_json(fields: dict[str, Any]) -> bytes:
    """Encode fields as JSON, in which lone surrogates are escaped."""
    return json.dumps(fields).encode()


def in_form(fields: dict[str, Any]) -> bytes:
    """Encode fields as a URL-encoded form."""
    return "&".join(f"{key}={quote_plus(text)}" for key, text in as_texts(fields)).encode()


def in_parts(fields: dict[str, Any]) -> bytes:
    """Encode fields as a multipart form."""
    parts = [
        f'--xx\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n'.encode() + text + b"\r\n"
        for key, text in as_texts(fields)
    ]
    return b"".join(parts) + b"--xx--\r\n"


def as_texts(fields: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Return the names and texts of fields in a form, in which a list becomes several fields."""
    pairs = [(key, one) for key, value in fields.items() for one in (value if isinstance(value, list) else [value])]
    return [(key, ("" if value is None else str(value)).encode("utf-8", "surrogatepass")) for key, value in pairs]


def broken(random: Random, content: bytes) -> bytes:
    """Damage bytes: cut them short, replace or repeat some, append others, or return completely different ones."""
    place, stop = sorted(random.randrange(len(content) + 1) for _ in range(2))
    match random.randrange(5):
        case 0:
            return content[:place]
        case 1:
            return content[:place] + random.randbytes(3) + content[stop:]
        case 2:
            return content[:place] + content[place:stop] * 20 + content[stop:]
        case 3:
            return content[:place] + random.choice((b"[", b'{"a":', b"&a", b"--xx\r\n", b"9")) * 20_000
        case _:
            return random.choice([*CONTENTS.values()])


def wrong(client: TestClient, request: dict[str, Any], statuses: Sequence[int] = STATUSES) -> str | None:
    """Send a request; return what is wrong with the answer, or None."""
    answer = client.request(**{"method": "POST", **request})
    if answer.status_code not in statuses:
        return f"status {answer.status_code}: {answer.text[:200]}"
    if "origin" in request.get("headers", {}) and "access-control-allow-origin" not in answer.headers:
        return "a refusal without a header for other sites"
    if answer.status_code == 200 or request.get("method") in ("HEAD", "OPTIONS"):
        return None
    if answer.status_code in (201, 204):
        return None
    body = answer.json()
    (told,) = [body[key] for key in ("error", "message", "explanation") if key in body][-1:] or [""]
    if not told or "\n" in told or len(told) > 600:
        return f"no line: {answer.text[:200]}"
    return None
