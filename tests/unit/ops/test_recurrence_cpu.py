"""The hand-derived backward pass is that of plain autograd, whatever the shapes and whatever is asked for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from products import every_pair
from rnnsearch.config import ModelConfig, TrainingConfig
from rnnsearch.model import RNNsearch, Source
from rnnsearch.model.cells import CELLS as CELL_CLASSES
from rnnsearch.model.decoder import DecoderOutput
from rnnsearch.ops import CpuRecurrences, Recurrences
from rnnsearch.training.cost import training_cost
from toy import ALIGNMENTS, CELLS, ORDERS, batch_of, models_more, random_model, random_pairs

sizes = st.integers(1, 5)
seeds = st.integers(0, 2**31)
cells = st.sampled_from(("gated", "gated", "gated", "lstm", "tanh"))
Gradients = dict[str, Tensor]


def config_of(cell: str, alignment: str, order: str, *shape: int, **more: Any) -> ModelConfig:
    embedding, hidden, aligned, maxout = shape
    return ModelConfig(
        embedding_size=embedding,
        hidden_size=hidden,
        alignment_size=aligned,
        maxout_size=maxout,
        alignment=alignment,
        cell=cell,
        decoder_order=order,
        **more,
    )


def close(one: Tensor, other: Tensor, what: str = "") -> None:
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10, msg=lambda text: f"{what}: {text}")


def same_gradients(one: Gradients, other: Gradients) -> None:
    assert one.keys() == other.keys()
    for name in one:
        close(one[name], other[name], name)


def gradients(cost: Tensor, leaves: dict[str, Tensor]) -> Gradients:
    found = torch.autograd.grad(cost, list(leaves.values()), allow_unused=True)
    return {
        name: torch.zeros_like(leaf) if grad is None else grad
        for (name, leaf), grad in zip(leaves.items(), found, strict=True)
    }


@settings(max_examples=60)
@given(cell=cells, backward=st.booleans(), lengths=st.lists(sizes, min_size=1, max_size=4), hidden=sizes, seed=seeds)
@example(cell="gated", backward=True, lengths=[1], hidden=1, seed=0)
def test_encode(cell: str, backward: bool, lengths: list[int], hidden: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    unit = CELL_CLASSES[cell](3, hidden).double()
    for parameter in unit.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    S, B = max(lengths), len(lengths)
    inputs = torch.randn(S, B, len(unit.gates) * hidden, dtype=torch.float64, generator=generator, requires_grad=True)
    mask = torch.arange(S).unsqueeze(1) < torch.tensor(lengths)
    weights = torch.randn(S, B, hidden, dtype=torch.float64, generator=generator)

    states, grads = [], []
    leaves = {"inputs": inputs} | {name: p for name, p in unit.named_parameters() if name.startswith("U")}
    for engine in (CpuRecurrences(), None):
        out = unit.unroll(inputs, mask, engine, backward)
        states.append(out)
        grads.append(gradients((out * weights).sum(), leaves))
    close(*states, "states")
    assert (states[0][~mask] == 0).all(), "a state outside its sentence"
    same_gradients(*grads)
    assert (grads[0]["inputs"][~mask] == 0).all(), "a gradient outside its sentence"


def leaf_source(source: Source, scattered: bool) -> Source:
    """The source's tensors as leaves; `scattered` ones do not lie in memory in order."""

    def leaf(tensor: Tensor) -> Tensor:
        tensor = tensor.detach().clone()
        if scattered:
            tensor = tensor.transpose(0, 1).contiguous().transpose(0, 1)
        return tensor.requires_grad_()

    return Source(
        leaf(source.annotations_BSC),
        source.mask_BS,
        leaf(source.summary_BN),
        None if source.keys_BSA is None else leaf(source.keys_BSA),
    )


