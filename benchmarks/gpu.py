"""Tests, speed, roofline and profile of training and translation on a GPU, in under ten minutes.

    python benchmarks gpu [--text newstest2014.en] [--model MODEL]
    python benchmarks gpu --train DATA --valid-source dev.en --valid-target dev.fr --output RUNS --minutes 20
    python benchmarks gpu --smoke

Runs the tests of the cuda engine; times updates of the paper's model (m 620, n 1000, n' 1000, l 500, K 30,000, batches of 80
sentences of up to 50 words, Adadelta) with every engine; times the same products of matrices alone, the roofline; profiles;
translates a text with a beam of 10, by a given model or by one with random weights. The results are written after every
part, so that nothing is lost when a part fails or the machine goes away. With `--train`, a training follows. `--smoke` is a
trial on a CPU: all sizes are tiny, and the kernels run in the interpreter of Triton.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.lib.command import Parser, run, text_options
from benchmarks.lib.gpu_products import DEVICE, Products, memory, product_seconds, synchronize, tf32
from benchmarks.lib.record import ROOT, machine, read_json, write_result
from benchmarks.lib.record import TINY as TRIAL
from benchmarks.lib.training import Enough, trainer_of, watch
from rnnsearch.config import Config, from_preset
from rnnsearch.data.lines import read_lines
from rnnsearch.data.pack import PackedCorpus, Sentences, write_packed
from rnnsearch.ops import CpuRecurrences, Precision, Recurrences
from rnnsearch.system import System, new_system
from rnnsearch.text import Vocabularies, Vocabulary
from rnnsearch.translation import Translator, load

PAPER_UPDATES_PER_SECOND = 0.74
"""RNNsearch-50: 667,000 updates in 252 hours (the paper, table 2)."""
PUBLIC_TOKENS_PER_SECOND = 56_000
"""Source and target tokens, of the fastest public modern run of the same model, in fp32 on an RTX 5090."""


@dataclass(frozen=True)
class Sizes:
    """How large all is."""

    model: dict[str, int]
    words: int
    """K, in either vocabulary."""
    batch: int
    pool: int
    """Minibatches that are cut from one pool; all are timed."""
    longest: int
    seconds: float
    """How long each engine is timed, whole pools only."""
    square: int
    """Rows of the square matrices that tell how fast the machine can multiply."""


PAPER = Sizes({}, 30_000, 80, 20, 50, seconds=10.0, square=8192)
TINY = Sizes(
    {"embedding_size": 3, "hidden_size": 5, "alignment_size": 4, "maxout_size": 2}, 12, 2, 1, 4, seconds=0.0, square=64
)


@dataclass(frozen=True)
class Variant:
    """A way to train."""

    recurrences: Callable[[], Recurrences | None]
    tf32: bool = False
    """Whether other float32 products may be computed in TF32."""
    precision: Precision = "fp32"


def variants() -> dict[str, Variant]:
    """All ways to train, the reference first."""

    def cuda(precision: Precision = "fp32", graphs: bool = True) -> Callable[[], Recurrences]:
        def recurrences() -> Recurrences:
            from rnnsearch.ops.recurrence_cuda import CudaRecurrences

            return CudaRecurrences(precision, graphs)

        return recurrences

    return {
        "reference": Variant(lambda: None),
        "fused": Variant(CpuRecurrences),
        "cuda fp32, no graphs": Variant(cuda(graphs=False)),
        "cuda fp32": Variant(cuda()),
        "cuda tf32": Variant(cuda(), tf32=True),
        "cuda bf16, no graphs": Variant(cuda("bf16", graphs=False), tf32=True, precision="bf16"),
        "cuda bf16": Variant(cuda("bf16"), tf32=True, precision="bf16"),
    }


def main() -> None:
    """Part after part; what each found, or how it failed, goes to the record at once."""
    parser = Parser(__doc__, smoke=False, minutes=20.0)
    parser.add_argument("--text", type=Path, help="lines to translate, say newstest2014.en")
    parser.add_argument("--model", type=Path, help="who translates them; if not given, random weights")
    parser.add_argument("--train", type=Path, metavar="DATA", help="at the end, train on what `rnnsearch prepare` made")
    parser.add_argument("--valid-source", type=Path)
    parser.add_argument("--valid-target", type=Path)
    parser.add_argument("--output", type=Path, help="where the trained model goes")
    arguments = parser.parse_args()
    if arguments.train and not (arguments.valid_source and arguments.valid_target and arguments.output):
        parser.error("--train needs --valid-source, --valid-target and --output")
    if arguments.smoke:
        os.environ["TRITON_INTERPRET"] = "1"
    elif DEVICE.type == "cpu":
        parser.error("PyTorch sees no GPU here; --smoke tries the script out on a CPU")

    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder) / "gpu") if arguments.smoke and not TRIAL else "speed/gpu"
        if arguments.smoke:
            arguments.text = Path(folder) / "text.en"
            arguments.text.write_text("a few words\n\nand some more words .\n" * 2)
        found: dict[str, Any] = {"machine": {**machine(), **gpu()}}

        def part(title: str, find: Callable[[], Any]) -> None:
            began = time.monotonic()
            try:
                found[title] = find()
            except Exception:
                found[title] = {"failed": traceback.format_exc()}
                failed.append(title)
            seconds = time.monotonic() - began
            found.setdefault("seconds", {})[title] = round(seconds, 1)
            print(f"{title}, {seconds:.0f} s: {json.dumps(found[title], indent=1)}", flush=True)
            write_result(name, **found)

        failed: list[str] = []
        workload = Workload(TINY if arguments.smoke else PAPER, Path(folder))
        part("tests", lambda: run_tests(arguments.smoke))
        for variant_name, variant in variants().items():
            if variant_name.startswith("cuda") and "products" not in found:
                part("products", workload.roofline)
            part(variant_name, partial(workload.time, variant))
        part("summary", lambda: summary(found))
        for variant_name in ("cuda fp32", "cuda bf16"):
            part(f"profile of {variant_name}", partial(workload.profile, variants()[variant_name]))
        if arguments.text:
            part("translation", lambda: translation(arguments.text, arguments.model, workload))
        if arguments.train:
            part("training", lambda: training(arguments))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def gpu() -> dict[str, Any]:
    """What `record.machine` does not tell."""
    found: dict[str, Any] = {"triton": None, "cuda": torch.version.cuda}
    if importlib.util.find_spec("triton"):
        found["triton"] = importlib.metadata.version("triton")
    if DEVICE.type == "cuda":
        properties = torch.cuda.get_device_properties(DEVICE)
        found["gpu_gigabytes"] = round(properties.total_memory / 2**30, 1)
        found["capability"] = f"{properties.major}.{properties.minor}"
    return found


def run_tests(smoke: bool) -> dict[str, Any]:
    """The tests of the engine, on the GPU; of a trial, one."""
    chosen = "lstm" if smoke else "not interpreter and not benchmark"
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen]
    command = [*pytest, "tests/unit/ops/test_recurrence_cuda.py"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    lines = (ran.stdout + ran.stderr).strip().splitlines()
    return {"passed": ran.returncode == 0, "last_lines": lines[-1:] if ran.returncode == 0 else lines[-60:]}


class Workload:
    """A system with random weights, and minibatches with lengths as real text has them; a pass reads each of them once."""

    def __init__(self, sizes: Sizes, folder: Path) -> None:
        self.sizes = sizes
        names = Vocabulary([f"w{number}" for number in range(sizes.words)])
        self.system: System = new_system(self.config("fp32"), Vocabularies(names, names))
        self.system.model.to(DEVICE)
        self.initial = [parameter.detach().clone() for parameter in self.system.model.parameters()]
        source, target = random_pairs(sizes)
        self.source_tokens = int(source.lengths.sum()) + len(source.lengths)
        self.target_tokens = int(target.lengths.sum()) + len(target.lengths)
        write_packed(folder / "train.arrow", [(source, target)], source_size=len(names), target_size=len(names))
        self.corpus = PackedCorpus.open(folder / "train.arrow")

    def config(self, precision: Precision) -> Config:
        """The paper's settings."""
        training = {"batch_size": self.sizes.batch, "pool_batches": self.sizes.pool, "patience": 0, "precision": precision}
        languages = {"source_language": "en", "target_language": "fr"}
        return from_preset("paper", {"data": languages, "model": self.sizes.model, "training": training})

    def train(self, variant: Variant, after: Callable[[float], None]) -> None:
        """Train from the same weights as ever, and call `after` after every update, until it raises `Enough`."""
        with torch.no_grad():
            for parameter, initial in zip(self.system.model.parameters(), self.initial, strict=True):
                parameter.copy_(initial)
        system = self.system.changed(self.config(variant.precision))
        trainer = trainer_of(system, self.corpus)
        system.model.recurrences = variant.recurrences()
        with tf32(variant.tf32):
            watch(trainer, lambda number, nll_per_word, words: after(nll_per_word))
        system.model.recurrences = None  # whatever memory the engine holds is free again

    def time(self, variant: Variant) -> dict[str, Any]:
        """A first pass, which compiles and captures, and then passes for so many seconds."""
        of_pass, seconds = self.sizes.pool, self.sizes.seconds
        nlls: list[float] = []
        times: list[float] = []

        def after(nll: float) -> None:
            synchronize()
            nlls.append(nll)
            times.append(time.perf_counter())
            if len(times) % of_pass == 0 and len(times) > of_pass and times[-1] - times[of_pass - 1] >= seconds:
                raise Enough

        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        self.train(variant, after)
        updates = len(times) - of_pass
        per_update = (times[-1] - times[of_pass - 1]) / updates
        return {
            "first_pass_seconds": round(times[of_pass - 1] - began, 2),
            "updates": updates,
            "milliseconds_per_update": round(1000 * per_update, 3),
            "updates_per_second": round(1 / per_update, 2),
            "times_the_paper": round(1 / per_update / PAPER_UPDATES_PER_SECOND, 1),
            "hours_for_667000_updates": round(667_000 * per_update / 3600, 2),
            "source_and_target_tokens_per_second": round((self.source_tokens + self.target_tokens) / of_pass / per_update),
            "target_words_per_second": round(self.target_tokens / of_pass / per_update),
            "gigabytes": memory(),
            "nll_of_first_pass": nlls[:of_pass],
        }

    def roofline(self) -> dict[str, Any]:
        """The products of one pass, and how long they take alone."""
        counted = Products()

        def after(_: float) -> None:
            if counted.updates == self.sizes.pool - 1:
                raise Enough
            counted.updates += 1

        with counted:
            self.train(variants()["cuda fp32, no graphs"], after)
        products = counted.counts.items()
        flop = sum(2 * b * m * k * n * count for (b, m, k, n), count in products)
        found: dict[str, Any] = {"gigaflop_per_update": round(flop / self.sizes.pool / 1e9, 1), "shapes": len(products)}
        side = self.sizes.square
        for kind, allow, dtype in (
            ("fp32", False, torch.float32),
            ("tf32", True, torch.float32),
            ("bf16", False, torch.bfloat16),
        ):
            with tf32(allow):
                alone = sum(count * product_seconds(shape, dtype) for shape, count in products)
                peak = 2 * side**3 / product_seconds((1, side, side, side), dtype)
            found[kind] = {
                "milliseconds_per_update": round(1000 * alone / self.sizes.pool, 3),
                "teraflop_per_second": round(flop / alone / 1e12, 2),
                "teraflop_per_second_of_square_matrices": round(peak / 1e12, 2),
            }
        return found

    def profile(self, variant: Variant) -> dict[str, Any]:
        """The kernels that take the most time in a pass, the second."""
        of_pass, updates = self.sizes.pool, 0
        on_gpu = DEVICE.type == "cuda"
        activities = [torch.profiler.ProfilerActivity.CUDA if on_gpu else torch.profiler.ProfilerActivity.CPU]
        profiler = torch.profiler.profile(activities=activities)

        def after(_: float) -> None:
            nonlocal updates
            synchronize()
            updates += 1
            if updates == of_pass:
                profiler.start()
            if updates == 2 * of_pass:
                profiler.stop()
                raise Enough

        self.train(variant, after)
        events = profiler.key_averages()
        time_of = {event.key: event.self_device_time_total if on_gpu else event.self_cpu_time_total for event in events}
        total = sum(time_of.values())
        longest = sorted(events, key=lambda event: -time_of[event.key])[:20]
        return {
            "milliseconds_per_update": round(total / 1000 / of_pass, 3),
            "kernels": [
                {
                    "name": event.key[:120],
                    "calls_per_update": round(event.count / of_pass, 1),
                    "milliseconds_per_update": round(time_of[event.key] / 1000 / of_pass, 4),
                    "share": round(time_of[event.key] / max(total, 1e-9), 4),
                }
                for event in longest
            ],
        }


