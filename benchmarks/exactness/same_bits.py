"""Compare this version with an earlier one, bit for bit: small trainings and translations in many settings.

    python benchmarks/exactness/same_bits.py --text FOLDER --against PATH

`FOLDER` holds parallel text as `rnnsearch download builtin` writes it; `PATH` is a checkout of the earlier version. Both
train systems that differ in one setting each, on the first pairs of the text, and translate, score and align with them.
What differs is printed, and the exit status is 1. `paper_path.py` does the same at the sizes of the paper.
"""

from __future__ import annotations

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

from benchmarks.lib.command import Parser

REPOSITORY = Path(__file__).parent.parent
PAIRS, UPDATES = 400, 6

SMALL: dict[str, dict[str, Any]] = {
    "data": {"source_words": 300, "target_words": 300},
    "model": {"embedding_size": 20, "hidden_size": 24, "alignment_size": 12, "maxout_size": 20},
    "training": {"batch_size": 20, "pool_batches": 4, "max_updates": UPDATES, "validate_every": 3, "validate_sentences": 5},
}
SYSTEMS: dict[str, dict[str, Any]] = {
    "paper": {},
    "update-first": {"model.decoder_order": "look-update-generate"},
    "encdec": {"model.alignment": "none"},
    "encdec-update-first": {"model.alignment": "none", "model.decoder_order": "look-update-generate"},
    "lstm": {"model.cell": "lstm"},
    "tanh": {"model.cell": "tanh"},
    "tanh-encdec": {"model.cell": "tanh", "model.alignment": "none"},
    "deep": {"model.encoder_layers": 2, "model.decoder_layers": 3, "model.layer_norm": True, "model.tied_embedding": True},
    "deep-lstm": {"model.cell": "lstm", "model.encoder_layers": 2, "model.decoder_layers": 2},
    "reference": {"training.engine": "reference"},
    "dropout": {
        "training.dropout": 0.3, "training.word_dropout": 0.1, "training.recurrent_dropout": 0.2,
        "training.label_smoothing": 0.1, "training.consistency": 5.0, "training.accumulate": 2,
    },
    "bf16": {"training.precision": "bf16", "training.max_updates": 2, "training.validate_every": 2},
    "adam": {
        "training.optimizer": "adam", "training.learning_rate": 4e-3, "training.initialization": "glorot",
        "training.weight_average": 0.9, "training.loss_normalization": "tokens", "training.shuffle": "epoch",
    },
    "guided": {"training.guided_alignment": 0.5},
    "subwords": {"data.subwords": "bpe", "data.subword_pieces": 200},
    "right-to-left": {"data.subwords": "unigram", "data.subword_pieces": 200, "data.right_to_left": True},
}  # fmt: skip
SEARCHES: dict[str, dict[str, Any]] = {
    "beam": {},
    "paper": {"beam": 12, "length_normalization": 0.0, "minimum_length_ratio": 0.5},
    "greedy": {"beam": 1, "forbid_unk": True},
    "coverage": {"coverage": 0.3, "batch_sentences": 3},
    "diverse": {"diversity": 0.5},
    "drawn": {"temperature": 0.8, "seed": 3},
    "risk": {"minimum_bayes_risk": True},
    "short": {"max_segment": 5, "maximum_length_ratio": 1.2},
    "int8": {"precision": "int8"},
}


