"""Training: the loop, the optimizers, checkpoints, validation and records."""
