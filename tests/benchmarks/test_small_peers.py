"""A peer that fails on little text is recorded as failed with the reason, and never with a score."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.pages import figures
from benchmarks.quality import small_data, small_peers
from benchmarks.quality.small_data import Cell, compute
from benchmarks.quality.small_peers import PeerFailed, Training, last_line, train_for, translations_of_peer

PAIRS = [(f"house {number}", f"maison {number}") for number in range(40)]


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def test_a_training_that_spends_its_time_has_not_failed(tmp_path: Path) -> None:
    train_for(python("print('began', flush=True)\nwhile True: pass"), 1, tmp_path / "log")
    assert last_line(tmp_path / "log") == "began"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ValueError('no such setting')", "ended with status 1 after 0 of 60 processor seconds: ValueError: no such"),
        ("import os; os.kill(os.getpid(), 11)", "ended with SIGSEGV after 0 of 60 processor seconds: it told nothing"),
        ("import os; os.kill(os.getpid(), 9)", "ended with SIGKILL after 0 of 60"),
    ],
)
def test_a_training_that_breaks_off_says_why(tmp_path: Path, code: str, told: str) -> None:
    with pytest.raises(PeerFailed, match=told):
        train_for(python(code), 60, tmp_path / "log")


def compute_with(peer: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setattr(small_data, "translations_of_peer", peer)
    cell = Cell("multi30k", "en-fr", "eole", 40, 1)
    compute(cell, (PAIRS, PAIRS), tmp_path, Namespace(budget=1.0, peers=tmp_path, threads=1))
    scores: dict[str, object] = json.loads((tmp_path / cell.name / "scores.json").read_text())
    return scores


def test_a_failure_is_recorded_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> list[str]:
        raise PeerFailed(f"no checkpoint in {tmp_path}")

    scores = compute_with(fails, tmp_path, monkeypatch)
    assert scores == {"failed": "no checkpoint in RUNS", "processor_seconds": 1.0}
    scores = compute_with(lambda *_: ["zzz"] * 40, tmp_path, monkeypatch)
    assert str(scores["failed"]).startswith("its translations have 0.00 BLEU")
    assert "bleu" not in scores
    row = {"text": "multi30k", "direction": "en-fr", "system": "eole", "pairs": 40, "seed": 1, **scores}
    _, table = figures.small_data([row], "multi30k", "en-fr")
    assert table[figures.SMALL_SYSTEMS["eole"]][0].startswith("failed: its translations have 0.00 BLEU")


def test_missing_translations_are_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_peers, "write_pieces", lambda *_: [])
    written = tmp_path / "translated"
    monkeypatch.setattr(small_peers, "by_eole", lambda *_: written)
    how = Training(tmp_path, 1, 1)
    sources = ["a", "b"]
    with pytest.raises(PeerFailed, match="it wrote no translations"):
        translations_of_peer("eole", tmp_path, PAIRS, sources, ("en", "fr"), how)
    written.write_text("one\n")
    with pytest.raises(PeerFailed, match="it wrote 1 translations of 2 sentences"):
        translations_of_peer("eole", tmp_path, PAIRS, sources, ("en", "fr"), how)
    written.write_text("one\ntwo\n")
    assert translations_of_peer("eole", tmp_path, PAIRS, sources, ("en", "fr"), how) == ["one", "two"]
