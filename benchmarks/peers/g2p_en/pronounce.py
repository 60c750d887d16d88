"""g2p-en in `pronouncers.py`: its network pronounces the words of standard input. Runs in an environment that has g2p-en.

The package imports NLTK and inflect for its dictionary, its tagger and its numbers, which are not used here, and which have
to be downloaded in part. Stand-ins take their places.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from unittest.mock import MagicMock

sys.modules |= {name: MagicMock() for name in ("nltk", "nltk.corpus", "nltk.tokenize", "inflect")}

from g2p_en import G2p  # noqa: E402 (after the stand-ins)


def main() -> None:
    """Read words, and write their phones, the processor time, and the version."""
    words = sys.stdin.read().split()
    g2p = G2p()
    g2p.predict(words[0])
    began = time.process_time()
    phones = [g2p.predict(word) for word in words]
    seconds = time.process_time() - began
    json.dump({"seconds": seconds, "phones": phones, "version": importlib.metadata.version("g2p-en")}, sys.stdout)


if __name__ == "__main__":
    main()
