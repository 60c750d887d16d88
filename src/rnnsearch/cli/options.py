"""Options that several commands have, so that they are spelled and explained alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnsearch.config import PRESETS, Config, from_dict, from_preset, merge, parse_assignments, read_json, read_toml
from rnnsearch.errors import RnnsearchError

Model = Annotated[Path, typer.Option("--model", "-m", help="The folder of a trained model.")]
Models = Annotated[
    list[Path], typer.Option("--model", "-m", help="The folder of a trained model; several together are an ensemble.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, e.g. `training.dropout=0.2`; may be repeated."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE.toml", help="Settings in a TOML file.")]
Preset = Annotated[str, typer.Option("--preset", help=f"Settings to start from: {', '.join(PRESETS)}.")]
Links = Annotated[
    list[Path] | None,
    typer.Option("--links", help="Its word alignments, `0-0 1-2 …` a line, to guide the model's; as many files as sources."),
]
Tokenized = Annotated[
    bool, typer.Option("--tokenized", help="The files are tokenised already: words are what spaces separate.")
]


SearchSet = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One search setting, e.g. `search.length_normalization=0.8`."),
]


def search_settings(paper: bool, beam: int | None, assignments: list[str] | None) -> dict[str, Any]:
    """The search settings a command asks for, over those of the model: `--paper`, then `--set`, then `--beam`."""
    values = parse_assignments(assignments or [])
    for section in values:
        if section != "search":
            raise RnnsearchError(f"--set {section}.…: the model is trained; only search.* can still be set")
    settings: dict[str, Any] = {**(PRESETS["paper"]["search"] if paper else {}), **values.get("search", {})}
    return settings if beam is None else settings | {"beam": beam}


def refuse_settings(
    assignments: list[str] | None, wanted: Config, sections: tuple[str, ...], option: str, model: Path
) -> None:
    """Say so where `--set` asks for something else than the given model has, and the model's is what counts."""
    given = read_json(model / "config.json")
    for section, values in parse_assignments(assignments or []).items():
        for key in values if section in sections else ():
            asked, has = (getattr(getattr(config, section), key) for config in (wanted, given))
            if asked not in (has, "auto"):
                raise RnnsearchError(
                    f"--set {section}.{key}={asked}: with {option}, {section}.* are those of {model}, which has {has}"
                )


def settings(preset: str, config_file: Path | None, assignments: list[str] | None) -> Config:
    """The settings a command asks for: the preset, then the file, then `--set`, the later winning."""
    values: Mapping[str, Mapping[str, Any]] = read_toml(config_file) if config_file else {}
    from_preset(preset)  # an unknown preset is the first thing to complain of
    merged = merge(merge(PRESETS[preset], values), parse_assignments(assignments or []))
    return from_dict(merged)
