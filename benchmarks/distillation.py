"""One model taught by several: sequence-level knowledge distillation (Kim & Rush 2016) on Multi30k.

    python benchmarks/distillation.py --data DATA --output RUNS [--teachers 3] [--language de] [--models 3 --jobs 2]

The teachers are the models of `multi30k.py --models 3`. Together they translate the training text; a student, a single model
of the same preset, trains on the text and on their translations of it, in fewer passes, since there is more to pass over.
Pairs that both have count once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from multi30k import of_seeds, run, seed_settings, train_and_evaluate, train_command
from record import machine, write_result

EPOCHS = 12
"""Of the students: three quarters of their teachers' updates."""


def main() -> None:
    """Let the teachers translate, train the students, evaluate, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with multi30k/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the teachers are, and the students go")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--language", choices=("fr", "de"), default="fr", help="the language translated into")
    parser.add_argument("--models", type=int, default=1, help="how many students to train")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a further setting of the students")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    arguments = parser.parse_args()

    on, data, language = machine(), arguments.data, arguments.language
    of_language = "" if language == "fr" else f"-{language}"
    teachers = of_seeds(arguments.output / f"multi30k-rnnsearch-{arguments.preset}{of_language}", arguments.teachers)
    name = f"multi30k-rnnsearch-{arguments.preset}-taught{of_language}"
    students = of_seeds(arguments.output / name, arguments.models)

    source, taught = data / "multi30k" / "train.en.gz", arguments.output / f"{name}.{language}"
    if not taught.exists():
        run("translate", *(part for model in teachers for part in ("--model", model)), source, "--output", taught)
    settings = [f"training.max_epochs={EPOCHS}", *arguments.set]
    commands = [
        [
            *train_command(data, student, arguments.preset, [*settings, *of_seed], language),
            *("--source", str(source), "--target", str(taught)),
        ]
        for student, of_seed in zip(students, seed_settings(arguments.models), strict=True)
    ]
    found = train_and_evaluate(data, students, commands, language, arguments.jobs, arguments.resume)
    write_result(name, machine=on, side_by_side=arguments.jobs, teachers=arguments.teachers, **found)


if __name__ == "__main__":
    main()
