"""How the recurrences are run.

The model calls an `Engine` for the two loops that cannot be one large product, the encoder's and the decoder's, and
knows nothing of how they are computed. `Reference` is plain autograd, written to be read, and the yardstick of the others;
`Fused` has a backward pass derived by hand.
"""

from rnnsearch.engine.fused import Fused
from rnnsearch.engine.interface import Decoded, Engine
from rnnsearch.engine.products import fast_products
from rnnsearch.engine.reference import Reference

__all__ = ["Decoded", "Engine", "Fused", "Reference", "fast_products"]
