"""The kernels of the `cuda` engine compute what the plain loops and the conformance vectors say.

They run on a GPU where there is one. Elsewhere Triton interprets them, slowly, on a CPU; that has to be decided before
Triton is imported, and so all tests here that need kernels run in a Python of their own (`test_by_the_interpreter`).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from conformance.test_conformance import FILES, Vectors, groupings
from rnnsearch.config import ModelConfig, TrainingConfig
from rnnsearch.model import RNNsearch
from rnnsearch.ops import Precision, Recurrences, precision_of
from rnnsearch.training.cost import training_cost
from toy import ALIGNMENTS, ORDERS, batch_of, random_model, random_pairs

ROOT = Path(__file__).parents[3]
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
GPU = torch.cuda.is_available() and not INTERPRETED
DEVICE = torch.device("cuda" if GPU else "cpu")
DTYPES = [(torch.float64, 1e-9), (torch.float32, 1e-4)]

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed: the cuda engine is NOT TESTED"
)
needs_kernels = pytest.mark.skipif(not (INTERPRETED or GPU), reason="run by test_by_the_interpreter")
needs_gpu = pytest.mark.skipif(not GPU, reason="needs a GPU")
not_interpreted = pytest.mark.skipif(INTERPRETED, reason="is about Python without the interpreter")

if INTERPRETED or GPU:
    from rnnsearch.ops.recurrence_cuda import CudaRecurrences


def python(*arguments: str, **environment: str) -> None:
    """Run a Python of its own in the root of the repository; it has to succeed."""
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.nightly
@not_interpreted
def test_nothing_else_needs_triton() -> None:
    python("-c", "import sys; sys.modules['triton'] = None; import rnnsearch.cli, rnnsearch.training.session")


@needs_triton
@not_interpreted
@pytest.mark.nightly
def test_by_the_interpreter() -> None:
    pytest_ = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "quick")
    python(*pytest_, __file__, TRITON_INTERPRET="1", CUDA_VISIBLE_DEVICES="")


@pytest.mark.nightly
@needs_triton
@not_interpreted
def test_the_kernels_compile() -> None:
    """To machine code, for a GPU that need not be there."""
    python(
        "-c",
        """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from rnnsearch.ops import triton_kernels

SIZES = {"BLOCK": triton_kernels.BLOCK_N, "BLOCK_S": triton_kernels.BLOCK_S, "BLOCK_A": triton_kernels.BLOCK_A}
SIZES |= {"BLOCK_G": triton_kernels.BLOCK_A, "ROW": 64}
FACTORS = ("values_BSG", "reset_BN")
kernels = [found for found in vars(triton_kernels).values() if isinstance(found, triton.JITFunction)]
kernels.remove(triton_kernels._tanh)
assert len(kernels) == 9, kernels
for kernel in kernels:
    for numbers, factors in (("*fp32", "*fp32"), ("*fp32", "*bf16"), ("*fp64", "*fp64")):
        types, sizes = {}, {}
        for parameter in kernel.params:
            name = parameter.name
            if parameter.is_constexpr:
                types[name], sizes[name] = "constexpr", SIZES[name]
            else:
                types[name] = "i32" if len(name) == 1 else factors if name in FACTORS else numbers
        source = ASTSource(kernel, types, sizes)
        assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
