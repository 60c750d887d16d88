"""The cost of reading training data: words a second from the packed corpus, and from minibatches in memory.

Pairs are drawn from all over the memory-mapped corpus, as with `shuffle = "epoch"`; before every run that reads it, the
file is evicted from the cache of the system. The other runs train on the same minibatches, made beforehand. The vocabularies
have 30,000 words for every model size.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import torch

from benchmarks.lib.command import SPEED, Parser
from benchmarks.lib.record import in_rounds, machine, sized, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, prepared_text
from benchmarks.lib.training import Update, train
from rnnsearch.data.batches import Batch, BatchStream
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.system import System, new_system

WARM_UP, UPDATES = 2, sized(20, 4)


class InMemory(BatchStream):
    """The first minibatches of a stream, made at once."""

    def __init__(self, corpus: PackedCorpus, updates: int, seed: int) -> None:
        super().__init__(corpus, batch_size=BATCH, pool_batches=20, shuffle="epoch", seed=seed)
        self._made = [super(InMemory, self).batch(number) for number in range(updates)]

    def batch(self, number: int) -> Batch:
        """Minibatch `number`, from 0."""
        return self._made[number]


def main() -> None:
    """Both, round after round, and the ratio of their medians."""
    arguments = Parser(__doc__, "data", "output", *SPEED, size=sized("small", "tiny"), rounds=sized(5, 1)).parse_args()

    on = machine()
    torch.set_num_threads(arguments.threads)
    prepared, size = prepared_text(arguments.data, arguments.output.resolve()), SIZES[arguments.size]
    updates = WARM_UP + UPDATES
    config = size.config({"shuffle": "epoch"})
    system = new_system(config, prepared.vocabularies)
    path, pairs = prepared.corpus.path, len(prepared.corpus)
    del prepared  # what is mapped cannot be forgotten
    ways = {"mapped": train_from_disk, "in_memory": train_from_memory}
    runs = in_rounds(
        ways,
        lambda name, _: ways[name](system, path, updates),
        arguments.rounds,
        arguments.background,
        lambda _, found: f"{speed(found):.0f} words/s",
    )
    medians = runs.medians(speed)
    ratio = medians["mapped"] / medians["in_memory"]
    what = f"training while reading the corpus, relative to minibatches in memory, {arguments.size} size"
    write_speed(
        f"speed/data_loading-{arguments.size}",
        machine=on,
        rows=[{"what": what, "unit": "%", "ours": round(100 * ratio, 1), "peers": {}}],
        threads=arguments.threads,
        updates=UPDATES,
        pairs=pairs,
        mapped_over_in_memory=round(ratio, 4),
        **runs.rows(lambda found: {"words_per_second": round(speed(found), 1)}),
    )


def train_from_disk(system: System, path: Path, updates: int) -> list[Update]:
    """Train on a corpus that is opened anew, and of which nothing is in memory."""
    gc.collect()
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
    return train(system, PackedCorpus.open(path), updates)


def train_from_memory(system: System, path: Path, updates: int) -> list[Update]:
    """Train on minibatches that are there."""
    corpus = PackedCorpus.open(path)
    return train(system, corpus, updates, batches=InMemory(corpus, updates, system.config.training.seed))


def speed(updates: list[Update]) -> float:
    """Target words a second."""
    counted = updates[WARM_UP:]
    return sum(update.words for update in counted) / sum(update.seconds for update in counted)
