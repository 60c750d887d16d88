"""A model folder that a stranger made is refused in one line, or is sound; it takes no more memory than its files have."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import poison
from command_line import Folders, Run, refused
from rnnsearch.errors import RnnsearchError
from rnnsearch.model import AlignmentLayer
from rnnsearch.model_files import ALIGNMENT_LAYER, CONFIG, WEIGHTS
from rnnsearch.model_folder import export_model, load_members, load_system, save_alignment_layer, save_settings, save_weights
from rnnsearch.system import System
from rnnsearch.translation.lexicon import Lexicon
from rnnsearch.weight_files import checksum
from toy import toy_config, toy_system

VOCABULARIES = ("source.vocab", "target.vocab")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with an alignment layer, and the same as int8 in `small`."""
    folder = tmp_path_factory.mktemp("models")
    system = toy_system(toy_config())
    layer = AlignmentLayer(system.model)
    layer.initialize(1)
    system = System(system.config, system.vocabularies, system.model, layer)
    save_settings(folder / "whole", system)
    save_weights(folder / "whole" / WEIGHTS, system)
    save_alignment_layer(folder / "whole", system)
    export_model(folder / "whole", folder / "small", "int8")
    return folder


@pytest.fixture(params=["whole", "small"])
def folder(request: pytest.FixtureRequest, saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved / request.param, tmp_path / "model"))


