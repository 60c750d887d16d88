"""`rnnsearch project`."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rnnsearch.cli.options import Output, check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.data.word_alignments import Links


_Source = Annotated[
    Path, typer.Option("--source", "-s", metavar="FILE", help="What is marked: CoNLL, or a sentence of HTML a line.")
]
_Target = Annotated[
    Path, typer.Option("--target", "-t", metavar="FILE", help="Its translation, one sentence per line, without marks.")
]
_Format = Annotated[
    Literal["conll", "html"],
    typer.Option("--format", help="`conll`: a word and its label (`B-PER`, `O`) a line; `html`: inline markup."),
]
_Links = Annotated[
    Path | None,
    typer.Option("--links", metavar="FILE", help="Word links, `0-0 1-2 …` on each line; by default, they are learned."),
]
_Model = Annotated[
    Path | None,
    typer.Option("--model", "-m", metavar="FOLDER", help="Draw the links with an aligner kept by `align --save`."),
]


def command(
    source: _Source,
    target: _Target,
    format_: _Format = "conll",
    links: _Links = None,
    model: _Model = None,
    output: Output = None,
) -> None:
    """Carry labels or inline markup over to a translation.

    Labelled spans (names, terms) or HTML elements of the source stand in the output around the words of the target that are
    linked to theirs. Words of both sides are separated by spaces, and links count them from 0. Without --links and --model,
    an aligner learns from the pairs themselves. A span that is linked to no word is lost; an element stays, empty.
    """
    check_inputs(source, target, links, outputs=[output], folders=[model], printed=output is None)
    if links is not None and model is not None:
        raise RnnsearchError("give links or an aligner: one of --links and --model")

    from rnnsearch.data.lines import read_lines
    from rnnsearch.jobs.output import written
    from rnnsearch.text.tokenize import split_at_spaces
    from rnnsearch.translation.markup import Markup
    from rnnsearch.translation.projection import LinkedTranslation, check_links, project_labels, read_conll

    targets = [split_at_spaces(line) for line in read_lines(target)]
    try:
        if format_ == "conll":
            marked = list(read_conll(read_lines(source)))
            sources = [words for words, _ in marked]
        else:
            documents = [Markup(line, "en", split=False) for line in read_lines(source)]
            sources = [split_at_spaces(sentence) for document in documents for sentence in document.sentences or [""]]
    except RnnsearchError as error:
        raise RnnsearchError(f"{source}: {error}") from None
    if format_ == "html":
        for number, document in enumerate(documents, start=1):
            if len(document.sentences) > 1:
                raise RnnsearchError(f"{source}:{number}: markup that ends a sentence, such as <p>; give a sentence a line")
    if len(sources) != len(targets):
        raise RnnsearchError(f"{source} has {len(sources)} sentences, but {target} has {len(targets)}; they belong together")
    links_of_pairs = _links(sources, targets, links, model)
    if len(links_of_pairs) != len(targets):
        raise RnnsearchError(f"{links} has {len(links_of_pairs)} lines for {len(targets)} pairs; give one line per pair")
    projected: list[str] = []
    for number, (words, translation, of_pair) in enumerate(zip(sources, targets, links_of_pairs, strict=True), start=1):
        try:
            check_links(of_pair, len(words), len(translation))
            if format_ == "conll":
                labels = project_labels(marked[number - 1][1], of_pair, len(translation))
                projected += [f"{word}\t{label}\n" for word, label in zip(translation, labels, strict=True)] + ["\n"]
            elif words:
                given = LinkedTranslation.of(" ".join(words), " ".join(translation), of_pair)
                projected.append(documents[number - 1].joined([given]) + "\n")
            else:  # there is no letter in it
                projected.append(html.escape(" ".join(translation), quote=False) + "\n")
        except RnnsearchError as error:
            raise RnnsearchError(f"sentence {number}: {error}") from None
    with written(output) as out:
        out.writelines(projected)


def _links(sources: list[list[str]], targets: list[list[str]], links: Path | None, model: Path | None) -> list[Links]:
    """The links of a file, of an aligner that was kept, or of one that learns from the pairs."""
    from rnnsearch.alignment import Aligner, learned_links
    from rnnsearch.data.word_alignments import read_gold

    if links is not None:
        return [gold.possible for gold in read_gold(links)]
    pairs = zip(sources, targets, strict=True)
    if model is None:
        return list(learned_links(pairs))
    return [line.links() for line in Aligner.load(model).align(pairs)]
