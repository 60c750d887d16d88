"""The paper's model, one file a concept; `rnnsearch.py` is to be read beside Appendix A.

Every recurrence stands here in plain code beside its equation. Where `rnnsearch.ops` implements one of them as a function of
tensors, one line sends it there; `training.engine = reference` sends none.

Tensors carry their shape as a suffix:

| letter | size                                                        | paper  |
|--------|-------------------------------------------------------------|--------|
| B      | sentences in the batch                                      |        |
| K      | hypotheses of a sentence (1: training)                      |        |
| S      | source positions, end symbol included                       | Tx     |
| T      | target positions, end symbol included; steps of a recurrence| Ty     |
| P      | target positions without padding                            |        |
| R      | rows computed side by side: hypotheses of all sentences in  |        |
|        | search; in training P padded, or a part of B or of P        |        |
| Q      | slots of a search, each for a sentence with its own source  |        |
| V      | target vocabulary                                           | Ky     |
| W      | words asked for of a row: the best, or drawn ones           |        |
| E      | embedding                                                   | m      |
| N      | hidden units                                                | n      |
| D      | recurrent state: N, or 2N for an LSTM                       |        |
| G      | all gates of a cell side by side                            |        |
| C      | a context or annotation: 2N; forward only: N                | 2n (n) |
| A      | hidden units of the alignment model                         | n'     |
| L      | maxout units                                                | l      |
| M      | the products of a state side by side                        |        |
| Y      | the products of a context or of a word side by side         |        |
| O      | pairs of readings of a word (`training.consistency`)        |        |
| X      | any other size; the function says which                     |        |

A small letter is a part of the capital's: `sentences_b` are some of B sentences. Recurrences run over the first axis, so
sequences inside the model are time-major: `states_SBN`.
"""

from rnnsearch.model.names import PAPER_NAMES, present_name
from rnnsearch.model.rnnsearch import RNNsearch, TeacherForcedOutput
from rnnsearch.model.source import Source

__all__ = ["PAPER_NAMES", "RNNsearch", "Source", "TeacherForcedOutput", "present_name"]
