"""`--jobs`: the same bytes from any number of processes, and from a run that was killed and begun again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import forked
from command_line import Folders, Run, refused
from rnnsearch import translate_file
from rnnsearch.jobs import shards
from rnnsearch.model_folder import save_settings, save_weights
from rnnsearch.system import new_system
from rnnsearch.text import Vocabularies, Vocabulary
from toy import SOURCE_WORDS, TARGET_WORDS, toy_config, toy_pairs, toy_vocabularies


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "LINES", 7)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Fifty pairs, some lines blank, and one too long for one search."""
    folder = tmp_path_factory.mktemp("texts")
    pairs = [*toy_pairs(48, seed=5), ("", ""), (" ".join(["the dog ."] * 30), "le chien .")]
    for side, name in enumerate(("a.en", "a.fr")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in pairs[::-1]), encoding="utf-8")
    return folder / "a.en", folder / "a.fr"


@pytest.fixture(scope="module")
def other_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A further model for an ensemble, one that writes from right to left, and one of the other direction."""
    folder = tmp_path_factory.mktemp("models")
    made: dict[str, Path] = {}
    turned = Vocabularies(Vocabulary(SOURCE_WORDS), Vocabulary(TARGET_WORDS, right_to_left=True))
    backward = Vocabularies(Vocabulary(TARGET_WORDS), Vocabulary(SOURCE_WORDS))
    for name, vocabularies, data, model in (
        ("lstm", toy_vocabularies(), {}, {"cell": "lstm"}),
        ("r2l", turned, {"right_to_left": True}, {}),
        ("backward", backward, {"source_language": "fr", "target_language": "en"}, {}),
    ):
        system = new_system(toy_config(data=data, model=model, search={"maximum_length_ratio": 2.0}), vocabularies)
        made[name] = folder / name
        save_settings(made[name], system)
        save_weights(made[name] / "model.safetensors", system)
    return made


def same_for_any_jobs(run: Callable[[int], object], *jobs: int) -> None:
    one = run(1)
    for number in jobs or (2, 3):
        assert run(number) == one


TRANSLATE: dict[str, tuple[str, ...]] = {
    "text": (),
    "n-best": ("--n-best", "3"),
    "json": ("--format", "json", "--n-best", "2", "--beam", "4"),
    "pharaoh": ("--format", "pharaoh"),
    "int8": ("--set", "search.precision=int8", "--format", "json"),
    "sampled": ("--set", "search.temperature=1", "--n-best", "2"),
    "unk": ("--replace-unk",),
}


MARKS = {"text": (), "json": (pytest.mark.slow,), "int8": (pytest.mark.slow,)}
"""The other options are for the nightly tests."""


@pytest.mark.parametrize(
    "options",
    [pytest.param(TRANSLATE[name], id=name, marks=MARKS.get(name, (pytest.mark.nightly,))) for name in TRANSLATE],
)
def test_translate(
    rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path, options: tuple[str, ...]
) -> None:
    command = ("translate", "--model", model_folder("mlp"), texts[0], *options)

    def run(jobs: int) -> tuple[str, str]:
        done, output = rnnsearch(*command, "--jobs", jobs), tmp_path / f"{jobs}.out"
        assert done.status == 0, done.err
        written = rnnsearch(*command, "--jobs", jobs, "--output", output)
        assert written.out == ""
        assert output.read_text(encoding="utf-8") == done.out
        return done.out, done.err if "--replace-unk" in options else ""

    same_for_any_jobs(run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.out", "2.out", "3.out"]


@pytest.mark.slow
def test_what_is_in_several_shards(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path) -> None:
    """Lines are counted through, prefixes go with their lines, terms are placed, and the page has all sentences."""
    prefix, terms, page = tmp_path / "prefix", tmp_path / "terms", tmp_path / "page.html"
    prefix.write_text("".join("le\n" if number % 3 else "\n" for number in range(50)), encoding="utf-8")
    terms.write_text("dog\tZbigniew\n", encoding="utf-8")
    command = ("translate", "--model", model_folder("mlp"), texts[0], "--format", "json")
    options = ("--prefix", prefix, "--terms", terms, "--page", page)

    def run(jobs: int) -> tuple[str, bytes]:
        done = rnnsearch(*command, *options, "--jobs", jobs)
        assert done.status == 0, done.err
        return done.out, page.read_bytes()

    same_for_any_jobs(run)
    found = [json.loads(line) for line in run(2)[0].splitlines()]
    assert [one["line"] for one in found] == list(range(50))
    assert all(one["text"].startswith("le") for number, one in enumerate(found) if number % 3 and one["text"])
    assert any("Zbigniew" in one["text"] for one in found[40:])
    (tmp_path / "short").write_text("le\n", encoding="utf-8")
    refused(rnnsearch(*command, "--prefix", tmp_path / "short", "--jobs", 2), "prefixes for")
    (tmp_path / "long").write_text("le\n" * 51, encoding="utf-8")
    refused(rnnsearch(*command, "--prefix", tmp_path / "long", "--jobs", 2), "more prefixes than lines")


@pytest.mark.slow
def test_a_document(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    document = tmp_path / "in.html"
    document.write_text("".join(f"<p>the <b>big</b> {s} <i>{s}</i></p>\n" for s, _ in toy_pairs(20, 3)), encoding="utf-8")
    whole = rnnsearch("translate", "--model", model_folder("mlp"), "--html", document)
    assert "</b>" in whole.out
    same_for_any_jobs(lambda jobs: rnnsearch("translate", "-m", model_folder("mlp"), "--html", document, "-j", jobs).out)


@pytest.mark.slow
@pytest.mark.parametrize("others", [("lstm",), ("r2l",)])
def test_several_models(
    rnnsearch: Run, model_folder: Folders, other_models: dict[str, Path], texts: tuple[Path, Path], others: tuple[str, ...]
) -> None:
    models = [word for name in others for word in ("--model", other_models[name])]
    command = ("translate", "--model", model_folder("mlp"), *models, texts[0], "--format", "json", "--n-best", "2")

    def run(jobs: int) -> str:
        done = rnnsearch(*command, "--jobs", jobs)
        assert done.status == 0, done.err
        return done.out

    same_for_any_jobs(run, 2)


@pytest.mark.slow
def test_from_python(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path) -> None:
    def run(jobs: int) -> bytes:
        output = tmp_path / "out"
        translate_file(texts[0], output, model_folder("mlp"), jobs=jobs, n=2, format="json", beam=4)
        return output.read_bytes()

    same_for_any_jobs(run)
    options = TRANSLATE["json"]
    assert rnnsearch("translate", "--model", model_folder("mlp"), texts[0], *options).out.encode() == run(1)


@pytest.mark.slow
def test_evaluate(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path) -> None:
    def run(jobs: int) -> tuple[bytes, dict[str, object]]:
        output, scores = tmp_path / "out", tmp_path / "scores.json"
        done = rnnsearch(
            "evaluate", "--model", model_folder("mlp"), "--source", texts[0], "--reference", texts[1],
            "--jobs", jobs, "--output", output, "--json", scores,
        )  # fmt: skip
        assert done.status == 0, done.err
        values = json.loads(scores.read_text())
        assert values.pop("seconds") > 0
        assert values["no_unk"]["sentences"] < 50
        return output.read_bytes(), values

    same_for_any_jobs(run)


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--target",), marks=pytest.mark.nightly),
        pytest.param(("--target", "--format", "json"), marks=pytest.mark.nightly),
        pytest.param(("--target", "--tokenized", "--gold"), marks=pytest.mark.slow),
        pytest.param(("--target", "--reverse-model"), marks=pytest.mark.slow),
    ],
)
def test_align(
    rnnsearch: Run,
    model_folder: Folders,
    other_models: dict[str, Path],
    texts: tuple[Path, Path],
    tmp_path: Path,
    options: tuple[str, ...],
) -> None:
    gold, page, output = tmp_path / "gold", tmp_path / "page.html", tmp_path / "out"
    gold.write_text("0-0\n" * 50)
    values: dict[str, list[object]] = {
        "--target": [texts[1]], "--gold": [gold], "--reverse-model": [other_models["backward"]]
    }  # fmt: skip
    given = [word for option in options for word in (option, *values.get(option, ()))]
    command = ("align", "--model", model_folder("mlp"), "--source", texts[0], *given, "--page", page)

    def run(jobs: int) -> tuple[str, str, bytes]:
        done = rnnsearch(*command, "--jobs", jobs)
        assert done.status == 0, done.err
        assert len(done.out.splitlines()) == 50
        rnnsearch(*command, "--jobs", jobs, "--output", output)
        assert output.read_text(encoding="utf-8") == done.out
        return done.out, done.err, page.read_bytes()

    same_for_any_jobs(run, 2)


@pytest.mark.slow
def test_lexicon(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path) -> None:
    model = Path(shutil.copytree(model_folder("mlp"), tmp_path / "model"))
    pairs = ("--source", texts[0], "--target", texts[1], "--check-source", texts[0], "--check-reference", texts[1])

    def run(jobs: int) -> tuple[str, bytes]:
        done = rnnsearch("lexicon", "--model", model, *pairs, "--jobs", jobs)
        assert done.status == 0, done.err
        assert not list(model.glob("*.parts"))
        return done.out, (model / "lexicon.tsv").read_bytes()

    same_for_any_jobs(run)


# Killed ---------------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from rnnsearch.jobs import JobCheckpoint, shards
shards.LINES = 7
left, done = int(sys.argv.pop(1)), 0
put = JobCheckpoint.put
def counting(self, shard, result):
    global left, done
    put(self, shard, result)
    left, done = left - 1, done + 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
JobCheckpoint.put = counting
from rnnsearch.cli import main
try:
    main()
finally:
    print("done", done)
"""
"""The command line, killed when so many shards are done; else it says how many it has done."""


