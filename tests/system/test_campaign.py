"""A short part of the campaign of faults and hostile input (`python tests/campaign`); the whole of it is run by hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from campaign.damage import damage
from campaign.fuzz import fuzz
from campaign.kills import kills
from campaign.markup import markup
from campaign.requests import requests
from campaign.sharing import readers, stream, writers
from campaign.system import system
from campaign.trial import Part

pytestmark = pytest.mark.system


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("run", "count"),
    [
        (fuzz, 20),
        (system, 30),
        (requests, 100),
        (damage, 30),
        (kills, 6),
        (readers, 25),
        (writers, 1),
        (stream, 500),
        (markup, 200),
    ],
)
def test_nothing_fails(run: Callable[[int, Sequence[int]], Part], count: int) -> None:
    part = run(7, range(count))
    assert part.attempts
    assert part.failures == []


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("part", ["disk", "lies"])
def test_nothing_fails_on_a_faulty_disk(part: str) -> None:
    """By a program of its own: what it starts has other calls of the C library."""
    campaign = Path(__file__).parents[1] / "campaign"
    subprocess.run([sys.executable, campaign, "--part", part, "--count", "10", "--seed", "7"], check=True)
