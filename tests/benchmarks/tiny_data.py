"""A folder of texts as the benchmarks read them, of a few sentences of the built-in corpus each."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import rnnsearch
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.formats.tmx import Tmx

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "model": {"embedding_size": 8, "hidden_size": 8, "alignment_size": 8, "maxout_size": 8},
    "training": {"max_updates": 4, "validate_every": 2, "validate_sentences": 4, "batch_size": 8},
}
NOVELS = ("LaBarbeBleue_BlueBeard", "LAuberge_TheInn")
WORDS = [f"{first}{second}{third}" for first in "bdgklmn" for second in "aeiou" for third in "prst"]


def write_data(folder: Path) -> Path:
    """All texts."""
    corpus = folder / "corpus"
    write_corpus(corpus, train=4400, valid=40, test=40)
    english, french = ((corpus / f"train.{language}").read_text(encoding="utf-8").splitlines() for language in ("en", "fr"))
    places = iter(range(0, len(english), 20))

    def write(name: str, ending: str, lines: int, languages: Sequence[str] = ("en", "fr")) -> None:
        pack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".xz": lzma.compress, "": bytes}
        start = next(places)
        for _ in range(lines // 20):
            next(places, None)
        for language in languages:
            text = (english if language == "en" else french)[start : start + lines]
            path = folder / f"{name}.{language}{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pack[ending]("".join(f"{line}\n" for line in text).encode()))

    write("europarl/europarl-part0", ".xz", 2200)
    write("europarl/europarl-part1", ".xz", 200)
    for name, lines in {"train": 400, "val": 10, "test_2016_flickr": 10}.items():
        write(f"multi30k/{name}", ".gz", lines, ("en", "fr", "de"))
    for name, lines in {"news2008-2011": 100, "newstest2012": 10, "newstest2013": 10}.items():
        write(f"wmt/{name}", ".gz", lines)
    write("wmt/newstest2014", ".gz", 10, ("en",))
    write("hansards/train", ".xz", 100)
    write("blind/hansards", "", 10)
    write("blind/multi30k/test_2017", "", 10, ("en",))
    for name in ("dialogue", "pud"):
        write(f"blind/{name}", "", 2)
    write("blind/newsdiscusstest2015", "", 10, ("en",))
    for part in ("train", "test"):
        write(f"box/text/tatoeba-{part}", "", 20)
    for language in ("nl", "pt", "es", "it", "ru"):
        for name, lines in {"test": 5, "dev": 5}.items():
            write(f"align/{language}/{name}", "", lines, (language, "en"))
        write(f"align/{language}/train", ".xz", 60, (language, "en"))
        (folder / "align" / language / "dev.gold").write_text("0-0 1-1\n" * 5, encoding="utf-8")
    _write_marked(folder, english[:60], french[:60])
    _write_novels(corpus, folder / "alibi")
    _write_words(folder)
    return folder


def write_model(data: Path, folder: Path) -> Path:
    """A model of whole words, English to French."""
    corpus = data / "corpus"
    rnnsearch.train(
        folder,
        rnnsearch.from_preset("demo", SETTINGS),
        sources=[corpus / "train.en"],
        targets=[corpus / "train.fr"],
        valid_source=corpus / "valid.en",
        valid_target=corpus / "valid.fr",
    )
    return folder


def write_reproduction(folder: Path) -> None:
    """The results of a `rnnsearch reproduce`, as they are recorded."""
    record = json.loads((ROOT / "benchmarks/results/quality/reproduction-builtin.json").read_text(encoding="utf-8"))
    (folder / "figures").mkdir(parents=True)
    results = {**record, "scale": "builtin", "commands": [record["command"]]}
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    shutil.copy(ROOT / "docs/images/figure-2-builtin.png", folder / "figures" / "figure-2.png")


def _write_marked(folder: Path, english: Sequence[str], french: Sequence[str]) -> None:
    """The texts of `quality/tags`: paragraphs with the marks of reStructuredText, and localisation files with tags."""
    for language, lines in {"en": english, "fr": french}.items():
        text = "".join(f"*{line.split()[0]}* {' '.join(line.split()[1:])}\n" for line in lines)
        path = folder / "pydocs" / f"pydocs.{language}.xz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.compress(text.encode()))
    files = folder / "files"
    files.mkdir()
    sides = [[f"<b>{line.split()[0]}</b> {' '.join(line.split()[1:])}" for line in lines[:4]] for lines in (english, french)]
    pairs = list(zip(*sides, strict=True))
    for name in ("omegat-en-fr-level2", "omegat-en-fr-tmx11"):
        tmx = Tmx()
        units = (tmx.unit({"en": source, "fr": target}) for source, target in pairs)
        (files / f"{name}.tmx").write_text(f"{tmx.beginning('en')}{''.join(units)}{tmx.end()}", encoding="utf-8")
    (files / "magento-fr_FR.csv").write_text("".join(f'"{one}","{other}"\n' for one, other in pairs), encoding="utf-8")
    messages = "\n".join(f'msgid "{one}"\nmsgstr "{other}"\n' for one, other in pairs)
    (files / "gnome-calculator-help-fr.po").write_text(f'msgid ""\nmsgstr ""\n\n{messages}', encoding="utf-8")
    for language, side in zip(("en", "fr"), sides, strict=True):
        text = "".join(f"k{number} = {line}\n" for number, line in enumerate(side))
        (files / f"mozilla-{language}.ftl").write_text(text, encoding="utf-8")


def _write_novels(corpus: Path, folder: Path) -> None:
    sides = [(corpus / f"test.{ending}").read_text(encoding="utf-8").splitlines() for ending in ("fr", "en", "gold")]
    for number, place in enumerate(NOVELS):
        rows = range(20 * number, 20 * (number + 1))
        names = [*(f"{name}_sents.txt" for name in place.split("_")), f"ali_w2w_{place}.txt"]
        (folder / place).mkdir(parents=True)
        for name, lines in zip(names, sides, strict=True):
            text = "".join(f"{n}\t{_turned(lines[n]) if name.startswith('ali') else lines[n]}\n" for n in rows)
            (folder / place / name).write_text(text, encoding="utf-8")


def _turned(links: str) -> str:
    """Links of French and English from those of English and French."""
    turned = []
    for link in links.split():
        kind = "p" if "p" in link else "-"
        turned.append(kind.join(reversed(link.split(kind))))
    return " ".join(turned)


def _write_words(folder: Path) -> None:
    pairs = [(word, " ".join(word)) for word in WORDS]
    tables = {"train": pairs[:100], "dev": pairs[100:120]}
    for level, languages in {"low": ("khm", "lav", "slv"), "medium": ("fre",)}.items():
        for language in languages:
            for part, chosen in tables.items():
                _write_table(folder / "g2p" / level / f"{language}_{part}.tsv", chosen)
            blind = folder / "blind" / "g2p" / f"{level}-{language}_test.gr"
            blind.parent.mkdir(parents=True, exist_ok=True)
            blind.write_text("".join(f"{word}\n" for word, _ in pairs[120:130]), encoding="utf-8")
    _write_table(folder / "cmudict.tsv", pairs)


def _write_table(path: Path, pairs: Sequence[tuple[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{word}\t{phones}\n" for word, phones in pairs), encoding="utf-8")
