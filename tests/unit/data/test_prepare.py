"""From text files to a prepared folder: what is in it, and what is left when it fails."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from rnnsearch.alignment import learned_links
from rnnsearch.config import DataConfig
from rnnsearch.data.prepare import prepare
from rnnsearch.data.prepared import open_prepared
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import UNK
from spelling import PHONES, spelt_words, write_table

CONFIG = DataConfig(source_words=20, target_words=1000, max_length=12)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 5,000 pairs in train.en and train.fr, translated word by word."""
    folder = tmp_path_factory.mktemp("text")
    chance = random.Random(1)
    with (folder / "train.en").open("w") as source, (folder / "train.fr").open("w") as target:
        for _ in range(5000):
            words = [str(int(chance.paretovariate(0.7)) % 300) for _ in range(chance.randrange(14))]
            source.write(" ".join("e" + word for word in words) + ".\n")
            target.write(" ".join("f" + word for word in words) + ".\n")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_holds_the_kept_pairs_shuffled(text: Path, tmp_path: Path) -> None:
    stages: list[tuple[str, int]] = []
    data = prepare(
        [text / "train.en"], [text / "train.fr"], tmp_path / "a" / "b", CONFIG,
        progress=lambda stage, pairs: stages.append((stage, pairs)), processes=1,
    )  # fmt: skip
    lines = (text / "train.en").read_text().splitlines()
    expected = Counter()
    for line in dict.fromkeys(lines):
        words = line.removesuffix(".").split()
        if len(words) < 12:
            expected[tuple(data.vocabularies.source.encode([*words, "."]))] += 1
    pairs = [data.corpus.pair(number) for number in range(len(data.corpus))]
    assert Counter(tuple(source.tolist()) for source, _ in pairs) == expected
    for source, target in pairs:
        for one, other in zip(source, target, strict=True):
            word, translation = data.vocabularies.source.words[one], data.vocabularies.target.words[other]
            assert word == "[UNK]" or word.replace("e", "f") == translation
    in_text_order = [tuple(data.vocabularies.source.encode([*line[:-1].split(), "."])) for line in lines]
    assert [tuple(source.tolist()) for source, _ in pairs[:100]] != in_text_order[:100]

    info = data.info
    assert (data.source_language, data.target_language) == ("en", "fr")
    assert len(data.vocabularies.source) == 22 == info["source"]["vocabulary"]
    assert info["pairs"] == len(pairs) == info["cleaning"]["kept"]
    assert info["cleaning"]["read"] == 5000
    assert sum(info["cleaning"].values()) == 2 * 5000  # each pair is read, and kept or dropped by one rule
    unknown = sum((source == 1).sum() for source, _ in pairs)
    running = sum(len(source) for source, _ in pairs)
    assert info["source"]["words"] == running
    assert info["source"]["coverage_percent"] == pytest.approx(100 * (1 - unknown / running), abs=1e-3)
    assert info["target"]["coverage_percent"] == 100
    assert info["source_files"] == [{"name": "train.en", "bytes": (text / "train.en").stat().st_size}]
    assert info["data"]["source_language"] == "en"
    assert {path.name for path in data.folder.iterdir()} == {
        "train.arrow", "source.vocab", "target.vocab", "prepare.json"
    }  # fmt: skip
    assert {stage for stage, _ in stages} == {"read", "write"}
    assert stages[-1] == ("write", len(pairs))
    again = open_prepared(data.folder)
    assert again.info == json.loads((data.folder / "prepare.json").read_text())
    assert again.vocabularies.source.words == data.vocabularies.source.words


def test_the_same_text_gives_the_same_bytes_in_any_number_of_processes(text: Path, tmp_path: Path) -> None:
    for name, processes, config in [
        ("one", 1, CONFIG),
        ("two", 2, CONFIG),
        ("seed", 1, DataConfig(**{**vars(CONFIG), "seed": 2})),
    ]:
        prepare([text / "train.en"], [text / "train.fr"], tmp_path / name, config, processes=processes)
    one, two, other_seed = (snapshot(tmp_path / name) for name in ("one", "two", "seed"))
    assert one == two
    assert one["source.vocab"] == other_seed["source.vocab"]
    assert one["train.arrow"] != other_seed["train.arrow"]


