"""The paper's experiment from its archives to the report, on small stand-ins for the archives, from a local server."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.datasets.catalog import WMT14, Archive, Dataset, ParallelText, Text
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments import experiment as experiments
from rnnsearch.experiments import reproduce
from rnnsearch.experiments.experiment import Experiment, make_experiment
from rnnsearch.experiments.layout import Layout
from rnnsearch.experiments.reproduce import Reproduction
from serving import Server, serving

pytestmark = pytest.mark.system

PAIRS = {"newstest2012": 10, "newstest2013": 10, "newstest2014": 60}
"""All other texts have 150 pairs."""
WORDS = 4000
SETTINGS = {
    "data": {"source_words": 300, "target_words": 300},
    "model": {"embedding_size": 12, "hidden_size": 16, "alignment_size": 12, "maxout_size": 12},
    "training": {"batch_size": 16, "validate_every": 1_000_000, "checkpoint_every": 5},
    "search": {"beam": 2},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def stand_ins(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """WMT 2014 as the catalogue describes it, with our own sentences in the archives."""
    folder = tmp_path_factory.mktemp("sentences")
    write_corpus(folder, train=1200, valid=1, test=1)
    lines = {language: iter((folder / f"train.{language}").read_text("utf-8").splitlines()) for language in ("en", "fr")}
    members: dict[Archive, dict[str, bytes]] = defaultdict(dict)
    for text in WMT14.texts:
        assert isinstance(text, ParallelText)
        for side, language in ((text.source, "en"), (text.target, "fr")):
            assert side.member is not None
            chosen = [next(lines[language]) for _ in range(PAIRS.get(text.name, 150))]
            content = "".join(
                f'<seg id="{number}">{line}</seg>\n' if side.member.endswith(".sgm") else f"{line}\n"
                for number, line in enumerate(chosen, 1)
            ).encode()
            if text.name == "commoncrawl" and language == "fr":
                content = b"\xe9" + content  # one line is not UTF-8
            members[side.archive][side.member] = gzip.compress(content) if side.member.endswith(".gz") else content
    here = {}
    for archive, files in members.items():
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w" if archive.name.endswith(".tar") else "w:gz") as tar:
            for name, content in files.items():
                entry = tarfile.TarInfo(f"folder/{name}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        server.files[archive.name] = out.getvalue()
        here[archive] = Archive(f"{server.url}/{archive.name}")
    texts = [
        ParallelText(text.name, *(Text(here[side.archive], side.member) for side in (text.source, text.target)))
        for text in WMT14.texts
        if isinstance(text, ParallelText)
    ]
    return replace(WMT14, texts=tuple(texts))


@pytest.fixture(autouse=True)
def catalogue(stand_ins: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (experiments, reproduce):
        monkeypatch.setattr(module, "WMT14", stand_ins)


def tiny(folder: Path) -> Experiment:
    return make_experiment("wmt14", folder, None, 0.0015, words=WORDS, overrides=SETTINGS)


def reproduction(folder: Path) -> Reproduction:
    return Reproduction(tiny(folder), Layout(folder), Console(stderr=True), "rnnsearch reproduce --scale wmt14")


@pytest.mark.nightly
def test_from_the_archives_to_the_report(
    server: Server, stand_ins: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as stopped:
        stopped.setattr(reproduce, "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reproduction(tmp_path).run()
    results = reproduction(tmp_path).run()
    assert [name for name, _ in server.asked] == [archive.name for archive in stand_ins.archives], "fetched once each"

    manifest = json.loads((tmp_path / "wmt14" / "manifest.json").read_text())
    assert manifest["invalid_lines_left_out"] == {"commoncrawl.fr": 1}
    selected = json.loads((tmp_path / "selected" / "selected.json").read_text())
    assert selected["read"] == 5 * 150
    assert WORDS - 60 < selected["target_words"] <= WORDS
    prepared = json.loads((tmp_path / "prepared" / "50" / "prepare.json").read_text())
    assert prepared["cleaning"]["read"] == selected["kept"]
    record = json.loads((tmp_path / "models" / "RNNsearch-50" / "training.json").read_text())
    assert record["training_pairs"] <= selected["kept"]
    assert results.systems[3].all.sentences == PAIRS["newstest2014"]
    assert [system.name for system in results.systems] == [
        *("RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"),
    ]
    page = (tmp_path / "index.html").read_text("utf-8")
    assert f"{WORDS:,} words" in page
    assert "newstest2014" in page


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_papers_text(tmp_path: Path) -> None:
    """What is trained, developed and tested on, and how much is selected by what, if nothing else is asked for."""
    found = make_experiment("wmt14", tmp_path, None)
    assert found.selection is not None
    assert found.selection.words == 348_000_000
    assert [path.name for path in found.selection.source] == [
        *("europarl-v7.en", "news-commentary-v9.en", "commoncrawl.en", "undoc.2000.en", "giga-fren.en"),
    ]
    assert found.selection.in_domain_target.name == "news-commentary-v9.fr"
    assert [path.name for path in found.text.valid_target] == ["newstest2012.fr", "newstest2013.fr"]
    assert (found.text.test_source.name, found.text.test_target.name) == ("newstest2014.en", "newstest2014.fr")
    assert found.text.source == (tmp_path / "selected" / "source.en",)
    assert (found.config.data.source_words, found.config.data.target_words) == (30_000, 30_000)
    assert found.limits == (30, 50)


def test_the_description_does_not_change_when_files_come_to_be(tmp_path: Path) -> None:
    before = tiny(tmp_path).describe()
    (tmp_path / "selected").mkdir()
    (tmp_path / "selected" / "source.en").write_text("one\n")
    assert tiny(tmp_path).describe() == before
    assert tiny(tmp_path / "elsewhere").describe() == before
    other = make_experiment("wmt14", tmp_path, None, 0.0015, words=WORDS + 1, overrides=SETTINGS)
    assert other.describe() != before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": "files", "text": None, "archives": Path("x")}, "--archives: only --scale wmt14"),
        ({"scale": "builtin", "text": None, "words": 5}, "--scale builtin has its own text"),
    ],
)
def test_options_that_do_not_go_together(arguments: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=message):
        make_experiment(folder=tmp_path, **arguments)  # type: ignore[arg-type]
