"""Compare this version with an earlier one, bit for bit: small trainings and translations in many settings.

    python benchmarks/exactness/same_bits.py --against PATH [--paper 200]

PATH is a checkout of the earlier version. Both train systems that differ in one setting each, on a part of the built-in
corpus, and translate, score and align with them. With `--paper`, both also train the preset `paper` at its full size for so
many updates. What differs is printed, and the exit status is 1. `tests/system/test_golden.py` compares the losses of these
systems with recorded ones, on any processor.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.exactness.systems import SEARCHES, SYSTEMS, development, trained, write_texts
from benchmarks.lib.command import Parser, run, settings
from benchmarks.lib.record import machine, sized, write_result
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.translation import Translator, load

REPOSITORY = Path(__file__).parents[2]
COMPARED = sized(list(SYSTEMS), ["paper", "update-first", "encdec", "deep", "lstm", "subwords", "right-to-left"])


def main() -> None:
    """Compare two versions, or, as the program that it starts for each, compute one version's figures."""
    parser = Parser(__doc__)
    parser.add_argument("--against", type=Path, help="a checkout of the earlier version", required=True)
    parser.add_argument("--paper", type=int, default=0, metavar="UPDATES", help="also train the preset `paper`")
    parser.add_argument("--figures", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.figures:
        arguments.figures.write_text(json.dumps(figures(arguments.paper)))
        return
    found = {}
    with TemporaryDirectory() as folder:
        for name, version in (("earlier", arguments.against.resolve()), ("now", REPOSITORY)):
            command = [__file__, "--against", version, "--paper", arguments.paper, "--figures", Path(folder) / name]
            environment = {**os.environ, "PYTHONPATH": str(version / "src"), "OMP_NUM_THREADS": "1"}
            subprocess.run([sys.executable, *map(str, command)], env=environment, check=True)
            found[name] = json.loads((Path(folder) / name).read_text())
    differing = [key for key, figure in found["earlier"].items() if figure != found["now"].get(key)]
    print(f"{len(found['earlier'])} figures, {len(differing)} differ", *differing, sep="\n")
    write_result("exactness/same_bits", machine=machine(), differing=differing, found=found["now"])
    sys.exit(bool(differing))


def figures(paper_updates: int) -> dict[str, str]:
    """A digest of everything that is computed, by what it is."""
    with suppress(ImportError):  # the earlier version may have no such module
        from rnnsearch.ops import matmul

        # else bf16 would not be compared on machines where it is slow
        matmul.bf16_is_slower = lambda: False  # type: ignore[assignment]
    found: dict[str, str] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        texts = write_texts(folder / "texts")
        source, target = development(texts)
        for system in COMPARED:
            trained(system, texts, folder / system)
            found[f"{system}: weights"] = _weights(folder / system)
            found |= _translated(system, load(folder / system), source, target)
        run("lexicon", "--model", folder / "paper", "--source", texts / "train.en", "--target", texts / "train.fr")
        model = load(folder / "paper")
        for words, replaced in itertools.product((0, 20), (False, True)):
            search: dict[str, Any] = {"replace_unk": replaced, **({"shortlist": words} if words else {})}
            found[f"lexicon: {search}"] = _digest(_shown(model.n_best(source, 3, **search)))
        for others in (("update-first", "encdec", "deep"), ("lstm",)):
            model = load(folder / "paper", *(folder / other for other in others))
            found |= _translated(f"with {others}", model, source, target)
        model = load(folder / "subwords", folder / "right-to-left")
        found |= _translated("both directions", model, source, target, {"drawn"})
        if paper_updates:
            found["paper: full size"] = _of_paper(folder, paper_updates)
    return found


def _of_paper(folder: Path, updates: int) -> str:
    """The preset `paper` at its full size: the mean loss in nats a word, exactly, and a digest of every weight."""
    write_corpus(folder, train=sized(20_000, 400), valid=50, test=1)
    texts = ["--source", "train.en", "--target", "train.fr", "--valid-source", "valid.en", "--valid-target", "valid.fr"]
    files = [part if part.startswith("--") else folder / part for part in texts]
    limits = dict.fromkeys(("max_updates", "validate_every", "checkpoint_every"), updates) | {"validate_sentences": 10}
    options = settings({f"training.{key}": value for key, value in limits.items()})
    run("train", "--preset", "paper", *files, "--output", folder / "full-size", *options)
    record = json.loads((folder / "full-size" / "training.json").read_text())
    return f"{float(record['validations'][-1]['train_nll']).hex()} {_weights(folder / 'full-size')}"


def _weights(model: Path) -> str:
    from safetensors.numpy import load_file

    tensors = load_file(model / "model.safetensors").values()
    return _digest("".join(sorted(_digest(tensor.tobytes()) for tensor in tensors)).encode())


def _translated(
    name: str, model: Translator, source: list[str], target: list[str], without: Set[str] = frozenset()
) -> dict[str, str]:
    if not model.system.aligns:
        without = without | {"coverage"}
    found = {
        name: _digest(_shown(model.n_best(source, 3, **search))) for name, search in SEARCHES.items() if name not in without
    }
    if not model.system.config.data.right_to_left and "drawn" not in without:
        prefixes = [" ".join(line.split()[:2]) for line in target]
        found["prefixes"] = _digest(_shown(model.n_best(source, 2, prefixes)))
    found["scores"] = _digest(_shown([[pair] for pair in model.score(source, target)]))
    return {f"{name}: {key}": value for key, value in found.items()}


def _shown(lists: Any) -> bytes:
    """All of some translations or scored pairs, exactly."""
    parts = []
    for one in itertools.chain.from_iterable(lists):
        alignment = None if one.alignment is None else (one.alignment.shape, one.alignment.tobytes().hex())
        parts.append(repr((one.tokens, one.source_tokens, float(one.score).hex(), alignment)))
    return "\n".join(parts).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
