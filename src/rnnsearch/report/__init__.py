"""Figures and HTML pages: alignments, training curves, the page of a model, and the report of a reproduction."""
