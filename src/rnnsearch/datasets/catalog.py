"""The catalogue of data sets: their names, the addresses of their archives, and the files to extract.

The checksums were published by others for the same addresses: TensorFlow Datasets (SHA-256 of Europarl, Common Crawl and
News Commentary), Sockeye (MD5 of the UN corpus, 10⁹ and the development sets), sacreBLEU (MD5 of the test sets) and
torchtext (MD5 of Multi30k; a SHA-256 here is that of a file with the published MD5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rnnsearch.errors import RnnsearchError


@dataclass(frozen=True)
class Archive:
    """A file on a server."""

    url: str
    checksum: str | None = None
    """`sha256:` or `md5:`, followed by the digest in hexadecimal; None if it is not known beforehand."""
    size: int | None = None
    """The size in bytes; None if it is not known beforehand."""
    changing: bool = False
    """Whether the server replaces the file from time to time, so that its checksum changes."""

    @property
    def name(self) -> str:
        """The file's name, the last part of its address."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class Text:
    """One side of a parallel text: a file of an archive, or the whole of a compressed file."""

    archive: Archive
    member: str | None = None
    """The name of the file without folders. Files `.gz` are decompressed, and files `.sgm` are converted to text."""


@dataclass(frozen=True)
class ParallelText:
    """Two text files; line n of one is the translation of line n of the other."""

    name: str
    """The name of the extracted files, without the language code."""
    source: Text
    target: Text

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives to download."""
        return (self.source.archive, self.target.archive)


@dataclass(frozen=True)
class LinkedSentences:
    """Tables of sentences in two languages (`number TAB language TAB sentence`), and of links (`number TAB number`)."""

    name: str
    source: Archive
    target: Archive
    links: Archive

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives to download."""
        return (self.source, self.target, self.links)


@dataclass(frozen=True)
class BuiltinText:
    """A part of the built-in corpus, which is in the package and has gold word alignments, in `NAME.gold`."""

    name: str

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives to download: none."""
        return ()


@dataclass(frozen=True)
class Dictionary:
    """A pronunciation dictionary. The first pronunciation of each word is written to a table: word, tab, phones."""

    name: str
    archive: Archive
    comments: str | None = None
    """The character that begins a comment, in files in the format of CMUdict: a space separates a word from its phones, and
    further pronunciations of `word` are entries `word(2)` and so on. None for files with a tab between word and phones."""

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives to download: one file."""
        return (self.archive,)


AnyText = ParallelText | LinkedSentences | BuiltinText | Dictionary


@dataclass(frozen=True)
class Dataset:
    """A data set: parallel texts that belong together."""

    name: str
    title: str
    licence: str
    """The licence terms, in one sentence."""
    languages: tuple[str, str]
    """The codes of the source and the target language, which are the endings of the extracted files."""
    texts: tuple[AnyText, ...]

    @property
    def archives(self) -> tuple[Archive, ...]:
        """The archives to download, each of them once."""
        return tuple(dict.fromkeys(archive for text in self.texts for archive in text.archives))

    def files(self, text: AnyText) -> tuple[str, ...]:
        """Return the names of the extracted files of one of the texts; the source and the target come first."""
        if isinstance(text, Dictionary):
            return (f"{text.name}.tsv",)
        endings = (*self.languages, "gold") if isinstance(text, BuiltinText) else self.languages
        return tuple(f"{text.name}.{ending}" for ending in endings)


def _members(name: str, archive: Archive, source: str, target: str) -> ParallelText:
    return ParallelText(name, Text(archive, source), Text(archive, target))


# WMT 2014 -------------------------------------------------------------------------------------------------------------

_STATMT = "https://www.statmt.org"
_EUROPARL = Archive(
    f"{_STATMT}/wmt13/training-parallel-europarl-v7.tgz",
    "sha256:0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
    657_632_379,
)
_COMMON_CRAWL = Archive(
    f"{_STATMT}/wmt13/training-parallel-commoncrawl.tgz",
    "sha256:c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
    918_311_367,
)
_UN = Archive(f"{_STATMT}/wmt13/training-parallel-un.tgz", "md5:bb25a213ba9140023e4cc82c778bef53")
_NEWS_COMMENTARY = Archive(
    f"{_STATMT}/wmt14/training-parallel-nc-v9.tgz",
    "sha256:cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
    80_418_416,
)
_GIGA = Archive(f"{_STATMT}/wmt10/training-giga-fren.tar", "md5:0b12e20027d5b5f0dfcca290c72c8953")
_DEVELOPMENT = Archive(f"{_STATMT}/wmt14/dev.tgz", "md5:88ba3fc60b2278d59277122e1c7dd6e7")
_TEST = Archive(f"{_STATMT}/wmt14/test-full.tgz", "md5:a8cd784e006feb32ac6f3d9ec7eb389a")

