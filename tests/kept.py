"""What takes long to make, and is then only read: made once for all processes, and for later runs of the tests.

It lies in `.pytest_cache/kept` (`make clean` removes it) under a name that is a hash of all that it depends on: the sources
of the package, of the helpers here and of the module that makes it, its arguments, Python and PyTorch.
"""

from __future__ import annotations

import functools
import inspect
import shutil
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import torch
from filelock import FileLock

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".pytest_cache" / "kept"
DAYS = 2
"""How long what nobody has asked for stays."""


def kept(make: Callable[..., object], *arguments: object) -> Path:
    """The folder that `make(folder, *arguments)` has filled. It is not to be written to: copy it."""
    module = Path(inspect.getfile(make)).read_bytes()
    key = sha256(repr([_code(), sha256(module).hexdigest(), make.__qualname__, arguments]).encode()).hexdigest()
    folder = FOLDER / f"{make.__name__}-{key[:20]}"
    lock, unfinished = folder.with_suffix(".lock"), folder.with_suffix(".unfinished")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        lock.touch()
        if not folder.exists():
            _clean()
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished, *arguments)
            unfinished.rename(folder)
    return folder


@functools.cache
def _code() -> str:
    """What everything depends on."""
    found = sha256(f"{sys.version} {torch.__version__} {torch.backends.cpu.get_cpu_capability()}".encode())
    for path in sorted([*(ROOT / "src" / "rnnsearch").rglob("*"), *(ROOT / "tests").glob("*.py")]):
        if path.is_file() and path.parent.name != "__pycache__":
            found.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()


def _clean() -> None:
    for lock in FOLDER.glob("*.lock"):
        if time.time() - lock.stat().st_mtime > DAYS * 86_400:
            for folder in (lock.with_suffix(""), lock.with_suffix(".unfinished")):
                shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)
