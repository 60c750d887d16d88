"""A Transformer of JoeyNMT on Multi30k, trained for as many hours as the model of `multi30k.py`.

    python benchmarks/quality/joeynmt_transformer.py --data DATA --output RUNS --peers PEERS --hours 1 [--language de]

The text is that of our model: Moses tokens, segmented into the subwords of the preset `best`.
The model, `tiny`, is the Transformer that Wu et al. (2021) found best for this text (4 layers of 128, 256 and 4 heads,
dropout 0.3). Adam with warm-up, label smoothing 0.1, one embedding matrix for all. Wu et al. had minibatches of 4,096
tokens, a learning rate of 0.005 and 2,000 updates of warm-up, which is too long for the hours of a laptop. Here the
minibatches have a quarter of that, the rate is half of it (the square-root rule), and so is the warm-up. The model is
validated on the first pairs of `val`: an untrained Transformer writes up to the length limit, and a validation on all pairs
would take a third of the hours. At the end, the best checkpoint translates both sets with beam 5, and is scored as ours is.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.lib.command import Parser, environment
from benchmarks.lib.record import machine, write_result
from benchmarks.lib.texts import write_lines
from benchmarks.peers.joeynmt.toolkit import JOEYNMT, settings, words_of
from benchmarks.quality.multi30k import lower_tokenized
from rnnsearch.atomic import write_json, write_text
from rnnsearch.config import from_preset
from rnnsearch.data.prepare import prepare
from rnnsearch.data.read import read_lines
from rnnsearch.evaluation.bleu import corpus_score
from rnnsearch.text import Tokenizer
from rnnsearch.text.subwords import Subwords, join

WIDTH = 128
SETS = {"val": "dev", "test_2016_flickr": "test"}
"""The sets that are translated, and what JoeyNMT calls them."""
VALIDATED = 200
"""Pairs of `val` that JoeyNMT validates on."""


def main() -> None:
    """Prepare, train, translate, score, record."""
    parser = Parser(__doc__, "data", "output", "peers")
    parser.add_argument("--hours", type=float, required=True, help="training time")
    parser.add_argument("--language", choices=("fr", "de"), default="fr", help="the language translated into")
    parser.add_argument("--threads", type=int, default=1, help="as many as ours had: one where two train side by side")
    arguments = parser.parse_args()

    on, language = machine(), arguments.language
    name = f"joeynmt_transformer-tiny{'' if language == 'fr' else f'-{language}'}"
    folder = arguments.output / name
    write_texts(arguments.data / "multi30k", folder, language)
    transformer = transformer_settings(folder, language)
    write_json(folder / "training.yaml", transformer)  # JSON is YAML
    variables = environment(arguments.threads)
    joeynmt = [str(JOEYNMT.python(arguments.peers)), "-m", "joeynmt"]
    if not (folder / "model" / "best.ckpt").exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            train = [*joeynmt, "train", str(folder / "training.yaml"), "--skip-test"]
            subprocess.run(train, check=True, timeout=3600 * arguments.hours, env=variables)
    # Its command `translate` breaks off where it should write what it has translated; `test` writes.
    tested = {called: str(folder / test) for test, called in SETS.items()}
    write_json(folder / "test.yaml", {**transformer, "data": {**transformer["data"], **tested}})
    test_both = [*joeynmt, "test", str(folder / "test.yaml"), "--output-path", str(folder / "translated")]
    subprocess.run(test_both, check=True, env=variables)
    scores = {}
    for test, called in SETS.items():
        written = folder / f"translated.{called}"
        reference = arguments.data / "multi30k" / f"{test}.{language}.gz"
        scores[test] = scored(written, reference, language)
        print(test, round(scores[test]["all"]["bleu"], 2), round(scores[test]["lower-cased, tokenised"]["bleu"], 2))
    write_result(
        f"quality/{name}",
        machine=on,
        version=JOEYNMT.version,
        hours=arguments.hours,
        threads=arguments.threads,
        settings=json.loads(json.dumps(transformer).replace(str(folder), "RUN")),
        evaluation=scores,
    )


def write_texts(text: Path, folder: Path, language: str) -> None:
    """The three parts, in pieces, and the pieces as a vocabulary."""
    if (folder / "pieces.vocab").exists():
        return
    data = from_preset("best").data
    prepare([text / "train.en.gz"], [text / f"train.{language}.gz"], folder / "prepared", data)
    for side in ("en", language):
        tokenizer = Tokenizer("moses", side)
        subwords = Subwords.load(folder / "prepared" / f"{'source' if side == 'en' else 'target'}.subwords", "bpe")
        for part in ("train", *SETS):
            lines = [
                " ".join(subword for word in tokenizer.tokenize(line) for subword in subwords.segment(word)) + "\n"
                for line in read_lines(text / f"{part}.{side}.gz")
            ]
            write_text(folder / f"{part}.{side}", "".join(lines))
            if part == "val":
                write_text(folder / f"validated.{side}", "".join(lines[:VALIDATED]))
    pieces = ["<unk>", "<pad>", "<s>", "</s>", *subwords.inventory]
    write_lines(folder / "pieces.vocab", pieces)


def transformer_settings(folder: Path, language: str, source_language: str = "en") -> dict[str, Any]:
    """JoeyNMT's settings, for a model from `source_language` into `language`."""
    layers = {
        "type": "transformer",
        "num_layers": 4,
        "num_heads": 4,
        "embeddings": {"embedding_dim": WIDTH, "scale": True, "dropout": 0.0},
        "hidden_size": WIDTH,
        "ff_size": 2 * WIDTH,
        "dropout": 0.3,
        "layer_norm": "pre",
    }
    source, target = (words_of(side, str(folder / "pieces.vocab"), 200) for side in (source_language, language))
    shared = settings(folder, str(folder / "train"), str(folder / "validated"), (source, target))
    testing = {
        "batch_size": 4096,
        "batch_type": "token",
        "eval_metrics": ["bleu"],
        "sacrebleu_cfg": {"tokenize": "none"},
    }
    training = {
        "optimizer": "adamw",
        "adam_betas": [0.9, 0.98],
        "learning_rate": 0.0025,
        "learning_rate_min": 0.0,
        "learning_rate_warmup": 1000,
        "scheduling": "warmupinversesquareroot",
        "label_smoothing": 0.1,
        "loss": "crossentropy",
        "normalization": "tokens",
        "batch_size": 1024,
        "batch_type": "token",
        "early_stopping_metric": "bleu",
        "validation_freq": 500,
        "logging_freq": 100,
        "shuffle": True,
    }
    model = {
        "initializer": "xavier_uniform",
        "embed_initializer": "xavier_uniform",
        "bias_initializer": "zeros",
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": layers,
        "decoder": layers,
    }
    return {
        **shared,
        "testing": {**shared["testing"], **testing},
        "training": {**shared["training"], **training},
        "model": model,
    }


def scored(written: Path, reference: Path, language: str) -> dict[str, Any]:
    """BLEU of translations in pieces, put together as ours are."""
    tokenizer = Tokenizer("moses", language)
    lines = [tokenizer.detokenize(join(line.split())[0]) for line in read_lines(written)]
    text = written.with_suffix(f".{language}")
    write_lines(text, lines)
    score = corpus_score(lines, list(read_lines(reference)))
    return {
        "all": {"bleu": score.bleu, "bleu_signature": score.bleu_signature},
        "lower-cased, tokenised": lower_tokenized(text, reference, language),
    }
