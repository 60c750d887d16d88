"""What `rnnsearch align` writes for other programs: columns, A3.final, lexical tables, links of subwords; and `--from`."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Run, refused
from rnnsearch.alignment import Aligner
from rnnsearch.alignment.segments import segments, spread
from rnnsearch.alignment.tables import Tables
from rnnsearch.data.word_alignments import to_pharaoh
from rnnsearch.errors import RnnsearchError

SOURCE = ["The black cat .", "the yellow bird .", "a", "the white cat .", "the bird"] * 4
TARGET = ["Le chat noir .", "l' oiseau jaune .", "", "le chat blanc .", "l' oiseau"] * 4


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    for name, lines in (("source", SOURCE), ("target", TARGET)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return ["-s", tmp_path / "source", "-t", tmp_path / "target"]


def test_columns(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    plain = rnnsearch("align", *text).out.split("\n")
    lines = rnnsearch("align", *text, "--format", "tsv").out.split("\n")
    assert lines == [f"{s}\t{t}\t{links}" for s, t, links in zip(SOURCE, TARGET, plain, strict=False)] + [""]
    # A line with a tab stays a line of three columns.
    (tmp_path / "target").write_text(
        "".join(f"{line}\n" for line in TARGET).replace("Le chat", "Le\tchat"), encoding="utf-8"
    )
    assert rnnsearch("align", *text, "--format", "tsv").out.split("\n") == lines


def test_giza(rnnsearch: Run, text: list[object]) -> None:
    lines = rnnsearch("align", *text, "--format", "giza").out.split("\n")
    assert lines[0].startswith("# Sentence pair (1) source length 4 target length 4 alignment score : ")
    assert 0 < float(lines[0].split()[-1]) < 1
    assert lines[1:3] == ["Le chat noir . ", "NULL ({ }) The ({ 1 }) black ({ 3 }) cat ({ 2 }) . ({ 4 }) "]
    assert lines[6:9] == [
        "# Sentence pair (3) source length 1 target length 0 alignment score : 1",
        " ",
        "NULL ({ }) a ({ }) ",
    ]
    assert len(lines) == 3 * len(SOURCE) + 1
    lines = rnnsearch("align", *text, "--format", "giza-reverse").out.split("\n")
    assert lines[1:3] == ["The black cat . ", "NULL ({ }) Le ({ 1 }) chat ({ 3 }) noir ({ 2 }) . ({ 4 }) "]


def test_tables_are_relative_frequencies(tmp_path: Path) -> None:
    """Worked out by hand: `a` is linked to x twice and to y once; b and z have no links."""
    tables = Tables()
    tables.add(["a", "a", "b"], ["x", "y"], [(0, 0), (1, 1)])
    tables.add(["a"], ["x", "z"], [(0, 0)])
    expected = {
        "lex.s2t": "z NULL 1.0000000\nx a 0.6666667\ny a 0.3333333\nNULL b 1.0000000\n",
        "lex.t2s": "b NULL 1.0000000\na x 1.0000000\na y 1.0000000\nNULL z 1.0000000\n",
        "lex.vmap": "\tx y z\na\tx y\n",
    }
    expected |= {"lex.f2e": expected["lex.s2t"], "lex.e2f": expected["lex.t2s"]}
    for name, lines in expected.items():
        tables.write(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == lines
        tables.write(tmp_path / f"{name}.gz")
        assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()).decode() == lines
    before = (tmp_path / "lex.s2t.gz").read_bytes()
    tables.write(tmp_path / "lex.s2t.gz")
    assert (tmp_path / "lex.s2t.gz").read_bytes() == before


def test_lexicons_of_the_same_run(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    files = [tmp_path / "lex.s2t.gz", tmp_path / "lex.e2f", tmp_path / "map.vmap"]
    options = [part for file in files for part in ("--lexicon", file)]
    done = rnnsearch("align", *text, *options, "--output", tmp_path / "links")
    assert done.status == 0, done.err
    counts = Counter(
        (SOURCE[n].split()[int(link.split("-")[0])], TARGET[n].split()[int(link.split("-")[1])])
        for n, line in enumerate((tmp_path / "links").read_text(encoding="utf-8").splitlines())
        for link in line.split()
    )
    linked = [{int(link.split("-")[0]) for link in line.split()} for line in (tmp_path / "links").read_text().splitlines()]
    words = [(word, k in linked[n]) for n, line in enumerate(SOURCE) for k, word in enumerate(line.split())]
    counts["the", "NULL"] = words.count(("the", False))
    counts = +counts  # without zeros
    table = [line.split(" ") for line in gzip.decompress(files[0].read_bytes()).decode().splitlines()]
    total = sum(count for (source, _), count in counts.items() if source == "the")
    assert {target: float(p) for target, source, p in table if source == "the"} == pytest.approx(
        {target: count / total for (source, target), count in counts.items() if source == "the"}, abs=1e-6
    )
    assert ["NULL", "a", "1.0000000"] in table
    assert "chat" in files[2].read_text(encoding="utf-8").split("\ncat\t")[1].split("\n")[0]


def test_links_of_subwords(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    (tmp_path / "pieces").write_text(
        "".join(" ".join("▁" + word for word in line.replace("oiseau", "ois eau").split()) + "\n" for line in TARGET)
        .replace("▁eau", "eau"), encoding="utf-8",
    )  # fmt: skip
    lines = rnnsearch("align", *text, "--target-subwords", tmp_path / "pieces").out.split("\n")
    words = rnnsearch("align", *text).out.split("\n")
    assert lines[0] == words[0]
    of_words = [link.split("-") for link in words[4].split()]
    expected = to_pharaoh((int(i), k) for i, j in of_words for k in ([0], [1, 2])[int(j)])
    assert lines[4] == expected
    assert "-2" in expected
    done = rnnsearch("align", *text, "--target-subwords", tmp_path / "pieces", "--format", "tsv")
    assert done.out.split("\n")[4] == f"the bird\t▁l' ▁ois eau\t{expected}"
    (tmp_path / "pieces").write_text("▁Le ▁chat ▁noir ▁.\n▁l' ▁os ▁jaune ▁.\n", encoding="utf-8")
    done = rnnsearch("align", *text, "--target-subwords", tmp_path / "pieces", "--output", tmp_path / "out")
    assert done.status == 2
    assert "pieces:2: the subwords" in done.err
    assert not (tmp_path / "out").exists()
    (tmp_path / "pieces").write_text("▁Le ▁chat ▁noir ▁.\n", encoding="utf-8")
    assert "it has fewer lines" in rnnsearch("align", *text, "--target-subwords", tmp_path / "pieces").err
    (tmp_path / "pieces").write_text("".join(f"{line}\n" for line in [*TARGET, ""]), encoding="utf-8")
    assert "it has more lines" in rnnsearch("align", *text, "--target-subwords", tmp_path / "pieces").err


@given(st.lists(st.text("abcé", min_size=1, max_size=6), max_size=6), st.integers(1, 3), st.sampled_from(["▁", "@@", "##"]))
def test_segments(words: list[str], size: int, mark: str) -> None:
    cut = [[word[k : k + size] for k in range(0, len(word), size)] for word in words]
    shape = {
        "▁": lambda parts, k: "▁" * (k == 0) + parts[k],
        "@@": lambda parts, k: parts[k] + "@@" * (k < len(parts) - 1),
        "##": lambda parts, k: "##" * (k > 0) + parts[k],
    }[mark]
    subwords = [shape(parts, k) for parts in cut for k in range(len(parts))]
    of_words = segments(words, subwords)
    assert [len(positions) for positions in of_words] == [len(parts) for parts in cut]
    assert [position for positions in of_words for position in positions] == list(range(len(subwords)))


def test_segments_across_words() -> None:
    assert segments(["l'", "eau", "…"], ["▁", "l'ea", "u", "..."]) == [[1], [1, 2], [3]]
    assert spread([(0, 1)], [[0, 1]], [[0], [1, 2]]) == {(0, 1), (0, 2), (1, 1), (1, 2)}
    # sentencepiece drops zero-width spaces, and keeps or drops soft hyphens, by its rules of normalisation.
    assert segments(["\u200bco\u00adop", "\ufeffx"], ["▁co", "op", "▁x"]) == [[0, 1], [2]]
    with pytest.raises(RnnsearchError, match="are not those of"):
        segments(["a"], ["b"])


def test_going_on_from_a_kept_aligner(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    assert rnnsearch("align", *text, "--save", tmp_path / "first", "--output", tmp_path / "links").status == 0
    for side, line in (("s", "the green bird ."), ("t", "l' oiseau vert .")):
        (tmp_path / side).write_text(f"{line}\n", encoding="utf-8")
    more = ["-s", tmp_path / "s", "-t", tmp_path / "t", "--from", tmp_path / "first"]
    done = rnnsearch("align", *more, "--save", tmp_path / "on", "--output", tmp_path / "out")
    assert done.status == 0, done.err
    pairs = [("the green bird .", "l' oiseau vert .")]
    again = Aligner.learn(pairs, known=Aligner.load(tmp_path / "first"))
    (line,) = again.align(pairs)
    assert (tmp_path / "out").read_text(encoding="utf-8") == to_pharaoh(line.links()) + "\n"
    kept = Aligner.load(tmp_path / "on")
    assert kept.lexicon() == again.lexicon()
    assert "black" in kept.lexicon(), "it keeps what the new text does not contain"


def test_what_is_refused(rnnsearch: Run, text: list[object], tmp_path: Path) -> None:
    refused(rnnsearch("align", *text, "--lexicon", tmp_path / "lex.txt"), "lex.txt: the ending says what a lexicon holds")
    refused(
        rnnsearch("align", *text, "--lexicon", tmp_path / "source.s2t", "--output", tmp_path / "source.s2t"), "used already"
    )
    pieces = ["--source-subwords", tmp_path / "source", "--format", "json"]
    refused(rnnsearch("align", *text, *pieces), "--format json has links of words")
    Aligner.learn(list(zip(SOURCE, TARGET, strict=True))).save(tmp_path / "aligner")
    refused(
        rnnsearch("align", *text, "--model", tmp_path / "aligner", "--from", tmp_path / "aligner"),
        "--from is for an aligner",
    )
    refused(rnnsearch("align", *text, "--from", tmp_path), "no aligner is there")
    refused(rnnsearch("align", *text, "--from", tmp_path / "aligner", "--save", tmp_path / "aligner"), "used already")
    assert json.loads(rnnsearch("align", *text, "--format", "json").out.split("\n")[0])["line"] == 0
