"""What attention layers accept: masks of all sorts, lengths, values, packed sequences, and what they refuse."""

from __future__ import annotations

import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence

from attention_layers import DTYPES, LAYERS, LENGTHS, MASK, A, B, K, M, Q, S, V, every_layer, made, random, same
from rnnsearch import RnnsearchError
from rnnsearch.nn import BidirectionalRNN, InitialState, LocationAttention, Memory

SOFTMAX = [name for name in LAYERS if name != "monotonic"]


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(1)


@every_layer
def test_all_sorts_of_masks_are_one(name: str) -> None:
    layer, query, memory = made(name), random(B, K, Q), random(B, S, M)
    expected = layer(query, memory, MASK)
    lowest = torch.finfo(torch.float32).min
    for mask in (
        *(MASK.to(dtype) for dtype in (torch.uint8, torch.int32, torch.int64)),
        -3 * MASK.long(),
        *(torch.zeros(B, S).masked_fill(~MASK, number) for number in (-torch.inf, lowest)),
        torch.zeros(B, S, dtype=torch.float16).masked_fill(~MASK, torch.finfo(torch.float16).min),
        MASK.unsqueeze(1),
        MASK.unsqueeze(1).expand(-1, K, -1),
        torch.zeros(B, K, S).masked_fill(~MASK.unsqueeze(1), -torch.inf),
    ):
        same(layer(query, memory, mask), expected)
    for lengths in (LENGTHS, LENGTHS.int(), torch.tensor([100, 2, 4]), LENGTHS.tolist()):
        same(layer(query, memory, lengths=lengths), expected)
    both = layer(query, memory, torch.arange(S).expand(B, S) >= 1, lengths=LENGTHS)
    same(both, layer(query, memory, MASK & (torch.arange(S) >= 1)))


@pytest.mark.parametrize("name", SOFTMAX)
def test_an_additive_mask_is_added_to_the_energies(name: str) -> None:
    layer, query, memory, bias = made(name), random(B, Q), random(B, S, M), random(B, S)
    expected = layer(query, memory)[1] * bias.exp()
    same((layer(query, memory, bias)[1],), (expected / expected.sum(-1, keepdim=True),))
    # And it can be learnt, also where another part of it excludes positions.
    bias = bias.masked_fill(~MASK, -torch.inf).requires_grad_()
    layer(query, memory, bias)[0].pow(2).sum().backward()
    assert bias.grad is not None
    assert (bias.grad[MASK] != 0).all()
    assert (bias.grad[~MASK] == 0).all()


@every_layer
def test_a_mask_for_each_query(name: str) -> None:
    layer, query, memory = made(name), random(B, K, Q), random(B, S, M)
    mask = torch.rand(B, K, S) < 0.6
    bias = random(B, K, S).masked_fill(~mask, -torch.inf)
    for given_mask in (mask, mask.long(), bias):
        contexts, weights = layer(query, memory, given_mask, lengths=LENGTHS)
        assert (weights[~(mask & MASK.unsqueeze(1))] == 0).all()
        prepared, state = layer.prepare(memory, given_mask, lengths=LENGTHS), None
        for k in range(K):
            context, alpha, state = layer.step(query[:, k], prepared.of_query(k), state)
            same((context, alpha), (contexts[:, k], weights[:, k]))
    with pytest.raises(RnnsearchError, match=f"mask is for {K} queries of each sequence, but there are 1"):
        layer(query[:, 0], memory, mask)
    with pytest.raises(RnnsearchError, match=f"mask is for {K} queries of each sequence, but there are 2"):
        layer(query[:, :2], memory, mask)


@every_layer
def test_packed_sequences_are_padded_ones(name: str) -> None:
    layer, query, memory, values = made(name), random(B, K, Q), random(B, S, M), random(B, S, V)
    packed = pack_padded_sequence(memory, LENGTHS, batch_first=True, enforce_sorted=False)
    same(layer(query, packed), layer(query, memory, lengths=LENGTHS))
    packed_values = pack_padded_sequence(values, LENGTHS, batch_first=True, enforce_sorted=False)
    same(layer(query, packed, values=packed_values), layer(query, memory, lengths=LENGTHS, values=values))
    with pytest.raises(RnnsearchError, match="memory is a PackedSequence, which knows its lengths"):
        layer(query, packed, lengths=LENGTHS)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_packed_encoder(ordered: bool) -> None:
    """Its annotations are packed as `torch.nn.GRU` packs its states, and an initial state and an attention read them."""
    lengths = LENGTHS.sort(descending=True).values if ordered else LENGTHS
    rnn, x = BidirectionalRNN(M, 3, dtype=torch.float64).requires_grad_(False), random(B, S, M)
    packed = pack_sequence([x[b, :length] for b, length in enumerate(lengths)], enforce_sorted=ordered)
    found = rnn(packed)
    assert isinstance(found, PackedSequence)
    padded = rnn(x, lengths=lengths)
    same((padded,), (rnn(x, (torch.arange(S) < lengths.unsqueeze(1)).long()),))
    wanted = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=ordered)
    same((found.data, found.batch_sizes), (wanted.data, wanted.batch_sizes))
    gru, _ = torch.nn.GRU(M, 3, dtype=torch.float64)(packed)
    assert (found.sorted_indices is None) == (gru.sorted_indices is None) == ordered
    for summary in ("first", "mean"):
        initial = InitialState(6, 4, summary, dtype=torch.float64)
        same((initial(found),), (initial(padded, lengths=lengths),))
    with pytest.raises(RnnsearchError, match="x is a PackedSequence"):
        rnn(packed, MASK)


