"""Functions of tensors: what is computed often is computed here, and fast.

Nothing here knows a module, a setting or a file. Each function takes tensors, returns tensors, and has its derivative
derived by hand where it has one. The model uses them for what they implement, and is their reference: its own code computes
the same step by step. Letters in names of tensors are those of `rnnsearch.model`.

| module | what |
|---|---|
| `recurrences` | the interface of the recurrences; `recurrence_cpu` and `recurrence_cuda` implement it |
| `pointwise`, `pointwise_compiled`, `triton_kernels` | what a step computes besides its matrix products |
| `cross_entropy`, `cross_entropy_compiled` | a linear layer, softmax and cross-entropy as one function |
| `decoder_step`, `packed` | a step of the decoder in search; weights laid out for it, as float32 or int8 |
| `optimizer`, `hash_dropout`, `gather` | steps of the optimizers, dropout, rows of a matrix |
| `matmul`, `memory`, `loops`, `cuda_graphs` | the libraries below: products, malloc, compiled loops, CUDA graphs |
"""

from rnnsearch.ops.cross_entropy import linear_cross_entropy
from rnnsearch.ops.gather import gather_distinct
from rnnsearch.ops.hash_dropout import dropout
from rnnsearch.ops.matmul import Precision, fast_products, full_precision, precision_of, usable_precision
from rnnsearch.ops.memory import kept_memory
from rnnsearch.ops.recurrence_cpu import CpuRecurrences
from rnnsearch.ops.recurrences import Recurrences, choose_recurrences

__all__ = [
    "CpuRecurrences",
    "Precision",
    "Recurrences",
    "choose_recurrences",
    "dropout",
    "fast_products",
    "full_precision",
    "gather_distinct",
    "kept_memory",
    "linear_cross_entropy",
    "precision_of",
    "usable_precision",
]
