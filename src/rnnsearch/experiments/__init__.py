"""Experiments: the demonstration, and the reproduction of the paper."""