@settings(max_examples=100)
@given(
    cell=cells,
    alignment=st.sampled_from(ALIGNMENTS),
    shape=st.tuples(sizes, sizes, sizes, sizes),
    lengths=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4),
    asked=st.sets(st.sampled_from(("states", "contexts", "alpha")), min_size=1),
    scattered=st.booleans(),
    seed=seeds,
)
@example("gated", "mlp", (2, 3, 2, 1), [(2, 2), (1, 3)], {"alpha"}, False, 0)
@example("gated", "mlp", (2, 3, 2, 1), [(2, 2), (1, 3)], {"states"}, False, 0)
@example("gated", "mlp", (1, 1, 1, 1), [(0, 0)], {"contexts"}, True, 0)
def test_decode(
    cell: str,
    alignment: str,
    shape: tuple[int, int, int, int],
    lengths: list[tuple[int, int]],
    asked: set[str],
    scattered: bool,
    seed: int,
) -> None:
    """Also where the cost depends on some of the outputs only."""
    model = random_model(config_of(cell, alignment, ORDERS[0], *shape), 7, 6, seed)
    x, x_lengths, y, _ = batch_of(random_pairs(seed, lengths, 7, 6))
    generator = torch.Generator().manual_seed(seed)
    source = leaf_source(model.encode(x, x_lengths), scattered)
    width = len(model.decoder.cell.gates) * shape[1]
    inputs = torch.randn(y.shape[1], y.shape[0], width, dtype=torch.float64, generator=generator, requires_grad=True)

    leaves = {"inputs": inputs, "annotations": source.annotations_BSC, "summary": source.summary_BN}
    leaves |= dict(model.decoder.named_parameters())
    if source.keys_BSA is not None:
        leaves["keys"] = source.keys_BSA
    if alignment == "none":
        asked = asked - {"alpha"} or {"states"}
    decoded: list[DecoderOutput] = []
    grads: list[Gradients] = []
    for engine in (CpuRecurrences(), None):
        out = model.decoder.unroll(inputs, source, None, engine)
        decoded.append(out)
        outputs = {"states": out.states_TBN, "contexts": out.contexts_TBC, "alpha": out.alpha_TBS}
        cost = inputs.new_zeros(())
        fixed = torch.Generator().manual_seed(seed)
        for name in sorted(asked):
            tensor = outputs[name]
            assert tensor is not None
            cost = cost + (tensor * torch.randn(tensor.shape, dtype=tensor.dtype, generator=fixed)).sum()
        grads.append(gradients(cost, leaves))
    ours, theirs = decoded
    close(ours.states_TBN, theirs.states_TBN, "states")
    close(ours.contexts_TBC, theirs.contexts_TBC, "contexts")
    if alignment == "none":
        assert ours.alpha_TBS is None
        assert theirs.alpha_TBS is None
    else:
        assert ours.alpha_TBS is not None
        assert theirs.alpha_TBS is not None
        close(ours.alpha_TBS, theirs.alpha_TBS, "alpha")
        assert (ours.alpha_TBS.masked_select(~source.mask_BS) == 0).all(), "attention outside the sentence"
        close(ours.alpha_TBS.sum(-1), torch.ones_like(ours.alpha_TBS[..., 0]), "rows of alpha")
    same_gradients(*grads)


def cost_and_gradients(model: RNNsearch, engine: Recurrences | None, batch: tuple[Tensor, ...]) -> tuple[Tensor, Gradients]:
    """The summed NLL, and its derivative by every parameter."""
    model.recurrences = engine
    output = model(*batch)
    nll = torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum")
    return nll, gradients(nll, dict(model.named_parameters()))


@settings(max_examples=60)
@given(
    cell=cells,
    alignment=st.sampled_from(ALIGNMENTS),
    order=st.sampled_from(ORDERS),
    shape=st.tuples(sizes, sizes, sizes, sizes),
    lengths=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=4),
    more=models_more,
    seed=seeds,
)
def test_whole_model(
    cell: str,
    alignment: str,
    order: str,
    shape: tuple[int, int, int, int],
    lengths: list[tuple[int, int]],
    more: dict[str, Any],
    seed: int,
) -> None:
    model = random_model(config_of(cell, alignment, order, *shape, **more), 7, 6, seed)
    batch = batch_of(random_pairs(seed, lengths, 7, 6))
    fused, fused_gradients = cost_and_gradients(model, CpuRecurrences(), batch)
    reference, reference_gradients = cost_and_gradients(model, None, batch)
    close(fused, reference, "NLL")
    same_gradients(fused_gradients, reference_gradients)


