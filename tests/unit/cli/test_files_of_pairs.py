"""Commands on files with both sides, such as a translation memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Folders, Run, refused
from rnnsearch.presets import BY_PAIRS, FURTHER, preset_for
from toy import toy_pairs

TINY = [
    *("--set", "model.embedding_size=8"),
    *("--set", "model.hidden_size=8"),
    *("--set", "model.alignment_size=6"),
    *("--set", "model.maxout_size=6"),
    *("--set", "training.max_updates=2"),
    *("--set", "training.validate_every=2"),
    *("--set", "data.subword_pieces=90"),
]


def memory(path: Path, pairs: list[tuple[str, str]], more: str = "") -> Path:
    units = "".join(
        f'<tu><tuv xml:lang="en-US"><seg>{source}</seg></tuv><tuv xml:lang="fr-FR"><seg>{target}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    path.write_text(f'<tmx version="1.4"><header srclang="en-US"/><body>{units}{more}</body></tmx>')
    return path


@pytest.fixture
def pairs() -> list[tuple[str, str]]:
    return toy_pairs(120, seed=1)


@pytest.mark.slow
def test_a_memory_alone_is_enough_to_train(
    rnnsearch: Run, pairs: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is named after the languages; the development set is held out; what is left out is told once."""
    monkeypatch.chdir(tmp_path)
    tagged = (f'<bpt i="1">&lt;b></bpt>{pairs[0][0]}<ept i="1">&lt;/b></ept>', f"<ph>&lt;br></ph>{pairs[0][1]}")
    path = memory(tmp_path / "memory.tmx", [*pairs, tagged], '<tu><tuv xml:lang="en-US"><seg>alone</seg></tuv></tu>')
    done = rnnsearch("train", path, *TINY)
    assert done.status == 0, done.err
    assert done.err.count("121 pairs; 1 of 122 units left out: 1 without the target language (line 122)") == 1
    config = json.loads((tmp_path / "en-fr" / "config.json").read_text())
    assert (config["data"]["source_language"], config["data"]["target_language"]) == ("en", "fr")
    assert config["data"]["protect"]
    held_out = (tmp_path / "en-fr" / "data" / "held-out.source").read_text().splitlines()
    assert 4 <= len(held_out) <= 24
    assert set(held_out) <= {source for source, _ in pairs}

    resumed = rnnsearch("train", path, *TINY, "--resume", "--set", "training.max_updates=4")
    assert resumed.status == 0, resumed.err
    refused(rnnsearch("train", path, *TINY), "en-fr", "--resume")


