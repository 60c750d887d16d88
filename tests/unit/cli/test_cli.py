"""The commands, as a user types them: what they print, and one line instead of a traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from command_line import Folders, Run, refused
from rnnsearch.cli import main
from rnnsearch.config import SECTIONS, describe, from_dict, from_preset
from rnnsearch.model_files import WEIGHTS
from rnnsearch.model_folder import save_settings, save_weights
from rnnsearch.presets import PRESETS
from rnnsearch.system import new_system
from rnnsearch.text import Vocabularies
from toy import TARGET_WORDS, toy_config, toy_pairs, toy_vocabularies, write_pairs

# Presets -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_presets_name(rnnsearch: Run, name: str) -> None:
    done = rnnsearch("presets", name)
    assert done.status == 0
    assert from_dict(tomllib.loads(done.out)) == from_preset(name)


def test_presets(rnnsearch: Run) -> None:
    done = rnnsearch("presets")
    assert all(name in done.out for name in PRESETS)
    done = rnnsearch("presets", "--settings")
    assert all(f"\n{key} = " in done.out for section in SECTIONS for key in describe(section))
    refused(rnnsearch("presets", "huge"), "huge", "small")


# Translate -----------------------------------------------------------------------------------------------------------


def test_translate_a_file(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    sources = [source for source, _ in toy_pairs(5, seed=7)]
    path, output = tmp_path / "in.en", tmp_path / "out.fr"
    path.write_text("".join(line + "\n" for line in [*sources[:3], "", *sources[3:]]))
    done = rnnsearch("translate", "--model", model_folder("mlp"), path)
    assert done.status == 0
    lines = done.out.split("\n")
    assert len(lines) == 7
    assert lines[3] == lines[6] == ""
    assert set(" ".join(lines).split()) <= {*TARGET_WORDS, "[UNK]"}
    batches = ("--set", "search.batch_sentences=2")
    written = rnnsearch("translate", "--model", model_folder("mlp"), path, "--output", output, *batches)
    assert written.status == 0, written.err
    assert written.out == ""
    assert output.read_text(encoding="utf-8") == done.out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.en", "out.fr"]


def test_translate_with_terms(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, terms = tmp_path / "x.en", tmp_path / "terms.tsv"
    source.write_text("the dog sees a cat .\n\n", encoding="utf-8")
    terms.write_text("Dog\tZbigniew\n", encoding="utf-8")
    done = rnnsearch("translate", "--model", model_folder("mlp"), source, "--terms", terms)
    assert "Zbigniew" in done.out.splitlines()[0]
    terms.write_text("dog\tchien\ndog\tchat\n", encoding="utf-8")
    command = ("translate", "--model", model_folder("mlp"), source, "--terms", terms)
    refused(rnnsearch(*command), f"{terms}:2: 'dog' has another translation on line 1")


def test_translate_with_prefixes(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, prefix = tmp_path / "in.en", tmp_path / "begin.fr"
    source.write_text("the dog sees a cat .\nthe dog sees a cat .\n")
    prefix.write_text("\nun Zbigniew\n")
    done = rnnsearch("translate", "--model", model_folder("mlp"), source, "--prefix", prefix)
    assert done.status == 0, done.err
    plain, begun = done.out.splitlines()
    assert begun.startswith("un Zbigniew")
    assert rnnsearch("translate", "--model", model_folder("mlp"), source).out.splitlines() == [plain, plain]
    prefix.write_text("un\n")
    refused(rnnsearch("translate", "--model", model_folder("mlp"), source, "--prefix", prefix), "1 prefixes for 2 lines")
    prefix.write_text("un\n\n\n")
    done = rnnsearch("translate", "--model", model_folder("mlp"), source, "--prefix", prefix)
    assert done.status == 2
    assert "more prefixes than lines" in done.err


def test_translate_formats(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    path = tmp_path / "in.en"
    path.write_text("the dog sees a cat .\n\na man has Name5 .\n")
    command = ("translate", "--model", model_folder("mlp"), path)
    text = rnnsearch(*command).out.split("\n")[:-1]
    records = [json.loads(line) for line in rnnsearch(*command, "--format", "json").out.splitlines()]
    assert [record["line"] for record in records] == [0, 1, 2]
    assert [record["text"] for record in records] == text
    assert len(records[0]["alignment"]) == len(records[0]["tokens"])
    assert all(len(row) == 7 for row in records[0]["alignment"])
    links = rnnsearch(*command, "--format", "pharaoh").out.split("\n")
    assert len(links) == 4
    assert links[1] == ""
    assert re.fullmatch(r"(\d+-\d+ ?)+", links[0])
    n_best = rnnsearch(*command, "--n-best", 3).out.splitlines()
    ids = [line.split(" ||| ")[0] for line in n_best]
    assert ids == sorted(ids)
    assert ids.count("1") == 1
    assert ids.count("0") > 1
    assert rnnsearch(*command, "--forbid-unk").out.count("[UNK]") == 0
    assert rnnsearch(*command, "--paper", "--beam", 2).status == 0


def test_translate_what_is_cut_off_is_told(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for file in model_folder("mlp").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    config["search"]["maximum_length_ratio"] = 0.2
    (folder / "config.json").write_text(json.dumps(config))
    (tmp_path / "in.en").write_text("the dog sees a cat .\n\n")
    done = rnnsearch("translate", "--model", folder, tmp_path / "in.en")
    assert "1 translation broke off" in done.err
    longer = rnnsearch("translate", "--model", folder, tmp_path / "in.en", "--set", "search.maximum_length_ratio=3")
    assert longer.err == ""
    refused(rnnsearch("translate", "--model", folder, "--set", "model.hidden_size=3"), "model", "search")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", "from rnnsearch.cli import main; main()", "presets", "small"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the disk is full" in done.stderr


@pytest.mark.slow
def test_nothing_is_said_at_exit_where_triton_was_loaded() -> None:
    pytest.importorskip("triton")
    code = "import torch, triton, rnnsearch.cli as cli, sys; sys.argv = ['rnnsearch', '--version']; cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_translate_standard_input(model_folder: Folders, tmp_path: Path) -> None:
    """And to standard output: both are UTF-8, whatever the locale."""
    prefix = tmp_path / "begin.fr"
    prefix.write_text("œuvre\n\n\n", encoding="utf-8")
    command = [sys.executable, "-c", "from rnnsearch.cli import main; main()"]
    done = subprocess.run(
        [*command, "translate", "--model", str(model_folder("mlp")), "--prefix", str(prefix)],
        input="\ufeffthe dog sees a cat .\r\n\r\na man has a book .",
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert len(lines) == 4
    assert lines[0].startswith("œuvre")
    assert lines[1] == ""
    assert lines[2]


@pytest.mark.slow
def test_a_closed_pipe_is_no_error_to_speak_of(model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "in.en").write_text("the dog sees a cat .\n" * 3000)
    command = [sys.executable, "-c", "from rnnsearch.cli import main; main()", "translate", "--format", "json"]
    process = subprocess.Popen(
        [*command, "--model", str(model_folder("mlp")), str(tmp_path / "in.en")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(120) == 1
    assert process.stderr.read() == b""


def test_translate_html(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "in.html").write_bytes(b"\r\n<p>the <b>dog</b> sees a cat .\r\n</p><script>a < b</script>")
    command = ("translate", "--model", model_folder("mlp"), "--html", tmp_path / "in.html")
    done = rnnsearch(*command)
    assert done.status == 0, done.err
    assert re.fullmatch(r"\r\n<p>.*<b>.*</b>.*\r\n</p><script>a < b</script>", done.out)
    assert rnnsearch(*command, "--output", tmp_path / "out.html").status == 0
    assert (tmp_path / "out.html").read_bytes().decode() == done.out
    for options in (("--n-best", 2), ("--format", "json"), ("--prefix", tmp_path / "in.html")):
        refused(rnnsearch(*command, *options), "--html")


def test_translate_attributes(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "in.html").write_text("<img src=a alt='the dog .'><p>the cat .</p>")
    command = ("translate", "--model", model_folder("mlp"), tmp_path / "in.html")
    attribute, text = rnnsearch(*command, "--html", "--attributes").out.removeprefix('<img src=a alt="').split('">')
    assert attribute != "the dog ."
    assert rnnsearch(*command, "--html").out == f"<img src=a alt='the dog .'>{text}"
    refused(rnnsearch(*command, "--attributes"), "--html")


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"fine\ncaf\xe9\n", "in.en:2: not valid UTF-8"), (None, "in.en: no such file")],
)
def test_translate_refuses(rnnsearch: Run, model_folder: Folders, tmp_path: Path, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / "in.en").write_bytes(content)
    refused(rnnsearch("translate", "--model", model_folder("mlp"), tmp_path / "in.en"), told)
    output = tmp_path / "out.fr"
    refused(rnnsearch("translate", "--model", model_folder("mlp"), tmp_path / "in.en", "--output", output), told)
    assert not output.exists()
    assert not list(tmp_path.glob(".out*"))


def test_a_sentence_is_not_a_file(rnnsearch: Run) -> None:
    refused(rnnsearch("translate", "It's small."), "no such file", """echo 'It'"'"'s small.' | rnnsearch translate""")


@pytest.mark.parametrize("output", [".", "in.en/out.fr"])
def test_translate_to_where_no_file_can_be(rnnsearch: Run, model_folder: Folders, tmp_path: Path, output: str) -> None:
    """Onto a folder, or under a file."""
    (tmp_path / "in.en").write_text("a cat .\n")
    done = rnnsearch("translate", "--model", model_folder("mlp"), tmp_path / "in.en", "--output", tmp_path / output)
    refused(done, tmp_path / output)
    assert [path.name for path in tmp_path.iterdir()] == ["in.en"]


def test_translate_without_a_model(rnnsearch: Run, tmp_path: Path) -> None:
    refused(rnnsearch("translate", "--model", tmp_path / "none"), tmp_path / "none", "no model here")
    done = rnnsearch("translate")
    assert done.status == 2
    assert "--model" in done.err


def test_pharaoh_of_a_model_without_alignment(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "in.en").write_text("a cat .\n")
    command = ("translate", "--model", model_folder("none"), tmp_path / "in.en", "--format")
    refused(rnnsearch(*command, "pharaoh"), "RNNencdec")
    assert json.loads(rnnsearch(*command, "json").out)["alignment"] is None
    assert rnnsearch(*command, "text").status == 0


# Score ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_score(rnnsearch: Run, model_folder: Folders, tmp_path: Path, alignment: str) -> None:
    source, target = write_pairs(tmp_path, "test", 6, seed=8)
    command = ("score", "--model", model_folder(alignment), "--source", source, "--target", target)
    done = rnnsearch(*command)
    scores = [float(line) for line in done.out.splitlines()]
    assert len(scores) == 6
    assert max(scores) < 0
    total = re.search(r"total (-\d+\.\d+), perplexity (\d+\.\d+)", done.err)
    assert total is not None
    assert float(total[1]) == pytest.approx(sum(scores), abs=0.01)
    records = [json.loads(line) for line in rnnsearch(*command, "--format", "json").out.splitlines()]
    assert [record["score"] for record in records] == pytest.approx(scores, abs=1e-5)
    assert [record["tokens"] for record in records] == [line.split() for line in target.read_text().splitlines()]
    for record in records:
        assert sum(record["word_scores"]) == pytest.approx(record["score"], abs=1e-4)
    source.write_text("the big\xa0dog\tsees .\n", encoding="utf-8")
    target.write_text("le\u3000grand chien .\n", encoding="utf-8")
    for options in ((), ("--tokenized",)):
        record = json.loads(rnnsearch(*command, "--format", "json", *options).out)
        assert record["tokens"] == ["le\u3000grand", "chien", "."], "as other tools count words"


def test_unequal_files(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 6, seed=8)
    target.write_text("une ligne\n")
    files = ("--source", source, "--target", target)
    for command in ("score", "align"):
        refused(rnnsearch(command, "--model", model_folder("mlp"), *files), "6 lines", "has 1;", source, target)
    reference = ("--source", source, "--reference", target)
    refused(rnnsearch("evaluate", "--model", model_folder("mlp"), *reference), "6 lines", "has 1;")
    refused(rnnsearch("prepare", *files, "--output", tmp_path / "data"), "6 lines", "has 1;")
    assert not (tmp_path / "data").exists()


# Align ---------------------------------------------------------------------------------------------------------------


def test_align(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 4, seed=8)
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    done = rnnsearch(*command)
    lines = done.out.splitlines()
    assert len(lines) == 4
    gold = tmp_path / "gold"
    gold.write_text(done.out)
    perfect = rnnsearch(*command, "--gold", gold)
    assert "AER 0.0000 (precision 1.0000, recall 1.0000" in perfect.err
    assert perfect.out == done.out
    reversed_ = tmp_path / "reversed"
    reversed_.write_text(re.sub(r"(\d+)-(\d+)", r"\2-\1", done.out))
    assert "AER 0.0000" in rnnsearch(*command, "--gold", reversed_, "--reverse-gold").err
    gold.write_text("99-99\n" * 4)
    assert "AER 1.0000" in rnnsearch(*command, "--gold", gold).err

    records = [json.loads(line) for line in rnnsearch(*command, "--format", "json").out.splitlines()]
    for record, words in zip(records, target.read_text().splitlines(), strict=True):
        assert record["tokens"] == words.split()
        assert len(record["alignment"]) == len(record["tokens"])
        assert len(record["alignment"][0]) == len(record["source_tokens"])


def test_align_by_both_directions(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 8, seed=8)
    data = {"tokenizer": "whitespace", "source_language": "fr", "target_language": "en"}
    other = new_system(toy_config(data=data), Vocabularies(*reversed(toy_vocabularies())))
    save_settings(tmp_path, other)
    save_weights(tmp_path / WEIGHTS, other)
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    found: dict[str, list[set[str]]] = {
        name: [set(line.split()) for line in rnnsearch(*command, *more).out.splitlines()]
        for name, more in {
            "one": (),
            "grown": ("--reverse-model", tmp_path),
            "common": ("--reverse-model", tmp_path, "--symmetrize", "intersection"),
        }.items()
    }
    turned = rnnsearch("align", "--model", tmp_path, "--source", target, "--target", source).out.splitlines()
    back = [{"-".join(reversed(link.split("-"))) for link in line.split()} for line in turned]
    for one, other_way, grown, common in zip(found["one"], back, found["grown"], found["common"], strict=True):
        assert common == one & other_way
        assert common <= grown <= one | other_way
    assert found["grown"] != found["common"]
    refused(rnnsearch(*command, "--reverse-model", model_folder("mlp")), "en to fr", "fr to en")
    refused(rnnsearch(*command[:5], "--reverse-model", tmp_path), "give --target too")


def test_align_without_a_model(rnnsearch: Run, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 40, seed=8)
    done = rnnsearch("align", "--source", source, "--target", target)
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == 40
    pairs, output = tmp_path / "pairs", tmp_path / "links"
    lines = list(zip(source.read_text().splitlines(), target.read_text().splitlines(), strict=True))
    for between in (" ||| ", "\t"):
        pairs.write_text("".join(f"{one}{between}{other}\n" for one, other in lines))
        assert rnnsearch("align", "--pairs", pairs, "--output", output).status == 0
        assert output.read_text() == done.out
    pairs.write_text("".join(f"{one} ||| {other}\n" for one, other in lines).replace("the ", "the\t").replace("le ", "le\t"))
    assert rnnsearch("align", "--pairs", pairs).out == done.out, "a tab is a space where `|||` separates the sides"
    pairs.write_text("".join(f"{one}\t{other}\n" for one, other in lines).replace("dog", "the\xa0dog"), encoding="utf-8")
    assert rnnsearch("align", "--pairs", pairs).out == done.out, "a no-break space is a part of a word"
    pairs.write_text("".join(f"{one}\t{other}\n" for one, other in lines))
    gold = tmp_path / "gold"
    gold.write_text(done.out)
    assert "AER 0.0000" in rnnsearch("align", "--pairs", pairs, "--gold", gold).err
    records = [json.loads(line) for line in rnnsearch("align", "--pairs", pairs, "--format", "json").out.splitlines()]
    assert [" ".join(f"{s}-{t}" for s, t, _ in record["links"]) for record in records] == done.out.splitlines()
    assert all(0.5 <= p <= 1 for record in records for _, _, p in record["links"])
    assert [record["line"] for record in records] == list(range(40)), "lines are numbered as with a translation model"
    unions = rnnsearch("align", "--pairs", pairs, "--symmetrize", "union").out.splitlines()
    common = rnnsearch("align", "--pairs", pairs, "--symmetrize", "intersection").out.splitlines()
    assert all(set(one.split()) <= set(other.split()) for one, other in zip(common, unions, strict=True))
    refused(rnnsearch("align", "--source", source), "--target", "--pairs")
    refused(rnnsearch("align", "--pairs", pairs, "--source", source, "--target", target), "--pairs")
    refused(rnnsearch("align", "--pairs", pairs, "--page", tmp_path / "a.html"), "--page needs a model that translates")
    pairs.write_text("a ||| b\nc\n")
    refused(rnnsearch("align", "--pairs", pairs), "pairs:2", "1 parts")


def test_a_kept_aligner_aligns_other_text(rnnsearch: Run, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 40, seed=8)
    kept, files = tmp_path / "kept", ("--source", source, "--target", target)
    done = rnnsearch("align", *files, "--save", kept, "--output", tmp_path / "links")
    assert done.status == 0, done.err
    assert rnnsearch("align", *files, "--model", kept).out == (tmp_path / "links").read_text()
    assert not (tmp_path / "links.parts").exists()
    for path, lines in ((source, ["", "unheard of"]), (target, ["un", "inconnu"])):
        path.write_text("".join(f"{line}\n" for line in lines))
    assert len(rnnsearch("align", *files, "--model", kept).out.splitlines()) == 2
    refused(rnnsearch("align", *files, "--model", kept, "--save", tmp_path / "again"), "--save")
    refused(rnnsearch("align", *files, "--model", kept, "--plot", tmp_path / "a"), "--plot needs a model that translates")
    refused(rnnsearch("align", *files, "--save", source), "this is a file")
    (kept / "source.words").write_text("other\n")
    refused(rnnsearch("align", *files, "--model", kept), "damaged")


def test_align_plots(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 4, seed=8)
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    done = rnnsearch(*command, "--plot", tmp_path / "plots", "--plots", 2)
    assert done.status == 0, done.err
    plots = sorted((tmp_path / "plots").iterdir())
    assert [path.name for path in plots] == ["0001.png", "0002.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in plots)


def test_align_plots_what_can_be_drawn(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("a cat .\n" + "cat " * 160 + "\na cat .\n")
    target.write_text("un chat .\n" + "chat " * 160 + "\nun chat .\n")
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    done = rnnsearch(*command, "--plot", tmp_path / "plots")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == 3
    assert "pair 2: more than 150 words" in done.err
    assert [path.name for path in sorted((tmp_path / "plots").iterdir())] == ["0001.png", "0003.png"]


def test_align_blank_lines(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = tmp_path / "a.en", tmp_path / "a.fr"
    source.write_text("a cat .\n\n\na cat .\n")
    target.write_text("un chat .\n\nun chat .\n\n")
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    done = rnnsearch(*command, "--plot", tmp_path / "plots")
    assert done.status == 0, done.err
    lines = done.out.split("\n")
    assert len(lines) == 5
    assert lines[1] == lines[2] == lines[3] == ""


def test_align_gold_that_does_not_fit(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 4, seed=8)
    command = ("align", "--model", model_folder("mlp"), "--source", source, "--target", target)
    gold = tmp_path / "gold"
    gold.write_text("0-0\n")
    refused(rnnsearch(*command, "--gold", gold), "has 1 lines for 4 pairs")
    gold.write_text("0-0\n0-0\nzero\n0-0\n")
    refused(rnnsearch(*command, "--gold", gold), f"{gold}:3", "zero")
    refused(rnnsearch(*command, "--gold", tmp_path / "none"), "no such file")


def test_rnnencdec_cannot_align(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "test", 4, seed=8)
    done = rnnsearch("align", "--model", model_folder("none"), "--source", source, "--target", target)
    refused(done, "RNNencdec has no alignment", "model.alignment=mlp")
    assert done.out == ""


# Evaluate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alignment", ["mlp", "none"])
def test_evaluate(rnnsearch: Run, model_folder: Folders, tmp_path: Path, alignment: str) -> None:
    source, reference = write_pairs(tmp_path, "test", 12, seed=8)
    figures, output = tmp_path / "figures.json", tmp_path / "out.fr"
    command = ("evaluate", "--model", model_folder(alignment), "--source", source, "--reference", reference)
    done = rnnsearch(*command, "--json", figures, "--output", output, "--beam", 2)
    assert done.status == 0, done.err
    for part in ("BLEU", "chrF", "No UNK", "brevity", "nrefs:1|case:mixed|eff:no|tok:13a"):
        assert part in done.out
    record = json.loads(figures.read_text())
    assert 0 <= record["all"]["bleu"] <= 100
    assert record["all"]["sentences"] == 12
    assert record["settings"] == {"beam": 2}
    assert len(output.read_text().splitlines()) == 12
    assert f"{record['all']['bleu']:.2f}" in done.out


def test_lexicon(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(model_folder("mlp"), model)
    source, target = write_pairs(tmp_path, "train", 30, seed=8)
    check_source, check_reference = write_pairs(tmp_path, "valid", 6, seed=9)
    short = ("--set", "search.vocabulary_selection=2")
    refused(rnnsearch("translate", "--model", model, source, *short), "lexicon", "rnnsearch lexicon --model")
    refused(rnnsearch("lexicon", "--model", model), "--source", "--check-source")
    refused(rnnsearch("lexicon", "--model", model, "--source", source), "--target")
    done = rnnsearch("lexicon", "--model", model, "--source", source, "--target", target)
    assert done.status == 0, done.err
    assert "30 pairs" in done.out
    assert all(len(line.split("\t")) == 3 for line in (model / "lexicon.tsv").read_text().splitlines())
    check = ("--check-source", check_source, "--check-reference", check_reference)
    done = rnnsearch("lexicon", "--model", model, *check, *short)
    assert done.status == 0, done.err
    told = r"search.vocabulary_selection=2 changes \d of 6 translations; BLEU [\d.]+ without, [\d.]+ with it"
    assert re.search(told, done.out)
    assert rnnsearch("translate", "--model", model, source, *short).status == 0


def test_a_lexicon_of_nothing(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    model, empty = tmp_path / "model", tmp_path / "empty"
    shutil.copytree(model_folder("mlp"), model)
    empty.touch()
    refused(rnnsearch("lexicon", "--model", model, "--source", empty, "--target", empty), empty, "none of the 0 pairs")
    assert not (model / "lexicon.tsv").exists()
    refused(rnnsearch("lexicon", "--model", model, "--check-source", empty, "--check-reference", empty), empty)


def test_a_lexicon_of_no_alignment(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    source, target = write_pairs(tmp_path, "train", 3, seed=8)
    refused(rnnsearch("lexicon", "--model", model_folder("none"), "-s", source, "-t", target), "RNNencdec")


def test_evaluate_on_nothing(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("")
    command = ("evaluate", "--model", model_folder("mlp"), "--source", tmp_path / "a.en", "--reference", tmp_path / "a.en")
    refused(rnnsearch(*command), "no sentences")


def test_a_fault_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnsearch.cli.presets.as_toml", lambda values: 1 / 0)
    monkeypatch.setattr(sys, "argv", ["rnnsearch", "presets", "small"])
    with pytest.raises(ZeroDivisionError):
        main()
