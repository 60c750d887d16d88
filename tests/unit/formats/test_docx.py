"""Word documents are translated within their packages, and hostile packages are refused."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats import docx
from rnnsearch.formats.docx import DocxFile
from translators import louder, same

PATH = Path("a.docx")
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
BOLD, RED = "<w:rPr><w:b/></w:rPr>", '<w:rPr><w:color w:val="FF0000"/></w:rPr>'
OTHERS = {
    "[Content_Types].xml": b"<Types/>",
    "word/styles.xml": b"<styles>one</styles>\r\n",
    "word/media/i.png": bytes(range(256)),
}


def run(text: str, form: str = "") -> str:
    return f'<w:r>{form}<w:t xml:space="preserve">{text}</w:t></w:r>'


def package(*paragraphs: str, **parts: str) -> bytes:
    """A document with these paragraphs, in the form of Word, and further parts such as `header1`."""
    written = io.BytesIO()
    with ZipFile(written, "w") as zipped:
        for name, content in OTHERS.items():
            zipped.writestr(name, content, ZIP_STORED if name.endswith("png") else ZIP_DEFLATED)
        for name, body in {
            "document": "".join(f"<w:p><w:pPr><w:x/></w:pPr>{one}</w:p>" for one in paragraphs),
            **parts,
        }.items():
            zipped.writestr(f"word/{name}.xml", f'<?xml version="1.0"?><w:d xmlns:w="{W}"><w:body>{body}</w:body></w:d>')
    return written.getvalue()


def runs(content: bytes, part: str = "document") -> list[list[tuple[str, bool]]]:
    """For each paragraph with runs, their texts, and whether they have a format."""
    root = ElementTree.fromstring(ZipFile(io.BytesIO(content)).read(f"word/{part}.xml"))
    found = [
        [
            ("".join(one.text or "" for one in each.iter(f"{{{W}}}t")), each.find(f"{{{W}}}rPr") is not None)
            for each in paragraph.iter(f"{{{W}}}r")
        ]
        for paragraph in root.iter(f"{{{W}}}p")
    ]
    return [each for each in found if each]


def test_formats_go_with_their_words_and_all_else_stays() -> None:
    content = package(
        run("The ")
        + run("old")
        + '<w:proofErr w:type="x"/>'
        + run(" man &amp; the ")
        + run("red ", BOLD)
        + run("cat", BOLD)
        + run("."),
        run("2024"),
        header1=f"<w:p>{run('My house')}</w:p>",
        styles2=f"<w:p>{run('style')}</w:p>",
    )
    new = louder(content, PATH)
    assert runs(new) == [[("THE OLD MAN & THE ", False), ("RED CAT", True), (".", False)], [("2024", False)]]
    assert runs(new, "header1") == [[("MY HOUSE", False)]]
    assert runs(new, "styles2") == [[("style", False)]]
    before, after = (ZipFile(io.BytesIO(one)) for one in (content, new))
    assert before.namelist() == after.namelist()
    for name, expected in OTHERS.items():
        assert after.read(name) == expected
        assert after.getinfo(name).compress_type == before.getinfo(name).compress_type
    assert b"<w:pPr><w:x/></w:pPr>" in after.read("word/document.xml")
    assert same(content, PATH) == content


def test_what_is_no_text_keeps_its_place() -> None:
    picture = "<w:r><w:drawing><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:drawing></w:r>"
    field = "".join(
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>{then}'
        for kind, then in (("begin", "<w:r><w:instrText>PAGE</w:instrText></w:r>"), ("separate", run("seven")), ("end", ""))
    )
    link = f'<w:hyperlink r="1">{run("this page", RED)}</w:hyperlink>'
    gone = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
    content = package(
        run("One") + picture + run(" line") + "<w:r><w:br/><w:tab/></w:r>" + run("page ") + field + gone + run(" of ") + link
    )
    text = ZipFile(io.BytesIO(louder(content, PATH))).read("word/document.xml").decode()
    for kept in (picture, field, gone, "<w:br/>", "<w:tab/>"):
        assert text.count(kept) == 1, kept
    assert re.search(f'<w:hyperlink r="1"><w:r>{RED}<w:t[^>]*>THIS PAGE</w:t></w:r></w:hyperlink>', text)
    assert text.index("ONE") < text.index("LINE") < text.index("<w:br/>") < text.index("PAGE") < text.index("OF")
    ElementTree.fromstring(text)


pieces = st.lists(
    st.tuples(st.sampled_from(["a", "the cat ", " ", "1", "&lt;x&gt;", "é. B"]), st.sampled_from(["", BOLD, RED])),
    max_size=6,
)


@given(st.lists(pieces, max_size=3))
def test_any_runs_are_translated_with_their_words(paragraphs: list[list[tuple[str, str]]]) -> None:
    content = package(*("".join(run(*one) for one in each) for each in paragraphs))
    assert same(content, PATH) == content
    for before, after in zip(runs(content), runs(louder(content, PATH)), strict=True):
        assert "".join(text for text, _ in after).split() == "".join(text for text, _ in before).upper().split()


def with_file(name: str, content: bytes = b"", **how: int) -> bytes:
    written = io.BytesIO(package(run("text")))
    info = ZipInfo(name)
    for attribute, value in how.items():
        setattr(info, attribute, value)
    with ZipFile(written, "a") as zipped:
        zipped.writestr(info, content)
    return written.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (with_file("/etc/passwd"), "leads out of the package"),
        (with_file("word/../../x"), "leads out of the package"),
        (with_file("x", bytes(4000), compress_type=ZIP_DEFLATED), "bytes are in it"),
        (package(run("x" * 1200)), "bytes of text are in it"),
        (package(run("text"))[:-30], "damaged"),
        (package(run("text")).replace(b"\0\0\0", b"\0\1\0"), "a damaged Word document"),
        (package("<w:r>"), "not well-formed"),
        (b"PK\x03\x04", "damaged"),
    ],
)
def test_hostile_packages_are_refused(content: bytes, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "MOST_BYTES", 3000)
    with pytest.raises(RnnsearchError) as refused:
        DocxFile(content, PATH, most_text=1000).joined([])
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_packages_are_refused() -> None:
    written = io.BytesIO()
    with ZipFile(written, "w") as zipped:
        zipped.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(RnnsearchError, match="without the text of a Word document"):
        DocxFile(written.getvalue(), PATH)
