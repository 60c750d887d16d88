"""How the recurrences are run.

The model calls an `Engine` for the two loops that cannot be one large product, the encoder's and the decoder's, and
knows nothing of how they are computed. `Reference` is plain autograd, written to be read, and the yardstick of any other.
"""

from rnnsearch.engine.interface import Decoded, Engine
from rnnsearch.engine.reference import Reference

__all__ = ["Decoded", "Engine", "Reference"]
