"""Word aligners side by side: the alignment error rate of eflomal and of `rnnsearch align`, both trained on the same text.

    python benchmarks/aligners.py --data DATA --output RUNS [--eflomal PATH]

The novels of `DATA/alibi` are aligned together with 100,000 pairs of Europarl, and the test set of the built-in corpus with
its 60,000 training pairs; the links of no test sentence are shown to an aligner. What is chosen, is chosen on the two novels
DEVELOPED_ON; the other three are the test. The sentences of `DATA/blind/hansards` are aligned together with
`DATA/hansards/train`; their gold links are elsewhere, and ours go to `results/blind/hansards`. `--eflomal` names eflomal's
program `eflomal-align`. What an aligner has written is kept in RUNS, and only scored when the script runs again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alignment_error import LONGEST, Aligned, _numbered, both, novels
from record import RESULTS, machine, write_result

from rnnsearch.atomic import write_json, write_text
from rnnsearch.data.read import read_lines
from rnnsearch.data.word_alignments import Links, parse_gold, read_gold, to_pharaoh
from rnnsearch.datasets.builtin import write_corpus
from rnnsearch.evaluation.aer import alignment_error_rate
from rnnsearch.text.tokenize import Tokenizer

PAIRS = 100_000
DEVELOPED_ON = ("LaBarbeBleue", "LaDerniereClasse")
BLIND = RESULTS / "blind" / "hansards"
WAYS = ("intersection", "union", "grow-diag", "grow-diag-final-and")


def main() -> None:
    """Prepare, align, score, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with alibi/ and europarl/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where texts and links go")
    parser.add_argument("--eflomal", type=Path, help="the program eflomal-align")
    arguments = parser.parse_args()

    on, folder, found = machine(), arguments.output / "aligners", {}
    tests = {"novels": novels(arguments.data / "alibi"), "built-in": built_in(folder)}
    parts = {"novels": novel_parts(arguments.data / "alibi"), "built-in": {"all": range(len(tests["built-in"].gold))}}
    for name, test in tests.items():
        text = text_of(name, test, arguments.data, folder)
        found[name] = {"ours": ours(text, folder / name, test, parts[name])}
        if arguments.eflomal:
            found[name] |= eflomal(arguments.eflomal, text, folder / name, test, parts[name])
    blind(arguments.data, folder / "hansards", arguments.eflomal)
    write_result("aligners", machine=on, found=found)
    for name, aligners in found.items():
        for aligner, ways in aligners.items():
            for way, scores in ways.items():
                if way != "seconds":
                    print(name, aligner, way, *(f"{part} {score['aer']:.4f}" for part, score in scores.items()))


def text_of(name: str, test: Aligned, data: Path, folder: Path) -> tuple[Path, Path]:
    """The two files in which a test set is aligned."""
    training = partial(europarl, data) if name == "novels" else partial(lines_of, folder / "corpus", ["train"])
    return written(folder / name, (test.sources, test.targets), training)


def written(
    output: Path, tested: Sequence[Sequence[Sequence[str]]], training: Callable[[], Sequence[Sequence[Sequence[str]]]]
) -> tuple[Path, Path]:
    """The two files that are aligned: the test sentences, and then those of the training text."""
    text = output.with_name(f"{output.name}.en"), output.with_name(f"{output.name}.fr")
    if not text[1].exists():
        for path, test_side, training_side in zip(text, tested, training(), strict=True):
            write_text(path, "".join(" ".join(words) + "\n" for words in (*test_side, *training_side)))
    return text


def blind(data: Path, output: Path, program: Path | None) -> None:
    """The links of the Hansards, to be scored by those who have the gold links."""
    sentences, training = (
        [[line.split() for line in read_lines(data / f"{name}.{language}{end}")] for language in ("en", "fr")]
        for name, end in (("blind/hansards", ""), ("hansards/train", ".xz"))
    )
    test = Aligned(*sentences, [parse_gold("")] * len(sentences[0]))
    text = written(output, sentences, lambda: training)
    ours(text, output, test, {})
    links = {"rnnsearch": first_lines(output.with_name(f"{output.name}.ours"), test)}
    if program:
        eflomal(program, text, output, test, {})
        paths = [output.with_name(f"{output.name}.eflomal-{direction}") for direction in ("forward", "backward")]
        forward, backward = (first_lines(path, test) for path in paths)
        links["eflomal-intersection"] = both(forward, backward, "intersection")
    for name, pairs in links.items():
        write_text(BLIND / f"{name}.links", "".join(f"{to_pharaoh(pair)}\n" for pair in pairs))


