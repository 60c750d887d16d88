"""The report of `rnnsearch check`, as a table, as JSON, and as JUnit XML."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from xml.etree import ElementTree

from rnnsearch.checking.deviations import described
from rnnsearch.errors import printable


@dataclass(frozen=True)
class Finding:
    """The result of the comparison for one equation."""

    equation: str
    formula: str
    place: str
    """The section of the paper that has the equation."""
    outcome: Literal["agrees", "differs", "fails", "not there"]
    where: str = ""
    """The first position where the results differ, or a description of the error."""
    difference: float | None = None
    """The largest absolute difference."""
    deviations: list[frozenset[str]] = field(default_factory=list)
    """The deviations of the catalogue that give the same results: several sets if the results cannot tell them apart."""
    lines: list[str] = field(default_factory=list)
    """The lines of the file that led to an exception."""
    advice: str = ""

    @property
    def verdict(self) -> str:
        """The outcome, with the size of the difference."""
        return self.outcome if self.difference is None else f"differs by {self.difference:.2g}"

    @property
    def explanation(self) -> str:
        """A sentence that names the mistake, or an empty string."""
        if not self.deviations:
            return self.advice
        sets = ["; and if ".join(described(deviation) for deviation in sorted(each)) for each in self.deviations[:3]]
        return f"your output equals the paper's if {'. Or if '.join(sets)}"


@dataclass(frozen=True)
class Report:
    """The findings about one file, in the order in which the equations build on each other."""

    file: str
    """The file, or the names of the functions."""
    seed: int
    findings: list[Finding]

    @property
    def agrees(self) -> bool:
        """Whether the file implements at least one equation, and all equations that it implements agree."""
        outcomes = {finding.outcome for finding in self.findings} - {"not there"}
        return outcomes == {"agrees"}

    @property
    def first(self) -> Finding | None:
        """The first equation that the file implements and that does not agree."""
        return next((finding for finding in self.findings if finding.outcome in ("differs", "fails")), None)

    def __str__(self) -> str:
        """Return a line for each equation that the file implements, and the explanation of each difference."""
        there = [finding for finding in self.findings if finding.outcome != "not there"]
        lines = [": ".join(filter(None, [f"{one.equation} {one.verdict}", one.where, one.explanation])) for one in there]
        return "\n".join(lines or [f"{self.file}: still to be written"])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        findings = [
            asdict(finding) | {"deviations": [*map(sorted, finding.deviations)], "explanation": finding.explanation}
            for finding in self.findings
        ]
        return {"file": self.file, "seed": self.seed, "agrees": self.agrees, "findings": findings}

    def to_junit(self) -> str:
        """Return the report as JUnit XML, with a test case for each equation; those that the file lacks are skipped."""
        outcomes = [finding.outcome for finding in self.findings]
        counts = {
            "tests": len(outcomes), "failures": outcomes.count("differs"),
            "errors": outcomes.count("fails"), "skipped": outcomes.count("not there"),
        }  # fmt: skip
        suite = ElementTree.Element("testsuite", {"name": "rnnsearch check"} | {key: str(n) for key, n in counts.items()})
        elements = {"differs": "failure", "fails": "error", "not there": "skipped"}
        for finding in self.findings:
            test = ElementTree.SubElement(suite, "testcase", classname="rnnsearch.check", name=finding.equation)
            if finding.outcome in elements:
                message = _for_xml(finding.where or finding.outcome)
                element = ElementTree.SubElement(test, elements[finding.outcome], message=message)
                element.text = _for_xml("\n".join([*finding.lines, finding.explanation]))
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _for_xml(text: str) -> str:
    """Return text without the characters that XML 1.0 does not allow."""
    return printable(text.encode("utf-8", "backslashreplace").decode("utf-8"), lines=True)
