"""Every setting has one name, one type and one description, wherever it is read from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.cli.options import settings as settings_of
from rnnsearch.cli.presets import as_toml
from rnnsearch.config import (
    SECTIONS,
    Config,
    describe,
    from_dict,
    from_preset,
    merge,
    parse_assignments,
    read_json,
    read_toml,
    to_dict,
)
from rnnsearch.errors import RnnsearchError
from rnnsearch.presets import PRESETS


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_as_toml_is_the_preset_again(name: str, tmp_path: Path) -> None:
    config = from_preset(name)
    path = tmp_path / "my.toml"
    path.write_text(as_toml(to_dict(config)), encoding="utf-8")
    for base in PRESETS:
        assert settings_of(base, path, None) == config, "a whole file leaves nothing to the preset"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_as_json_is_the_preset_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(to_dict(from_preset(name))), encoding="utf-8")
    assert read_json(path) == from_preset(name)


def test_preset_paper_is_the_papers() -> None:
    config = from_preset("paper")
    model, training = config.model, config.training
    assert (model.embedding_size, model.hidden_size, model.alignment_size, model.maxout_size) == (620, 1000, 1000, 500)
    assert (model.alignment, model.cell, model.decoder_order) == ("mlp", "gated", "look-generate-update")
    assert (training.optimizer, training.adadelta_rho, training.adadelta_epsilon) == ("adadelta", 0.95, 1e-6)
    assert (training.batch_size, training.pool_batches, training.shuffle) == (80, 20, "once")
    assert (training.clip_norm, training.loss_normalization, training.initialization) == (1.0, "sum", "paper")
    assert (training.dropout, training.label_smoothing, training.decay, training.warmup_updates) == (0, 0, "none", 0)
    assert (config.data.source_words, config.data.target_words) == (30000, 30000)
    assert (config.search.length_normalization, config.search.minimum_length_ratio) == (0, 0.5)
    assert config.search.maximum_length_ratio == 3


def test_later_settings_win(tmp_path: Path) -> None:
    """The preset, then the file, then `--set`."""
    path = tmp_path / "my.toml"
    path.write_text("[training]\ndropout = 0.25\nbatch_size = 7\n[model]\nhidden_size = 11\n", encoding="utf-8")
    config = settings_of("small", path, ["training.batch_size=9", " model.cell = lstm "])
    assert config.training.dropout == 0.25
    assert config.training.batch_size == 9
    assert config.model.hidden_size == 11
    assert config.model.cell == "lstm"
    assert config.model.embedding_size == from_preset("small").model.embedding_size
    assert config.training.optimizer == from_preset("small").training.optimizer
    assert settings_of("small", None, ["training.seed=1", "training.seed=2"]).training.seed == 2


@pytest.mark.parametrize(
    ("assignment", "section", "key", "value"),
    [
        ("training.dropout=0.5", "training", "dropout", 0.5),
        ("training.adadelta_epsilon=1e-8", "training", "adadelta_epsilon", 1e-8),
        ("data.remove_duplicates=false", "data", "remove_duplicates", False),
        ("data.source_language=de", "data", "source_language", "de"),
        ("training.max_updates=12", "training", "max_updates", 12),
    ],
)
def test_assignments_have_the_settings_types(assignment: str, section: str, key: str, value: object) -> None:
    found = getattr(getattr(from_dict(parse_assignments([assignment])), section), key)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("assignment", "named", "suggested"),
    [
        ("training.droput=0.1", "training.droput", "training.dropout"),
        ("model.dropout=0.1", "model.dropout", "training.dropout"),
        ("dropout=0.1", "dropout", "training.dropout"),
        ("hidden_size=3", "hidden_size", "model.hidden_size"),
        ("search.beams=3", "search.beams", "search.beam"),
        ("training.dropout", "training.dropout", "section.key=value"),
        ("", "--set", "section.key=value"),
        ("=", "--set", "section.key=value"),
        ("nothing.like.that=1", "nothing.like.that", "presets --settings"),
    ],
)
def test_an_unknown_setting_is_named_and_a_known_one_suggested(assignment: str, named: str, suggested: str) -> None:
    with pytest.raises(RnnsearchError) as raised:
        parse_assignments([assignment])
    assert named in str(raised.value)
    assert suggested in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("training.dropout=1.5", "less than 1"),
        ("training.dropout=much", "number"),
        ("model.cell=gru", "gated"),
        ("training.batch_size=0", "greater than or equal to 1"),
        ("training.batch_size=1.5", "integer"),
        ("training.learning_rate=nan", "finite number"),
        ("training.learning_rate=inf", "finite number"),
        ("training.seed=99999999999999999999", "less than or equal to"),
        ("search.maximum_length_ratio=1e300", "less than or equal to"),
        ("search.length_normalization=1000", "less than or equal to"),
        ("data.remove_duplicates=perhaps", "bool"),
    ],
)
def test_a_wrong_value_is_named(assignment: str, told: str) -> None:
    name, value = assignment.split("=")
    with pytest.raises(RnnsearchError) as raised:
        from_dict(parse_assignments([assignment]))
    assert name in str(raised.value)
    assert value in str(raised.value)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_preset() -> None:
    with pytest.raises(RnnsearchError, match="'smal'") as raised:
        from_preset("smal")
    assert all(name in str(raised.value) for name in PRESETS)
    with pytest.raises(RnnsearchError, match="'smal'"):
        settings_of("smal", None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[training]\ndroput = 0.1\n", r"my\.toml.*training\.droput.*training\.dropout"),
        ("[trainning]\ndropout = 0.1\n", r"my\.toml.*trainning"),
        ("dropout = 0.1\n", r"my\.toml.*training\.dropout"),
        ("[training]\ndropout = 2\n", r"my\.toml.*training\.dropout = 2"),
        ("training = 3\n", r"my\.toml.*training = 3"),
        ("[training\n", r"my\.toml: not TOML"),
        ("a = 1\na = 2\n", r"my\.toml: not TOML"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RnnsearchError, match=told) as raised:
        read_toml(path)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"none\.toml: No such file"):
        read_toml(tmp_path / "none.toml")
    with pytest.raises(RnnsearchError, match="directory"):
        read_toml(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(RnnsearchError, match="not TOML"):
        read_toml(tmp_path / "latin.toml")


@pytest.mark.parametrize("text", ["", "{", "3", '"text"', "null", '[["a", "b", "c"]]', '{"model": {"hidden_size": []}}'])
def test_a_config_that_is_garbage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RnnsearchError, match=r"config\.json") as raised:
        read_json(path)
    assert "\n" not in str(raised.value)


def test_every_setting_is_described() -> None:
    assert list(SECTIONS) == list(to_dict(Config()))
    for section, values in to_dict(Config()).items():
        described = describe(section)
        assert list(described) == list(values)
        for key, text in described.items():
            assert text.strip(), f"{section}.{key}"
            assert text != "None", f"{section}.{key}"


def test_merge() -> None:
    base = {"a": {"x": 1, "y": 2}, "b": {"z": 3}}
    top = {"a": {"y": 4}, "c": {"w": 5}}
    assert merge(base, top) == {"a": {"x": 1, "y": 4}, "b": {"z": 3}, "c": {"w": 5}}
    assert base == {"a": {"x": 1, "y": 2}, "b": {"z": 3}}


def values_of(section: str, key: str) -> st.SearchStrategy[Any]:
    """Values that this setting may have, by what its default is."""
    default = to_dict(Config())[section][key]
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return st.integers(50, 64)  # the highest of their lower limits, and the lowest of their upper ones
    if isinstance(default, float):
        return st.floats(1.0, 1e4) if key == "max_length_ratio" else st.floats(1e-12, 0.999)
    return st.just(default)


@settings(max_examples=50)
@given(data=st.data())
def test_any_settings_survive_toml_and_json(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    # A tied embedding has a say in other settings.
    names = [(section, key) for section in SECTIONS for key in describe(section) if key != "tied_embedding"]
    values: dict[str, dict[str, Any]] = {}
    for section, key in data.draw(st.lists(st.sampled_from(names), unique=True)):
        values.setdefault(section, {})[key] = data.draw(values_of(section, key))
    config = from_dict(values)
    assert from_dict(tomllib.loads(as_toml(to_dict(config)))) == config
    assert from_dict(json.loads(json.dumps(to_dict(config)))) == config


def test_a_file_need_not_go_together_before_it_is_merged(tmp_path: Path) -> None:
    """It holds what differs from a preset; and Windows begins a file with a mark."""
    path = tmp_path / "tied.toml"
    path.write_bytes(b"\xef\xbb\xbf[model]\ntied_embedding = true\n")
    values = read_toml(path)
    assert from_preset("small", values).model.tied_embedding
    with pytest.raises(RnnsearchError, match="maxout_size"):
        from_preset("paper", values)


def test_settings_are_values_of_json() -> None:
    """What is written is what is compared with it, for lists too."""
    settings = to_dict(from_dict({"training": {"augment": ["capitals", "typos"]}}))
    assert json.loads(json.dumps(settings)) == settings
    assert to_dict(from_dict(settings)) == settings