@pytest.mark.slow
def test_many_files_are_one_corpus(text: Path, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        lines = (text / f"train.{language}").read_text().splitlines(keepends=True)
        (tmp_path / f"1.{language}").write_text("".join(lines[:777]))
        (tmp_path / f"2.{language}").write_text("".join(lines[777:]))
    sources, targets = ([tmp_path / f"{n}.{language}" for n in (1, 2)] for language in ("en", "fr"))
    prepare(sources, targets, tmp_path / "many", CONFIG)
    prepare([text / "train.en"], [text / "train.fr"], tmp_path / "one", CONFIG)
    assert snapshot(tmp_path / "many")["train.arrow"] == snapshot(tmp_path / "one")["train.arrow"]


def pair_of_files(folder: Path, source: str, target: str) -> tuple[list[Path], list[Path]]:
    (folder / "x.en").write_text(source)
    (folder / "x.fr").write_text(target)
    return [folder / "x.en"], [folder / "x.fr"]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\n", "b\nc\n", "x.en has 1 lines but"),
        ("\n \n", "b\nc\n", "no pair is left to train on: of 2 read, 2 have an empty side"),
        ("", "", "no pair is left to train on: of 0 read"),
        ("a " * 13 + "\n", "b\n", "1 have more than 12 words (data.max_length)"),
    ],
)
def test_text_that_will_not_do_leaves_nothing(tmp_path: Path, source: str, target: str, message: str) -> None:
    files = pair_of_files(tmp_path, source, target)
    with pytest.raises(RnnsearchError, match=re.escape(message)):
        prepare(*files, tmp_path / "made" / "here", CONFIG)
    assert not (tmp_path / "made").exists()


