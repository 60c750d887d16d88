"""A translator goes to another process, and translates there as it does here."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rnnsearch import load
from rnnsearch.config import from_dict
from rnnsearch.system import new_system
from rnnsearch.text import Vocabularies
from rnnsearch.text.subwords import Subwords
from rnnsearch.text.vocabulary import Vocabulary
from rnnsearch.translation import Translator
from rnnsearch.translation.bidirectional import BidirectionalTranslator
from rnnsearch.translation.lexicon import Lexicon
from toy import SOURCE_WORDS, TARGET_WORDS, toy_config, toy_pairs

Trained = Callable[..., Translator]
LINES = [source for source, _ in toy_pairs(6, seed=41)]


def same(translator: Translator, **settings: object) -> Translator:
    """What comes out of a pickle; it translates to the same bits."""
    copy: Translator = pickle.loads(pickle.dumps(translator))
    assert type(copy) is type(translator)
    for ours, theirs in zip(translator.n_best(LINES, 3, **settings), copy.n_best(LINES, 3, **settings), strict=True):
        assert [(one.text, one.score) for one in ours] == [(one.text, one.score) for one in theirs]
    return copy


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_a_model_of_no_folder(trained: Trained, alignment: str) -> None:
    translator = Translator([trained("gated", alignment).system])
    assert translator.folder is None
    copy = same(translator)
    assert copy.system.config == translator.system.config
    assert not copy.system.model.training


def test_after_it_has_translated(trained: Trained) -> None:
    """What a search has made ready is not sent along."""
    translator = Translator([trained("gated", "mlp").system])
    before = len(pickle.dumps(translator))
    translator.translate(LINES)
    assert len(pickle.dumps(translator)) == before


def test_an_ensemble_and_both_directions(trained: Trained) -> None:
    one = trained("gated", "mlp")
    same(Translator([one.system, trained("lstm", "mlp").system]))
    config = toy_config(data={"right_to_left": True}, search={"maximum_length_ratio": 2.0})
    turned = Vocabularies(Vocabulary(SOURCE_WORDS), Vocabulary(TARGET_WORDS, right_to_left=True))
    backward = new_system(config, turned)
    same(BidirectionalTranslator([one, Translator([backward])]))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords(kind: str) -> None:
    sides = []
    for words in (SOURCE_WORDS, TARGET_WORDS):
        subwords = Subwords.train(dict.fromkeys(words, 3), kind, 40)  # type: ignore[arg-type]
        sides.append(Vocabulary(subwords.inventory, subwords))
    config = toy_config(data={"subwords": kind}, search={"maximum_length_ratio": 2.0})
    settings = from_dict({"data": vars_of(config.data), "model": vars_of(config.model)})
    same(Translator([new_system(settings, Vocabularies(*sides))]))


def vars_of(section: object) -> dict[str, object]:
    return {key: value for key, value in vars(section).items() if not key.startswith("_")}


def test_the_lexicon_stays_in_the_folder(
    model_folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model_folder("mlp").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    Lexicon({"dog": [("chien", 1.0)], "cat": [("chat", 1.0)]}).save(folder)
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(load("model"))
    monkeypatch.chdir("/")
    copy = pickle.loads(pickled)
    assert copy.has_lexicon
    assert copy.translate(LINES[0], vocabulary_selection=5).text


SCRIPT = """
import multiprocessing, os, sys
import rnnsearch

def translate(translator, lines, queue):
    queue.put([(one.text, one.score) for one in translator.translate(lines)])

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "2"
    folder, *lines = sys.argv[1:]
    translator = rnnsearch.load(folder)
    expected = [(one.text, one.score) for one in translator.translate(lines)]
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=translate, args=(translator, lines, queue))
        process.start()
        found = queue.get(timeout=120)
        process.join()
        assert [text for text, _ in found] == [text for text, _ in expected], method
        assert all(abs(one[1] - other[1]) < 1e-4 for one, other in zip(found, expected)), method
        print(method)
"""


@pytest.mark.slow
def test_other_processes_translate(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(model_folder("mlp")), *LINES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.split() == ["fork", "spawn"], done.stderr
