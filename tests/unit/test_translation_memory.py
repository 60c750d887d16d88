"""A translation memory keeps what it was given, through anything."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forked
from rnnsearch import memory as memory_module
from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.units import one_line
from rnnsearch.memory import FILE, MOST_CHARACTERS, Match, Memory

PAIR = "en", "fr"
WRITER = """
import sys
from pathlib import Path
from rnnsearch.memory import Memory
memory = Memory(Path(sys.argv[1]))
for number in range(10**9):
    memory.add(("en", "fr"), [(f"segment {sys.argv[2]} {number}", f"segment traduit {number}")])
    print(number, flush=True)
"""


def test_the_last_translation_of_a_segment_counts(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "new" / "folder")
    assert memory.exact(PAIR, "She sings.") is None
    assert memory.add(PAIR, [("She  sings. ", "Elle chante."), ("He sings.", "Il chante.")]) == (2, 0)
    assert memory.add(PAIR, [("She sings.", "Elle chantait.")]) == (1, 0)
    assert memory.exact(PAIR, "\tShe sings.\n") == "Elle chantait."
    assert memory.exact(("fr", "en"), "She sings.") is None
    assert memory.exact(("en", "de"), "She sings.") is None
    assert memory.counts() == {PAIR: 2}
    again = Memory(tmp_path / "new" / "folder", create=False)
    assert [(source, target) for _, source, target in again.since(PAIR)] == [
        ("He sings.", "Il chante."),
        ("She sings.", "Elle chantait."),
    ]
    assert again.since(PAIR, again.since(PAIR)[-1][0]) == []


def test_fuzzy_matches_come_with_their_scores(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.add(PAIR, [("Open the red file", "Ouvrir le fichier rouge"), ("Open the file", "Ouvrir le fichier"), ("x", "y")])
    assert memory.fuzzy(PAIR, "Open the file", 2) == [
        Match("Open the file", "Ouvrir le fichier", 100.0),
        Match("Open the red file", "Ouvrir le fichier rouge", 86.7),  # 2 · 13 of 13 + 17 letters
    ]
    assert memory.fuzzy(PAIR, "Something else", 2) == []
    assert memory.fuzzy(("fr", "en"), "Open the file", 2) == []
    Memory(tmp_path).add(PAIR, [("Open the file", "Ouvre le fichier"), ("Open this file", "Ouvre ce fichier")])
    assert [match.target for match in memory.fuzzy(PAIR, "Open the file", 2)] == ["Ouvre le fichier", "Ouvre ce fichier"]


@given(pairs=st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=8))
def test_any_text_is_stored_or_counted_as_left_out(
    pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    memory = Memory(tmp_path_factory.mktemp("memory"))
    stored, left_out = memory.add(PAIR, pairs)
    expected = {one_line(s): one_line(t) for s, t in pairs if one_line(s) and one_line(t)}
    assert stored + left_out == len(pairs)
    assert {source: target for _, source, target in memory.since(PAIR)} == expected
    assert all(memory.exact(PAIR, source) == target for source, target in expected.items())
    memory.close()


@pytest.mark.parametrize("text", ["", " \n", "x" * (MOST_CHARACTERS + 1), "lone \ud800"])
def test_what_no_segment_can_be_is_left_out(tmp_path: Path, text: str) -> None:
    memory = Memory(tmp_path)
    assert memory.add(PAIR, [(text, "y"), ("x", text), ("a", "b")]) == (1, 2)
    assert memory.exact(PAIR, text) is None
    assert memory.fuzzy(PAIR, text, 3) == []


def test_a_full_memory_stores_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_module, "MOST_SEGMENTS", 2)
    memory = Memory(tmp_path)
    memory.add(PAIR, [("a", "b")])
    with pytest.raises(RnnsearchError, match="2 segments at most"):
        memory.add(PAIR, [("c", "d"), ("e", "f")])
    assert memory.counts() == {PAIR: 1}


def test_what_is_no_database_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database, but long enough to be taken for one " * 50)
    with pytest.raises(RnnsearchError, match="not a database"):
        Memory(tmp_path)
    with pytest.raises(RnnsearchError, match="no translation memory"):
        Memory(tmp_path / "elsewhere", create=False)
    (tmp_path / "odd" / FILE).mkdir(parents=True)
    with pytest.raises(RnnsearchError, match="not a file"):
        Memory(tmp_path / "odd")


def test_several_threads_and_objects_write_together(tmp_path: Path) -> None:
    memories = [Memory(tmp_path), Memory(tmp_path)]

    def write(number: int) -> None:
        for count in range(10):
            memories[number % 2].add(PAIR, [(f"{number} {count}", "x")])
            memories[number % 2].fuzzy(PAIR, "1 1", 2)

    threads = [Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memories[0].counts() == {PAIR: 40}


@pytest.mark.parametrize("count", [4, pytest.param(200, marks=pytest.mark.nightly)])
def test_nothing_that_was_stored_is_lost_by_a_kill(tmp_path: Path, count: int) -> None:
    """The writer says each number after `add` has returned, and is killed at a random moment."""
    random = Random(1)
    expected: set[str] = set()
    for run in range(count):
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(run)]
        with forked.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            said = [writer.stdout.readline() for _ in range(random.randrange(1, 8))]
            writer.send_signal(signal.SIGKILL)
            said += writer.stdout.readlines()
        expected |= {f"segment {run} {number.strip()}" for number in said if number.endswith("\n")}
    memory = Memory(tmp_path)
    found = {source for _, source, _ in memory.since(PAIR)}
    assert expected <= found
    assert len(found) <= len(expected) + count  # what was stored at the moment of the kill may be there, too


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("Page 3 of 12", "Page 2 of 12", "Page 2 sur 12", "Page 3 sur 12"),
        ("Page 12 of 2", "Page 2 of 12", "Page 2 sur 12", "Page 12 sur 2"),
        ("Page  3", "Page 2", "2e page", "3e page"),
        ("Page 2", "Page 2", "Page 2", None),
        ("Pages 3", "Page 2", "Page 2", None),
        ("3 or 3", "2 or 2", "2 ou 2", None),
        ("Page 3", "Page 2", "Page 2 (2)", None),
        ("Page 3", "Page 2", "Deuxième page", None),
        ("3.5 kg", "2.5 kg", "2,5 kg", None),
        ("3.5 kg", "2 kg", "2 kg", None),
        ("1,000 kg", "2,000 kg", "2,000 kg", None),
    ],
)
def test_numbers_are_repaired_where_it_is_clear(text: str, source: str, target: str, expected: str | None) -> None:
    assert Match(source, target, 90.0).repaired(text) == expected
