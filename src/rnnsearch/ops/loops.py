"""The infrastructure of compiled loops (kernels), which run on PyTorch's own threads, and the functions that they share.

PyTorch needs one pass over memory for every pointwise operation; a kernel of this package combines several operations in one
pass. Numba compiles a kernel for the present CPU when it is first called, and caches it on disk. Kernels run on PyTorch's
OpenMP threads, because a second pool would compete with them for the cores. If Numba or OpenMP is missing, `AVAILABLE` is
False, and the callers use PyTorch's operations instead.

A kernel is a function of one argument, an array of addresses. The first address is that of its scalars, as float64; the
others are those of its tensors. All threads call the kernel at once, and each computes its `share`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

try:
    import numba
    from llvmlite import binding, ir
    from numba import types
    from numba.core.ccallback import CFunc
    from numba.extending import intrinsic

    from rnnsearch.compiled_code import keep
except ImportError:  # AVAILABLE is then False
    numba = None


def _openmp() -> ctypes.CDLL | None:
    """Return the GNU OpenMP library that PyTorch has loaded, and make it available to compiled code; None without it."""
    if numba is None or not torch.backends.openmp.is_available():
        return None
    try:
        # The path of the library is in the list of mapped files. Compiled code resolves omp_get_thread_num by name.
        loaded = Path("/proc/self/maps").read_text().splitlines()
        path = next(line.split()[-1] for line in loaded if "libgomp" in line)
        binding.load_library_permanently(path)
        return ctypes.CDLL(path)
    except (OSError, RuntimeError, StopIteration):
        return None


_OPENMP = _openmp()
AVAILABLE = _OPENMP is not None
"""Whether kernels can run in this process."""

# A forked process does not inherit the OpenMP threads of its parent, and would wait for them forever.
os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def run_on(tensor: Tensor, *types: torch.dtype) -> bool:
    """Whether compiled loops accept this tensor: one on the CPU whose type is among `types` (default: float32).

    Every function that has both a compiled loop and a PyTorch version calls this. Loops require contiguous tensors.
    """
    return AVAILABLE and tensor.device.type == "cpu" and tensor.dtype in (types or (torch.float32,))


SCALARS, TENSORS = 12, 16
"""The maximum number of scalars and of tensors of a kernel, the array of scalars counted as a tensor."""


class Kernel:
    """A compiled loop; a call runs it on all threads, and returns when all of them have finished."""

    def __init__(self, function: Callable[[Any], None]) -> None:
        self._function = function
        self._code: ctypes.c_void_p | None = None

    def __call__(self, scalars: tuple[float, ...], *tensors: Tensor, threads: int | None = None) -> None:
        """Run on contiguous tensors of the types that the kernel expects; types and shapes are not checked."""
        if self._code is None:
            self._compiled = _compile(self._function)
            self._code = ctypes.c_void_p(self._compiled.address)
        assert _OPENMP is not None
        # The argument of the compiled function: the address of the scalars, then the addresses of the tensors.
        values = (ctypes.c_double * SCALARS)(*scalars)
        addresses = (ctypes.c_void_p * TENSORS)(ctypes.addressof(values), *(t.data_ptr() for t in tensors))
        # OpenMP calls the function on all threads, and returns when the last one has finished.
        count = threads or torch.get_num_threads()
        _OPENMP.GOMP_parallel(self._code, addresses, ctypes.c_uint(count), ctypes.c_uint(0))


def kernel(function: Callable[[Any], None]) -> Kernel:
    """Turn a function into a kernel; its argument is described in the docstring of this module."""
    return Kernel(function)


if numba is not None:
    _ADDRESSES = types.CPointer(types.voidptr)
    _thread = types.ExternalFunction("omp_get_thread_num", types.int32())
    _threads = types.ExternalFunction("omp_get_num_threads", types.int32())
    # Sums may be reordered and products contracted; infinities and NaN keep their meaning.
    FASTMATH = {"reassoc", "contract", "arcp", "nsz"}

    def _compile(function: Callable[[Any], None]) -> Any:
        """Compile a function for the present CPU, or load its machine code from the cache."""
        options = {"nopython": True, "error_model": "numpy", "fastmath": FASTMATH}
        compiled = keep(CFunc(function, ((_ADDRESSES,), types.void), {}, options), function)
        compiled.compile()
        return compiled

    def device(function: Any) -> Any:
        """Compile a function that kernels call, without inlining it."""
        return keep(numba.njit(inline="never", error_model="numpy", fastmath=FASTMATH)(function), function)

    @intrinsic
    def _power_of_two(context: Any, k: Any) -> Any:
        """Return 2ᵏ for an integral float32 k from −126 to 127, by setting the exponent bits to k + 127."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            # The exponent of a float32 is in the bits 23 to 30, with a bias of 127.
            integer = ir.IntType(32)
            exponent = builder.add(builder.fptosi(arguments[0], integer), ir.Constant(integer, 127))
            return builder.bitcast(builder.shl(exponent, ir.Constant(integer, 23)), ir.FloatType())

        return types.float32(types.float32), generate

    @intrinsic
    def from_bfloat16(context: Any, bits: Any) -> Any:
        """Return the float32 value of a bfloat16 whose bits are a uint16: they are the upper half of the float32."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            integer = ir.IntType(32)
            return builder.bitcast(
                builder.shl(builder.zext(arguments[0], integer), ir.Constant(integer, 16)), ir.FloatType()
            )

        return types.float32(types.uint16), generate

    @intrinsic
    def to_bfloat16(context: Any, x: Any) -> Any:
        """Round a float32 to the nearest bfloat16, as uint16; ties round to even. The default NaN stays NaN."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            integer = ir.IntType(32)
            # Adding 0x7FFF, and one more if the result would be odd, before truncation rounds to nearest even.
            bits, sixteen = builder.bitcast(arguments[0], integer), ir.Constant(integer, 16)
            odd = builder.and_(builder.lshr(bits, sixteen), ir.Constant(integer, 1))
            rounded = builder.add(bits, builder.add(odd, ir.Constant(integer, 0x7FFF)))
            return builder.trunc(builder.lshr(rounded, sixteen), ir.IntType(16))

        return types.uint16(types.float32), generate

    @numba.njit(inline="always", error_model="numpy")
    def share(count: int) -> Any:
        """Return the start and stop of the part of `range(count)` that this thread computes."""
        thread, threads = _thread(), _threads()
        return count * thread // threads, count * (thread + 1) // threads

    @numba.njit(inline="always", error_model="numpy")
    def this_thread() -> Any:
        """Return the number of this thread, from 0."""
        return _thread()

    @numba.njit(inline="always", error_model="numpy")
    def highest_apart(row: Any, tops: Any) -> None:
        """Set `tops[i]` to the maximum of `row[i]`, `row[i + len(tops)]`, `row[i + 2 len(tops)]` and so on.

        Compilers do not vectorise the maximum of a row, since the order matters for NaN; they do vectorise this loop.
        NaN is ignored; the maximum is −inf where all elements are NaN.
        """
        # Compare the row with the running maxima, block by block; a comparison with NaN is false.
        for k in range(len(tops)):
            tops[k] = np.float32(-np.inf)
        for begin in range(0, len(row), len(tops)):
            part = row[begin : begin + len(tops)]
            for k in range(len(part)):
                tops[k] = part[k] if part[k] > tops[k] else tops[k]

    @numba.njit(inline="always", error_model="numpy")
    def highest_of(row: Any) -> Any:
        """Return the maximum of a row, without NaN, by `highest_apart`."""
        # The maxima of 256 interleaved parts of the row, and then the maximum of these.
        tops = np.empty(256, np.float32)
        highest_apart(row, tops)
        highest = np.float32(-np.inf)
        for top in tops:
            highest = top if top > highest else highest
        return highest

    @numba.njit(inline="always", error_model="numpy", fastmath=FASTMATH)
    def tanh(x: Any) -> Any:
        """Return tanh of a float32, accurate to a few units in the last place. NaN stays NaN.

        tanh x ≈ x P(x²) / Q(x²) with two polynomials; beyond ±7.9, it is ±1 up to rounding, so x is clipped there.
        """
        limit = np.float32(7.9)
        x = limit if x > limit else x
        x = -limit if x < -limit else x
        # P(x²) by Horner's scheme, and then Q(x²).
        y = x * x
        p = np.float32(-2.76076847742355e-16)
        p = p * y + np.float32(2.00018790482477e-13)
        p = p * y + np.float32(-8.60467152213735e-11)
        p = p * y + np.float32(5.12229709037114e-08)
        p = p * y + np.float32(1.48572235717979e-05)
        p = p * y + np.float32(6.37261928875436e-04)
        p = p * y + np.float32(4.89352455891786e-03)
        q = np.float32(1.19825839466702e-06)
        q = q * y + np.float32(1.18534705686654e-04)
        q = q * y + np.float32(2.26843463243900e-03)
        q = q * y + np.float32(4.89352518554385e-03)
        return x * p / q

    @numba.njit(inline="always", error_model="numpy", fastmath=FASTMATH)
    def sigmoid(x: Any) -> Any:
        """Return σ(x) = 1 / (1 + e⁻ˣ) = ½ + ½ tanh(x / 2) of a float32."""
        half = np.float32(0.5)
        return half + half * tanh(half * x)

    @numba.njit(inline="always", error_model="numpy", fastmath=FASTMATH)
    def exp(x: Any) -> Any:
        """Return eˣ of a float32 x ≤ 0, accurate to a few units in the last place; 0 below −87. NaN stays NaN.

        eˣ = 2ᵏ eʳ with k = round(x / ln 2) and r = x − k ln 2, where ln 2 is the sum of two constants, for an exact r, and a
        polynomial approximates eʳ.
        """
        low = np.float32(-87.0)
        tiny = x < low
        x = low if tiny else x
        # k = round(x / ln 2), and the remainder r.
        k = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
        r = x - k * np.float32(0.693359375) + k * np.float32(2.12194440e-4)
        # A polynomial for eʳ by Horner's scheme, then the product with 2ᵏ.
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        p = p * r * r + r + np.float32(1.0)
        value = p * _power_of_two(k)
        return np.float32(0.0) if tiny else value
