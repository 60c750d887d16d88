"""Loops over the position pairs of sentence pairs, compiled by Numba. `compiled` and `probability` have them in NumPy too.

| module | content |
|---|---|
| `cells` | the numbering of position pairs by their word-type pairs |
| `expectation_step` | IBM Model 1 and forward-backward of the hidden Markov model, over a whole text |
| `features` | the features of a link that predict its probability, and the links of a line |

The compiler must not reorder sums, because code from its cache would then round differently from newly compiled code. Numba
compiles a loop again when the file of the loop has changed, so no loop calls one of another file.
"""

from __future__ import annotations

from rnnsearch.alignment.loops.cells import fill_cells, index_cells, of_stems
from rnnsearch.alignment.loops.expectation_step import expectations
from rnnsearch.alignment.loops.features import evidence, linked, sums, surroundings

__all__ = ["evidence", "expectations", "fill_cells", "index_cells", "linked", "of_stems", "sums", "surroundings"]
