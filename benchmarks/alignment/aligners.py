"""Word aligners side by side: `rnnsearch align` without a model, eflomal and fast_align, trained on the same text.

There are three tests. `novels` aligns the novels of `DATA/alibi` together with 100,000 pairs of Europarl, `all-europarl` the
same novels with all 948,271 pairs, and `built-in` the test set of the built-in corpus with its 60,000 training pairs. The
links of no test sentence are shown to an aligner. What is chosen, is chosen on the two novels DEVELOPED_ON; the other three
are the test. A test that is not asked for keeps its record; `--others` names the aligners that run beside ours, if not all,
and the others keep their scores and costs of an earlier run. With `--blind`, the aligners of these names also align the
sentences of `DATA/blind/hansards` together with `DATA/hansards/train`; the gold links of these are elsewhere, and what is
found goes to `results/blind/hansards`.

Ours is run twice, the second time with `--quality fast`. PYTHON is that of an environment with the packages `eflomal` and
`systran-align`, which are never dependencies. What an aligner has written is kept in RUNS, and only scored when the script
runs again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from benchmarks.alignment.aligner_scores import cells_of, p_value, reliability
from benchmarks.alignment.gold import Aligned, both, built_in_test, novels, tokenized
from benchmarks.lib import built_in
from benchmarks.lib.command import Parser, cost_of, rnnsearch, text_options
from benchmarks.lib.record import RESULTS, kept, machine, read, sized, write_result
from benchmarks.lib.texts import beginning, write_lines
from benchmarks.peers import aligners as peer_aligners
from rnnsearch.alignment import Aligner, Corpus, LineLinks, Quality
from rnnsearch.data.lines import read_lines
from rnnsearch.data.read import read_pairs
from rnnsearch.data.word_alignments import Links, Symmetry, parse_gold, to_pharaoh
from rnnsearch.text.tokenize import Tokenizer

PAIRS = sized({"novels": 100_000, "all-europarl": 948_271}, {"novels": 200, "all-europarl": 300})
TESTS = (*PAIRS, "built-in")
BLIND = RESULTS / "blind" / "hansards"
WAYS: tuple[Symmetry, ...] = ("intersection", "union", "grow-diag", "grow-diag-final-and")
OURS, FAST, OTHERS = "rnnsearch", "rnnsearch-fast", peer_aligners.ALIGNERS
"""Our aligner, our aligner with `--quality fast`, and the others."""
ALIGNERS = OURS, FAST, *OTHERS
SHOWN = 12
"""Sentences of the built-in corpus whose links the page shows, where ours and eflomal's differ."""


def main() -> None:
    """Prepare, align, score, record."""
    parser = Parser(__doc__, "data", "output")
    parser.add_argument("--peers", type=Path, required=True, help="a Python with eflomal and systran-align")
    parser.add_argument("--tests", nargs="*", choices=TESTS, default=["novels", "built-in"])
    parser.add_argument("--others", nargs="+", choices=ALIGNERS[1:], default=ALIGNERS[1:], help="those that run beside ours")
    parser.add_argument("--blind", nargs="*", choices=(OURS, *OTHERS), default=[], help="whose links of the Hansards")
    arguments = parser.parse_args()

    on, folder, found = machine(), arguments.output / "aligners", read("alignment/aligners").get("found", {})
    for name in arguments.tests:
        corpus = built_in.corpus(folder / "corpus")
        test = built_in_test(corpus) if name == "built-in" else novels(arguments.data)
        text = text_of(name, test, arguments.data, folder)
        aligned = aligners(text, folder / name, test, arguments.peers, arguments.others)
        found[name] = {"machine": on, **compared(aligned, test, found.get(name, {}))}
        if name == "built-in":
            found[name]["shown"] = shown(aligned, test, found[name])
    write_result("alignment/aligners", found={name: found[name] for name in TESTS if name in found})
    blind(arguments.data, folder / "hansards", arguments.peers, arguments.blind)