def test_a_failure_leaves_an_earlier_preparation_as_it_was(text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    prepare([text / "train.en"], [text / "train.fr"], folder, CONFIG)
    before = snapshot(folder)
    (folder / "note").write_text("mine")
    with pytest.raises(RnnsearchError, match=r"x.en has"):
        prepare(*pair_of_files(tmp_path, "a\n", "b\nc\n"), folder, CONFIG)
    assert snapshot(folder) == {**before, "note": b"mine"}
    prepare(*pair_of_files(tmp_path, "a\n", "b\n"), folder, CONFIG)
    assert len(open_prepared(folder).corpus) == 1


def test_a_folder_that_cannot_be_written_is_told(text: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RnnsearchError, match=r"cannot write to .*file"):
        prepare([text / "train.en"], [text / "train.fr"], tmp_path / "file" / "x", CONFIG)


def test_a_file_name_without_a_language_asks_for_it(text: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes((text / "train.fr").read_bytes())
    with pytest.raises(RnnsearchError, match=r"target .*\(plain\).*--set data.target_language=fr"):
        prepare([text / "train.en"], [plain], tmp_path / "out", CONFIG)
    with pytest.raises(RnnsearchError, match=r"--set data.source_language=en"):
        prepare([plain], [text / "train.fr"], tmp_path / "out", CONFIG)
    with pytest.raises(RnnsearchError, match=r"a table .* --languages en,fr"):
        prepare([plain], [plain], tmp_path / "out", CONFIG)
    with pytest.raises(RnnsearchError, match=r"train.en, train.fr"):
        prepare([text / "train.en", text / "train.fr"], [plain, plain], tmp_path / "out", CONFIG)
    assert not (tmp_path / "out").exists()
    said = DataConfig(target_language="it")
    assert prepare([text / "train.en"], [plain], tmp_path / "out", said).target_language == "it"
    prepare([plain], [text / "train.fr"], tmp_path / "ws", DataConfig(tokenizer="whitespace"))


def test_opening_what_is_not_there_or_does_not_fit_is_told(text: Path, tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match="no prepared data here"):
        open_prepared(tmp_path)
    folder = tmp_path / "data"
    prepare([text / "train.en"], [text / "train.fr"], folder, CONFIG)
    info = (folder / "prepare.json").read_text()
    for damage in ("{", "[]", "{}", '{"data": 1}'):
        (folder / "prepare.json").write_text(damage)
        with pytest.raises(RnnsearchError, match=r"prepare.json: damaged"):
            open_prepared(folder)
    (folder / "prepare.json").write_text(info)
    with (folder / "source.vocab").open("a") as file:
        file.write("more\n")
    with pytest.raises(RnnsearchError, match=r"source\.vocab: damaged"):
        open_prepared(folder)
    (folder / "prepare.json").write_text(json.dumps({**json.loads(info), "crc32": {}}))  # as version 0.1 wrote it
    with pytest.raises(RnnsearchError, match="do not belong together"):
        open_prepared(folder)
    (folder / "source.vocab").unlink()
    with pytest.raises(RnnsearchError, match=r"source.vocab: no such vocabulary file"):
        open_prepared(folder)


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    files = pair_of_files(tmp_path, "a b c, d.\n" * 400_000, "e f’g h.\n" * 400_000)
    folder = tmp_path / "out"
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from rnnsearch.data.prepare import prepare; from rnnsearch.config import DataConfig\n"
        f"prepare([{str(files[0][0])!r}], [{str(files[1][0])!r}], {str(folder)!r}, DataConfig(), processes=2)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not folder.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1].decode()
    assert process.returncode == -signal.SIGINT, stderr
    assert stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert not folder.exists()


def test_neither_text_nor_corpus_loads_torch_or_its_heavy_libraries() -> None:
    code = "import rnnsearch.data, sys; print([m for m in ('torch', 'pyarrow', 'sacremoses') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=os.environ)
    assert run.stdout == b"[]\n"


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords(tmp_path: Path, kind: Literal["bpe", "unigram"], joint: bool) -> None:
    pairs = [(f"le chat{i} noir", f"the black cat{i} !") for i in range(300)]
    sides = tmp_path / "a.fr", tmp_path / "a.en"
    for path, lines in zip(sides, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    config = DataConfig(subwords=kind, subword_pieces=60, joint_subwords=joint, tokenizer="whitespace")
    prepared = prepare([sides[0]], [sides[1]], tmp_path / "data", config)
    found = set()
    for i in range(len(prepared.corpus)):
        source, target = prepared.corpus.pair(i)
        assert UNK not in source
        found.add(
            (
                " ".join(prepared.vocabularies.source.join(source.tolist())[0]),
                " ".join(prepared.vocabularies.target.join(target.tolist())[0]),
            )
        )
    assert found == set(pairs)
    assert prepared.info["source"]["pieces"] > prepared.info["source"]["words"]
    assert prepared.info["source"]["coverage_percent"] == 100.0
    same = (tmp_path / "data" / "source.subwords").read_bytes() == (tmp_path / "data" / "target.subwords").read_bytes()
    assert same == joint
    prepare([sides[0]], [sides[1]], tmp_path / "data", replace(config, subwords="none"))
    assert not (tmp_path / "data" / "source.subwords").exists(), "left over from the preparation before"


@pytest.mark.parametrize("subwords", ["none", "bpe"])
def test_training_text_is_normalised_to_what_it_has_most_often(tmp_path: Path, subwords: Literal["none", "bpe"]) -> None:
    english = ["It’s “a” – b.", 'It\'s "c" - d ﬁrst.', 'It\'s "first" - e.', "café?", "cafe\u0301!"] * 30
    french = ["C’est «\xa0a\xa0» – b.", 'C\'est "c" - d.', "C’est «\xa0première\xa0» – e.", "café ?", "cafe\u0301 !"] * 30
    config = replace(CONFIG, source_words=1000, subwords=subwords, subword_pieces=60, joint_subwords=False)
    config = replace(config, remove_duplicates=False)
    text = pair_of_files(tmp_path, "\n".join([*english, ""]), "\n".join([*french, ""]))
    data = prepare(*text, tmp_path / "data", config)
    letters = ["".join(vocabulary.words[2:]) for vocabulary in data.vocabularies]
    assert not set("’“”–ﬁ\u0301") & set(letters[0])
    assert not set("'\u0301") & set(letters[1]), "what its target has most often, a model writes"
    assert set('’«»–"') <= set(letters[1])
    for number in range(len(data.corpus)):
        assert all(UNK not in ids for ids in data.corpus.pair(number))
    assert data.vocabularies.source.encode(["It", "’s"]) == data.vocabularies.source.encode(["It", "'s"])
    assert data.vocabularies.target.encode(["C'", "est"]) == data.vocabularies.target.encode(["C’", "est"])
    as_written = prepare(*text, tmp_path / "paper", replace(config, normalize_words=False))
    assert set("’“”–ﬁ\u0301") <= set("".join(as_written.vocabularies.source.words))
    assert open_prepared(tmp_path / "paper").vocabularies.source.encode(["ʼ"])[-1] == UNK


@pytest.mark.parametrize("odd", ["▅", "<unk>", "a\x00b"])
def test_what_no_piece_can_spell_is_unknown(tmp_path: Path, odd: str) -> None:
    """Symbols that sentencepiece keeps for itself; the rest of the text is none the worse."""
    sides = tmp_path / "a.fr", tmp_path / "a.en"
    for path in sides:
        path.write_text("".join(f"le chat{i} noir\n" for i in range(100)) + f"un {odd} chat\n", encoding="utf-8")
    config = DataConfig(subwords="bpe", subword_pieces=60, tokenizer="whitespace")
    prepared = prepare([sides[0]], [sides[1]], tmp_path / "data", config)
    assert len(prepared.corpus) == 101
    unknown = [i for i in range(101) if UNK in prepared.corpus.pair(i)[0]]
    assert len(unknown) <= 1
    assert prepared.info["source"]["coverage_percent"] > 99


def test_a_file_name_that_is_no_text(text: Path, tmp_path: Path) -> None:
    sides = []
    for side in ("en", "fr"):
        path = tmp_path / os.fsdecode(b"tr\xe9." + side.encode())
        path.write_bytes((text / f"train.{side}").read_bytes())
        sides.append(path)
    prepared = prepare([sides[0]], [sides[1]], tmp_path / "data", CONFIG)
    assert prepared.info["source_files"][0]["name"] == "tr\\xe9.en"
    assert prepared.is_of([sides[0]], [sides[1]])


@pytest.mark.slow
def test_links_go_with_their_pairs(text: Path, tmp_path: Path) -> None:
    """Word i of these pairs is the translation of word i: so it must be after cleaning and shuffling, too."""
    links = tmp_path / "train.links"
    lengths = [len(line.removesuffix(".").split()) + 1 for line in (text / "train.en").read_text().splitlines()]
    links.write_text("".join(" ".join(f"{i}-{i}" for i in range(n)) + "\n" for n in lengths))
    data = prepare([text / "train.en"], [text / "train.fr"], tmp_path / "data", CONFIG, links=[links])
    assert data.links is not None
    assert len(data.links) == len(data.corpus)
    for number in range(0, len(data.corpus), 7):
        sources, targets = data.links.pair(number)
        assert sources.tolist() == targets.tolist() == list(range(len(data.corpus.pair(number)[0])))
    assert data.info["links"] == int(data.corpus.lengths()[0].sum())
    assert data.is_of([text / "train.en"], [text / "train.fr"], [links])
    assert not data.is_of([text / "train.en"], [text / "train.fr"])
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "links.arrow", "prepare.json", "source.vocab", "target.vocab", "train.arrow"
    ]  # fmt: skip
    again = prepare([text / "train.en"], [text / "train.fr"], tmp_path / "data", CONFIG)
    assert again.links is None
    assert not (tmp_path / "data" / "links.arrow").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0-0", "0-1"], r"train.links:2: a link 0-1, but the tokenised pair has 2 and 1 words"),
        (["0-0"], r"train.links: only 1 lines of links for 2 pairs of text"),
        (["0-0", "0-0", "0-0"], r"train.links:3: a line of links too many: the text has 2 pairs"),
        (["0-0", "zero"], r"train.links:2: 'zero' is not an alignment link"),
    ],
)
def test_links_that_do_not_fit_are_told(tmp_path: Path, lines: list[str], message: str) -> None:
    sources, targets = pair_of_files(tmp_path, "one two\nthree four\n", "un\ntrois\n")
    links = tmp_path / "train.links"
    links.write_text("\n".join(lines) + "\n")
    with pytest.raises(RnnsearchError, match=message):
        prepare(sources, targets, tmp_path / "data", DataConfig(tokenizer="whitespace"), links=[links])
    assert not (tmp_path / "data").exists()