def random_pairs(sizes: Sizes) -> tuple[Sentences, Sentences]:
    """One pool of pairs: log-normal lengths, a little more words in the target, word frequencies that fall as 1 / rank."""
    random = np.random.default_rng(1)
    pairs = sizes.batch * sizes.pool
    source = random.lognormal(np.log(0.45 * sizes.longest), 0.55, pairs)
    target = source * random.normal(1.08, 0.15, pairs).clip(0.5, 2)
    sides = []
    for drawn in (source, target):
        lengths = drawn.round().clip(1, sizes.longest).astype(np.int32)
        ranks = np.exp(random.uniform(0, np.log(sizes.words), lengths.sum())).astype(np.int32)
        sides.append(Sentences(ranks + 1, lengths))
    return sides[0], sides[1]


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """The engines side by side. The NLLs are those of the first pass, which begins with the same weights for all of them."""
    rows = {}
    yardstick = found["reference"].get("nll_of_first_pass", [])
    for name, variant in variants().items():
        row = found[name]
        if "failed" in row:
            rows[name] = {"failed": row["failed"].strip().splitlines()[-1]}
            continue
        pairs = zip(row["nll_of_first_pass"], yardstick, strict=False)
        alone = found["products"].get("bf16" if variant.precision == "bf16" else "tf32" if variant.tf32 else "fp32")
        rows[name] = {
            "updates_per_second": row["updates_per_second"],
            "tokens_per_second_against_the_public_run": round(
                row["source_and_target_tokens_per_second"] / PUBLIC_TOKENS_PER_SECOND, 2
            ),
            "share_of_roofline": alone and round(alone["milliseconds_per_update"] / row["milliseconds_per_update"], 3),
            "largest_difference_of_nll": max((abs(ours / theirs - 1) for ours, theirs in pairs), default=None),
        }
    return rows