@every_layer
def test_padding_and_excluded_positions_have_no_effect(name: str) -> None:
    layer, query, memory = made(name), random(B, K, Q), random(B, S, M)
    changed = memory.masked_fill(~MASK.unsqueeze(2), 1e6)
    same(layer(query, changed, MASK), layer(query, memory, MASK))
    shorter = layer(query[1:2], memory[1:2, :2])
    same(tuple(x[1:2, :, :2] for x in layer(query, changed, MASK)[1:]), shorter[1:])


@every_layer
@pytest.mark.parametrize("dtype", [*DTYPES, torch.float64], ids=str)
def test_nothing_to_attend_to_gives_zeros(name: str, dtype: torch.dtype) -> None:
    layer = LAYERS[name](dtype=dtype)
    query, memory = random(B, K, Q).to(dtype).requires_grad_(), random(B, S, M).to(dtype).requires_grad_()
    for mask in (MASK, torch.zeros(B, S, dtype=dtype).masked_fill(~MASK, -torch.inf)):
        context, weights = layer(query, memory, mask * torch.tensor([1, 0, 1]).bool().unsqueeze(1) if mask is MASK else mask)
        if mask is MASK:
            assert (context[1] == 0).all()
            assert (weights[1] == 0).all()
        assert context.dtype == dtype
        (context.pow(2).sum() + weights.pow(2).sum()).backward()
        for tensor in (query, memory, *layer.parameters()):
            assert tensor.grad is not None
            assert tensor.grad.isfinite().all()
    empty = layer(query.detach(), memory.detach()[:, :0])
    assert empty[0].shape == (B, K, M)
    assert not empty[0].any()
    assert empty[1].shape == (B, K, 0)
    assert layer(query.detach()[:0], memory.detach()[:0])[0].shape == (0, K, M)
    assert layer(query.detach()[:, :0], memory.detach())[1].shape == (B, 0, S)


def test_errors_name_what_is_wrong() -> None:
    layer, query, memory = LAYERS["location"](), torch.randn(B, Q), torch.randn(B, S, M)
    for message, call in {
        r"width is 4; expected an odd number": lambda: LocationAttention(Q, M, A, width=4),
        r"lengths has the shape \(2\); expected \(3\)": lambda: layer(query, memory, lengths=LENGTHS[:2]),
        r"lengths have the type torch.float32; expected an integer": lambda: layer(query, memory, lengths=LENGTHS.float()),
        r"lengths have the type torch.bool": lambda: layer(query, memory, lengths=LENGTHS.bool()),
        r"mask has the type torch.complex64": lambda: layer(query, memory, torch.zeros(B, S, dtype=torch.complex64)),
        r"mask has the shape \(3, 4, 5\); expected \(3, any, 6\)": lambda: layer(query, memory, torch.ones(B, K, 5)),
        r"mask has the shape \(6\); expected \(3, 6\)": lambda: layer(query, memory, MASK[0]),
        r"values has the shape \(3, 5, 2\); expected \(3, 6, any\)": lambda: layer(query, memory, values=memory[:, 1:, :V]),
        r"keys has the shape \(3, 6, 7\); expected \(3, 6, 8\)": lambda: layer(query, memory, keys=memory),
        r"state has the shape \(3, 5\); expected \(3, 6\)": lambda: layer.step(query, layer.prepare(memory), query),
        r"the memory has no keys": lambda: layer.step(query, Memory(memory)),
        r"mask has the type torch.float32, which is for energies": lambda: BidirectionalRNN(M, 2)(memory, torch.ones(B, S)),
    }.items():
        with pytest.raises(RnnsearchError, match=message):
            call()
