"""`rnnsearch serve` as a program: its clients, its signals, and who wants nothing but harm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

import forked
from rnnsearch.serve.incoming import Limits
from rnnsearch.serve.listen import ARRIVAL_SECONDS
from rnnsearch.translation import Translator
from served import Served
from toy import toy_pairs

LINES = [source for source, _ in toy_pairs(60, seed=5)]


@pytest.fixture(scope="module")
def served(model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(model_folder("mlp"), tmp_path_factory.mktemp("serve") / "log")
    yield server
    server.process.kill()
    server.process.wait()
    assert "Traceback" not in server.log.read_text()


@pytest.fixture(scope="module")
def expected(model_folder: Callable[[str], Path]) -> dict[str, str]:
    """The translations of the lines by `Translator`."""
    from rnnsearch import load

    translator: Translator = load(model_folder("mlp"))
    return {line: translator.translate(line).text for line in LINES}


def test_many_clients_at_once_get_what_translate_writes(served: Served, expected: dict[str, str]) -> None:
    with ThreadPoolExecutor(16) as clients:
        found = list(clients.map(served.translate, LINES * 4))
    assert found == [expected[line] for line in LINES * 4]


def test_an_answer_does_not_wait_to_be_acknowledged(served: Served) -> None:
    """By Nagle's algorithm, its body would wait until the client acknowledges its header, which takes 40 ms or more."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    seconds = []
    for _ in range(30):
        start = time.perf_counter()
        connection.request("GET", "/health")
        connection.getresponse().read()
        seconds.append(time.perf_counter() - start)
    connection.close()
    assert min(seconds) < 0.04


def suggest(server: Served, text: str, translation: str) -> object:
    fields = {"q": text, "s": translation, "source": "en", "target": "fr"}
    with urllib.request.urlopen(server.url + "suggest", urllib.parse.urlencode(fields).encode(), timeout=60) as answer:
        return json.load(answer)


@pytest.mark.parametrize("runs", [1, pytest.param(5, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.nightly)])
def test_no_correction_is_lost_by_a_kill(model_folder: Callable[[str], Path], tmp_path: Path, runs: int) -> None:
    """Clients correct as fast as they can until the server is killed; the next one knows all that was acknowledged."""
    acknowledged: dict[str, str] = {}

    def correct(client: int) -> None:
        with suppress(OSError, HTTPException):
            for number in range(10_000):
                text = f"correction {run} {client} {number}"
                assert suggest(server, text, text.upper()) == {"success": True}
                acknowledged[text] = text.upper()

    for run in range(runs):
        server = Served(model_folder("mlp"), tmp_path / "log", "--memory", str(tmp_path / "memory"))
        with ThreadPoolExecutor(3) as clients:
            for client in range(3):
                clients.submit(correct, client)
            before = len(acknowledged)
            while len(acknowledged) < before + 7 * (run + 1) % 40 + 3:
                time.sleep(0.001)
            server.process.kill()
        server.process.wait()
    server = Served(model_folder("mlp"), tmp_path / "log", "--memory", str(tmp_path / "memory"))
    try:
        assert server.translate(list(acknowledged)) == list(acknowledged.values())
    finally:
        server.process.kill()
        server.process.wait()


def test_libretranslatepy(served: Served, expected: dict[str, str]) -> None:
    client = pytest.importorskip("libretranslatepy").LibreTranslateAPI(served.url)
    assert client.translate(LINES[0], "en", "fr") == expected[LINES[0]]
    assert [language["code"] for language in client.languages()] == ["en", "fr"]
    assert client.detect("Où est la gare ?")[0]["language"] == "fr"
    assert client.translate("Où est la gare ?", "auto", "fr") == "Où est la gare ?"