def test_a_region_chooses_a_variant(rnnsearch: Run, pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    variant = '<tuv xml:lang="en-GB"><seg>colour</seg></tuv><tuv xml:lang="de"><seg>Farbe</seg></tuv>'
    path = memory(tmp_path / "m.tmx", pairs, f'<tu><tuv xml:lang="en-US"><seg>color</seg></tuv>{variant}</tu>' * 3)
    refused(rnnsearch("prepare", path, "--output", tmp_path / "x"), "has 4 languages", "--languages en-US,fr-FR")
    options = ["--set", "data.subwords=none", "--set", "data.remove_duplicates=false"]
    done = rnnsearch("prepare", path, "--languages", "en-GB,de", *options, "--output", tmp_path / "data")
    assert done.status == 0, done.err
    info = json.loads((tmp_path / "data" / "prepare.json").read_text())
    assert (info["data"]["source_language"], info["data"]["target_language"], info["pairs"]) == ("en", "de", 3)
    assert "colour" in (tmp_path / "data" / "source.vocab").read_text()


@pytest.mark.slow
def test_a_development_set_is_read_in_the_direction_of_the_training(
    rnnsearch: Run, pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    train, valid = memory(tmp_path / "m.tmx", pairs[:100]), memory(tmp_path / "v.tmx", pairs[100:])
    valid.write_text(valid.read_text().replace('srclang="en-US"', 'srclang="fr-FR"'))
    done = rnnsearch("train", train, "--valid-tsv", valid, *TINY, "--output", tmp_path / "model")
    assert done.status == 0, done.err
    (tmp_path / "v.en").write_text("".join(f"{source}\n" for source, _ in pairs[100:]))
    (tmp_path / "v.fr").write_text("".join(f"{target}\n" for _, target in pairs[100:]))
    files = ["--valid-source", tmp_path / "v.en", "--valid-target", tmp_path / "v.fr"]
    done = rnnsearch("train", train, *files, *TINY, "--output", tmp_path / "same")
    assert done.status == 0, done.err
    records = [json.loads((tmp_path / name / "training.json").read_text()) for name in ("model", "same")]
    assert records[0]["dev_nll"] == records[1]["dev_nll"]


def test_commands_with_a_model_read_its_languages(
    rnnsearch: Run, model_folder: Folders, pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    """They do the same as with files of lines, whichever side is first in the memory."""
    path = memory(tmp_path / "m.tmx", pairs[:6])
    model = ["--model", model_folder("mlp")]
    lines = tmp_path / "s.en", tmp_path / "t.fr"
    for side, file in enumerate(lines):
        file.write_text("".join(f"{pair[side]}\n" for pair in pairs[:6]))
    both = ["--source", lines[0], "--target", lines[1]]
    for command in ("score", "align"):
        of_memory, of_lines = rnnsearch(command, path, *model), rnnsearch(command, *both, *model)
        assert of_memory.status == 0, of_memory.err
        assert of_memory.out == of_lines.out
    assert rnnsearch("translate", path, *model).out == rnnsearch("translate", lines[0], *model).out
    reference = ["--source", lines[0], "--reference", lines[1]]
    results = []
    for name, files in (("memory", [path]), ("lines", reference)):
        done = rnnsearch("evaluate", *files, *model, "--json", tmp_path / name)
        assert done.status == 0, done.err
        results.append(json.loads((tmp_path / name).read_text())["all"])
    assert results[0] == results[1]
    turned = rnnsearch("score", path, "--languages", "fr,en", *model)
    assert turned.out == rnnsearch("score", "--source", lines[1], "--target", lines[0], *model).out
    refused(rnnsearch("score", path, "--languages", "de,fr", *model), "m.tmx", "no de")


def test_commands_without_a_model(rnnsearch: Run, pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    path = memory(tmp_path / "m.tmx", pairs)
    aligned = rnnsearch("align", path)
    assert aligned.status == 0, aligned.err
    assert len(aligned.out.splitlines()) == len(pairs)
    outputs = ["--output-source", tmp_path / "o.fr", "--output-target", tmp_path / "o.en"]
    done = rnnsearch("select", path, "--languages", "fr,en", "--method", "random", "--pairs", 20, *outputs)
    assert done.status == 0, done.err
    chosen = zip(*((tmp_path / name).read_text().splitlines() for name in ("o.en", "o.fr")), strict=True)
    assert set(chosen) <= set(pairs)
    refused(rnnsearch("select", "--method", "random", "--pairs", 20, *outputs), "no corpus", "FILE")


def test_settings_follow_the_size_of_a_memory() -> None:
    """Every number of pairs has its settings, and more pairs never get a smaller network."""
    limits = [limit for limit, _ in BY_PAIRS["memory"]]
    assert limits == sorted(limits)
    assert limits[-1] >= 10**9
    assert limits == [limit for limit, _ in FURTHER["memory"]]


@pytest.mark.parametrize("pairs", [100, 5_000, 30_000, 10**6])
def test_a_trained_model_is_trained_further_for_fewer_epochs(pairs: int) -> None:
    anew, further = (preset_for("memory", pairs, further)["training"] for further in (False, True))
    assert further["max_epochs"] < anew["max_epochs"]
    assert further["learning_rate"] < anew["learning_rate"]
    assert preset_for("small", pairs, further=True) == preset_for("small", pairs)
