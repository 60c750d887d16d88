"""CUDA graphs: a loop of kernels, recorded once and launched at once.

A step of a recurrence is a few kernels of some microseconds, and to launch a kernel takes as long as that. A graph of all
steps is one launch. It always does the same to the same memory, and so there is one for every loop and every shape.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

import torch
from torch import Tensor

Tensors = tuple[Tensor, ...]
Loop = Callable[..., Tensors]
"""`(settings, *tensors)` to new tensors: it reads its arguments only, and does the same for all of one shape."""
Run = Callable[..., Tensors]
"""How a loop is run: `(loop, settings, *tensors)` to the loop's results."""


def at_once(loop: Loop, settings: Hashable, *arguments: Tensor) -> Tensors:
    """Run a loop as it is, without a graph."""
    return loop(settings, *arguments)


class Graphs:
    """Runs loops as CUDA graphs, one for each loop and shape of its arguments; the `most` that were used last are kept.

    All graphs work on one stretch of memory, into which the arguments are copied before a replay and from which the results
    are copied after it. Nothing is left there in between, so forward and backward passes may follow each other in any order.
    """

    def __init__(self, most: int = 256, device: str = "cuda") -> None:
        self.most = most
        self._memory = torch.empty(0, dtype=torch.uint8, device=device)
        self._forget()

    def __call__(self, loop: Loop, settings: Hashable, *arguments: Tensor) -> Tensors:
        key = (loop, settings, tuple((tensor.shape, tensor.dtype) for tensor in arguments))
        if key not in self._captured:
            return self._capture(key, loop, settings, arguments)
        self._captured.move_to_end(key)
        graph, inputs, outputs = self._captured[key]
        for ours, given in zip(inputs, arguments, strict=True):
            ours.copy_(given)
        graph.replay()
        return tuple(output.clone() for output in outputs)

    def _capture(self, key: Hashable, loop: Loop, settings: Hashable, arguments: Tensors) -> Tensors:
        """Run the loop as it is, which compiles its kernels for tensors that lie as a graph's do; then capture it."""
        inputs = self._place(arguments)
        for ours, given in zip(inputs, arguments, strict=True):
            ours.copy_(given)
        results = loop(settings, *inputs)
        placed = self._place([*arguments, *results])
        inputs, outputs = placed[: len(arguments)], placed[len(arguments) :]
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            for output, result in zip(outputs, loop(settings, *inputs), strict=True):
                output.copy_(result)
        self._captured[key] = graph, inputs, outputs
        if len(self._captured) > self.most:
            self._captured.popitem(last=False)
        return results

    def _place(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Room for tensors of these shapes, one behind the other; where there is too little, all begins anew with more."""
        sizes = [tensor.numel() * tensor.element_size() for tensor in tensors]
        starts = [0]
        for size in sizes:
            starts.append(starts[-1] + -(-size // ALIGNMENT) * ALIGNMENT)
        if starts[-1] > len(self._memory):
            self._forget()
            self._memory = self._memory.new_empty(2 * starts[-1])
        return [
            self._memory[start : start + size].view(tensor.dtype).view(tensor.shape)
            for tensor, start, size in zip(tensors, starts, sizes, strict=False)
        ]

    def _forget(self) -> None:
        self._captured: OrderedDict[Hashable, tuple[torch.cuda.CUDAGraph, list[Tensor], list[Tensor]]] = OrderedDict()
        # What the graphs use besides; they do so one after the other, and so it can be the same memory.
        self._pool = torch.cuda.graph_pool_handle()


ALIGNMENT = 512
"""Bytes: as PyTorch's own allocations lie."""
