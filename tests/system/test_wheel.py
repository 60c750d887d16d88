"""The wheel installs in an empty environment, without the source tree, and translates."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, **more: object) -> str:
    """What a command prints; its errors are shown if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.mark.slow
def test_the_wheel_translates(tmp_path: Path) -> None:
    pytest.importorskip("build")
    pytest.importorskip("twine")
    project, dist = tmp_path / "project", tmp_path / "dist"
    shutil.copytree(ROOT / "src", project / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, project)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, project, cwd=tmp_path)
    shutil.rmtree(project)
    (wheel,) = dist.glob("*.whl")
    (source,) = dist.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source, cwd=tmp_path)
    assert wheel.stat().st_size <= 25 * 1024**2

    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=tmp_path)
    packages = environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # The libraries are those of this environment; a path in a .pth file does not bring the .pth files of that folder.
    (packages / "libraries.pth").write_text("\n".join(path for path in sys.path if "-packages" in path))
    # `--python` and not `--prefix`, with which pip removes the rnnsearch that the other tests run.
    pip = (sys.executable, "-m", "pip", "--quiet", "--python", environment / "bin" / "python")
    run(*pip, "install", "--ignore-installed", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    where = run(environment / "bin" / "python", "-c", "import rnnsearch; print(rnnsearch.__file__)", cwd=tmp_path, env=clean)
    assert Path(where.strip()).is_relative_to(environment)
    said = run(environment / "bin" / "rnnsearch", "translate", cwd=tmp_path, env=clean, input="Thank you very much.\n")
    assert "merci" in said.lower()
