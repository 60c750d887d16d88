"""The demonstration, and the reproduction of the paper's experiments."""

from rnnsearch.extras import require

require("torch")
