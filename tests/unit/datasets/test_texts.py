"""From a data set on a server to plain parallel files, and the data sets themselves."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from rnnsearch.datasets import (
    DATASETS,
    Archive,
    Dataset,
    Dictionary,
    LinkedSentences,
    ParallelText,
    Text,
    download,
    wikipron,
)
from rnnsearch.errors import RnnsearchError
from serving import Server


def tgz(**files: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"training/{name.replace('_', '.')}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture
def dataset(server: Server) -> Dataset:
    """Two texts in one archive, and one in two compressed files."""
    server.files["train.tgz"] = tgz(a_en="one\ntwo\n", a_fr="un\ndeux\n", b_en="three\n", b_fr="trois\n")
    server.files["val.en.gz"], server.files["val.fr.gz"] = gzip.compress(b"four"), gzip.compress(b"quatre")
    both = Archive(f"{server.url}/train.tgz", "md5:" + hashlib.md5(server.files["train.tgz"]).hexdigest())
    captions = [Text(Archive(f"{server.url}/val.{language}.gz")) for language in ("en", "fr")]
    return Dataset(
        name="toy",
        title="Toys",
        licence="free",
        languages=("en", "fr"),
        texts=(
            ParallelText("a", Text(both, "a.en"), Text(both, "a.fr")),
            ParallelText("b", Text(both, "b.en"), Text(both, "b.fr")),
            ParallelText("val", *captions),
        ),
    )


def test_everything_is_written_once(server: Server, dataset: Dataset, tmp_path: Path) -> None:
    steps: list[str] = []
    found = download(dataset, tmp_path, lambda what, done, total: steps.append(what))
    assert found.fetched
    assert found.texts == {"a": 2, "b": 1, "val": 1}
    assert (tmp_path / "a.fr").read_text() == "un\ndeux\n"
    assert (tmp_path / "b.en").read_text() == "three\n"
    assert (tmp_path / "val.fr").read_text() == "quatre"
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["licence"] == "free"
    assert [text["pairs"] for text in manifest["texts"]] == [2, 1, 1]
    assert manifest["archives"][0] == {
        "url": f"{server.url}/train.tgz", "sha256": hashlib.sha256(server.files["train.tgz"]).hexdigest()
    }  # fmt: skip
    assert {"train.tgz", "unpacking train.tgz", "val.en.gz"} <= set(steps)
    assert [name for name, _ in server.asked] == ["train.tgz", "val.en.gz", "val.fr.gz"]

    again = download(dataset, tmp_path)
    assert not again.fetched
    assert again.texts == found.texts
    (tmp_path / "a.fr").write_text("cut")
    assert download(dataset, tmp_path).fetched
    assert (tmp_path / "a.fr").read_text() == "un\ndeux\n"
    assert len(server.asked) == 3  # the archives were there


def test_lines_that_are_not_utf8_are_counted_and_emptied(server: Server, dataset: Dataset, tmp_path: Path) -> None:
    """As one byte of a download of gigabytes may be: the line is empty, so that training leaves the pair out."""
    server.files["val.en.gz"] = gzip.compress(b"four\r\n" + b"caf\xe9\nfive\n")
    server.files["val.fr.gz"] = gzip.compress("quatre\ncafé\ncinq\n".encode())
    found = download(dataset, tmp_path)
    assert found.left_out == {"val.en": 1}
    assert found.texts["val"] == 3
    assert (tmp_path / "val.en").read_bytes() == b"four\r\n\nfive\n"
    again = download(dataset, tmp_path)
    assert not again.fetched
    assert again.left_out == {"val.en": 1}


def test_too_many_lines_that_are_not_utf8_are_refused(server: Server, dataset: Dataset, tmp_path: Path) -> None:
    latin = "".join(f"café {number}\n" for number in range(1500)).encode("latin-1")
    server.files["val.en.gz"] = gzip.compress(latin)
    with pytest.raises(RnnsearchError, match=r"1,500 of the 1,500 lines of .* the first of them line 1;") as refused:
        download(dataset, tmp_path)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "val.en").exists()


def test_another_data_set_is_not_overwritten(dataset: Dataset, tmp_path: Path) -> None:
    download(dataset, tmp_path)
    other = Dataset("other", "Other", "free", ("en", "fr"), dataset.texts)
    with pytest.raises(RnnsearchError, match="holds toy already"):
        download(other, tmp_path)


def test_an_archive_that_is_no_use_is_deleted(server: Server, dataset: Dataset, tmp_path: Path) -> None:
    good = server.files["val.fr.gz"]
    server.files["val.fr.gz"] = good[:-5]
    with pytest.raises(RnnsearchError, match=r"val.fr.gz: damaged or cut short .*deleted") as refused:
        download(dataset, tmp_path)
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in (tmp_path / "archives").iterdir()) == ["checksums", "train.tgz", "val.en.gz"]
    assert not (tmp_path / "val.fr").exists()
    assert not (tmp_path / "manifest.json").exists()
    server.files["val.fr.gz"] = good
    assert download(dataset, tmp_path).texts["val"] == 1


def test_sides_that_do_not_fit_are_told(server: Server, dataset: Dataset, tmp_path: Path) -> None:
    server.files["val.fr.gz"] = gzip.compress(b"quatre\ncinq\n")
    with pytest.raises(RnnsearchError, match=r"val.en has 1 lines but .*val.fr has 2"):
        download(dataset, tmp_path)
    assert not (tmp_path / "manifest.json").exists()


@pytest.fixture
def linked(server: Server) -> Dataset:
    tables = {
        "eng.tsv.bz2": "7\teng\tHello.\n3\teng\t Good  day. \n9\teng\tAlone.\n",
        "fra.tsv.bz2": "20\tfra\tSalut.\n5\tfra\tBonjour.\n",
        "links.tsv.bz2": "7\t20\n3\t5\n7\t5\n3\t99\n7\t20\n",
    }
    server.files.update({name: bz2.compress(table.encode()) for name, table in tables.items()})
    archives = (Archive(f"{server.url}/{name}", changing=True) for name in tables)
    return Dataset("tatoeba", "Sentences", "CC-BY", ("en", "fr"), (LinkedSentences("tatoeba", *archives),))


def test_linked_sentences_are_joined(linked: Dataset, tmp_path: Path) -> None:
    """In the order of their numbers; a link to a sentence that is gone is passed over."""
    assert download(linked, tmp_path).texts == {"tatoeba": 3}
    assert (tmp_path / "tatoeba.en").read_text() == "Good day.\nHello.\nHello.\n"
    assert (tmp_path / "tatoeba.fr").read_text() == "Bonjour.\nBonjour.\nSalut.\n"
    assert {path.name for path in tmp_path.iterdir()} == {"archives", "manifest.json", "tatoeba.en", "tatoeba.fr"}


@pytest.mark.parametrize(
    ("name", "table", "told"),
    [("links.tsv.bz2", "7\n", "line 1 has 1 columns"), ("fra.tsv.bz2", "x\tfra\tSalut.\n", "'x' where the number")],
)
def test_tables_that_are_none_are_told(
    server: Server, linked: Dataset, tmp_path: Path, name: str, table: str, told: str
) -> None:
    server.files[name] = bz2.compress(table.encode())
    with pytest.raises(RnnsearchError, match=f"{name}: {told}.*deleted"):
        download(linked, tmp_path)
    assert not (tmp_path / "archives" / name).exists()


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_the_data_sets_are_well_described(dataset: Dataset) -> None:
    names = [text.name for text in dataset.texts]
    assert len(set(names)) == len(names)
    for archive in dataset.archives:
        assert archive.url.startswith("https://")
        if archive.changing:
            assert archive.checksum is None
        else:
            assert re.fullmatch("sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", archive.checksum or "")
    assert len({archive.name for archive in dataset.archives}) == len(dataset.archives)


def test_multi30k_is_what_its_checksums_say(shared_data: Path) -> None:
    for archive in DATASETS["multi30k"].archives:
        path = shared_data / "multi30k" / archive.name
        if path.exists():
            kind, _, digest = (archive.checksum or "").partition(":")
            assert hashlib.new(kind, path.read_bytes()).hexdigest() == digest


def test_a_dictionary_is_a_table_of_first_pronunciations(server: Server, tmp_path: Path) -> None:
    server.files["cmudict.dict"] = b"'bout B AW1 T\na AH0\na(2) EY1\naalborg AO1 L B AO0 R G # place, danish\n"
    server.files["fra_latn_broad.tsv"] = "abaque\ta b a k\nabaque\ta b ɑ k\nà\ta\n".encode()
    for name, comments, expected in (
        ("cmudict.dict", "#", "'bout\tB AW1 T\na\tAH0\naalborg\tAO1 L B AO0 R G\n"),
        ("fra_latn_broad.tsv", None, "abaque\ta b a k\nà\ta\n"),
    ):
        dictionary = Dictionary("words", Archive(f"{server.url}/{name}", changing=True), comments)
        folder = tmp_path / name
        found = download(Dataset("toy", "Toys", "free", ("en", "en"), (dictionary,)), folder)
        assert (folder / "words.tsv").read_text() == expected
        assert found.texts == {"words": expected.count("\n")}
        assert not download(Dataset("toy", "Toys", "free", ("en", "en"), (dictionary,)), folder).fetched


def test_a_dictionary_without_phones_is_damaged(server: Server, tmp_path: Path) -> None:
    server.files["words.tsv"] = b"one\tw ah n\n<html>\n"
    dictionary = Dictionary("words", Archive(f"{server.url}/words.tsv", changing=True))
    with pytest.raises(RnnsearchError, match=r"line 2 is not a word and its phones: '<html>'"):
        download(Dataset("toy", "Toys", "free", ("en", "en"), (dictionary,)), tmp_path)
    assert not (tmp_path / "words.tsv").exists()


def test_a_language_of_wikipron_is_the_name_of_its_file() -> None:
    dataset = wikipron("eng_latn_us_broad_filtered")
    assert dataset.archives[0].url.endswith("/wikipron/master/data/scrape/tsv/eng_latn_us_broad_filtered.tsv")
    for name in ("fra", "../fra_latn_broad", "fra_latn_broad.tsv"):
        with pytest.raises(RnnsearchError, match="give the name of a dictionary"):
            wikipron(name)
