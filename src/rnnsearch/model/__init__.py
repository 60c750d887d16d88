"""The paper's model, one file a concept; `rnnsearch.py` is to be read beside Appendix A.

Tensors carry their shape as a suffix:

| letter | size                                   | paper  |
|--------|----------------------------------------|--------|
| B      | sentences in the batch                 |        |
| K      | hypotheses of a sentence (1: training) |        |
| S      | source positions, end symbol included  | Tx     |
| T      | target positions, end symbol included  | Ty     |
| P      | real (unpadded) target positions       |        |
| V      | target vocabulary                      | Ky     |
| E      | embedding                              | m      |
| N      | hidden units                           | n      |
| D      | recurrent state: N, or 2N for an LSTM  |        |
| G      | all gates of a cell side by side       |        |
| C      | a context or annotation: 2N (N)        | 2n (n) |
| A      | hidden units of the alignment model    | n'     |
| L      | maxout units                           | l      |

Recurrences run over the first axis, so sequences inside the model are time-major: `states_SBN`.
"""

from rnnsearch.model.names import PAPER_NAMES
from rnnsearch.model.rnnsearch import Forced, RNNsearch

__all__ = ["PAPER_NAMES", "Forced", "RNNsearch"]