def test_deepl(served: Served, expected: dict[str, str]) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("a key", server_url=served.url)
    translations = client.translate_text(LINES, source_lang="EN", target_lang="FR", split_sentences=deepl.SplitSentences.OFF)
    assert [translation.text for translation in translations] == [expected[line] for line in LINES]
    assert client.translate_text("Où est la gare ?", target_lang="FR").detected_source_lang == "FR"
    marked = client.translate_text(f"<g>{LINES[0]}</g>", source_lang="EN", target_lang="FR", tag_handling="xml")
    assert marked.text == f"<g>{expected[LINES[0]]}</g>"
    assert [language.code for language in client.get_source_languages()] == ["EN"]
    assert [language.code for language in client.get_target_languages()] == ["FR"]
    assert client.get_glossary_languages()[0].target_lang == "fr"
    assert client.get_usage().character.count > 0
    glossary = client.create_glossary("ours", "EN", "FR", {"dog": "loup", "the cat": "chien"})
    assert client.list_glossaries()[0].glossary_id == client.get_glossary(glossary.glossary_id).glossary_id
    assert client.get_glossary_entries(glossary) == {"dog": "loup", "the cat": "chien"}
    text = client.translate_text("the big dog sleeps", source_lang="EN", target_lang="FR", glossary=glossary).text
    assert "loup" in text
    client.delete_glossary(glossary)
    with pytest.raises(deepl.GlossaryNotFoundException, match="no glossary"):
        client.get_glossary(glossary.glossary_id)
    with pytest.raises(deepl.DeepLException, match="en to DE is not translated here"):
        client.translate_text("a", source_lang="EN", target_lang="DE")


def test_documents_of_deepl(served: Served, expected: dict[str, str], tmp_path: Path) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("a key", server_url=served.url)
    given, translated = tmp_path / "a.srt", tmp_path / "b.srt"
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    given.write_text(cue.format(LINES[0]), encoding="utf-8")
    status = client.translate_document_from_filepath(given, translated, source_lang="EN", target_lang="FR")
    assert (status.done, status.billed_characters) == (True, len(LINES[0]))
    # The lines of a subtitle are broken again.
    assert translated.read_text(encoding="utf-8").split() == cue.format(expected[LINES[0]]).split()
    with pytest.raises(deepl.DeepLException, match=r"'a\.pdf': give a file whose name ends in"):
        client.translate_document_upload(b"%PDF-1.5", target_lang="FR", filename="a.pdf")


def test_deep_translator(served: Served, expected: dict[str, str]) -> None:
    module = pytest.importorskip("deep_translator")
    client = module.LibreTranslator(source="en", target="fr", api_key="none", custom_url=served.url)
    assert client.translate(LINES[1]) == expected[LINES[1]]
    assert client.translate_batch(LINES[2:4]) == [expected[line] for line in LINES[2:4]]


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl")
def test_curl(served: Served, expected: dict[str, str]) -> None:
    for option in ("--form-string", "--data-urlencode"):
        fields = {"q": LINES[0], "source": "en", "target": "fr", "format": "", "api_key": ""}
        given = [word for name, value in fields.items() for word in (option, f"{name}={value}")]
        found = subprocess.run(["curl", "--silent", served.url + "translate", *given], stdout=subprocess.PIPE, check=True)
        assert json.loads(found.stdout) == {"translatedText": expected[LINES[0]]}


def test_there_are_no_limits_on_this_computer(served: Served, expected: dict[str, str]) -> None:
    lines = LINES[:20] * 20
    assert sum(map(len, lines)) > Limits().characters  # type: ignore[operator]
    assert served.translate(lines) == [expected[line] for line in lines]


def test_a_model_that_cannot_translate(model_folder: Callable[[str], Path]) -> None:
    code = """
import rnnsearch.search
def broken(search):
    raise RuntimeError("cannot cache function 'f':\\nno locator available")
rnnsearch.search.Search.step = broken
from rnnsearch.cli import main; main()"""
    command = [sys.executable, "-c", code, "serve", "--model", str(model_folder("mlp")), "--port", "1"]
    process = forked.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "cannot translate here: RuntimeError: cannot cache function 'f': no locator available" in errors.splitlines()[-1]
    assert "Traceback" not in errors