def aligners(text: Sequence[Path], output: Path, test: Aligned, peers: Path, others: Sequence[str]) -> dict[str, Any]:
    """The links of each aligner, by way of combining both directions, what they cost, and our own lines."""
    lines, cost = ours(text, output, test)
    links = {"probability": [line.links() for line in lines]} | {way: [line.links(way) for line in lines] for way in WAYS}
    found = {"lines": lines, OURS: {"links": links, "cost": cost}}
    if FAST in others:
        of_fast, cost = ours(text, output, test, "fast")
        found[FAST] = {"links": {"probability": [line.links() for line in of_fast]}, "cost": cost}
    return found | {name: theirs(name, peers, text, output, test) for name in OTHERS if name in others}


def compared(found: Mapping[str, Any], test: Aligned, before: Mapping[str, Any]) -> dict[str, Any]:
    """What is recorded of a test set: scores, costs, the difference from each aligner's best way, reliability.

    Of another aligner that has not run, the scores and costs are those recorded before, and there is no p.
    """
    names = [name for name in ALIGNERS if name in found]
    scores: dict[str, Any] = {name: before["scores"][name] for name in OTHERS if name in before.get("scores", {})}
    costs = {name: before["cost"][name] for name in scores}
    for name in names:
        scores[name] = {way: test.scores(links) for way, links in found[name]["links"].items()}
        costs[name] = found[name]["cost"]
    best: dict[str, dict[str, Any]] = {}
    for part, numbers in test.parts.items():
        best[part] = {}
        for name in filter(OTHERS.__contains__, scores):
            way = min(scores[name], key=lambda way: scores[name][way][part]["aer"])
            links = found[name]["links"][way] if name in found else None
            p = p_value(found[OURS]["links"]["probability"], links, test.gold, numbers) if links else None
            best[part][name] = {"way": way, "p": p}
    return {
        "pairs": {part: len(numbers) for part, numbers in test.parts.items()},
        "scores": {name: scores[name] for name in ALIGNERS if name in scores},
        "cost": {name: costs[name] for name in ALIGNERS if name in costs},
        "best": best,
        "reliability": {
            part: reliability([cells_of(found["lines"][n]) for n in numbers], [test.gold[n] for n in numbers])
            for part, numbers in test.parts.items()
        },
    }