def built_in(folder: Path) -> Aligned:
    """The test set of the built-in corpus."""
    write_corpus(folder / "corpus")
    return Aligned(*lines_of(folder / "corpus", ["test"]), read_gold(folder / "corpus" / "test.gold"))


def lines_of(corpus: Path, names: Sequence[str]) -> list[list[list[str]]]:
    """The words of these parts of the corpus, of both sides."""
    return [
        [tokenizer.tokenize(line) for name in names for line in read_lines(corpus / f"{name}.{language}")]
        for language, tokenizer in ((code, Tokenizer("moses", code)) for code in ("en", "fr"))
    ]


def novel_parts(folder: Path) -> dict[str, Sequence[int]]:
    """The sentences of the novels that were developed on, of the others, and all, by number as `novels` has them."""
    names = []
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        french, english = (_numbered(place / f"{name}_sents.txt") for name in place.name.split("_"))
        names += [
            place.name.split("_")[0]
            for number in _numbered(place / f"ali_w2w_{place.name}.txt")
            if number in french and number in english and len(english[number].split()) <= LONGEST
        ]
    developed = [name in DEVELOPED_ON for name in names]
    return {
        "developed on": [n for n, known in enumerate(developed) if known],
        "test": [n for n, known in enumerate(developed) if not known],
        "all": range(len(names)),
    }


def europarl(data: Path) -> list[list[list[str]]]:
    """The words of pairs drawn at random from all of Europarl, of both sides."""
    sides = []
    for language in ("en", "fr"):
        paths = [data / "europarl" / f"europarl-part{part}.{language}.xz" for part in (0, 1)]
        lines = [line for path in paths for line in read_lines(path)]
        chosen = np.sort(np.random.default_rng(1).choice(len(lines), PAIRS, replace=False))
        tokenizer = Tokenizer("moses", language)
        sides.append([tokenizer.tokenize(lines[n]) for n in chosen])
    return sides


def ours(text: Sequence[Path], output: Path, test: Aligned, parts: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """`rnnsearch align` without a model: links by probability, and the processor time."""
    links = output.with_name(f"{output.name}.ours")
    seconds = timed(["rnnsearch", "align", "--source", text[0], "--target", text[1], "--output", links], links)
    return {"probability": scored(first_lines(links, test), test, parts), "seconds": seconds}


def eflomal(
    program: Path, text: Sequence[Path], output: Path, test: Aligned, parts: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """eflomal in both directions, and symmetrised, and the processor time."""
    paths = [output.with_name(f"{output.name}.eflomal-{direction}") for direction in ("forward", "backward")]
    seconds = timed([program, "-s", text[0], "-t", text[1], "-f", paths[0], "-r", paths[1]], paths[1])
    forward, backward = (first_lines(path, test) for path in paths)
    ways = {"forward": forward, "backward": backward} | {way: both(forward, backward, way) for way in WAYS}
    return {"eflomal": {way: scored(links, test, parts) for way, links in ways.items()} | {"seconds": seconds}}


def timed(command: Sequence[str | Path], result: Path) -> float:
    """The seconds of processor time of a command that writes `result` last; kept beside it, with the time that passed."""
    kept = result.with_name(f"{result.name}.seconds.json")
    if not kept.exists():
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        write_json(kept, {"processor": used, "passed": time.monotonic() - started})
    return float(json.loads(kept.read_text())["processor"])


def first_lines(path: Path, test: Aligned) -> list[Links]:
    """The links of the test sentences, which come first."""
    return [parse_gold(line).sure for line, _ in zip(read_lines(path), test.gold, strict=False)]


def scored(links: Sequence[Links], test: Aligned, parts: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The score of each part of the test set."""
    return {
        part: asdict(alignment_error_rate([links[n] for n in numbers], [test.gold[n] for n in numbers]))
        for part, numbers in parts.items()
    }


if __name__ == "__main__":
    main()
