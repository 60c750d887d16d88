"""Optimised tensor functions for the operations that take most of the time in training and search.

This package does not depend on the modules of the model, on settings or on files. Each function takes and returns tensors,
and has a derivative that was derived by hand. The model uses these functions where they apply; its own step-by-step code is
their reference. The letters in the names of tensors are those of `rnnsearch.model`.

| module | content |
|---|---|
| `recurrences` | the interface of the recurrences, and the choice of their implementation |
| `recurrence_cpu`, `recurrence_cuda` | the fused recurrences, for any device, and those for NVIDIA GPUs |
| `pointwise`, `pointwise_compiled`, `triton_kernels` | the pointwise operations and the attention of a recurrence step |
| `cross_entropy`, `cross_entropy_compiled` | a linear layer, softmax and cross-entropy as one function |
| `optimizer`, `hash_dropout`, `gather` | optimizer steps, dropout, selection of rows |
| `matmul`, `memory`, `loops`, `cuda_graphs` | the basis of these: matrix products, malloc, compiled loops, CUDA graphs |
"""

from rnnsearch.extras import imports_of_extras

with imports_of_extras():
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
