"""From a translation memory to a translator in the tools of translators, which learns from corrections."""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.parse
import urllib.request
from html import escape
from pathlib import Path

import pytest

from rnnsearch.cli import main
from rnnsearch.training import adapt as adapt_module
from served import Served
from toy import toy_pairs

SMALL = (
    *(f"model.{part}_size=24" for part in ("embedding", "hidden", "alignment", "maxout")),
    *("training.dropout=0", "training.learning_rate=0.02", "training.max_epochs=16", "data.subword_pieces=300"),
)
LINE = "the big dog sees a red dog ."


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    """Run a command, which must succeed."""
    monkeypatch.setattr(sys, "argv", ["rnnsearch", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, arguments


def asked(server: Served, path: str, data: dict[str, object] | None = None) -> dict[str, object]:
    body = None if data is None else json.dumps(data).encode()
    headers = {"content-type": "application/json", "authorization": "DeepL-Auth-Key any"}
    with urllib.request.urlopen(urllib.request.Request(server.url + path, body, headers), timeout=60) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def in_all_protocols(server: Served, line: str) -> set[object]:
    """The translations of a line that clients of LibreTranslate, DeepL, Apertium and MTUOC get."""
    libretranslate = asked(server, "translate", {"q": line, "source": "en", "target": "fr"})
    deepl = asked(server, "v2/translate", {"text": [line], "source_lang": "EN", "target_lang": "FR"})
    apertium = asked(server, "translate?" + urllib.parse.urlencode({"langpair": "en|fr", "q": line}))
    mtuoc = asked(server, "translate", {"id": 1, "src": line})
    return {
        libretranslate["translatedText"],
        deepl["translations"][0]["text"],  # type: ignore[index]
        apertium["responseData"]["translatedText"],  # type: ignore[index]
        mtuoc["tgt"],
    }


@pytest.mark.slow
def test_from_a_memory_to_a_translator_that_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(adapt_module._RECIPE, "learning_rate", 1e-2)
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(source)}</seg></tuv><tuv xml:lang="fr"><seg>{escape(target)}</seg></tuv></tu>'
        for source, target in toy_pairs(600, seed=1)
    )
    Path("memory.tmx").write_text(f'<tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')
    command(monkeypatch, "train", "memory.tmx", *(f"--set={one}" for one in SMALL))

    server = Served(Path("en-fr"), Path("log"), "--memory", "corrections")
    try:
        (machine,) = in_all_protocols(server, LINE)
        assert "chien" in str(machine)
        corrected = [(source, target.replace("chien", "chat")) for source, target in toy_pairs(200, seed=3)]
        fields: dict[str, object] = {"source": "en", "target": "fr"}
        fields |= {name: "\n".join(side) for name, side in zip("qs", zip(*corrected, strict=True), strict=True)}
        assert asked(server, "suggest", fields) == {"success": True}
        source, target = next(pair for pair in corrected if "chat" in pair[1])
        assert in_all_protocols(server, source) == {target}
        assert in_all_protocols(server, LINE) == {machine}

        command(monkeypatch, "adapt", "en-fr", "corrections")
        deadline = time.monotonic() + 60
        while "corrections/models/en-fr/1" not in server.log.read_text():
            assert time.monotonic() < deadline, server.log.read_text()
            time.sleep(0.1)
        (adapted,) = in_all_protocols(server, LINE)
        assert re.findall("chat|chien", str(adapted)) == ["chat", "chat"]
        assert server.process.poll() is None

        command(monkeypatch, "adapt", "en-fr", "corrections", "--roll-back")
        while in_all_protocols(server, LINE) != {machine}:
            assert time.monotonic() < deadline, server.log.read_text()
            time.sleep(0.1)
        assert "ERROR" not in server.log.read_text()
    finally:
        server.process.kill()
        server.process.wait()
