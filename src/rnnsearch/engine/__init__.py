"""How the recurrences are run.

The model calls an `Engine` for the two loops that cannot be one large product, the encoder's and the decoder's, and
knows nothing of how they are computed. `Reference` is plain autograd, written to be read, and the yardstick of the others;
`Fused` has a backward pass derived by hand; `Cuda`, in a module of its own that needs Triton, is the same for NVIDIA GPUs.
"""

from rnnsearch.engine.choice import choose_engine
from rnnsearch.engine.dropout import drop
from rnnsearch.engine.fused import Fused
from rnnsearch.engine.interface import Decoded, Engine
from rnnsearch.engine.memory import kept_memory
from rnnsearch.engine.products import Precision, bf16_is_slower, fast_products, precision_of
from rnnsearch.engine.reference import Reference
from rnnsearch.engine.rows import distinct_rows

__all__ = [
    "Decoded",
    "Engine",
    "Fused",
    "Precision",
    "Reference",
    "bf16_is_slower",
    "choose_engine",
    "distinct_rows",
    "drop",
    "fast_products",
    "kept_memory",
    "precision_of",
]
