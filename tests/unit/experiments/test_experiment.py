from pathlib import Path

import pytest

from rnnsearch.config import to_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.experiments import paper
from rnnsearch.experiments.experiment import BUDGET_HOURS, Experiment, Scale, Text, make_experiment

TEXT = Text((Path("train.en"),), (Path("train.fr"),), (Path("dev.en"),), (Path("dev.fr"),), Path("test.en"), Path("test.fr"))
SCALES: list[Scale] = ["builtin", "multi30k", "files", "wmt14"]


def experiment(scale: Scale, **changes: float) -> Experiment:
    return make_experiment(scale, Path("output"), None if scale == "builtin" else TEXT, **changes)


@pytest.mark.parametrize("scale", SCALES)
def test_five_systems_are_trained_alike(scale: Scale) -> None:
    found = experiment(scale)
    systems = found.systems
    assert [system.paper for system in systems] == [name for name in paper.ROWS if name != "Moses"]
    configs = [to_dict(found.config_of(system)) for system in systems]
    minutes = [config["training"].pop("max_minutes") for config in configs]
    assert len(set(minutes[:4])) == 1
    assert minutes[4] == 0, "the last one is bounded by the updates of the one it continues"
    assert all(config["training"]["patience"] == 0 for config in configs)
    assert [config["data"].pop("max_length") for config in configs] == [system.limit for system in systems]
    assert [config["model"].pop("alignment") for config in configs] == ["none", "mlp", "none", "mlp", "mlp"]
    assert all(config == configs[0] for config in configs)
    # A rate that falls to zero would leave the fifth nothing to go on with.
    assert configs[0]["training"]["decay"] == "none"
    assert not configs[0]["search"]["forbid_unk"]


@pytest.mark.parametrize("scale", SCALES)
def test_the_budget_is_that_of_all_systems_together(scale: Scale) -> None:
    found = experiment(scale)
    own = [found.training_minutes(system) for system in found.systems]
    total = sum(own) - found.training_minutes(found.systems[3])  # the fifth goes on with the fourth
    assert total / 60 == pytest.approx(BUDGET_HOURS[scale], rel=0.01)
    assert experiment(scale, budget_hours=1.0).minutes == pytest.approx(60 / (3 + 252 / 111), abs=0.01)


def test_the_papers_scale_is_the_papers() -> None:
    found = experiment("wmt14")
    assert found.limits == (30, 50)
    assert found.edges == (10, 20, 30, 40, 50, 60)
    assert found.long == 30
    assert found.config.model.hidden_size == 1000
    assert found.config.training.optimizer == "adadelta"
    assert found.config.search.beam == 12
    assert found.minutes / 60 == pytest.approx(111, abs=1)
    assert [system.name for system in found.systems] == [system.paper for system in found.systems]


def test_lengths_scale_down_together() -> None:
    found = experiment("builtin")
    assert found.limits == (15, 25)
    assert found.edges == (5, 10, 15, 20, 25, 30)
    assert found.long == 15
    assert [system.name for system in found.systems][-1] == "RNNsearch-25*"
    assert not set("*/ ") & set("".join(system.folder for system in found.systems))


def test_text_is_asked_for_where_it_is_needed() -> None:
    with pytest.raises(RnnsearchError, match="--scale files needs its text"):
        make_experiment("files", Path("output"), None)
    with pytest.raises(RnnsearchError, match="has its own text"):
        make_experiment("builtin", Path("output"), TEXT)


def test_the_papers_numbers() -> None:
    assert [(row.all, row.no_unk) for row in paper.ROWS.values()] == [
        (13.93, 24.19),
        (21.50, 31.44),
        (17.82, 26.71),
        (26.75, 34.16),
        (28.45, 36.15),
        (33.30, 35.63),
    ]
    trained = [row.training for row in paper.ROWS.values() if row.training]
    assert [row.hours for row in trained] == [109, 113, 108, 111, 252]
    assert [row.dev_nll for row in trained] == [53.0, 47.2, 43.6, 38.1, 35.2]


def test_a_development_set_may_have_several_files(tmp_path: Path) -> None:
    """One file is described as it was when only one could be given, so that such experiments go on."""
    files = [tmp_path / name for name in ("a", "b", "c", "d", "e", "f")]
    for path in files:
        path.write_text("x\n")
    a, b, c, d, e, f = files
    one = make_experiment("files", tmp_path, Text((a,), (b,), (c,), (d,), e, f)).describe()["text"]
    assert one["valid_source"] == ["c", 2]
    assert one["source"] == [["a", 2]]
    two = make_experiment("files", tmp_path, Text((a,), (b,), (c, d), (d, c), e, f)).describe()["text"]
    assert two["valid_source"] == [["c", 2], ["d", 2]]


def test_seed_and_settings_are_those_of_all_systems(tmp_path: Path) -> None:
    plain = make_experiment("builtin", tmp_path, None)
    changed = make_experiment("builtin", tmp_path, None, seed=7, overrides={"model": {"hidden_size": 9}})
    assert plain.describe() != changed.describe()
    for system in changed.systems:
        config = changed.config_of(system)
        assert (config.training.seed, config.data.seed, config.model.hidden_size) == (7, 7, 9)
        assert config.model.alignment == ("mlp" if system.kind == "RNNsearch" else "none")
    own = make_experiment("builtin", tmp_path, None, seed=7, overrides={"training": {"seed": 8}})
    assert own.config.training.seed == 8
    with pytest.raises(RnnsearchError, match=r"training\.patience: the systems of the experiment differ in it"):
        make_experiment("builtin", tmp_path, None, overrides={"training": {"patience": 3}})
