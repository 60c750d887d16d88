"""`rnnsearch.eflomal` in place of eflomal: arguments, files, and the numbers of lines."""

from __future__ import annotations

import io
import multiprocessing
import tempfile
from pathlib import Path

import pytest

from command_line import Run, refused
from rnnsearch import Aligner, eflomal

SOURCE = ["The black cat .", "the yellow bird .", "", "the white cat .", "the bird", "a b"] * 3
TARGET = ["Le chat noir .", "l' oiseau jaune .", "rien", "le chat blanc .", "l' oiseau", ""] * 3


def aligned(folder: Path, **arguments: object) -> list[list[str]]:
    """The lines of forward links, reverse links, forward scores and reverse scores."""
    names = [str(folder / name) for name in ("fwd", "rev", "fwd.scores", "rev.scores")]
    eflomal.Aligner(model=3).align(SOURCE, TARGET, *names, quiet=False, use_gdb=False, **arguments)  # type: ignore[arg-type]
    return [Path(name).read_text(encoding="utf-8").split("\n") for name in names]


def test_files(tmp_path: Path) -> None:
    forward, reverse, *scores = files = aligned(tmp_path)
    assert all(len(lines) == len(SOURCE) + 1 and not lines[-1] for lines in files)
    pairs = list(zip(SOURCE, TARGET, strict=True))
    links = [line.one_to_many() for line in Aligner.learn(pairs).align(pairs)]
    for lines, side in ((forward, 0), (reverse, 1)):
        for line, of_pair in zip(lines, links, strict=False):
            assert line == " ".join(f"{i}-{j}" for i, j in of_pair[side])
            ends = [link[1 - side] for link in of_pair[side]]
            assert ends == sorted(set(ends)), "each word once, and in order"
    assert forward[0] == "0-0 2-1 1-2 3-3"
    assert reverse[0] == "0-0 1-2 2-1 3-3"
    for lines in scores:
        assert {lines[k] for k in range(len(SOURCE)) if k % 6 in (2, 5)} == {"-0"}
        assert all(abs(float(line)) < 5 for line in lines[:-1])


def test_a_file_that_is_held_open_stays_the_same_file(tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile("w+") as held:
        eflomal.Aligner().align(iter(SOURCE), iter(TARGET), links_filename_fwd=held.name)
        held.seek(0)
        assert len(held.readlines()) == len(SOURCE)


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    eflomal.Aligner().align(SOURCE, TARGET, links_filename_rev="-")
    assert capsys.readouterr().out.startswith("0-0 1-2 2-1 3-3\n")


def test_words_are_separated_by_any_white_space(tmp_path: Path) -> None:
    source, target = ["a\u00a0b\u3000c\t d\n"] * 2, ["a b c d\n"] * 2
    eflomal.Aligner().align(source, target, str(tmp_path / "fwd"))
    assert (tmp_path / "fwd").read_text() == "0-0 1-1 2-2 3-3\n" * 2


def test_shortened_words(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("short", "long")]
    words = ["abc", "abd", "abe", "abf"]
    eflomal.Aligner(source_prefix_len=2, target_suffix_len=1).align(
        words, ["xxz", "yyz", "wwz", "vvz"], scores_filename_fwd=names[0]
    )
    eflomal.Aligner().align(["ab"] * 4, ["z"] * 4, scores_filename_fwd=names[1])
    assert Path(names[0]).read_text() == Path(names[1]).read_text()


def test_priors(tmp_path: Path) -> None:
    forward, reverse, *_ = aligned(tmp_path)
    counts = [eflomal.calculate_priors(SOURCE, TARGET, forward[:-1], reverse[:-1], *flag) for flag in ((), (False,))]
    assert counts[0] == counts[1]
    assert len(counts[0]) == 5
    file = io.StringIO()
    eflomal.write_priors(file, *counts[0])
    lexical, *_ = counts[0]
    assert lexical["cat", "chat"] == 6
    assert "LEX\tcat\tchat\t6\n" in file.getvalue()
    # With counts of other text, a single pair is aligned as well as its text was.
    names = [str(tmp_path / name) for name in ("one", "score", "score.without")]
    one = ["the cat"], ["chat le"]
    eflomal.Aligner().align(*one, names[0], None, names[1], priors_input=io.StringIO(file.getvalue()))
    eflomal.Aligner().align(*one, scores_filename_fwd=names[2])
    assert (tmp_path / "one").read_text() == "1-0 0-1\n"
    assert float((tmp_path / "score").read_text()) < float((tmp_path / "score.without").read_text())


def aligned_part(folder: Path) -> list[str]:
    """The forward and the reverse links of a part of the text, with the priors of the folder above."""
    folder.mkdir()
    names = [str(folder / name) for name in ("fwd", "rev")]
    with (folder.parent / "priors").open(encoding="utf-8") as priors:
        eflomal.Aligner().align(SOURCE[:6], TARGET[:6], *names, priors_input=priors)
    return [Path(name).read_text(encoding="utf-8") for name in names]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_parts_in_processes_that_are_forked_after_learning(tmp_path: Path) -> None:
    """Pipelines learn the priors of a sample, and then align parts in forked processes."""
    forward, reverse, *_ = aligned(tmp_path)
    with (tmp_path / "priors").open("w", encoding="utf-8") as file:
        eflomal.write_priors(file, *eflomal.calculate_priors(SOURCE, TARGET, forward[:-1], reverse[:-1]))
    here = aligned_part(tmp_path / "here")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map_async(aligned_part, [tmp_path / "first", tmp_path / "second"]).get(timeout=60)
    assert parts == [here, here]


def test_what_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    for source, target, shorter in ((["a"], ["x", "y"], "source"), (["a", "b"], ["x"], "target")):
        with pytest.raises(ValueError, match=f"Mismatched file sizes: the {shorter} has 1 lines"):
            eflomal.Aligner().align(source, target, str(kept))
    with pytest.raises(ValueError, match="line 1 of the priors"):
        eflomal.Aligner().align(["a"], ["x"], str(kept), priors_input=["LEX\ta\tx\tmany\n"])
    assert kept.read_text() == "as it was"
    with pytest.raises(ValueError, match="quality='quick'"):
        eflomal.Aligner(quality="quick")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="outside of 1 source"):
        eflomal.calculate_priors(["a"], ["x"], ["1-0"], ["0-0"])
    with pytest.raises(ValueError, match="reverse=True"):
        eflomal.calculate_priors(["a"], ["x"], ["0-0"], ["0-0"], True)