""",
    )


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module", params=DTYPES, ids=lambda param: str(param[0]).removeprefix("torch."))
def case(request: pytest.FixtureRequest, path: Path) -> tuple[Vectors, float]:
    dtype, tolerance = request.param
    vectors = Vectors(path, dtype, CudaRecurrences())
    vectors.model.to(DEVICE)
    return vectors, tolerance


def on_device(batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(tensor.to(DEVICE) for tensor in batch)


@needs_kernels
def test_conformance_forward(case: tuple[Vectors, float]) -> None:
    vectors, tolerance = case

    def close(ours: Tensor, pair: str, key: str) -> None:
        expected = torch.from_numpy(vectors.of(pair, key)).to(vectors.dtype)
        torch.testing.assert_close(ours.cpu(), expected, rtol=0, atol=tolerance, msg=lambda text: f"{pair} {key}: {text}")

    for pairs in groupings(vectors.pairs):
        x, x_lengths, y, y_lengths = on_device(vectors.batch(pairs))
        with torch.no_grad():
            annotations_BSC = vectors.model.encode(x, x_lengths).annotations_BSC
            output = vectors.model(x, x_lengths, y, y_lengths)
        log_p_PV = torch.log_softmax(output.logits_PV, -1)
        for b, pair in enumerate(pairs):
            Tx, Ty = int(x_lengths[b]), int(y_lengths[b])
            close(annotations_BSC[b, :Tx], pair, "annotations")
            close(output.decoded.states_TBN[: Ty + 1, b], pair, "states")
            close(log_p_PV[output.sentences_P == b], pair, "distributions")
            if output.decoded.alpha_TBS is not None:
                close(output.decoded.alpha_TBS[:Ty, b, :Tx], pair, "alignment")
                assert (output.decoded.alpha_TBS[:Ty, b, Tx:] == 0).all(), "attention reaches into the padding"


@needs_kernels
def test_conformance_of_nll_and_every_derivative(case: tuple[Vectors, float]) -> None:
    vectors, tolerance = case
    for grouping in ([vectors.pairs], [[pair] for pair in vectors.pairs]):
        vectors.model.zero_grad()
        total = 0.0
        for pairs in grouping:
            nll = negative_log_likelihood(vectors.model, on_device(vectors.batch(pairs))) / len(vectors.pairs)
            nll.backward()
            total += float(nll.detach())
        assert total == pytest.approx(float(vectors.arrays["nll"]), abs=tolerance * 10, rel=tolerance)
        for symbol, parameter in vectors.parameters.items():
            assert parameter.grad is not None, symbol
            direction = torch.from_numpy(vectors.arrays[f"direction/{symbol}"]).to(parameter)
            expected = float(vectors.arrays[f"derivative/{symbol}"])
            assert float((parameter.grad * direction).sum()) == pytest.approx(expected, abs=tolerance, rel=tolerance), symbol


def negative_log_likelihood(model: RNNsearch, batch: tuple[Tensor, ...]) -> Tensor:
    output = model(*batch)
    return torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum")


def config_of(alignment: str, order: str, hidden: int, aligned: int) -> ModelConfig:
    return ModelConfig(
        embedding_size=2,
        hidden_size=hidden,
        alignment_size=aligned,
        maxout_size=2,
        alignment=alignment,
        decoder_order=order,
    )


def outputs_and_gradients(
    model: RNNsearch, engine: Recurrences | None, batch: tuple[Tensor, ...], asked: set[str], seed: int
) -> dict[str, Tensor]:
    """What the engine gives, and the gradients of a cost that is random and linear in those outputs that are asked for."""
    model.recurrences = engine
    output = model(*batch)
    decoded, lengths_B = output.decoded, batch[3]
    # What comes of steps past a sentence's end means nothing, and need not be the same.
    mask_TB1 = (torch.arange(len(decoded.contexts_TBC), device=lengths_B.device).unsqueeze(1) < lengths_B).unsqueeze(2)
    states_TBN = torch.cat([decoded.states_TBN[:1], decoded.states_TBN[1:] * mask_TB1])
    outputs = {"states": states_TBN, "contexts": decoded.contexts_TBC * mask_TB1, "logits": output.logits_PV}
    if decoded.alpha_TBS is not None:
        outputs["alpha"] = decoded.alpha_TBS * mask_TB1
    generator = torch.Generator().manual_seed(seed)
    weights = {name: torch.randn(outputs[name].shape, generator=generator) for name in sorted(outputs)}
    # The state s_0 always counts, so that there is a path to some parameter.
    cost = decoded.states_TBN[0].sum()
    for name in sorted(asked & outputs.keys()):
        cost = cost + (outputs[name] * weights[name].to(outputs[name])).sum()
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(cost, list(parameters.values()), allow_unused=True)
    for (name, parameter), gradient in zip(parameters.items(), gradients, strict=True):
        outputs[f"gradient of {name}"] = torch.zeros_like(parameter) if gradient is None else gradient
    return outputs


def same(ours: dict[str, Tensor], theirs: dict[str, Tensor], tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        limit = tolerance * max(1.0, float(expected.detach().abs().max()))
        torch.testing.assert_close(ours[name], expected, rtol=0, atol=limit, msg=lambda text, name=name: f"{name}: {text}")


def distance(ours: Tensor, expected: Tensor) -> float:
    """The norm of the difference, relative to that of what is expected."""
    return float((ours - expected).detach().norm() / (expected.detach().norm() + 1e-6))


@needs_kernels
@settings(max_examples=25)
@given(
    dtype=st.sampled_from(DTYPES),
    alignment=st.sampled_from(("mlp", "mlp", "none")),
    order=st.sampled_from(ORDERS),
    hidden=st.integers(1, 9),
    aligned=st.integers(1, 9),
    lengths=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=3),
    asked=st.sets(st.sampled_from(("states", "contexts", "alpha", "logits")), min_size=1),
    seed=st.integers(0, 2**31),
)
@example(DTYPES[0], "mlp", ORDERS[0], 1, 1, [(0, 0)], {"contexts"}, 0)
@example(DTYPES[0], "mlp", ORDERS[0], 300, 140, [(9, 1), (3, 2)], {"logits", "alpha"}, 0)  # more than one block of each
def test_reference(
    dtype: tuple[torch.dtype, float],
    alignment: str,
    order: str,
    hidden: int,
    aligned: int,
    lengths: list[tuple[int, int]],
    asked: set[str],
    seed: int,
) -> None:
    scale = 0.5 if hidden < 10 else 0.05
    model = random_model(config_of(alignment, order, hidden, aligned), 7, 6, seed, scale).to(DEVICE, dtype[0])
    batch = on_device(batch_of(random_pairs(seed, lengths, 7, 6)))
    ours = outputs_and_gradients(model, CudaRecurrences(), batch, asked, seed)
    same(ours, outputs_and_gradients(model, None, batch, asked, seed), dtype[1])


@needs_kernels
def test_small_states_keep_their_digits() -> None:
    """With the paper's initial weights, states are about 0.001, where a careless tanh loses four of seven digits."""
    model = random_model(config_of("mlp", ORDERS[0], 24, 16), 7, 6, seed=1, scale=0.01).to(DEVICE, torch.float32)
    batch = on_device(batch_of(random_pairs(1, [(5, 4), (9, 3)], 7, 6)))
    ours = outputs_and_gradients(model, CudaRecurrences(), batch, {"states", "contexts"}, 1)
    for name, expected in outputs_and_gradients(model, None, batch, {"states", "contexts"}, 1).items():
        size = float(expected.detach().norm())
        # The gradient of W_a, which is of the second order, is nothing but rounding errors.
        assert size < 1e-9 or float((ours[name] - expected).detach().norm()) <= 1e-5 * size, name


