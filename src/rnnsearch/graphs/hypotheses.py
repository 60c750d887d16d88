"""The arrangement of the hypotheses of sentences: as rows (R, X), or as a grid (Q, K, X) with K hypotheses per sentence.

A step computes cells and readout on rows, and the attention on a grid, since the hypotheses of a sentence share its keys.
"""

from __future__ import annotations

import numpy as np

from rnnsearch.graphs.graph import Graph, Tensor


class Rectangle:
    """The same number K of hypotheses for each sentence: row q K + k is hypothesis k of sentence q.

    The inputs and outputs of the graph are grids.
    """

    def __init__(self, graph: Graph) -> None:
        """Declare the inputs `parents` and `words` (sentences, hypotheses)."""
        self.graph = graph
        self._axes = ("sentences", "hypotheses")
        parents_QK = graph.input("parents", "int64", *self._axes)
        words_QK = graph.input("words", "int64", *self._axes)
        self.shape_QK = graph.apply("Shape", parents_QK)
        # Inside the graph, hypotheses are rows.
        self.parents_R, self.words_R = graph.reshape(parents_QK, -1), graph.reshape(words_QK, -1)

    def grid(self, rows_RX: Tensor) -> Tensor:
        """Convert rows (R, X) to a grid (Q, K, X)."""
        return self._reshaped(rows_RX)

    def rows(self, grid_QKX: Tensor, width: int = -1) -> Tensor:
        """Convert a grid (Q, K, X) to rows (R, X)."""
        return self._flat(grid_QKX) if width < 0 else self.graph.reshape(grid_QKX, -1, width)

    def shared(self, of_sentence_QX: Tensor) -> Tensor:
        """Repeat the values of each sentence (Q, X) for each of its hypotheses (R, X)."""
        graph = self.graph
        width = graph.apply("Shape", of_sentence_QX, start=1, end=2)
        of_sentence_Q1X = graph.insert_axis(of_sentence_QX, 1)
        return self.rows(graph.apply("Expand", of_sentence_Q1X, graph.join([self.shape_QK, width])))

    def output(self, name: str, rows_RX: Tensor, element_type: str, size: int | str) -> None:
        """Declare these rows as an output of the graph, with `size` columns."""
        self.graph.output(name, self.grid(rows_RX), element_type, *self._axes, size)

    def _reshaped(self, rows_RX: Tensor) -> Tensor:
        rest = self.graph.apply("Shape", rows_RX, start=1)
        return self.graph.apply("Reshape", rows_RX, self.graph.join([self.shape_QK, rest]))

    def _flat(self, grid_QKX: Tensor) -> Tensor:
        rest = self.graph.apply("Shape", grid_QKX, start=2)
        all_rows = self.graph.constant(np.array([-1], np.int64))
        return self.graph.apply("Reshape", grid_QKX, self.graph.join([all_rows, rest]))


class Ragged(Rectangle):
    """Different numbers of hypotheses per sentence. The inputs and outputs of the graph are rows.

    `grid` (sentences, hypotheses) holds the row numbers of each sentence; a sentence with fewer hypotheses than others
    repeats one of them. `places` (rows) holds the place of each row in the flattened grid.
    """

    def __init__(self, graph: Graph) -> None:
        """Declare the inputs `parents`, `words` and `places` (rows), and `grid` (sentences, hypotheses)."""
        self.graph = graph
        self.parents_R, self.words_R = graph.input("parents", "int64", "rows"), graph.input("words", "int64", "rows")
        self._grid_QK = graph.input("grid", "int64", "sentences", "hypotheses")
        self._places_R = graph.input("places", "int64", "rows")
        self.shape_QK = graph.apply("Shape", self._grid_QK)

    def grid(self, rows_RX: Tensor) -> Tensor:
        return self.graph.apply("Gather", rows_RX, self._grid_QK)

    def rows(self, grid_QKX: Tensor, width: int = -1) -> Tensor:
        return self.graph.apply("Gather", super().rows(grid_QKX, width), self._places_R)

    def output(self, name: str, rows_RX: Tensor, element_type: str, size: int | str) -> None:
        self.graph.output(name, rows_RX, element_type, "rows", size)