WMT14 = Dataset(
    name="wmt14-enfr",
    title="WMT 2014 English–French: what the paper is trained, tuned and tested on (its section 4.1)",
    licence="free for research, see https://www.statmt.org/wmt14/translation-task.html; Europarl: reuse with attribution "
    "(Koehn 2005)",
    languages=("en", "fr"),
    texts=(
        _members("europarl-v7", _EUROPARL, "europarl-v7.fr-en.en", "europarl-v7.fr-en.fr"),
        _members("news-commentary-v9", _NEWS_COMMENTARY, "news-commentary-v9.fr-en.en", "news-commentary-v9.fr-en.fr"),
        _members("commoncrawl", _COMMON_CRAWL, "commoncrawl.fr-en.en", "commoncrawl.fr-en.fr"),
        _members("undoc.2000", _UN, "undoc.2000.fr-en.en", "undoc.2000.fr-en.fr"),
        _members("giga-fren", _GIGA, "giga-fren.release2.fixed.en.gz", "giga-fren.release2.fixed.fr.gz"),
        _members("newstest2012", _DEVELOPMENT, "newstest2012.en", "newstest2012.fr"),
        _members("newstest2013", _DEVELOPMENT, "newstest2013.en", "newstest2013.fr"),
        _members("newstest2014", _TEST, "newstest2014-fren-src.en.sgm", "newstest2014-fren-ref.fr.sgm"),
    ),
)

# Multi30k -------------------------------------------------------------------------------------------------------------

_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"


def _captions(name: str, source: str, target: str) -> ParallelText:
    archives = Archive(f"{_MULTI30K}/{name}.en.gz", source), Archive(f"{_MULTI30K}/{name}.fr.gz", target)
    return ParallelText(name, *map(Text, archives))


MULTI30K = Dataset(
    name="multi30k",
    title="Multi30k English–French: captions of 31,000 images",
    licence="research and education, non-commercial; see https://github.com/multi30k/dataset (Elliott et al. 2016, 2017)",
    languages=("en", "fr"),
    texts=(
        _captions(
            "train",
            "sha256:d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
            "sha256:622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
        ),
        _captions(
            "val",
            "sha256:14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
            "sha256:ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
        ),
        _captions(
            "test_2016_flickr",
            "sha256:611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
            "sha256:6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
        ),
        _captions("test_2017_flickr", "md5:005396bac545d880abe6f00bbb7dbbb4", "md5:cb09af7d2b501f9112f2d6a59fa1360d"),
        _captions("test_2017_mscoco", "md5:a7b684e0edbef1d4a23660c8e8e743fd", "md5:4995d10954a804d3cdfd907b9fd093e8"),
    ),
)

# Tatoeba --------------------------------------------------------------------------------------------------------------

_TATOEBA = "https://downloads.tatoeba.org/exports/per_language"

TATOEBA = Dataset(
    name="tatoeba",
    title="Tatoeba English–French: everyday sentences by volunteers",
    licence="CC-BY 2.0 FR, attribute to https://tatoeba.org and its contributors",
    languages=("en", "fr"),
    texts=(
        LinkedSentences(
            "tatoeba",
            Archive(f"{_TATOEBA}/eng/eng_sentences.tsv.bz2", changing=True),
            Archive(f"{_TATOEBA}/fra/fra_sentences.tsv.bz2", changing=True),
            Archive(f"{_TATOEBA}/eng/eng-fra_links.tsv.bz2", changing=True),
        ),
    ),
)

# Built in -------------------------------------------------------------------------------------------------------------

BUILTIN = Dataset(
    name="builtin",
    title="The built-in corpus: generated English–French sentences with gold word alignments",
    licence="MIT, as rnnsearch itself",
    languages=("en", "fr"),
    texts=(BuiltinText("train"), BuiltinText("valid"), BuiltinText("test")),
)

# Pronunciations --------------------------------------------------------------------------------------------------------

CMUDICT = Dataset(
    name="cmudict",
    title="The CMU Pronouncing Dictionary: 126,000 words of North American English, in ARPAbet",
    licence="free for any use with its copyright notice (BSD); see https://github.com/cmusphinx/cmudict",
    languages=("en", "en"),
    texts=(
        Dictionary(
            "cmudict",
            Archive("https://raw.githubusercontent.com/cmusphinx/cmudict/master/cmudict.dict", changing=True),
            comments="#",
        ),
    ),
)

_WIKIPRON = "https://raw.githubusercontent.com/CUNY-CL/wikipron/master/data/scrape/tsv"


def wikipron(language: str) -> Dataset:
    """Return the WikiPron data set of a language: words of Wiktionary with their pronunciations in IPA.

    `language` is the name of a dictionary of WikiPron, such as `fra_latn_broad`. Raises RnnsearchError for a name in another
    format.
    """
    if not re.fullmatch("[a-z]{3}(_[a-z]+)+_(broad|narrow)(_filtered)?", language):
        raise RnnsearchError(
            f"wikipron {language}: give the name of a dictionary, as in wikipron fra_latn_broad; "
            "https://github.com/CUNY-CL/wikipron/tree/master/data/scrape/tsv lists them"
        )
    return Dataset(
        name=f"wikipron-{language}",
        title=f"WikiPron {language}: words and pronunciations of Wiktionary (Lee et al. 2020)",
        licence="CC BY-SA 3.0, attribute to https://en.wiktionary.org and its contributors",
        languages=(language[:3], language[:3]),
        texts=(Dictionary(language, Archive(f"{_WIKIPRON}/{language}.tsv", changing=True)),),
    )


DATASETS = {dataset.name: dataset for dataset in (BUILTIN, MULTI30K, TATOEBA, WMT14, CMUDICT)}
