"""Are tags at the same words as in the references, and are given terms in the translations, by the installed translators?

The segments are the tagged ones of localisation files (`files/`: the help of GNOME Calculator as PO, memories of OmegaT as
TMX, Magento as CSV, Mozilla as Fluent) whose tags are the same on both sides, filled up with paragraphs of the Python
documentation (`pydocs/`), whose inline markup is written as HTML: `<code>`, `<em>`, `<strong>`, `<a>`. Each has one sentence
of 4 to 40 words. Tags are placed in two texts:

- in the *reference* itself, without its tags: the model links its words to the source, and a tag is right if it is between
  the same characters as in the reference, white space not counted. So only the placement counts;
- in the *translation*: a tag is right if the word before it or the word after it is the same as in the reference. Only tags
  are counted of which one of these words is in the translation.

Terms are drawn from the references as `terms.py` does it, but not from code. A term is right if its words are in the
translation.
"""

from __future__ import annotations

import html
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_result
from benchmarks.quality.terms import drawn, has, translate
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchWarning
from rnnsearch.evaluation.segments import places_of_tags
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation import Translation, Translator, load
from rnnsearch.translation.markup import Markup, Tagged

FILES = (
    ("gnome-calculator-help-fr.po",) * 2,
    ("omegat-en-fr-level2.tmx",) * 2,
    ("omegat-en-fr-tmx11.tmx",) * 2,
    ("magento-fr_FR.csv",) * 2,
    ("mozilla-en.ftl", "mozilla-fr.ftl"),
)
WORDS = range(4, 41)
MARKS = re.compile(
    r"``(?P<code>[^`<>]+)``"
    r"|:[a-z:]+:`(?P<link>[^`<>]+?) ?<(?P<where>[^`<>]+)>`"
    r"|:[a-z:]+:`[!~]?(?P<role>[^`<> ]+)`"
    r"|(?<![\w*])\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"
    r"|`(?P<text>[^`<>]+?) ?<(?P<address>[^`<>]+)>`_{1,2}"
)
"""The inline markup of reStructuredText."""
TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][\w.:-]*)[^<>]*?(?P<alone>/?)>")
ALONE = ("br", "img")


class Segment(NamedTuple):
    """A segment with tags, and its reference."""

    corpus: str
    source: str
    reference: str

    def turned(self) -> Segment:
        """The segment of the opposite direction."""
        return Segment(self.corpus, self.reference, self.source)

    def markup(self, language: str) -> Markup | Tagged:
        """Its sentences, as the program reads documents of this kind."""
        if self.corpus == "pydocs":
            return Markup(self.source, language)
        return Tagged(self.source, language)


def main() -> None:
    """Choose the segments, place their tags in the references and in translations, record."""
    parser = Parser(__doc__, "data", segments=sized(500, 10), seed=1)
    parser.add_argument("--directions", nargs="+", default=["en-fr", "fr-en"])
    arguments = parser.parse_args()
    on = machine()
    chosen = segments(arguments.data, arguments.segments, Random(arguments.seed))
    rows = {}
    for direction in arguments.directions:
        turned = [one.turned() if direction == "fr-en" else one for one in chosen]
        rows[direction] = measured(load(direction), turned, Random(arguments.seed))
    counts = Counter(one.corpus for one in chosen)
    write_result("quality/tags", machine=on, seed=arguments.seed, segments=dict(counts), rows=rows)


def segments(data: Path, count: int, random: Random) -> list[Segment]:
    """Tagged segments: all those of the files, and enough of the Python documentation to be `count`."""
    found = [one for one in of_files(data / "files") if usable(one)][:count]
    documentation = [one for one in of_documentation(data / "pydocs") if usable(one)]
    return found + random.sample(documentation, min(len(documentation), count - len(found)))


def of_files(folder: Path) -> Iterator[Segment]:
    """The pairs of localisation files."""
    for source, target in FILES:
        with warnings.catch_warnings(action="ignore", category=RnnsearchWarning):  # of units that are left out
            for pair in dict.fromkeys(read_pairs([folder / source], [folder / target], ("en", "fr"), True)):
                yield Segment(source, *pair)


def of_documentation(folder: Path) -> Iterator[Segment]:
    """The paragraphs of the Python documentation as HTML."""
    sides = (read_lines(folder / f"pydocs.{language}.xz") for language in ("en", "fr"))
    for source, target in dict.fromkeys(zip(*sides, strict=True)):
        yield Segment("pydocs", as_html(source), as_html(target))


def as_html(paragraph: str) -> str:
    """Inline reStructuredText as HTML."""

    def tag(match: re.Match[str]) -> str:
        part = {name: text for name, text in match.groupdict().items() if text}
        if where := part.get("where") or part.get("address"):
            return f'<a href="{where}">{part.get("link") or part["text"]}</a>'
        (name, text), *_ = part.items()
        name = "code" if name == "role" else name
        return f"<{name}>{text}</{name}>"

    return MARKS.sub(tag, html.escape(paragraph, quote=False).replace("&lt;", "<").replace("&gt;", ">"))


