"""CUDA graphs, which capture a loop of kernels once and then launch it as a whole.

A step of a recurrence consists of a few kernels that run for some microseconds each, which is about as long as their launch
takes. A graph launches all steps at once. It repeats the same operations on the same memory, so every combination of loop
and shapes has its own graph.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

import torch
from torch import Tensor

Tensors = tuple[Tensor, ...]
Loop = Callable[..., Tensors]
"""Maps `(settings, *tensors)` to new tensors. It only reads its arguments, and its operations depend on shapes only."""
Run = Callable[..., Tensors]
"""Maps `(loop, settings, *tensors)` to the results of the loop."""


def at_once(loop: Loop, settings: Hashable, *arguments: Tensor) -> Tensors:
    """Run a loop directly, without a graph."""
    return loop(settings, *arguments)


class Graphs:
    """Runs loops as CUDA graphs: one graph per loop and shapes of its arguments. The `most` last used graphs are kept.

    All graphs share one buffer: arguments are copied into it before a replay, and results are copied out of it afterwards.
    The buffer holds nothing between calls, so forward and backward passes may follow each other in any order.
    """

    def __init__(self, most: int = 256, device: str = "cuda") -> None:
        self.most = most
        self._memory = torch.empty(0, dtype=torch.uint8, device=device)
        self._forget()

    def __call__(self, loop: Loop, settings: Hashable, *arguments: Tensor) -> Tensors:
        # A graph repeats the same operations on the same memory, so that another shape or setting needs another graph.
        key = (loop, settings, tuple((tensor.shape, tensor.dtype) for tensor in arguments))
        if key not in self._captured:
            return self._capture(key, loop, settings, arguments)
        # Copy the arguments into the buffer of the graph, launch it, and copy the results out of the buffer.
        self._captured.move_to_end(key)
        graph, inputs, outputs = self._captured[key]
        for buffer, argument in zip(inputs, arguments, strict=True):
            buffer.copy_(argument)
        graph.replay()
        return tuple(output.clone() for output in outputs)

    def _capture(self, key: Hashable, loop: Loop, settings: Hashable, arguments: Tensors) -> Tensors:
        """Run the loop directly, which compiles its kernels for the buffer's alignment; then capture it."""
        inputs = self._place(arguments)
        for buffer, argument in zip(inputs, arguments, strict=True):
            buffer.copy_(argument)
        results = loop(settings, *inputs)
        # Buffers for arguments and results together, which may move the arguments; the captured loop reads and writes them.
        placed = self._place([*arguments, *results])
        inputs, outputs = placed[: len(arguments)], placed[len(arguments) :]
        # Capturing records the kernels without running them.
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            for output, result in zip(outputs, loop(settings, *inputs), strict=True):
                output.copy_(result)
        self._captured[key] = graph, inputs, outputs
        if len(self._captured) > self.most:
            self._captured.popitem(last=False)
        return results

    def _place(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return consecutive views of the buffer with the shapes and types of these tensors.

        If the buffer is too small, a larger one replaces it, and all graphs are dropped.
        """
        # Each view starts at a multiple of ALIGNMENT bytes.
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
        """Drop all graphs and their memory."""
        self._captured: OrderedDict[Hashable, tuple[torch.cuda.CUDAGraph, list[Tensor], list[Tensor]]] = OrderedDict()
        # The memory for intermediate results. Graphs run one at a time, so they can share it.
        self._pool = torch.cuda.graph_pool_handle()


ALIGNMENT = 512
"""The alignment of PyTorch's own allocations, in bytes."""
