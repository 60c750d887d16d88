"""The evaluation of translations and of word alignments."""