def test_every_byte_that_changes_is_found(text: Path, tmp_path: Path) -> None:
    """In any file, and at any place, before anything is made of it."""
    folder, chance = tmp_path / "data", random.Random(3)
    few = [tmp_path / name for name in ("few.en", "few.fr")]
    for path, whole in zip(few, ("train.en", "train.fr"), strict=True):
        path.write_text("".join((text / whole).read_text().splitlines(keepends=True)[:300]))
    prepare([few[0]], [few[1]], folder, CONFIG, hold_out=3)
    names = [path.name for path in folder.iterdir() if path.name != "prepare.json"]
    assert len(names) == 5
    for name in names * 30:
        whole = (folder / name).read_bytes()
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= chance.randrange(1, 256)
        (folder / name).write_bytes(damaged)
        with pytest.raises(RnnsearchError, match="damaged"):
            open_prepared(folder)
        (folder / name).write_bytes(whole)
    info = json.loads((folder / "prepare.json").read_text())
    del info["crc32"]
    (folder / "prepare.json").write_text(json.dumps(info))  # as version 0.1 wrote it
    assert open_prepared(folder).has_info({**info, "crc32": {"train.arrow": "0"}})


def test_links_are_learned_from_the_pairs_that_are_kept(tmp_path: Path) -> None:
    """By letters: each has a phone, so that most links are known."""
    table = write_table(tmp_path / "table.tsv", [*spelt_words(300, 1), ("", "x")])
    config = DataConfig(source_units="characters", target_units="symbols", learn_links=True)
    prepared = prepare([table], [table], tmp_path / "out", config, aligner=learned_links)
    assert prepared.links is not None
    assert prepared.info["cleaning"]["empty"] == 1
    letters = {phone: spelling for spelling, phone in PHONES.items()}
    right = found = 0
    for number in range(len(prepared.corpus)):
        source, target = (
            vocabulary.decode(ids)
            for vocabulary, ids in zip(prepared.vocabularies, prepared.corpus.pair(number), strict=True)
        )
        for s, t in zip(*prepared.links.pair(number), strict=True):
            found += 1
            right += source[s] in letters[target[t]]
    assert found > 600
    assert right / found > 0.9
    without = DataConfig(source_units="characters", target_units="symbols")
    assert prepare([table], [table], tmp_path / "none", without, aligner=learned_links).links is None
