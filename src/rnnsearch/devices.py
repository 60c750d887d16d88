"""The device that computes, and the transfer of minibatches to it."""

from __future__ import annotations

import platform

import torch
from torch import Tensor, nn

from rnnsearch.data.batches import Batch


def default_device() -> torch.device:
    """A GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_name() -> str:
    """The default device, for people."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def device_of(model: nn.Module) -> torch.device:
    """The device that holds the weights of a model."""
    return next(model.parameters()).device


def batch_tensors(batch: Batch, device: torch.device, readings: int = 1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The arguments of `RNNsearch.forward` for a minibatch: word ids and lengths of sources and targets, on the device.

    With several `readings`, each sentence comes so many times in a row.
    """
    arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
    x_BS, x_lengths_B, y_BT, y_lengths_B = (
        torch.from_numpy(array if readings == 1 else array.repeat(readings, 0)).to(device) for array in arrays
    )
    return x_BS, x_lengths_B, y_BT, y_lengths_B
