"""How the recurrences are run.

The model calls an `Engine` for the two loops that cannot be one large product, the encoder's and the decoder's, and
knows nothing of how they are computed. `Reference` is plain autograd, written to be read, and the yardstick of the others;
`Fused` has a backward pass derived by hand; `Cuda`, in a module of its own that needs Triton, is the same for NVIDIA GPUs.
"""

from rnnsearch.ops.choice import choose_engine
from rnnsearch.ops.dropout import drop
from rnnsearch.ops.gather import distinct_rows
from rnnsearch.ops.interface import Decoded, Engine
from rnnsearch.ops.matmul import Precision, fast_products, precision_of, usable_precision
from rnnsearch.ops.memory import kept_memory
from rnnsearch.ops.recurrence_cpu import Fused
from rnnsearch.ops.reference import Reference

__all__ = [
    "Decoded",
    "Engine",
    "Fused",
    "Precision",
    "Reference",
    "choose_engine",
    "distinct_rows",
    "drop",
    "fast_products",
    "kept_memory",
    "precision_of",
    "usable_precision",
]
