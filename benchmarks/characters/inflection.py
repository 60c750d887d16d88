"""Inflection: the forms of regular French verbs that the model has not seen, by the preset `characters`.

The table is made here, by the rules of grammar: for each infinitive six persons of four tenses, as in `manger TAB mangeons
TAB V;PRS;1;PL`. The verbs of development and test set are not among those of the training. The same command goes on after
it was stopped.
"""

from __future__ import annotations

import random
from pathlib import Path

import rnnsearch
from benchmarks.characters.models import scored, train, training_of
from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, write_result
from rnnsearch.atomic import write_text
from rnnsearch.data.read import read_table

VERBS = """
aimer parler chanter danser marcher regarder écouter trouver donner passer rester tomber arriver entrer monter porter laver
fermer habiter travailler étudier jouer gagner compter montrer raconter demander poser garder cacher couper verser visiter
voyager manger nager ranger changer partager corriger diriger obliger mélanger neiger plonger loger déranger songer bouger
commencer lancer placer avancer annoncer prononcer effacer menacer remplacer tracer forcer percer renoncer dénoncer
finir choisir grandir rougir réussir remplir punir nourrir bâtir obéir guérir ralentir saisir réfléchir applaudir vieillir
blanchir maigrir grossir avertir fournir garantir unir bondir agir réagir jaillir définir investir établir salir trahir
vendre attendre entendre rendre perdre descendre répondre fondre tendre mordre pendre défendre étendre suspendre confondre
dépendre correspondre tondre tordre pondre
""".split()  # noqa: SIM905 (a list of a hundred strings is no table)
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
ENDINGS = {
    "er": {"PRS": "e es e ons ez ent", "IPFV": "ais ais ait ions iez aient"},
    "ir": {"PRS": "is is it issons issez issent", "IPFV": "issais issais issait issions issiez issaient"},
    "re": {"PRS": "s s - ons ez ent", "IPFV": "ais ais ait ions iez aient"},
}
OF_THE_INFINITIVE = {"FUT": "ai as a ons ez ont", "COND": "ais ais ait ions iez aient"}
HELD_OUT = 15
"""Verbs of the development set, and of the test set."""


def forms(verb: str) -> list[tuple[str, str]]:
    """All forms of a verb, each with its features."""
    found = []
    for tense, endings in ENDINGS[verb[-2:]].items():
        for person, ending in zip(PERSONS, endings.split(), strict=True):
            stem, ending = verb[:-2], ending.replace("-", "")
            if verb.endswith("er") and ending[0] in "ao":  # the letters keep their sounds
                stem = stem[:-1] + "ç" if stem.endswith("c") else stem + "e" if stem.endswith("g") else stem
            found.append((stem + ending, f"V;{tense};{person}"))
    for tense, endings in OF_THE_INFINITIVE.items():
        for person, ending in zip(PERSONS, endings.split(), strict=True):
            found.append((verb.removesuffix("e") + ending, f"V;{tense};{person}"))
    return found


def main() -> None:
    """Make the tables, train, score, record."""
    output: Path = Parser(__doc__, "output").parse_args().output

    verbs = random.Random(1).sample(VERBS, len(VERBS))
    parts = {"test": verbs[:HELD_OUT], "dev": verbs[HELD_OUT : 2 * HELD_OUT], "train": verbs[2 * HELD_OUT :]}
    tables = {part: output / f"{part}.tsv" for part in parts}
    for part, chosen in parts.items():
        rows = (f"{verb}\t{form}\t{features}\n" for verb in chosen for form, features in forms(verb))
        write_text(tables[part], "".join(rows))
    model = output / "model"
    train(model, [tables["train"]], tables["dev"], ["data.target_units=characters"])
    rates, written = scored(rnnsearch.load(model), tables["test"])
    training = training_of(model)
    print(f"{len(parts['test'])} verbs, {rates['lines']} forms: {rates['wer']:.1f}% are wrong")
    for (source, form), one in zip(read_table(tables["test"]), written, strict=True):
        if one.text != form:
            print(f"  {source.replace(chr(9), ' ')}: {one.text}, not {form}")
    write_result(
        "characters/inflection",
        machine=machine(),
        verbs={part: len(chosen) for part, chosen in parts.items()},
        forms={part: sum(1 for _ in read_table(path)) for part, path in tables.items()},
        **training,
        **rates,
    )
