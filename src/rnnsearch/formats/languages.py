"""The languages of a file, and the choice of the source and the target among them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.formats.opening import without_compression
from rnnsearch.formats.units import SOURCE, TARGET, Text, Unit

Languages = tuple[str | None, str | None]
"""The language tags of source and target, such as `en` and `fr-CA`; None for any language."""

_CODES = frozenset(
    """
    aa ab af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja
    jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb
    nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq
    sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()  # noqa: SIM905
)
"""The codes of ISO 639-1."""
_NAME_TAG = re.compile(r"(?:^|[^A-Za-z])([a-z]{2}(?:[-_+](?:r?[A-Z]{2}|[A-Z][a-z]{3}|419|001|150))*(?:@\w+)?)$")


def primary(tag: str) -> str:
    """Return the language of a tag without region, script and variant: `en` for `EN-US`, `sr` for `sr@latin`."""
    return re.split("[-_+@.]", tag.lower())[0]


def same_language(one: str, other: str) -> bool:
    """Whether two tags differ in nothing but their spelling, as `EN_us` and `en-US` do."""
    return one.lower().replace("_", "-") == other.lower().replace("_", "-")


@dataclass(frozen=True)
class Chosen:
    """The source and the target of a file: for each, the tags of its texts, the best first."""

    source: Sequence[str]
    target: Sequence[str]

    def texts(self, unit: Unit, side: int) -> list[Text]:
        """Return the texts of a unit on side 0 (source) or 1 (target): those of the best tag that the unit has."""
        for tag in (self.source, self.target)[side]:
            if texts := [text for text in unit.texts if text.language == tag]:
                return texts
        return []

    def languages(self, assumed_source: str | None) -> Languages:
        """Return the codes of both languages, without regions; None for a language that the file does not state."""
        source, target = (None if tags[0] in (SOURCE, TARGET) else primary(tags[0]) for tags in (self.source, self.target))
        return source or assumed_source, target


def choose(units: Iterable[Unit], requested: Languages, path: Path) -> Chosen:
    """Choose the source and the target among the languages of these units.

    If `requested` has no languages, the units must have two, and the language of their first texts is the source. Regions
    count only if `requested` has them, or if the languages differ in nothing else. Raises RnnsearchError if a language is
    missing or the choice is ambiguous.
    """
    if requested[0] == requested[1]:
        requested = None, None
    languages = [list(dict.fromkeys(text.language for text in unit.texts)) for unit in units]
    # A unit in one language does not say which one the source is.
    counts = Counter(tag for tags in sorted(languages, key=lambda tags: len(tags) < 2) for tag in tags)
    tags = list(counts)  # in the order in which they occur
    by_frequency = [tag for tag, _ in counts.most_common()]
    groups = _groups(tags, requested)
    chosen = [_matching(by_frequency, language, other) for language, other in (requested, requested[::-1])]
    for side in (0, 1):
        if chosen[side] is None:
            other = chosen[1 - side]
            left = [group for group in groups if other is None or not set(group) & set(other)]
            if requested[side] is not None:  # a side without a tag may be in any language
                left = [group for group in left if group[0] in (SOURCE, TARGET)]
            elif other is None and len(left) > 2:
                raise _ambiguous(path, tags)
            if not left or (requested[side] is None and other is not None and len(left) > 1):
                raise _missing(path, tags, requested[side]) if not left or requested[side] else _ambiguous(path, tags)
            chosen[side] = sorted(left[0], key=by_frequency.index)
    source, target = chosen
    assert source is not None
    assert target is not None
    if set(source) & set(target):
        raise _missing(path, tags, requested[1])
    return Chosen(source, target)


def _groups(tags: Sequence[str], requested: Languages) -> list[list[str]]:
    """Group the tags by language; if all have the same language, group them by region."""
    by_language: dict[str, list[str]] = {}
    for tag in tags:
        by_language.setdefault(primary(tag), []).append(tag)
    if len(by_language) == 1:
        by_tag: dict[str, list[str]] = {}
        for tag in tags:
            by_tag.setdefault(tag.lower().replace("_", "-"), []).append(tag)
        return list(by_tag.values())
    return list(by_language.values())


def _matching(by_frequency: Sequence[str], language: str | None, opposite: str | None) -> list[str] | None:
    """Return the tags that match a language: the same tag first, then other regions; None if there are none.

    The tag that is requested for the opposite side is not among them.
    """
    if language is None:
        return None
    exact = [tag for tag in by_frequency if same_language(tag, language)]
    regions = [tag for tag in by_frequency if primary(tag) == primary(language) and tag not in exact]
    others = [tag for tag in regions if opposite is None or not same_language(tag, opposite)]
    if exact and not same_language(language, primary(language)):
        return exact
    return exact + others or None


def _ambiguous(path: Path, tags: Sequence[str]) -> RnnsearchError:
    shown = ", ".join(tags[:20])
    return RnnsearchError(
        f"{path}: has {len(tags)} languages ({shown}); say which are the source and the target, e.g. {_example(tags)}"
    )


def _missing(path: Path, tags: Sequence[str], language: str | None) -> RnnsearchError:
    if not tags:
        return RnnsearchError(f"{path}: has no text in any language; is it the right file?")
    has = ", ".join(tags[:20])
    if language is None:
        return RnnsearchError(f"{path}: has only {has}; there is no second language to pair it with")
    return RnnsearchError(
        f"{path}: has {has}, and no {language}; say which are the source and the target, e.g. {_example(tags)}"
    )


def _example(tags: Sequence[str]) -> str:
    """The option for two of these languages, which differ in more than the region if any do."""
    other = next((tag for tag in tags if primary(tag) != primary(tags[0])), tags[-1])
    return f"--languages {tags[0]},{other}"


def is_language(tag: str) -> bool:
    """Whether this is a language tag with a code of ISO 639-1, such as `fr` or `fr_CA`."""
    return re.fullmatch("[A-Za-z]{2}(?:[-_][A-Za-z0-9]{2,8})*", tag) is not None and primary(tag) in _CODES


def language_in_name(path: Path) -> str | None:
    """Return the language code at the end of the name of a file or of its folder, such as `app_fr.json` or `values-fr/`."""
    path = without_compression(path)
    for name in (path.stem, path.parent.name.removesuffix(".lproj")):
        match = _NAME_TAG.search(name)
        if match and primary(match[1]) in _CODES:
            return primary(match[1])
    return None


def parse_languages(given: str | None) -> Languages:
    """Parse the option `--languages`, such as `en,fr-CA`. Raises RnnsearchError unless it has two language tags."""
    if given is None:
        return None, None
    tags = [tag.strip() for tag in given.split(",")]
    if len(tags) != 2 or not all(re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*", tag) for tag in tags):
        raise RnnsearchError(f"--languages {given}: give source and target with a comma between, e.g. en,fr or en-GB,pt-BR")
    return tags[0], tags[1]
