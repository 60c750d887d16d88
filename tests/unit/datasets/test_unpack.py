"""Archives of friends, and of enemies."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.datasets import unpack
from rnnsearch.datasets.unpack import ValidLines
from rnnsearch.errors import RnnsearchError

TEXT = "Ça va ?\nOui.\n".encode()
SGML = """<refset setid="newstest" srclang="any" trglang="fr">
<doc docid="a" genre="news"><hl><seg id="1">Le  chat &amp; le chien</seg></hl>
<p>
<SEG id="2"> L&apos;homme
s'en va. </SEG><seg id="3"></seg>
</p></doc></refset>
"""

Member = tuple[str, bytes | str]


def tar(path: Path, *members: Member) -> Path:
    """Files with contents; where those are a string, symbolic links to it."""
    with tarfile.open(path, "w:gz" if path.suffix in (".tgz", ".gz") else "w") as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


def zip_(path: Path, *members: Member) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name)
            if isinstance(content, str):
                entry.external_attr = 0o120777 << 16
            archive.writestr(entry, content)
    return path


def outputs(folder: Path, *names: str) -> dict[str, Path]:
    return {name: folder / "out" / f"{number}.txt" for number, name in enumerate(names)}


@pytest.mark.parametrize(("name", "make"), [("a.tgz", tar), ("a.tar", tar), ("a.tar.gz", tar), ("a.zip", zip_)])
def test_wanted_files_are_written(tmp_path: Path, name: str, make: Callable[..., Path]) -> None:
    archive = make(
        tmp_path / name,
        ("training/other.de", b"nein"),
        ("training/x.en", TEXT),
        ("x.fr.gz", gzip.compress(TEXT * 2)),
        ("dev/x.sgm", SGML.encode()),
    )
    wanted = outputs(tmp_path, "x.en", "x.fr.gz", "x.sgm")
    steps: list[int] = []
    unpack(archive, wanted, steps.append)
    found = [path.read_bytes() for path in wanted.values()]
    assert found == [TEXT, TEXT * 2, b"Le chat & le chien\nL'homme s'en va.\n\n"]
    assert sum(steps) == sum(map(len, found))
    assert len(list((tmp_path / "out").iterdir())) == 3


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_compressed_file_holds_itself(tmp_path: Path, ending: str, compress: Callable[[bytes], bytes]) -> None:
    archive = tmp_path / f"train.en.{ending}"
    archive.write_bytes(compress(TEXT))
    unpack(archive, {archive.name: tmp_path / "train.en"}, lambda more: None)
    assert (tmp_path / "train.en").read_bytes() == TEXT


@pytest.mark.parametrize("make", [tar, zip_])
@pytest.mark.parametrize("name", ["../x.en", "training/../../x.en", "/x.en", "..\\x.en", "C:\\x.en"])
def test_names_that_lead_out_are_refused(tmp_path: Path, make: Callable[..., Path], name: str) -> None:
    (tmp_path / "in").mkdir()
    archive = make(tmp_path / "in" / ("a.tgz" if make is tar else "a.zip"), (name, TEXT))
    with pytest.raises(RnnsearchError, match="leads out of its folder"):
        unpack(archive, outputs(tmp_path / "in", "x.en"), lambda more: None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]


@pytest.mark.parametrize("make", [tar, zip_])
def test_a_link_is_no_text(tmp_path: Path, make: Callable[..., Path]) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    archive = make(tmp_path / ("a.tar" if make is tar else "a.zip"), ("x.en", str(secret)))
    with pytest.raises(RnnsearchError, match=r"no x\.en in it"):
        unpack(archive, outputs(tmp_path, "x.en"), lambda more: None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["x.en.gz", "a.tgz"])
def test_what_is_out_of_proportion_is_refused(tmp_path: Path, name: str) -> None:
    bomb, archive = bytes(20_000_000), tmp_path / name
    if name == "a.tgz":
        tar(archive, ("x.en.gz", gzip.compress(bomb)))
    else:
        archive.write_bytes(gzip.compress(bomb))
    with pytest.raises(RnnsearchError, match="50 times its size"):
        unpack(archive, outputs(tmp_path, "x.en.gz"), lambda more: None)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["x.en.gz", "x.en.bz2", "a.tgz", "a.tar", "a.zip"])
def test_what_is_cut_short_is_told(tmp_path: Path, name: str, share: float) -> None:
    """And none of its files is written, not even the one that was whole."""
    numbers = random.Random(1)
    text = "".join(f"{numbers.random()}\n" for _ in range(20_000)).encode()
    archive = tmp_path / name
    if name.startswith("x"):
        archive.write_bytes(gzip.compress(text) if name.endswith("gz") else bz2.compress(text))
        wanted = outputs(tmp_path, name)
    else:
        (zip_ if name.endswith("zip") else tar)(archive, ("first", TEXT), ("x.en", text))
        wanted = outputs(tmp_path, "first", "x.en")
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(RnnsearchError, match=f"{name}: damaged or cut short"):
        unpack(archive, wanted, lambda more: None)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != archive]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", ("x.en", TEXT))
    with pytest.raises(RnnsearchError, match=r"no x\.fr and no y\.fr in it"):
        unpack(archive, outputs(tmp_path, "x.en", "x.fr", "y.fr"), lambda more: None)
    assert not list((tmp_path / "out").iterdir())


@given(
    lines=st.lists(st.one_of(st.text(max_size=4).map(str.encode), st.binary(max_size=4)), max_size=8),
    size=st.integers(1, 9),
)
def test_only_lines_that_are_not_utf8_become_empty(lines: list[bytes], size: int) -> None:
    """Whatever the chunks in which the text comes, a character or a line end divided between two of them included."""
    text = b"\n".join(lines)
    expected, invalid = [], 0
    for line in text.split(b"\n"):
        try:
            line.decode()
            expected.append(line)
        except UnicodeDecodeError:
            expected.append(b"")
            invalid += 1
    checked = ValidLines()
    found = b"".join(checked.feed(text[start : start + size]) for start in range(0, len(text), size)) + checked.end()
    assert found == b"\n".join(expected)
    assert checked.invalid == invalid
    assert checked.count == text.count(b"\n") + (text[-1:] not in (b"", b"\n"))
