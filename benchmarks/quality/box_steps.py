"""What each training of the bundled translators brought: every model that was ever bundled, measured by the present program.

The models are those of commits that changed `src/rnnsearch/box/PAIR`; the last one may be that of the working tree. DATA has
`wmt/newstest2013.LANGUAGE.gz`, and RUNS/box/text is what `tools/train_box.py` has written. All models are scored on the same
sentences.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.lib.command import Parser, evaluated, run
from benchmarks.lib.record import ROOT, TINY, machine, read_json, write_result
from benchmarks.quality.box import tests_of
from rnnsearch.model_catalog import BOX, DEFAULT
from rnnsearch.model_files import WEIGHTS

STEPS = {
    "en-fr": {
        "Europarl and Tatoeba": "0aeb71c",
        "the mean of three such models": "3b13163",
        "symbols of protected spans, augmentation, word lists, templates": "501ec95",
        "21,800 everyday pairs, three times as many templates": "ae1f8f9",
        "24,700 everyday pairs: more words, signs, chat, names of firms": "83c31da7",
        "38,900 everyday pairs, and each word of them, none left out for its hash": "",
    },
    "fr-en": {
        "Europarl and Tatoeba": "f0b51b6",
        "symbols of protected spans, augmentation, word lists, templates": "a34e0ba",
        "23,500 everyday pairs, three times as many templates; buttons, quotations, text without accents": "b7982941",
        "38,900 everyday pairs, one meaning for each French word, infinitives as on buttons": "",
    },
}
"""By pair, what was new in a training, and the commit that brought its model; none is the working tree."""


def model_of(commit: str, pair: str, folder: Path) -> Path:
    """The bundled model of a commit, in a folder; the present one where the commit is not given."""
    if not commit:
        return BOX / pair
    place = (BOX / pair).relative_to(ROOT)
    archive = subprocess.run(["git", "archive", commit, str(place)], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder / place


def measured(model: Path, tests: dict[str, tuple[Path, Path]], written: Path) -> dict[str, Any]:
    """The size, the lines of the behaviour suite that are right, and BLEU, of a model."""
    run("evaluate", "--behaviour", "--model", model, "--json", written)
    behaviour, lines = read_json(written), written.with_suffix(".txt")
    bleu = {name: evaluated([model], *files, written, "--output", lines)["all"]["bleu"] for name, files in tests.items()}
    weights = (model / WEIGHTS).stat().st_size
    return {"weights_bytes": weights, "behaviour": {key: behaviour[key] for key in ("passed", "of")}, "bleu": bleu}


def main() -> None:
    """Measure the models of a pair, the oldest first."""
    parser = Parser(__doc__, "data")
    parser.add_argument("--text", type=Path, required=True, help="the held-out sets and the training text of train_box.py")
    parser.add_argument("--pair", choices=STEPS, default=DEFAULT, help="the languages, source and target")
    arguments = parser.parse_args()
    pair = arguments.pair
    rows = {}
    for name, commit in list(STEPS[pair].items())[-1 if TINY else 0 :]:
        with TemporaryDirectory() as folder:
            tests = tests_of(pair, arguments.data, arguments.text, Path(folder))
            model = model_of("" if TINY else commit, pair, Path(folder))
            rows[name] = measured(model, tests, Path(folder) / "written.json")
        print(f"{name}: {rows[name]}", flush=True)
    write_result(f"quality/box_steps-{pair}", machine=machine(), rows=rows)
