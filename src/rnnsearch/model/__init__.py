"""The paper's model, with one concept per file; read `rnnsearch.py` alongside appendix A.

Each recurrence is written as a step-by-step loop next to its equation. Where `rnnsearch.ops` implements a recurrence as a
function of tensors, the model dispatches to it; with `training.engine = reference`, the model always runs its own loop.

The suffix of a tensor's name gives its shape, one letter per axis; a digit is an axis of that size:

| letter | size of the axis                                              | paper  |
|--------|---------------------------------------------------------------|--------|
| B      | sentences in the batch                                        |        |
| K      | hypotheses per sentence (1 in training)                       |        |
| S      | source positions, including the end symbol                    | Tx     |
| T      | target positions, including the end symbol; recurrence steps  | Ty     |
| P      | target positions without padding                              |        |
| R      | rows: all hypotheses (search); some of B, or P padded         |        |
| Q      | slots of a search; each slot holds one source sentence        |        |
| V      | target vocabulary                                             | Ky     |
| W      | words chosen per row, either the best or sampled ones         |        |
| E      | embedding                                                     | m      |
| N      | hidden units                                                  | n      |
| D      | recurrent state: N, or 2N for an LSTM                         |        |
| G      | all gates of a cell, concatenated                             |        |
| C      | annotation or context: 2N, or N for a forward-only encoder    | 2n (n) |
| A      | hidden units of the alignment model                           | n'     |
| L      | maxout units                                                  | l      |
| M      | all projections of a state, concatenated                      |        |
| Y      | projections of a context or a word                            |        |
| O      | pairs of predictions of one word (`training.consistency`)     |        |
| X      | any other size, which the function's docstring explains       |        |

A lower-case letter denotes a subset: `sentences_b` are some of the B sentences. Recurrences run over the first axis, so
sequences inside the model are time-major: `states_SBN`.
"""

from rnnsearch.extras import imports_of_extras

with imports_of_extras():
    from rnnsearch.model.alignment_layer import AlignmentLayer
    from rnnsearch.model.attention import AdditiveAttention, Attended, Attention, attend
    from rnnsearch.model.cells import Cell
    from rnnsearch.model.rnnsearch import RNNsearch, TeacherForcedOutput
    from rnnsearch.model.source import Source
    from rnnsearch.model.weights import parameter_shapes, with_weights
from rnnsearch.weight_names import PAPER_NAMES, present_name

__all__ = [
    "PAPER_NAMES",
    "AdditiveAttention",
    "AlignmentLayer",
    "Attended",
    "Attention",
    "Cell",
    "RNNsearch",
    "Source",
    "TeacherForcedOutput",
    "attend",
    "parameter_shapes",
    "present_name",
    "with_weights",
]
