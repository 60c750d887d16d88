"""Which language a text is in, and what follows from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from starlette.testclient import TestClient

from rnnsearch.serve.languages import Detector, without_markup
from toy import toy_pairs

Serve = Callable[..., TestClient]
SENTENCES = Path(__file__).parents[4] / "shared" / "data" / "tatoeba"
DETECTOR = Detector(["en", "fr"])
ENGLISH = (
    "Hello", "Thank you!", "Good morning.", "Where is the station?", "How are you?", "Yes", "Please", "Goodbye", "HELP!",
    "I am hungry", "Fire!", "See you tomorrow.", "What time is it?", "the big dog",
)  # fmt: skip
FRENCH = (
    "Bonjour", "Merci !", "Merci beaucoup", "Où est la gare ?", "Salut", "Bonsoir", "Oui", "S'il vous plaît", "Au revoir",
    "J’ai faim", "Au feu !", "À demain.", "Quelle heure est-il ?", "BONJOUR", "le gros chien",
)  # fmt: skip


@pytest.mark.parametrize(("language", "texts"), [("en", ENGLISH), ("fr", FRENCH)])
def test_everyday_words(language: str, texts: tuple[str, ...]) -> None:
    found = {text: DETECTOR.ranked(text)[0] for text in texts}
    assert {text: one.language for text, one in found.items()} == dict.fromkeys(texts, language)
    assert all(50 < one.confidence <= 100 for one in found.values())


@pytest.mark.skipif(not SENTENCES.exists(), reason="the sentences of Tatoeba are not there")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_everyday_sentences(language: str) -> None:
    lines = (SENTENCES / f"more.{language}").read_text(encoding="utf-8").splitlines()[::3]
    for shortest, least in ((1, 0.985), (3, 0.99)):
        some = [line for line in lines if len(line.split()) >= shortest]
        right = sum(DETECTOR.ranked(line)[0].language == language for line in some)
        assert right >= least * len(some) > 1000


@given(st.text())
def test_any_text_has_a_language(text: str) -> None:
    best, other = DETECTOR.ranked(text)
    assert {best.language, other.language} == {"en", "fr"}
    assert 100 >= best.confidence >= other.confidence >= 0
    assert best.confidence + other.confidence == pytest.approx(100, abs=0.2)


def test_a_long_text_takes_no_longer() -> None:
    start = time.process_time()
    for letters in ("The dog sleeps. ", "<b", "a", "\U0001f600", "<!--", "<script>", "&a", "<a "):
        long = letters * (5_000_000 // len(letters))
        DETECTOR.ranked(without_markup(long))
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p class='the old man and the sea'>Où est la gare&nbsp;?</p>", "fr"),
        ("<script>if (this && that) { return the(house) }</script><p>Où est la gare ?", "fr"),
        ("<style>p { color: of the man }</style><!-- what is this? -->Merci beaucoup", "fr"),
        ("1 < 2 et la gare est là", "fr"),
        ("<div title='la maison de la gare'>Where is the station?</div>", "en"),
    ],
)
def test_markup_has_no_language(markup: str, expected: str) -> None:
    assert DETECTOR.ranked(without_markup(markup))[0].language == expected


def test_languages_by_their_codes() -> None:
    assert Detector(["en-GB", "pt_BR"]).ranked("Onde fica a estação?")[0].language == "pt_BR"
    for languages in (["en"], ["en", "tlh"], ["en", "words"], ["en-GB", "en-US", "fr"], []):
        assert not Detector(languages).able


def test_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fails(languages: tuple[str, ...]) -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("rnnsearch.serve.languages._identifier", fails)
    assert not Detector(["en", "fr"]).able
    assert "cannot be detected" in caplog.text


def test_the_ranking_is_that_of_the_whole_model() -> None:
    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    whole.set_languages(["fr", "en"])
    for text in (*ENGLISH, *FRENCH):
        expected = [(language, round(100 * share, 1)) for language, share in whole.rank(f" {text.lower()} ")]
        assert [(one.language, one.confidence) for one in DETECTOR.ranked(text)] == expected


# On the server

BOTH = (("en", "fr"), ("fr", "en"))


def translate(client: TestClient, q: object, target: str, **more: object) -> tuple[object, object]:
    answer = client.post("/translate", json={"q": q, "source": "auto", "target": target, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["translatedText"], answer.json()["detectedLanguage"]


def test_a_text_in_the_target_language_is_given_back(client: TestClient) -> None:
    for text in ("Bonjour", "Où est la gare ?", "  Merci beaucoup.\n\nAu revoir !\n"):
        found, detected = translate(client, text, "fr", alternatives=2)
        assert found == text
        assert detected["language"] == "fr"  # type: ignore[index]
        assert 60 < detected["confidence"] <= 100  # type: ignore[index]
    page = "<p>Où est la <b>gare</b> ?</p><script>the man</script>"
    assert translate(client, page, "fr", format="html")[0] == page
    same = client.post("/translate", json={"q": "the dog", "source": "fr", "target": "fr"})
    assert same.json() == {"translatedText": "the dog"}


def test_detection_is_loaded_when_a_request_needs_it(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, ...]] = []
    monkeypatch.setattr("rnnsearch.serve.languages._identifier", loaded.append)
    client = serve(languages=BOTH)
    assert client.post("/translate", json={"q": "the dog", "source": "en", "target": "fr"}).status_code == 200
    assert not loaded
    client.post("/translate", json={"q": "the dog", "source": "auto", "target": "fr"})
    assert loaded == [("en", "fr")]


def test_each_text_of_a_list_has_its_language(serve: Serve) -> None:
    client = serve(languages=BOTH)
    one = toy_pairs(1, seed=3)[0][0]
    into_french = client.post("/translate", json={"q": one, "source": "en", "target": "fr"}).json()["translatedText"]
    texts = [one, "Où est la gare ?", one, "OK"]
    found, detected = translate(client, texts, "fr")
    assert [language["language"] for language in detected] == ["en", "fr", "en", "en"]  # type: ignore[attr-defined]
    assert found[:3] == [into_french, "Où est la gare ?", into_french]  # type: ignore[index]
    found, detected = translate(client, texts, "en")
    assert [language["language"] for language in detected[:3]] == ["en", "fr", "en"]  # type: ignore[index]
    assert found[0] == found[2] == one  # type: ignore[index]
    assert found[1] != "Où est la gare ?"  # type: ignore[index]


def test_what_tells_nothing_is_translated(serve: Serve) -> None:
    client = serve(languages=BOTH)
    for text in ("12", "!", "…"):
        assert translate(client, text, "fr")[1]["language"] == "en"  # type: ignore[index]
        assert translate(client, text, "en")[1]["language"] == "fr"  # type: ignore[index]


def test_a_language_that_is_not_translated_into_the_target(serve: Serve) -> None:
    client = serve(languages=(("en", "fr"), ("de", "es")))
    answer = client.post("/translate", json={"q": "Wo ist der Bahnhof?", "source": "auto", "target": "fr"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("de to fr is not translated here, but en to fr, de to es")


def test_languages_that_cannot_be_told_apart(serve: Serve) -> None:
    client = serve(languages=(("en", "tlh"), ("de", "tlh"), ("de", "en")))
    assert translate(client, "the dog", "en")[1] == {"language": "de", "confidence": 0.0}
    answer = client.post("/translate", json={"q": "the dog", "source": "auto", "target": "tlh"})
    assert (answer.status_code, answer.json()["error"][:7]) == (400, "source:")
    assert client.post("/detect", json={"q": "a"}).json() == [
        {"confidence": 0.0, "language": "en"}, {"confidence": 0.0, "language": "de"},
    ]  # fmt: skip


def test_detection(client: TestClient) -> None:
    (found,) = client.post("/detect", data={"q": "Où est la gare ?"}).json()
    assert list(found) == ["confidence", "language"]
    assert found["language"] == "fr"
    assert 90 < found["confidence"] <= 100
    several = client.post("/detect", json={"q": ["Where is the station?", "Thank you very much."]}).json()
    assert [one["language"] for one in several] == ["en"]
    assert len(client.post("/detect", json={"q": "12"}).json()) == 2
    assert client.post("/detect", json={}).status_code == 400
