"""The demonstration goes on where it was stopped, however early, and its example can be translated."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from rnnsearch.config import Config, from_preset
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.experiments import demo
from rnnsearch.training.trainer import CHECKPOINT

TUTORIAL = (Path(__file__).parents[3] / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_a_demo_that_was_stopped_before_its_first_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resumed: list[bool] = []

    def train(folder: Path, config: Config, *, resume: bool, **_: object) -> None:
        resumed.append(resume)
        (folder / CHECKPOINT).parent.mkdir(parents=True, exist_ok=True)
        (folder / CHECKPOINT).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "train", train)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            demo.run_demo(tmp_path, from_preset("demo"), 20, Console(quiet=True))
    assert resumed == [False, True]


@pytest.mark.slow
def test_the_example_and_its_translation_are_words_of_the_corpus(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    sentence = re.search(r"echo '(.*?)'", " ".join(demo.next_steps(tmp_path)))
    translation = re.search(r"first translation is \*(.*?)\*", TUTORIAL)
    assert sentence is not None
    assert translation is not None
    assert sentence[1] in TUTORIAL
    for file, text in (("train.en", sentence[1]), ("train.fr", translation[1])):
        counts = Counter(re.findall(r"\w+", (tmp_path / file).read_text(encoding="utf-8").lower()))
        assert min(counts[word] for word in re.findall(r"\w+", text.lower())) > 100