def shards_done(kill_after: int, *command: object) -> int | None:
    """How many shards a run of this command has done; None where it was killed."""
    program = [sys.executable, "-c", KILLED, str(kill_after), *map(str, command)]
    process = forked.Popen(program, stdout=-1, stderr=-1, encoding="utf-8", env={**os.environ, "COLUMNS": "200"})
    out, err = process.communicate(timeout=300)
    if kill_after:
        assert process.returncode == -signal.SIGKILL, err
        return None
    assert process.returncode == 0, err
    return int(out.split()[-1])


@pytest.mark.parametrize("jobs", [1, 2])
def test_translate_goes_on(
    rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path, jobs: int
) -> None:
    expected = rnnsearch("translate", "--model", model_folder("mlp"), texts[0]).out.encode()
    output = tmp_path / "out"
    command = ("translate", "--model", model_folder("mlp"), texts[0], "--output", output, "--jobs", jobs)
    shards_done(2, *command)
    shards_done(3, *command)
    assert not output.exists()
    assert shards_done(0, *command) == 3  # of eight
    assert output.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.slow
def test_parts_of_another_run_are_not_mixed_in(
    rnnsearch: Run, model_folder: Folders, other_models: dict[str, Path], texts: tuple[Path, Path], tmp_path: Path
) -> None:
    source, ours, other = tmp_path / "in", model_folder("mlp"), other_models["lstm"]
    source.write_bytes(texts[0].read_bytes())

    def command(output: Path, model: Path = ours, *options: object) -> tuple[object, ...]:
        return ("translate", "--model", model, source, "--output", output, *options)

    for number, (model, options) in enumerate([(other, ()), (ours, ("--beam", 2)), (ours, ("--n-best", 2))]):
        output = tmp_path / str(number)
        shards_done(4, *command(output))
        done = rnnsearch(*command(output, model, *options))
        assert f"{output}.parts: what is kept there is of another run" in done.err
        assert output.read_text(encoding="utf-8") == rnnsearch("translate", "-m", model, source, *options).out
    # The same lines have the same translations; others are not mixed in.
    output = tmp_path / "out"
    shards_done(4, *command(output))
    lines = texts[0].read_text(encoding="utf-8").splitlines(keepends=True)
    source.write_text("".join([*lines[:9], "the dog .\n", *lines[10:]]), encoding="utf-8")
    assert shards_done(0, *command(output)) == 5
    assert output.read_text(encoding="utf-8") == rnnsearch("translate", "-m", ours, source).out


