"""What is downloaded and installed for `pip install rnnsearch`, and the share of each dependency.

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
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement

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
    both = {"installed_mb": sum(sizes.values()) - bytecode, "bytecode_mb": bytecode}
    found[f"{one.metadata['Name']} {one.version}"] = both
print(json.dumps(found))
"""


def main() -> None:
    """Measure, record, print."""
    parser = Parser(__doc__, here=False)
    parser.add_argument("--extra", action="append", default=[], help="an extra to install, too; may be repeated")
    arguments = parser.parse_args()
    extras = sorted(arguments.extra)
    sizes = of_this_environment(extras) if arguments.here else of_a_new_environment(extras)
    rows = {name: in_megabytes(sizes[name], 1) for name in sorted(sizes, key=lambda name: -sum(sizes[name].values()))}
    total = in_megabytes({kind: sum(of[kind] for of in sizes.values()) for kind in next(iter(sizes.values()))}, None)
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    name = "-".join(["speed/install_size", *extras, *(["here"] if arguments.here else [])])
    write_result(name, system=system, extras=extras, total=total, packages=rows)
    for package, row in {**rows, "total": total}.items():
        print(f"{package:32} {row}")


Sizes = dict[str, dict[str, int]]
"""For each package, the bytes of what is downloaded, of its files, and of their bytecode."""


def of_a_new_environment(extras: Sequence[str]) -> Sizes:
    """Download and install rnnsearch and what it needs."""
    package = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    with TemporaryDirectory() as folder:
        wheels, environment = Path(folder) / "wheels", Path(folder) / "environment"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        of_pip = installed(python)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        # `pip wheel` downloads what there is as a wheel, and builds the others, of which there is rnnsearch itself.
        subprocess.run([*pip, "wheel", "--wheel-dir", str(wheels), package], check=True)
        own = next(wheels.glob("rnnsearch-*.whl"))
        wanted = f"{own}[{','.join(extras)}]" if extras else str(own)
        subprocess.run([*pip, "install", "--no-index", "--find-links", str(wheels), wanted], check=True)
        downloaded = {plain(file.name.partition("-")[0]): file.stat().st_size for file in wheels.iterdir()}
        found = {name: of for name, of in installed(python).items() if name not in of_pip}
    return {name: {"downloaded_mb": downloaded[plain(name.partition(" ")[0])], **of} for name, of in found.items()}


def of_this_environment(extras: Sequence[str]) -> Sizes:
    """Those of the packages here that rnnsearch needs."""
    needed = _needed("rnnsearch", frozenset(extras))
    return {name: of for name, of in installed(Path(sys.executable)).items() if plain(name.partition(" ")[0]) in needed}


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
        needed.add(plain(name))
        for one in map(Requirement, requirements):
            wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*its_extras, ""))
            then = one.name, frozenset(one.extras)
            if wanted and then not in seen:
                seen.add(then)
                waiting.append(then)
    return needed


def plain(package: str) -> str:
    """The name of a package or of its wheel, in one form."""
    return re.sub("[-_.]+", "-", package).lower()


def in_megabytes(sizes: Mapping[str, int], digits: int | None) -> dict[str, float]:
    """Sizes in millions of bytes."""
    return {kind: round(size / 1e6, digits) for kind, size in sizes.items()}


def installed(python: Path) -> Sizes:
    """The packages that are installed for a Python."""
    done = subprocess.run([python, "-c", SIZES], capture_output=True, text=True, check=True)
    found: Sizes = json.loads(done.stdout)
    return found
