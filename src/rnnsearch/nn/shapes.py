"""What the layers accept: shapes, the sorts of masks, lengths, and packed sequences."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from rnnsearch.errors import RnnsearchError


def expect(tensor: Tensor, name: str, shape: tuple[int | None, ...]) -> torch.Size:
    """The shape of a tensor; RnnsearchError if it is not as expected, where None stands for any size."""
    fits = tensor.dim() == len(shape)
    for size, found in zip(shape, tensor.shape, strict=False):
        fits = fits and (size is None or size == found)
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise RnnsearchError(f"{name} has the shape ({', '.join(map(str, tensor.shape))}); expected ({wanted})")
    return tensor.shape


def padded(sequences: Tensor | PackedSequence, name: str, lengths: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """A tensor (B, S, …) and the lengths of its sequences (B), if they are known."""
    if not isinstance(sequences, PackedSequence):
        return sequences, lengths
    if lengths is not None:
        raise RnnsearchError(f"{name} is a PackedSequence, which knows its lengths; leave `lengths` out")
    tensor, known = pad_packed_sequence(sequences, batch_first=True)
    return tensor, known.to(tensor.device)


def read_mask(mask: Tensor | None, lengths: Tensor | None, B: int, S: int) -> tuple[Tensor | None, Tensor | None]:
    """What there is to read (B, X, S), boolean, and what is added to energies (B, X, S); X is 1, or the number of queries.

    A boolean mask is True, and an integer mask other than zero, where there is something to read. A floating-point mask
    is added to the energies, and there is nothing to read where it is −∞ or the lowest number of its type.
    """
    readable = bias = None
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
    if lengths is not None:
        expect(lengths, "lengths", (B,))
        if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
            raise RnnsearchError(f"lengths have the type {lengths.dtype}; expected an integer type")
        within_B1S = (torch.arange(S, device=lengths.device) < lengths.unsqueeze(1)).unsqueeze(1)
        readable = within_B1S if readable is None else readable & within_B1S
    return readable, bias


def sequence_mask(mask: Tensor | None, lengths: Tensor | None, like_BSX: Tensor) -> Tensor:
    """Where there is something to read in sequences (B, S, …): boolean (B, S)."""
    B, S = like_BSX.shape[:2]
    if mask is not None:
        expect(mask, "mask", (B, S))
        if mask.is_floating_point():
            raise RnnsearchError(
                f"mask has the type {mask.dtype}, which is for energies of attention; expected a boolean or an integer type"
            )
    readable, _ = read_mask(mask, lengths, B, S)
    if readable is None:
        return torch.ones(B, S, dtype=torch.bool, device=like_BSX.device)
    return readable.squeeze(1)
