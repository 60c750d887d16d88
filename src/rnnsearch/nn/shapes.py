"""The checks of the inputs of the layers: shapes, types of masks, lengths, and packed sequences."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from rnnsearch.errors import RnnsearchError

Lengths = Tensor | Sequence[int]
"""The number of positions of each sequence, (B), on any device."""


def expect(tensor: Tensor, name: str, shape: tuple[int | None, ...]) -> torch.Size:
    """Return the shape of a tensor. Raises RnnsearchError if it is not `shape`, in which None stands for any size."""
    fits = tensor.dim() == len(shape)
    for size, actual in zip(shape, tensor.shape, strict=False):
        fits = fits and (size is None or size == actual)
    if not fits:
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise RnnsearchError(f"{name} has the shape ({', '.join(map(str, tensor.shape))}); expected ({expected})")
    return tensor.shape


def padded(sequences: Tensor | PackedSequence, name: str, lengths: Lengths | None) -> tuple[Tensor, Lengths | None]:
    """Return sequences as a tensor (B, S, …), and their lengths, or None if these are unknown."""
    if not isinstance(sequences, PackedSequence):
        return sequences, lengths
    if lengths is not None:
        raise RnnsearchError(f"{name} is a PackedSequence, which knows its lengths; leave `lengths` out")
    return pad_packed_sequence(sequences, batch_first=True)


def read_mask(mask: Tensor | None, lengths: Lengths | None, like_BSX: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Return a boolean mask of the readable positions, and a bias of the energies, both (B, X, S) or None.

    A position is readable where a boolean mask is True or an integer mask is not zero. A floating-point mask is the bias;
    positions are not readable where it is −∞ or the lowest number of its type. X is 1, or the number of queries.
    """
    B, S = like_BSX.shape[:2]
    readable = bias = None
    # A mask (B, S) is the same for all queries.
    if mask is not None:
        if mask.dim() == 3:
            expect(mask, "mask", (B, None, S))
        else:
            expect(mask, "mask", (B, S))
            mask = mask.unsqueeze(1)
        if mask.is_complex():
            raise RnnsearchError(f"mask has the type {mask.dtype}; expected a boolean, integer or floating-point type")
        if mask.is_floating_point():
            readable, bias = mask > torch.finfo(mask.dtype).min, mask
        else:
            readable = mask.bool()
    # Positions from the length of a sequence on are not readable either.
    if lengths is not None:
        lengths_B = torch.as_tensor(lengths, device=like_BSX.device)
        expect(lengths_B, "lengths", (B,))
        if lengths_B.is_floating_point() or lengths_B.is_complex() or lengths_B.dtype == torch.bool:
            raise RnnsearchError(f"lengths have the type {lengths_B.dtype}; expected an integer type")
        within_B1S = (torch.arange(S, device=like_BSX.device) < lengths_B.unsqueeze(1)).unsqueeze(1)
        readable = within_B1S if readable is None else readable & within_B1S
    return readable, bias


def sequence_mask(mask: Tensor | None, lengths: Lengths | None, like_BSX: Tensor) -> Tensor:
    """Return a boolean mask (B, S) of the positions of sequences (B, S, …) that are not padding.

    Raises RnnsearchError for a mask of another shape, or with floating-point numbers.
    """
    if mask is not None:
        expect(mask, "mask", tuple(like_BSX.shape[:2]))
        if mask.is_floating_point():
            raise RnnsearchError(
                f"mask has the type {mask.dtype}, which is for energies of attention; expected a boolean or an integer type"
            )
    readable, _ = read_mask(mask, lengths, like_BSX)
    if readable is None:
        return torch.ones(like_BSX.shape[:2], dtype=torch.bool, device=like_BSX.device)
    return readable.squeeze(1)