def rewrite(path: Path, change: Callable[[poison.Arrays], poison.Arrays | None]) -> None:
    """Change the arrays of a file of weights, under a header that says that these are the ones that were written."""
    arrays = load_file(path)
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["rnnsearch"])
    found = change(arrays) or arrays
    save_file(found, path)
    with safe_open(path, "pt") as file:
        header["crc32"] = checksum({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    save_file(found, path, {"rnnsearch": json.dumps(header)})


def loaded(folder: Path) -> bool:
    """Whether all weights are numbers."""
    system = load_system(folder)
    assert system.alignment_layer is not None
    weights = [*system.model.parameters(), *system.alignment_layer.parameters()]
    return all(bool(weight.isfinite().all()) for weight in weights)


def told(folder: Path, match: str) -> None:
    with pytest.raises(RnnsearchError, match=match) as raised:
        load_members(folder)
    assert "\n" not in str(raised.value)


@given(st.integers(0, 10**9), st.sampled_from(["whole", "small"]), st.sampled_from([WEIGHTS, ALIGNMENT_LAYER]))
def test_tensors_altered_under_a_matching_checksum(
    saved: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, kind: str, name: str
) -> None:
    folder = Path(shutil.copytree(saved / kind, tmp_path_factory.mktemp("altered") / "model"))
    arrays, what = poison.alter(load_file(folder / name), Random(seed))
    rewrite(folder / name, lambda _: arrays)
    assert poison.in_child(partial(loaded, folder)) in ("sound", "refused"), what


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", [WEIGHTS, ALIGNMENT_LAYER])
def test_weights_that_are_not_finite_are_refused(folder: Path, name: str, number: float) -> None:
    def change(arrays: poison.Arrays) -> None:
        one = next(array for array in arrays.values() if array.dtype == np.float32)
        one.reshape(-1)[-1] = number

    rewrite(folder / name, change)
    told(folder, f"{name}: .* has a number that is not finite")


def test_numbers_that_are_finite_only_in_the_file_are_refused(folder: Path) -> None:
    def change(arrays: poison.Arrays) -> None:
        arrays["decoder.b_s"] = np.full(arrays["decoder.b_s"].shape, 1e300)

    rewrite(folder / WEIGHTS, change)
    told(folder, "decoder.b_s has a number that is not finite")


@pytest.mark.parametrize("dtype", ["bool", "complex64", "int32", "uint8"])
def test_weights_of_other_types_are_refused(folder: Path, dtype: str) -> None:
    rewrite(folder / WEIGHTS, lambda arrays: arrays.update({"decoder.b_s": arrays["decoder.b_s"].astype(dtype)}))
    told(folder, r"decoder\.b_s is of (BOOL|C64|I32|U8); weights are floating-point numbers")


def test_weights_of_double_and_half_precision_are_read(folder: Path) -> None:
    for dtype in (np.float64, np.float16):
        rewrite(
            folder / WEIGHTS, lambda arrays, dtype=dtype: arrays.update({"decoder.b_s": arrays["decoder.b_s"].astype(dtype)})
        )
        assert loaded(folder)


def test_tensors_that_no_model_has_are_refused(folder: Path) -> None:
    rewrite(folder / WEIGHTS, lambda arrays: arrays.update({"\x1b[2J": np.zeros(1, np.float32)}))
    told(folder, "is no tensor of the model that config.json describes")


def test_int8_vectors_that_would_be_multiplied_to_a_matrix_are_refused(folder: Path) -> None:
    words, place = 200_000, folder / "source.vocab"
    place.write_text("".join(f"{word}\n" for word in ["</s>", "[UNK]", *range(words - 2)]))
    (folder / "target.vocab").write_text(place.read_text())

    def change(arrays: poison.Arrays) -> None:
        arrays["readout.b_w"] = np.ones(words, np.int8)
        arrays["readout.b_w.scale"] = np.ones(words, np.float32)

    rewrite(folder / WEIGHTS, change)
    assert poison.in_child(partial(loaded, folder), gigabytes=1) == "refused"


def test_settings_that_claim_more_than_the_weights_have_take_no_memory(folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    config["model"] |= {"hidden_size": 12_000, "alignment_size": 60_000}
    (folder / CONFIG).write_text(json.dumps(config))
    began = time.monotonic()
    assert poison.in_child(partial(loaded, folder), gigabytes=1) == "refused"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("name", [WEIGHTS, ALIGNMENT_LAYER])
def test_headers_that_claim_more_than_the_file_has_are_refused(folder: Path, name: str) -> None:
    for shape, content in (((2**31, 2**20), 0), ((1 << 40,), 1000), ((0,), 0), ((2**63, 4), 8)):
        poison.claim(folder / name, "F32", shape, content)
        told(folder, name)
    (folder / name).write_bytes((1 << 62).to_bytes(8, "little") + b"{" * 1000)
    told(folder, "its header claims to be too long")


@pytest.mark.parametrize("text", poison.ODD_JSON)
def test_odd_settings_are_refused(folder: Path, text: str) -> None:
    (folder / CONFIG).write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(RnnsearchError) as raised:
        load_system(folder)
    message = str(raised.value)
    assert message.isprintable()
    assert len(message) < 1000


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, ALIGNMENT_LAYER, *VOCABULARIES])
def test_what_is_no_file_is_refused_at_once(saved: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(saved / "whole", tmp_path / "model"))

    def device(path: Path) -> None:
        poison.replace_by_link(path, "/dev/zero")

    for replace in (poison.replace_by_pipe, device, poison.replace_by_folder):
        replace(folder / name)
        told(folder, "not a file but")


@pytest.mark.parametrize("name", [CONFIG, *VOCABULARIES])
def test_files_larger_than_any_of_their_kind_are_not_read(saved: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(saved / "whole", tmp_path / "model"))
    poison.huge(folder / name)
    told(folder, "more than .* bytes, which no file of its kind has")


@pytest.mark.parametrize("words", [["a", "a"], ["", "b"], ["</s>"], ["[UNK]"], ["b\x1b[2J", "b\x1b[2J"]])
def test_a_vocabulary_with_a_word_twice_or_an_empty_one_is_refused(folder: Path, words: list[str]) -> None:
    (folder / "source.vocab").write_text("".join(f"{word}\n" for word in ["</s>", "[UNK]", *words]))
    with pytest.raises(RnnsearchError, match=r"source\.vocab") as raised:
        load_system(folder)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("name", ["model-x.safetensors", "model-².safetensors", "model-٢.safetensors", "model-.safetensors"])
def test_weights_under_odd_names_are_no_models_of_an_ensemble(folder: Path, name: str, tmp_path: Path) -> None:
    (folder / name).write_bytes(b"secret")
    assert len(load_members(folder)) == 1
    export_model(folder, tmp_path / "copy", "fp32")
    assert not (tmp_path / "copy" / name).exists()


@pytest.mark.parametrize("line", ["a\tb\tnan", "a\tb\t-1", "a\tb\t1e999", "a\tb\t2", "a\tb", "\x1b[2J", ""])
def test_an_odd_lexicon_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "lexicon.tsv").write_text(f"dog\tchien\t1\n{line}\n")
    with pytest.raises(RnnsearchError, match=r"lexicon\.tsv:2") as raised:
        Lexicon.load(tmp_path)
    assert str(raised.value).isprintable()


# What is given away -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["README.md", "training.json", "lexicon.tsv", "source.vocab", WEIGHTS])
def test_an_export_does_not_follow_links_out_of_the_folder(saved: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(saved / "whole", tmp_path / "model"))
    secret = tmp_path / "secret"
    shutil.copy(folder / name, secret) if (folder / name).exists() else secret.write_text("secret")
    for target in (secret, Path("..") / "secret"):
        poison.replace_by_link(folder / name, target)
        with pytest.raises(RnnsearchError, match=f"{name}: a link to a file outside of the folder"):
            export_model(folder, tmp_path / "copy", "fp32")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("replace", [poison.replace_by_pipe, poison.replace_by_folder])
