"""Options that several commands have, so that they are spelled and explained alike, and checks that come before slow work.

Nothing here imports PyTorch, and settings are only loaded when a command runs: `--help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rnnsearch.errors import RnnsearchError
from rnnsearch.presets import BY_PAIRS, PRESETS, preset_for

if TYPE_CHECKING:
    from rnnsearch.config import Config


def documentation(of: Callable[..., object] | type) -> str:
    """Return the docstring of an object, even if Python runs without docstrings (`-OO`)."""
    if of.__doc__ is None:
        import ast
        import inspect

        (definition,) = ast.parse(inspect.getsource(of)).body
        return inspect.cleandoc(ast.get_docstring(definition) or "")  # type: ignore[arg-type]
    return of.__doc__


def _local_folder(model: str) -> Path:
    """Return the folder of an installed model or of one on the Hub, or the given folder."""
    from rnnsearch.model_catalog import model_folder

    return model_folder(model)


def model_option(help_: str, *names: str) -> Any:
    """Return an option that accepts the folder of a model, the name of an installed one, or a name on the Hub."""
    return typer.Option(*(names or ("--model", "-m")), metavar="FOLDER", parser=_local_folder, help=help_)


ModelToAdapt = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        parser=_local_folder,
        show_default=False,
        help="The model to begin with: a folder, the name of an installed one, or a name on the Hub.",
    ),
]
_ONE, _SEVERAL = "a folder, or a name on the Hub", "a folder, or a name on the Hub; may be repeated, for an ensemble."
Model = Annotated[Path, model_option(f"A trained model: {_ONE}.")]
ModelOrNone = Annotated[Path | None, model_option(f"A trained model: {_ONE}.")]
Models = Annotated[list[Path], model_option(f"A trained model: {_SEVERAL}")]
InstalledOrModels = Annotated[
    list[Path] | None,
    model_option(
        f"A trained model: {_SEVERAL} By default an installed one: from French to English if the name of FILE ends in .fr, "
        "otherwise from English to French."
    ),
]
ServedModels = Annotated[
    list[Path] | None,
    model_option(f"A trained model: {_SEVERAL} By default the installed ones, English to French and French to English."),
]
PronouncerOrModels = Annotated[
    list[Path] | None,
    model_option(f"A model of letters and phones: {_SEVERAL} By default the installed one, English to IPA."),
]
Sources = Annotated[
    list[Path] | None,
    typer.Option(
        "--source", "-s", metavar="FILE", help="Training text, source side, one sentence per line; may be repeated."
    ),
]
Targets = Annotated[
    list[Path] | None,
    typer.Option("--target", "-t", metavar="FILE", help="Training text, target side, line by line; may be repeated."),
]
ValidSources = Annotated[
    list[Path] | None,
    typer.Option("--valid-source", metavar="FILE", help="Development set, source side; may be repeated."),
]
ValidTargets = Annotated[
    list[Path] | None,
    typer.Option("--valid-target", metavar="FILE", help="Development set, target side; may be repeated."),
]
Tables = Annotated[
    list[Path] | None,
    typer.Option(
        "--tsv",
        metavar="FILE",
        help="The same as FILE; of a table with tabs, further columns are features. May be repeated.",
    ),
]
ValidTables = Annotated[
    list[Path] | None,
    typer.Option("--valid-tsv", metavar="FILE", help="Development set in a file with both sides; may be repeated."),
]
_FILE_OF_PAIRS = "A file with both sides: TMX, XLIFF, PO, TBX, Qt, CSV, JSON Lines, Parquet, or a table with tabs"
TrainingFiles = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE", show_default=False, help=f"{_FILE_OF_PAIRS}; or a folder of them; may be repeated."),
]
PairsFile = Annotated[Path | None, typer.Argument(metavar="FILE", show_default=False, help=f"{_FILE_OF_PAIRS}.")]
Table = Annotated[Path | None, typer.Option("--tsv", metavar="FILE", help="The same as FILE.")]
Languages = Annotated[
    str | None,
    typer.Option(
        "--languages",
        metavar="EN,FR",
        help="Which languages of FILE are the source and the target; needed where it has more than two.",
    ),
]
HoldOut = Annotated[
    int | None,
    typer.Option(
        "--hold-out",
        metavar="N",
        min=0,
        show_default=False,
        help="Take N pairs of the training text, drawn at random, as the development set, and do not train on them.",
    ),
]
Links = Annotated[
    list[Path] | None,
    typer.Option(
        "--links",
        metavar="FILE",
        help="Word alignments of the training text, `0-0 1-2 …` on each line, to guide the attention; one file per source.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        show_default=False,
        help=f"Settings to start from: {', '.join(PRESETS)}. By default small, or memory for memories and such FILEs.",
    ),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", metavar="FILE.toml", help="Settings in a TOML file.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting, e.g. `training.dropout=0.2`; may be repeated."),
]
SearchSet = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="One search setting, e.g. `search.length_normalization=0.8`; may be repeated."
    ),
]
Beam = Annotated[int | None, typer.Option("--beam", min=1, help="Number of hypotheses kept for each sentence.")]
PaperSearch = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="Search as the code of the paper's authors does: no length normalisation, its length limits, a line is a "
        "sentence; the beam is 12.",
    ),
]


def _split_option(default: str) -> Any:
    help_ = f"Translate each sentence of a line by itself, and leave alone what has no letters; {default}."
    return typer.Option("--split-sentences/--no-split-sentences", show_default=False, help=help_)


SplitSentences = Annotated[bool | None, _split_option("on by default, unless the model's settings say otherwise")]
SplitTestSet = Annotated[bool | None, _split_option("off by default, for test sets have a sentence on each line")]
PageFile = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE.html", help="Also write a page with the alignments of up to 1,000 sentences."),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of processes; the output does not depend on it."),
]
Quality = Annotated[
    Literal["best", "fast"],
    typer.Option(
        "--quality",
        help="For an aligner that learns now: `fast` takes half as many steps on a text of 150,000 pairs or more, with "
        "somewhat more errors.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to standard output.")
]
Tokenized = Annotated[
    bool, typer.Option("--tokenized", help="The files are already tokenised: words are separated by spaces.")
]


def check_inputs(
    *files: Path | str | None,
    models: Iterable[Path | None] = (),
    outputs: Iterable[Path | None] = (),
    folders: Iterable[Path | None] = (),
    again: Iterable[Path | None] = (),
    printed: bool = False,
) -> None:
    """Raise RnnsearchError for inputs and outputs of a command that cannot be read or written, or that would be lost.

    These are: a file that cannot be read; a pipe that is given twice, or that is among the files that are read `again`; a
    folder without a model; an output, whether a file or one of the `folders`, that cannot be written, or that is also an
    input or another output; and a closed standard output if results are `printed`. Commands call this before slow work.
    """
    from rnnsearch.atomic import check_outputs, check_writable
    from rnnsearch.cli.streams import check_open
    from rnnsearch.data.inputs import check_distinct, check_readable, check_repeatable
    from rnnsearch.model_files import read_model_config

    models, outputs = list(models), list(outputs)
    for model in models:
        if model is not None:
            read_model_config(model)
    given = [Path(file) for file in files if file is not None]
    check_readable(*given)
    check_distinct(*given)
    check_repeatable(*(file for file in again if file is not None))
    check_outputs([*outputs, *folders], [*(Path("/dev/stdin") if str(file) == "-" else file for file in given), *models])
    check_writable(*outputs)
    if printed:
        check_open()


def files_of(given: Sequence[Path] | None) -> list[Path]:
    """Return the given files; the folder of a data set is replaced by the files of its training text."""
    from rnnsearch.formats.data_sets import with_data_sets

    return list(with_data_sets(given or ()))


def special(file: Path | None) -> bool:
    """Return whether a name is that of standard output (`-`) or of a device such as /dev/null, not of a regular file."""
    return file is not None and (str(file) == "-" or (file.exists() and not file.is_file() and not file.is_dir()))


def files_of_pairs(source: Path | None, target: Path | None, joined: Path | None, option: str) -> list[Path]:
    """Return the two files of the pairs, or the one file with both sides that `option` names."""
    if joined is not None and source is None and target is None:
        return [joined]
    if joined is None and source is not None and target is not None:
        return [*once(source, target)]
    raise RnnsearchError(f"give the pairs as --source and --target, or both in one file as {option}")


def translators_for(file: str | Path, given: list[Path] | None) -> list[Path]:
    """Return the given models, or else the installed one for the language of a file."""
    from rnnsearch.model_catalog import translator_from
    from rnnsearch.text.tokenize import language_of

    return given or [translator_from(language_of(file))]


def tell_installed(models: list[Path], given: list[Path] | None) -> None:
    """Print on standard error that an installed model translates, because none was given."""
    from rnnsearch.model_catalog import TRANSLATORS

    if not given:
        languages = TRANSLATORS[models[0].name]
        print(f"rnnsearch: translating {languages} with the installed model; --model names another", file=sys.stderr)


def once(source: Path, target: Path) -> Sequence[Path]:
    """Return the files of both sides in the order of reading; a table is read once."""
    return [source] if source == target else [source, target]


def both_sides(
    file: Path | None, source: Path | None, target: Path | None, tsv: Path | None, option: str
) -> tuple[Path, Path]:
    """Return the files of both sides, which are equal for a file with both sides; `option` is that of the target."""
    if file is not None and tsv is not None:
        raise RnnsearchError(f"{file} and --tsv {tsv}: both are files with both sides; give one of them")
    both = file or tsv
    if both is not None and not (source or target):
        return both, both
    if both is None and source is not None and target is not None:
        return source, target
    raise RnnsearchError(f"give --source and {option}, or one FILE with both sides")


def with_languages(languages: str | None, assignments: Sequence[str] | None) -> list[str]:
    """Return the assignments of `--set` together with those of `--languages`, which are settings of a training."""
    from rnnsearch.formats.languages import parse_languages

    both = zip(("source", "target"), parse_languages(languages), strict=True)
    return [*(f"data.{side}_language={tag}" for side, tag in both if tag), *(assignments or [])]


def settings(
    preset: str,
    config_file: Path | None,
    assignments: Sequence[str] | None,
    pairs: int | None = None,
    again: bool = False,
    further: bool = False,
) -> Config:
    """Return the settings of a command: the preset, then the file, then `--set`; later ones override earlier ones.

    `pairs` is the number of training pairs, see `from_preset`. `again` says that the file will be read again, and `further`
    that a trained model is trained further.
    """
    from rnnsearch.config import from_dict, from_preset, merge
    from rnnsearch.data.inputs import check_repeatable

    if config_file is not None and again:
        check_repeatable(config_file)

    requested = _overrides(config_file, assignments)
    from_preset(preset)  # an unknown preset is reported first
    return from_dict(merge(preset_for(preset, pairs, further), requested))


def preset_of(given: str | None, sources: Sequence[Path], targets: Sequence[Path]) -> str:
    """Return the given preset, or else the one for this kind of training text."""
    from rnnsearch.data.read import has_units

    if given is not None or not sources:
        return given or "small"
    return "memory" if all(has_units(*files) for files in zip(sources, targets, strict=False)) else "small"


def count_pairs(
    preset: str, sources: Sequence[Path], targets: Sequence[Path], assignments: Sequence[str], data: Path | None = None
) -> int | None:
    """Return the number of training pairs, if the settings of this preset depend on it and it can be known beforehand."""
    import warnings

    from rnnsearch.data.inputs import check_readable
    from rnnsearch.data.prepared import prepared_info
    from rnnsearch.data.read import read_pairs
    from rnnsearch.errors import RnnsearchWarning

    if preset not in BY_PAIRS:
        return None
    if data is not None:
        return int(prepared_info(data).get("pairs", 0)) or None
    check_readable(*sources, *targets)
    if not all(path.is_file() for path in (*sources, *targets)):
        return None
    languages = settings(preset, None, assignments).data.languages
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RnnsearchWarning)  # the preparation of the text reports what is omitted
        return sum(1 for _ in read_pairs(sources, targets, languages))


def search_settings(
    paper: bool, beam: int | None, assignments: Sequence[str] | None, split_sentences: bool | None = None
) -> dict[str, Any]:
    """Return the search settings that override the model's: `--paper`, then `--set`, then the options."""
    from rnnsearch.config import parse_assignments

    values = parse_assignments(assignments or [])
    for section in values:
        if section != "search":
            raise RnnsearchError(f"--set {section}.…: the model is trained already; only search.* can still be set")
    settings: dict[str, Any] = {**(PRESETS["paper"]["search"] if paper else {}), **values.get("search", {})}
    options = {"beam": beam, "split_sentences": split_sentences}
    return settings | {key: value for key, value in options.items() if value is not None}


def refuse_settings(
    config_file: Path | None,
    assignments: Sequence[str] | None,
    configuration: Config,
    fixed: Config,
    sections: Sequence[str],
    option: str,
) -> None:
    """Raise RnnsearchError if the file or `--set` changes the settings `fixed`, which `option` fixes."""
    requested = _overrides(config_file, assignments)
    for section in sections:
        for key in requested.get(section, {}):
            value, has = (getattr(getattr(config, section), key) for config in (configuration, fixed))
            if value not in (has, "auto"):
                raise RnnsearchError(
                    f"{section}.{key} = {value}: with {option}, {section}.* are fixed, and {section}.{key} is {has}"
                )


def _overrides(config_file: Path | None, assignments: Sequence[str] | None) -> Mapping[str, Mapping[str, Any]]:
    from rnnsearch.config import merge, parse_assignments, read_toml

    return merge(read_toml(config_file) if config_file else {}, parse_assignments(assignments or []))
