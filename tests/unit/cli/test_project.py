"""`rnnsearch project`."""

from __future__ import annotations

from pathlib import Path

from command_line import Run, refused


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_labels_and_markup_are_carried_over_given_links(rnnsearch: Run, tmp_path: Path) -> None:
    links = write(tmp_path / "links", "0-0 1-2 2-1", "")
    target = write(tmp_path / "target", "la maison vieille", "")
    conll = write(tmp_path / "conll", "the\tO", "old\tB-X", "house\tI-X", "", "one\tB-X", "")
    command = ("project", "--target", target, "--links", links)
    done = rnnsearch(*command, "--source", conll)
    assert done.out == "la\tO\nmaison\tB-X\nvieille\tI-X\n\n\n", done.err
    html = write(tmp_path / "html", "the <b>old <i>house</i></b>", "12 &lt; 13")
    output = tmp_path / "output"
    assert rnnsearch(*command, "--source", html, "--format", "html", "--output", output).status == 0
    assert output.read_text() == "la <b><i>maison</i> vieille</b>\n\n"


def test_links_are_learned_or_drawn_by_a_kept_aligner(rnnsearch: Run, tmp_path: Path) -> None:
    words = [("house", "maison"), ("flower", "fleur"), ("tree", "arbre"), ("king", "roi")]
    source = write(tmp_path / "source", *(f"<b>{e}</b> of {f}" for e, _ in words for f, _ in words))
    plain = write(tmp_path / "plain", *(f"{e} of {f}" for e, _ in words for f, _ in words))
    target = write(tmp_path / "target", *(f"{e} de {f}" for _, e in words for _, f in words))
    expected = "".join(f"<b>{e}</b> de {f}\n" for _, e in words for _, f in words)
    command = ("project", "--format", "html", "--source", source, "--target", target)
    assert rnnsearch(*command).out == expected
    kept = tmp_path / "kept"
    assert rnnsearch("align", "--source", plain, "--target", target, "--save", kept).status == 0
    assert rnnsearch(*command, "--model", kept).out == expected


def test_what_is_refused(rnnsearch: Run, tmp_path: Path) -> None:
    target, links = write(tmp_path / "target", "a"), write(tmp_path / "links", "0-1")
    conll = write(tmp_path / "conll", "a\tO")
    command = ("project", "--target", target)
    refused(rnnsearch(*command, "--source", conll, "--links", links), "sentence 1", "link 0-1", "1 and 1 words")
    refused(rnnsearch(*command, "--source", write(tmp_path / "bad", "a")), "bad: line 1: 'a' has no label")
    refused(rnnsearch(*command, "--source", write(tmp_path / "two", "a O", "", "b O")), "2 sentences", "has 1")
    page = write(tmp_path / "page", "<p>one</p><p>two</p>")
    refused(rnnsearch(*command, "--source", page, "--format", "html"), "page:1: markup that ends a sentence")
    refused(rnnsearch(*command, "--source", conll, "--model", tmp_path), "no aligner is there")
