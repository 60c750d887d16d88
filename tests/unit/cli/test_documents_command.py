"""`rnnsearch translate` with documents: the same documents come out, and everything else is translated as before."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from command_line import Folders, Run, refused
from rnnsearch.cli.translate import _DocumentFormat
from rnnsearch.formats.registry import DOCUMENTS

PO = 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n\n#: a.c\nmsgid "the dog sees a cat ."\nmsgstr ""\n\nmsgid "a"\nmsgstr "b"\n'
UNIT = '<trans-unit id="1"><source>the <g id="1">dog</g> .</source></trans-unit>'
XLIFF = f'<xliff version="1.2"><file source-language="en">{UNIT}'


def test_the_names_of_formats_are_those_of_the_registry() -> None:
    assert set(get_args(_DocumentFormat)) == set(DOCUMENTS)


def test_a_document_comes_out_as_a_document(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model = ["--model", model_folder("mlp")]
    path = tmp_path / "fr.po"
    path.write_text(PO)
    lines = rnnsearch("translate", *model, path, "--format", "text")
    assert len(lines.out.splitlines()) == 1, "the sources of what has a translation, as they are read for training"
    assert "1 without a translation" in lines.err
    done = rnnsearch("translate", *model, path, "--output", tmp_path / "out.po")
    assert done.status == 0, done.err
    (tmp_path / "line.txt").write_text("the dog sees a cat .\n")
    translation = rnnsearch("translate", *model, tmp_path / "line.txt").out.strip()
    expected = PO.replace("#: a.c\n", "#: a.c\n#, fuzzy\n").replace('cat ."\nmsgstr ""', f'cat ."\nmsgstr "{translation}"')
    assert (tmp_path / "out.po").read_text() == expected
    finished = rnnsearch("translate", *model, tmp_path / "out.po")
    assert finished.out == expected
    assert "nothing to translate" in finished.err
    again = rnnsearch("translate", *model, tmp_path / "out.po", "--retranslate")
    assert 'msgid "a"\nmsgstr "b"' not in again.out
    assert again.out.count("#, fuzzy\n") == 2


def test_the_kind_of_a_document_can_be_given(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model = ["--model", model_folder("mlp")]
    (tmp_path / "notes.txt").write_text("# the *dog*\n\n`code`\n")
    done = rnnsearch("translate", *model, tmp_path / "notes.txt", "--format", "markdown")
    assert done.status == 0, done.err
    assert done.out.startswith("# ")
    assert done.out.endswith("\n\n`code`\n")
    assert done.out.count("*") == 2


def test_utf_16_stays(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    text = XLIFF + "</file></xliff>"
    (tmp_path / "a.xlf").write_bytes(b"\xfe\xff" + text.encode("utf-16-be"))
    done = rnnsearch("translate", "--model", model_folder("mlp"), tmp_path / "a.xlf", "--output", tmp_path / "b.xlf")
    assert done.status == 0, done.err
    written = (tmp_path / "b.xlf").read_bytes()
    assert written.startswith(b"\xfe\xff")
    assert '<g id="1">' in written[2:].decode("utf-16-be").split("<target ")[1]


def test_what_does_not_go_with_documents_is_refused(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model = ["--model", model_folder("mlp")]
    (tmp_path / "a.po").write_text(PO)
    (tmp_path / "a.txt").write_text("the dog\n")
    refused(rnnsearch("translate", *model, tmp_path / "a.po", "--n-best", 2), "PO", "--format text")
    refused(rnnsearch("translate", *model, tmp_path / "a.txt", "--retranslate"), "--retranslate", "a.txt")
    (tmp_path / "a.xlf").write_text(XLIFF)
    out = tmp_path / "out.xlf"
    out.write_text("before")
    refused(rnnsearch("translate", *model, tmp_path / "a.xlf", "--output", out), "a.xlf", "not well-formed XML")
    assert out.read_text() == "before"


def test_a_document_of_one_endless_line_is_refused(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"a " * 8_000_001)
    done = rnnsearch("translate", "--html", "--model", model_folder("none"), tmp_path / "page.html")
    refused(done, "a document of more than 16,000,000 bytes; cut it into smaller ones")
