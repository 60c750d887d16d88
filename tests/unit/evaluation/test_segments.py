"""What a report says of segments: edits, terms, tags, confidence, and the nearest segments of a memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from rnnsearch.evaluation import nearest as nearest_module
from rnnsearch.evaluation.nearest import nearest
from rnnsearch.evaluation.segments import FEWEST, FINE, SHARE_FINE, Segment, report, terms_in


def segment(reference: str, model: str, confidence: float = 0.5, source: str = "x", **how: object) -> Segment:
    return Segment(source, reference, {"model": model, "other": reference}, confidence, **{"words": 3, **how})  # type: ignore[arg-type]


def test_shares_by_kind() -> None:
    found = report(
        [
            segment("le chat dort .", "le chat dort .", words=5),
            segment("le chien dort .", "Le chien dort .", words=6, source="<b>x</b>"),
            segment("un arbre", "la maison rouge", words=31),
        ]
    )
    assert found.systems == ["model", "other"]
    assert found.all.quality["model"].unedited == pytest.approx(33.3)
    assert found.all.quality["other"].unedited == found.all.quality["other"].chrf == 100
    lengths = {kind.name: kind.segments for kind in found.kinds["length"]}
    assert lengths == {"1 to 5 words": 1, "6 to 15 words": 1, "more than 30 words": 1}
    assert {kind.name: kind.segments for kind in found.kinds["tags"]} == {"without tags": 2, "with tags": 1}
    assert found.kinds.keys() == {"length", "tags"}  # no glossary, no memory
    assert [each.line for each in found.worst] == [3, 2]
    assert found.terms is found.tags is None


def test_similarities_have_the_bands_of_translation_tools() -> None:
    scores = [100, 99.9, 85, 84.9, 70, 50, 49.9, 0]
    found = report([segment("a b", "a b", similarity=score) for score in scores])
    counts = [(kind.name, kind.segments) for kind in found.kinds["nearest segment of the memory"]]
    assert counts == [
        ("the same", 1),
        ("85% to 100% similar", 2),
        ("70% to 85% similar", 2),
        ("50% to 70% similar", 1),
        ("less than 50% similar", 2),
    ]


def test_terms_count_where_the_person_used_them() -> None:
    terms = {"Hard disk": "disque dur", "disk": "disque", "key": "touche"}
    assert terms_in("Press the KEY of the hard disk.", terms) == ["disque dur", "disque", "touche"]
    assert terms_in("keyboards", terms) == []
    found = report(
        [
            segment("Le disque dur.", "Un disque-dur !", terms=["disque dur"]),
            segment("La touche.", "La clé.", terms=["touche"]),
            segment("Cela.", "La touche.", terms=["touche"]),
        ]
    ).terms
    assert found is not None
    assert (found.of, found.right, found.extra) == (2, {"model": 1, "other": 2}, {"model": 1, "other": 0})


@pytest.mark.parametrize(
    ("translation", "right", "extra"),
    [
        ("Le <g1>chat</g1> dort.", 2, 0),
        ("Le <g1>chien</g1> dort.", 2, 0),
        ("<g1>Le chat</g1> dort.", 1, 0),
        ("Le chat dort.<g1></g1>", 0, 0),
        ("Le <g1>chat dort.", 1, 0),
        ("Le <g1>chat</g1> dort<x2/>.", 2, 1),
        ("Le chat dort.", 0, 0),
    ],
)
def test_tags_are_right_beside_a_word_of_the_reference(translation: str, right: int, extra: int) -> None:
    found = report([segment("Le <g1>chat</g1> dort.", translation)]).tags
    assert found is not None
    assert (found.of, found.right["model"], found.extra["model"]) == (2, right, extra)
    assert found.right["other"] == 2


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=60))
def test_from_the_threshold_on_enough_segments_are_fine(drawn: list[tuple[float, bool]]) -> None:
    found = report([segment("a b c", "a b c" if right else "d", sure) for sure, right in drawn])
    for threshold in {sure for sure, _ in drawn}:
        above = [right for sure, right in drawn if sure >= threshold]
        enough = len(above) >= FEWEST and sum(above) >= SHARE_FINE * len(above)
        assert not enough or (found.threshold is not None and found.threshold <= threshold)
        if threshold == found.threshold:
            assert enough
            assert found.above == len(above)
    assert sum(band.segments for band in found.bands) == len(drawn)
    assert [band.least for band in found.bands] == sorted(band.least for band in found.bands)
    assert 0 < FINE < 100


def test_the_confidence_may_go_with_the_quality() -> None:
    assert report([segment("a b c", "a b c"[: 2 * n + 1], n / 5) for n in range(3)]).correlation == 1
    assert report([segment("a b c", "a b c"[: 2 * n + 1], -n) for n in range(3)]).correlation == -1
    assert report([segment("a b c", "a b c")]).correlation is None


@given(st.lists(st.text(max_size=6), min_size=1, max_size=6), st.lists(st.text(max_size=6), min_size=1, max_size=9))
def test_the_nearest_segment_is_the_most_similar(sources: list[str], memory: list[str]) -> None:
    pairs = [(source, str(number)) for number, source in enumerate(memory)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_module, "_AT_ONCE", 2 * len(sources))  # in several parts
        found = nearest(sources, pairs)
    for source, match in zip(sources, found, strict=True):
        assert match.score == pytest.approx(max(fuzz.ratio(source, other) for other in memory), abs=0.06)
        assert memory[int(match.target)] == match.source
