"""The table of additions to the package names files and names that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-your-own.md"


def test_the_files_of_the_table_define_the_names_beside_them() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Extend the package itself")[2]
    steps = [step for row in table.splitlines() if row.startswith("|") for step in re.split("[;|]", row)]
    checked = 0
    for step in steps:
        names: list[str] = []
        for code in re.findall("`([^`]+)`", step):
            if not code.endswith(".py"):
                names.append(code.rpartition(".")[2])
            elif code != "cli/NAME.py":
                path = code.removeprefix("python ")
                file = ROOT / path if path.startswith(("tests/", "docs/")) else ROOT / "src" / "rnnsearch" / path
                assert file.is_file(), code
                text = file.read_text(encoding="utf-8")
                assert [name for name in names if name not in text] == [], code
                names, checked = [], checked + 1
    assert checked >= 15
