"""A text that was cut into sentences is whole again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.translation import Translation
from rnnsearch.translation.sentences import as_passage

texts = st.text(st.sampled_from("ab.!? \n\t\r\u2028\u00a0“”AÉ1…)("), max_size=60) | st.text(max_size=40)


@given(texts, st.booleans())
def test_no_letter_is_lost(text: str, split: bool) -> None:
    passage = as_passage(text, "en", split)
    assert passage.joined([Translation(sentence, 0.0, True, []) for sentence in passage.sentences]) == text
    assert all(sentence and sentence == sentence.strip() for sentence in passage.sentences)


def test_sentences_and_lines() -> None:
    text = " Dr. Smith went home. He slept!\n\nIt rained."
    assert as_passage(text, "en").sentences == ["Dr. Smith went home.", "He slept!", "It rained."]
    assert as_passage(text, "en", split=False).sentences == ["Dr. Smith went home. He slept!", "It rained."]
