"""`kept_memory`: what is freed is there again at once, and goes back to the system in the end."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import torch

from rnnsearch.ops import kept_memory, memory

pytestmark = pytest.mark.skipif(memory._glibc() is None, reason="only glibc can be told to keep what is freed")

MEGABYTES = 24


def pages_fetched() -> int:
    """How many pages the system hands out for a large tensor."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(MEGABYTES * 2**20, dtype=torch.uint8).fill_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def test_freed_memory_is_used_again_without_asking_for_it() -> None:
    libc = memory._glibc()
    assert libc is not None
    libc.malloc_trim(0)  # what earlier tests left behind
    outside = pages_fetched()
    assert outside > 0
    with kept_memory():
        within = [pages_fetched() for _ in range(40)]
    # An aligned block needs a hole a little larger than itself, so it takes some rounds until there is one.
    assert sum(within[-10:]) < outside / 4


def test_afterwards_memory_goes_back_to_the_system() -> None:
    with kept_memory():
        pages_fetched()
        kept = resident_megabytes()
    assert resident_megabytes() < kept - MEGABYTES / 2


def test_memory_goes_back_after_an_exception() -> None:
    kept = 0.0

    def fail() -> None:
        nonlocal kept
        with kept_memory():
            pages_fetched()
            kept = resident_megabytes()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert resident_megabytes() < kept - MEGABYTES / 2


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_glibc", lambda: None)
    with kept_memory():
        pages_fetched()