@needs_kernels
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_bfloat16_products(alignment: str) -> None:
    """States are float32, and all is as near to the reference as rounded factors let it be."""
    model = random_model(config_of(alignment, ORDERS[0], 24, 16), 7, 6, seed=1, scale=0.3).to(DEVICE, torch.float32)
    batch = on_device(batch_of(random_pairs(1, [(5, 4), (9, 3)], 7, 6)))
    asked = {"states", "contexts", "alpha"}
    ours = outputs_and_gradients(model, CudaRecurrences(precision="bf16"), batch, asked, 1)
    theirs = outputs_and_gradients(model, None, batch, asked, 1)
    for name, expected in theirs.items():
        assert ours[name].dtype == torch.float32, name
        assert distance(ours[name], expected) <= 0.03, name
    assert not torch.equal(ours["states"], theirs["states"]), "nothing was rounded"


@needs_kernels
def test_autocast_around_it() -> None:
    """The large products outside the engine are bfloat16 by PyTorch's own means; inside, only what the engine rounds."""
    model = random_model(config_of("mlp", ORDERS[0], 24, 16), 7, 6, seed=1, scale=0.3).to(DEVICE, torch.float32)
    batch = on_device(batch_of(random_pairs(1, [(5, 4), (9, 3)], 7, 6)))
    found = []
    for engine in (CudaRecurrences(precision="bf16"), None):
        model.recurrences = engine
        with precision_of(DEVICE, "bf16" if isinstance(engine, CudaRecurrences) else "fp32"):
            output = model(*batch)
        assert output.decoded.states_TBN.dtype == torch.float32
        cost, _ = training_cost(output, 1, TrainingConfig())
        found.append([cost.detach(), *torch.autograd.grad(cost, list(model.parameters()))])
    for ours, expected in zip(*found, strict=True):
        assert distance(ours, expected) <= 0.2


