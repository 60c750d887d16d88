"""The paper's layers for models of your own: attention, a recurrent network with attention, cells, a bidirectional RNN.

Each is a `torch.nn.Module` that is initialised for training, in float16, bfloat16, float32 or float64, on a CPU or a GPU. It
can be compiled (`torch.compile`) and exported (`torch.export`). Sequences are batch-first: a tensor, with a mask or lengths
if it has padding, or a `torch.nn.utils.rnn.PackedSequence`.

In the shapes below, B is the number of sequences, S the number of positions of a memory, K the number of queries per
sequence, and T the number of steps.
"""

from rnnsearch.extras import imports_of_extras

with imports_of_extras():
    from rnnsearch.nn.attention import (
        Attended,
        Attention,
        BahdanauAttention,
        GaussianMixtureAttention,
        LocationAttention,
        MonotonicAttention,
    )
    from rnnsearch.nn.attentive import AttentiveRNN, AttentiveState, InitialState
    from rnnsearch.nn.memory import Memory
    from rnnsearch.nn.recurrent import BidirectionalRNN, RecurrentCell

__all__ = [
    "Attended",
    "Attention",
    "AttentiveRNN",
    "AttentiveState",
    "BahdanauAttention",
    "BidirectionalRNN",
    "GaussianMixtureAttention",
    "InitialState",
    "LocationAttention",
    "Memory",
    "MonotonicAttention",
    "RecurrentCell",
]
