"""`rnnsearch learn-links`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rnnsearch.cli.options import Model, Tokenized, check_inputs, once
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rnnsearch.training.alignment_layer import LinkedPair
    from rnnsearch.translation import Translator

_KEPT_ASIDE = 500


def command(
    model: Model,
    source: Annotated[
        Path, typer.Option("--source", "-s", metavar="FILE", help="Source text to learn from, preferably training text.")
    ],
    target: Annotated[Path, typer.Option("--target", "-t", metavar="FILE", help="Its translation, line by line.")],
    links: Annotated[
        Path | None,
        typer.Option(
            "--links", metavar="FILE", help="Their word links, `0-0 1-2 …` on each line; by default, an aligner learns them."
        ),
    ] = None,
    pairs: Annotated[
        int,
        typer.Option("--pairs", metavar="N", min=1, help="Learn from so many pairs at most, drawn evenly from the text."),
    ] = 50_000,
    tokenized: Tokenized = False,
) -> None:
    """Teach a translator to align words well.

    The model and its translations stay as they are. Attention chooses what to read before the next word is known; the
    alignment layer sees the word itself and both sentences, and learns the links that `align` finds in the text, or those
    of a file. It is written into the model's folder, as `alignment-layer.safetensors`. From then on, `translate`, `serve`,
    `align`, `lexicon` and the replacement of unknown words link words by it. Learning takes minutes; a run that was killed
    starts again.
    """
    check_inputs(*once(source, target), links, models=[model], again=[source, target])

    from rnnsearch.cli.bar import bar
    from rnnsearch.data.word_alignments import GoldLinks
    from rnnsearch.evaluation.aer import alignment_error_rate
    from rnnsearch.model_files import ALIGNMENT_LAYER
    from rnnsearch.model_folder import check_single, save_alignment_layer
    from rnnsearch.training.alignment_layer import AlignmentLayerTraining
    from rnnsearch.translation import Translator, load
    from rnnsearch.translation.alignments import LINKED

    check_single(model)
    translator = load(model)  # with what it links words by so far, for the comparison
    if not translator.system.aligns:
        raise RnnsearchError(f"{model}: an RNNencdec has no alignment; train a model with --set model.alignment=mlp")
    chosen = list(_linked(translator, source, target, links, pairs, tokenized))
    kept_aside = min(_KEPT_ASIDE, len(chosen) // 10)
    aside, learned = chosen[:kept_aside], chosen[kept_aside:]
    training = AlignmentLayerTraining(translator.system, learned)
    if not training.updates:
        raise RnnsearchError(f"{source}, {target}: none of the {len(learned)} pairs can be learned from")
    with bar("learning", total=training.updates) as advance:
        system = training.run(advance)
    save_alignment_layer(model, system)
    print(f"{model / ALIGNMENT_LAYER}: learned from {len(learned):,} pairs")
    if aside:
        certain = [frozenset(link for link, probability in one.links.items() if probability > LINKED) for one in aside]
        gold = [GoldLinks(sure, sure) for sure in certain]
        print(f"Alignment error rate against the links of {len(aside)} pairs that were kept aside:")
        for name, of in (("attention", translator), ("alignment layer", Translator([system]))):
            found = of.score_words([one.source for one in aside], [one.target for one in aside])
            print(f"  {name} {alignment_error_rate([one.links or frozenset() for one in found], gold).aer:.4f}")


def _linked(
    translator: Translator, source: Path, target: Path, links: Path | None, most: int, tokenized: bool
) -> Iterator[LinkedPair]:
    """So many pairs, drawn evenly from the text, with their links."""
    from rnnsearch.alignment import Aligner, Corpus, steps
    from rnnsearch.cli.bar import bar
    from rnnsearch.data.read import read_pairs
    from rnnsearch.data.word_alignments import read_gold
    from rnnsearch.text.tokenize import split_at_spaces
    from rnnsearch.training.alignment_layer import LinkedPair
    from rnnsearch.translation.projection import check_links

    def words() -> Iterator[tuple[list[str], list[str]]]:
        for one, other in read_pairs([source], [target]):
            if tokenized:
                yield split_at_spaces(one), split_at_spaces(other)
            else:
                yield translator.source_words(one), translator.target_words(other)

    if links is not None:
        gold = read_gold(links)
        count, every = sum(1 for _ in read_pairs([source], [target])), -(-len(gold) // most)
        if len(gold) != count:
            raise RnnsearchError(f"{links} has {len(gold)} lines for {count} pairs; give one line per pair")
        for number, ((one, other), of_pair) in enumerate(zip(words(), gold, strict=True)):
            try:
                check_links(of_pair.possible, len(one), len(other))
            except RnnsearchError as error:
                raise RnnsearchError(f"{links}:{number + 1}: {error}") from None
            if number % every == 0:
                yield LinkedPair.of(one, other, of_pair.possible)
        return
    corpus = Corpus(words())
    with bar("aligning", total=corpus.pairs * steps("best", corpus.pairs)) as advance:
        aligner = Aligner.learn(corpus, advance)
    every = -(-corpus.lines // most)
    for number, ((one, other), line) in enumerate(zip(words(), aligner.align(corpus), strict=True)):
        if number % every == 0:
            cells = zip(line.source.tolist(), line.target.tolist(), strict=True)
            yield LinkedPair(one, other, dict(zip(cells, line.probability.tolist(), strict=True)))