def test_clients_that_go_away(served: Served, expected: dict[str, str]) -> None:
    body = json.dumps({"q": LINES * 2, "target": "fr"}).encode()
    header = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    streamed = header.replace("Host: x", "Host: x\r\nAccept: text/event-stream")
    for number in range(40):
        with served.connect() as connection:
            connection.sendall(((streamed if number % 4 == 1 else header).encode() + body)[: None if number % 2 else -20])
            if number % 4 == 1:
                connection.recv(10)
    assert served.translate(LINES[0]) == expected[LINES[0]]
    deadline = time.monotonic() + 60
    while True:
        with urllib.request.urlopen(served.url + "metrics") as answer:
            metrics = answer.read().decode()
        if "rnnsearch_sentences_under_way 0.0" in metrics:
            break
        assert time.monotonic() < deadline, metrics
        time.sleep(0.1)
    assert 'status="499"' in metrics


SLOW = (b"", b"POST /tra", b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nq")
"""What slow clients send, and then nothing more."""


@pytest.fixture(scope="module")
def let_go(served: Served) -> dict[bytes, tuple[bytes, float]]:
    """The answer to each slow client, and the seconds until it came; all of them wait at the same time."""

    def wait(sent: bytes) -> tuple[bytes, float]:
        with served.connect() as connection:
            connection.sendall(sent)
            start = time.monotonic()
            return connection.recv(1000), time.monotonic() - start

    with ThreadPoolExecutor(len(SLOW)) as clients:
        return dict(zip(SLOW, clients.map(wait, SLOW), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("sent", SLOW)
def test_slow_clients_are_let_go(let_go: dict[bytes, tuple[bytes, float]], sent: bytes) -> None:
    answer, seconds = let_go[sent]
    assert ARRIVAL_SECONDS - 1 < seconds < 3 * ARRIVAL_SECONDS
    assert answer == b"" or b" 408 " in answer


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_what_is_under_way_is_finished(
    model_folder: Callable[[str], Path], tmp_path: Path, expected: dict[str, str], number: signal.Signals
) -> None:
    server = Served(
        model_folder("mlp"), tmp_path / "log", "--beam", "20", "--max-characters", "100000", "--max-sentences", "500"
    )
    with ThreadPoolExecutor(1) as clients:
        coming = clients.submit(server.translate, LINES * 6)
        while "rnnsearch_sentences_under_way 0.0" in urllib.request.urlopen(server.url + "metrics").read().decode():
            assert not coming.done()
        server.process.send_signal(number)
        start = time.monotonic()
        assert len(coming.result()) == 6 * len(LINES)
    server.process.wait(20)
    assert time.monotonic() - start < 10
    assert not server.answers()
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("killed", ["server", "search"])
def test_no_process_is_left_without_the_other(model_folder: Callable[[str], Path], tmp_path: Path, killed: str) -> None:
    server = Served(model_folder("mlp"), tmp_path / "log", "--processes", "3")
    children = Path("/proc", str(server.process.pid)).glob("task/*/children")
    searches = [child for of_thread in children for child in of_thread.read_text().split()]
    assert len(searches) == 3
    os.kill(server.process.pid if killed == "server" else int(searches[1]), signal.SIGKILL)
    server.process.wait(20)
    deadline = time.monotonic() + 20
    while any(Path("/proc", search, "exe").exists() for search in searches):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    log = server.log.read_text()
    if killed == "search":
        assert server.process.returncode == 2
        assert log.count("a search process ended unexpectedly") == 1
        assert log.splitlines()[-1].startswith("rnnsearch: ")
    assert "Traceback" not in log


def test_an_address_that_is_taken(model_folder: Callable[[str], Path], served: Served) -> None:
    code = "from rnnsearch.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--model", str(model_folder("mlp")), "--port", str(served.port)]
    process = forked.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"cannot listen on 127.0.0.1, port {served.port}" in errors.splitlines()[-1]
    assert "Traceback" not in errors
