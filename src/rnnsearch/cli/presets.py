"""`rnnsearch presets`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from rnnsearch.cli.options import check_inputs, documentation
from rnnsearch.presets import PRESET_PURPOSE, PRESETS


def command(
    name: Annotated[str | None, typer.Argument(help=f"One of {', '.join(PRESETS)}.")] = None,
    settings: Annotated[bool, typer.Option("--settings", help="List all settings with their defaults.")] = False,
) -> None:
    """List the presets, or print one as a TOML file.

    The file explains every setting. To change some: `rnnsearch presets small > my.toml`, edit the file, and
    `rnnsearch train --config my.toml …`.
    """
    from rnnsearch.config import from_preset, to_dict

    check_inputs(printed=True)
    if name is not None or settings:
        print(as_toml(to_dict(from_preset(name or "paper"))), end="")
        return
    for preset in PRESETS:
        model, training = from_preset(preset).model, from_preset(preset).training
        print(f"{preset:10} {PRESET_PURPOSE[preset]}")
        print(
            f"           m {model.embedding_size}, n {model.hidden_size}, n' {model.alignment_size}, "
            f"l {model.maxout_size}; {training.optimizer}, dropout {training.dropout:g}, "
            f"label smoothing {training.label_smoothing:g}"
        )
    print("\n`rnnsearch presets NAME` prints all settings of a preset, as a commented TOML file.")


def as_toml(values: dict[str, dict[str, Any]]) -> str:
    """All settings as TOML, each under its description."""
    from rnnsearch.config import SECTIONS, describe

    lines = []
    for section, cls in SECTIONS.items():
        lines += [f"# {documentation(cls).splitlines()[0]}", f"[{section}]"]
        for key, description in describe(section).items():
            lines += [f"# {' '.join(description.split())}", f"{key} = {json.dumps(values[section][key])}", ""]
    return "\n".join(lines)
