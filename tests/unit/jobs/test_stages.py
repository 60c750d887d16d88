"""The stages of jobs: records come back whole, and the output is the same in any number of processes, or after a break."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnsearch as package
from command_line import Run, refused
from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs import Done, JobCheckpoint, RowStage, cut, job
from rnnsearch.translation import Pronouncer, ScoredPair, Translation, Translator, load
from rnnsearch.translation.rescoring import Entry, Rescorer, n_best_lists
from rnnsearch.translation.stages import Align, Pronounce, Rescore, Score, Translate, with_prefixes

LINES = [
    "The man sleeps. The cat sees the book!", "", " 12:45 ", "the dog", "zyxwv qwxzv", "The old woman reads.", "A house.",
    "the cat and " * 30,
]  # fmt: skip
TARGETS = ["L'homme dort.", "", "12", "le chien", "zyx", "La vieille femme lit.", "Une maison.", "le chat"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load("en-fr")


def same(one: Any, other: Any) -> bool:
    """Whether two records are the same, to the last bit."""
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        names = [name for name in one.__dataclass_fields__ if name != "linker"]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)


def test_translations_come_back_whole(translator: Translator) -> None:
    terms = {"book": "bouquin"}
    for one in translator.translate(LINES, max_segment=20, terms=terms, replace_unk=False):
        back = Translation.from_plain(json.loads(json.dumps(one.to_plain())), translator.linker)
        assert same(one, back)
        assert same(one.alignment, back.alignment)
        assert same(one.link_probabilities, back.link_probabilities)
        assert one.to_dict() == back.to_dict()


def test_pairs_come_back_whole(translator: Translator) -> None:
    for one in translator.score(LINES, TARGETS):
        assert same(one, ScoredPair.from_plain(json.loads(json.dumps(one.to_plain()))))


def entries() -> list[Entry]:
    return [Entry(line, text, "", -float(line)) for line, text in enumerate(TARGETS) for text in (text, f"{text} le")]


Case = tuple[RowStage[Any, Any], list[Any]]
CASES: dict[str, Callable[[Translator], Case]] = {
    "translate": lambda t: (Translate(t, n=2, settings={"beam": 2}), [*with_prefixes(LINES, None)]),
    "json": lambda t: (Translate(t, format="json", settings={"beam": 1}), [*with_prefixes(LINES, None)]),
    "align": lambda t: (Align(t), [*zip(LINES, TARGETS, strict=True)]),
    "score": lambda t: (Score(t, as_json=True), [*zip(LINES, TARGETS, strict=True)]),
    "rescore": lambda t: (Rescore(Rescorer(t, weight=1.0)), [*n_best_lists(LINES, entries())]),
    "pronounce": lambda t: (Pronounce(Pronouncer.load(), n=2), LINES),
}


def written(stage: RowStage[Any, Any], rows: list[Any], output: Path, jobs: int = 1) -> tuple[str, list[Done[Any]]]:
    with job(stage, output, jobs) as running:
        done = list(running.rows(cut(rows, 3), whole=4))
    return output.read_text(encoding="utf-8"), done


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ("translate", "score"))) for name in CASES]
)
def test_any_jobs_and_an_interruption(
    translator: Translator, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, rows = CASES[name](translator)
    text, expected = written(stage, rows, tmp_path / "one")
    assert text == "".join(f"{one.written}\n" for one in expected)
    found, done = written(stage, rows, tmp_path / "two", 2)
    assert found == text
    assert [json.dumps(one.note) for one in done] == [json.dumps(one.note) for one in expected]
    assert same([one.record for one in done], [one.record for one in expected])
    put, kept = JobCheckpoint.put, 0

    def interrupt(self: JobCheckpoint, shard: Any, result: bytes) -> None:
        nonlocal kept
        kept += 1
        put(self, shard, result)
        if kept == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(JobCheckpoint, "put", interrupt)
    with pytest.raises(KeyboardInterrupt):
        written(stage, rows, tmp_path / "three")
    assert not (tmp_path / "three").exists()
    found, done = written(stage, rows, tmp_path / "three")
    assert (found, kept) == (text, 3)
    assert same([one.record for one in done], [one.record for one in expected])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "three", "two"]


def test_an_error_leaves_no_output(translator: Translator, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")

    def refuse_in_the_end() -> None:
        with job(Score(translator), tmp_path / "out") as scoring:
            assert len(list(scoring.rows(cut([("a", "b")])))) == 1
            raise RnnsearchError("no gold")

    with pytest.raises(RnnsearchError, match="no gold"):
        refuse_in_the_end()
    assert (tmp_path / "out").read_text() == "before"


@pytest.mark.parametrize(
    "command", ["score", *(pytest.param(command, marks=pytest.mark.slow) for command in ("rescore", "pronounce"))]
)
def test_the_commands(rnnsearch: Run, tmp_path: Path, command: str) -> None:
    for name, lines in {"a.en": LINES, "a.fr": TARGETS, "n-best": map(str, entries())}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    arguments = {
        "score": ("-m", "en-fr", "-s", tmp_path / "a.en", "-t", tmp_path / "a.fr"),
        "rescore": ("-m", "en-fr", "-s", tmp_path / "a.en", tmp_path / "n-best"),
        "pronounce": ("-m", "en-ipa", "-f", tmp_path / "a.en"),
    }[command]
    printed = rnnsearch(command, *arguments)
    done = rnnsearch(command, *arguments, "--output", tmp_path / "out", "--jobs", 2)
    assert (printed.status, done.status, done.out) == (0, 0, ""), done.err
    assert (tmp_path / "out").read_text(encoding="utf-8") == printed.out
    assert printed.err == done.err


def test_an_update_of_the_program_between_two_runs(rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.en").write_text("the dog\n", encoding="utf-8")
    command = ("translate", "-m", "en-fr", tmp_path / "a.en", "--output", tmp_path / "out")
    put = JobCheckpoint.put

    def interrupt(self: JobCheckpoint, shard: Any, result: bytes) -> None:
        put(self, shard, result)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(JobCheckpoint, "put", interrupt)
        assert rnnsearch(*command).status == 130
    with monkeypatch.context() as patched:
        patched.setattr("rnnsearch.jobs.checkpoint.program_digest", lambda: "that of another version")
        refused(rnnsearch(*command), tmp_path / "out.parts", "another version of this program", "remove the folder")
    assert not (tmp_path / "out").exists()
    assert rnnsearch(*command).status == 0
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.en", "out"]


@pytest.mark.slow
def test_options_take_the_names_of_installed_models(rnnsearch: Run, tmp_path: Path) -> None:
    for name, lines in {"a.en": LINES[3:], "a.fr": TARGETS[3:]}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    text = ("--source", tmp_path / "a.en", "--target", tmp_path / "a.fr")
    done = rnnsearch("align", "-m", "en-fr", "--reverse-model", "fr-en", *text)
    assert (done.status, len(done.out.splitlines())) == (0, 5), done.err
    done = rnnsearch("prepare", "--vocabulary-of", "en-fr", *text, "--output", tmp_path / "data")
    assert done.status == 0, done.err
    words = [(place / "source.vocab").read_bytes() for place in (tmp_path / "data", Path(package.__path__[0]) / "box/en-fr")]
    assert words[0] == words[1]
    refused(rnnsearch("average", "-m", "en-fr", "-m", "fr-en", "-o", tmp_path / "mean"), "box/fr-en")
    valid = ("--valid-source", tmp_path / "a.en", "--valid-target", tmp_path / "a.fr", "--set", "model.hidden_size=3")
    done = rnnsearch("train", "--from", "en-fr", *text, *valid, "-o", tmp_path / "model")
    refused(done, "hidden_size", "box/en-fr")