@pytest.mark.slow
def test_the_others_go_on(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path], tmp_path: Path) -> None:
    model = Path(shutil.copytree(model_folder("mlp"), tmp_path / "model"))
    output = tmp_path / "out"
    pairs = ("--model", model, "--source", texts[0])
    for command, written, all_shards in (
        (("evaluate", *pairs, "--reference", texts[1], "--output", output), output, None),
        (("align", *pairs, "--target", texts[1], "--output", output), output, 8),
        (("lexicon", *pairs, "--target", texts[1]), model / "lexicon.tsv", 8),
    ):
        assert rnnsearch(*command, "--jobs", 2).status == 0
        expected = written.read_bytes()
        written.unlink()
        shards_done(5, *command, "--jobs", 2)
        assert not written.exists()
        done = shards_done(0, *command)
        assert written.read_bytes() == expected
        if all_shards:
            assert done == all_shards - 5


def test_a_bad_line_further_down(rnnsearch: Run, model_folder: Folders, tmp_path: Path) -> None:
    """It is told with its number; what is before it need not be done again."""
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"the dog .\n" * 30 + b"\xff\n" + b"the cat .\n" * 30)
    command = ("translate", "--model", model_folder("mlp"), source, "--output", output)
    refused(rnnsearch(*command, "--jobs", 2), f"{source}:31", "UTF-8")
    assert not output.exists()
    source.write_bytes(source.read_bytes().replace(b"\xff", b"the tree ."))
    done = shards_done(0, *command)
    assert done is not None
    assert done < 9
    assert output.read_text(encoding="utf-8") == rnnsearch("translate", "-m", model_folder("mlp"), source).out


