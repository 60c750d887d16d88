"""The device that computes, and the transfer of minibatches to it. PyTorch is imported only by what needs it."""

from __future__ import annotations

import platform
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rnnsearch.data.batches import Batch

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


def default_device() -> torch.device:
    """Return a GPU if there is one, otherwise the CPU."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def translation_device() -> str:
    """Return `cuda` if there is a GPU, its driver and PyTorch, otherwise `cpu`, and then import nothing."""
    if shutil.which("nvidia-smi") is None or find_spec("torch") is None:
        return "cpu"
    return str(default_device())


def device_name() -> str:
    """Return the name of the default device, as messages show it."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def device_of(model: nn.Module) -> torch.device:
    """Return the device that holds the weights of a model."""
    return next(model.parameters()).device


def batch_tensors(batch: Batch, device: torch.device, passes: int = 1) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the arguments of `RNNsearch.forward` for a minibatch, on the device: word ids and lengths of both sides.

    With several forward `passes`, each sentence is repeated that many times in a row.
    """
    import torch

    arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
    x_BS, x_lengths_B, y_BT, y_lengths_B = (
        torch.from_numpy(array if passes == 1 else array.repeat(passes, 0)).to(device) for array in arrays
    )
    return x_BS, x_lengths_B, y_BT, y_lengths_B
