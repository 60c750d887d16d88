"""Training: the loop, the optimizers, checkpoints, validation and records."""

from rnnsearch.extras import require

require("torch")
