import numpy as np

from rnnsearch.evaluation.coverage import unread_words


def test_words_that_no_target_word_attended_to() -> None:
    alignment = np.array([[0.8, 0.05, 0.05, 0.1], [0.05, 0.05, 0.6, 0.3]])
    assert unread_words(alignment) == [1], "the end symbol is no word"


def test_attention_is_not_summed_over_target_words() -> None:
    assert unread_words(np.full((20, 12), 1 / 12)) == list(range(11))


def test_an_empty_translation_has_read_nothing() -> None:
    assert unread_words(np.zeros((0, 4))) == [0, 1, 2]
