"""An aligner's folder that a stranger made is refused in one line, or its numbers are sound: no loop leaves an array."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import poison
from rnnsearch.alignment import Aligner, Corpus, probability
from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs import digest_of

FILES = ("source.words", "target.words", "aligner.safetensors")
TEXT = [(f"e{n % 7} e{n % 3} e1", f"{n % 7}f {n % 3}f 1f") for n in range(60)]
PAIRS = [(source.split(), target.split()) for source, target in [*TEXT[:5], ("new e1", "1f neu"), ("", "1f")]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aligner")
    aligner = Aligner.learn(Corpus((source.split(), target.split()) for source, target in TEXT))
    aligner.save(folder)
    list(aligner.align(PAIRS))  # compiles the loops
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "aligner"))


def sign(folder: Path) -> None:
    """Write the digest of the files as they are now."""
    path = folder / "aligner.json"
    description = json.loads(path.read_text())
    path.write_text(json.dumps(description | {"digest": digest_of(*(folder / name for name in FILES))}))


def rewrite(folder: Path, change: Callable[[poison.Arrays], object]) -> None:
    arrays = load_file(folder / FILES[2])
    change(arrays)
    save_file(arrays, folder / FILES[2])
    sign(folder)


def aligned(folder: Path) -> bool:
    """Load an aligner and use it; whether what it finds are numbers."""
    found = list(Aligner.load(folder).align(PAIRS))
    whole = all(np.isfinite(line.probability).all() and np.isfinite(line.forward).all() for line in found)
    return whole and len(found) == len(PAIRS)


@given(st.integers(0, 10**9))
def test_arrays_altered_under_a_matching_digest(saved: Path, tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = Path(shutil.copytree(saved, tmp_path_factory.mktemp("altered") / "aligner"))
    for attempt in range(2):
        arrays, what = poison.alter(load_file(saved / FILES[2]), Random(f"{seed} {attempt}"))
        save_file(arrays, folder / FILES[2])
        sign(folder)
        assert poison.in_child(partial(aligned, folder)) in ("sound", "refused"), what


@pytest.mark.parametrize(
    ("name", "told"),
    [("keys", "links"), ("links", "links"), ("nulls.0", ""), ("jumps.1", "jumps"), ("totals.0", ""), ("likeness.1", "")],
)
@pytest.mark.parametrize("kind", ["agreeing", "independent"])
def test_a_table_of_another_length_is_refused(folder: Path, kind: str, name: str, told: str) -> None:
    for length in (0, 1, -1):
        rewrite(folder, lambda arrays, end=length: arrays.update({f"{kind}.{name}": arrays[f"{kind}.{name}"][:end].copy()}))
        with pytest.raises(RnnsearchError, match=rf"damaged \(.*{told}"):
            Aligner.load(folder)


@pytest.mark.parametrize("name", ["source.words", "target.words", "aligner.safetensors"])
def test_a_file_larger_than_any_disk_is_not_read(folder: Path, name: str) -> None:
    """Neither to compute the digest that `aligner.json` states."""
    poison.huge(folder / name)
    assert poison.in_child(lambda: bool(Aligner.load(folder)), seconds=20) == "refused"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1, 1e30])
@pytest.mark.parametrize("name", ["agreeing.links", "agreeing.nulls.1", "independent.jumps.0", "agreeing.totals.1"])
def test_a_number_out_of_its_range_is_refused(folder: Path, name: str, number: float) -> None:
    rewrite(folder, lambda arrays: arrays[name].reshape(-1).__setitem__(0, number))
    with pytest.raises(RnnsearchError, match=f"{name} has a number that is not finite, or out of its range"):
        Aligner.load(folder)


@pytest.mark.parametrize("key", [-1, 2**62])
def test_a_type_of_words_that_are_not_there_is_refused(folder: Path, key: int) -> None:
    rewrite(folder, lambda arrays: arrays["agreeing.keys"].__setitem__(-1, key))
    with pytest.raises(RnnsearchError, match=r"agreeing\.keys"):
        Aligner.load(folder)


def test_keys_out_of_order_and_words_twice_are_refused(folder: Path, saved: Path) -> None:
    rewrite(folder, lambda arrays: arrays.update({"agreeing.keys": arrays["agreeing.keys"][::-1].copy()}))
    with pytest.raises(RnnsearchError, match=r"agreeing\.keys do not ascend"):
        Aligner.load(folder)
    shutil.copy(saved / FILES[2], folder / FILES[2])
    words = (folder / "source.words").read_text().split("\n")
    (folder / "source.words").write_text("\n".join([words[0], words[0], *words[2:]]))
    sign(folder)
    with pytest.raises(RnnsearchError, match=r"source\.words has a word twice"):
        Aligner.load(folder)


@pytest.mark.parametrize("text", [*poison.ODD_JSON, '{"format": 2, "p_0": [], "digest": ""}'])
def test_an_odd_description_is_refused(folder: Path, text: str) -> None:
    (folder / "aligner.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(RnnsearchError) as raised:
        Aligner.load(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("p_0", [0, 1, 2.0, -0.5, True, "0.1", None, [0.1]])
def test_an_odd_probability_of_no_word_is_refused(folder: Path, p_0: object) -> None:
    description = json.loads((folder / "aligner.json").read_text())
    description["p_0"]["agreeing"] = p_0
    (folder / "aligner.json").write_text(json.dumps(description))
    with pytest.raises(RnnsearchError, match=r"p_0 = .* is no probability"):
        Aligner.load(folder)


@pytest.mark.parametrize("name", [*FILES, "aligner.json"])
def test_what_is_no_file_is_refused_at_once(folder: Path, name: str) -> None:
    def device(path: Path) -> None:
        poison.replace_by_link(path, "/dev/zero")

    for replace in (poison.replace_by_pipe, device, poison.replace_by_folder):
        replace(folder / name)
        with pytest.raises(RnnsearchError, match="not a file but"):
            Aligner.load(folder)


def test_damaged_parts_of_a_training_are_learned_again(tmp_path: Path) -> None:
    def learned() -> bytes:
        corpus = Corpus(((source.split(), target.split()) for source, target in TEXT), tmp_path)
        return b"".join(line.probability.tobytes() for line in Aligner.learn(corpus).align(corpus))

    whole = learned()
    with np.load(tmp_path / "agreeing.part") as file:
        arrays = dict(file)
    for seed in range(12):
        with (tmp_path / "agreeing.part").open("wb") as out:
            altered, what = poison.alter(arrays, Random(seed))
            np.savez(out, **altered)
        assert len(learned()) == len(whole), what
    (tmp_path / "agreeing.part").write_bytes(b"PK\3\4" * 100)
    (tmp_path / "independent.part").unlink()
    assert learned() == whole


def test_link_weights_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = json.loads(probability.WEIGHTS.read_text())
    monkeypatch.setattr(probability, "WEIGHTS", tmp_path / "weights.json")
    for network, of in weights.items():
        changed = {"mean": of["mean"][1:], "hidden": of["hidden"][1:], "constant": float("nan"), "deviation": 0}
        for name, value in changed.items():
            (tmp_path / "weights.json").write_text(json.dumps(weights | {network: of | {name: value}}))
            with pytest.raises(RnnsearchError, match=rf"weights\.json: damaged \({name}"):
                probability.networks.__wrapped__()
    (tmp_path / "weights.json").write_text(json.dumps({"first": weights["first"]}))
    with pytest.raises(RnnsearchError, match=r"weights\.json: damaged \('second'"):
        probability.networks.__wrapped__()
