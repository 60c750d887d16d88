"""Files that hold sentence pairs or messages: translation memories, localisation files, tables, subtitles.

A format is a class that recognises its files by their content and yields their units; `rnnsearch.formats.registry` lists
them, and `rnnsearch.formats.pairs` makes sentence pairs of units.
"""