def shown(found: Mapping[str, Any], test: Aligned, record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The first sentences of which eflomal's best way and ours have different links."""
    way = record["best"]["test"]["eflomal"]["way"]
    examples: list[dict[str, Any]] = []
    for n, pair in enumerate(zip(found[OURS]["links"]["probability"], found["eflomal"]["links"][way], strict=True)):
        if pair[0] != pair[1] and len(examples) < SHOWN:
            links = {OURS: to_pharaoh(pair[0]), "eflomal": to_pharaoh(pair[1]), "gold": to_pharaoh(test.gold[n].sure)}
            possible = to_pharaoh(test.gold[n].possible - test.gold[n].sure)
            words = {"source": " ".join(test.sources[n]), "target": " ".join(test.targets[n])}
            examples.append({"number": n} | words | links | {"possible": possible})
    return examples


def text_of(name: str, test: Aligned, data: Path, folder: Path) -> tuple[Path, Path]:
    """The two files in which a test set is aligned."""
    train = built_in.part(folder / "corpus", "train")
    training = partial(europarl, data, PAIRS[name]) if name in PAIRS else partial(tokenized, *train)
    return written(folder / name, (test.sources, test.targets), training)


def written(
    output: Path, tested: Sequence[Sequence[Sequence[str]]], training: Callable[[], Iterable[Iterable[Sequence[str]]]]
) -> tuple[Path, Path]:
    """The two files that are aligned: the test sentences, and then those of the training text."""
    text = output.with_name(f"{output.name}.en"), output.with_name(f"{output.name}.fr")
    if not text[1].exists():
        for path, test_side, training_side in zip(text, tested, training(), strict=True):
            write_lines(path, map(" ".join, chain(test_side, training_side)))
    return text


def beginning_of(text: Sequence[Path], lines: int) -> tuple[Path, Path]:
    """The first lines of both files of a text, in files."""
    first, second = (beginning(whole, lines, whole.with_name(f"{whole.stem}-{lines}{whole.suffix}")) for whole in text)
    return first, second


def blind(data: Path, output: Path, peers: Path, names: Sequence[str]) -> None:
    """Writes the links of the Hansards that these aligners find, to be scored by those who have the gold links."""
    if not names:
        return
    (sources, targets), training = (
        [[line.split() for line in read_lines(data / f"{name}.{language}{end}")] for language in ("en", "fr")]
        for name, end in (("blind/hansards", ""), ("hansards/train", ".xz"))
    )
    test = Aligned(sources, targets, [parse_gold("")] * len(sources))
    text = written(output, (sources, targets), lambda: training)
    files: dict[str, list[Links]] = {}
    if OURS in names:
        aligner = learned(text, output.with_name(f"{output.name}.aligner"))
        files[OURS] = [line.links() for line in aligner.align(test.pairs())]
    for name, file, way in (("eflomal", "eflomal-intersection", WAYS[0]), ("fast_align", "fast_align", WAYS[-1])):
        if name in names:
            files[file] = theirs(name, peers, text, output, test)["links"][way]
    for name, pairs in files.items():
        write_lines(BLIND / f"{name}.links", map(to_pharaoh, pairs))


def europarl(data: Path, pairs: int) -> Iterator[Iterator[list[str]]]:
    """The words of so many pairs drawn at random from all of Europarl, of both sides."""
    for language in ("en", "fr"):
        paths = [data / "europarl" / f"europarl-part{part}.{language}.xz" for part in (0, 1)]
        lines = [line for path in paths for line in read_lines(path)]
        chosen = np.sort(np.random.default_rng(1).choice(len(lines), pairs, replace=False))
        yield map(Tokenizer("moses", language).tokenize, (lines[n] for n in chosen))


def ours(
    text: Sequence[Path], output: Path, test: Aligned, quality: Quality = "best"
) -> tuple[list[LineLinks], dict[str, Any]]:
    """`rnnsearch align` without a model: what the aligner that it keeps says of the test sentences, and the cost."""
    end = "" if quality == "best" else f"-{quality}"
    links, saved = output.with_name(f"{output.name}.ours{end}"), output.with_name(f"{output.name}.aligner{end}")
    files = [*text_options(*text), "--output", links, "--save", saved]
    cost = measured(rnnsearch("align", *files, "--quality", quality), text, links)
    return list(Aligner.load(saved).align(test.pairs())), cost


def learned(text: Sequence[Path], saved: Path) -> Aligner:
    """An aligner that has learned from the two files of a text. It is saved, and loaded if the script runs again."""
    work = saved.with_name(f"{saved.name}.parts")
    if not (saved / "aligner.json").exists():
        print(f"{saved.name}: learning", file=sys.stderr)
        work.mkdir(exist_ok=True)
        Aligner.learn(Corpus(read_pairs(text[:1], text[1:]), work)).save(saved)
        rmtree(work)
    return Aligner.load(saved)


def theirs(name: str, peers: Path, text: Sequence[Path], output: Path, test: Aligned) -> dict[str, Any]:
    """Another aligner: its links of each direction, or symmetrised by itself or by us, and the cost."""
    aligner = OTHERS[name]
    several = len(aligner.writes) > 1
    paths = [output.with_name(f"{output.name}.{name}{f'-{of}' if several else ''}") for of in aligner.writes]
    cost = measured([*map(str, aligner.command(peers, text, paths))], text, paths[-1])
    links = {of: first_lines(path, test) for of, path in zip(aligner.writes, paths, strict=True)}
    combined = {way: both(links["forward"], links["backward"], way) for way in WAYS} if several else {}
    return {"links": links | combined, "cost": cost}


def measured(command: list[str], text: Sequence[Path], result: Path) -> dict[str, Any]:
    """The cost of a command that aligns a text in one thread and writes `result` last; kept beside it."""
    cost, parts, temporary = (result.with_name(f"{result.name}.{end}") for end in ("cost.json", "parts", "temporary"))

    def measure() -> dict[str, float]:
        print(f"{result.name}: aligning", file=sys.stderr)
        temporary.mkdir(exist_ok=True)
        found, pairs = cost_of(command, 1, (temporary, parts)), sum(1 for _ in read_lines(text[0]))
        rmtree(temporary)
        return found | {"pairs": pairs, "pairs_per_second": pairs / found["processor"]}

    return kept(cost, measure)


def first_lines(path: Path, test: Aligned) -> list[Links]:
    """The links of the test sentences, which come first."""
    return [parse_gold(line).sure for line, _ in zip(read_lines(path), test.gold, strict=False)]