def test_an_export_of_what_is_no_file_is_refused(saved: Path, tmp_path: Path, replace: Callable[[Path], None]) -> None:
    folder = Path(shutil.copytree(saved / "whole", tmp_path / "model"))
    replace(folder / "README.md")
    with pytest.raises(RnnsearchError, match=r"README\.md: this is not a file"):
        export_model(folder, tmp_path / "copy", "fp32")


def test_an_export_has_the_files_of_a_model_and_no_others(saved: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved / "whole", tmp_path / "model"))
    for name in ("x.vocab", "notes.subwords"):
        poison.replace_by_link(folder / name, "/etc/passwd")
    (folder / "card").write_text("card")
    poison.replace_by_link(folder / "README.md", "card")  # within the folder
    (tmp_path / "link").symlink_to(folder)
    export_model(tmp_path / "link", tmp_path / "copy", "fp32")
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {
        CONFIG, WEIGHTS, ALIGNMENT_LAYER, *VOCABULARIES, "README.md"
    }  # fmt: skip
    assert (tmp_path / "copy" / "README.md").read_text() == "card"
    assert not (tmp_path / "copy" / "README.md").is_symlink()


def test_a_model_in_the_cache_of_the_hub_is_exported(saved: Path, tmp_path: Path) -> None:
    """There, all files are links to blobs; a link to a file elsewhere is none of them."""
    cache = tmp_path / "models--ada--en-fr"
    snapshot = cache / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (cache / "blobs").mkdir()
    for path in (saved / "whole").iterdir():
        shutil.copy(path, cache / "blobs" / f"blob-{path.name}")
        (snapshot / path.name).symlink_to(Path("..") / ".." / "blobs" / f"blob-{path.name}")
    assert loaded(snapshot)
    export_model(snapshot, tmp_path / "copy", "fp32")
    (tmp_path / "secret").write_text("secret")
    (cache / "blobs" / "secret").symlink_to(tmp_path / "secret")
    (snapshot / "README.md").symlink_to(Path("..") / ".." / "blobs" / "secret")
    with pytest.raises(RnnsearchError, match="a link to a file outside of the folder"):
        export_model(snapshot, tmp_path / "again", "fp32")


# What is listed -----------------------------------------------------------------------------------------------------


def test_one_odd_folder_does_not_break_the_list_of_models(
    saved: Path, rnnsearch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = tmp_path / "mine"
    names = ["good", "record", "numbers", "deep", "long", "pipe", "device", "claims", "[b]", "\x1b[2Jtitle\x07", "language"]
    for name in names:
        shutil.copytree(saved / "small", models / name)
    (models / "record" / "training.json").write_text("[]")
    (models / "numbers" / "training.json").write_text('{"dev_bleu": "[/b]", "dev_wer": {"a": 1}}')
    (models / "deep" / CONFIG).write_text(poison.deep())
    (models / "long" / CONFIG).write_text(f'{{"model": {{"hidden_size": {poison.long_number()}}}}}')
    poison.replace_by_pipe(models / "pipe" / CONFIG)
    poison.replace_by_link(models / "device" / CONFIG, "/dev/zero")
    poison.claim(models / "claims" / WEIGHTS, "F32", (1 << 40,))
    config = json.loads((models / "language" / CONFIG).read_text())
    config["data"] |= {"source_language": "[/b]", "target_language": "\x1b]0;owned\x07"}
    (models / "language" / CONFIG).write_text(json.dumps(config))
    monkeypatch.setenv("COLUMNS", "200")
    done = rnnsearch("models", models)
    assert done.status == 0, done.err
    assert done.out.replace("\n", "").isprintable()
    for name in ("good", "record", "numbers", "[b]", "\\x1b[2Jtitle\\x07", "language"):
        assert f"{models.name}/{name}" in done.out.replace(str(tmp_path), ""), name
    assert "[/b] → \\x1b]0;owned\\x07" in done.out
    for name in ("deep", "long", "pipe", "device", "claims"):
        assert f"unreadable: {models / name}/" in done.out, name


@pytest.mark.parametrize("language", ["[/b]", "\x1b[2J", "x" * 100_000, "../../../etc/passwd", "\0"])
def test_a_model_of_an_odd_language_translates(model_folder: Folders, rnnsearch: Run, tmp_path: Path, language: str) -> None:
    folder = Path(shutil.copytree(model_folder("mlp"), tmp_path / "model"))
    config = json.loads((folder / CONFIG).read_text())
    config["data"]["source_language"] = language
    (folder / CONFIG).write_text(json.dumps(config))
    weights = load_file(folder / WEIGHTS)
    save_file(weights, folder / WEIGHTS)  # without the hash of the settings
    (tmp_path / "text").write_text("the big dog sees a cat .\n")
    done = rnnsearch("translate", "--model", folder, tmp_path / "text")
    if done.status:
        refused(done)
    assert (done.out + done.err).replace("\n", "").isprintable()