def main() -> None:
    """Compare two versions, or, as the program that it starts for each, compute one version's figures."""
    parser = Parser(__doc__)
    parser.add_argument("--text", required=True, type=Path, help="a folder with train.en, train.fr, train.gold, valid.en …")
    parser.add_argument("--against", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--record", type=Path, help="only compute this version's figures, into this file")
    arguments = parser.parse_args()
    if arguments.record:
        arguments.record.write_text(json.dumps(figures(arguments.text), indent=1))
        return
    with TemporaryDirectory() as name:
        found = [figures_of(version, arguments.text, Path(name)) for version in (arguments.against, REPOSITORY)]
    differing = [key for key in found[0] if found[0][key] != found[1].get(key)]
    print(f"{len(found[0])} figures, {len(differing)} differ")
    for key in differing:
        print(key)
    sys.exit(bool(differing))


def figures_of(version: Path, text: Path, folder: Path) -> dict[str, str]:
    """The figures of a version, computed by a Python of its own."""
    record = folder / f"{len(list(folder.iterdir()))}.json"
    environment = {**os.environ, "PYTHONPATH": str(version.resolve() / "src"), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, __file__, "--text", text, "--record", record], env=environment, check=True)
    figures: dict[str, str] = json.loads(record.read_text())
    return figures


def figures(text: Path) -> dict[str, str]:
    """A digest of everything that is computed, by what it is."""
    from safetensors.numpy import load_file

    import rnnsearch

    with suppress(ImportError):  # the earlier version may have no such module
        from rnnsearch.ops import matmul

        matmul.bf16_is_slower = lambda: False  # else bf16 would not be compared on machines where it is slow
    found: dict[str, str] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("train.en", "train.fr", "train.gold", "valid.en", "valid.fr"):
            with (text / file).open(encoding="utf-8") as lines:
                first = "".join(itertools.islice(lines, PAIRS if file.startswith("train") else 12))
                (folder / file).write_text(first.replace("p", "-") if file.endswith(".gold") else first, encoding="utf-8")
        source, target = ((folder / f"valid.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "fr"))
        for system, changes in SYSTEMS.items():
            values = {section: dict(settings) for section, settings in SMALL.items()}
            for key, value in changes.items():
                section, _, setting = key.partition(".")
                values[section][setting] = value
            model = rnnsearch.train(
                folder / system,
                rnnsearch.from_preset("paper", values),
                sources=[folder / "train.en"],
                targets=[folder / "train.fr"],
                links=[folder / "train.gold"] if system == "guided" else [],
                valid_source=folder / "valid.en",
                valid_target=folder / "valid.fr",
            )
            tensors = load_file(folder / system / "model.safetensors").values()
            found[f"{system}: weights"] = _digest("".join(sorted(_digest(tensor.tobytes()) for tensor in tensors)).encode())
            model = rnnsearch.load(folder / system)
            found |= {f"{system}: {key}": value for key, value in _translated(model, source, target).items()}
        command = [sys.executable, "-m", "rnnsearch", "lexicon", "--model", folder / "paper"]
        subprocess.run([*command, "--source", folder / "train.en", "--target", folder / "train.fr"], check=True)
        model = rnnsearch.load(folder / "paper")
        for words in (0, 20):
            key = {"shortlist": words} if words else {}
            for replaced in (False, True):
                search = {**key, "replace_unk": replaced}
                found[f"lexicon: {search}"] = _digest(_shown(model.n_best(source, 3, **search)))
        for others in (("update-first", "encdec", "deep"), ("lstm",)):
            model = rnnsearch.load(folder / "paper", *(folder / other for other in others))
            found |= {f"with {others}: {key}": value for key, value in _translated(model, source, target).items()}
        model = rnnsearch.load(folder / "subwords", folder / "right-to-left")
        found |= {f"both directions: {key}": value for key, value in _translated(model, source, target, {"drawn"}).items()}
    return found


def _translated(model: Any, source: list[str], target: list[str], without: Set[str] = frozenset()) -> dict[str, str]:
    if not model.system.model.aligns:
        without = without | {"coverage"}
    found = {
        name: _digest(_shown(model.n_best(source, 3, **search))) for name, search in SEARCHES.items() if name not in without
    }
    if not model.system.config.data.right_to_left and "drawn" not in without:
        prefixes = [" ".join(line.split()[:2]) for line in target]
        found["prefixes"] = _digest(_shown(model.n_best(source, 2, prefixes)))
    found["scores"] = _digest(_shown([[pair] for pair in model.score(source, target)]))
    return found


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
