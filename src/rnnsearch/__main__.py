"""`python -m rnnsearch`: the command line."""

import os
import sys

# `-m` puts the working folder first on the path, where modules of any name may lie among the data. It stays, as the last
# one, only where the package itself was found in it.
if not sys.flags.safe_path:
    first, home = sys.path.pop(0), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if first == home:
        sys.path.append(home)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))

from rnnsearch.cli import main

main()
