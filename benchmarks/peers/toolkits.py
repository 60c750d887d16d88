"""All toolkits that the speed of training and translation is compared with."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.peers.eole.toolkit import EOLE
from benchmarks.peers.joeynmt.toolkit import JOEYNMT
from benchmarks.peers.opennmt_py.toolkit import OPENNMT_PY
from rnnsearch.config import from_dict
from rnnsearch.errors import RnnsearchError
from rnnsearch.ops.matmul import bf16_is_slower

TOOLKITS = {toolkit.name: toolkit for toolkit in (JOEYNMT, OPENNMT_PY, EOLE)}
PEER_MODES = {
    f"{name} {mode}".strip(): precision for name, toolkit in TOOLKITS.items() for mode, precision in toolkit.modes.items()
}
"""What they compete with, and the type that they compute in; the first word is the toolkit."""


def known_modes(modes: dict[str, dict[str, str]], section: str) -> dict[str, dict[str, str]]:
    """Those that this version has the settings for; the others are named."""
    known = {}
    for name, mode in modes.items():
        try:
            from_dict({section: mode})
        except RnnsearchError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
        else:
            known[name] = mode
    return known


def available(peers: Path) -> list[str]:
    """The contestants among the toolkits that are installed."""
    return [name for name in PEER_MODES if TOOLKITS[name.split()[0]].available(peers)]


def makes_sense(contestant: str) -> bool:
    """Whether it computes in a type that this processor is fast in."""
    return not (contestant.endswith("bf16") and bf16_is_slower())
