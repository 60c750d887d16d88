"""A campaign of faults and hostile input against the command line: `python tests/campaign --help`."""
