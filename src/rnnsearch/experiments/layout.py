"""Where the parts of a reproduction lie in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rnnsearch.experiments.experiment import TrainedSystem


@dataclass(frozen=True)
class Layout:
    """The files and folders of a reproduction."""

    folder: Path

    @property
    def experiment(self) -> Path:
        """What experiment this is."""
        return self.folder / "experiment.json"

    def prepared(self, limit: int) -> Path:
        """The training text with sentences up to this limit; all systems of that limit share it."""
        return self.folder / "prepared" / str(limit)

    @property
    def test(self) -> Path:
        """What was chosen of the test set."""
        return self.folder / "test"

    def model(self, system: TrainedSystem) -> Path:
        """A system's model folder."""
        return self.folder / "models" / system.folder

    def translations(self, system: TrainedSystem) -> Path:
        """A system's translations, and what was measured of them."""
        return self.folder / "translations" / system.folder

    @property
    def figures(self) -> Path:
        """Figures 2 and 3."""
        return self.folder / "figures"

    @property
    def results(self) -> Path:
        """All numbers."""
        return self.folder / "results.json"

    @property
    def report(self) -> Path:
        """The report."""
        return self.folder / "index.html"
