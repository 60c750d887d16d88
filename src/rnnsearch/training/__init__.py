"""Training: the loop, its checkpoints, and what is recorded of it."""
