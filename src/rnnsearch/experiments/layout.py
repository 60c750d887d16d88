"""The layout of the folder of a reproduction."""

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
        """The file with the description of the experiment."""
        return self.folder / "experiment.json"

    @property
    def lock(self) -> Path:
        """The lock file of the process that prepares the text."""
        return self.folder / ".lock"

    def prepared(self, limit: int) -> Path:
        """Return the prepared folder of the training text up to this length limit, which all systems of the limit share."""
        return self.folder / "prepared" / str(limit)

    @property
    def test(self) -> Path:
        """The folder with the sentences that were chosen from the test set."""
        return self.folder / "test"

    def model(self, system: TrainedSystem) -> Path:
        """Return the model folder of a system."""
        return self.folder / "models" / system.folder

    def translations(self, system: TrainedSystem) -> Path:
        """Return the folder with the translations of a system and their measurements."""
        return self.folder / "translations" / system.folder

    @property
    def figures(self) -> Path:
        """The folder with Figures 2 and 3."""
        return self.folder / "figures"

    @property
    def results(self) -> Path:
        """The JSON file with all results."""
        return self.folder / "results.json"

    @property
    def report(self) -> Path:
        """The HTML page of the report."""
        return self.folder / "index.html"
