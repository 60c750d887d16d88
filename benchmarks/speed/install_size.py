"""What is downloaded and installed for `pip install rnnsearch`, and the share of each dependency.

    python benchmarks/speed/install_size.py [--extra train] [--here]

The packages are downloaded, with the ordinary pip, and installed into an empty virtual environment; so it needs a network.
A size is that of a package's own files; the bytecode, which Python makes of them when they are installed or first imported,
is counted apart. MB are millions of bytes. With `--here`, nothing is downloaded: the sizes are those of the packages in the
environment that runs this script, with which PyTorch it has.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import write_result

ROOT = Path(__file__).parents[2]
SIZES = """
import json, importlib.metadata
from pathlib import Path
found = {}
for one in importlib.metadata.distributions():
    files = [Path(one.locate_file(file)) for file in one.files or ()]
    sizes = {file: file.stat().st_size for file in files if file.is_file()}
    bytecode = sum(size for file, size in sizes.items() if file.suffix == ".pyc")
    found[f"{one.metadata['Name']} {one.version}"] = [sum(sizes.values()) - bytecode, bytecode]
print(json.dumps(found))
"""


def main() -> None:
    """Install, record, print."""
    parser = Parser(__doc__)
    parser.add_argument("--extra", action="append", default=[], help="an extra to install, too; may be repeated")
    parser.add_argument("--here", action="store_true", help="measure the packages of this environment")
    arguments = parser.parse_args()
    extras = sorted(arguments.extra)
    if arguments.here:
        _measure_here(extras)
        return
    package = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    with TemporaryDirectory() as folder:
        wheels, environment = Path(folder) / "wheels", Path(folder) / "environment"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        of_pip = _sizes(python)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        # `pip wheel` downloads what there is as a wheel, and builds the others, of which there is rnnsearch itself.
        subprocess.run([*pip, "wheel", "--wheel-dir", str(wheels), package], check=True)
        own = next(wheels.glob("rnnsearch-*.whl"))
        wanted = f"{own}[{','.join(extras)}]" if extras else str(own)
        subprocess.run([*pip, "install", "--no-index", "--find-links", str(wheels), wanted], check=True)
        downloaded = {file.name.partition("-")[0].lower(): file.stat().st_size for file in wheels.iterdir()}
        sizes = {name: both for name, both in _sizes(python).items() if name not in of_pip}
    rows = {
        name: _row(downloaded[name.partition(" ")[0].replace("-", "_").replace(".", "_").lower()], files, bytecode, digits=1)
        for name, (files, bytecode) in sorted(sizes.items(), key=lambda item: -sum(item[1]))
    }
    sums = [sum(part) for part in zip(*sizes.values(), strict=True)]
    total = _row(sum(downloaded.values()), *sums, digits=0)
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    write_result("-".join(["speed/install_size", *extras]), system=system, extras=extras, total=total, packages=rows)
    for name, row in {**rows, "total": total}.items():
        print(f"{name:32} {row['downloaded_mb']:8} {row['installed_mb']:8} {row['bytecode_mb']:8}")


def _measure_here(extras: list[str]) -> None:
    needed = _needed("rnnsearch", frozenset(extras))
    sizes = {name: both for name, both in _sizes(Path(sys.executable)).items() if _plain(name.partition(" ")[0]) in needed}
    rows = {
        name: {"installed_mb": round(files / 1e6, 1), "bytecode_mb": round(bytecode / 1e6, 1)}
        for name, (files, bytecode) in sorted(sizes.items(), key=lambda item: -sum(item[1]))
    }
    files, bytecode = (round(sum(part) / 1e6) for part in zip(*sizes.values(), strict=True))
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    total = {"installed_mb": files, "bytecode_mb": bytecode}
    write_result("-".join(["speed/install_size", *extras, "here"]), system=system, extras=extras, total=total, packages=rows)
    for name, row in {**rows, "total": total}.items():
        print(f"{name:32} {row['installed_mb']:8} {row['bytecode_mb']:8}")


def _needed(package: str, extras: frozenset[str]) -> set[str]:
    """The packages of this environment that a package needs with these extras, itself included."""
    needed: set[str] = set()
    waiting = [(package, extras)]
    seen = set(waiting)
    while waiting:
        name, its_extras = waiting.pop()
        try:
            requirements = requires(name) or []
        except PackageNotFoundError:  # not needed on this system
            continue
        needed.add(_plain(name))
        for one in map(Requirement, requirements):
            wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*its_extras, ""))
            then = one.name, frozenset(one.extras)
            if wanted and then not in seen:
                seen.add(then)
                waiting.append(then)
    return needed


def _plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def _row(downloaded: int, files: int, bytecode: int, *, digits: int) -> dict[str, float]:
    sizes = {"downloaded_mb": downloaded, "installed_mb": files, "bytecode_mb": bytecode}
    return {name: round(size / 1e6, digits) for name, size in sizes.items()}


def _sizes(python: Path) -> dict[str, list[int]]:
    """For each installed package, the bytes of its files and of their bytecode."""
    done = subprocess.run([python, "-c", SIZES], capture_output=True, text=True, check=True)
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
