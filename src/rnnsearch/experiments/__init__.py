"""The demonstration, and the reproduction of the paper's experiments."""
