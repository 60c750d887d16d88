"""A toy Tacotron: which attention reads longer sequences than it was trained on?

A model reads symbols and speaks them, frame by frame: each symbol is a spectrum that is held for one to three frames. It is
trained on 3 to 8 symbols, and then speaks longer sequences, with its own frames as inputs. A sequence is right if all of
its frames are nearest to the right spectrum, and it ends after the last. As the symbols are random, many are repeated, so a
model has to know where it is. All models are the same but for the attention, layers of `rnnsearch.nn`; encoder and decoder
are those of `docs/how-to/coming-from-keras.md`. The rows of a seed are added to `results/alignment/toy_tacotron.json`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, read, sized, write_result
from rnnsearch.nn import (
    Attention,
    AttentiveRNN,
    BahdanauAttention,
    BidirectionalRNN,
    GaussianMixtureAttention,
    LocationAttention,
    MonotonicAttention,
)

SYMBOLS, BANDS, UNITS = 6, 12, 32
UPDATES, BATCH, TESTED = sized(600, 3), 16, sized(500, 5)
DURATIONS = torch.tensor([1, 2, 3]).repeat(2)
SPECTRA = torch.randn(SYMBOLS, BANDS, generator=torch.Generator().manual_seed(0))
TRAINED = (3, 8)
LENGTHS = (TRAINED, (9, 12), (15, 19), (30, 40))
"""The numbers of symbols, in training and in the tests."""
ATTENTIONS: dict[str, Callable[[], Attention]] = {
    "additive": lambda: BahdanauAttention(UNITS, UNITS, UNITS),
    "location": lambda: LocationAttention(UNITS, UNITS, UNITS, filters=8, width=7),
    "location, cumulative": lambda: LocationAttention(UNITS, UNITS, UNITS, filters=8, width=7, cumulative=True),
    "monotonic": lambda: MonotonicAttention(UNITS, UNITS, UNITS),
    "mixture of Gaussians": lambda: GaussianMixtureAttention(UNITS),
}


def sequences(count: int, shortest: int, longest: int) -> tuple[Tensor, Tensor, Tensor]:
    """Symbols (B, S), their numbers (B), and the symbol of each frame (B, T), −1 after the last."""
    lengths = torch.randint(shortest, longest + 1, (count,))
    symbols = torch.randint(SYMBOLS, (count, longest))
    held = [s[:length].repeat_interleave(DURATIONS[s[:length]]) for s, length in zip(symbols, lengths, strict=True)]
    return symbols, lengths, nn.utils.rnn.pad_sequence(held, batch_first=True, padding_value=-1)


class Tacotron(nn.Module):
    """An embedding and a bidirectional RNN, and a GRU that attends to them and gives a frame and the logit of the end."""

    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, UNITS)
        self.encoder = BidirectionalRNN(UNITS, UNITS // 2)
        self.decoder = AttentiveRNN(BANDS, nn.GRUCell(BANDS + UNITS, UNITS), attention, order="update-look-generate")
        self.output = nn.Linear(2 * UNITS, BANDS + 1)

    def forward(self, symbols: Tensor, lengths: Tensor, frames: Tensor) -> Tensor:
        """Frames and logits (B, T, BANDS + 1); each frame from those before it, (B, T, BANDS)."""
        annotations = self.encoder(self.embedding(symbols), lengths=lengths)
        memory = self.decoder.attention.prepare(annotations, lengths=lengths)
        found: Tensor = self.output(self.decoder(frames, memory)[0])
        return found

    @torch.inference_mode()
    def speak(self, symbols: Tensor, lengths: Tensor, steps: int) -> Tensor:
        """The same, each frame from those that the model gave before."""
        annotations = self.encoder(self.embedding(symbols), lengths=lengths)
        memory = self.decoder.attention.prepare(annotations, lengths=lengths)
        state, found = self.decoder.first_state(memory), [annotations.new_zeros(len(symbols), BANDS + 1)]
        for _ in range(steps):
            output, _, state = self.decoder.step(found[-1][:, :BANDS], memory, state)
            found.append(self.output(output))
        return torch.stack(found[1:], 1)


def train(attention: Attention) -> Tacotron:
    """A model with this attention; its loss is the squared error of frames and the cross-entropy of the end."""
    model = Tacotron(attention)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, total_iters=UPDATES)
    for _ in range(UPDATES):
        symbols, lengths, held = sequences(BATCH, *TRAINED)
        clean, count = SPECTRA[held.clamp(min=0)], (held >= 0).sum(1, keepdim=True)
        frames = nn.functional.pad(clean + 0.1 * torch.randn_like(clean), (0, 0, 1, 0))  # zero before the first
        found = model(symbols, lengths, frames)
        time = torch.arange(found.shape[1])
        error = nn.functional.mse_loss(found[:, :-1, :BANDS][held >= 0], clean[held >= 0])
        ends = nn.functional.binary_cross_entropy_with_logits(
            found[..., BANDS][time <= count], (time == count).float()[time <= count]
        )
        optimizer.zero_grad()
        (error + ends).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


def share_right(model: Tacotron, shortest: int, longest: int) -> float:
    """The percentage of sequences that are right."""
    symbols, lengths, held = sequences(TESTED, shortest, longest)
    T, count = held.shape[1], (held >= 0).sum(1)
    found = model.speak(symbols, lengths, T + 1)
    nearest = torch.cdist(found[:, :T, :BANDS], SPECTRA.expand(TESTED, -1, -1)).argmin(-1)
    ends = found[..., BANDS] > 0
    right = (ends.int().argmax(1) == count) & ends.any(1) & ((nearest == held) | (held < 0)).all(1)
    return round(100 * right.float().mean().item(), 1)


def main() -> None:
    """Train a model with each attention, and add what they read right to the record."""
    parser = Parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    torch.set_num_threads(1)
    found = {}
    for name, attention in ATTENTIONS.items():
        torch.manual_seed(seed)
        model = train(attention())
        torch.manual_seed(1000 + seed)
        found[name] = {f"{shortest}–{longest}": share_right(model, shortest, longest) for shortest, longest in LENGTHS}
        print(seed, name, found[name], flush=True)
    seeds = {**read("alignment/toy_tacotron").get("right_percent", {}), f"seed {seed}": found}
    setting = {"updates": UPDATES, "batch": BATCH, "trained_on_symbols": list(TRAINED), "tested_sequences": TESTED}
    write_result("alignment/toy_tacotron", machine=machine(), setting=setting, right_percent=dict(sorted(seeds.items())))
