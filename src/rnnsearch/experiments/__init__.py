"""Experiments as data: what to train, on what, and what to show of it."""
