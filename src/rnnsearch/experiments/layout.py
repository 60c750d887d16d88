"""The files in the folder of a reproduction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rnnsearch.experiments.experiment import TrainedSystem


@dataclass(frozen=True)
class Layout:
    """The paths of a reproduction's files and folders."""

    folder: Path

    @property
    def experiment(self) -> Path:
        """The description of the experiment."""
        return self.folder / "experiment.json"

    @property
    def lock(self) -> Path:
        """The lock of the process that prepares the text."""
        return self.folder / ".lock"

    def prepared(self, limit: int) -> Path:
        """The training text with sentences up to this length limit, which all systems of that limit share."""
        return self.folder / "prepared" / str(limit)

    @property
    def test(self) -> Path:
        """The sentences that were chosen from the test set."""
        return self.folder / "test"

    def model(self, system: TrainedSystem) -> Path:
        """A system's model folder."""
        return self.folder / "models" / system.folder

    def translations(self, system: TrainedSystem) -> Path:
        """A system's translations and the measurements of them."""
        return self.folder / "translations" / system.folder

    @property
    def figures(self) -> Path:
        """Figures 2 and 3."""
        return self.folder / "figures"

    @property
    def results(self) -> Path:
        """All results as JSON."""
        return self.folder / "results.json"

    @property
    def report(self) -> Path:
        """The report as an HTML page."""
        return self.folder / "index.html"
