"""Renders docs/reference/settings.md from the dataclasses in rnnsearch.config: `python docs/make_settings.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from rnnsearch.config import SECTIONS, Config, describe, from_preset, to_dict
from rnnsearch.plugins import OWN
from rnnsearch.presets import PRESETS

PAGE = Path(__file__).parent / "reference" / "settings.md"

HEAD = """\
# Settings

<!-- Written by docs/make_settings.py from src/rnnsearch/config.py. Do not edit it; run the script. -->

This page lists every setting. [Change settings](../how-to/settings.md) explains how to use them, and [The paper, its
authors' code, and rnnsearch](paper-settings.md) says which values are the paper's. The name of a setting has the form
`section.key`. On the command line, write `--set training.dropout=0.2`. In a TOML file, write

```toml
[training]
dropout = 0.2
```
"""

PRESETS_HEAD = """\
## Presets

A preset is a set of changes to the defaults. `rnnsearch presets NAME` prints all settings of a preset. Those of `characters`
are for some thousand training pairs, and differ with fewer or more of them. The table shows the
settings in which at least one preset differs from the defaults.

"""

BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def page() -> str:
    """The whole page, as Markdown."""
    parts = [HEAD]
    defaults = to_dict(Config())
    for section, cls in SECTIONS.items():
        parts.append(f"## {section}\n\n{(cls.__doc__ or '').splitlines()[0]}\n")
        rows = ["| setting | default | values | meaning |", "|---|---|---|---|"]
        for key, description in describe(section).items():
            text = " ".join(description.split()).replace("|", "\\|")
            rows.append(f"| `{section}.{key}` | {_shown(defaults[section][key])} | {_values(section, key)} | {text} |")
        parts.append("\n".join(rows) + "\n")
    parts.append(_presets(defaults))
    return "\n".join(parts)


def _values(section: str, key: str) -> str:
    """What a setting may be: its choices, or its type and bounds."""
    info = SECTIONS[section].__pydantic_fields__[key]  # type: ignore[attr-defined]
    if section == "model" and key in OWN:
        return ", ".join(f"`{choice}`" for choice in OWN[key]) + ", or a name that a plugin defines"
    choices = get_args(info.annotation)
    if Ellipsis in choices:
        return "several of " + ", ".join(f"`{choice}`" for choice in get_args(choices[0]))
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    kind = {int: "whole number", float: "number", str: "text", bool: "`true`, `false`"}[info.annotation]
    limits = [(sign, getattr(limit, name, None)) for limit in info.metadata for name, sign in BOUNDS.items()]
    return ", ".join([kind, *(f"{sign} {value:g}" for sign, value in limits if value is not None)])


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(f"`{each}`" for each in value) or "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _presets(defaults: dict[str, dict[str, Any]]) -> str:
    """A table of the settings in which a preset differs from the defaults."""
    values = {name: to_dict(from_preset(name)) for name in PRESETS}
    rows = [f"| setting | {' | '.join(f'`{name}`' for name in PRESETS)} |", f"|---|{'---|' * len(PRESETS)}"]
    for section in SECTIONS:
        for key, default in defaults[section].items():
            of_presets = [values[name][section][key] for name in PRESETS]
            if any(value != default for value in of_presets):
                rows.append(f"| `{section}.{key}` | {' | '.join(map(_shown, of_presets))} |")
    return PRESETS_HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
