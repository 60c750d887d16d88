"""The paper's own results: Tables 1 and 2 of Bahdanau, Cho & Bengio (2015), English–French, newstest2014.

They are shown beside ours and never compared with them: the paper does not name the script of its BLEU, whose scores are
taken to be those of tokenised text, and ours is sacreBLEU's of detokenised text.
"""

from __future__ import annotations

from rnnsearch.report.results import PaperRow, Training

LIMITS = (30, 50)
"""The length limits of training sentences, in words."""
WORDS = 348_000_000
"""The words of the training text after data selection (section 4.1); here they are those of the target side."""
LONG = 30
"""The fewest words of a long sentence: Table 3."""

ROWS = {
    row.name: row
    for row in (
        PaperRow("RNNencdec-30", 13.93, 24.19, Training(846_000, 6.4, 109, "TITAN BLACK", 28.1, 53.0)),
        PaperRow("RNNsearch-30", 21.50, 31.44, Training(471_000, 3.6, 113, "TITAN BLACK", 26.7, 47.2)),
        PaperRow("RNNencdec-50", 17.82, 26.71, Training(600_000, 4.5, 108, "Quadro K-6000", 44.0, 43.6)),
        PaperRow("RNNsearch-50", 26.75, 34.16, Training(288_000, 2.2, 111, "Quadro K-6000", 40.7, 38.1)),
        PaperRow("RNNsearch-50*", 28.45, 36.15, Training(667_000, 5.0, 252, "Quadro K-6000", 36.7, 35.2)),
        PaperRow("Moses", 33.30, 35.63, None),
    )
}
"""The rows of both tables by the name of the system; Table 2 calls the first and the third RNNenc."""

LONGER = 252 / 111
"""The training time of RNNsearch-50* divided by that of RNNsearch-50."""
MORE_UPDATES = 667_000 / 288_000
"""The updates of RNNsearch-50* divided by those of RNNsearch-50."""
