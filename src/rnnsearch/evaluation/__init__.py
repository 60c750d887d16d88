"""How good the translations and the alignments are."""