def usable(segment: Segment) -> bool:
    """Whether it has tags, the same on both sides, and is one sentence of a suitable length without other marks."""
    source, reference = segment.source, segment.reference
    tags = [Counter(tag for tag, _, _ in placed(side)) for side in (source, reference)]
    plain = [without_tags(side) for side in (source, reference)]
    codes = [Counter(re.findall("<code>(.*?)</code>", side)) for side in (source, reference)]
    return (
        bool(tags[0])
        and tags[0] == tags[1]
        and codes[0] == codes[1]
        and all(len(side.split()) in WORDS and not re.search(r"[<>`\x00]|\*\w|\w\*|__?\b", side) for side in plain)
        and source != reference
        and len(segment.markup("en").sentences) == len(segment.turned().markup("fr").sentences) == 1
    )


def measured(translator: Translator, given: Sequence[Segment], random: Random) -> dict[str, Any]:
    """The tags that are right in the references and in the translations, and the terms that are."""
    language = translator.system.config.data.source_language
    markups = [one.markup(language) for one in given]
    sentences = [markup.sentences[0] for markup in markups]
    references = [without_tags(one.reference) for one in given]
    pairs = translator.score(sentences, references)
    linked = [pair.as_translation(text) for pair, text in zip(pairs, references, strict=True)]
    terms = [of_text(drawn(pair, target_of(translator), random), one) for pair, one in zip(pairs, given, strict=True)]
    nothing: list[dict[str, str]] = [{} for _ in given]
    beam = translator.search_settings({}).beam
    free, with_terms = (translate(translator, sentences, each, beam)[0] for each in (nothing, terms))

    def joined(translations: Sequence[Translation]) -> list[str]:
        return [markup.joined([one]) for markup, one in zip(markups, translations, strict=True)]

    return {
        "in references": by_kind(given, joined(linked), exact),
        "in translations": by_kind(given, joined(free), beside),
        "terms": {
            "of": sum(map(len, terms)),
            "without": present(translator, free, terms),
            "given": present(translator, with_terms, terms),
        },
    }


def target_of(translator: Translator) -> Tokenizer:
    """The tokenizer of the target language."""
    data = translator.system.config.data
    return Tokenizer(data.tokenizer, data.target_language)


def of_text(terms: dict[str, str], segment: Segment) -> dict[str, str]:
    """The terms that are not in code."""
    code = " ".join(re.findall("<code>(.*?)</code>", segment.source)).casefold()
    return {source: target for source, target in terms.items() if source.casefold() not in code}


def present(translator: Translator, translations: Sequence[Translation], terms: Sequence[dict[str, str]]) -> int:
    """The number of terms whose words are in the translations."""
    target = target_of(translator)
    both = zip(translations, terms, strict=True)
    return sum(has(one.tokens, target.tokenize(term)) for one, of_it in both for term in of_it.values())


def by_kind(given: Sequence[Segment], texts: Sequence[str], compare: Any) -> dict[str, dict[str, int]]:
    """The numbers of tags and of right ones, by the kind of segments and tags."""
    found: dict[str, Counter[str]] = {}
    for segment, text in zip(given, texts, strict=True):
        of, right = compare(segment.reference, text)
        for name, count in of.items():
            for kind in ("all", "documentation" if segment.corpus == "pydocs" else "files", kind_of(name)):
                found.setdefault(kind, Counter()).update({"of": count, "right": right[name]})
    return {kind: dict(found[kind]) for kind in sorted(found)}


def kind_of(tag: str) -> str:
    """The kind of a tag: of code, of an element around words, or alone."""
    match = TAG.fullmatch(tag)
    assert match is not None
    if match["alone"] or match["name"] in ALONE:
        return "alone"
    return "code" if match["name"] == "code" else "around words"


def exact(reference: str, text: str) -> tuple[Counter[str], Counter[str]]:
    """The tags of the reference, and those that are at the same character of the same text."""
    expected, actual = Counter(placed(reference)), Counter(placed(text))
    return Counter(tag for tag, *_ in expected.elements()), Counter(tag for tag, *_ in (expected & actual).elements())


def placed(text: str) -> list[tuple[str, str, int]]:
    """The tags of a text: each tag, the start tag of its element, and the number of characters before it, without space."""
    opened: dict[str, list[str]] = {}
    found, at, end = [], 0, 0
    for match in TAG.finditer(text):
        at += len("".join(html.unescape(text[end : match.start()]).split()))
        end = match.end()
        of_name = opened.setdefault(match["name"], [])
        if not match["end"] and not match["alone"]:
            of_name.append(match[0])
        found.append((match[0], of_name.pop() if match["end"] and of_name else match[0], at))
    return found


def beside(reference: str, text: str) -> tuple[Counter[str], Counter[str]]:
    """The tags of the reference that have a neighbour which the text has too, and those beside the same neighbour."""
    words = set(re.findall(r"\w+|[^\w\s]", without_tags(text)))
    of, right = Counter[str](), Counter[str]()
    actual = places_of_tags(html.unescape(text))
    for tag, before, after in places_of_tags(html.unescape(reference)):
        if not {before, after} & words:
            continue
        of[tag] += 1
        match = next((one for one in actual if one[0] == tag and (one[1] == before or one[2] == after)), None)
        if match is not None:
            right[tag] += 1
            actual.remove(match)
    return of, right


def without_tags(text: str) -> str:
    """The text as a translator sees it, on one line."""
    return " ".join(html.unescape(TAG.sub("", text)).split())