@pytest.mark.parametrize(
    ("cell", "alignment", "order", "engine"), every_pair(CELLS, ALIGNMENTS, ORDERS, ["fused", "reference"])
)
@settings(max_examples=6)
@given(
    lengths=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=2, max_size=5), more=models_more, seed=seeds
)
def test_padding_changes_nothing(
    cell: str,
    alignment: str,
    order: str,
    engine: str,
    lengths: list[tuple[int, int]],
    more: dict[str, Any],
    seed: int,
) -> None:
    """The cost and the gradients of a padded batch are the sums of those of its sentences."""
    recurrences = CpuRecurrences() if engine == "fused" else None
    model = random_model(config_of(cell, alignment, order, 3, 4, 3, 2, **more), 7, 6, seed)
    pairs = random_pairs(seed, lengths, 7, 6)
    together, grads = cost_and_gradients(model, recurrences, batch_of(pairs))
    alone = [cost_and_gradients(model, recurrences, batch_of([pair])) for pair in pairs]
    close(together, torch.stack([cost for cost, _ in alone]).sum(), "NLL")
    sums = {name: torch.stack([one[name] for _, one in alone]).sum(0) for name in grads}
    same_gradients(grads, sums)


@pytest.mark.parametrize("order", [ORDERS[0], pytest.param(ORDERS[1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_gradcheck(alignment: str, order: str) -> None:
    """Against finite differences, which no formula can deceive."""
    model = random_model(config_of("gated", alignment, order, 2, 3, 2, 2), 4, 4, seed=3, scale=0.7)
    model.recurrences = CpuRecurrences()
    batch = batch_of([([2, 3], [1, 2, 3]), ([1], [2])])

    def outputs(*parameters: Tensor) -> tuple[Tensor, ...]:
        # gradcheck changes the parameters themselves, in place.
        output = model(*batch)
        found = [torch.log_softmax(output.logits_PV, -1), output.decoded.states_TBN, output.decoded.alpha_TBS]
        fixed = torch.Generator().manual_seed(1)
        return tuple(
            (tensor * torch.randn(tensor.shape, dtype=tensor.dtype, generator=fixed)).sum()
            for tensor in found
            if tensor is not None
        )

    assert torch.autograd.gradcheck(outputs, tuple(model.parameters()))


def test_backward_twice_gives_the_same() -> None:
    model = random_model(config_of("gated", "mlp", ORDERS[0], 3, 4, 3, 2), 7, 6, seed=5)
    batch = batch_of(random_pairs(1, [(3, 4), (5, 2)], 7, 6))
    output = model(*batch)
    nll = torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="sum")
    parameters = list(model.parameters())
    first = torch.autograd.grad(nll, parameters, retain_graph=True)
    second = torch.autograd.grad(nll, parameters)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other)


def test_dropout_draws_the_same_for_both_engines() -> None:
    model = random_model(config_of("gated", "mlp", ORDERS[0], 3, 4, 3, 2), 7, 6, seed=5)
    batch = batch_of(random_pairs(1, [(3, 4), (5, 2)], 7, 6))
    settings_ = TrainingConfig(label_smoothing=0.1)
    costs = []
    for engine in (CpuRecurrences(), None):
        model.recurrences = engine
        torch.manual_seed(7)
        costs.append(training_cost(model(*batch, dropout=0.5), 1, settings_)[0].detach())
    model.recurrences = CpuRecurrences()
    close(*costs, "cost")
    torch.manual_seed(8)
    other = training_cost(model(*batch, dropout=0.5), 1, settings_)[0].detach()
    assert abs(float(other - costs[0])) > 1e-6, "dropout did nothing"