def translation(text: Path, model: Path | None, workload: Workload) -> dict[str, Any]:
    """All lines of a text with a beam of 10; random weights end no sentence, and stop at 1.2 times the source's length."""
    lines = list(read_lines(text))
    settings: dict[str, Any] = {"beam": 10, "batch_sentences": 128, "split_sentences": False}
    if model is None:
        settings["maximum_length_ratio"] = 1.2
        translator = Translator([workload.system])
    else:
        translator = load(model)
        translator.system.model.to(DEVICE)
    translator.system.model.eval()
    synchronize()
    began = time.perf_counter()
    translations = translator.translate(lines, **settings)
    synchronize()
    seconds = time.perf_counter() - began
    return {
        "model": "random weights" if model is None else model.name,
        "settings": settings,
        "lines": len(lines),
        "seconds": round(seconds, 2),
        "lines_per_second": round(len(lines) / seconds, 2),
        "words": sum(len(translation.tokens) for translation in translations),
        "unfinished": sum(not translation.finished for translation in translations),
    }


def training(arguments: argparse.Namespace) -> dict[str, Any]:
    """`rnnsearch train` for the given minutes, and its record."""
    limit = ("--preset", "paper", "--set", f"training.max_minutes={arguments.minutes}")
    valid = text_options(arguments.valid_source, arguments.valid_target, prefix="valid-")
    run("train", "--data", arguments.train, "--output", arguments.output, *valid, *limit)
    return read_json(arguments.output / "training.json")
