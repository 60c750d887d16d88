"""The results in the paper: Tables 1 and 2 of Bahdanau, Cho & Bengio (2015), English–French, newstest2014.

They are shown beside our results, but not compared with them: the paper does not name its script for BLEU, which probably
scores tokenised text, while ours is sacreBLEU on detokenised text.
"""

from __future__ import annotations

from rnnsearch.report.results import PaperRow, Training

LIMITS = (30, 50)
"""The length limits of training sentences, in words."""
WORDS = 348_000_000
"""The number of words of the training text after data selection (section 4.1), here counted on the target side."""
LONG = 30
"""The smallest number of words of a long sentence in Table 3."""

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
"""The rows of both tables by the names of the systems; in Table 2, the first and the third are called RNNenc."""

LONGER = 252 / 111
"""The training time of RNNsearch-50* divided by that of RNNsearch-50."""
MORE_UPDATES = 667_000 / 288_000
"""The updates of RNNsearch-50* divided by those of RNNsearch-50."""
