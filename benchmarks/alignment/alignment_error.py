"""The alignment error rate of attention, in one direction and in both, beside a standard aligner's.

    python benchmarks/alignment/alignment_error.py --output RUNS [--data DATA --model EN-FR] [--eflomal PATH]

On the built-in corpus, whose grammar provides the gold links, two models of the preset `demo` are trained, one for each
direction, and align the test set. With `--model` (trained by `multi30k.py`, say), the five novels of `DATA/alibi` are
aligned too, which are out of domain for it. The standard aligner is eflomal (Östling and Tiedemann 2016), if `--eflomal`
names its program: it aligns the test set together with the training text of the models, tokenised alike. Its links of the
training text of the built-in corpus then guide the attention of a third model (`train --links`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from benchmarks.quality.multi30k import run
from rnnsearch.atomic import write_text
from rnnsearch.config import from_preset
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import GoldLinks, Links, hard_alignment, parse_gold, read_gold, symmetrize, to_pharaoh
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.text.tokenize import Tokenizer
from rnnsearch.translation import Translator, load

PAIRS, TESTED = 60_000, 500
LONGEST = 60
"""Novels' sentences of more words are left out."""


@dataclass(frozen=True)
class Aligned:
    """Sentence pairs, in words, and their gold links."""

    sources: list[list[str]]
    targets: list[list[str]]
    gold: list[GoldLinks]


def main() -> None:
    """Train, align, score, record."""
    parser = Parser(__doc__, "output")
    parser.add_argument("--data", type=Path, help="a folder with alibi/ and multi30k/ in it")
    parser.add_argument("--model", type=Path, help="a model trained on Multi30k English–French, for the novels")
    parser.add_argument("--eflomal", type=Path, help="the program eflomal-align")
    arguments = parser.parse_args()

    on, folder = machine(), arguments.output / "alignment-error"
    found: dict[str, dict[str, Any]] = {"built-in": built_in(folder, arguments.eflomal)}
    if arguments.data and arguments.model:
        text = arguments.data / "multi30k"
        training = (text / "train.en.gz", text / "train.fr.gz")
        test, model = novels(arguments.data / "alibi"), load(arguments.model)
        found["novels"] = {"pairs": len(test.gold), "attention": scored(test, links_of(model, test))}
        if arguments.eflomal:
            found["novels"] |= eflomal(arguments.eflomal, training, test)[0]
    write_result("alignment-error", machine=on, found=found)
    for name, rows in found.items():
        for aligner, score in rows.items():
            print(name, aligner, score if isinstance(score, int) else f"{score['aer']:.3f}")


def built_in(folder: Path, program: Path | None) -> dict[str, Any]:
    """The aligners on the generated corpus."""
    corpus = folder / "corpus"
    if not (corpus / "test.gold").exists():
        write_corpus(corpus, train=PAIRS, valid=TESTED, test=TESTED)
    both_ways = (("en", "fr"), ("fr", "en"))
    models = [trained(folder / f"{source}-{target}", corpus, source, target) for source, target in both_ways]
    tokenizers = [Tokenizer(from_preset("demo").data.tokenizer, language) for language in ("en", "fr")]
    test = Aligned(
        *(
            [tokenizer.tokenize(line) for line in read_lines(corpus / f"test.{language}")]
            for tokenizer, language in zip(tokenizers, ("en", "fr"), strict=True)
        ),
        read_gold(corpus / "test.gold"),
    )
    forward = links_of(models[0], test)
    backward = [
        frozenset((s, t) for t, s in links)
        for links in links_of(models[1], Aligned(test.targets, test.sources, test.gold))
    ]
    found = {
        "pairs": len(test.gold),
        "attention": scored(test, forward),
        "attention, intersection": scored(test, both(forward, backward, "intersection")),
        "attention, grow-diag": scored(test, both(forward, backward, "grow-diag")),
    }
    if program:
        scores, of_training = eflomal(program, (corpus / "train.en", corpus / "train.fr"), test)
        links = folder / "train.links"
        write_text(links, "".join(f"{to_pharaoh(pair)}\n" for pair in of_training))
        guided = trained(folder / "en-fr-guided", corpus, "en", "fr", links)
        found |= {"attention, guided by eflomal": scored(test, links_of(guided, test)), **scores}
    return found


def trained(model: Path, corpus: Path, source: str, target: str, links: Path | None = None) -> Translator:
    """A model of the built-in corpus, trained unless it has been."""
    text = {"source": f"train.{source}", "target": f"train.{target}"}
    text |= {"valid-source": f"valid.{source}", "valid-target": f"valid.{target}"}
    options = [part for side, name in text.items() for part in (f"--{side}", corpus / name)]
    options += ["--links", links] if links else []
    if not (model / "training.json").exists():
        run("train", *options, "--output", model, "--preset", "demo")
    return load(model)


def novels(folder: Path) -> Aligned:
    """The gold alignments of `alibi`: English as the source, French as the target."""
    found = Aligned([], [], [])
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        french, english = (_numbered(place / f"{name}_sents.txt") for name in place.name.split("_"))
        for number, links in _numbered(place / f"ali_w2w_{place.name}.txt").items():
            if number in french and number in english and len(english[number].split()) <= LONGEST:
                found.sources.append(english[number].split())
                found.targets.append(french[number].split())
                found.gold.append(parse_gold(links, reverse=True))
    return found


def _numbered(path: Path) -> dict[str, str]:
    lines = (line.removeprefix("\ufeff").partition("\t") for line in read_lines(path))
    return {number.strip(): rest for number, _, rest in lines}


def links_of(model: Translator, test: Aligned) -> list[Links]:
    """The links of attention, given both sides."""
    lines = ([" ".join(words) for words in side] for side in (test.sources, test.targets))
    return [hard_alignment(pair.alignment) for pair in model.score(*lines, tokenized=True) if pair.alignment is not None]


def both(forward: Sequence[Links], backward: Sequence[Links], how: Any) -> list[Links]:
    """The links of two directions together."""
    return [symmetrize(one, other, how) for one, other in zip(forward, backward, strict=True)]


def eflomal(program: Path, training: tuple[Path, Path], test: Aligned) -> tuple[dict[str, Any], list[Links]]:
    """The aligner's scores, in both directions and together, and its links of the training text, of both together."""
    tokenizers = [Tokenizer("moses", language) for language in ("en", "fr")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side, tokenizer, path, words in zip("st", tokenizers, training, (test.sources, test.targets), strict=True):
            lines = [" ".join(sentence) for sentence in words]
            lines += [" ".join(tokenizer.tokenize(line)) for line in read_lines(path)]
            (folder / side).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        files = ["-s", folder / "s", "-t", folder / "t", "-f", folder / "forward", "-r", folder / "backward"]
        subprocess.run([program, *files], check=True, stdout=subprocess.DEVNULL)
        forward, backward = (
            [parse_gold(line).sure for line in read_lines(folder / direction)] for direction in ("forward", "backward")
        )
    tested, grown = len(test.gold), both(forward, backward, "grow-diag")
    scores = {
        "eflomal": scored(test, forward[:tested]),
        "eflomal, intersection": scored(test, both(forward[:tested], backward[:tested], "intersection")),
        "eflomal, grow-diag": scored(test, grown[:tested]),
    }
    return scores, grown[tested:]


def scored(test: Aligned, links: Sequence[Links]) -> dict[str, Any]:
    """The score against the gold links."""
    return asdict(alignment_error_rate(links, test.gold))


if __name__ == "__main__":
    main()
