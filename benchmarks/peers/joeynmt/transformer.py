"""A Transformer of JoeyNMT for small texts in subwords, which `transformer.json` describes: how it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.lib.texts import write_lines
from benchmarks.peers.joeynmt.toolkit import JOEYNMT
from benchmarks.peers.toolkit import settings_of
from rnnsearch.atomic import write_json


def commands(
    folder: Path,
    pieces: Sequence[str],
    languages: Sequence[str],
    tested: Mapping[str, Path],
    peers: Path,
    validation: int = 500,
    seed: int = 1,
) -> tuple[list[str], list[str]]:
    """Write files of settings and a vocabulary; the commands that train, and that write `translated.NAME` by each test set.

    The names of the test sets are those of its settings, `dev` and `test`. It validates after every `validation` updates.
    """
    write_lines(folder / "pieces.vocab", ("<unk>", "<pad>", "<s>", "</s>", *pieces))
    source, target = languages
    chosen = {"validation": validation, "seed": seed, "version": JOEYNMT.version}
    settings = settings_of(
        JOEYNMT.settings.with_name("transformer.json"), folder=folder, source=source, target=target, **chosen
    )
    write_json(folder / "training.yaml", settings)  # JSON is YAML
    sets = {name: str(file) for name, file in tested.items()}
    write_json(folder / "test.yaml", {**settings, "data": {**settings["data"], **sets}})
    joeynmt = [str(JOEYNMT.python(peers)), "-m", "joeynmt"]
    # Its command `translate` breaks off where it should write what it has translated; `test` writes.
    test = [*joeynmt, "test", str(folder / "test.yaml"), "--output-path", str(folder / "translated")]
    return [*joeynmt, "train", str(folder / "training.yaml"), "--skip-test"], test
