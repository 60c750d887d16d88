import math
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import image

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.report.curves import plot_nll, plot_valid_bleu
from rnnsearch.report.figures import DOTS_PER_INCH, inline_svg
from rnnsearch.report.heatmap import MAX_WORDS, plot_alignment
from rnnsearch.report.length_plot import plot_bleu_by_length

ROWS = [
    {"update": 500, "train_nll": 5.1, "valid_nll": 4.9, "valid_bleu": 1.5},
    {"update": 1000, "train_nll": 3.2, "valid_nll": 3.4, "valid_bleu": 12.5},
]
BINS = [LengthBin(0, 10, 20, 31.5), LengthBin(10, 20, 5, 28.25), LengthBin(20, None, 0, None)]


def soft_alignment(target: int, source: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(source, 0.3), size=target)


def cell_colours(path: Path, alignment: np.ndarray, words: tuple[list[str], list[str]]) -> np.ndarray:
    """The grey in the middle of each cell of the picture at `path`."""
    figure = plot_alignment(alignment, words[0], words[1])
    (axes,) = figure.axes
    pixels = image.imread(path)
    rows, columns = alignment.shape
    middles = axes.transData.transform([(j, i) for i in range(rows) for j in range(columns)])
    assert pixels.shape[1] == pytest.approx(figure.get_size_inches()[0] * DOTS_PER_INCH, abs=1)
    greys = [pixels[int(pixels.shape[0] - y), int(x), :3].mean() for x, y in middles]
    return np.array(greys).reshape(rows, columns)


def test_cells_are_as_bright_as_their_weights_and_rows_go_down(tmp_path: Path) -> None:
    alignment = np.array([[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]])
    words = (["la", "maison", "</s>"], ["the", "house"])
    plot_alignment(alignment, words[0], words[1], tmp_path / "heat.png")
    np.testing.assert_allclose(cell_colours(tmp_path / "heat.png", alignment, words), alignment, atol=0.01)


def test_cells_are_square_and_the_picture_grows_with_the_sentence() -> None:
    for rows, columns in ((1, 1), (5, 7), (40, 40), (3, 60)):
        figure = plot_alignment(soft_alignment(rows, columns), ["source"] * columns, ["target"] * rows)
        extent = figure.axes[0].get_window_extent()
        assert extent.width / columns == pytest.approx(extent.height / rows)
        assert extent.width / columns / DOTS_PER_INCH == pytest.approx(0.24)


def test_all_words_are_inside_the_picture() -> None:
    figure = plot_alignment(soft_alignment(2, 3), ["x" * 25, "b", "</s>"], ["y" * 25, "z"], title="a title " * 9)
    drawn = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert drawn.x0 >= 0
    assert drawn.y0 >= 0
    assert drawn.x1 <= width
    assert drawn.y1 <= height


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg", "PNG"])
def test_each_format_is_what_its_name_says_and_the_same_each_time(tmp_path: Path, suffix: str) -> None:
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix.lower()]
    written = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.{suffix}"
        plot_alignment(soft_alignment(2, 3), ["a", "b", "</s>"], ["c", "d"], path)
        written.append(path.read_bytes())
    assert written[0].startswith(start)
    assert written[0] == written[1]


def test_another_format_is_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with pytest.raises(RnnsearchError, match=r"use \.png, \.pdf or \.svg"):
        plot_alignment(soft_alignment(1, 1), ["a"], ["b"], tmp_path / "heat.docx")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=8), min_size=1, max_size=3))
def test_any_word_can_be_drawn_and_makes_no_noise(words: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_alignment(soft_alignment(1, len(words)), words, ["東京"], title=words[0])
        ElementTree.fromstring(inline_svg(figure, words[0]))


def test_dollars_and_backslashes_are_words_not_formulas() -> None:
    figure = plot_alignment(soft_alignment(1, 3), ["$x^2$", r"\frac{", "a_b"], ["$"], title="$5 or $6")
    svg = inline_svg(figure, "words")
    for word in ("$x^2$", r"\frac{", "a_b", "$5 or $6"):
        assert f">{word}</text>" in svg


def test_what_cannot_be_drawn_is_refused_in_a_line() -> None:
    with pytest.raises(RnnsearchError, match=r"shape \(2, 3\), but there are 2 target and 2 source words"):
        plot_alignment(soft_alignment(2, 3), ["a", "b"], ["c", "d"])
    with pytest.raises(RnnsearchError, match="no words"):
        plot_alignment(np.zeros((0, 1)), ["</s>"], [])
    with pytest.raises(RnnsearchError, match="at most 150 on a side"):
        plot_alignment(soft_alignment(1, MAX_WORDS + 1), ["a"] * (MAX_WORDS + 1), ["b"])
    with pytest.raises(RnnsearchError, match="not finite"):
        plot_alignment(np.array([[math.nan]]), ["a"], ["b"])


def test_lengths_are_drawn_for_each_system_with_a_gap_where_there_is_no_sentence(tmp_path: Path) -> None:
    figure = plot_bleu_by_length({"RNNsearch": BINS, "RNN_enc$": BINS}, tmp_path / "length.png")
    search, _ = figure.axes[0].lines
    np.testing.assert_array_equal(search.get_ydata(), [31.5, 28.25, math.nan])
    assert figure.axes[0].get_ylim()[0] == 0
    assert image.imread(tmp_path / "length.png").ndim == 3


def test_systems_cut_into_other_bins_are_not_drawn_together() -> None:
    with pytest.raises(RnnsearchError, match="'b' has other bins than 'a'"):
        plot_bleu_by_length({"a": BINS, "b": BINS[:2]})
    with pytest.raises(RnnsearchError, match="no system"):
        plot_bleu_by_length({})


def test_curves_leave_out_what_was_not_measured() -> None:
    rows = [{"update": 10, "train_nll": math.nan}, *ROWS]
    train, valid = plot_nll(rows).axes[0].lines
    (bleu,) = plot_valid_bleu(rows).axes[0].lines
    np.testing.assert_array_equal(train.get_xdata(), [10, 500, 1000])
    np.testing.assert_array_equal(valid.get_ydata(), [4.9, 3.4])
    np.testing.assert_array_equal(bleu.get_ydata(), [1.5, 12.5])
    assert not plot_valid_bleu([{"update": 10, "valid_bleu": None}]).axes[0].lines
    with pytest.raises(RnnsearchError, match="no validation"):
        plot_nll([])


def test_a_figure_in_a_page_takes_its_colours_and_leaves_words_alone() -> None:
    svg = inline_svg(plot_bleu_by_length({"#3567a8": BINS, "#010101": BINS}), 'the "best" <model>')
    assert 'aria-label="the &quot;best&quot; &lt;model&gt;"' in svg
    assert "stroke: currentColor" in svg
    assert "stroke: var(--series-1, #3567a8)" in svg
    assert ">#3567a8</text>" in svg
    assert ">#010101</text>" in svg