@needs_kernels
@pytest.mark.parametrize("cell", ["lstm", "tanh"])
def test_other_cells_run_as_in_the_reference(cell: str) -> None:
    config = ModelConfig(embedding_size=2, hidden_size=3, alignment_size=2, maxout_size=2, cell=cell)
    model = random_model(config, 7, 6, seed=1).to(DEVICE)
    batch = on_device(batch_of(random_pairs(1, [(3, 2), (1, 4)], 7, 6)))
    asked = {"states", "alpha"}
    ours = outputs_and_gradients(model, CudaRecurrences(), batch, asked, 1)
    same(ours, outputs_and_gradients(model, None, batch, asked, 1), 1e-12)


@needs_kernels
def test_backward_twice_gives_the_same() -> None:
    model = random_model(config_of("mlp", ORDERS[0], 4, 3), 7, 6, seed=5).to(DEVICE)
    model.recurrences = CudaRecurrences()
    nll = negative_log_likelihood(model, on_device(batch_of(random_pairs(1, [(3, 4), (5, 2)], 7, 6))))
    first = torch.autograd.grad(nll, list(model.parameters()), retain_graph=True)
    for one, other in zip(first, torch.autograd.grad(nll, list(model.parameters())), strict=True):
        assert torch.equal(one, other)


@needs_gpu
@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-4), ("bf16", 1e-2)])
def test_graphs_replay_what_was_captured(precision: Precision, tolerance: float) -> None:
    """Captured, replayed, with other shapes in between, with two passes open at once: always the same as without graphs."""
    model = random_model(config_of("mlp", ORDERS[0], 300, 140), 40, 30, seed=1, scale=0.05).to(DEVICE, torch.float32)
    batches = [
        on_device(batch_of(random_pairs(seed, lengths, 40, 30)))
        for seed, lengths in enumerate([[(9, 7), (8, 6)], [(9, 7), (8, 6)], [(30, 28)] * 5, [(2, 3)], [(9, 7), (7, 7)]])
    ]
    parameters = list(model.parameters())

    def gradients(engine: Recurrences | None, batch: tuple[Tensor, ...]) -> list[Tensor]:
        model.recurrences = engine
        nll = negative_log_likelihood(model, batch)
        return [nll.detach(), *torch.autograd.grad(nll, parameters)]

    graphs, eager = CudaRecurrences(precision, graphs=True), CudaRecurrences(precision, graphs=False)
    for _ in range(3):
        for batch in batches:
            for one, other in zip(gradients(graphs, batch), gradients(eager, batch), strict=True):
                assert distance(one, other) <= tolerance

    model.recurrences = graphs
    open_at_once = [negative_log_likelihood(model, batch) for batch in batches]
    for nll, batch in zip(open_at_once, batches, strict=True):
        for one, other in zip(torch.autograd.grad(nll, parameters), gradients(eager, batch)[1:], strict=True):
            assert distance(one, other) <= tolerance


@needs_gpu
def test_graphs_are_bounded() -> None:
    from rnnsearch.ops.cuda_graphs import Graphs

    graphs = Graphs(most=2)
    for size in (3, 5, 700, 3, 5, 7):
        tensor = torch.randn(size, device=DEVICE)
        for _ in range(2):
            (doubled,) = graphs(twice, (), tensor)
            assert torch.equal(doubled, 2 * tensor)
    assert len(graphs._captured) == 2


def twice(settings_: tuple[()], tensor: Tensor) -> tuple[Tensor]:
    return (2 * tensor,)


@needs_gpu
def test_the_size_of_the_paper() -> None:
    """A whole batch of fifty-word sentences, against the reference, with what float32 sums of this length allow."""
    config = ModelConfig()
    model = RNNsearch(config, 2000, 2000)
    model.initialize("glorot", seed=1)
    model.to(DEVICE)
    batch = on_device(batch_of(random_pairs(1, [(50 - i % 20, 50 - i % 17) for i in range(80)], 2000, 2000)))
    found = []
    for engine in (CudaRecurrences(), None):
        model.recurrences = engine
        nll = negative_log_likelihood(model, batch)
        found.append([nll.detach(), *torch.autograd.grad(nll, list(model.parameters()))])
    for ours, theirs in zip(*found, strict=True):
        assert distance(ours, theirs) <= 1e-3


@pytest.mark.nightly
@needs_triton
@not_interpreted
def test_the_gpu_benchmark_runs() -> None:
    """On a CPU, with everything tiny and interpreted."""
    python("benchmarks", "gpu", "--smoke", CUDA_VISIBLE_DEVICES="")
