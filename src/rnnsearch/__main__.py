"""`python -m rnnsearch`: the command line."""

from rnnsearch.cli import main

main()
