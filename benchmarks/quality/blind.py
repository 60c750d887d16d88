"""Translate the blind sets of dialogue (DiaBLa) and of news and Wikipedia (PUD) by the installed translators.

    python benchmarks/quality/blind.py --data DATA --name NAME

Writes `results/blind/SET/NAME.LANGUAGE`, for both sets and both directions. The other halves of the sets are not there, and
the translations are scored elsewhere.
"""

from __future__ import annotations


from benchmarks.lib.command import Parser, run
from benchmarks.lib.record import RESULTS

SETS = ("dialogue", "pud")


def main() -> None:
    """Translate both sets in both directions."""
    parser = Parser(__doc__, "data")
    parser.add_argument("--name", default="installed", help="what to call the translations")
    arguments = parser.parse_args()
    for name in SETS:
        for source, target in (("en", "fr"), ("fr", "en")):
            output = RESULTS / "blind" / name / f"{arguments.name}.{target}"
            output.parent.mkdir(parents=True, exist_ok=True)
            run(
                "translate",
                arguments.data / "blind" / f"{name}.{source}",
                "--model",
                f"{source}-{target}",
                "--output",
                output,
            )