def test_refusals(rnnsearch: Run, model_folder: Folders, texts: tuple[Path, Path]) -> None:
    done = rnnsearch("translate", "--model", model_folder("mlp"), texts[0], "--jobs", 0)
    assert done.status == 2
    assert "--jobs" in done.err
    refused(
        rnnsearch("translate", "--model", model_folder("none"), texts[0], "--jobs", 2, "--set", "search.coverage=1"),
        "search.coverage",
    )


# Text -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Pairs of which many are repeated, and some dropped for other reasons; and their links."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = toy_pairs(120, seed=8)
    pairs = [*pairs[:70], ("", "x"), *pairs[20:50], ("a " * 60, "b"), *pairs]
    for side, name in enumerate(("a.en", "a.fr")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    return folder / "a.en", folder / "a.fr"


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "options",
    [
        ("--hold-out", 9),
        pytest.param((), marks=pytest.mark.nightly),
        pytest.param(("--set", "data.remove_duplicates=false"), marks=pytest.mark.nightly),
        pytest.param(("--set", "data.subwords=bpe"), marks=pytest.mark.slow),
    ],
)
def test_prepare(
    rnnsearch: Run,
    corpus: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[object, ...],
) -> None:
    monkeypatch.setattr("rnnsearch.data.prepare._FEW", 4)
    text = ("--source", corpus[0], "--target", corpus[1], "--set", "data.subword_pieces=60")

    def run(jobs: int) -> dict[str, bytes]:
        done = rnnsearch("prepare", *text, "--output", tmp_path / "data", *options, "--jobs", jobs)
        assert done.status == 0, done.err
        return files_of(tmp_path / "data")

    same_for_any_jobs(run)
    expected = run(1)
    monkeypatch.setattr("rnnsearch.data.repetitions.IN_MEMORY", 5)
    assert run(2) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.slow
def test_prepare_goes_on(rnnsearch: Run, corpus: tuple[Path, Path], tmp_path: Path) -> None:
    text = ("prepare", "--source", corpus[0], "--target", corpus[1], "--output")
    assert rnnsearch(*text, tmp_path / "whole").status == 0
    shards_done(5, *text, tmp_path / "data")
    assert not (tmp_path / "data" / "prepare.json").exists()
    assert shards_done(0, *text, tmp_path / "data", "--jobs", 2) == 27
    assert files_of(tmp_path / "data") == files_of(tmp_path / "whole")
    shards_done(5, *text, tmp_path / "other")
    done = rnnsearch(*text, tmp_path / "other", "--set", "data.max_length=9")
    assert "other.parts: what is kept there is of another run" in done.err
    assert rnnsearch(*text, tmp_path / "short", "--set", "data.max_length=9").status == 0
    assert files_of(tmp_path / "other") == files_of(tmp_path / "short")


@pytest.mark.parametrize(
    "options", [(), pytest.param(("--method", "moore-lewis", "--side", "target"), marks=pytest.mark.slow)]
)
def test_select(
    rnnsearch: Run,
    corpus: tuple[Path, Path],
    texts: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[object, ...],
) -> None:
    block = "rnnsearch.selection.cross_entropy_difference._BLOCK"
    command = (
        "select", "--source", corpus[0], "--target", corpus[1],
        "--in-domain-source", texts[0], "--in-domain-target", texts[1], *options,
        "--output-source", tmp_path / "out.en", "--output-target", tmp_path / "out.fr", "--scores", tmp_path / "scores",
    )  # fmt: skip

    def run(jobs: int) -> dict[str, bytes]:
        assert rnnsearch(*command, "--pairs", 40, "--jobs", jobs).status == 0
        return files_of(tmp_path)

    expected = run(1)  # in one block
    monkeypatch.setattr(block, 16)
    same_for_any_jobs(run)
    assert run(1) == expected
    for output in tmp_path.iterdir():
        output.unlink()
    done = rnnsearch(*command, "--words", 1, "--jobs", 2)  # which is told when all is scored
    assert done.status == 2
    assert "1 words are fewer than the best pair has" in done.err
    parts = tmp_path / "out.en.parts"
    assert len(list(parts.glob("*.part"))) == 14
    for part in sorted(parts.glob("*.part"))[:5]:
        part.unlink()
    assert run(2) == expected
