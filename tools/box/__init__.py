"""The text that the translators which come with the package are trained on."""