def test_joint_files() -> None:
    assert list(eflomal.sentences_from_joint_file(["a b ||| x\n", "c ||| y z\n"])) == [("a b", "x"), ("c", "y z")]
    assert list(eflomal.sentences_from_joint_file(["a b ||| x\n", "c ||| y z\n"], 1)) == ["x", "y z"]
    with pytest.raises(ValueError, match="Invalid joint input line 2"):
        list(eflomal.sentences_from_joint_file(["a ||| x\n", "a ||| \n"]))


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tmp_path / "text.en", tmp_path / "text.fr", tmp_path / "text.en-fr"
    for path, lines in zip(paths, (SOURCE, TARGET, map(" ||| ".join, zip(SOURCE, TARGET, strict=True))), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def test_commands(rnnsearch: Run, texts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    files = aligned(tmp_path)
    source, target, joint = texts
    outputs = [tmp_path / name for name in "frFR"]
    options = [part for path in outputs for part in (f"-{path.name}", path)]
    sampler = ["-v", "-m3", "-M3", "-l0.5", "-1", "2", "-2", "2", "-3", "2", "--n-samplers=3", "--null-prior=0.2", "--debug"]
    for given in (("-s", source, "-t", target), ("-i", joint, "--overwrite", *sampler)):
        assert rnnsearch("eflomal-align", *given, *options).status == 0
        assert [path.read_text(encoding="utf-8").split("\n") for path in outputs] == files
    refused(rnnsearch("eflomal-align", "-i", joint, "-f", outputs[0]), "exists already; give --overwrite")
    assert rnnsearch("eflomal-align", "-i", joint, "-f", "-", "-r", "/dev/null").out.split("\n") == files[0]
    links = "-f", outputs[0], "-r", outputs[1]
    printed = rnnsearch("eflomal-makepriors", "-i", joint, *links).out
    assert "LEX\tcat\tchat\t6\n" in printed
    priors = tmp_path / "priors"
    assert rnnsearch("eflomal-makepriors", "-s", source, "-t", target, *links, "--priors", priors).status == 0
    assert priors.read_text(encoding="utf-8") == printed
    priors.write_text("".join(f"LEX\tcat\t{word}\t{count}\n" for word, count in (("chat", 0.01), ("le", 5000))), "utf-8")
    with_priors = rnnsearch("eflomal-align", "-i", joint, "-f", "-", "-p", priors).out.split("\n")
    assert len(with_priors) == len(files[0])
    assert with_priors != files[0]


def test_refusals_of_commands(rnnsearch: Run, texts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    source, _, joint = texts
    short = tmp_path / "short"
    short.write_text("a\n", encoding="utf-8")
    refused(rnnsearch("eflomal-align", "-s", source, "-f", tmp_path / "f"), "both in one file as --input")
    refused(rnnsearch("eflomal-align", "-s", source, "-t", short, "-f", tmp_path / "f"), "the target has 1 lines")
    refused(rnnsearch("eflomal-align", "-i", joint, "-f", joint, "--overwrite"), "is used already")
    refused(rnnsearch("eflomal-align", "-i", joint, "-f", "-", "-p", short), "line 1 of the priors")
    refused(rnnsearch("eflomal-makepriors", "-i", joint, "-f", short, "-r", short), "line 1: 'a' is not a link")
    assert not (tmp_path / "f").exists()
